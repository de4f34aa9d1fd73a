//! The seeded simulator: the real machines in virtual time, against a world of servers, resolvers
//! and clients that fail at random. The same seed is the same run; a failure prints its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::agent::{Action, Agent, ConnectionId, DialFailure, Input, Settings, Traffic};
use crate::balance::Candidates;
use crate::machine::{Machine, Tick};
use crate::opening::{self, DialId, Opening};
use crate::probing::{ProbeId, Progress};
use crate::sources::{Answer, Expiry};
use crate::status::{Source, Status};

mod fate;
pub mod fleet;
mod judge;
mod line;
#[cfg(test)]
mod tests;

pub use fate::{Event, Mood, Resolver, random_event};

#[derive(Debug)]
enum Due {
    World(Event),
    Fact(Input),
    Look,
    Opening(ConnectionId, opening::Input),
    Resend(ConnectionId),
    Write(ConnectionId),
}

/// What stands behind an address: one server, or a balancer's targets, each met in its turn.
#[derive(Debug)]
struct Place {
    targets: Vec<Target>,
    next: usize,
    /// The target at the end of the kept probe connection.
    kept: usize,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    mood: Mood,
    since: Tick,
}

impl Place {
    fn meet(&mut self) -> usize {
        self.next = (self.next + 1) % self.targets.len().max(1);
        self.next
    }
}

#[derive(Debug)]
struct Client {
    /// Until it is over.
    opening: Option<Opening>,
    upstream: Option<SocketAddr>,
    /// The target of each dial.
    dialled: BTreeMap<DialId, usize>,
    line: Option<line::Line>,
}

impl Client {
    fn next_wake(&self) -> Option<Tick> {
        self.opening.as_ref()?.next_wake()
    }
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
    places: BTreeMap<SocketAddr, Place>,
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
    /// Probes that the agent gave up: their shells say nothing any more.
    aborted: BTreeSet<ProbeId>,
    looking: bool,
    /// Probes that were started, and how many of them on fresh connections.
    pub probes: (u32, u32),
    /// Every cut, in order.
    pub cuts: Vec<Cut>,
    /// Clients that were turned away.
    pub turned_away: u32,
    /// Connections that clients opened with success: when, and where.
    pub served: Vec<(Tick, SocketAddr)>,
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
        probe_interval: Some(Duration::from_millis(500)),
        probe_budget: 1000,
        nodes: None,
        patience: Duration::from_millis(500),
        drain: Duration::from_mins(1),
        cuts: 6,
        cut_window: Duration::from_mins(1),
        grace: Duration::from_secs(40),
        move_home: false,
        fallback: None,
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
            let place = Place {
                targets: vec![Target { mood, since }],
                next: 0,
                kept: 0,
            };
            (address, place)
        };
        let mut sim = Self {
            now: Tick::ZERO,
            seq: 0,
            agent: Agent::new(settings),
            places: servers.into_iter().map(placed).collect(),
            name: name.into_iter().collect(),
            resolver: Resolver::Truthful,
            link: (true, Tick::ZERO),
            due: BTreeMap::new(),
            clients: BTreeMap::new(),
            next_client: 1,
            ended: BTreeSet::new(),
            offer: Candidates::default(),
            running_from: Tick::ZERO,
            aborted: BTreeSet::new(),
            looking: false,
            probes: (0, 0),
            cuts: Vec::new(),
            turned_away: 0,
            served: Vec::new(),
        };
        sim.obey();
        sim
    }

    /// Puts so many targets behind `address`: it is a balancer.
    pub fn balance(&mut self, address: SocketAddr, targets: usize) {
        if let Some(place) = self.places.get_mut(&address)
            && let Some(first) = place.targets.first().copied()
        {
            place.targets = vec![first; targets];
        }
    }

    /// Lets the packets of every connection arrive again.
    pub fn mend_lines(&mut self) {
        for client in self.clients.values_mut() {
            if let Some(line) = &mut client.line
                && line.dead.take().is_some()
            {
                line.mended = Some(self.now);
            }
        }
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
                .filter_map(Client::next_wake)
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
                    let tried = self.seq.is_multiple_of(4) && self.agent.is_calm(self.now, &input);
                    if tried {
                        // What was due anyway is not this fact's doing.
                        self.agent.wake(self.now);
                        self.obey();
                    }
                    let calm = tried && self.agent.is_calm(self.now, &input);
                    let idle = calm && self.is_idle();
                    self.agent.handle(self.now, input);
                    self.obey();
                    // The agent did not settle: then settling must change nothing. Tried now and then
                    // only, since it would hide what comes late.
                    if idle && self.is_idle() {
                        self.agent.wake(self.now);
                        let left = self.agent.poll();
                        assert!(left.is_none(), "left undone at {:?}: {left:?}", self.now);
                    }
                }
                Due::Look => self.look(),
                Due::Resend(id) => self.resend(id),
                Due::Write(id) => self.write(id),
                Due::Opening(id, input) => {
                    let client = self.clients.get_mut(&id);
                    if let Some(opening) = client.and_then(|c| c.opening.as_mut()) {
                        opening.handle(self.now, input);
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
        let due = |(id, c): (&ConnectionId, &Client)| {
            c.next_wake()
                .is_some_and(|at| at <= self.now)
                .then_some(*id)
        };
        let ids: Vec<_> = self.clients.iter().filter_map(due).collect();
        for id in ids {
            let client = self.clients.get_mut(&id);
            if let Some(opening) = client.and_then(|c| c.opening.as_mut()) {
                opening.wake(self.now);
                self.follow(id);
            }
        }
    }

    /// Whether nothing of the agent's is due in this moment.
    fn is_idle(&self) -> bool {
        let soon = self.now + Duration::from_millis(2);
        self.agent.next_wake().is_some_and(|due| due > soon)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Connect => {
                let id = self.next_client;
                self.next_client += 1;
                let mut opening = Opening::new(self.now, self.offer.clone());
                opening.handle(self.now, opening::Input::ClientSpoke);
                let client = Client {
                    opening: Some(opening),
                    upstream: None,
                    dialled: BTreeMap::new(),
                    line: None,
                };
                self.clients.insert(id, client);
                self.follow(id);
            }
            Event::Leave => {
                if let Some((connection, _)) = self.clients.pop_first() {
                    self.put(ROUND_TRIP, Due::Fact(Input::Closed { connection }));
                }
            }
            Event::Turn(address, mood) => {
                let targets = self.places.get(&address).map_or(0, |p| p.targets.len());
                for target in 0..targets {
                    self.turn(address, target, mood);
                }
            }
            Event::TurnTarget(address, n, mood) => {
                let targets = self.places.get(&address).map_or(0, |p| p.targets.len());
                if let Some(target) = n.checked_rem(targets) {
                    self.turn(address, target, mood);
                }
            }
            Event::Flap(address, pause) => {
                for n in 0..4 {
                    let mood = if n % 2 == 0 { Mood::Silent } else { Mood::Up };
                    self.schedule(pause * n, Event::Turn(address, mood));
                }
            }
            Event::LoseFlow => {
                let now = self.now;
                let lines = self.clients.values_mut().filter_map(|c| c.line.as_mut());
                if let Some(line) = lines.last() {
                    line.dead.get_or_insert(now);
                }
                self.look_soon();
            }
            Event::Suspend => {
                self.put(Duration::ZERO, Due::Fact(Input::Suspended));
            }
            Event::CountFleet(nodes) => {
                self.put(Duration::ZERO, Due::Fact(Input::FleetCounted { nodes }));
            }
            Event::Rename(name) => self.name = name,
            Event::Resolve(resolver) => self.resolver = resolver,
            Event::Link(up) => {
                self.link = (up, self.now);
                self.look_soon();
            }
            Event::Starve(time) => self.running_from = self.now + time,
        }
    }

    fn turn(&mut self, address: SocketAddr, target: usize, mood: Mood) {
        let since = self.now;
        let place = self.places.get_mut(&address);
        if let Some(place) = place.and_then(|p| p.targets.get_mut(target)) {
            *place = Target { mood, since };
        }
        if mood == Mood::Refusing {
            self.reset_connections(address, target);
        }
        self.answer_what_waits(address, target);
        self.look_soon();
    }

    /// How a target behaves, as seen from this node.
    fn mood_of(&self, address: SocketAddr, target: usize) -> Mood {
        if !self.link.0 {
            return Mood::Silent;
        }
        let place = self.places.get(&address);
        place
            .and_then(|p| p.targets.get(target))
            .map_or(Mood::Silent, |t| t.mood)
    }

    fn silent_since(&self, address: SocketAddr, target: usize) -> Tick {
        let place = self.places.get(&address);
        let (link, link_since) = self.link;
        let gone = place
            .and_then(|p| p.targets.get(target))
            .filter(|t| t.mood == Mood::Silent)
            .map(|t| t.since);
        match gone {
            Some(gone) if link => gone,
            Some(gone) => gone.min(link_since),
            None => link_since,
        }
    }

    /// The mood of whichever target a new connection meets.
    fn meet(&mut self, address: SocketAddr) -> (usize, Mood) {
        let target = self.places.get_mut(&address).map_or(0, Place::meet);
        (target, self.mood_of(address, target))
    }

    /// Whether an answer that was on its way does not arrive: its server or the link is silent now.
    fn is_lost(&self, input: &Input) -> bool {
        let Input::Probed {
            upstream,
            id,
            progress,
        } = input
        else {
            return false;
        };
        if self.aborted.contains(id) {
            return true;
        }
        let targets = self.places.get(upstream).map_or(0, |p| p.targets.len());
        if targets > 1 {
            // Which of them it came from is not known any more.
            return !self.link.0;
        }
        let mood = self.mood_of(*upstream, 0);
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
    fn reset_connections(&mut self, address: SocketAddr, target: usize) {
        let on = |(id, c): (&ConnectionId, &Client)| {
            let there = c.line.is_some_and(|l| l.target == target);
            (c.upstream == Some(address) && there).then_some(*id)
        };
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
                Action::AbortProbe { id, .. } => {
                    self.aborted.insert(id);
                }
                // Without a guard nothing of a unit is ever asked or done.
                Action::LookAtUnit { .. }
                | Action::RestartUnit { .. }
                | Action::Forget { .. }
                | Action::Remember { .. }
                | Action::Report(_) => {}
                Action::Offer(offer) => {
                    let emptied = offer.order.is_empty() && !self.offer.order.is_empty();
                    assert!(!emptied, "S1, S6: the set became empty");
                    self.offer = offer;
                }
                Action::Probe {
                    upstream,
                    id,
                    reuse,
                } => self.answer_probe(upstream, id, reuse),
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
                    let traffic = self.traffic(upstream);
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
        self.judge(id, upstream, reset);
        self.clients.remove(&id);
        self.put(ROUND_TRIP, Due::Fact(Input::Closed { connection: id }));
        // The client notices and comes back.
        self.put(ROUND_TRIP, Due::World(Event::Connect));
    }

    fn answer_probe(&mut self, upstream: SocketAddr, id: ProbeId, reuse: bool) {
        self.probes.0 += 1;
        self.probes.1 += u32::from(!reuse);
        let mood = if reuse {
            let kept = self.places.get(&upstream).map_or(0, |p| p.kept);
            self.mood_of(upstream, kept)
        } else {
            let (target, mood) = self.meet(upstream);
            if let Some(place) = self.places.get_mut(&upstream) {
                place.kept = target;
            }
            mood
        };
        let answering = |delay, status| {
            let mut steps = answering(delay, status);
            steps.drain(..if reuse { 2 } else { 0 });
            steps
        };
        let steps: Vec<(Duration, Progress)> = match mood {
            Mood::Up => answering(ROUND_TRIP, 200),
            Mood::NotReady => answering(ROUND_TRIP, 500),
            Mood::Slow(delay) => answering(delay, 200),
            Mood::Silent => vec![(PROBE_TIMEOUT, Progress::TimedOut)],
            Mood::Hung if reuse => vec![(PROBE_TIMEOUT, Progress::TimedOut)],
            Mood::Refusing | Mood::Foreign if reuse => vec![(ROUND_TRIP, Progress::Broken)],
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
            let Some(opening) = client.opening.as_mut() else {
                return;
            };
            opening.check();
            let Some(action) = opening.poll() else {
                return;
            };
            match action {
                opening::Action::Attach(dial) => {
                    if let Some(upstream) = opening.address(dial) {
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
                    if let Some(upstream) = opening.address(dial) {
                        self.put(Duration::ZERO, Due::Fact(Input::Stalled { upstream }));
                    }
                }
                opening::Action::Win(dial) => {
                    if let Some(upstream) = opening.address(dial) {
                        let target = client.dialled.get(&dial).copied().unwrap_or(0);
                        client.line = Some(line::Line::new(self.now, id, target));
                        client.opening = None;
                        self.served.push((self.now, upstream));
                        self.put(Duration::ZERO, Due::Fact(Input::Spoke { upstream }));
                        let first = Duration::from_millis(id * 173 % 1000);
                        self.put(first, Due::Write(id));
                    }
                }
            }
        }
    }

    fn dial(&mut self, id: ConnectionId, dial: DialId, upstream: SocketAddr) {
        let spoke = opening::Input::UpstreamSpoke(dial);
        let connected = opening::Input::Connected(dial);
        let (target, mood) = self.meet(upstream);
        if let Some(client) = self.clients.get_mut(&id) {
            client.dialled.insert(dial, target);
        }
        match mood {
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
