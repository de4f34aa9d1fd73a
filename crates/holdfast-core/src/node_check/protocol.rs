//! What the node check is told, what it orders, and what readers see of it.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason::Reason;
use crate::restart::{Life, Limits};
use crate::status::ActionStatus;

/// What the node check is told at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This node's name in the cluster.
    pub node: String,
    /// The units, the kubelet first, in the order in which they are restarted.
    pub units: Vec<String>,
    /// Time between two checks.
    pub interval: Duration,
    /// Checks in a row that must say that the node is not ready.
    pub failures: u32,
    /// Whether connections are severed first.
    pub sever: bool,
    /// Whether units are restarted when severing did not help.
    pub restart: bool,
    /// Time for the node to become ready after its connections were severed.
    pub settle: Duration,
    /// How often a unit may be restarted.
    pub limits: Limits,
    /// Time over which a fleet spreads its restarts.
    pub spread: Duration,
    /// How far this machine's clock may be from the API server's.
    pub clock_tolerance: Duration,
    /// Seed of all chance.
    pub seed: u64,
}

/// A node's `Ready` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The kubelet says that it is.
    True,
    /// The kubelet says that it is not.
    False,
    /// The kubelet has not been heard of for the grace period.
    Unknown,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The API server knows the node.
    Node {
        /// Its condition.
        ready: Ready,
        /// The condition's reason and message.
        why: String,
        /// The API server's clock less this machine's, in seconds, if the server told its own.
        clock: Option<i64>,
    },
    /// There is no node of that name, or it has no `Ready` condition yet.
    Missing,
    /// 401: the credential is not accepted.
    Unauthorized,
    /// 403: the credential may not read the node.
    Forbidden,
    /// The API can't be asked.
    Unreachable {
        /// What went wrong.
        why: String,
    },
    /// The API answered with an error or with nonsense.
    Unusable {
        /// What it answered.
        why: String,
    },
}

impl Reply {
    /// Whether the node is ready, or why that is not known.
    pub(super) fn verdict(&self, tolerance: Duration) -> Result<bool, Reason> {
        match self {
            Self::Node {
                ready: Ready::True, ..
            } => Ok(true),
            Self::Node {
                clock: Some(clock), ..
            } if clock.unsigned_abs() > tolerance.as_secs() => Err(Reason::ClockWrong),
            Self::Node { .. } => Ok(false),
            Self::Missing => Err(Reason::NodeMissing),
            Self::Unauthorized => Err(Reason::CredentialRefused),
            Self::Forbidden => Err(Reason::ApiForbids),
            Self::Unreachable { .. } => Err(Reason::ApiUnreachable),
            Self::Unusable { .. } => Err(Reason::ApiUnusable),
        }
    }

    /// The same in words.
    pub fn words(&self) -> String {
        match self {
            Self::Node { ready, why, clock } => {
                let ready = match ready {
                    Ready::True => "True",
                    Ready::False => "False",
                    Ready::Unknown => "Unknown",
                };
                let clock = match clock {
                    Some(ahead) if *ahead != 0 => {
                        format!("; the API server's clock is {ahead:+} s from this machine's")
                    }
                    _ => String::new(),
                };
                format!("Ready is {ready} ({why}){clock}")
            }
            Self::Missing => "the cluster has no such node, or no condition of it yet".to_owned(),
            Self::Unauthorized => "the API server does not accept the credential (401)".to_owned(),
            Self::Forbidden => "the credential may not read the node (403)".to_owned(),
            Self::Unreachable { why } => format!("the API can't be asked: {why}"),
            Self::Unusable { why } => format!("the API's answer can't be used: {why}"),
        }
    }
}

/// The machine at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether it shuts down.
    pub shutting_down: bool,
    /// Each unit.
    pub units: BTreeMap<String, Place>,
}

/// A unit at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where in its life it is.
    pub life: Life,
    /// Its state in systemd's words.
    pub state: String,
}

/// Why the machine is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Before connections are severed.
    Sever,
    /// Before units are restarted.
    Restart,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A check is over.
    Asked {
        /// What came of it.
        reply: Reply,
    },
    /// A place in the fleet's budget was claimed.
    Claimed {
        /// Its number, or why there is none.
        claim: Result<u32, (Reason, String)>,
    },
    /// The look is over.
    Looked {
        /// What was seen, or why nothing can be.
        look: Result<Look, String>,
    },
    /// A restart is over.
    Restarted {
        /// The unit.
        unit: String,
        /// Whether it runs anew, or what went wrong.
        result: Result<(), String>,
    },
    /// Severing is over.
    Severed {
        /// The unit.
        unit: String,
        /// Connections that were aborted, or why none could be.
        result: Result<u32, String>,
    },
}

/// An order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask the API server; comes back as [`Input::Asked`].
    Ask,
    /// Claim a place in the fleet's budget; comes back as [`Input::Claimed`].
    Claim,
    /// Look at the machine; comes back as [`Input::Looked`].
    Look {
        /// What for.
        purpose: Purpose,
    },
    /// Give the place back.
    Release,
    /// Write down what is known.
    Remember,
    /// Log and count it.
    Report(ActionStatus),
    /// Restart a unit; comes back as [`Input::Restarted`].
    Restart {
        /// The unit.
        unit: String,
        /// Whether systemd may forget its earlier failures first.
        forget: bool,
    },
    /// Abort a unit's connections to API servers; comes back as [`Input::Severed`].
    Sever {
        /// The unit.
        unit: String,
    },
}

/// How far the check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The node is ready.
    Ready,
    /// It is not known whether the node is ready.
    Unknown,
    /// The node is not ready.
    NotReady,
    /// The node was not ready, and connections were severed.
    Severed,
    /// That did not help; the node waits for its turn to restart units.
    Waiting,
    /// Units are being restarted.
    Restarting,
}

impl State {
    /// The state as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Unknown => "unknown",
            Self::NotReady => "not-ready",
            Self::Severed => "severed",
            Self::Waiting => "waiting",
            Self::Restarting => "restarting",
        }
    }
}

/// The node check's knowledge and latest actions at one moment. Durations are seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckStatus {
    /// This node's name in the cluster.
    pub node: String,
    /// How far the check has come.
    pub state: State,
    /// What the API server said last, in words.
    pub answer: Option<String>,
    /// Time since then.
    pub age_s: Option<f64>,
    /// Checks in a row that said that the node is not ready.
    pub failures: u32,
    /// Why nothing is done, while something would have to be.
    pub withheld: Option<Reason>,
    /// The units, the kubelet first.
    pub units: Vec<CheckedUnit>,
    /// The latest actions, oldest first.
    pub actions: Vec<ActionStatus>,
}

/// One unit of the node check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedUnit {
    /// Its name.
    pub unit: String,
    /// Its state at the last look, in systemd's words.
    pub state: String,
    /// Time since the check restarted it last.
    pub restarted_s: Option<f64>,
}
