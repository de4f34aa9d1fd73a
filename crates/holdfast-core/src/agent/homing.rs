//! Moving home: a quiet connection goes back to the upstream that is this node's own choice, once
//! that one has been ready for a while, so that a fleet is spread evenly again after an outage.
//!
//! One per minute and node, with a FIN, at a moment that is this node's own; never one that moves
//! bytes or waits for an answer, and never without a home that answers.

use std::net::SocketAddr;
use std::time::Duration;

use super::fleet::share;
use super::{Action, Agent, Traffic};
use crate::chance::hash_address;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::pace::TokenBucket;
use crate::reason::Reason;
use crate::status::{Verdict, What};

#[cfg(test)]
mod tests;

/// A home that is ready for less than this may be on its way down again.
const SETTLED: Duration = Duration::from_secs(10);

/// Nodes begin to move at their own moment within this time after that.
const SPREAD: Duration = Duration::from_secs(30);

/// One connection moves in this time, at most.
const EVERY: Duration = Duration::from_mins(1);

/// While none is quiet, they are looked at again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// A connection is quiet that got nothing for this long and waits for nothing: between two
/// heartbeats (10 s apart) there is such a moment, in a transfer there is none.
const QUIET: Duration = Duration::from_secs(2);

/// A home that was heard within this time answers.
const RECENT: Duration = Duration::from_secs(10);

/// Where moving home stands.
#[derive(Debug)]
pub(super) struct Homing {
    limit: TokenBucket,
    /// The upstream whose connections are being looked at.
    looking_at: Option<SocketAddr>,
    next_look: Tick,
}

impl Homing {
    pub(super) const fn new() -> Self {
        Self {
            limit: TokenBucket::full(1, EVERY),
            looking_at: None,
            next_look: Tick::ZERO,
        }
    }
}

impl Agent {
    /// This node's own choice, and when it may move there.
    fn home(&self) -> Option<(SocketAddr, Tick)> {
        let first = self.offered.as_ref()?.order.first()?.address;
        let upstream = self.upstreams.get(&first)?;
        let ready = upstream.health.verdict() == Verdict::Ready
            && upstream.health.suspicion().is_none()
            && self.sources.names(first);
        let moment = share(SPREAD, hash_address(self.settings.seed, first));
        ready.then_some((first, upstream.health.since() + SETTLED + moment))
    }

    /// An upstream that is as good, is not this node's own choice, and has connections.
    fn away(&self, home: SocketAddr) -> Option<SocketAddr> {
        let good = |address: &SocketAddr| {
            self.upstreams.get(address).is_some_and(|u| {
                u.health.verdict() == Verdict::Ready && u.health.suspicion().is_none()
            })
        };
        let own = |address: &SocketAddr| {
            let mut open = self.connections.open_on(*address);
            open.any(|(_, c)| !c.is_guarded())
        };
        let away = self.connections.upstreams().filter(|a| *a != home);
        away.filter(good).find(own)
    }

    pub(super) fn move_home(&mut self, now: Tick) {
        if self.next_move().is_none_or(|due| now < due) {
            return;
        }
        let Some(upstream) = self.home().and_then(|(home, _)| self.away(home)) else {
            return;
        };
        self.homing.looking_at = Some(upstream);
        self.homing.next_look = now + LOOK_AGAIN;
        self.actions.push_back(Action::Sample { upstream });
    }

    pub(super) fn next_move(&self) -> Option<Tick> {
        if !self.settings.move_home {
            return None;
        }
        let (home, from) = self.home()?;
        self.away(home)?;
        Some(
            from.max(self.homing.next_look)
                .max(self.homing.limit.earliest()),
        )
    }

    /// Moves one quiet connection, if there is one.
    pub(super) fn move_one(&mut self, now: Tick, address: SocketAddr, traffic: &[Traffic]) {
        if self.homing.looking_at != Some(address) {
            return;
        }
        self.homing.looking_at = None;
        let Some((home, from)) = self.home().filter(|(home, _)| *home != address) else {
            return;
        };
        let heard = self.upstreams.get(&home).and_then(|u| u.health.heard());
        let answers = heard > Some(self.fresh_from.max(now - RECENT));
        if now < from.max(self.fresh_from) || !answers {
            return;
        }
        let quiet = |seen: &&Traffic| {
            let on = self.connections.get(seen.connection);
            let here = on.is_some_and(|c| c.upstream == address && !c.ending && !c.is_guarded());
            let still = seen.heard.is_some_and(|at| now.since(at) >= QUIET);
            here && still && !seen.waiting
        };
        let Some(id) = traffic.iter().find(quiet).map(|seen| seen.connection) else {
            return;
        };
        if !self.homing.limit.take(now) {
            return;
        }
        if let Some(connection) = self.connections.get_mut(id) {
            connection.ending = true;
        }
        self.actions.push_back(Action::Close { connection: id });
        let mut entry = Entry::new(What::ConnectionMoved, Reason::MovedHome)
            .on(address)
            .because(format!(
                "quiet; {home} is this node's own choice and ready again"
            ))
            .then("the client reconnects, to that one");
        entry.connection = Some(id);
        self.write(now, entry);
    }
}
