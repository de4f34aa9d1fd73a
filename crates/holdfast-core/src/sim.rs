//! The seeded simulator: the real machines in virtual time, against a world of servers, resolvers
//! and clients that fail at random. The same seed is the same run; a failure prints its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::agent::{Action, Agent, ConnectionId, DialFailure, Input, Settings, Traffic};
use crate::balance::Candidates;
use crate::machine::{Machine, Tick};
use crate::opening::{self, DialId, Opening};
use crate::probing::Progress;
use crate::sources::{Answer, Expiry};
use crate::status::{Source, Status};

mod fate;
#[cfg(test)]
mod tests;

pub use fate::{Event, Mood, Resolver, random_event};

#[derive(Debug)]
enum Due {
    World(Event),
    Fact(Input),
    Opening(ConnectionId, opening::Input),
}

#[derive(Debug)]
struct Server {
    mood: Mood,
    since: Tick,
}

#[derive(Debug)]
struct Client {
    opening: Opening,
    upstream: Option<SocketAddr>,
}

/// Round trip in the simulated network.
const ROUND_TRIP: Duration = Duration::from_millis(1);

/// The shell gives a probe up after this time.
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// How long after a server turned good a cut may still be under way.
pub const GRACE: Duration = Duration::from_secs(2);

/// A cut that the simulator saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// When.
    pub at: Tick,
    /// The upstream it stood on.
    pub upstream: SocketAddr,
    /// Ordered as a reset, not as an orderly close.
    pub reset: bool,
}

/// A world with one agent in it.
#[derive(Debug)]
pub struct Sim {
    now: Tick,
    seq: u64,
    agent: Agent,
    servers: BTreeMap<SocketAddr, Server>,
    name: BTreeSet<SocketAddr>,
    resolver: Resolver,
    link: (bool, Tick),
    due: BTreeMap<(Tick, u64), Due>,
    clients: BTreeMap<ConnectionId, Client>,
    next_client: ConnectionId,
    /// Connections that were ordered to end.
    ended: BTreeSet<ConnectionId>,
    offer: Candidates,
    running_from: Tick,
    /// Every cut, in order.
    pub cuts: Vec<Cut>,
    /// Clients that were turned away.
    pub turned_away: u32,
    /// Connections that clients opened with success.
    pub served: u32,
}

/// Settings of an agent in a simulated world.
pub fn settings(seeds: impl IntoIterator<Item = SocketAddr>, seed: u64) -> Settings {
    Settings {
        node: seed,
        seeds: seeds.into_iter().collect(),
        live: vec![Source::DnsA],
        remembered: None,
        own: Vec::new(),
        expiry: Expiry {
            answers: 3,
            lifetimes: 3,
            shortest: Duration::from_secs(1),
            longest: Duration::from_mins(1),
            most: 64,
        },
        probe_interval: Duration::from_millis(500),
        patience: Duration::from_millis(500),
        drain: Duration::from_mins(1),
        cuts: 6,
        cut_window: Duration::from_mins(1),
        seed,
    }
}

impl Sim {
    /// A world in which all `servers` are in one mood and the name stands for `name`.
    pub fn new(
        settings: Settings,
        mood: Mood,
        servers: impl IntoIterator<Item = SocketAddr>,
        name: impl IntoIterator<Item = SocketAddr>,
    ) -> Self {
        let placed = |address| {
            let since = Tick::ZERO;
            (address, Server { mood, since })
        };
        let mut sim = Self {
            now: Tick::ZERO,
            seq: 0,
            agent: Agent::new(settings),
            servers: servers.into_iter().map(placed).collect(),
            name: name.into_iter().collect(),
            resolver: Resolver::Truthful,
            link: (true, Tick::ZERO),
            due: BTreeMap::new(),
            clients: BTreeMap::new(),
            next_client: 1,
            ended: BTreeSet::new(),
            offer: Candidates::default(),
            running_from: Tick::ZERO,
            cuts: Vec::new(),
            turned_away: 0,
            served: 0,
        };
        sim.obey();
        sim
    }

    /// The time in the world.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// The agent's view of the world.
    pub fn status(&self) -> Status {
        self.agent
            .status(self.now, &crate::agent::Identity::default())
    }

    /// Client connections that stand on `upstream`.
    pub fn connections_on(&self, upstream: SocketAddr) -> usize {
        let on = |c: &&Client| c.upstream == Some(upstream);
        self.clients.values().filter(on).count()
    }

    /// Lets `event` happen `after` from now.
    pub fn schedule(&mut self, after: Duration, event: Event) {
        self.put(after, Due::World(event));
    }

    fn put(&mut self, after: Duration, due: Due) {
        self.seq += 1;
        self.due.insert((self.now + after, self.seq), due);
    }

    /// Runs the world for `time`.
    ///
    /// # Panics
    /// When an invariant does not hold, or when the machines wake without end.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let mut steps_at = (self.now, 0u32);
        loop {
            let wakes = self
                .clients
                .values()
                .filter_map(|c| c.opening.next_wake())
                .chain(self.agent.next_wake().map(|at| at.max(self.running_from)));
            let next = wakes
                .chain(self.due.keys().next().map(|(at, _)| *at))
                .min()
                .unwrap_or(end);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            steps_at = if steps_at.0 == self.now {
                (self.now, steps_at.1 + 1)
            } else {
                (self.now, 0)
            };
            assert!(
                steps_at.1 < 10_000,
                "the machines wake without end at {:?}",
                self.now
            );
            self.step();
        }
    }

    fn step(&mut self) {
        while let Some(entry) = self.due.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            match entry.remove() {
                Due::World(event) => self.happen(event),
                Due::Fact(input) if self.now < self.running_from => {
                    // The agent does not run: the fact waits for it.
                    let wait = self.running_from.since(self.now);
                    self.put(wait, Due::Fact(input));
                }
                Due::Fact(input) if self.is_lost(&input) => {}
                Due::Fact(input) => {
                    self.agent.handle(self.now, input);
                    self.obey();
                }
                Due::Opening(id, input) => {
                    if let Some(client) = self.clients.get_mut(&id) {
                        client.opening.handle(self.now, input);
                    }
                    self.follow(id);
                }
            }
        }
        if self.now >= self.running_from && self.agent.next_wake().is_some_and(|at| at <= self.now)
        {
            self.agent.wake(self.now);
            self.obey();
        }
        let ids: Vec<_> = self.clients.keys().copied().collect();
        for id in ids {
            if let Some(client) = self.clients.get_mut(&id)
                && client.opening.next_wake().is_some_and(|at| at <= self.now)
            {
                client.opening.wake(self.now);
                self.follow(id);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Connect => {
                let id = self.next_client;
                self.next_client += 1;
                let mut opening = Opening::new(self.now, self.offer.clone());
                opening.handle(self.now, opening::Input::ClientSpoke);
                let client = Client {
                    opening,
                    upstream: None,
                };
                self.clients.insert(id, client);
                self.follow(id);
            }
            Event::Turn(address, mood) => {
                let since = self.now;
                self.servers.insert(address, Server { mood, since });
                if mood == Mood::Refusing {
                    self.reset_connections(address);
                }
            }
            Event::Rename(name) => self.name = name,
            Event::Resolve(resolver) => self.resolver = resolver,
            Event::Link(up) => self.link = (up, self.now),
            Event::Starve(time) => self.running_from = self.now + time,
        }
    }

    fn mood(&self, address: SocketAddr) -> Mood {
        if self.link.0 {
            self.servers.get(&address).map_or(Mood::Silent, |s| s.mood)
        } else {
            Mood::Silent
        }
    }

    /// Whether an answer that was on its way does not arrive: its server or the link is silent now.
    fn is_lost(&self, input: &Input) -> bool {
        let Input::Probed {
            upstream, progress, ..
        } = input
        else {
            return false;
        };
        let mood = self.mood(*upstream);
        let serving = matches!(mood, Mood::Up | Mood::NotReady | Mood::Slow(_));
        match progress {
            Progress::Answered { .. } | Progress::Secured => !serving,
            Progress::Connected => !serving && !matches!(mood, Mood::Hung | Mood::Foreign),
            Progress::Foreign { .. } => mood != Mood::Foreign,
            Progress::Refused | Progress::Reset | Progress::Broken => mood == Mood::Silent,
            Progress::Unreachable | Progress::TimedOut => false,
        }
    }

    /// A server that ends resets its connections, the probes' among them.
    fn reset_connections(&mut self, address: SocketAddr) {
        let on = |(id, c): (&ConnectionId, &Client)| (c.upstream == Some(address)).then_some(*id);
        let reset: Vec<_> = self.clients.iter().filter_map(on).collect();
        for connection in reset {
            self.clients.remove(&connection);
            self.put(ROUND_TRIP, Due::Fact(Input::Closed { connection }));
        }
        for due in self.due.values_mut() {
            if let Due::Fact(Input::Probed {
                upstream, progress, ..
            }) = due
                && *upstream == address
            {
                *progress = Progress::Broken;
            }
        }
    }

    /// Carries the agent's orders out.
    fn obey(&mut self) {
        self.agent.check();
        while let Some(action) = self.agent.poll() {
            match action {
                Action::AbortProbe { .. }
                | Action::Forget { .. }
                | Action::Remember { .. }
                | Action::Report(_) => {}
                Action::Offer(offer) => {
                    let emptied = offer.order.is_empty() && !self.offer.order.is_empty();
                    assert!(!emptied, "S1, S6: the set became empty");
                    self.offer = offer;
                }
                Action::Probe { upstream, id, .. } => self.answer_probe(upstream, id),
                Action::Resolve { source } => {
                    let answer = match self.resolver {
                        Resolver::Truthful if self.link.0 => Answer::Addresses {
                            addresses: self.name.clone(),
                            lifetime: Some(Duration::from_secs(5)),
                        },
                        Resolver::Denying if self.link.0 => Answer::NoRecords { lifetime: None },
                        Resolver::Truthful | Resolver::Denying | Resolver::Failing => {
                            Answer::Failed {
                                why: "no answer".to_owned(),
                                lifetime: None,
                            }
                        }
                    };
                    self.put(ROUND_TRIP, Due::Fact(Input::Resolved { source, answer }));
                }
                Action::Sample { upstream } => {
                    let alive = matches!(self.mood(upstream), Mood::Up | Mood::NotReady);
                    let turned = self.servers.get(&upstream).map(|s| s.since);
                    let heard = if alive { Some(self.now) } else { turned };
                    let traffic = self
                        .clients
                        .iter()
                        .filter(|(_, c)| c.upstream == Some(upstream))
                        .map(|(id, _)| Traffic {
                            connection: *id,
                            heard,
                        })
                        .collect();
                    self.put(ROUND_TRIP, Due::Fact(Input::Sampled { upstream, traffic }));
                }
                Action::Cut { connection } => self.end(connection, true),
                Action::Close { connection } => self.end(connection, false),
            }
        }
    }

    fn end(&mut self, id: ConnectionId, reset: bool) {
        assert!(self.ended.insert(id), "S4: connection {id} ended twice");
        let Some(client) = self.clients.get(&id) else {
            return;
        };
        let Some(upstream) = client.upstream else {
            return;
        };
        let at = self.now;
        self.cuts.push(Cut {
            at,
            upstream,
            reset,
        });
        if reset {
            self.judge_cut(upstream);
        }
        self.clients.remove(&id);
        self.put(ROUND_TRIP, Due::Fact(Input::Closed { connection: id }));
        // The client notices and comes back.
        self.put(ROUND_TRIP, Due::World(Event::Connect));
    }

    /// S2 and S3: a reset needs a fault at that very address, and a way that works elsewhere.
    fn judge_cut(&self, upstream: SocketAddr) {
        let recent = |since: Tick| self.now.since(since) < GRACE;
        let server = self.servers.get(&upstream);
        let healthy = server.is_some_and(|s| {
            matches!(s.mood, Mood::Up | Mood::Slow(_) | Mood::NotReady) && !recent(s.since)
        });
        assert!(!healthy, "S3: cut a connection to {upstream}, which works");
        let (link, link_since) = self.link;
        assert!(
            link || recent(link_since),
            "S3: cut while the node itself is cut off"
        );
        let other = self.servers.iter().any(|(address, s)| {
            *address != upstream
                && (matches!(s.mood, Mood::Up | Mood::Slow(_) | Mood::NotReady) || recent(s.since))
        });
        assert!(other, "S2: cut the last path");
    }

    fn answer_probe(&mut self, upstream: SocketAddr, id: u64) {
        let steps: Vec<(Duration, Progress)> = match self.mood(upstream) {
            Mood::Up => answering(ROUND_TRIP, 200),
            Mood::NotReady => answering(ROUND_TRIP, 500),
            Mood::Slow(delay) => answering(delay, 200),
            Mood::Silent => vec![(PROBE_TIMEOUT, Progress::TimedOut)],
            Mood::Hung => vec![
                (ROUND_TRIP, Progress::Connected),
                (PROBE_TIMEOUT, Progress::TimedOut),
            ],
            Mood::Refusing => vec![(ROUND_TRIP, Progress::Refused)],
            Mood::Foreign => {
                let why = "unknown issuer".to_owned();
                vec![
                    (ROUND_TRIP, Progress::Connected),
                    (ROUND_TRIP, Progress::Foreign { why }),
                ]
            }
        };
        for (after, progress) in steps {
            let input = Input::Probed {
                upstream,
                id,
                progress,
            };
            self.put(after, Due::Fact(input));
        }
    }

    /// Carries the orders of one opening out.
    fn follow(&mut self, id: ConnectionId) {
        while let Some(client) = self.clients.get_mut(&id) {
            client.opening.check();
            let Some(action) = client.opening.poll() else {
                return;
            };
            match action {
                opening::Action::Attach(dial) => {
                    if let Some(upstream) = client.opening.address(dial) {
                        client.upstream = Some(upstream);
                        let input = Input::Attached {
                            connection: id,
                            upstream,
                        };
                        self.put(Duration::ZERO, Due::Fact(input));
                    }
                }
                opening::Action::Dial(dial, upstream) => self.dial(id, dial, upstream),
                opening::Action::Drop(_) => {}
                // Every client of this world speaks at once.
                opening::Action::Leave(_) => {
                    self.clients.remove(&id);
                }
                opening::Action::Refuse => {
                    self.turned_away += 1;
                    self.clients.remove(&id);
                    self.put(Duration::ZERO, Due::Fact(Input::TurnedAway));
                    self.put(Duration::from_secs(1), Due::World(Event::Connect));
                }
                opening::Action::Stalled(dial) => {
                    if let Some(upstream) = client.opening.address(dial) {
                        self.put(Duration::ZERO, Due::Fact(Input::Stalled { upstream }));
                    }
                }
                opening::Action::Win(dial) => {
                    if let Some(upstream) = client.opening.address(dial) {
                        self.served += 1;
                        self.put(Duration::ZERO, Due::Fact(Input::Spoke { upstream }));
                    }
                }
            }
        }
    }

    fn dial(&mut self, id: ConnectionId, dial: DialId, upstream: SocketAddr) {
        let spoke = opening::Input::UpstreamSpoke(dial);
        let connected = opening::Input::Connected(dial);
        match self.mood(upstream) {
            Mood::Up | Mood::NotReady | Mood::Slow(_) | Mood::Foreign => {
                self.put(ROUND_TRIP, Due::Opening(id, connected));
                self.put(ROUND_TRIP * 2, Due::Opening(id, spoke));
            }
            Mood::Hung => self.put(ROUND_TRIP, Due::Opening(id, connected)),
            Mood::Silent => {}
            Mood::Refusing => {
                self.put(ROUND_TRIP, Due::Opening(id, opening::Input::Failed(dial)));
                let failure = DialFailure::Refused;
                self.put(
                    ROUND_TRIP,
                    Due::Fact(Input::DialFailed { upstream, failure }),
                );
            }
        }
    }
}

fn answering(delay: Duration, status: u16) -> Vec<(Duration, Progress)> {
    vec![
        (ROUND_TRIP, Progress::Connected),
        (ROUND_TRIP, Progress::Secured),
        (delay.max(ROUND_TRIP), Progress::Answered { status }),
    ]
}
