//! The client connections that are open: what each one moves, and how to end it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdfast_core::agent::{ConnectionId, Input, Traffic};
use holdfast_linux::pump::Flow;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::clock::Clock;

/// Silence after client bytes that is worth a look. Slow answers of 12 s are seen in the field; they
/// are looked at too, and stay.
const SILENT_MS: u64 = 6000;

/// One request may simply take long; a client that tries again at another moment got nothing for both.
const MOMENTS: u64 = 2;

/// More bytes than this are an upload, which is answered at its end. Heartbeats and pings are small.
const LITTLE: u64 = 64 * 1024;

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
    /// A place for a new connection.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let flow = Arc::new(Flow::default());
        let (order, end) = oneshot::channel();
        let entry = Entry {
            upstream: None,
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
                let silent_ms = now_ms.saturating_sub(unanswered.since_ms);
                (silent_ms >= SILENT_MS && unanswered.bytes <= LITTLE).then_some(
                    Input::Unanswered {
                        connection: *id,
                        since: Clock::at_ms(unanswered.since_ms),
                        repeated: unanswered.moments >= MOMENTS,
                    },
                )
            })
            .collect()
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.entries.lock().len()
    }
}

impl Place {
    /// Says which upstream serves this connection.
    pub(crate) fn stand_on(&self, upstream: SocketAddr) {
        if let Some(entry) = self.table.entries.lock().get_mut(&self.id) {
            entry.upstream = Some(upstream);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.entries.lock().remove(&self.id);
    }
}
