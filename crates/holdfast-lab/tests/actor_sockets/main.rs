//! The lab's actors on real sockets of the loopback interface.

#[cfg(test)]
mod api_server;
#[cfg(test)]
mod balancer;
#[cfg(test)]
mod client;
#[cfg(test)]
mod dns;
#[cfg(test)]
mod kubectl;
#[cfg(test)]
mod stage;
