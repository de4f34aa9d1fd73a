//! `holdfast plan egress` and `holdfast egress` as they ship: the binary, its input, its answers
//! and its exit codes.

#[cfg(test)]
mod command;
#[cfg(test)]
mod plan;
