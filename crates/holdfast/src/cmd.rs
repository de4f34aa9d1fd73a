//! One module per command.

pub mod adopt;
pub mod agent;
pub mod check;
pub mod demo;
pub mod egress;
pub mod lab;
pub mod node_check;
pub mod plan;
pub mod status;
pub mod watch;

use anyhow::Context as _;

use crate::exit::{Failure, unable};

/// Runs a small service's future to its end: one worker is enough for it.
fn run_to_end<T>(service: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("start the runtime")
        .map_err(unable)?;
    Ok(runtime.block_on(service))
}
