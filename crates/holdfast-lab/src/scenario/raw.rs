//! A scenario as its file writes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// A story to tell: what is in the world, what happens to it, and what is expected then.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawScenario {
    /// Name of the scenario: small letters, digits and hyphens.
    pub scenario: String,
    /// What it shows, in one sentence.
    pub summary: String,
    /// Numbers of the public reports that it replays; docs/cases.md lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<u32>,
    /// Whether it needs the real components of Kubernetes, and so `lab run --real`.
    #[serde(default)]
    pub real: bool,
    /// Whether the fault means something to other proxies too, so that `lab matrix` measures it.
    #[serde(default)]
    pub matrix: bool,
    /// How many stock seconds pass in one second. The client's clocks, the lifetimes of DNS records
    /// and this timeline are divided by it; Holdfast's own timers never are. 1 unless given here or
    /// by `--time-scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_scale: Option<f64>,
    /// What is there before anything happens.
    pub world: RawWorld,
    /// What the client on each node does besides its heartbeat.
    #[serde(default)]
    pub client: RawClient,
    /// Who meets the fault, each on a node of its own: `direct`, `holdfast`, `guard`, `holdfast-guard`,
    /// `haproxy`, `haproxy-tuned`, `nginx`, `kubespray-nginx`.
    pub subjects: BTreeMap<String, RawSubject>,
    /// How long everything just runs before the first step.
    #[serde(default = "before")]
    pub before: Span,
    /// What happens. One step must be at `0s`: the fault, from which everything is measured.
    pub timeline: Vec<RawStep>,
    /// How long the world is watched after the fault.
    pub after: Span,
    /// The connections that `cut_s` is about: `heartbeat`, `idle`, `active`.
    #[serde(default = "lanes")]
    pub lanes: Vec<String>,
    /// What must have come true.
    #[serde(default)]
    pub expect: Vec<RawExpectation>,
    /// What Holdfast is to reach on unscaled clocks; `lab table` sets it beside what was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<RawGoal>,
}

/// A figure that Holdfast is to reach.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawGoal {
    /// Which figure.
    pub metric: String,
    /// It happened, and its figure is this or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<RawBound>,
    /// It never happened, or its figure is this or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<RawBound>,
    /// Its figure is exactly this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<RawBound>,
}

/// What is there before anything happens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawWorld {
    /// Names of the API servers.
    pub servers: Vec<String>,
    /// Layer-4 balancers: each name with the servers that it forwards to, in turn.
    #[serde(default)]
    pub balancers: BTreeMap<String, Vec<String>>,
    /// With real components: whether API servers answer somebody without credentials, `/readyz` too.
    #[serde(default = "yes")]
    pub anonymous: bool,
    /// What the endpoint's name, `api.lab.test`, resolves to.
    pub name: RawName,
}

/// What the endpoint's name resolves to.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawName {
    /// The servers or balancers whose addresses it has.
    pub addresses: Vec<String>,
    /// Lifetime of the address records; at least 1 s after scaling, since DNS counts whole seconds.
    pub lifetime: Span,
    /// Lifetime of a CNAME record that leads from the name to its addresses; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_lifetime: Option<Span>,
}

/// What the client on each node does.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawClient {
    /// Which program it is.
    #[serde(default)]
    pub kind: ClientKind,
    /// Connections with a heartbeat and a watch, as if so many kubelets ran on the node.
    #[serde(default = "one")]
    pub heartbeats: usize,
    /// Further connections that hold a watch and never write.
    #[serde(default)]
    pub idle: usize,
    /// Further connections that read an endless answer, until the step `stop-reading`.
    #[serde(default)]
    pub readers: usize,
    /// Further connections with a request each second (scaled).
    #[serde(default)]
    pub active: usize,
    /// How often a new connection is made for one request (not scaled); never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Span>,
}

/// A client's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// The lab's own, which behaves as a kubelet's client does.
    #[default]
    StandIn,
    /// One that is made of the kubelet's own parts, client-go among them: a heartbeat and a watch, on
    /// unscaled clocks. `e2e/kubernetes/goclient/build` builds it.
    Go,
}

/// What one subject is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawSubject {
    /// Servers or balancers that it knows without asking DNS. `direct` knows none. A proxy with a
    /// fixed list has these; unless given, what the name resolves to at the start.
    #[serde(default)]
    pub seeds: Vec<String>,
    /// `holdfast`: the server or balancer that the agent is to prefer: its node gets a name for which
    /// it does, among its seeds, what the name resolves to at the start, and what it discovers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefers: Option<String>,
    /// `holdfast`, with real components: how the agent proves who it is when it asks the API for the
    /// list of API servers: `certificate`, `token` or `exec`. It does not ask unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovers: Option<Credentials>,
    /// `holdfast`: further flags of `holdfast agent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// How somebody proves to the API who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Credentials {
    /// With a client certificate, as a kubelet does.
    Certificate,
    /// With what a program prints (client.authentication.k8s.io/v1, `ExecCredential`).
    Exec,
    /// With a service account's token in a file.
    Token,
}

/// One step of the timeline.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawStep {
    /// When, from the fault on; negative before it. Scaled.
    pub at: Span,
    /// What is done.
    pub verb: String,
    /// Names of the servers or balancers it is done to; or `in-use`, the servers that the subjects'
    /// connections in `lanes` are on at that moment; or `faulted`, whatever the step at `0s` hit; or,
    /// for links, `nodes`, the nodes of all subjects; or, for processes of a world with real
    /// components, `etcd-NAME`, the member of etcd beside a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<RawNames>,
    /// `set-name`: its new addresses. `forward`: the balancer's new servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<RawNames>,
    /// `set-name`: the new lifetime of its records; unchanged unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Span>,
    /// `rotate-name`: how many of the addresses each answer shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<usize>,
    /// `delay`: how late every answer is (scaled); `0s` ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// `lose`: how many of a hundred packets vanish, by chance. `starve`: how many hundredths of the time
    /// agents may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u8>,
    /// `fail-name`: `servfail`, `nxdomain`, `refused`, `silent`, `empty` or `truncated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

/// One name or several.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RawNames {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl RawNames {
    /// The names as a list.
    pub fn list(&self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name.clone()],
            Self::Several(names) => names.clone(),
        }
    }
}

/// Something that must have come true.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawExpectation {
    /// Whose figure it is.
    pub subject: String,
    /// Which figure.
    pub metric: String,
    /// It happened, and its figure is this or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<RawBound>,
    /// It never happened, or its figure is this or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<RawBound>,
    /// Its figure is exactly this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<RawBound>,
    /// The part of a bound in time that comes from scaled clocks, and shrinks with them. Unless
    /// given: all of it for `direct`, nothing for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled: Option<Span>,
}

/// A bound: a length of time, a number or a truth, as the metric wants it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RawBound {
    /// For metrics that are counted.
    Count(u64),
    /// For metrics that are true or false.
    Truth(bool),
    /// For metrics that are timed.
    Time(String),
}

impl Default for RawClient {
    fn default() -> Self {
        Self {
            kind: ClientKind::StandIn,
            heartbeats: one(),
            idle: 0,
            readers: 0,
            active: 0,
            fresh: None,
        }
    }
}

const fn yes() -> bool {
    true
}

const fn one() -> usize {
    1
}

fn before() -> Span {
    Span::from_secs(12)
}

fn lanes() -> Vec<String> {
    vec!["heartbeat".to_owned()]
}
