//! `holdfast agent` and `holdfast status` as they ship: the binary in front of real servers.

#[cfg(test)]
mod activation;
#[cfg(test)]
mod admin;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod client;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod kubectl;
#[cfg(test)]
mod life;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod names;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod traffic;
