//! One run of a scenario, from the first process to the figures. Happens inside the namespaces that
//! [`crate::launch`] made.

mod live;
mod stage;
mod watch;

use std::path::Path;

use holdfast_linux::sock_diag::DiagError;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

pub use self::live::{Live, Tone};
use self::stage::Stage;
use crate::kubernetes::Real;
use crate::report::Story;
use crate::scenario::{self, Scenario};
use crate::subject::Subject;
use crate::{process, subject, world};

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The scenario's file, or the name of a built-in one: for messages.
    pub file: String,
    /// Its text.
    pub yaml: String,
    /// Who takes part; everyone whom the scenario names, if nobody.
    pub subjects: Vec<Subject>,
    /// The time scale, if it is not the scenario's own.
    pub time_scale: Option<f64>,
    /// What is real of it, instead of the lab's stand-ins.
    pub real: Option<Real>,
}

/// What a run says while it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// What it is doing.
    Progress(String),
    /// What has just happened in the world.
    Live(Live),
    /// It is over, and this is what was measured. The last word.
    Story(Box<Story>),
    /// It could not be done, and why: the error and its causes. The last word.
    Failed(Vec<String>),
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An agent did not come up.
    #[error("the agent on {node} is not ready after {seconds} s: {last_words}")]
    Agent {
        /// Its node.
        node: String,
        /// How long it was waited for.
        seconds: u64,
        /// What it said last.
        last_words: String,
    },
    /// A client's first heartbeat did not succeed, so that there is nothing to measure.
    #[error("the client on {node} has no heartbeat after {seconds} s, before any fault")]
    Client {
        /// Its node.
        node: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The configuration of another proxy could not be written.
    #[error("write {path}")]
    Configuration {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A process did not do what it should.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// The scenario makes no sense.
    #[error(transparent)]
    Scenario(#[from] scenario::ScenarioError),
    /// A node's sockets can't be listed.
    #[error("list the sockets of the nodes")]
    Sockets(#[source] DiagError),
    /// An agent's status could not be read.
    #[error(transparent)]
    Status(#[from] subject::status::StatusError),
    /// `in-use` was the target, but no subject's connection is on any server.
    #[error("nothing is in use at {at}: no subject has a connection that a server has answered on")]
    Unused {
        /// When, as the timeline says it.
        at: String,
    },
    /// The world could not be built or changed.
    #[error(transparent)]
    World(#[from] world::WorldError),
}

impl Order {
    /// The scenario as it is to be run.
    pub fn scenario(&self) -> Result<Scenario, scenario::ScenarioError> {
        let mut scenario = Scenario::parse(&self.file, &self.yaml)?;
        if let Some(time_scale) = self.time_scale {
            scenario.time_scale = time_scale;
        }
        scenario.fits(&self.file, self.real.is_some())?;
        if !self.subjects.is_empty() {
            let given = scenario.subjects;
            scenario.subjects = self
                .subjects
                .iter()
                .map(|subject| (*subject, given.get(subject).cloned().unwrap_or_default()))
                .collect();
        }
        Ok(scenario)
    }
}

/// Runs the order with `program` as every process in it, and says what happens through `words`.
pub async fn run(
    order: &Order,
    program: &Path,
    words: &mpsc::UnboundedSender<Word>,
) -> Result<Story, RunError> {
    let scenario = order.scenario()?;
    let mut stage = Stage::set(scenario, program, order.real.as_ref(), words.clone()).await?;
    stage.play().await?;
    Ok(stage.story())
}
