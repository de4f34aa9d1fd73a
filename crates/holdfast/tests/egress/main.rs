//! `holdfast plan egress` and `holdfast egress` as they ship: the binary, its input, its answers
//! and its exit codes.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod command;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod real_size;
#[cfg(test)]
mod subscription;
#[cfg(test)]
mod what_if;
