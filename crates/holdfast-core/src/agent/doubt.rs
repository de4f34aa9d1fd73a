//! One silent connection on an address that answers: behind a balancer, its target may hang.
//!
//! A probe of the balancer proves nothing about one connection's target. So when a connection stays
//! unanswered, a sample of fresh handshakes asks the address: if some of them are never answered and
//! others are, there is a target that hangs, and the silent connection is cut. If all are answered
//! the connection is slow, and stays (S3).

use std::net::SocketAddr;
use std::time::Duration;

use super::cutting::quiet;
use super::{Action, Agent, ConnectionId, Traffic};
use crate::machine::Tick;
use crate::reason::Reason;

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
    /// Both kinds were seen: one more look at its traffic, and it is cut.
    convicted: bool,
}

impl Agent {
    /// A connection is unanswered.
    pub(super) fn unanswered(&mut self, now: Tick, id: ConnectionId, since: Tick) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let fresh = connection
            .doubt
            .is_some_and(|d| d.since == since && now < d.asked + AGAIN);
        if connection.ending || fresh {
            return;
        }
        connection.doubt = Some(Doubt {
            since,
            asked: now,
            answered: 0,
            hung: 0,
            convicted: false,
        });
        if let Some(upstream) = self.upstreams.get_mut(&connection.upstream) {
            upstream.probing.sample(now);
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
                doubt.convicted |= doubt.hung > 0 && doubt.answered > 0;
                convicted |= doubt.convicted;
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
            let Some(connection) = self.connections.get_mut(&seen.connection) else {
                continue;
            };
            let Some(doubt) = connection.doubt.filter(|d| d.convicted) else {
                continue;
            };
            connection.doubt = None;
            if seen.heard >= Some(doubt.since) || now < self.fresh_from {
                continue;
            }
            if !*allowed.get_or_insert_with(|| self.cuts.take(now)) {
                continue;
            }
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
