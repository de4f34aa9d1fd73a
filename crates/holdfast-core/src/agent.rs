//! The agent's machine: sources, probes, verdicts, choice and cuts, composed.
//!
//! The order of every step is the same: take in the fact, let health change its verdict, write down
//! what changed and why, then see what follows for connections that are open (`cutting`) and for
//! new ones ([`Action::Offer`]).

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use crate::balance::{self, Candidates, Standing};
use crate::chance::{Chance, hash_address};
use crate::health::{Change, Evidence, Health};
use crate::journal::{Entry, Journal};
use crate::machine::{Machine, Tick};
use crate::pace::TokenBucket;
use crate::probing::{Order, ProbeId, Probing, Progress};
use crate::reason::Reason;
use crate::sources::{Answer, Sources};
use crate::status::{Source, Verdict, What};

mod calm;
mod cutting;
mod doubt;
mod fallback;
mod fleet;
mod guarded;
mod homing;
mod ledger;
mod memory;
mod protocol;
mod reconfigure;
mod story;
mod telling;
mod view;
mod wire;

pub use fallback::{Fallback, UnitSeen};
pub use fleet::interval;
pub use protocol::{
    Action, ConnectionId, DialFailure, Input, LITTLE, MOMENTS, Power, SILENT, Settings, Shortage,
    Traffic,
};
pub use view::Identity;
pub use wire::Wire;

#[derive(Debug)]
struct Upstream {
    health: Health,
    probing: Probing,
    cutting: cutting::Cutting,
    draining_since: Option<Tick>,
    /// When a connection of its was cut alone.
    flow_cut: Option<Tick>,
    /// Its connections were cut since it went bad: what stands on it now came back.
    cut_before: bool,
    /// When the others were last asked whether this node's network works, for a cut there.
    asked_for_cut: Tick,
    /// Its address is one of this node's own.
    here: bool,
    telling: telling::Telling,
}

#[derive(Debug)]
struct Connection {
    upstream: SocketAddr,
    /// Ordered to end; never ordered twice (S4).
    ending: bool,
    /// It is silent while its upstream is not: is it the target behind that address?
    doubt: Option<doubt::Doubt>,
    /// The kernel says that nobody acknowledges its bytes.
    stall: Option<wire::Stall>,
    /// Its socket is somebody else's.
    guarded: Option<guarded::Guarded>,
}

impl Connection {
    const fn new(upstream: SocketAddr, guarded: Option<guarded::Guarded>) -> Self {
        Self {
            upstream,
            ending: false,
            doubt: None,
            stall: None,
            guarded,
        }
    }
}

/// Time between two wakes, at least.
const SPIN_GUARD: Duration = Duration::from_millis(1);

/// A wake that comes later than this means that the process did not run: what was overdue meanwhile
/// gets the time back.
const HELD_UP: Duration = Duration::from_millis(100);

/// After this all evidence is stale, and gathered anew.
const HELD_UP_LONG: Duration = Duration::from_millis(500);

/// What many clients may meet at once is written down at most this often for each kind: the count is
/// in the metrics.
const OFTEN_MET_EVERY: Duration = Duration::from_secs(10);

/// What many clients may meet at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OftenMet {
    FailedHere(Shortage),
    TurnedAway,
    Unused,
}

/// The agent's decisions.
#[derive(Debug)]
pub struct Agent {
    settings: Settings,
    sources: Sources,
    upstreams: BTreeMap<SocketAddr, Upstream>,
    connections: ledger::Ledger,
    cuts: TokenBucket,
    often_met: BTreeMap<OftenMet, TokenBucket>,
    recuts: TokenBucket,
    homing: homing::Homing,
    repairs: fallback::Repairs,
    journal: Journal,
    memory: memory::Memory,
    /// Nodes of the cluster, once an API server has counted them.
    fleet: Option<u64>,
    configured: reconfigure::Configured,
    offered: Option<Candidates>,
    /// Whether any certificate was ever verified: until then the agent's own CA is a suspect too.
    ca_proved: bool,
    next_probe: ProbeId,
    expected_wake: Option<Tick>,
    settled_at: Tick,
    /// Signs of life from before this are no witness: they may have waited for this process.
    fresh_from: Tick,
    actions: VecDeque<Action>,
}

impl Agent {
    /// An agent that knows its seeds and has heard of nobody.
    pub fn new(settings: Settings) -> Self {
        let mut sources = Sources::new(
            settings.seeds.iter().copied(),
            settings.live.iter().copied(),
            settings.own.iter().copied(),
            settings.expiry,
            Chance::new(settings.seed).bits(),
        );
        let remembered = settings.remembered.as_ref();
        if let Some(remembered) = remembered {
            sources.remember(&remembered.entries, remembered.age);
        }
        let mut agent = Self {
            cuts: cut_limit(&settings),
            often_met: BTreeMap::new(),
            recuts: guarded::recut_limit(),
            homing: homing::Homing::new(),
            repairs: fallback::Repairs::new(settings.fallback.clone(), settings.seed),
            sources,
            upstreams: BTreeMap::new(),
            connections: ledger::Ledger::default(),
            journal: Journal::default(),
            memory: memory::Memory::new(remembered),
            fleet: settings.nodes,
            configured: reconfigure::Configured::default(),
            offered: None,
            ca_proved: false,
            next_probe: 1,
            expected_wake: None,
            settled_at: Tick::ZERO,
            fresh_from: Tick::ZERO,
            actions: VecDeque::new(),
            settings,
        };
        let known: Vec<_> = agent.sources.addresses().collect();
        for address in known {
            agent.add(Tick::ZERO, address);
        }
        if let Some(why) = agent.memory.failure() {
            agent.write(Tick::ZERO, story::source(Source::Cache, Some(why)));
        }
        agent.settle(Tick::ZERO);
        agent
    }

    fn write(&mut self, now: Tick, entry: Entry) {
        let action = self.journal.write(now, entry);
        self.actions.push_back(Action::Report(action));
    }

    fn is_news(&mut self, now: Tick, kind: OftenMet) -> bool {
        let fresh = || TokenBucket::full(1, OFTEN_MET_EVERY);
        self.often_met.entry(kind).or_insert_with(fresh).take(now)
    }

    fn add(&mut self, now: Tick, address: SocketAddr) {
        if let Some(known) = self.upstreams.get_mut(&address) {
            let change = known.health.list(now, true);
            return self.changed(now, address, change);
        }
        let seed = hash_address(self.settings.seed, address);
        let upstream = Upstream {
            health: Health::new(now),
            probing: Probing::new(now, self.probe_interval(), self.settings.patience, seed),
            cutting: cutting::Cutting::default(),
            draining_since: None,
            flow_cut: None,
            cut_before: false,
            asked_for_cut: Tick::ZERO,
            here: false,
            telling: telling::Telling::new(),
        };
        self.upstreams.insert(address, upstream);
        let entry = Entry::new(What::UpstreamAdded, Reason::AddressAdded)
            .on(address)
            .because(format!("named by {}", self.sources.origin_names(address)))
            .then("probed; used when it proves itself");
        self.write(now, entry);
    }

    fn resolved(&mut self, now: Tick, source: Source, answer: Answer) {
        let change = self.sources.answer(now, source, answer);
        if let Some(health) = change.health {
            self.write(now, story::source(source, health));
        }
        self.relist(now, change.added, change.removed);
    }

    fn relist(&mut self, now: Tick, added: Vec<SocketAddr>, removed: Vec<SocketAddr>) {
        for address in added {
            self.add(now, address);
        }
        for address in removed {
            self.unlist(now, address);
        }
    }

    /// No source names `address` any more.
    fn unlist(&mut self, now: Tick, address: SocketAddr) {
        if let Some(upstream) = self.upstreams.get_mut(&address) {
            let verdict = upstream.health.list(now, false);
            self.changed(now, address, verdict);
        }
    }

    fn probed(&mut self, now: Tick, address: SocketAddr, id: ProbeId, progress: &Progress) {
        let Some(upstream) = self.upstreams.get_mut(&address) else {
            return;
        };
        let (evidence, orders) = upstream.probing.progress(now, id, progress);
        self.order_probes(address, orders);
        if let Some(evidence) = evidence {
            self.observe(now, address, evidence);
        }
    }

    fn order_probes(&mut self, upstream: SocketAddr, orders: Vec<Order>) {
        for order in orders {
            self.actions.push_back(match order {
                Order::Abort { id } => Action::AbortProbe { upstream, id },
                Order::Start { id, reuse } => Action::Probe {
                    upstream,
                    id,
                    reuse,
                },
            });
        }
    }

    fn dial_failed(&mut self, now: Tick, address: SocketAddr, failure: DialFailure) {
        let evidence = match failure {
            DialFailure::Refused => Some(Evidence::Refused),
            DialFailure::Unreachable => Some(Evidence::Unreachable {
                started: now,
                witnessed: false,
            }),
            DialFailure::Ended | DialFailure::TimedOut => None,
        };
        if let Some(evidence) = evidence {
            self.observe(now, address, evidence);
        }
        self.look_at(now, address);
    }

    /// A client has trouble with an upstream: probe it at once, and ask the sources again.
    fn look_at(&mut self, now: Tick, address: SocketAddr) {
        if let Some(upstream) = self.upstreams.get_mut(&address) {
            upstream.probing.hurry(now);
        }
        self.sources.ask_soon(now);
    }

    fn observe(&mut self, now: Tick, address: SocketAddr, evidence: Evidence) {
        let alone = !self.usable_besides(address);
        let Some(upstream) = self.upstreams.get_mut(&address) else {
            return;
        };
        let before = upstream.health.suspicion();
        let change = upstream.health.observe(now, evidence, alone);
        self.ca_proved |= upstream.health.verified();
        if let Some(suspicion) = upstream.health.suspicion() {
            if before.is_none() {
                upstream.probing.hurry(now);
                self.sources.ask_soon(now);
            }
            // Is it that address, or this node's own network? The others know, before and after.
            let asked = suspicion.witnessed.unwrap_or(suspicion.since);
            if before.is_none() || before.and_then(|b| b.witnessed) != suspicion.witnessed {
                self.ask_witnesses(now, address, asked);
            }
        }
        self.changed(now, address, change);
    }

    fn ask_witnesses(&mut self, now: Tick, address: SocketAddr, since: Tick) {
        for (other, upstream) in &mut self.upstreams {
            if *other != address && upstream.health.heard() < Some(since) {
                upstream.probing.hurry(now);
            }
        }
    }

    /// Whether some other upstream can take what this one can't.
    fn usable_besides(&self, address: SocketAddr) -> bool {
        self.upstreams
            .iter()
            .any(|(other, u)| *other != address && is_proven(u.health.verdict()))
    }

    /// Whether some other upstream was heard at or after `since`.
    fn witness(&self, address: SocketAddr, since: Tick) -> bool {
        let since = since.max(self.fresh_from);
        self.upstreams.iter().any(|(other, u)| {
            *other != address && is_proven(u.health.verdict()) && u.health.heard() >= Some(since)
        })
    }

    fn changed(&mut self, now: Tick, address: SocketAddr, change: Option<Change>) {
        let Some(change) = change.map(|change| self.name_hairpin(address, change)) else {
            return;
        };
        let connections = self.connections.count_on(address);
        let Some(upstream) = self.upstreams.get_mut(&address) else {
            return;
        };
        let draining = change.to == Verdict::Draining;
        upstream.draining_since = match upstream.draining_since {
            Some(since) if draining => Some(since),
            _ => draining.then_some(now),
        };
        upstream.cutting.verdict_changed(change.to);
        upstream.cut_before &= !balance::is_usable(change.to);
        let entry = story::verdict(
            now,
            address,
            &upstream.health,
            change,
            connections,
            upstream.probing.status(now).as_ref(),
        );
        self.tell(now, address, entry);
        if !balance::is_usable(change.to) {
            self.sources.ask_soon(now);
        }
    }

    fn attach(
        &mut self,
        id: ConnectionId,
        upstream: SocketAddr,
        guarded: Option<guarded::Guarded>,
    ) {
        self.connections
            .insert(id, Connection::new(upstream, guarded));
    }

    /// Silence on a node with an API server of its own has a likely cause that is worth a name.
    fn name_hairpin(&mut self, address: SocketAddr, change: Change) -> Change {
        let own = |u: &Upstream| u.here && is_proven(u.health.verdict());
        if change.reason != Reason::Silent || !self.upstreams.values().any(own) {
            return change;
        }
        let reason = Reason::Hairpin;
        if let Some(upstream) = self.upstreams.get_mut(&address) {
            upstream.health.call(reason);
        }
        Change { reason, ..change }
    }

    fn probe(&mut self, now: Tick) {
        let addresses: Vec<_> = self.upstreams.keys().copied().collect();
        for address in addresses {
            let overdue = match self.upstreams.get_mut(&address) {
                Some(upstream) => upstream.probing.overdue(now),
                None => continue,
            };
            for evidence in overdue {
                self.observe(now, address, evidence);
            }
            let suspicion = self
                .upstreams
                .get(&address)
                .and_then(|u| u.health.suspicion());
            let witnessed = suspicion.is_some_and(|s| self.witness(address, s.since));
            let Some(upstream) = self.upstreams.get_mut(&address) else {
                continue;
            };
            let suspected = is_suspected(&upstream.health);
            let orders = upstream
                .probing
                .start_due(now, suspected, witnessed, self.next_probe);
            self.next_probe += u64::from(!orders.is_empty());
            self.order_probes(address, orders);
            self.take_samples(now, address);
        }
    }

    /// What follows from the facts for sources, connections and new connections.
    fn settle(&mut self, now: Tick) {
        for source in self.sources.ask_due(now) {
            self.actions.push_back(Action::Resolve { source });
        }
        self.probe(now);
        self.cut_and_drain(now);
        self.repair(now);
        self.move_home(now);
        self.tell_what_was_held_back(now);
        self.forget(now);
        self.remember(now);
        let offer = self.order();
        if self.offered.as_ref() != Some(&offer) {
            self.offered = Some(offer.clone());
            self.actions.push_back(Action::Offer(offer));
        }
        self.settled_at = now;
        self.expected_wake = self.next_wake();
    }

    /// Drops upstreams that no source names any more and that nothing stands on. A usable one only
    /// when another one that is still named can take its place (S2).
    fn forget(&mut self, now: Tick) {
        let named_and_proven = self.upstreams.iter().any(|(address, u)| {
            self.sources.names(*address)
                && is_proven(u.health.verdict())
                && u.health.suspicion().is_none()
                && u.health.heard() > Some(self.fresh_from)
        });
        let gone: Vec<_> = self
            .upstreams
            .iter()
            .filter(|(address, upstream)| {
                !self.sources.names(**address)
                    && self.connections.count_on(**address) == 0
                    && (named_and_proven || !balance::is_usable(upstream.health.verdict()))
            })
            .map(|(address, _)| *address)
            .collect();
        for address in gone {
            if let Some(mut upstream) = self.upstreams.remove(&address) {
                let orders = upstream.probing.abort_all();
                self.order_probes(address, orders);
            }
            self.actions.push_back(Action::Forget { upstream: address });
            let entry = Entry::new(What::UpstreamRemoved, Reason::AddressRemoved)
                .on(address)
                .because("no source names it and no connection stands on it")
                .then("forgotten until a source names it again");
            self.write(now, entry);
        }
    }

    fn order(&self) -> Candidates {
        let standings: Vec<_> = self
            .upstreams
            .iter()
            .map(|(address, u)| Standing {
                address: *address,
                verdict: u.health.verdict(),
                suspected: u.health.suspicion().is_some(),
                remembered: self.sources.is_only_remembered(*address),
                patience: u.probing.patience(),
                here: u.here,
            })
            .collect();
        let strangers = standings.iter().all(|s| s.verdict == Verdict::Foreign);
        balance::order(self.settings.node, &standings, strangers || !self.ca_proved)
    }

    /// All evidence is stale and gathered again: the process did not run, or the machine slept.
    fn start_anew(&mut self, now: Tick) {
        // What arrives now may have been on its way for as long: it proves nothing about now.
        self.fresh_from = now + HELD_UP_LONG;
        let addresses: Vec<_> = self.upstreams.keys().copied().collect();
        for address in addresses {
            if let Some(upstream) = self.upstreams.get_mut(&address) {
                upstream.health.forgive();
                upstream.probing.hurry(now);
                let orders = upstream.probing.abort_all();
                self.order_probes(address, orders);
            }
        }
    }

    fn forgive_delay(&mut self, now: Tick) {
        let late = self
            .expected_wake
            .map_or(Duration::ZERO, |expected| now.since(expected));
        if late > HELD_UP_LONG {
            self.start_anew(now);
        } else if late > HELD_UP {
            for upstream in self.upstreams.values_mut() {
                upstream.probing.forgive(late);
            }
        }
    }
}

fn cut_limit(settings: &Settings) -> TokenBucket {
    let refill = settings
        .cut_window
        .checked_div(settings.cuts)
        .unwrap_or(settings.cut_window);
    TokenBucket::full(settings.cuts, refill)
}

/// Verified, and answering: it can take what another one can't.
const fn is_proven(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Ready | Verdict::Slow | Verdict::Draining => true,
        Verdict::Probation | Verdict::Silent | Verdict::Dead | Verdict::Foreign => false,
    }
}

/// Something is unanswered and the verdict is still open.
fn is_suspected(health: &Health) -> bool {
    health.suspicion().is_some() && balance::is_usable(health.verdict())
}

impl Machine for Agent {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Tick, input: Input) {
        self.forgive_delay(now);
        let calm = self.is_calm(now, &input);
        match input {
            Input::Attached {
                connection,
                upstream,
            } => self.attach(connection, upstream, None),
            Input::Answered { connection } => self.answered(connection),
            Input::CutFailed { connection, why } => self.cut_failed(now, connection, why),
            Input::Closed { connection } => {
                self.connections.remove(connection);
            }
            Input::DialFailed { upstream, failure } => self.dial_failed(now, upstream, failure),
            Input::FailedHere { shortage, evidence } => {
                if self.is_news(now, OftenMet::FailedHere(shortage)) {
                    self.write(now, story::failed_here(shortage, evidence));
                }
            }
            Input::Guarded {
                connection,
                upstream,
                power,
            } => self.guard(now, connection, upstream, power),
            Input::FleetCounted { nodes } => self.count_fleet(nodes),
            Input::Located { upstream, here } => {
                if let Some(upstream) = self.upstreams.get_mut(&upstream) {
                    upstream.here = here;
                }
            }
            Input::Suspended => self.start_anew(now),
            Input::Probed {
                upstream,
                id,
                progress,
            } => self.probed(now, upstream, id, &progress),
            Input::Remembered { failure } => self.remembered(now, failure),
            Input::Reconfigured { settings, changed } => {
                self.reconfigured(now, *settings, &changed);
            }
            Input::ReloadRefused { why } => self.reload_refused(now, why),
            Input::Resolved { source, answer } => self.resolved(now, source, answer),
            Input::Sampled { upstream, traffic } => self.sampled(now, upstream, &traffic),
            Input::Spoke { upstream } => self.observe(now, upstream, Evidence::Spoke),
            Input::Stalled { upstream } => self.look_at(now, upstream),
            Input::Unanswered {
                connection,
                since,
                repeated,
            } => self.unanswered(now, connection, since, repeated),
            Input::Wire { connection, wire } => self.wired(now, connection, &wire),
            Input::TurnedAway => {
                if self.is_news(now, OftenMet::TurnedAway) {
                    let entry = story::turned_away(&self.upstreams);
                    self.write(now, entry);
                }
            }
            Input::UnitRestarted { unit, result } => self.unit_restarted(now, &unit, result),
            Input::UnitSeen { unit, seen } => self.unit_seen(now, &unit, seen),
            Input::Unused { evidence } => {
                if self.is_news(now, OftenMet::Unused) {
                    self.write(now, story::unused(evidence));
                }
            }
        }
        if calm {
            // A connection that came or went may be one that is to move home, later.
            self.expected_wake = self.next_wake();
        } else {
            self.settle(now);
        }
    }

    fn wake(&mut self, now: Tick) {
        self.forgive_delay(now);
        self.settle(now);
    }

    fn next_wake(&self) -> Option<Tick> {
        let probes = self
            .upstreams
            .values()
            .filter_map(|u| u.probing.next_wake(is_suspected(&u.health)));
        probes
            .chain(self.sources.next_wake())
            .chain(self.next_cut())
            .chain(self.memory.next_look())
            .chain(self.next_move())
            .chain(self.repairs.next())
            .chain(self.next_telling())
            .min()
            // What is due and was not done waits for something else: waking at once would spin.
            .map(|due| due.max(self.settled_at + SPIN_GUARD))
    }

    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn check(&self) {
        self.connections.check();
        for address in self.sources.addresses() {
            assert!(
                self.upstreams.contains_key(&address),
                "{address} is named by a source and has no upstream"
            );
        }
        let offer = self.offered.as_ref().expect("offered since the start");
        let foreign = |address: &SocketAddr| {
            self.upstreams
                .get(address)
                .is_some_and(|u| u.health.verdict() == Verdict::Foreign)
        };
        let usable = self.upstreams.keys().filter(|a| !foreign(a)).count();
        assert!(
            offer.order.len() >= usable,
            "S6: every upstream but a stranger's stays a candidate"
        );
    }
}
