//! The kernel's word on one connection: bytes that nobody acknowledges.
//!
//! A second retransmission in vain (0.9 s on a LAN), or a keepalive question that stays open, makes
//! the address suspect: it and the others are asked at once. A fourth (3.4 s) convicts the one
//! connection, if somebody answered before the last two retransmissions, between them, and after the
//! last was overdue. So a link that flaps convicts nobody, and neither does a peer that has stopped
//! reading: its kernel still acknowledges what it sees (RFC 9293, section 3.8.6.1).

use std::net::SocketAddr;
use std::time::Duration;

use super::{Agent, ConnectionId, is_proven};
use crate::health::Evidence;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::What;

#[cfg(test)]
mod tests;

/// What TCP says about one connection, at the moment of asking (`struct tcp_info` in linux/tcp.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Segments that were sent and not acknowledged (`tcpi_unacked`).
    pub unacknowledged: u32,
    /// How often the oldest of them was sent again in vain (`tcpi_retransmits`).
    pub retransmits: u8,
    /// Keepalive or zero-window questions that are unanswered (`tcpi_probes`).
    pub questions: u8,
    /// The peer takes no more at the moment (`tcpi_snd_wnd` is 0).
    pub window_closed: bool,
    /// The retransmission timer, doubled with each retransmission (`tcpi_rto`).
    pub timer: Duration,
    /// When data were last sent, retransmissions included (`tcpi_last_data_sent`).
    pub last_sent: Tick,
    /// When anything last came, acknowledgements included (`tcpi_last_ack_recv`,
    /// `tcpi_last_data_recv`).
    pub heard: Tick,
}

/// Retransmissions in vain that make an address suspect; one alone is a lost packet.
const SUSPICIOUS: u8 = 2;

/// Retransmissions in vain that convict a connection.
const HARD: u8 = 4;

/// Retransmissions in vain, out of those, that lie between signs of life.
const COVERED: u8 = 2;

/// A connection is convicted within this time after its latest retransmission was overdue, or at the
/// next one: meanwhile its way may have been mended.
const FRESH: Duration = Duration::from_secs(1);

/// Connections of one address that are convicted within this time have one cause.
const ONE_CAUSE: Duration = Duration::from_secs(1);

/// A connection whose bytes, or whose kernel's questions, nobody acknowledges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stall {
    /// Nothing was heard since then, though the peer would have had to answer.
    since: Tick,
    /// Retransmissions that were seen.
    retransmits: u8,
    /// When the last of them was sent.
    last_sent: Tick,
    /// The latest sign of life of anybody since then.
    life: Option<Tick>,
    /// Retransmissions that were sent after a sign of life since the one before.
    covered: u8,
    /// Its address was suspected for it.
    told: bool,
    /// It was written down that the limit holds the cut back.
    withheld: bool,
}

impl Wire {
    /// When the peer would have had to answer, for bytes that were sent again in vain: half a timer
    /// after they were first sent. The timer doubles each time, so the first sending lies as long
    /// before the last as the timer is now, less what it was at first (RFC 6298, section 5.5).
    fn resent_since(&self) -> Option<Tick> {
        if self.unacknowledged == 0 || self.retransmits == 0 || self.window_closed {
            return None;
        }
        let first = self.first_timer();
        let since = self.last_sent - self.timer.saturating_sub(first) + first / 2;
        (self.heard <= since).then_some(since)
    }

    /// The timer before it was doubled: what this path takes, with a margin.
    fn first_timer(&self) -> Duration {
        self.timer / 2u32.saturating_pow(self.retransmits.into())
    }

    /// When the latest sending would have been acknowledged.
    fn overdue(&self) -> Tick {
        self.last_sent + self.first_timer() * 2
    }
}

impl Stall {
    /// Goes on with what the kernel says now; `None` when the peer has answered.
    fn follow(now: Tick, known: Option<Self>, wire: &Wire) -> Option<Self> {
        let resent = wire.resent_since();
        if resent.is_none() && wire.questions == 0 {
            return None;
        }
        let fresh = Self {
            since: resent.unwrap_or(now),
            retransmits: wire.retransmits,
            last_sent: wire.last_sent,
            life: None,
            covered: 0,
            told: false,
            withheld: false,
        };
        let mut stall = known.filter(|k| wire.heard <= k.since).unwrap_or(fresh);
        if wire.retransmits > stall.retransmits {
            stall.covered += u8::from(stall.life > Some(stall.last_sent));
            stall.retransmits = wire.retransmits;
            stall.last_sent = wire.last_sent;
        }
        Some(stall)
    }
}

impl Agent {
    /// Takes in the kernel's word on one connection.
    pub(super) fn wired(&mut self, now: Tick, id: ConnectionId, wire: &Wire) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.stands();
        if connection.ending {
            return;
        }
        let address = connection.upstream;
        connection.stall = Stall::follow(now, connection.stall, wire);
        let Some(mut stall) = connection.stall else {
            return;
        };
        let patience = match self.upstreams.get(&address) {
            Some(upstream) => upstream.probing.patience(),
            None => return,
        };
        let resent = wire.resent_since().is_some();
        let suspicious = if resent {
            wire.retransmits >= SUSPICIOUS
        } else {
            now >= stall.since + patience
        };
        if suspicious {
            if !std::mem::replace(&mut stall.told, true) {
                let started = stall.since;
                self.observe(now, address, Evidence::Unacknowledged { started });
            }
            self.ask_everybody(now, stall.since.max(wire.overdue()));
        }
        stall.life = self.life_since(stall.since);
        let located = stall.covered >= COVERED
            && stall.life >= Some(wire.overdue())
            && now <= wire.overdue() + FRESH;
        let hard = resent && wire.retransmits >= HARD && located;
        let cut = hard && self.may_cut_flow(now, address, id, &mut stall);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.stall = Some(stall);
        }
        if cut {
            let evidence = format!(
                "sent {} times again in {:.1} s and not acknowledged, while others answer",
                wire.retransmits,
                now.since(stall.since).as_secs_f64()
            );
            self.end(now, address, id, Reason::Unacknowledged, evidence);
        }
    }

    /// Whether a connection that is convicted may be cut: there must be a way that works (S2), and
    /// the limit must allow it (S5). One token is for all that one cause convicts.
    fn may_cut_flow(
        &mut self,
        now: Tick,
        address: SocketAddr,
        id: ConnectionId,
        stall: &mut Stall,
    ) -> bool {
        let works = self
            .upstreams
            .get(&address)
            .is_some_and(|u| is_proven(u.health.verdict()) && !super::is_suspected(&u.health));
        let has_way = |c| self.has_way(address, c) || (works && self.may_return(address, c));
        if !self.connections.get(id).is_some_and(has_way) {
            return false;
        }
        let same_cause = |u: &super::Upstream| u.flow_cut.is_some_and(|at| now < at + ONE_CAUSE);
        if self.upstreams.get(&address).is_some_and(same_cause) {
            return true;
        }
        if self.cuts.take(now) {
            if let Some(upstream) = self.upstreams.get_mut(&address) {
                upstream.flow_cut = Some(now);
            }
            return true;
        }
        if !std::mem::replace(&mut stall.withheld, true) {
            let mut entry = Entry::new(What::Withheld, Reason::RateLimited)
                .on(address)
                .because("its bytes are not acknowledged; the limit of cuts per window is reached")
                .then("cut as soon as the limit allows");
            entry.connection = Some(id);
            self.write(now, entry);
        }
        false
    }

    /// The latest sign of life of any proven upstream, if it is not older than `since`.
    fn life_since(&self, since: Tick) -> Option<Tick> {
        let since = since.max(self.fresh_from);
        self.upstreams
            .values()
            .filter(|u| is_proven(u.health.verdict()))
            .filter_map(|u| u.health.heard())
            .max()
            .filter(|heard| *heard >= since)
    }

    /// Asks every upstream that was not heard since.
    fn ask_everybody(&mut self, now: Tick, since: Tick) {
        for upstream in self.upstreams.values_mut() {
            if upstream.health.heard() < Some(since) {
                upstream.probing.hurry(now);
            }
        }
    }
}
