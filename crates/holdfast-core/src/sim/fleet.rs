//! A fleet in virtual time: each node is an agent of its own that talks to nobody else, with one
//! client, and meets the same failure at the same moment.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::{Event, Mood, Sim, settings};
use crate::chance::{Chance, hash_text};
use crate::machine::Tick;

/// What a fleet's connections did around one failure or recovery.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Connections per server, one minute after it.
    pub servers: BTreeMap<SocketAddr, u32>,
    /// Connections that came new in each second after it.
    pub came: BTreeMap<u64, u32>,
    /// Connections on the server in question, just before it.
    pub lost: u32,
}

impl Census {
    /// The fullest server's connections, as a multiple of what each would have if all had the same.
    pub fn max_over_mean(&self, servers: u32) -> f64 {
        let all: u32 = self.servers.values().sum();
        let most = self.servers.values().copied().max().unwrap_or(0);
        f64::from(most) * f64::from(servers) / f64::from(all.max(1))
    }

    /// The most connections that came in one second.
    pub fn peak(&self) -> u32 {
        self.came.values().copied().max().unwrap_or(0)
    }

    fn count(&mut self, sim: &Sim, from: Tick) {
        for (at, _) in sim.served.iter().filter(|(at, _)| *at >= from) {
            *self.came.entry(at.since(from).as_secs()).or_default() += 1;
        }
        if let Some((_, upstream)) = sim.served.last() {
            *self.servers.entry(*upstream).or_default() += 1;
        }
    }

    /// Adds another part of the fleet.
    pub fn add(&mut self, other: Self) {
        self.lost += other.lost;
        for (server, n) in other.servers {
            *self.servers.entry(server).or_default() += n;
        }
        for (second, n) in other.came {
            *self.came.entry(second).or_default() += n;
        }
    }
}

/// One node of a fleet of `nodes`: the first of three servers turns to `mood` and, two minutes later,
/// back. What was seen after either of them.
pub fn node(n: u64, nodes: u64, mood: Mood) -> (Census, Census) {
    let servers: Vec<SocketAddr> = (1..=3)
        .map(|n| SocketAddr::from(([10, 0, 0, n], 6443)))
        .collect();
    let name = format!("node-{n}");
    let mut given = settings(servers.clone(), hash_text(&name));
    given.probe_interval = None;
    given.nodes = Some(nodes);
    given.move_home = true;
    let mut sim = Sim::new(given, Mood::Up, servers.clone(), servers.clone());
    // Nodes did not start together.
    let mut chance = Chance::new(n);
    sim.run(Duration::from_secs(1));
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(Duration::from_millis(90_000 + chance.below(10_000)));
    let (mut failure, mut recovery) = (Census::default(), Census::default());
    let Some(first) = servers.first().copied() else {
        return (failure, recovery);
    };
    for (census, mood) in [(&mut failure, mood), (&mut recovery, Mood::Up)] {
        let there = sim.connections_on(first);
        census.lost = u32::try_from(there).unwrap_or(0);
        sim.schedule(Duration::ZERO, Event::Turn(first, mood));
        if mood == Mood::Refusing && there > 0 {
            // Its kernel resets the connection, and the client comes back.
            sim.schedule(Duration::from_millis(2), Event::Connect);
        }
        let from = sim.now();
        sim.run(Duration::from_mins(1));
        census.count(&sim, from);
        sim.run(Duration::from_mins(1));
    }
    (failure, recovery)
}
