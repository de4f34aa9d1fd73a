//! An observer of a real cluster: what the API itself says of its nodes, as events.
//!
//! It asks one API server after another, so that no fault of one of them blinds it, and tells
//! heartbeats by the lease's own `renewTime`: a node that wrote while nobody looked is not missed.

mod change;
mod look;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use self::change::Known;
use self::look::Eye;
use super::{Console, StartError, monotonic_seconds};

/// What an observer is told at start.
#[derive(Debug, Clone)]
pub struct Observer {
    /// Kubeconfigs with an administrator's credentials, one for each API server.
    pub kubeconfigs: Vec<PathBuf>,
    /// Time between two looks.
    pub every: Duration,
}

/// Something that the API says of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// When, in seconds of `CLOCK_MONOTONIC`: of the renewal for `renewed`, else of the look that saw it.
    pub t: f64,
    /// The node.
    pub node: String,
    /// What it says.
    pub seen: Seen,
}

/// What an observer can see of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// A pod that tolerates no unready node was deleted from it.
    Evicted,
    /// Its condition `Ready` is something other than `True` now.
    NotReady,
    /// Its condition `Ready` is `True` now.
    Ready,
    /// It renewed its lease.
    Renewed,
}

/// Runs an observer on the process's own input and output until the input ends.
pub async fn run(options: Observer) -> Result<(), StartError> {
    let mut console = Console::stdio();
    let mut eye = Eye::open(&options.kubeconfigs).await?;
    let mut known = Known::default();
    let voice = console.voice();
    console.ready(&json!({"servers": options.kubeconfigs.len()}));
    let mut ticks = interval(options.every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            order = console.order() => match order {
                None => return Ok(()),
                Some(order) => console.answer(Err(format!("{order:?} is no order; an observer takes none"))),
            },
            _ = ticks.tick() => {
                // A look that nobody answers shows nothing; the next one may.
                if let Some(view) = eye.look().await {
                    for observation in known.changes(monotonic_seconds(), &view) {
                        voice.say(&json!(observation));
                    }
                }
            }
        }
    }
}
