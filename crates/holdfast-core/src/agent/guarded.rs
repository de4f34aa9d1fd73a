//! Connections whose sockets belong to somebody else: the guard sees them, and can abort them.
//!
//! What is abandoned is decided as for the proxy's own connections. What follows differs: the proxy
//! chooses where a client goes next, behind the guard the client does, by the endpoint's name. So a
//! guarded connection is cut for its address's sake only while the name leads somewhere that works
//! (S2), and a client that comes back to the bad address, since the name still has it, is cut again
//! only when that attempt had its time, and under a limit of its own (S4, S5).

use std::net::SocketAddr;
use std::time::Duration;

use super::{Action, Agent, Connection, ConnectionId, Power, cutting::Cutting, is_proven};
use crate::balance;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::pace::TokenBucket;
use crate::reason::Reason;
use crate::status::What;

#[cfg(test)]
mod tests;

/// A new connection, or an attempt at one, gets this long before it is judged: the first
/// retransmission of a SYN comes after one second (RFC 6298, section 2), so whoever answers at all
/// has answered by then, but for a lost packet.
pub(super) const SETTLE: Duration = Duration::from_secs(1);

/// What came back to a bad address is cut again at most this often: seldom enough for a log, often
/// enough that a dial to it costs a client seconds and not its 30.
const AGAIN_EVERY: Duration = Duration::from_secs(2);

/// The limit of cuts after the first.
pub(super) const fn recut_limit() -> TokenBucket {
    TokenBucket::full(1, AGAIN_EVERY)
}

/// What sets a guarded connection apart.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    /// When it was first seen.
    seen: Tick,
    power: Power,
    /// The kernel has spoken of its bytes: it is more than an attempt.
    established: bool,
}

impl Connection {
    /// Whether it had its time: a client that came back to a bad address may be lucky.
    fn is_settled(&self, now: Tick) -> bool {
        let seen = self.guarded.as_ref().map(|g| g.seen);
        seen.is_none_or(|seen| now >= seen + SETTLE)
    }

    pub(super) const fn is_guarded(&self) -> bool {
        self.guarded.is_some()
    }

    /// Whether all that can be done to it is to restart this unit.
    pub(super) fn is_left_to(&self, unit: &str) -> bool {
        let power = self.guarded.as_ref().map(|g| &g.power);
        matches!(power, Some(Power::Restart(one)) if one == unit)
    }

    /// The kernel has spoken of its bytes.
    pub(super) const fn stands(&mut self) {
        if let Some(guarded) = &mut self.guarded {
            guarded.established = true;
        }
    }
}

impl Agent {
    /// A socket of somebody else leads to this upstream.
    pub(super) fn guard(
        &mut self,
        now: Tick,
        id: ConnectionId,
        upstream: SocketAddr,
        power: Power,
    ) {
        let guarded = Guarded {
            seen: now,
            power,
            established: false,
        };
        self.attach(id, upstream, Some(guarded));
        if let Some(upstream) = self.upstreams.get_mut(&upstream)
            && !balance::is_usable(upstream.health.verdict())
            && upstream.cutting == Cutting::Idle
        {
            upstream.cutting = Cutting::Withheld(None);
        }
    }

    /// The kernel did not abort a socket. It is not tried again: the reason does not go away.
    pub(super) fn cut_failed(&mut self, now: Tick, id: ConnectionId, why: String) {
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        let mut entry = Entry::new(What::Withheld, Reason::NotPermitted)
            .on(connection.upstream)
            .because(why)
            .then("left alone; its client finds out by itself");
        entry.connection = Some(id);
        self.write(now, entry);
    }

    /// Whether the client of a connection that ends gets to something that works. Holdfast's own
    /// clients go wherever the agent knows of; a guarded one asks the endpoint's name.
    pub(super) fn has_way(&self, address: SocketAddr, connection: &Connection) -> bool {
        match &connection.guarded {
            None => self.usable_besides(address),
            Some(_) => self.name_leads_elsewhere(address),
        }
    }

    /// Whether the client of a connection that ends may get to `address` again: then a fault of that
    /// one connection is left behind where its address works.
    pub(super) fn may_return(&self, address: SocketAddr, connection: &Connection) -> bool {
        connection.guarded.is_none()
            || self.sources.resolves_to(address)
            || !self.sources.has_name()
    }

    /// Whether the endpoint's name, as it was answered last, has another address that works.
    fn name_leads_elsewhere(&self, address: SocketAddr) -> bool {
        self.upstreams.iter().any(|(other, u)| {
            *other != address && is_proven(u.health.verdict()) && self.sources.resolves_to(*other)
        })
    }

    /// Why nothing on `address` may be cut now, although some connections had their time; `None` if
    /// something may.
    pub(super) fn way_missing(&self, now: Tick, address: SocketAddr) -> Option<Reason> {
        let open = self.connections.open_on(address).map(|(_, c)| c);
        let mut settled = open.filter(|c| c.is_settled(now)).peekable();
        settled.peek()?;
        if settled.any(|c| self.has_way(address, c)) {
            None
        } else if self.usable_besides(address) {
            Some(Reason::NowhereElse)
        } else {
            Some(Reason::AllUpstreamsBad)
        }
    }

    /// When the first open connection on `address` has had its time.
    pub(super) fn settles_at(&self, address: SocketAddr) -> Option<Tick> {
        self.connections
            .open_on(address)
            .map(|(_, c)| c.guarded.as_ref().map_or(Tick::ZERO, |g| g.seen + SETTLE))
            .min()
    }

    /// Whether this connection may be cut now for its address's sake.
    pub(super) fn is_cuttable(&self, now: Tick, address: SocketAddr, id: ConnectionId) -> bool {
        self.connections.get(id).is_some_and(|connection| {
            connection.is_settled(now) && self.has_way(address, connection)
        })
    }

    /// When the drain time of a connection that drains since `since` is over, if it is to end then.
    /// A guarded one ends only when the name has dropped its address, and has its drain time from
    /// when it came: else a client that comes back would be closed again and again.
    pub(super) fn drained_at(
        &self,
        address: SocketAddr,
        since: Tick,
        connection: &Connection,
    ) -> Option<Tick> {
        let since = match &connection.guarded {
            None => since,
            Some(_) if self.sources.names(address) || !self.name_leads_elsewhere(address) => {
                return None;
            }
            Some(guarded) => since.max(guarded.seen),
        };
        Some(since + self.settings.drain)
    }

    /// The limit holds a cut back. Of what came back and is cut again nothing more is told.
    pub(super) fn limited(&mut self, now: Tick, address: SocketAddr, written: Option<Reason>) {
        match self.upstreams.get_mut(&address) {
            Some(upstream) if upstream.cut_before => {
                upstream.cutting = Cutting::Withheld(Some(Reason::RateLimited));
            }
            _ => self.withhold(now, address, written, Reason::RateLimited),
        }
    }

    /// Takes leave to cut what stands on `address`. What came back after a cut has a limit of its
    /// own, so that one bad address does not use up what another one needs.
    pub(super) fn take_cut(&mut self, now: Tick, address: SocketAddr) -> bool {
        match self.upstreams.get(&address) {
            Some(upstream) if upstream.cut_before => self.recuts.take(now),
            _ => self.cuts.take(now),
        }
    }

    /// When [`take_cut`](Self::take_cut) may succeed next.
    pub(super) fn next_leave(&self, address: SocketAddr) -> Tick {
        match self.upstreams.get(&address) {
            Some(upstream) if upstream.cut_before => self.recuts.next(),
            _ => self.cuts.next(),
        }
    }

    /// Orders the end of a connection and says so; or, where it can't be aborted, says that it would and
    /// what follows instead.
    pub(super) fn end_by(
        &mut self,
        now: Tick,
        id: ConnectionId,
        order: Action,
        what: What,
        reason: Reason,
        evidence: String,
    ) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.ending = true;
        let address = connection.upstream;
        let (what, next) = match connection.guarded.clone() {
            None => (
                what,
                "the client reconnects, to the best upstream".to_owned(),
            ),
            Some(guarded) => match guarded.power {
                Power::Abort => {
                    let next = "the client reconnects, by the endpoint's name";
                    (what, next.to_owned())
                }
                // An attempt ends by itself, and a connection that drains still serves.
                Power::Restart(unit) if guarded.established && what == What::ConnectionCut => {
                    let delay = self.plan_restart(now, &unit, id, reason, &evidence);
                    (What::WouldCut, restart_words(&unit, delay))
                }
                Power::Report | Power::Restart(_) => {
                    let next = "nothing: the guard only reports";
                    (What::WouldCut, next.to_owned())
                }
            },
        };
        if what != What::WouldCut {
            self.actions.push_back(order);
        }
        let mut entry = Entry::new(what, reason)
            .on(address)
            .because(evidence)
            .then(next);
        entry.connection = Some(id);
        self.write(now, entry);
    }
}

fn restart_words(unit: &str, delay: Option<Duration>) -> String {
    delay.map_or_else(
        || "nothing: the guard only reports".to_owned(),
        |delay| {
            let seconds = delay.as_secs_f64();
            format!("it can't be aborted: {unit} is restarted in {seconds:.1} s, if it may be")
        },
    )
}
