//! The watcher's decisions: a node does not stay on an address that has left DNS.
//!
//! What a script does with a hash of one answer is done here with the age of each address: a failed or
//! empty lookup, another order, an alias, or a rotating subset is no change. And a change alone is no
//! cause either: something is done only to a unit that really has a connection to an address that left,
//! after a delay of its own for each node, once per cause, within limits.
//!
//! ```text
//! sources ─▶ an address left ─▶ (jitter) ─▶ look ─▶ connected? ─▶ sever ─▶ can't? ─▶ restart, if it may
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::cache;
use crate::chance::Chance;
use crate::journal::{Entry, Journal};
use crate::machine::{Machine, Tick};
use crate::pace::TokenBucket;
use crate::reason::Reason;
use crate::restart::Restarts;
use crate::sources::{Answer, Change, Sources};
use crate::status::{Source, What};

mod memory;
mod protocol;
#[cfg(test)]
mod tests;

pub use memory::{Known, Memory, status};
pub use protocol::{
    Action, Input, Look, Seen, Settings, Strategy, WatchStatus, WatchedAddress, WatchedUnit,
};

/// An address that left is looked for among connections for this long; whoever still dials it then has
/// it from elsewhere, and severing would not change that.
const LOOK_FOR: Duration = Duration::from_hours(24);

/// Severing is cheap, but a unit that dials the same address again and again is not cured by it: so
/// often per unit, and once more each `SEVER_EVERY`.
const SEVERS: u32 = 3;

/// See [`SEVERS`].
const SEVER_EVERY: Duration = Duration::from_mins(5);

/// The watcher.
#[derive(Clone, Debug)]
pub struct Watch {
    settings: Settings,
    sources: Sources,
    answered: BTreeSet<Source>,
    left: BTreeMap<IpAddr, Left>,
    units: BTreeMap<String, Unit>,
    restarts: Restarts,
    looking: bool,
    next_look: Tick,
    /// Why nothing can be seen, since the last look that failed.
    blind: Option<String>,
    journal: Journal,
    chance: Chance,
    actions: VecDeque<Action>,
}

/// An address that left.
#[derive(Clone, Copy, Debug)]
struct Left {
    at: Tick,
    /// When this node acts: not all nodes at once.
    due: Tick,
}

/// What is known of a unit.
#[derive(Clone, Debug)]
struct Unit {
    severs: TokenBucket,
    /// Why its connections can't be severed, since the last attempt.
    cannot_sever: Option<String>,
    /// The addresses on which it was restarted, until they come back: one restart per cause.
    restarted_for: BTreeSet<IpAddr>,
    /// Something is being done to it.
    busy: bool,
    /// Why nothing was done at the last look; told once for as long as it lasts.
    withheld: Option<Reason>,
    seen: Seen,
}

impl Watch {
    /// A watcher that begins with what an earlier one knew.
    pub fn new(settings: Settings, memory: &Memory) -> Self {
        let live = [Source::DnsA, Source::DnsAaaa];
        let sources = Sources::new([], live, [], settings.expiry, settings.seed);
        let mut restarts = Restarts::new(settings.limits);
        for (unit, ago) in &memory.restarts {
            restarts.remember(unit, *ago);
        }
        let unit = |name: &String| {
            let unit = Unit {
                severs: TokenBucket::full(SEVERS, SEVER_EVERY),
                cannot_sever: None,
                restarted_for: BTreeSet::new(),
                busy: false,
                withheld: None,
                seen: Seen::default(),
            };
            (name.clone(), unit)
        };
        let mut watch = Self {
            units: settings.units.iter().map(unit).collect(),
            chance: Chance::new(settings.seed),
            settings,
            sources,
            answered: BTreeSet::new(),
            left: BTreeMap::new(),
            restarts,
            looking: false,
            next_look: Tick::ZERO,
            blind: None,
            journal: Journal::default(),
            actions: VecDeque::new(),
        };
        watch.recall(memory);
        watch.resolve(Tick::ZERO);
        watch
    }

    /// What was known stands until answers have left it out for as long as everything that leaves.
    fn recall(&mut self, memory: &Memory) {
        let known: Vec<_> = memory
            .addresses
            .iter()
            .map(|known| cache::Entry {
                address: SocketAddr::new(known.address, 0),
                origins: vec![source_of(known.address)],
                unanswered: known.age,
            })
            .collect();
        self.sources.remember(&known, Duration::ZERO);
        for address in memory.left.keys() {
            // Nobody vouches for a file.
            if self.sources.names(SocketAddr::new(*address, 0)) {
                continue;
            }
            let left = Left {
                at: Tick::ZERO,
                due: Tick::ZERO + self.delay(),
            };
            self.left.insert(*address, left);
        }
        let told = match (&memory.trouble, memory.opaque) {
            (Some(why), _) => Some(why.clone()),
            (None, true) => Some(
                "the state file holds a hash, as the script writes it: which addresses it stood \
                 for can't be told"
                    .to_owned(),
            ),
            (None, false) => None,
        };
        if let Some(evidence) = told {
            let entry = Entry::new(What::SourceChanged, Reason::StateUnknown)
                .because(evidence)
                .then("nothing is restarted; the addresses of the next answers are written down");
            self.report(Tick::ZERO, entry);
        }
    }

    /// Whether every question has been answered once, be it by a failure.
    pub fn is_started(&self) -> bool {
        self.answered.len() == 2
    }

    /// What readers see.
    pub fn status(&self, now: Tick) -> WatchStatus {
        let connected = |address: IpAddr| {
            let units = self.units.iter();
            units
                .filter(|(_, unit)| unit.seen.connections.contains_key(&address))
                .map(|(name, _)| name.clone())
                .collect()
        };
        let current = self.sources.addresses().map(|address| {
            let origins = self.sources.origins(now, address);
            WatchedAddress {
                address: address.ip(),
                named_s: origins.first().map_or(0.0, |origin| origin.age_s),
                left_s: None,
                connected: Vec::new(),
            }
        });
        let left = self.left.iter().map(|(address, left)| WatchedAddress {
            address: *address,
            named_s: now.since(left.at).as_secs_f64(),
            left_s: Some(now.since(left.at).as_secs_f64()),
            connected: connected(*address),
        });
        let past = self.restarts.past(now);
        let units = self.units.iter().map(|(name, unit)| WatchedUnit {
            unit: name.clone(),
            state: unit.seen.state.clone(),
            main_pid: unit.seen.main_pid,
            restarted_s: past.get(name).map(Duration::as_secs_f64),
            withheld: unit.withheld,
            cannot_sever: unit.cannot_sever.clone(),
        });
        WatchStatus {
            addresses: current.chain(left).collect(),
            sources: self.sources.status(now, None),
            units: units.collect(),
            blind: self.blind.clone(),
            actions: self.journal.entries(),
        }
    }

    /// What the next watcher should know.
    pub fn memory(&self, now: Tick) -> Memory {
        let known = |address: SocketAddr| {
            let origin = self.sources.origins(now, address).into_iter().next();
            let age = origin.map_or(0.0, |origin| origin.age_s);
            Known {
                address: address.ip(),
                age: Duration::try_from_secs_f64(age).unwrap_or_default(),
            }
        };
        Memory {
            addresses: self.sources.addresses().map(known).collect(),
            left: self
                .left
                .iter()
                .map(|(address, left)| (*address, now.since(left.at)))
                .collect(),
            restarts: self.restarts.past(now),
            opaque: false,
            trouble: None,
        }
    }

    fn resolve(&mut self, now: Tick) {
        for source in self.sources.ask_due(now) {
            self.actions.push_back(Action::Resolve { source });
        }
    }

    fn resolved(&mut self, now: Tick, source: Source, answer: Answer) {
        self.answered.insert(source);
        let change = self.sources.answer(now, source, answer);
        let changed = !change.added.is_empty() || !change.removed.is_empty();
        self.follow(now, change);
        if changed {
            self.actions.push_back(Action::Remember);
        }
    }

    fn follow(&mut self, now: Tick, change: Change) {
        if let Some(health) = change.health {
            let entry = match health {
                Some(why) => Entry::new(What::SourceChanged, Reason::SourceFailed)
                    .because(why)
                    .then("asked again soon; every known address stands, nothing is restarted"),
                None => Entry::new(What::SourceChanged, Reason::SourceRecovered)
                    .because("the name can be looked up again")
                    .then("followed"),
            };
            self.report(now, entry);
        }
        for address in change.added {
            let back = self.left.remove(&address.ip()).is_some();
            for unit in self.units.values_mut() {
                unit.restarted_for.remove(&address.ip());
            }
            let words = if back { " again" } else { "" };
            let entry = Entry::new(What::UpstreamAdded, Reason::AddressAdded)
                .because(format!("the name has {}{words}", address.ip()))
                .then("watched");
            self.report(now, entry);
        }
        for address in change.removed {
            let delay = self.delay();
            let left = Left {
                at: now,
                due: now + delay,
            };
            self.left.insert(address.ip(), left);
            self.next_look = self.next_look.min(now + delay);
            let entry = Entry::new(What::UpstreamRemoved, Reason::AddressRemoved)
                .because(format!(
                    "{} is in no answer any more, for several answers and lifetimes",
                    address.ip()
                ))
                .then(format!(
                    "connections to it are looked for in {:.1} s",
                    delay.as_secs_f64()
                ));
            self.report(now, entry);
        }
    }

    /// This node's share of the time over which a fleet spreads.
    fn delay(&mut self) -> Duration {
        let most = u64::try_from(self.settings.spread.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.chance.below(most.saturating_add(1)))
    }

    /// The addresses that left and whose time has come on this node.
    fn due(&self, now: Tick) -> BTreeSet<IpAddr> {
        // Without an address that stands there is nowhere to go (S2).
        if self.sources.addresses().next().is_none() {
            return BTreeSet::new();
        }
        let left = self.left.iter().filter(|(_, left)| left.due <= now);
        left.map(|(address, _)| *address).collect()
    }

    fn look(&mut self, now: Tick) {
        self.left.retain(|_, left| now.since(left.at) < LOOK_FOR);
        for unit in self.units.values_mut() {
            unit.restarted_for
                .retain(|address| self.left.contains_key(address));
        }
        if self.looking || now < self.next_look {
            return;
        }
        let addresses = self.due(now);
        if addresses.is_empty() {
            return;
        }
        self.looking = true;
        self.actions.push_back(Action::Look { addresses });
    }

    fn looked(&mut self, now: Tick, look: Result<Look, String>) {
        self.looking = false;
        self.next_look = now + self.settings.interval;
        let look = match look {
            Ok(look) => look,
            Err(why) => {
                if self.blind.as_ref() != Some(&why) {
                    let entry = Entry::new(What::Withheld, Reason::Blind)
                        .because(why.clone())
                        .then("looked again; what can't be seen is not acted on");
                    self.report(now, entry);
                }
                self.blind = Some(why);
                return;
            }
        };
        self.blind = None;
        let due = self.due(now);
        let names: Vec<String> = self.units.keys().cloned().collect();
        for name in names {
            let mut seen = look.units.get(&name).cloned().unwrap_or_default();
            // An address may have come back while somebody looked.
            seen.connections.retain(|address, _| due.contains(address));
            self.judge(now, &name, seen, &look.shutting_down);
        }
    }

    /// Decides about one unit after a look.
    fn judge(&mut self, now: Tick, name: &str, seen: Seen, shutting_down: &Result<bool, String>) {
        let Some(unit) = self.units.get_mut(name) else {
            return;
        };
        unit.seen = seen;
        if unit.seen.connections.is_empty() {
            unit.withheld = None;
            return;
        }
        if unit.busy {
            return;
        }
        let evidence = unit.seen.words(name);
        match shutting_down {
            Ok(false) => {}
            Ok(true) => {
                let words = "the machine shuts down";
                return self.withhold(now, name, Reason::ShuttingDown, words, &evidence);
            }
            Err(why) => {
                let words = format!("whether the machine shuts down can't be told: {why}");
                return self.withhold(now, name, Reason::Blind, &words, &evidence);
            }
        }
        let addresses: BTreeSet<IpAddr> = unit.seen.connections.keys().copied().collect();
        if self.settings.strategy == Strategy::Sever && unit.cannot_sever.is_none() {
            if !unit.severs.take(now) {
                let words = "it dials addresses that left again and again";
                return self.withhold(now, name, Reason::RateLimited, words, &evidence);
            }
            unit.busy = true;
            let unit = name.to_owned();
            self.actions.push_back(Action::Sever { unit, addresses });
            return;
        }
        self.restart(now, name, &addresses, &evidence);
    }

    /// Restarts the unit, if it may be.
    fn restart(&mut self, now: Tick, name: &str, addresses: &BTreeSet<IpAddr>, evidence: &str) {
        let Some(unit) = self.units.get_mut(name) else {
            return;
        };
        let Some(cure) = self.settings.cure() else {
            let why = unit.cannot_sever.clone().unwrap_or_default();
            let words =
                format!("its connections can't be severed ({why}), and no other strategy is set");
            return self.withhold(now, name, Reason::NotPermitted, &words, evidence);
        };
        if addresses.is_subset(&unit.restarted_for) {
            let words = "it was restarted for this already, and has dialled the address again";
            return self.withhold(now, name, Reason::HoldDown, words, evidence);
        }
        if let Err(refusal) = self.restarts.may(now, name, unit.seen.life) {
            return self.withhold(now, name, refusal.reason, &refusal.words, evidence);
        }
        unit.busy = true;
        unit.withheld = None;
        unit.restarted_for.extend(addresses);
        let forget = self.restarts.begin(now, name);
        let unit = name.to_owned();
        self.actions
            .push_back(Action::Restart { unit, cure, forget });
        // Written down first: a watcher that is killed now must not do it again.
        self.actions.push_back(Action::Remember);
    }

    fn severed(&mut self, now: Tick, name: &str, result: Result<u32, String>) {
        let Some(unit) = self.units.get_mut(name) else {
            return;
        };
        unit.busy = false;
        let evidence = unit.seen.words(name);
        // What it does next is looked at without delay.
        self.next_look = now;
        match result {
            Ok(0) => {}
            Ok(count) => {
                unit.withheld = None;
                let entry = Entry::new(What::ConnectionsSevered, Reason::AddressRemoved)
                    .because(evidence)
                    .then(format!(
                        "{count} aborted; {name} connects anew, and was not restarted"
                    ));
                self.report(now, entry);
            }
            Err(why) => {
                let next = match self.settings.cure() {
                    Some(cure) => format!("{name} is restarted instead ({})", cure.as_str()),
                    None => "nothing: no other strategy is set".to_owned(),
                };
                let entry = Entry::new(What::Withheld, Reason::NotPermitted)
                    .because(format!("{evidence}: {why}"))
                    .then(next);
                unit.cannot_sever = Some(why);
                self.report(now, entry);
            }
        }
    }

    fn restarted(&mut self, now: Tick, name: &str, result: Result<(), String>) {
        let Some(unit) = self.units.get_mut(name) else {
            return;
        };
        unit.busy = false;
        let evidence = unit.seen.words(name);
        // The kernel may allow next time what it refused this time.
        unit.cannot_sever = None;
        self.next_look = now;
        let entry = match result {
            Ok(()) => Entry::new(What::UnitRestarted, Reason::AddressRemoved)
                .because(evidence)
                .then(format!("{name} runs anew")),
            Err(why) => Entry::new(What::Withheld, Reason::UnitFailed)
                .because(format!("{evidence}: {why}"))
                .then("not tried again before the hold-down is over"),
        };
        self.report(now, entry);
    }

    /// Says once why nothing is done, for as long as the same holds.
    fn withhold(&mut self, now: Tick, name: &str, reason: Reason, words: &str, evidence: &str) {
        let Some(unit) = self.units.get_mut(name) else {
            return;
        };
        if unit.withheld == Some(reason) {
            return;
        }
        unit.withheld = Some(reason);
        let entry = Entry::new(What::Withheld, reason)
            .because(format!("{evidence}; {words}"))
            .then("looked at again");
        self.report(now, entry);
    }

    fn report(&mut self, now: Tick, entry: Entry) {
        let action = self.journal.write(now, entry);
        self.actions.push_back(Action::Report(action));
    }
}

const fn source_of(address: IpAddr) -> Source {
    match address {
        IpAddr::V4(_) => Source::DnsA,
        IpAddr::V6(_) => Source::DnsAaaa,
    }
}

impl Machine for Watch {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Tick, input: Input) {
        match input {
            Input::Looked { look } => self.looked(now, look),
            Input::Resolved { source, answer } => self.resolved(now, source, answer),
            Input::Restarted { unit, result } => self.restarted(now, &unit, result),
            Input::Severed { unit, result } => self.severed(now, &unit, result),
        }
        self.wake(now);
    }

    fn wake(&mut self, now: Tick) {
        self.resolve(now);
        self.look(now);
    }

    fn next_wake(&self) -> Option<Tick> {
        let look = self.left.values().map(|left| left.due).min();
        let look = look
            .filter(|_| !self.looking && self.sources.addresses().next().is_some())
            .map(|due| due.max(self.next_look));
        [look, self.sources.next_wake()].into_iter().flatten().min()
    }

    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn check(&self) {
        for address in self.left.keys() {
            let stands = self.sources.names(SocketAddr::new(*address, 0));
            assert!(!stands, "{address} both stands and has left");
        }
        for unit in self.units.values() {
            for address in &unit.restarted_for {
                let stands = self.sources.names(SocketAddr::new(*address, 0));
                assert!(!stands, "a unit was restarted for {address}, which stands");
            }
        }
    }
}
