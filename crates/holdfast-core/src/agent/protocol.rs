//! What the agent is told, and what it orders.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::fallback::{Fallback, UnitSeen};
use super::wire::Wire;
use crate::balance::Candidates;
use crate::cache::{Entry, Remembered};
use crate::machine::Tick;
use crate::probing::{ProbeId, Progress};
use crate::restart::Cure;
use crate::sources::{Answer, Expiry};
use crate::status::{ActionStatus, Source};

/// Silence after client bytes that is worth a look. Slow answers of 12 s are seen in the field; they
/// are looked at too, and stay.
pub const SILENT: Duration = Duration::from_secs(6);

/// One request may simply take long; a client that tries again at another moment got nothing for both.
pub const MOMENTS: u64 = 2;

/// More bytes than this are an upload, which is answered at its end. Heartbeats and pings are small.
pub const LITTLE: u64 = 64 * 1024;

/// Names a client connection; counts up from 1.
pub type ConnectionId = u64;

/// What the agent is told at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The node's name, hashed: its place in the fleet's spread.
    pub node: u64,
    /// Addresses that are always tried.
    pub seeds: Vec<SocketAddr>,
    /// Sources that are asked.
    pub live: Vec<Source>,
    /// What an earlier life wrote down; `None` if nothing is to be written down either.
    pub remembered: Option<Remembered>,
    /// The agent's own listeners.
    pub own: Vec<SocketAddr>,
    /// When a source's word ends.
    pub expiry: Expiry,
    /// Time between two probes of one upstream; `None` lets it follow the fleet's size.
    pub probe_interval: Option<Duration>,
    /// Probes per second that one API server gets from all agents of the fleet together, at most.
    pub probe_budget: u32,
    /// Nodes of the fleet, as far as it is known before anybody has counted them.
    pub nodes: Option<u64>,
    /// Shortest time after which a missing answer is remarkable.
    pub patience: Duration,
    /// Time for which connections stay on an upstream that drains.
    pub drain: Duration,
    /// Upstreams whose connections may be cut per `cut_window`.
    pub cuts: u32,
    /// See `cuts`.
    pub cut_window: Duration,
    /// Time without a heartbeat after which a node counts as lost.
    pub grace: Duration,
    /// Whether quiet connections move back to the upstream that is this node's own choice.
    pub move_home: bool,
    /// What is done to units whose dead connections can't be aborted; nothing if `None`.
    pub fallback: Option<Fallback>,
    /// Seed of all chance.
    pub seed: u64,
}

/// What can be done to a connection of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Power {
    /// It can be aborted.
    Abort,
    /// Nothing but to say what would be done.
    Report,
    /// It can't be aborted, but this unit that has it may be restarted.
    Restart(String),
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Bytes came on a guarded connection that can't be aborted.
    Answered {
        /// The connection.
        connection: ConnectionId,
    },
    /// A client connection stands on this upstream now, be it new or moved.
    Attached {
        /// The connection.
        connection: ConnectionId,
        /// Its upstream.
        upstream: SocketAddr,
    },
    /// The answer to [`Action::Cut`] or [`Action::Close`] of a guarded connection that could not be
    /// aborted.
    CutFailed {
        /// The connection.
        connection: ConnectionId,
        /// The kernel's reason, in words.
        why: String,
    },
    /// A client connection has ended.
    Closed {
        /// The connection.
        connection: ConnectionId,
    },
    /// A dial for a client failed.
    DialFailed {
        /// The upstream.
        upstream: SocketAddr,
        /// How.
        failure: DialFailure,
    },
    /// An API server counted the cluster's nodes.
    FleetCounted {
        /// How many there are.
        nodes: u64,
    },
    /// This node itself could not do something: says nothing about any upstream.
    FailedHere {
        /// What it lacked.
        shortage: Shortage,
        /// What failed, in words.
        evidence: String,
    },
    /// A socket of somebody else leads to this upstream, or tries to; it is watched, and aborted by
    /// [`Action::Cut`] or [`Action::Close`].
    Guarded {
        /// The connection.
        connection: ConnectionId,
        /// Its upstream.
        upstream: SocketAddr,
        /// What can be done to it.
        power: Power,
    },
    /// Whether an upstream's address is one of this node's own.
    Located {
        /// The upstream.
        upstream: SocketAddr,
        /// It is.
        here: bool,
    },
    /// A probe made progress.
    Probed {
        /// The upstream.
        upstream: SocketAddr,
        /// The attempt.
        id: ProbeId,
        /// How far it came.
        progress: Progress,
    },
    /// The outcome of [`Action::Remember`].
    Remembered {
        /// Why the set could not be written down, in words.
        failure: Option<String>,
    },
    /// The configuration was read again and holds from now on.
    Reconfigured {
        /// What it says.
        settings: Box<Settings>,
        /// What changed, in words.
        changed: String,
    },
    /// The configuration was read again and can't be used; the old one holds.
    ReloadRefused {
        /// What is wrong with it, and where.
        why: String,
    },
    /// A source answered.
    Resolved {
        /// The source.
        source: Source,
        /// Its answer.
        answer: Answer,
    },
    /// The answer to [`Action::Sample`].
    Sampled {
        /// The upstream.
        upstream: SocketAddr,
        /// Its connections.
        traffic: Vec<Traffic>,
    },
    /// An upstream's first bytes reached a client.
    Spoke {
        /// The upstream.
        upstream: SocketAddr,
    },
    /// An upstream is late with its first bytes to a client.
    Stalled {
        /// The upstream.
        upstream: SocketAddr,
    },
    /// The machine slept, or its clock stood: all that was heard before is old.
    Suspended,
    /// A client was turned away.
    TurnedAway,
    /// A client has sent a little and got nothing back for a while. Told again for as long as it lasts.
    Unanswered {
        /// The connection.
        connection: ConnectionId,
        /// When the first bytes were sent that are unanswered.
        since: Tick,
        /// It has sent at two moments or more: one request may simply take long.
        repeated: bool,
    },
    /// The restart of a unit is over.
    UnitRestarted {
        /// The unit.
        unit: String,
        /// Whether it runs anew, or what went wrong.
        result: Result<(), String>,
    },
    /// The answer to [`Action::LookAtUnit`].
    UnitSeen {
        /// The unit.
        unit: String,
        /// What was seen, or why nothing can be.
        seen: Result<UnitSeen, String>,
    },
    /// A client that never sent a byte was closed.
    Unused {
        /// What ended its wait, in words.
        evidence: &'static str,
    },
    /// What the kernel says about a connection's bytes. Told for connections with unanswered bytes,
    /// and for one connection of each upstream.
    Wire {
        /// The connection.
        connection: ConnectionId,
        /// The kernel's word.
        wire: Wire,
    },
}

/// What this node lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortage {
    /// An address to listen on, which another process has.
    Address,
    /// Descriptors.
    Descriptors,
    /// Local ports, or a source address.
    Ports,
    /// Something else: memory, permission, an address family.
    Other,
}

/// How a dial failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialFailure {
    /// Refused.
    Refused,
    /// Connected and ended before it answered; may be the client's doing.
    Ended,
    /// Not answered in time.
    TimedOut,
    /// No way there.
    Unreachable,
}

/// An order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Drop a probe and its connection.
    AbortProbe {
        /// The upstream.
        upstream: SocketAddr,
        /// The attempt.
        id: ProbeId,
    },
    /// Close a drained connection in order (FIN).
    Close {
        /// The connection.
        connection: ConnectionId,
    },
    /// Cut a connection at once (RST).
    Cut {
        /// The connection.
        connection: ConnectionId,
    },
    /// Drop everything that is kept for this upstream.
    Forget {
        /// The upstream.
        upstream: SocketAddr,
    },
    /// Say where in its life a unit is, and whether the machine shuts down; comes back as
    /// [`Input::UnitSeen`].
    LookAtUnit {
        /// The unit.
        unit: String,
    },
    /// New connections try upstreams in this order from now on.
    Offer(Candidates),
    /// Probe an upstream.
    Probe {
        /// The upstream.
        upstream: SocketAddr,
        /// Names the attempt.
        id: ProbeId,
        /// On the connection that is kept, if it is still there.
        reuse: bool,
    },
    /// Write this set down for the next life.
    Remember {
        /// The addresses.
        entries: Vec<Entry>,
    },
    /// Say what was done: log and metric. `status` has it already.
    Report(ActionStatus),
    /// Ask a source.
    Resolve {
        /// The source.
        source: Source,
    },
    /// Write down when units were restarted, then restart one; comes back as [`Input::UnitRestarted`].
    RestartUnit {
        /// The unit.
        unit: String,
        /// How.
        cure: Cure,
        /// Whether systemd may forget its earlier failures first.
        forget: bool,
        /// How long ago each unit was restarted last, this one just now.
        past: BTreeMap<String, Duration>,
    },
    /// Say when each connection on this upstream last got a byte from it.
    Sample {
        /// The upstream.
        upstream: SocketAddr,
    },
}

/// What one connection got from its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The connection.
    pub connection: ConnectionId,
    /// When its upstream last sent a byte.
    pub heard: Option<Tick>,
    /// Its client has sent something since then, and waits.
    pub waiting: bool,
}
