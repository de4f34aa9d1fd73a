//! The data plane in network namespaces: each VM in one of its own, the internet in another, and a
//! router between them that lets through what the egress model says.
//!
//! A second process of this program keeps them, in namespaces made for it, so that the service itself
//! stays where its clients are. Orders and answers are lines of JSON.

mod inside;
mod network;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::egress::Exit;
use crate::launch::{LaunchError, Means};

pub use inside::inside;
use network::Place;

/// The arguments with which the program is that second process.
const INSIDE: [&str; 2] = ["lab", "azure-network"];

/// How long an order may take. Generous: it is reached only when something is broken.
const PATIENCE: Duration = Duration::from_mins(1);

/// The network and the process that keeps it; both end when it is dropped.
#[derive(Debug)]
pub(super) struct Plane {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    /// Up to which change the network follows.
    generation: Option<u64>,
}

/// Why the network is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum PlaneError {
    /// Its namespaces can't be made.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The process that keeps it has ended, or does not answer.
    #[error("the network's process does not answer: {0}")]
    Lost(String),
    /// It refused an order.
    #[error("the network's process refused an order: {0}")]
    Refused(String),
}

/// What the second process is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// Where VMs are, and what gets out of them.
    Exits(Vec<Place>),
    /// Try it.
    Dial(Dial),
}

/// A try to reach the internet from a VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dial {
    /// The VM's name.
    pub(super) vm: String,
    /// By which protocol.
    #[serde(default)]
    pub(super) protocol: Protocol,
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    #[default]
    Tcp,
    Udp,
}

impl Plane {
    /// Makes the namespaces, with a copy of `program` in them.
    pub(super) async fn start(program: &Path) -> Result<Self, PlaneError> {
        let lost = |what: &str| PlaneError::Lost(what.to_owned());
        let mut child = Means::find()
            .await?
            .unshare()
            .arg(program)
            .args(INSIDE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| lost(&error.to_string()))?;
        let orders = child.stdin.take().ok_or_else(|| lost("no input"))?;
        let output = child.stdout.take().ok_or_else(|| lost("no output"))?;
        let mut plane = Self {
            child,
            orders,
            answers: BufReader::new(output).lines(),
            generation: None,
        };
        plane.answer().await?;
        Ok(plane)
    }

    /// Whether the network is as of this generation.
    pub(super) fn follows(&self, generation: u64) -> bool {
        self.generation == Some(generation)
    }

    /// Lets the network follow what gets out as of this generation.
    pub(super) async fn follow(
        &mut self,
        generation: u64,
        exits: &[Exit],
    ) -> Result<(), PlaneError> {
        let places = exits.iter().filter_map(Place::of).collect();
        self.order(&Order::Exits(places)).await?;
        self.generation = Some(generation);
        Ok(())
    }

    /// Tries to reach the internet from a VM: `{"connected": …}`.
    pub(super) async fn dial(&mut self, dial: Dial) -> Result<Value, PlaneError> {
        self.order(&Order::Dial(dial)).await
    }

    async fn order(&mut self, order: &Order) -> Result<Value, PlaneError> {
        let lost = |error: std::io::Error| PlaneError::Lost(error.to_string());
        let mut line = serde_json::to_string(order).map_err(|error| lost(error.into()))?;
        line.push('\n');
        self.orders.write_all(line.as_bytes()).await.map_err(lost)?;
        self.answer().await
    }

    async fn answer(&mut self) -> Result<Value, PlaneError> {
        let line = timeout(PATIENCE, self.answers.next_line()).await;
        let Ok(Ok(Some(line))) = line else {
            return Err(PlaneError::Lost(self.last_words().await));
        };
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(PlaneError::Refused(error.to_owned())),
            None => Ok(answer),
        }
    }

    async fn last_words(&mut self) -> String {
        let mut words = String::new();
        if let Some(error) = &mut self.child.stderr {
            let read = timeout(Duration::from_secs(1), error.read_to_string(&mut words));
            // What was said until then is what there is to tell.
            drop(read.await);
        }
        let words = words.trim();
        if words.is_empty() {
            "it said nothing".to_owned()
        } else {
            words.to_owned()
        }
    }
}
