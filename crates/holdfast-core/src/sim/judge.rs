//! What no order of the agent may do, whatever happened: checked for each connection that it ends.

use std::net::SocketAddr;

use super::{GRACE, Mood, Sim, Target};
use crate::agent::ConnectionId;
use crate::machine::Tick;

impl Sim {
    /// S2 and S3: a reset needs a fault at that very address or on that very connection, a node that is
    /// not cut off itself, and a way that works.
    pub(super) fn judge(&self, id: ConnectionId, upstream: SocketAddr, reset: bool) {
        if !reset {
            assert!(
                self.works(upstream, None) || self.is_way_out(upstream),
                "S2: closed the last path"
            );
            return;
        }
        let line = self.clients.get(&id).and_then(|c| c.line);
        let mended = line.and_then(|l| l.mended);
        let dead =
            line.is_some_and(|l| l.dead.is_some()) || mended.is_some_and(|at| self.is_recent(at));
        let located = dead || !self.works(upstream, line.map(|l| l.target));
        assert!(located, "S3: cut a connection to {upstream}, which works");
        let (link, link_since) = self.link;
        assert!(
            link || self.is_recent(link_since),
            "S3: cut while the node itself is cut off"
        );
        let same = self
            .places
            .get(&upstream)
            .is_some_and(|p| p.targets.len() > 1 || dead);
        assert!(self.is_way_out(upstream) || same, "S2: cut the last path");
    }

    /// Whether a target has worked for a while. An address is judged as one: with any target gone bad
    /// it does not count as one that works.
    fn works(&self, address: SocketAddr, target: Option<usize>) -> bool {
        let works = |t: &Target| {
            matches!(t.mood, Mood::Up | Mood::Slow(_) | Mood::NotReady) && !self.is_recent(t.since)
        };
        let Some(place) = self.places.get(&address) else {
            return false;
        };
        let mine = target.and_then(|n| place.targets.get(n)).is_none_or(works);
        mine && place.targets.iter().all(works)
    }

    /// Whether some other address answers, or did a moment ago.
    fn is_way_out(&self, upstream: SocketAddr) -> bool {
        self.places.iter().any(|(address, place)| {
            *address != upstream
                && place.targets.iter().any(|t| {
                    matches!(t.mood, Mood::Up | Mood::Slow(_) | Mood::NotReady)
                        || self.is_recent(t.since)
                })
        })
    }

    fn is_recent(&self, since: Tick) -> bool {
        self.now.since(since) < GRACE
    }
}
