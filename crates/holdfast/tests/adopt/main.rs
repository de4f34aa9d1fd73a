//! `holdfast check`, `adopt` and `release` as they ship: the binary, real agents, real servers.

#[cfg(test)]
mod adopt;
#[cfg(test)]
mod check;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of the agent use the rest")]
#[path = "../agent/client.rs"]
mod client;
#[cfg(test)]
mod desk;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of the agent use the rest")]
#[path = "../agent/stage.rs"]
mod stage;
