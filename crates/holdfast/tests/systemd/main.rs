//! What Holdfast asks of systemd, against a real systemd as the first process of a machine of the test's own.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod guest;
#[cfg(test)]
mod restart;
