//! How long a lost path may keep a node's heartbeats away, added up from the timers that decide it.
//!
//! client-go's own timers add up to more than the node monitor grace period, so that one lost
//! connection made all nodes `NotReady` (kubernetes/kubernetes#121793). The same mistake can be
//! configured here, with a probe interval of half a minute; this sum shows it before it happens.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::opening::{DIAL_HEDGE, FIRST_BYTE_HEDGE};
use crate::probing::{JITTER_PERCENT, SAMPLE_PATIENCE};

#[cfg(test)]
mod tests;

/// A node is `NotReady` after this time without a heartbeat: kube-controller-manager's
/// `--node-monitor-grace-period` before Kubernetes 1.32; 50 s since
/// (kubernetes/kubernetes#126287).
pub const GRACE: Duration = Duration::from_secs(40);

/// The kubelet's `nodeLeaseDurationSeconds` (kubelet `pkg/kubelet/apis/config/v1beta1/defaults.go`).
pub const LEASE: Duration = Duration::from_secs(40);

/// The kubelet's `nodeStatusUpdateFrequency` (the same file).
pub const STATUS_UPDATE: Duration = Duration::from_secs(10);

/// The kubelet renews its lease after a quarter of its duration (kubelet `pkg/kubelet/kubelet.go`,
/// `nodeLeaseRenewIntervalFraction`), and lets chance add 4 percent (component-helpers
/// `apimachinery/lease/controller.go`).
const RENEWALS_PER_LEASE: u32 = 4;
const RENEWAL_JITTER_PERCENT: u32 = 4;

/// The time in which 99 of 100 writes of one object are answered in a healthy cluster (Kubernetes
/// community, sig-scalability, "API call latency SLIs/SLOs"). Slower is an overloaded API server,
/// not a lost path.
const WRITE: Duration = Duration::from_secs(1);

/// Open connections are looked at this often.
pub const WATCH_TICK: Duration = Duration::from_secs(1);

/// The agent's loop runs at least this often, or starts over with its evidence.
const LOOP: Duration = Duration::from_millis(100);

/// The cluster's own timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterTimers {
    /// kube-controller-manager's `--node-monitor-grace-period`.
    pub grace: Duration,
    /// The kubelet's `nodeLeaseDurationSeconds`.
    pub lease: Duration,
    /// The kubelet's `--node-status-update-frequency`; it also bounds one attempt to renew the lease.
    pub status_update: Duration,
}

impl Default for ClusterTimers {
    fn default() -> Self {
        Self {
            grace: GRACE,
            lease: LEASE,
            status_update: STATUS_UPDATE,
        }
    }
}

/// The sums for each way in which a path is lost without a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Time without a heartbeat after which a node is `NotReady`.
    pub grace_s: f64,
    /// Whether every sum stays below it.
    pub within: bool,
    /// The sums.
    pub sums: Vec<Sum>,
}

/// The longest time between two heartbeats when a path is lost in one particular way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sum {
    /// How the path is lost, in words.
    pub fault: String,
    /// What has to pass, in order.
    pub terms: Vec<Term>,
    /// All terms together.
    pub total_s: f64,
}

/// One part of a sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// What passes.
    pub what: String,
    /// How long at most.
    pub time_s: f64,
    /// Where the figure comes from: a field of the configuration, a flag, or a constant.
    pub from: String,
}

impl Budget {
    /// Adds up. Each fault begins right before a heartbeat would have gone out, so a whole period has
    /// passed already.
    pub fn of(config: &Config, cluster: ClusterTimers) -> Self {
        let heartbeat = cluster.lease / RENEWALS_PER_LEASE;
        let heartbeat = term(
            "until the next heartbeat",
            heartbeat + heartbeat * RENEWAL_JITTER_PERCENT / 100,
            "a quarter of the kubelet's nodeLeaseDurationSeconds, and 4 % jitter",
        );
        let after = [
            term(
                "the agent's loop turns, and the connection is cut",
                LOOP,
                "constant",
            ),
            term(
                "the client connects again",
                DIAL_HEDGE + FIRST_BYTE_HEDGE,
                "constant: two candidates that do not answer",
            ),
            term(
                "the heartbeat is written",
                WRITE,
                "the API latency objective for writes",
            ),
        ];
        let sum = |fault: &str, detection: Vec<Term>| {
            let terms: Vec<_> = [heartbeat.clone()]
                .into_iter()
                .chain(detection)
                .chain(after.clone())
                .collect();
            Sum {
                fault: fault.to_owned(),
                total_s: terms.iter().map(|t| t.time_s).sum(),
                terms,
            }
        };
        let interval = config
            .probe_interval
            .unwrap_or_else(|| crate::agent::interval(config.nodes, config.probe_budget));
        let sums = vec![
            sum(
                "an address goes silent, or its server hangs",
                silence(interval, config.patience),
            ),
            sum(
                "a server hangs behind a balancer that answers",
                doubt(cluster),
            ),
        ];
        let grace_s = cluster.grace.as_secs_f64();
        Self {
            grace_s,
            within: sums.iter().all(|sum| sum.total_s < grace_s),
            sums,
        }
    }

    /// The longest sum.
    pub fn worst(&self) -> Option<&Sum> {
        self.sums
            .iter()
            .max_by(|one, other| one.total_s.total_cmp(&other.total_s))
    }
}

/// From the last answer of an address to the verdict that its connections are cut by.
fn silence(interval: Duration, patience: Duration) -> Vec<Term> {
    let stretched = interval + interval * JITTER_PERCENT / 100;
    vec![
        term(
            "until the next probe",
            stretched,
            "probe.interval, and 10 % jitter",
        ),
        term("it stays unanswered", patience, "probe.patience"),
        term(
            "until a fresh handshake is tried",
            interval / 2,
            "half of probe.interval",
        ),
        term("it stays unanswered as well", patience, "probe.patience"),
        term(
            "another upstream proves that this node's network works",
            stretched,
            "probe.interval, and 10 % jitter",
        ),
    ]
}

/// From a heartbeat that stays unanswered to the proof that its connection's target hangs.
fn doubt(cluster: ClusterTimers) -> Vec<Term> {
    vec![
        term(
            "the client gives up and tries again",
            cluster.status_update.min(cluster.lease),
            "the kubelet's nodeStatusUpdateFrequency",
        ),
        term("the connection is looked at", WATCH_TICK, "constant"),
        term(
            "fresh handshakes there stay unanswered",
            SAMPLE_PATIENCE,
            "constant",
        ),
    ]
}

fn term(what: &str, time: Duration, from: &str) -> Term {
    Term {
        what: what.to_owned(),
        time_s: time.as_secs_f64(),
        from: from.to_owned(),
    }
}
