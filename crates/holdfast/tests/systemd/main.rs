//! What Holdfast asks of systemd, and does to units, against a real systemd as the first process of a machine
//! of the test's own.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod guest;
#[cfg(test)]
mod hardening;
#[cfg(test)]
mod kubernetes;
#[cfg(test)]
mod node;
#[cfg(test)]
mod node_check;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod watch;
