//! The client connections that are open: what each one moves, and how to end it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdfast_core::agent::{ConnectionId, Input, LITTLE, MOMENTS, SILENT, Traffic};
use holdfast_linux::pump::Flow;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::wire::Ends;

/// Client bytes that are unanswered for longer than this are worth a question to the kernel: the second
/// retransmission in vain comes after 0.6 s at the earliest.
const WAITING_MS: u64 = 500;

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a FIN: it was drained.
    Close,
    /// With a reset: its upstream is gone.
    Cut,
}

#[derive(Debug)]
struct Entry {
    upstream: Option<SocketAddr>,
    /// The near end of the upstream connection.
    local: Option<SocketAddr>,
    flow: Arc<Flow>,
    end: Option<oneshot::Sender<Ending>>,
}

/// All open connections.
#[derive(Debug, Default)]
pub(crate) struct Table {
    last: AtomicU64,
    entries: Mutex<BTreeMap<ConnectionId, Entry>>,
}

/// A connection's own end of the table; leaves it when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) id: ConnectionId,
    pub(crate) flow: Arc<Flow>,
    pub(crate) end: oneshot::Receiver<Ending>,
    table: Arc<Table>,
}

impl Table {
    /// A number that no connection had before.
    pub(crate) fn number(&self) -> ConnectionId {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A place for a new connection.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let id = self.number();
        let flow = Arc::new(Flow::default());
        let (order, end) = oneshot::channel();
        let entry = Entry {
            upstream: None,
            local: None,
            flow: Arc::clone(&flow),
            end: Some(order),
        };
        self.entries.lock().insert(id, entry);
        Place {
            id,
            flow,
            end,
            table: Arc::clone(self),
        }
    }

    /// Orders a connection to end; false for one that has ended or was ordered before.
    pub(crate) fn end(&self, id: ConnectionId, how: Ending) -> bool {
        let order = self.entries.lock().get_mut(&id).and_then(|e| e.end.take());
        // A connection that ends in this moment hears nothing, and needs nothing.
        order.is_some_and(|order| order.send(how).is_ok())
    }

    /// Orders every connection to end.
    pub(crate) fn end_all(&self, how: Ending) {
        let all: Vec<_> = self.entries.lock().keys().copied().collect();
        for id in all {
            self.end(id, how);
        }
    }

    /// What the connections on `upstream` got from it.
    pub(crate) fn traffic(&self, upstream: SocketAddr) -> Vec<Traffic> {
        self.entries
            .lock()
            .iter()
            .filter(|(_, entry)| entry.upstream == Some(upstream))
            .map(|(id, entry)| Traffic {
                connection: *id,
                heard: entry.flow.heard_ms().map(Clock::at_ms),
                waiting: entry.flow.unanswered().is_some(),
            })
            .collect()
    }

    /// Connections whose client has sent a little and got nothing back for long.
    pub(crate) fn unanswered(&self, now_ms: u64) -> Vec<Input> {
        self.entries
            .lock()
            .iter()
            .filter_map(|(id, entry)| {
                let unanswered = entry.flow.unanswered()?;
                let silent = Clock::at_ms(now_ms).since(Clock::at_ms(unanswered.since_ms));
                (silent >= SILENT && unanswered.bytes <= LITTLE).then_some(Input::Unanswered {
                    connection: *id,
                    since: Clock::at_ms(unanswered.since_ms),
                    repeated: unanswered.moments >= MOMENTS,
                })
            })
            .collect()
    }

    /// Connections whose client waits for an answer, `most` at the most. Those first that began last: what
    /// the kernel can tell it tells within seconds, and a request that takes long has nothing new to say.
    pub(crate) fn waiting(&self, now_ms: u64, most: usize) -> Vec<Ends> {
        let entries = self.entries.lock();
        let mut waiting: Vec<_> = entries
            .iter()
            .filter_map(|(id, entry)| {
                let since_ms = entry.flow.unanswered()?.since_ms;
                let waits = now_ms.saturating_sub(since_ms) >= WAITING_MS;
                Some((since_ms, entry.ends(*id)?)).filter(|_| waits)
            })
            .collect();
        drop(entries);
        waiting.sort_by_key(|(since_ms, ends)| (Reverse(*since_ms), ends.connection));
        waiting
            .into_iter()
            .map(|(_, ends)| ends)
            .take(most)
            .collect()
    }

    /// One connection of each upstream, the oldest.
    pub(crate) fn scouts(&self) -> Vec<Ends> {
        let mut seen = BTreeSet::new();
        self.entries
            .lock()
            .iter()
            .filter_map(|(id, entry)| entry.ends(*id))
            .filter(|ends| seen.insert(ends.remote))
            .collect()
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.entries.lock().len()
    }
}

impl Entry {
    fn ends(&self, connection: ConnectionId) -> Option<Ends> {
        Some(Ends {
            connection,
            local: self.local?,
            remote: self.upstream?,
        })
    }
}

impl Place {
    /// Says where the upstream connection ends on this node.
    pub(crate) fn is_at(&self, local: SocketAddr) {
        if let Some(entry) = self.table.entries.lock().get_mut(&self.id) {
            entry.local = Some(local);
        }
    }

    /// Says which upstream serves this connection.
    pub(crate) fn stand_on(&self, upstream: SocketAddr) {
        if let Some(entry) = self.table.entries.lock().get_mut(&self.id) {
            entry.upstream = Some(upstream);
            entry.local = None;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.entries.lock().remove(&self.id);
    }
}
