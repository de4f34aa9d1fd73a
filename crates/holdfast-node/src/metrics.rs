//! Every number that a person needs at 3 a.m., in the format of Prometheus.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;

use holdfast_core::reason::Reason;
use holdfast_core::status::{Source, Status, Verdict, What};
use holdfast_linux::dial::DialError;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// A label value that is one of a closed set of words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0, encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabels {
    what: Word,
    reason: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct By {
    by: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Towards {
    direction: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UpstreamLabels {
    upstream: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VerdictLabels {
    upstream: String,
    verdict: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: String,
}

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Client,
    Cut,
    Drain,
    Refusal,
    Unused,
    Upstream,
}

impl EndedBy {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Cut => "cut",
            Self::Drain => "drain",
            Self::Refusal => "refusal",
            Self::Unused => "unused",
            Self::Upstream => "upstream",
        }
    }
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToClient,
    ToUpstream,
}

type Seconds = Gauge<f64, AtomicU64>;

/// All metrics of the agent. Counters are kept as things happen; gauges are filled from a
/// [`Status`] when they are read, so that both always agree.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) accepted: Counter,
    actions: Family<ActionLabels, Counter>,
    bytes: Family<Towards, Counter>,
    pub(crate) bytes_spliced: Counter,
    dial_failures: Family<Kind, Counter>,
    ends: Family<By, Counter>,
}

impl Metrics {
    pub(crate) fn acted(&self, what: What, reason: Reason) {
        let labels = ActionLabels {
            what: Word(what.as_str()),
            reason: Word(reason.as_str()),
        };
        self.actions.get_or_create(&labels).inc();
    }

    pub(crate) fn ended(&self, by: EndedBy) {
        let by = Word(by.as_str());
        self.ends.get_or_create(&By { by }).inc();
    }

    pub(crate) fn moved(&self, direction: Direction, bytes: u64) {
        let direction = Word(match direction {
            Direction::ToClient => "to-client",
            Direction::ToUpstream => "to-upstream",
        });
        self.bytes
            .get_or_create(&Towards { direction })
            .inc_by(bytes);
    }

    pub(crate) fn dial_failed(&self, kind: DialError) {
        let kind = Word(match kind {
            DialError::Local(_) => "local",
            DialError::Refused => "refused",
            DialError::TimedOut => "timed-out",
            DialError::Unreachable => "unreachable",
        });
        self.dial_failures.get_or_create(&Kind { kind }).inc();
    }

    /// The text form (`OpenMetrics` 1.0).
    pub(crate) fn render(&self, status: &Status) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::with_prefix("holdfast");
        self.register_counters(&mut registry);
        register_gauges(&mut registry, status);
        let mut out = String::new();
        text::encode(&mut out, &registry)?;
        Ok(out)
    }

    fn register_counters(&self, registry: &mut Registry) {
        registry.register("actions", "Things done or concluded", self.actions.clone());
        registry.register("bytes", "Bytes of ended connections", self.bytes.clone());
        registry.register(
            "bytes_spliced",
            "Bytes of ended connections that were moved without copying",
            self.bytes_spliced.clone(),
        );
        registry.register(
            "connections_accepted",
            "Client connections accepted",
            self.accepted.clone(),
        );
        registry.register(
            "connections_ended",
            "Client connections ended",
            self.ends.clone(),
        );
        registry.register("dial_failures", "Failed dials", self.dial_failures.clone());
    }
}

fn register_gauges(registry: &mut Registry, status: &Status) {
    let build: Family<BuildLabels, Gauge> = Family::default();
    let version = status.version.clone();
    build.get_or_create(&BuildLabels { version }).set(1);
    registry.register("build_info", "Version of the agent", build);

    let ready: Gauge = Gauge::default();
    ready.set(status.ready.into());
    registry.register("ready", "1 when at least one upstream is usable", ready);

    let open: Gauge = Gauge::default();
    open.set(i64::try_from(status.connections).unwrap_or(i64::MAX));
    registry.register("connections", "Client connections open now", open);

    let most: Gauge = Gauge::default();
    most.set(i64::try_from(status.connections_most).unwrap_or(i64::MAX));
    registry.register(
        "connections_most",
        "Client connections that the descriptor limit allows",
        most,
    );

    let age: Seconds = Gauge::default();
    age.set(status.config.age_s);
    registry.register(
        "config_age_seconds",
        "Time since the configuration that holds was read",
        age,
    );
    let failing: Gauge = Gauge::default();
    failing.set(status.config.failure.is_some().into());
    registry.register(
        "config_failing",
        "1 while a changed configuration can't be used",
        failing,
    );

    let draining: Gauge = Gauge::default();
    draining.set(status.draining_s.is_some().into());
    registry.register("draining", "1 while the agent stops", draining);

    if let Some(nodes) = status.fleet {
        let fleet: Gauge = Gauge::default();
        fleet.set(i64::try_from(nodes).unwrap_or(i64::MAX));
        registry.register("fleet_nodes", "Nodes of the cluster", fleet);
    }

    let ages: Family<SourceLabels, Seconds> = Family::default();
    let failing: Family<SourceLabels, Gauge> = Family::default();
    for source in status.sources.iter().filter(|s| s.source != Source::Seed) {
        let labels = SourceLabels {
            source: Word(source.source.as_str()),
        };
        if let Some(age) = source.age_s {
            ages.get_or_create(&labels).set(age);
        }
        failing
            .get_or_create(&labels)
            .set(source.failure.is_some().into());
    }
    registry.register(
        "source_age_seconds",
        "Time since a source's last usable answer",
        ages,
    );
    registry.register("source_failing", "1 while a source fails", failing);

    let verdicts: Family<VerdictLabels, Gauge> = Family::default();
    let connections: Family<UpstreamLabels, Gauge> = Family::default();
    let silence: Family<UpstreamLabels, Seconds> = Family::default();
    for upstream in &status.upstreams {
        let name = |address: SocketAddr| address.to_string();
        for verdict in Verdict::ALL {
            let labels = VerdictLabels {
                upstream: name(upstream.address),
                verdict: Word(verdict.as_str()),
            };
            let holds = upstream.verdict == verdict;
            verdicts.get_or_create(&labels).set(holds.into());
        }
        let labels = UpstreamLabels {
            upstream: name(upstream.address),
        };
        let count = i64::try_from(upstream.connections).unwrap_or(i64::MAX);
        connections.get_or_create(&labels).set(count);
        if let Some(age) = upstream.last_byte_s {
            silence.get_or_create(&labels).set(age);
        }
    }
    registry.register("upstream_verdict", "1 for the verdict that holds", verdicts);
    registry.register(
        "upstream_connections",
        "Client connections on an upstream",
        connections,
    );
    registry.register(
        "upstream_last_byte_seconds",
        "Time since an upstream last sent a byte",
        silence,
    );
}

/// Name, kind, labels and meaning of every metric, for the reference docs and the test that holds
/// them against what is served.
pub const REFERENCE: [(&str, &str, &str, &str); 19] = [
    (
        "holdfast_actions_total",
        "counter",
        "what, reason",
        "Things done or concluded; the same words as in log and status",
    ),
    ("holdfast_build_info", "gauge", "version", "Always 1"),
    (
        "holdfast_bytes_total",
        "counter",
        "direction",
        "Bytes of ended connections: to-upstream, to-client",
    ),
    (
        "holdfast_bytes_spliced_total",
        "counter",
        "",
        "Those of them that were moved without copying: bulk transfers",
    ),
    (
        "holdfast_config_age_seconds",
        "gauge",
        "",
        "Time since the configuration that holds was read",
    ),
    (
        "holdfast_config_failing",
        "gauge",
        "",
        "1 while the configuration file can't be used as it is now; the one from before holds",
    ),
    (
        "holdfast_connections",
        "gauge",
        "",
        "Client connections open now",
    ),
    (
        "holdfast_connections_accepted_total",
        "counter",
        "",
        "Client connections accepted",
    ),
    (
        "holdfast_connections_ended_total",
        "counter",
        "by",
        "Client connections ended: by client or upstream (who closed first), cut, drain, refusal, unused (the client never sent a byte)",
    ),
    (
        "holdfast_connections_most",
        "gauge",
        "",
        "Client connections that the descriptor limit allows; more are reset",
    ),
    (
        "holdfast_dial_failures_total",
        "counter",
        "kind",
        "Failed dials: refused, unreachable, timed-out, local (this node's own trouble: see holdfast_actions_total{what=\"failed-here\"})",
    ),
    (
        "holdfast_draining",
        "gauge",
        "",
        "1 while the agent stops and waits for open connections",
    ),
    (
        "holdfast_fleet_nodes",
        "gauge",
        "",
        "Nodes of the cluster, once an API server has counted them; it paces what all agents ask",
    ),
    (
        "holdfast_ready",
        "gauge",
        "",
        "1 when at least one upstream is usable",
    ),
    (
        "holdfast_source_age_seconds",
        "gauge",
        "source",
        "Time since the source's last usable answer",
    ),
    (
        "holdfast_source_failing",
        "gauge",
        "source",
        "1 while the source fails; what it said before stands",
    ),
    (
        "holdfast_upstream_connections",
        "gauge",
        "upstream",
        "Client connections on the upstream",
    ),
    (
        "holdfast_upstream_last_byte_seconds",
        "gauge",
        "upstream",
        "Time since the upstream last sent a byte, to a probe or to a client's first question",
    ),
    (
        "holdfast_upstream_verdict",
        "gauge",
        "upstream, verdict",
        "1 for the verdict that holds, 0 for the others",
    ),
];
