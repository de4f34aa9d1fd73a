//! A stand-in for Azure Resource Manager: the network and compute resources that a node's egress
//! rests on, over HTTPS on this machine, with the egress model as its data plane.
//!
//! ```text
//! server (TLS, HTTP) ──▶ Arm (pure: a request and the time in, an answer out) ──▶ plane (namespaces)
//!                         │ place ▸ kind ▸ shape ▸ rule ▸ store ▸ operation
//!                         └ link, effective, egress: what follows from what is stored
//! ```
//!
//! [`Arm`] owns everything that is decided: it has no socket and no clock. What it can't know of
//! Azure, docs/azure-lab.md lists.

mod address;
mod arm;
mod control;
mod effective;
mod egress;
mod fault;
mod folder;
mod identity;
mod json;
mod kind;
mod link;
mod operation;
mod place;
mod plane;
mod rule;
mod scale_set;
mod server;
mod shape;
mod store;
#[cfg(test)]
mod tests;
mod throttle;
mod wire;

pub use arm::{Arm, Settings};
pub use egress::{Exit, Reach};
pub use folder::LoadError;
pub use identity::Secrets;
pub use plane::{PlaneError, inside};
pub use server::{Azure, ServeError, serve};
pub use throttle::{Budget, Limits};
pub use wire::{Answer, Request};
