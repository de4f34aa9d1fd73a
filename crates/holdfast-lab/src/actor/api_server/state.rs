//! What an API server remembers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::document;

/// Everything that its requests and orders share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) name: String,
    pub(super) bookmark_every: Option<Duration>,
    ready: AtomicBool,
    delay: Mutex<Duration>,
    revision: AtomicU64,
    /// By namespace and name.
    leases: Mutex<BTreeMap<(String, String), Value>>,
    /// By name: the status of its `Ready` condition, or `gone`.
    nodes: Mutex<BTreeMap<String, String>>,
    /// How far the clock that answers tell is ahead, in seconds.
    clock: AtomicI64,
    slices: watch::Sender<Slices>,
    /// Nodes that there are beyond those with a lease.
    more_nodes: AtomicU64,
    /// The status with which objects are refused; 0 for none.
    denial: AtomicU16,
    requests: AtomicU64,
    connections_open: AtomicU64,
    handshakes: AtomicU64,
}

/// The endpoint slices of `default/kubernetes` by name, and the revision of their last change.
#[derive(Debug, Clone)]
pub(super) struct Slices {
    pub(super) revision: u64,
    pub(super) by_name: BTreeMap<String, Value>,
}

/// Counts a connection as open for as long as it lives.
#[derive(Debug)]
pub(super) struct Opened(Arc<State>);

impl State {
    pub(super) fn new(
        name: String,
        endpoints: &[SocketAddr],
        bookmark_every: Option<Duration>,
    ) -> Self {
        let slices = Slices {
            revision: 1,
            by_name: document::endpoint_slices(endpoints, 1),
        };
        Self {
            name,
            bookmark_every,
            ready: AtomicBool::new(true),
            delay: Mutex::new(Duration::ZERO),
            revision: AtomicU64::new(1),
            leases: Mutex::new(BTreeMap::new()),
            nodes: Mutex::new(BTreeMap::new()),
            clock: AtomicI64::new(0),
            slices: watch::Sender::new(slices),
            more_nodes: AtomicU64::new(0),
            denial: AtomicU16::new(0),
            requests: AtomicU64::new(0),
            connections_open: AtomicU64::new(0),
            handshakes: AtomicU64::new(0),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    pub(super) fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    pub(super) fn delay(&self) -> Duration {
        *self.delay.lock()
    }

    pub(super) fn set_delay(&self, delay: Duration) {
        *self.delay.lock() = delay;
    }

    /// Gives a node a condition of its own, or leaves it to its lease.
    pub(super) fn set_node(&self, name: &str, condition: Option<&str>) {
        let mut nodes = self.nodes.lock();
        match condition {
            Some(condition) => nodes.insert(name.to_owned(), condition.to_owned()),
            None => nodes.remove(name),
        };
    }

    /// The condition that a node was given.
    pub(super) fn condition(&self, name: &str) -> Option<String> {
        self.nodes.lock().get(name).cloned()
    }

    pub(super) fn set_clock(&self, ahead: i64) {
        self.clock.store(ahead, Ordering::Relaxed);
    }

    /// How far the clock that answers tell is ahead, in seconds.
    pub(super) fn clock(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The latest resource version.
    pub(super) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    pub(super) fn slices(&self) -> watch::Receiver<Slices> {
        self.slices.subscribe()
    }

    pub(super) fn set_endpoints(&self, endpoints: &[SocketAddr]) {
        let revision = self.next_revision();
        self.slices.send_replace(Slices {
            revision,
            by_name: document::endpoint_slices(endpoints, revision),
        });
    }

    /// Claims that there are so many nodes.
    pub(super) fn set_nodes(&self, count: u64) {
        let held = self.nodes().len() as u64;
        let more = count.saturating_sub(held);
        self.more_nodes.store(more, Ordering::Relaxed);
    }

    pub(super) fn more_nodes(&self) -> u64 {
        self.more_nodes.load(Ordering::Relaxed)
    }

    /// Refuses objects with this status from now on; 0 ends it.
    pub(super) fn deny(&self, status: u16) {
        self.denial.store(status, Ordering::Relaxed);
    }

    pub(super) fn denial(&self) -> Option<StatusCode> {
        StatusCode::from_u16(self.denial.load(Ordering::Relaxed)).ok()
    }

    /// The lease of that name.
    pub(super) fn lease(&self, namespace: &str, name: &str) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        self.leases.lock().get(&key).cloned()
    }

    /// The leases of a namespace, or of all.
    pub(super) fn leases(&self, namespace: Option<&str>) -> Vec<Value> {
        let leases = self.leases.lock();
        leases
            .iter()
            .filter(|((owner, _), _)| namespace.is_none_or(|wanted| wanted == owner))
            .map(|(_, lease)| lease.clone())
            .collect()
    }

    /// Stores a lease and returns it as stored; `None` if it is another one by now than the one that the
    /// writer read (`metadata.resourceVersion`).
    pub(super) fn store_lease(&self, namespace: &str, name: &str, given: &Value) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        let mut leases = self.leases.lock();
        let version = |lease: &Value| {
            let version = lease
                .pointer("/metadata/resourceVersion")
                .and_then(Value::as_str);
            version
                .filter(|version| !version.is_empty())
                .map(str::to_owned)
        };
        let read = version(given);
        if read.is_some() && read != leases.get(&key).and_then(version) {
            return None;
        }
        let revision = self.next_revision();
        let created = leases
            .get(&key)
            .and_then(|old| old.pointer("/metadata/creationTimestamp").cloned())
            .unwrap_or_else(|| json!(document::now()));
        let lease = document::lease(namespace, name, revision, &created, given);
        leases.insert(key, lease.clone());
        Some(lease)
    }

    /// The names of the nodes that hold a lease here or were given a condition, with the time of their
    /// first lease.
    pub(super) fn nodes(&self) -> Vec<(String, Value)> {
        let mut nodes: BTreeMap<String, Value> = self
            .leases(Some(document::NODE_LEASES))
            .iter()
            .filter_map(|lease| {
                let name = lease.pointer("/metadata/name")?.as_str()?.to_owned();
                Some((name, lease.pointer("/metadata/creationTimestamp")?.clone()))
            })
            .collect();
        for (name, condition) in self.nodes.lock().iter() {
            if condition == "gone" {
                nodes.remove(name);
            } else {
                nodes
                    .entry(name.clone())
                    .or_insert_with(|| json!(document::now()));
            }
        }
        nodes.into_iter().collect()
    }

    pub(super) fn counts(&self) -> Value {
        json!({
            "requests": self.requests.load(Ordering::Relaxed),
            "connections_open": self.connections_open.load(Ordering::Relaxed),
            "handshakes": self.handshakes.load(Ordering::Relaxed),
        })
    }

    pub(super) fn asked(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn shook_hands(&self) {
        self.handshakes.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn opened(self: Arc<Self>) -> Opened {
        self.connections_open.fetch_add(1, Ordering::Relaxed);
        Opened(self)
    }

    fn next_revision(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.connections_open.fetch_sub(1, Ordering::Relaxed);
    }
}
