//! Which upstream first: best class, then the node's own order, so that a fleet spreads evenly
//! without talking (rendezvous hashing; Thaler and Ravishankar, "Using name-based mappings to
//! increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998).

use std::cmp::Reverse;
use std::net::SocketAddr;
use std::time::Duration;

use crate::chance::hash_address;
use crate::status::Verdict;

/// What the choice needs to know of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The address.
    pub address: SocketAddr,
    /// How good it is.
    pub verdict: Verdict,
    /// Something there was not answered in time, but it is too early for a verdict.
    pub suspected: bool,
    /// It is known from the cache alone: no source has named it in this life of the agent.
    pub remembered: bool,
    /// How long it may take to answer before that is remarkable.
    pub patience: Duration,
    /// It is this node's own API server: no network lies between.
    pub here: bool,
}

/// An upstream to try, and how long to wait before the next one is tried beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The address.
    pub address: SocketAddr,
    /// How long it may take to answer before that is remarkable.
    pub patience: Duration,
}

/// The order in which a new connection tries upstreams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Best first.
    pub order: Vec<Candidate>,
    /// Whether at least one of them is expected to work.
    pub usable: bool,
}

/// Orders all upstreams for the node that `node` seeds.
///
/// Bad ones stay at the end, since with nothing better they are still worth a try (S6). Foreign
/// ones are left out, unless `trust_foreign` says that there is nobody else, or that the agent's own CA is the likelier
/// fault.
pub fn order(node: u64, upstreams: &[Standing], trust_foreign: bool) -> Candidates {
    let mut ranked: Vec<&Standing> = upstreams
        .iter()
        .filter(|u| trust_foreign || u.verdict != Verdict::Foreign)
        .collect();
    ranked.sort_by_key(|u| {
        (
            u.verdict,
            u.suspected,
            u.remembered,
            !u.here,
            Reverse(hash_address(node, u.address)),
            u.address,
        )
    });
    Candidates {
        usable: ranked.iter().any(|u| is_usable(u.verdict)),
        order: ranked
            .into_iter()
            .map(|u| Candidate {
                address: u.address,
                patience: u.patience,
            })
            .collect(),
    }
}

/// Whether an upstream with this verdict is expected to serve a new connection.
pub const fn is_usable(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Ready | Verdict::Slow | Verdict::Draining | Verdict::Probation => true,
        Verdict::Silent | Verdict::Dead | Verdict::Foreign => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::chance::hash_text;

    fn upstream(n: u8, verdict: Verdict) -> Standing {
        Standing {
            address: SocketAddr::from(([10, 0, 0, n], 6443)),
            verdict,
            suspected: false,
            remembered: false,
            patience: Duration::from_millis(500),
            here: false,
        }
    }

    #[test]
    fn case_44_a_node_that_runs_an_api_server_uses_that_one_while_it_is_ready() {
        let mut set: Vec<_> = (1..=9).map(|n| upstream(n, Verdict::Ready)).collect();
        set[4].here = true;
        for node in 0..100 {
            assert_eq!(order(node, &set, false).order[0].address, set[4].address);
        }
        set[4].verdict = Verdict::Draining;
        assert_ne!(order(1, &set, false).order[0].address, set[4].address);
    }

    #[test]
    fn prefers_the_best_class_and_keeps_the_rest_as_last_resort() {
        let set = [
            upstream(1, Verdict::Dead),
            upstream(2, Verdict::Draining),
            upstream(3, Verdict::Ready),
            upstream(4, Verdict::Foreign),
        ];
        let order: Vec<_> = order(1, &set, false)
            .order
            .iter()
            .map(|c| c.address)
            .collect();
        assert_eq!(order, [set[2].address, set[1].address, set[0].address]);
    }

    #[test]
    fn a_suspected_upstream_stands_behind_its_equals_at_once() {
        let mut set = [upstream(1, Verdict::Ready), upstream(2, Verdict::Ready)];
        let first = order(1, &set, false).order[0].address;
        for u in &mut set {
            u.suspected = u.address == first;
        }
        assert_ne!(order(1, &set, false).order[0].address, first);
    }

    #[test]
    fn s6_all_bad_is_still_all_tried() {
        let set = [upstream(1, Verdict::Dead), upstream(2, Verdict::Silent)];
        let candidates = order(1, &set, false);
        assert_eq!(candidates.order.len(), 2);
        assert!(!candidates.usable);
    }

    #[test]
    fn a_fleet_spreads_evenly_and_only_the_lost_share_moves() {
        let three: Vec<_> = (1..=3).map(|n| upstream(n, Verdict::Ready)).collect();
        let two = &three[..2];
        let mut per_upstream: BTreeMap<SocketAddr, u32> = BTreeMap::new();
        for n in 0..3000 {
            let node = hash_text(&format!("node-{n}"));
            let with = order(node, &three, false).order[0].address;
            let without = order(node, two, false).order[0].address;
            *per_upstream.entry(with).or_default() += 1;
            assert!(with == three[2].address || with == without);
        }
        for count in per_upstream.values() {
            assert!((900..=1100).contains(count), "{per_upstream:?}");
        }
    }
}
