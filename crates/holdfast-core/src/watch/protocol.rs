//! What the watcher is told, what it orders, and what readers see of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason::Reason;
use crate::restart::{Cure, Life, Limits};
use crate::sources::{Answer, Expiry};
use crate::status::{ActionStatus, Source, SourceStatus};

/// What the watcher is told at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The units whose connections are watched, in the order in which they are treated.
    pub units: Vec<String>,
    /// What is done first to a unit that is connected to an address that left.
    pub strategy: Strategy,
    /// What is done where severing is not possible.
    pub fallback: Option<Cure>,
    /// When an address has left.
    pub expiry: Expiry,
    /// Time between two looks at connections, while an address has left.
    pub interval: Duration,
    /// How often a unit may be restarted.
    pub limits: Limits,
    /// Time over which a fleet spreads what it does about an address that left.
    pub spread: Duration,
    /// Seed of all chance.
    pub seed: u64,
}

impl Settings {
    /// How units are restarted, if they are at all.
    pub const fn cure(&self) -> Option<Cure> {
        match self.strategy {
            Strategy::Sever => self.fallback,
            Strategy::Restart(cure) => Some(cure),
        }
    }
}

/// What is done to a unit that is connected to an address that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Its connections to that address are aborted, and nothing else; it connects anew.
    Sever,
    /// It is restarted.
    Restart(Cure),
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The look is over.
    Looked {
        /// What was seen, or why nothing can be.
        look: Result<Look, String>,
    },
    /// A source answered.
    Resolved {
        /// The source.
        source: Source,
        /// Its answer.
        answer: Answer,
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

/// The machine at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether the machine shuts down, or why that can't be told.
    pub shutting_down: Result<bool, String>,
    /// Each unit that is watched.
    pub units: BTreeMap<String, Seen>,
}

/// A unit at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where in its life it is.
    pub life: Life,
    /// Its state in systemd's words.
    pub state: String,
    /// Its main process, while there is one.
    pub main_pid: Option<u32>,
    /// How many established connections it has to each of the addresses that were asked about.
    pub connections: BTreeMap<IpAddr, u32>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            life: Life::Absent,
            state: String::new(),
            main_pid: None,
            connections: BTreeMap::new(),
        }
    }
}

impl Seen {
    /// Its connections in words.
    pub(super) fn words(&self, unit: &str) -> String {
        let connections = self.connections.iter();
        let connections: Vec<_> = connections
            .map(|(address, count)| match count {
                1 => format!("a connection to {address}"),
                count => format!("{count} connections to {address}"),
            })
            .collect();
        format!("{unit} has {}, which left DNS", connections.join(" and "))
    }
}

/// An order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Look whether units have connections to these addresses; comes back as [`Input::Looked`].
    Look {
        /// The addresses.
        addresses: BTreeSet<IpAddr>,
    },
    /// Write down what is known.
    Remember,
    /// Log and count it.
    Report(ActionStatus),
    /// Ask a source; comes back as [`Input::Resolved`].
    Resolve {
        /// The source.
        source: Source,
    },
    /// Restart a unit; comes back as [`Input::Restarted`].
    Restart {
        /// The unit.
        unit: String,
        /// How.
        cure: Cure,
        /// Whether systemd may forget its earlier failures first.
        forget: bool,
    },
    /// Abort a unit's connections to these addresses; comes back as [`Input::Severed`].
    Sever {
        /// The unit.
        unit: String,
        /// The addresses.
        addresses: BTreeSet<IpAddr>,
    },
}

/// The watcher's knowledge and latest actions at one moment. Durations are seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchStatus {
    /// The addresses that stand, and those that left and are looked for.
    pub addresses: Vec<WatchedAddress>,
    /// The name's records, and how asking for them goes.
    pub sources: Vec<SourceStatus>,
    /// The units.
    pub units: Vec<WatchedUnit>,
    /// Why connections can't be seen, if they can't.
    pub blind: Option<String>,
    /// The latest actions, oldest first.
    pub actions: Vec<ActionStatus>,
}

/// One address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedAddress {
    /// The address.
    pub address: IpAddr,
    /// Time since an answer named it; of one that left, since it left.
    pub named_s: f64,
    /// Time since it left, if it has.
    pub left_s: Option<f64>,
    /// Units that had a connection to it at the last look, if it has left.
    pub connected: Vec<String>,
}

/// One unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedUnit {
    /// Its name.
    pub unit: String,
    /// Its state at the last look, in systemd's words.
    pub state: String,
    /// Its main process at the last look.
    pub main_pid: Option<u32>,
    /// Time since the watcher restarted it last.
    pub restarted_s: Option<f64>,
    /// Why nothing is done, while something would have to be.
    pub withheld: Option<Reason>,
    /// Why its connections can't be severed, if that was tried in vain.
    pub cannot_sever: Option<String>,
}
