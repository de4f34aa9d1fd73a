//! The shell of Holdfast's agent: tasks, listeners, probes, admin HTTP and metrics around the
//! decisions of `holdfast-core`.
//!
//! ```text
//! accept ─▶ connection ─▶ pump                    bytes, never decisions
//!              │  ▲
//!        facts ▼  │ candidates, cut, close
//!           drive (Agent) ─▶ probe, dns,          orders out, facts back
//!              │             endpoint_slices, cache
//!              │
//!            admin ◀─ status, metrics             readers ask, nobody locks
//! ```

mod admin;
pub mod adopt;
pub mod agent;
mod cache;
pub mod checkup;
mod clock;
pub mod cluster;
pub mod config;
mod connection;
mod dns;
mod drive;
mod endpoint_slices;
mod fleet;
pub mod guard;
pub mod host;
mod listeners;
pub mod metrics;
pub mod node_check;
mod probe;
pub mod reload;
mod repair;
mod report;
mod signal;
#[cfg(test)]
mod stage;
mod state_file;
mod systemd;
mod table;
pub mod tls;
mod trial;
mod units;
pub mod watch;
mod wire;
