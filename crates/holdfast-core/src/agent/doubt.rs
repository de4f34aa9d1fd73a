//! One silent connection on an address that answers: behind a balancer, its target may hang.
//!
//! A probe of the balancer proves nothing about one connection's target. So when a connection stays
//! unanswered, a sample of fresh handshakes asks the address: if some of them are never answered and
//! others are, there is a target that hangs, and the silent connection is cut. If all are answered
//! the connection is slow, and stays (S3).

use std::net::SocketAddr;
use std::time::Duration;

use super::cutting::quiet;
use super::{Action, Agent, ConnectionId, Traffic, is_proven};
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::What;

#[cfg(test)]
mod tests;

/// A connection that stays unanswered is looked at again after this time: a sample may miss the
/// target that hangs.
const AGAIN: Duration = Duration::from_secs(6);

/// What is known of a silent connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    /// Since when it is unanswered.
    since: Tick,
    /// When the address was asked.
    asked: Tick,
    /// Handshakes since then that were answered.
    answered: u32,
    /// Handshakes since then that were not.
    hung: u32,
    /// The client has tried again meanwhile.
    repeated: bool,
    /// It was written down that the limit holds the cut back.
    withheld: bool,
}

impl Doubt {
    /// Some target there hangs and another does not: one more look at the connection's traffic, and
    /// it is cut.
    const fn is_convicted(&self) -> bool {
        self.repeated && self.hung > 0 && self.answered > 0
    }
}

impl Agent {
    /// A connection is unanswered. Its address is asked at once, so that the answer is there when the
    /// client tries again; and asked anew while that goes on, since a sample may miss the target.
    pub(super) fn unanswered(&mut self, now: Tick, id: ConnectionId, since: Tick, repeated: bool) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.ending {
            return;
        }
        let address = connection.upstream;
        let known = connection.doubt.filter(|d| d.since == since);
        let mut doubt = known.unwrap_or(Doubt {
            since,
            asked: now,
            answered: 0,
            hung: 0,
            repeated,
            withheld: false,
        });
        doubt.repeated = repeated;
        let open = !doubt.is_convicted() && repeated && now >= doubt.asked + AGAIN;
        let ask = known.is_none() || open;
        if ask {
            doubt.asked = now;
        }
        connection.doubt = Some(doubt);
        if ask && let Some(upstream) = self.upstreams.get_mut(&address) {
            upstream.probing.sample(now);
        }
        if doubt.is_convicted() {
            self.actions.push_back(Action::Sample { upstream: address });
        }
    }

    /// Starts and counts samples of `address`, and judges the connections in doubt there.
    pub(super) fn take_samples(&mut self, now: Tick, address: SocketAddr) {
        let Some(upstream) = self.upstreams.get_mut(&address) else {
            return;
        };
        let started = upstream.probing.start_sample(now, self.next_probe);
        self.next_probe += u64::from(!started.is_empty());
        let (samples, aborted) = upstream.probing.take_samples(now);
        self.order_probes(address, started);
        self.order_probes(address, aborted);
        if samples.is_empty() {
            return;
        }
        let mut convicted = false;
        for connection in self.connections.values_mut() {
            if let Some(doubt) = &mut connection.doubt
                && connection.upstream == address
                && !connection.ending
            {
                for answered in &samples {
                    doubt.answered += u32::from(*answered);
                    doubt.hung += u32::from(!*answered);
                }
                convicted |= doubt.is_convicted();
            }
        }
        if convicted {
            self.actions.push_back(Action::Sample { upstream: address });
        }
    }

    /// Cuts what is convicted and still silent.
    pub(super) fn cut_doubted(&mut self, now: Tick, address: SocketAddr, traffic: &[Traffic]) {
        // One cause, one token: all connections to one target are cut together.
        let mut allowed = None;
        for seen in traffic {
            let Some(connection) = self.connections.get_mut(seen.connection) else {
                continue;
            };
            let Some(doubt) = connection.doubt.filter(Doubt::is_convicted) else {
                continue;
            };
            if seen.heard >= Some(doubt.since) || now < self.fresh_from {
                connection.doubt = None;
                continue;
            }
            // A server that began to hang looks like a target of a balancer that does: its connections
            // are cut with the address, if at all.
            let works = self
                .upstreams
                .get(&address)
                .is_some_and(|u| is_proven(u.health.verdict()));
            let has_way = |c| (works && self.may_return(address, c)) || self.has_way(address, c);
            if !self.connections.get(seen.connection).is_some_and(has_way) {
                continue;
            }
            let Some(connection) = self.connections.get_mut(seen.connection) else {
                continue;
            };
            if !*allowed.get_or_insert_with(|| self.cuts.take(now)) {
                if let Some(doubt) = &mut connection.doubt
                    && !std::mem::replace(&mut doubt.withheld, true)
                {
                    let mut entry = Entry::new(What::Withheld, Reason::RateLimited)
                        .on(address)
                        .because("its target hangs; the limit of cuts per window is reached")
                        .then("cut as soon as the limit allows");
                    entry.connection = Some(seen.connection);
                    self.write(now, entry);
                }
                continue;
            }
            connection.doubt = None;
            let evidence = format!(
                "its requests are unanswered; {} of {} fresh handshakes there hang; {}",
                doubt.hung,
                doubt.hung + doubt.answered,
                quiet(now, seen.heard)
            );
            self.end(now, address, seen.connection, Reason::Hung, evidence);
        }
    }
}
