//! The processes that populate a world: API servers, a DNS server, balancers and clients.
//!
//! Each actor is one process of the same binary. It prints one JSON object per line, `{"ready":true,…}`
//! first, takes orders as lines on its input, answers each of them with one line, `{"ok":true}` or
//! `{"ok":false,"error":"…"}`, and ends when its input ends. Durations in orders carry their unit
//! (`5s`, `250ms`). Every `t` is in seconds of `CLOCK_MONOTONIC`, which all processes of a host share.
//!
//! Every module has a `run`, which speaks on the process's own input and output, and a `serve`, which
//! speaks on any [`Console`].

#![expect(
    clippy::infinite_loop,
    reason = "an actor's tasks run until the actor ends, which drops them"
)]

pub mod api_server;
pub mod balancer;
pub mod client;
pub mod dns;
pub mod observer;

mod control;
pub(crate) mod port;
mod stamp;
pub(crate) mod tls;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

pub use control::{Console, Remote};
pub use stamp::monotonic_seconds;

/// Why an actor could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The listening socket could not be opened.
    #[error("listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A kubeconfig could not be read, or can't be used.
    #[error("use kubeconfig {path}: {problem}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A name is no DNS name.
    #[error("use {name:?} as a DNS name: {problem}")]
    Name {
        /// The text that was given.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file could not be read, is not PEM, or holds nothing of the wanted kind.
    #[error("read {path}")]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::pki_types::pem::Error,
    },
    /// An option has a value that the actor cannot work with.
    #[error("{option}: found {found:?}, accepted: {accepted}")]
    Setting {
        /// The option's name on the command line.
        option: &'static str,
        /// The value that was given.
        found: String,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// The certificate and the key do not make a TLS configuration.
    #[error("set up TLS")]
    Tls(#[from] rustls::Error),
}
