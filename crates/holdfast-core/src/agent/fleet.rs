//! What one agent does depends on how many there are: its share of the probes, and its place in time
//! when a shared address is lost to all of them at once.

use std::net::SocketAddr;
use std::time::Duration;

use super::Agent;
use crate::chance::hash_address;

/// The shortest interval that is chosen for a fleet: a dead address is noticed within a second, and
/// an API server spends less than a thousandth of a core on 30 nodes.
const SHORTEST: Duration = Duration::from_millis(500);

/// Nodes up to which cuts are spread over no more than [`LEAST_SPREAD`].
const SMALL_FLEET: u64 = 500;

/// On a small fleet a cut may wait for this long: what keeps an idle connection's cut within 1.5 s.
const LEAST_SPREAD: Duration = Duration::from_millis(200);

/// On a larger one it may wait for this long per node: a server that is lost to 5,000 nodes is then
/// left over 7.5 s, and the others get no more than twice the connections per second that one
/// heartbeat period of 10 s would bring them.
const SPREAD_PER_NODE: Duration = Duration::from_micros(1500);

/// The share of the grace period that a cut may wait, in percent; the rest is for noticing, for the
/// heartbeat's own period and for the new connection.
const GRACE_PERCENT: u32 = 20;

impl Agent {
    pub(super) fn count_fleet(&mut self, nodes: u64) {
        self.fleet = Some(nodes);
        self.sources.count_fleet(nodes);
        let interval = self.probe_interval();
        for upstream in self.upstreams.values_mut() {
            upstream.probing.pace(interval);
        }
    }

    /// Time between two probes of one upstream: what was set, or this agent's share of the fleet's
    /// budget.
    pub(super) fn probe_interval(&self) -> Duration {
        let share = || interval(self.fleet, self.settings.probe_budget);
        self.settings.probe_interval.unwrap_or_else(share)
    }

    /// How long this node waits before it cuts what stands on an address that is lost to the fleet:
    /// the same for the same node and address, and spread evenly over the nodes.
    pub(super) fn cut_delay(&self, address: SocketAddr) -> Duration {
        let nodes = self.fleet.unwrap_or(1);
        let spread = if nodes > SMALL_FLEET {
            let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
            SPREAD_PER_NODE.saturating_mul(nodes)
        } else {
            LEAST_SPREAD
        };
        let spread = spread.min(self.settings.grace / 100 * GRACE_PERCENT);
        share(spread, hash_address(!self.settings.node, address))
    }
}

/// Time between two probes of one upstream by each of `nodes` nodes, one if their number is not known,
/// so that the upstream gets `budget` per second at the most.
pub fn interval(nodes: Option<u64>, budget: u32) -> Duration {
    let nodes = u32::try_from(nodes.unwrap_or(1)).unwrap_or(u32::MAX);
    Duration::from_secs_f64(f64::from(nodes) / f64::from(budget.max(1))).max(SHORTEST)
}

/// The part of `whole` that `hash` stands for.
pub(super) fn share(whole: Duration, hash: u64) -> Duration {
    let thousandths = u32::try_from(hash % 1000).unwrap_or(0);
    whole / 1000 * thousandths
}
