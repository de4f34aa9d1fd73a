//! The configuration as it is written down: one YAML document; flags and environment fill the same
//! fields.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time as friendly;
use crate::opening::FIRST_BYTE_WITHIN;

/// Configuration of `holdfast agent`. Durations are written like `500ms`, `5s`, `10m`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawConfig {
    /// The cluster's endpoint as nodes know it, `https://NAME:PORT`. Its name is watched in DNS.
    /// Required.
    pub endpoint: Option<String>,
    /// File with the PEM certificates of the cluster's CA. Required.
    pub ca: Option<PathBuf>,
    /// Name that the API servers' certificate must be for. Default: the endpoint's host.
    pub server_name: Option<String>,
    /// Name of this node; it decides which upstream the node prefers. Default: the host's name.
    pub node_name: Option<String>,
    /// Loopback addresses that clients connect to. May be empty where the guard is enabled.
    pub listen: Vec<String>,
    /// Loopback address of `/livez`, `/readyz`, `/status` and `/metrics`.
    pub admin: String,
    /// Addresses of API servers that are always tried, whatever DNS says.
    pub seeds: Vec<String>,
    /// A kubeconfig that may read the `EndpointSlices` of `default/kubernetes`, the API servers' own list
    /// of themselves, and count nodes. It may appear after the agent has started. Default: none.
    pub kubeconfig: Option<PathBuf>,
    /// File in which the agent remembers the last good set of addresses. Default: none.
    pub cache: Option<PathBuf>,
    /// Address of the API server on this very node, if there is one: it comes first while it is
    /// ready. An upstream on one of the node's own addresses is recognised without this.
    pub local: Option<String>,
    /// What is known of the other nodes.
    pub fleet: RawFleet,
    /// Whether quiet connections go back to the upstream that is this node's own choice, once that
    /// one is ready again: one per minute, closed in order.
    pub move_home: bool,
    /// How the endpoint's name is watched.
    pub dns: RawDns,
    /// How upstreams are probed.
    pub probe: RawProbe,
    /// How connections leave an upstream that drains.
    pub drain: RawDrain,
    /// Which API connections of other programs on this node are watched, to abort the dead ones.
    pub guard: RawGuard,
    /// How much may be done per time.
    pub limits: RawLimits,
    /// How the agent itself stops.
    pub shutdown: RawShutdown,
    /// The agent's log.
    pub log: RawLog,
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            ca: None,
            server_name: None,
            node_name: None,
            listen: vec!["127.0.0.1:6445".to_owned(), "[::1]:6445".to_owned()],
            admin: "127.0.0.1:6446".to_owned(),
            seeds: Vec::new(),
            kubeconfig: None,
            cache: None,
            local: None,
            fleet: RawFleet::default(),
            move_home: true,
            dns: RawDns::default(),
            probe: RawProbe::default(),
            drain: RawDrain::default(),
            guard: RawGuard::default(),
            limits: RawLimits::default(),
            shutdown: RawShutdown::default(),
            log: RawLog::default(),
        }
    }
}

/// How the endpoint's name is watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawDns {
    /// Resolvers to ask, `ADDRESS:PORT`. Default: those of `/etc/resolv.conf`.
    pub servers: Vec<String>,
    /// Usable answers without an address before it may leave.
    pub expire_after_answers: u32,
    /// Record lifetimes without an address before it may leave.
    pub expire_after_lifetimes: u32,
    /// Shortest record lifetime that is believed.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub shortest_lifetime: Duration,
    /// Longest record lifetime that is believed.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub longest_lifetime: Duration,
}

impl Default for RawDns {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            expire_after_answers: 3,
            expire_after_lifetimes: 3,
            shortest_lifetime: Duration::from_secs(1),
            longest_lifetime: Duration::from_mins(1),
        }
    }
}

/// How upstreams are probed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawProbe {
    /// Time between two probes of one upstream. Default: this node's share of `budget`, and 500 ms
    /// at least. While something is suspected it is 500 ms in any case.
    #[serde(with = "friendly::if_given")]
    #[schemars(with = "Option<String>")]
    pub interval: Option<Duration>,
    /// Probes per second that one API server gets from all nodes together, at most. A probe costs it
    /// about 27 µs of CPU.
    pub budget: u32,
    /// Shortest time after which a missing answer is remarkable; it grows to four times what an
    /// upstream usually takes.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub patience: Duration,
}

impl Default for RawProbe {
    fn default() -> Self {
        Self {
            interval: None,
            budget: 1000,
            patience: Duration::from_millis(500),
        }
    }
}

/// What is known of the other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawFleet {
    /// How many nodes there are. It spreads probes and cuts of a large fleet over time. Default: as
    /// many as an API server counts; one, until it has been asked.
    pub nodes: Option<u64>,
}

/// How connections leave an upstream that drains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawDrain {
    /// Connections stay for this long before they are closed.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub timeout: Duration,
}

impl Default for RawDrain {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
        }
    }
}

/// Which API connections of other programs on this node are watched, to abort the dead ones: those
/// that any of `units`, `users` and `everyone` chooses, never one of Holdfast's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of a file, each with a meaning of its own"
)]
pub struct RawGuard {
    /// Whether anything is watched.
    pub enabled: bool,
    /// Connections of these systemd units, or of cgroups whose paths start with `/`. Needs cgroup v2,
    /// also beside v1, and Linux 5.8.
    pub units: Vec<String>,
    /// Connections of these users, by number.
    pub users: Vec<u32>,
    /// Every connection in the network namespace.
    pub everyone: bool,
    /// Other network namespaces to watch as well: names of `ip netns`, or paths like
    /// `/proc/1234/ns/net`. Needs `CAP_SYS_ADMIN`.
    pub namespaces: Vec<String>,
    /// Also every namespace that `ip netns` knows, as they come and go. Needs `CAP_SYS_ADMIN`.
    pub found_namespaces: bool,
    /// Only report what would be aborted.
    pub dry_run: bool,
    /// What is done to a unit whose dead connections can't be aborted, since a capability or a kernel
    /// option is missing: `none`, or a restart: `systemctl` or `watchdog`, as in `holdfast watch`.
    /// Restarting takes root, or leave from polkit.
    pub fallback: String,
    /// Where the latest restarts are written down, so that their hold-down outlives the agent.
    pub restarts: PathBuf,
    /// Time between two looks at the kernel's table of connections; a quarter of it while something
    /// is unanswered.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub interval: Duration,
}

impl Default for RawGuard {
    fn default() -> Self {
        Self {
            enabled: false,
            units: vec![
                "kubelet.service".to_owned(),
                "kube-proxy.service".to_owned(),
            ],
            users: Vec::new(),
            everyone: false,
            namespaces: Vec::new(),
            found_namespaces: false,
            dry_run: false,
            fallback: "none".to_owned(),
            restarts: PathBuf::from("/run/holdfast-guard/restarts.json"),
            interval: Duration::from_secs(1),
        }
    }
}

/// How much may be done per time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawLimits {
    /// Upstreams whose connections may be cut per window.
    pub cuts: u32,
    /// Time over which `cuts` are counted.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub window: Duration,
    /// Addresses that are taken from one source at most: each costs probes. A balancer's name has
    /// shown up to some dozens; what is known already stays.
    pub addresses: u32,
    /// A client that has not sent a byte for this long after it connected is closed. A connection
    /// that was ever used may stay idle for ever.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub first_byte: Duration,
    /// Time without a heartbeat after which the cluster counts a node as lost (kube-controller-manager
    /// `--node-monitor-grace-period`): a cut may wait for 20 % of it, so that a large fleet does not
    /// reconnect in one moment.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub grace_period: Duration,
}

impl Default for RawLimits {
    fn default() -> Self {
        Self {
            cuts: 6,
            window: Duration::from_mins(1),
            addresses: 64,
            first_byte: FIRST_BYTE_WITHIN,
            grace_period: Duration::from_secs(40),
        }
    }
}

/// How the agent itself stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawShutdown {
    /// After SIGTERM no new connections are taken, and open ones get this long to end.
    #[serde(with = "friendly")]
    #[schemars(with = "String")]
    pub timeout: Duration,
}

impl Default for RawShutdown {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
        }
    }
}

/// The agent's log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RawLog {
    /// Form of a line.
    pub format: LogFormat,
    /// What is logged.
    pub level: LogLevel,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// What is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// What a person must act on.
    Error,
    /// Also what is degraded but handled.
    Warn,
    /// Also every action and change of state.
    #[default]
    Info,
    /// Also every connection.
    Debug,
}

impl LogLevel {
    /// The level as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}
