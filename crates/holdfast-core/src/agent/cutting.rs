//! When open connections end by Holdfast's doing: after the fault is located, under a limit, and
//! never on the strength of one upstream's silence alone (S2, S3, S4).

use std::net::SocketAddr;
use std::time::Duration;

use super::fleet::share;
use super::{Action, Agent, ConnectionId, Settings, Traffic, is_proven};
use crate::balance;
use crate::chance::Chance;
use crate::health::Evidence;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::{Verdict, What};

/// Where the decision to cut an upstream's connections stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Cutting {
    /// Nothing to cut, or it is done.
    #[default]
    Idle,
    /// Wanted, and not done so far; the reason that was written down, if one was.
    Withheld(Option<Reason>),
    /// The traffic of the connections is being looked at: the last check before the cut.
    Sampling,
    /// A connection there moves bytes; looked at again then.
    Moving(Tick),
}

/// How long a sign of life of another upstream vouches for this node's network.
const RECENT: Duration = Duration::from_secs(2);

/// A witness usually follows within one probe interval; what is withheld for longer is told.
const WITNESS_WAIT: Duration = Duration::from_secs(1);

/// A stranger's connection that moves bytes is left alone, and looked at again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Drained connections are closed over this share of the drain time, in percent, so that their
/// clients do not come back in one moment; and over [`MOST_DRAIN_SPREAD`] at the most.
const DRAIN_SPREAD_PERCENT: u32 = 10;

/// See [`DRAIN_SPREAD_PERCENT`].
const MOST_DRAIN_SPREAD: Duration = Duration::from_mins(1);

impl Cutting {
    /// A new verdict opens the question anew.
    pub(super) const fn verdict_changed(&mut self, to: Verdict) {
        *self = if balance::is_usable(to) {
            Self::Idle
        } else {
            Self::Withheld(None)
        };
    }
}

impl Agent {
    pub(super) fn cut_and_drain(&mut self, now: Tick) {
        let addresses: Vec<_> = self.upstreams.keys().copied().collect();
        for address in addresses {
            self.consider_cut(now, address);
            self.consider_drain(now, address);
        }
    }

    fn consider_cut(&mut self, now: Tick, address: SocketAddr) {
        let Some(upstream) = self.upstreams.get(&address) else {
            return;
        };
        let written = match upstream.cutting {
            Cutting::Withheld(written) => written,
            Cutting::Moving(again) if now >= again => None,
            Cutting::Idle | Cutting::Sampling | Cutting::Moving(_) => return,
        };
        if self.settles_at(address).is_none_or(|at| now < at) {
            return;
        }
        let (verdict, reason) = (upstream.health.verdict(), upstream.health.reason());
        let since = upstream.health.since();
        let answered = matches!(reason, Reason::Refused | Reason::Reset);
        let witnessed = match verdict {
            // Somebody's kernel answered: it has told the peers of dead connections already, and a
            // server that stops gracefully refuses new ones while it finishes the old.
            Verdict::Dead if answered => return,
            Verdict::Foreign => self.witness(address, since.max(now - RECENT)),
            Verdict::Silent | Verdict::Dead => {
                let unanswered = upstream.health.suspicion().and_then(|s| s.witnessed);
                unanswered.is_some_and(|at| self.witness(address, at.max(now - RECENT)))
            }
            Verdict::Ready | Verdict::Slow | Verdict::Draining | Verdict::Probation => return,
        };
        let due = since + self.cut_delay(address);
        if now < due {
            return;
        }
        // What was unanswered long ago may be answered now: it is asked again before its connections
        // are cut, and the others with it.
        let patience = upstream.probing.patience();
        let fresh = upstream
            .health
            .suspicion()
            .is_none_or(|s| now <= s.latest + RECENT + patience);
        if !(witnessed && fresh) && now >= upstream.asked_for_cut + WITNESS_WAIT {
            if let Some(upstream) = self.upstreams.get_mut(&address) {
                upstream.asked_for_cut = now;
                upstream.probing.hurry(now);
            }
            self.ask_witnesses(now, address, now);
        }
        if witnessed && !fresh {
            return;
        }
        let hold = if let Some(missing) = self.way_missing(now, address) {
            Some(missing)
        } else if !witnessed {
            if now < due + WITNESS_WAIT {
                return;
            }
            Some(Reason::LocalFaultSuspected)
        } else {
            None
        };
        match hold {
            Some(reason) => self.withhold(now, address, written, reason),
            None if !self.take_cut(now, address) => {
                self.limited(now, address, written);
            }
            None => {
                if let Some(upstream) = self.upstreams.get_mut(&address) {
                    upstream.cutting = Cutting::Sampling;
                }
                self.actions.push_back(Action::Sample { upstream: address });
            }
        }
    }

    pub(super) fn withhold(
        &mut self,
        now: Tick,
        address: SocketAddr,
        written: Option<Reason>,
        reason: Reason,
    ) {
        if written == Some(reason) {
            return;
        }
        if let Some(upstream) = self.upstreams.get_mut(&address) {
            upstream.cutting = Cutting::Withheld(Some(reason));
        }
        let connections = self.connections.count_on(address);
        let (evidence, next) = if reason == Reason::RateLimited {
            let cuts = self.settings.cuts;
            (
                format!("the limit of {cuts} cuts per window is reached"),
                "cut as soon as the limit allows",
            )
        } else if reason == Reason::LocalFaultSuspected {
            (
                "no other upstream has answered since the trouble began".to_owned(),
                "probed; cut only when another upstream answers and this one still does not",
            )
        } else if reason == Reason::NowhereElse {
            (
                "others answer, but the endpoint's name has none of them".to_owned(),
                "kept: its clients would come back here; cut when the name leads elsewhere",
            )
        } else {
            (
                "no other upstream is usable".to_owned(),
                "kept: probed until this or another one answers",
            )
        };
        let entry = Entry::new(What::Withheld, reason)
            .on(address)
            .because(format!("{connections} connections; {evidence}"))
            .then(next);
        self.write(now, entry);
    }

    /// The last look: a connection that still moves bytes is not cut, and proves its upstream alive.
    pub(super) fn sampled(&mut self, now: Tick, address: SocketAddr, traffic: &[Traffic]) {
        self.cut_doubted(now, address, traffic);
        self.move_one(now, address, traffic);
        let Some(upstream) = self.upstreams.get_mut(&address) else {
            return;
        };
        if upstream.cutting != Cutting::Sampling {
            return;
        }
        if now < self.fresh_from {
            // The process was held up since it asked: the grounds for the cut are stale.
            upstream.cutting = Cutting::Withheld(None);
            return;
        }
        upstream.cutting = Cutting::Idle;
        let since = upstream
            .health
            .suspicion()
            .map_or_else(|| upstream.health.since(), |s| s.since);
        let reason = upstream.health.reason();
        let moving = traffic.iter().filter(|t| t.heard > Some(since)).count();
        if moving > 0 && upstream.health.verdict() == Verdict::Foreign {
            upstream.cutting = Cutting::Moving(now + LOOK_AGAIN);
            return;
        }
        if moving > 0 {
            return self.observe(now, address, Evidence::Spoke);
        }
        let mut cut = false;
        for seen in traffic {
            if self.is_cuttable(now, address, seen.connection) {
                let evidence = format!("upstream is {reason}; {}", quiet(now, seen.heard));
                self.end(now, address, seen.connection, reason, evidence);
                cut = true;
            }
        }
        // They had not had their time, or the others went bad while the traffic was looked at.
        let left = self
            .connections
            .open_on(address)
            .any(|(_, c)| c.is_guarded() || !self.has_way(address, c));
        if let Some(upstream) = self.upstreams.get_mut(&address) {
            upstream.cut_before |= cut;
            if left {
                upstream.cutting = Cutting::Withheld(None);
            }
        }
    }

    pub(super) fn end(
        &mut self,
        now: Tick,
        address: SocketAddr,
        id: ConnectionId,
        reason: Reason,
        evidence: String,
    ) {
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        if connection.upstream != address || connection.ending {
            return;
        }
        let order = Action::Cut { connection: id };
        self.end_by(now, id, order, What::ConnectionCut, reason, evidence);
    }

    fn consider_drain(&mut self, now: Tick, address: SocketAddr) {
        let due: Vec<_> = self
            .drains(address)
            .filter(|(at, _)| now >= *at)
            .map(|(_, id)| id)
            .collect();
        for connection in due {
            let order = Action::Close { connection };
            let evidence = format!("draining for {} s", self.settings.drain.as_secs());
            let what = What::ConnectionDrained;
            self.end_by(
                now,
                connection,
                order,
                what,
                Reason::DrainTimeOver,
                evidence,
            );
        }
    }

    /// The connections on `address` whose drain time ends, and when.
    fn drains(&self, address: SocketAddr) -> impl Iterator<Item = (Tick, ConnectionId)> + '_ {
        let since = self
            .upstreams
            .get(&address)
            .and_then(|u| u.draining_since)
            .filter(|_| self.ready_besides(address));
        let waits = Drain::of(&self.settings);
        let open = since.map(|since| self.connections.open_on(address).map(move |on| (since, on)));
        open.into_iter()
            .flatten()
            .filter_map(move |(since, (id, c))| {
                let over = self.drained_at(address, since, c)?;
                // A guarded one has its drain time from when it came.
                let at = if c.is_guarded() {
                    over
                } else {
                    over + waits.wait(id)
                };
                Some((at, id))
            })
    }

    /// When cutting or draining has something to do next.
    pub(super) fn next_cut(&self) -> Option<Tick> {
        let drains = self
            .upstreams
            .keys()
            .flat_map(|address| self.drains(*address))
            .map(|(at, _)| at);
        let turns = self.upstreams.iter().filter_map(|(address, u)| {
            let due = match u.cutting {
                Cutting::Withheld(None) => u.health.since() + self.cut_delay(*address),
                Cutting::Moving(again) => again,
                Cutting::Idle | Cutting::Sampling | Cutting::Withheld(Some(_)) => return None,
            };
            (due > self.settled_at && self.has_open_connections(*address)).then_some(due)
        });
        let limited = self
            .upstreams
            .iter()
            .filter(|(address, u)| {
                u.cutting == Cutting::Withheld(Some(Reason::RateLimited))
                    && self.has_open_connections(**address)
            })
            .map(|(address, _)| self.next_leave(*address));
        let came_back = self
            .upstreams
            .iter()
            .filter(|(_, u)| matches!(u.cutting, Cutting::Withheld(_)))
            .filter_map(|(address, _)| self.settles_at(*address))
            .filter(|at| *at > self.settled_at);
        drains.chain(turns).chain(limited).chain(came_back).min()
    }

    fn has_open_connections(&self, address: SocketAddr) -> bool {
        self.connections.open_on(address).next().is_some()
    }

    /// Whether another upstream is better than one that drains.
    fn ready_besides(&self, address: SocketAddr) -> bool {
        self.upstreams.iter().any(|(other, u)| {
            *other != address
                && is_proven(u.health.verdict())
                && u.health.verdict() != Verdict::Draining
        })
    }
}

/// When drained connections are closed, each at a moment of its own after the drain time.
#[derive(Clone, Copy)]
struct Drain {
    spread: Duration,
    seed: u64,
}

impl Drain {
    fn of(settings: &Settings) -> Self {
        Self {
            spread: (settings.drain / 100 * DRAIN_SPREAD_PERCENT).min(MOST_DRAIN_SPREAD),
            seed: settings.seed,
        }
    }

    fn wait(self, id: ConnectionId) -> Duration {
        share(self.spread, Chance::new(self.seed ^ id).bits())
    }
}

/// How long a connection got nothing, in words.
pub(super) fn quiet(now: Tick, heard: Option<Tick>) -> String {
    heard.map_or_else(
        || "it never got a byte".to_owned(),
        |at| format!("no byte for {:.1} s", now.since(at).as_secs_f64()),
    )
}
