//! The agent as readers see it.

use std::net::SocketAddr;

use super::Agent;
use crate::balance;
use crate::machine::Tick;
use crate::status::{Status, UpstreamStatus};

/// What the shell adds to a status: the agent does not know its own version or listeners.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Version of the agent.
    pub version: String,
    /// Name of the node.
    pub node: String,
    /// The endpoint as configured.
    pub endpoint: String,
    /// Addresses of the local listeners.
    pub listeners: Vec<SocketAddr>,
    /// File of the configuration.
    pub config_file: Option<String>,
    /// Client connections that the descriptor limit allows.
    pub connections_most: usize,
    /// While the agent stops: time until open connections are closed.
    pub draining_s: Option<f64>,
}

impl Agent {
    /// Everything that the agent knows, at `now`.
    pub fn status(&self, now: Tick, identity: &Identity) -> Status {
        let upstreams: Vec<_> = self
            .upstreams
            .iter()
            .map(|(address, u)| UpstreamStatus {
                address: *address,
                verdict: u.health.verdict(),
                reason: u.health.reason(),
                since_s: now.since(u.health.since()).as_secs_f64(),
                origins: self.sources.origins(now, *address),
                here: u.here,
                connections: self.connections.count_on(*address),
                last_probe: u.probing.status(now),
                last_byte_s: u.health.heard().map(|at| now.since(at).as_secs_f64()),
                next_probe_s: Some(u.probing.next_start().since(now).as_secs_f64()),
            })
            .collect();
        Status {
            version: identity.version.clone(),
            node: identity.node.clone(),
            endpoint: identity.endpoint.clone(),
            uptime_s: now.since_start().as_secs_f64(),
            ready: self.is_ready() && identity.draining_s.is_none(),
            listeners: identity.listeners.clone(),
            config: self.configured.status(now, identity.config_file.clone()),
            connections: self.connections.len(),
            fleet: self.fleet,
            sources: self.sources.status(now, self.memory.state(now)),
            connections_most: identity.connections_most,
            draining_s: identity.draining_s,
            upstreams,
            guard: None,
            actions: self.journal.entries(),
        }
    }

    /// Every address that is or was an upstream and is not forgotten.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.upstreams.keys().copied()
    }

    /// Whether some upstream is suspected, or bad.
    pub fn is_uneasy(&self) -> bool {
        self.upstreams
            .values()
            .any(|u| u.health.suspicion().is_some() || !balance::is_usable(u.health.verdict()))
    }

    /// Whether at least one upstream has proven itself and is usable.
    pub fn is_ready(&self) -> bool {
        self.upstreams
            .values()
            .any(|u| balance::is_usable(u.health.verdict()) && u.health.verified())
    }
}
