//! When open connections end by Holdfast's doing: after the fault is located, under a limit, and
//! never on the strength of one upstream's silence alone (S2, S3, S4).

use std::net::SocketAddr;
use std::time::Duration;

use super::{Action, Agent, ConnectionId, Traffic, is_proven};
use crate::balance;
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
}

/// How long a sign of life of another upstream vouches for this node's network.
const RECENT: Duration = Duration::from_secs(2);

/// A witness usually follows within one probe interval; what is withheld for longer is told.
const WITNESS_WAIT: Duration = Duration::from_secs(1);

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
        let Cutting::Withheld(written) = upstream.cutting else {
            return;
        };
        if !self.has_open_connections(address) {
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
        let hold = if !self.usable_besides(address) {
            Some(Reason::AllUpstreamsBad)
        } else if !witnessed {
            if now < since + WITNESS_WAIT {
                return;
            }
            Some(Reason::LocalFaultSuspected)
        } else {
            None
        };
        match hold {
            Some(reason) => self.withhold(now, address, written, reason),
            None if !self.cuts.take(now) => {
                self.withhold(now, address, written, Reason::RateLimited);
            }
            None => {
                if let Some(upstream) = self.upstreams.get_mut(&address) {
                    upstream.cutting = Cutting::Sampling;
                }
                self.actions.push_back(Action::Sample { upstream: address });
            }
        }
    }

    fn withhold(
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
        let connections = self.connections_on(address).count();
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
        if moving > 0 {
            return self.observe(now, address, Evidence::Spoke);
        }
        if !self.usable_besides(address) {
            // The others went bad while the traffic was looked at.
            if let Some(upstream) = self.upstreams.get_mut(&address) {
                upstream.cutting = Cutting::Withheld(None);
            }
            return;
        }
        for seen in traffic {
            let evidence = format!("upstream is {reason}; {}", quiet(now, seen.heard));
            self.end(now, address, seen.connection, reason, evidence);
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
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        if connection.upstream != address || connection.ending {
            return;
        }
        connection.ending = true;
        self.actions.push_back(Action::Cut { connection: id });
        let mut entry = Entry::new(What::ConnectionCut, reason)
            .on(address)
            .because(evidence)
            .then("the client reconnects, to the best upstream");
        entry.connection = Some(id);
        self.write(now, entry);
    }

    fn consider_drain(&mut self, now: Tick, address: SocketAddr) {
        let over = self
            .upstreams
            .get(&address)
            .and_then(|u| u.draining_since)
            .is_some_and(|since| now >= since + self.settings.drain);
        if !over || !self.ready_besides(address) {
            return;
        }
        let open: Vec<_> = self
            .connections
            .iter_mut()
            .filter(|(_, c)| c.upstream == address && !c.ending)
            .map(|(id, c)| {
                c.ending = true;
                *id
            })
            .collect();
        for connection in open {
            self.actions.push_back(Action::Close { connection });
            let mut entry = Entry::new(What::ConnectionDrained, Reason::DrainTimeOver)
                .on(address)
                .because(format!("draining for {} s", self.settings.drain.as_secs()))
                .then("the client reconnects, to the best upstream");
            entry.connection = Some(connection);
            self.write(now, entry);
        }
    }

    /// When cutting or draining has something to do next.
    pub(super) fn next_cut(&self) -> Option<Tick> {
        let drains = self.upstreams.iter().filter_map(|(address, u)| {
            let due = u.draining_since? + self.settings.drain;
            (self.has_open_connections(*address) && self.ready_besides(*address)).then_some(due)
        });
        let limited = self
            .upstreams
            .iter()
            .filter(|(address, u)| {
                u.cutting == Cutting::Withheld(Some(Reason::RateLimited))
                    && self.has_open_connections(**address)
            })
            .map(|_| self.cuts.next());
        drains.chain(limited).min()
    }

    fn has_open_connections(&self, address: SocketAddr) -> bool {
        self.connections
            .values()
            .any(|c| c.upstream == address && !c.ending)
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

/// How long a connection got nothing, in words.
pub(super) fn quiet(now: Tick, heard: Option<Tick>) -> String {
    heard.map_or_else(
        || "it never got a byte".to_owned(),
        |at| format!("no byte for {:.1} s", now.since(at).as_secs_f64()),
    )
}
