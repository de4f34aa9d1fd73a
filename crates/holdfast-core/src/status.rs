//! What readers see: the one type behind `/status`, `holdfast status` and the lab's assertions.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason::Reason;

/// The agent's knowledge and latest actions at one moment. Durations are seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Version of the agent.
    pub version: String,
    /// Name of the node; it seeds the choice of upstreams.
    pub node: String,
    /// The endpoint that nodes are told to use, as configured.
    pub endpoint: String,
    /// Time since the agent started.
    pub uptime_s: f64,
    /// Whether the agent can serve: it listens and at least one upstream is usable.
    pub ready: bool,
    /// Addresses of the local listeners.
    pub listeners: Vec<SocketAddr>,
    /// The configuration that holds, and what is wrong with the one that was to replace it.
    pub config: ConfigStatus,
    /// Client connections that are open now.
    pub connections: usize,
    /// Nodes of the cluster, as an API server last counted them; it paces what the whole fleet asks.
    pub fleet: Option<u64>,
    /// Client connections that the descriptor limit allows.
    pub connections_most: usize,
    /// While the agent stops: time until connections that are still open are closed.
    pub draining_s: Option<f64>,
    /// Where addresses come from, and how each source does.
    pub sources: Vec<SourceStatus>,
    /// Every known API server address.
    pub upstreams: Vec<UpstreamStatus>,
    /// The guard, where there is one.
    #[serde(default)]
    pub guard: Option<GuardStatus>,
    /// The latest actions and changes of verdict, oldest first.
    pub actions: Vec<ActionStatus>,
}

/// The configuration of the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigStatus {
    /// The file it comes from, if there is one.
    pub file: Option<String>,
    /// Time since the configuration that holds was read.
    pub age_s: f64,
    /// What is wrong with the file as it is now, if it can't be used.
    pub failure: Option<String>,
    /// Time since it could not be used for the first time.
    pub failing_s: Option<f64>,
}

/// One source of addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceStatus {
    /// Which source.
    pub source: Source,
    /// Addresses that stand on this source now.
    pub addresses: Vec<SocketAddr>,
    /// Time since the last usable answer.
    pub age_s: Option<f64>,
    /// What went wrong at the last attempt, if it failed.
    pub failure: Option<String>,
    /// Lifetime of the last usable answer, after clamping.
    pub lifetime_s: Option<f64>,
    /// Time until it is asked again.
    pub next_s: Option<f64>,
}

/// A source of addresses.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Listed in the configuration; never expires.
    Seed,
    /// A records of the endpoint's name.
    DnsA,
    /// AAAA records of the endpoint's name.
    DnsAaaa,
    /// The `EndpointSlices` of `default/kubernetes`: the API servers' own list of themselves.
    EndpointSlices,
    /// The last good set on disk: what sources said in an earlier life of the agent, for as long as
    /// they have not spoken again.
    Cache,
}

impl Source {
    /// Every source, in declaration order.
    pub const ALL: [Self; 5] = [
        Self::Seed,
        Self::DnsA,
        Self::DnsAaaa,
        Self::EndpointSlices,
        Self::Cache,
    ];

    /// The source with this label.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|source| source.as_str() == label)
    }

    /// Whether it is the endpoint's name, which clients ask too.
    pub const fn is_name(self) -> bool {
        match self {
            Self::DnsA | Self::DnsAaaa => true,
            Self::Seed | Self::EndpointSlices | Self::Cache => false,
        }
    }

    /// The source as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::DnsA => "dns-a",
            Self::DnsAaaa => "dns-aaaa",
            Self::EndpointSlices => "endpoint-slices",
            Self::Cache => "cache",
        }
    }
}

/// How good an upstream is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Verified and ready.
    Ready,
    /// Verified and alive, but answers late. Kept, never cut.
    Slow,
    /// Verified and alive, but not ready or no longer listed: no new connections while there is
    /// better, existing ones stay until they end or the drain time is over.
    Draining,
    /// Not proven yet, or answering again after it was bad.
    Probation,
    /// Does not answer: its connections are cut, new ones go elsewhere.
    Silent,
    /// Refuses connections or can't be reached.
    Dead,
    /// Somebody else has this address now: not used while there is any other.
    Foreign,
}

impl Verdict {
    /// Every verdict, best first.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Slow,
        Self::Draining,
        Self::Probation,
        Self::Silent,
        Self::Dead,
        Self::Foreign,
    ];

    /// The verdict as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Slow => "slow",
            Self::Draining => "draining",
            Self::Probation => "probation",
            Self::Silent => "silent",
            Self::Dead => "dead",
            Self::Foreign => "foreign",
        }
    }
}

/// One API server address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamStatus {
    /// The address.
    pub address: SocketAddr,
    /// How good it is.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// Time since the verdict or its reason last changed.
    pub since_s: f64,
    /// Which sources name it, and how long ago each did so last.
    pub origins: Vec<OriginStatus>,
    /// It is one of this node's own addresses: the local API server, which comes first.
    pub here: bool,
    /// Client connections on it.
    pub connections: usize,
    /// The latest finished probe.
    pub last_probe: Option<ProbeStatus>,
    /// Time since it last sent a byte, to a probe or to a client.
    pub last_byte_s: Option<f64>,
    /// Time until the next probe.
    pub next_probe_s: Option<f64>,
}

/// One source's word on an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OriginStatus {
    /// The source.
    pub source: Source,
    /// Time since it named the address last.
    pub age_s: f64,
    /// Usable answers since then that did not name it.
    pub missed: u32,
}

/// One finished probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeStatus {
    /// What it found, in words.
    pub result: String,
    /// Time since it ended.
    pub age_s: f64,
    /// How long it took.
    pub took_s: f64,
}

/// The guard: whose sockets it watches, and what it can do about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GuardStatus {
    /// It only reports.
    pub dry_run: bool,
    /// Why it can't abort sockets, if it can't: which capability or kernel option is missing.
    pub missing: Option<String>,
    /// Clients that were chosen and are not found now, or namespaces that can't be seen, and why.
    pub unseen: Vec<String>,
    /// How long the last look at the kernel's table took.
    pub look_s: f64,
    /// When that was, since the agent started.
    pub looked_at_s: f64,
    /// The sockets that it watches.
    pub sockets: Vec<GuardedStatus>,
}

/// A socket that the guard watches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GuardedStatus {
    /// The connection's number, as in actions.
    pub connection: u64,
    /// Its near end.
    pub local: SocketAddr,
    /// Its far end: the upstream.
    pub remote: SocketAddr,
    /// Whose it is: the unit, the user, and the network namespace if it is another one.
    pub client: String,
    /// It stands; else its first packet waits for an answer.
    pub established: bool,
    /// Time since the guard first saw it.
    pub since_s: f64,
    /// Time since its last bytes came.
    pub last_byte_s: Option<f64>,
    /// How often its oldest bytes were sent again in vain.
    pub retransmits: u8,
}

/// Something that Holdfast did or concluded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionStatus {
    /// Counts up by one from 1 in the life of the agent.
    pub seq: u64,
    /// Time since the agent started.
    pub at_s: f64,
    /// What was done.
    pub what: What,
    /// The address it was done to, if it concerns one.
    pub upstream: Option<SocketAddr>,
    /// The client connection, if it concerns one; counts up from 1.
    pub connection: Option<u64>,
    /// The verdict that follows, where one changed.
    pub verdict: Option<Verdict>,
    /// Why.
    pub reason: Reason,
    /// The evidence, in words.
    pub evidence: String,
    /// What happens next, in words.
    pub next: String,
}

/// What an action was.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// An upstream came into the set.
    UpstreamAdded,
    /// An upstream left the set.
    UpstreamRemoved,
    /// An upstream's verdict changed.
    VerdictChanged,
    /// A connection was cut with a reset.
    ConnectionCut,
    /// A drained connection was closed in order.
    ConnectionDrained,
    /// A quiet connection was closed in order, to come back on the upstream that is this node's own
    /// choice.
    ConnectionMoved,
    /// A client was turned away, since nothing could serve it.
    ConnectionRefused,
    /// A client that never sent a byte was closed.
    ConnectionUnused,
    /// Something failed on this node itself.
    FailedHere,
    /// A changed configuration was taken.
    Reloaded,
    /// A changed configuration was not taken.
    ReloadRefused,
    /// A source failed or came back.
    SourceChanged,
    /// Something that would have been done was not done, for safety.
    Withheld,
    /// A guarded connection would have been cut, but the guard only reports.
    WouldCut,
    /// Connections of a unit were aborted; the unit goes on.
    ConnectionsSevered,
    /// The node became ready, or is no longer.
    NodeChanged,
    /// A unit was restarted.
    UnitRestarted,
}

impl What {
    /// Every kind of action, in declaration order.
    pub const ALL: [Self; 17] = [
        Self::UpstreamAdded,
        Self::UpstreamRemoved,
        Self::VerdictChanged,
        Self::ConnectionCut,
        Self::ConnectionDrained,
        Self::ConnectionMoved,
        Self::ConnectionRefused,
        Self::ConnectionUnused,
        Self::FailedHere,
        Self::Reloaded,
        Self::ReloadRefused,
        Self::SourceChanged,
        Self::Withheld,
        Self::WouldCut,
        Self::ConnectionsSevered,
        Self::NodeChanged,
        Self::UnitRestarted,
    ];

    /// The action as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UpstreamAdded => "upstream-added",
            Self::UpstreamRemoved => "upstream-removed",
            Self::VerdictChanged => "verdict-changed",
            Self::ConnectionCut => "connection-cut",
            Self::ConnectionDrained => "connection-drained",
            Self::ConnectionMoved => "connection-moved",
            Self::ConnectionRefused => "connection-refused",
            Self::ConnectionUnused => "connection-unused",
            Self::FailedHere => "failed-here",
            Self::Reloaded => "reloaded",
            Self::ReloadRefused => "reload-refused",
            Self::SourceChanged => "source-changed",
            Self::Withheld => "withheld",
            Self::WouldCut => "would-cut",
            Self::ConnectionsSevered => "connections-severed",
            Self::NodeChanged => "node-changed",
            Self::UnitRestarted => "unit-restarted",
        }
    }
}
