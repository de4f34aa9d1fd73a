//! `holdfast lab` as it ships: the binary, its arguments, its exit codes, and real worlds.

#[cfg(test)]
mod arguments;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod command;
#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod explained;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod worlds;
