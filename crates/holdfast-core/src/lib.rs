//! Holdfast's decisions: pure functions and state machines over plain data.
//!
//! Nothing here reads a clock, opens a socket or a file, starts a task or rolls a die: time and
//! seeds are passed in, facts come in as values, orders go out as values. Purity is enforced by
//! this crate's `Cargo.toml` (no runtime among its dependencies) and its `clippy.toml`.
//!
//! ```text
//! sources ──▶ which addresses are known           ┐
//! probing ──▶ when to ask an address              │
//! health  ──▶ what its answers are worth: verdict ├─▶ agent (Machine) ──▶ probe, resolve, cut, report
//! balance ──▶ which address first                 │
//! cache   ──▶ what the next life should know      │
//! pace    ──▶ how often anything may be done      ┘
//! opening (Machine, one per connection) ──▶ dial, hedge, replay, refuse
//! guard   (a fold) ──▶ what the kernel says of other people's sockets, as facts for the agent
//!
//! watch, node_check (Machines) ──▶ look, sever, restart: what is done to units, within restart's limits
//! ```

pub mod adoption;
pub mod agent;
pub mod balance;
pub mod budget;
pub mod cache;
pub mod certificate;
pub mod chance;
pub mod checkup;
pub mod config;
pub mod egress;
pub mod guard;
pub mod health;
pub mod hosts;
mod journal;
pub mod kubeconfig;
pub mod machine;
pub mod node_check;
pub mod opening;
pub mod pace;
pub mod probing;
pub mod reason;
pub mod restart;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
pub mod sources;
pub mod status;
pub mod watch;
