//! What a run ends in: the JSON that others read, and the story that its picture is drawn from.

pub mod html;
mod svg;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measure::{Connection, Figures, Verdict};
use crate::subject::Subject;

/// Several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// In the order in which they were asked for.
    pub scenarios: Vec<Run>,
}

/// What one run of a scenario measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Name of the scenario.
    pub scenario: String,
    /// Version of Holdfast.
    pub version: String,
    /// How many stock seconds one measured second stands for: 1 when unscaled. The client's clocks,
    /// the lifetimes of DNS records and the timeline were scaled; Holdfast's own timers were not.
    pub time_scale: f64,
    /// When it began (RFC 3339, UTC).
    #[serde(default)]
    pub began: String,
    /// Version of the real components of Kubernetes, if it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// What each subject met.
    pub subjects: BTreeMap<Subject, SubjectRun>,
    /// What was expected, and whether it came true.
    pub expectations: Vec<Verdict>,
    /// What Holdfast is to reach, and whether it did; on unscaled clocks.
    #[serde(default)]
    pub goals: Vec<Verdict>,
}

/// What one subject met. Times are in seconds as they were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectRun {
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// What was done, oldest first: by its agent, or without one by its client.
    pub events: Vec<Happening>,
    /// What the agent's status does not explain, though it was counted or felt; of nothing else there is
    /// anything to explain.
    #[serde(default)]
    pub unexplained: Vec<String>,
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Happening {
    /// When, from the fault on.
    pub t_s: f64,
    /// What.
    pub what: String,
    /// Why: one of Holdfast's reasons, or what the client was told by its system.
    pub reason: String,
}

/// A run with everything that its picture shows. Moments are seconds from the fault on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// The figures.
    pub run: Run,
    /// What the scenario shows, in one sentence.
    pub summary: String,
    /// When it began; negative.
    pub start_s: f64,
    /// When it ended.
    pub end_s: f64,
    /// What was done to the world.
    pub marks: Vec<Mark>,
    /// What is drawn for each subject.
    pub tracks: BTreeMap<Subject, Track>,
}

/// Something that was done to the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// When.
    pub t_s: f64,
    /// What, in words.
    pub text: String,
}

/// What is drawn for one subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Successful heartbeats.
    pub beats: Vec<f64>,
    /// Heartbeats that failed.
    pub misses: Vec<f64>,
    /// The longest gap: the success before it, and the one after it or the end.
    pub gap: Option<(f64, f64)>,
    /// The heartbeat's connections.
    pub connections: Vec<Stretch>,
}

/// The life of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// When it was up.
    pub from_s: f64,
    /// When it ended, if it did.
    pub to_s: Option<f64>,
    /// How it ended.
    pub ending: Option<String>,
    /// The server that answered on it.
    pub server: Option<String>,
}

impl Run {
    /// Whether everything expected came true, and every action is explained.
    pub fn held(&self) -> bool {
        self.expectations.iter().all(|verdict| verdict.held)
            && self.subjects.values().all(|met| met.unexplained.is_empty())
    }
}

impl Stretch {
    /// The life of `connection`, counted from the fault.
    pub fn of(connection: &Connection, fault: f64) -> Self {
        Self {
            from_s: connection.opened - fault,
            to_s: connection.end.map(|(t, _)| t - fault),
            ending: connection.end.map(|(_, ending)| ending.to_string()),
            server: connection.server.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
