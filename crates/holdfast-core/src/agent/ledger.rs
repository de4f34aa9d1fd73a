//! Every open connection, found by its id or by the upstream that it stands on.
//!
//! Decisions ask what stands on one upstream; a node with thousands of connections must not look at
//! all of them for each that comes or goes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::{Connection, ConnectionId};

#[cfg(test)]
mod tests;

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    all: BTreeMap<ConnectionId, Connection>,
    /// Upstreams that have connections, and which.
    standing: BTreeMap<SocketAddr, BTreeSet<ConnectionId>>,
}

impl Ledger {
    /// Writes a connection in; one that was known stands where it says now.
    pub(super) fn insert(&mut self, id: ConnectionId, connection: Connection) {
        self.remove(id);
        self.standing
            .entry(connection.upstream)
            .or_default()
            .insert(id);
        self.all.insert(id, connection);
    }

    /// Strikes a connection out.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        let Some(gone) = self.all.remove(&id) else {
            return;
        };
        if let Some(ids) = self.standing.get_mut(&gone.upstream) {
            ids.remove(&id);
            if ids.is_empty() {
                self.standing.remove(&gone.upstream);
            }
        }
    }

    pub(super) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.all.get(&id)
    }

    /// A connection's state may change, its upstream may not: for that it is inserted anew.
    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.all.get_mut(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> + '_ {
        self.all.iter().map(|(id, connection)| (*id, connection))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Connection> + '_ {
        self.all.values_mut()
    }

    /// Upstreams that something stands on.
    pub(super) fn upstreams(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.standing.keys().copied()
    }

    /// How many stand on `upstream`.
    pub(super) fn count_on(&self, upstream: SocketAddr) -> usize {
        self.standing.get(&upstream).map_or(0, BTreeSet::len)
    }

    /// What stands on `upstream`.
    pub(super) fn on(
        &self,
        upstream: SocketAddr,
    ) -> impl Iterator<Item = (ConnectionId, &Connection)> + '_ {
        let ids = self.standing.get(&upstream).into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.all.get(id)?)))
    }

    /// What stands on `upstream` and is not ordered to end.
    pub(super) fn open_on(
        &self,
        upstream: SocketAddr,
    ) -> impl Iterator<Item = (ConnectionId, &Connection)> + '_ {
        self.on(upstream).filter(|(_, c)| !c.ending)
    }

    /// Nobody stands nowhere, or twice.
    pub(super) fn check(&self) {
        let standing: usize = self.standing.values().map(BTreeSet::len).sum();
        assert_eq!(standing, self.all.len(), "connections that stand somewhere");
    }
}
