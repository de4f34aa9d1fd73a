//! What is left where a dead connection can't be aborted: the unit that has it is restarted, if that is
//! configured and the unit may be restarted now.
//!
//! A restart is the dearer cure, so it waits: for a moment of this node's own, lest a fleet restart as
//! one; for a last look at the unit; and it is given up when the connection ends, gets a byte, or its
//! address works again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::{Action, Agent, ConnectionId, cutting::Cutting};
use crate::balance;
use crate::chance::Chance;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::restart::{Cure, Life, Limits, Refusal, Restarts};
use crate::status::What;

/// A unit that could not be restarted is looked at again after this time, if nothing else is known.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Restarts in the place of aborts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// How units are restarted.
    pub cure: Cure,
    /// How often.
    pub limits: Limits,
    /// Time over which a fleet spreads its restarts.
    pub spread: Duration,
    /// How long before this start each unit was restarted last.
    pub past: BTreeMap<String, Duration>,
}

/// A unit at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSeen {
    /// Where in its life it is.
    pub life: Life,
    /// The machine is on its way down.
    pub shutting_down: bool,
}

/// The restarts that are due, and those that were.
#[derive(Debug)]
pub(super) struct Repairs {
    fallback: Option<Fallback>,
    restarts: Restarts,
    chance: Chance,
    units: BTreeMap<String, Repair>,
}

/// A unit that is to be restarted.
#[derive(Debug)]
struct Repair {
    connection: ConnectionId,
    upstream: SocketAddr,
    /// The whole address is bad, not the connection alone.
    by_address: bool,
    reason: Reason,
    evidence: String,
    step: Step,
    /// Why it was not restarted at the last look; told once for as long as it lasts.
    withheld: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Waiting { until: Tick },
    Looking,
    Restarting,
}

impl Repairs {
    pub(super) fn new(fallback: Option<Fallback>, seed: u64) -> Self {
        let mut restarts =
            Restarts::new(fallback.as_ref().map_or_else(Limits::default, |f| f.limits));
        for (unit, ago) in fallback.iter().flat_map(|f| &f.past) {
            restarts.remember(unit, *ago);
        }
        Self {
            fallback,
            restarts,
            chance: Chance::new(seed),
            units: BTreeMap::new(),
        }
    }

    /// When a unit is to be looked at next.
    pub(super) fn next(&self) -> Option<Tick> {
        let waiting = self.units.values().filter_map(|repair| match repair.step {
            Step::Waiting { until } => Some(until),
            Step::Looking | Step::Restarting => None,
        });
        waiting.min()
    }
}

impl Agent {
    /// `unit` has a dead connection that can't be aborted; says when it is restarted, if it is at all.
    pub(super) fn plan_restart(
        &mut self,
        now: Tick,
        unit: &str,
        connection: ConnectionId,
        reason: Reason,
        evidence: &str,
    ) -> Option<Duration> {
        let upstream = self.connections.get(connection)?.upstream;
        let by_address = !self.is_well(upstream);
        let fallback = self.repairs.fallback.as_ref()?;
        if let Some(repair) = self.repairs.units.get(unit) {
            // One restart ends all of its connections.
            return match repair.step {
                Step::Waiting { until } => Some(until.since(now)),
                Step::Looking | Step::Restarting => Some(Duration::ZERO),
            };
        }
        let most = u64::try_from(fallback.spread.as_millis()).unwrap_or(u64::MAX);
        let delay = Duration::from_millis(self.repairs.chance.below(most.saturating_add(1)));
        let repair = Repair {
            connection,
            upstream,
            by_address,
            reason,
            evidence: evidence.to_owned(),
            step: Step::Waiting { until: now + delay },
            withheld: None,
        };
        self.repairs.units.insert(unit.to_owned(), repair);
        Some(delay)
    }

    /// Looks at the units whose time has come, and drops what needs no cure any more.
    pub(super) fn repair(&mut self, now: Tick) {
        let units: Vec<String> = self.repairs.units.keys().cloned().collect();
        for unit in units {
            self.drop_if_cured(&unit);
        }
        for (unit, repair) in &mut self.repairs.units {
            if let Step::Waiting { until } = repair.step
                && until <= now
            {
                repair.step = Step::Looking;
                let unit = unit.clone();
                self.actions.push_back(Action::LookAtUnit { unit });
            }
        }
    }

    /// Bytes came on a connection that was given up: it lives.
    pub(super) fn answered(&mut self, connection: ConnectionId) {
        let waits =
            |repair: &Repair| repair.connection == connection && repair.step != Step::Restarting;
        let found = self.repairs.units.iter().find(|(_, repair)| waits(repair));
        if let Some((unit, upstream)) = found.map(|(unit, repair)| (unit.clone(), repair.upstream))
        {
            self.give_up_repair(&unit, upstream);
        }
    }

    fn drop_if_cured(&mut self, unit: &str) {
        let Some(repair) = self.repairs.units.get(unit) else {
            return;
        };
        if repair.step == Step::Restarting {
            return;
        }
        if repair.by_address && self.is_well(repair.upstream) {
            let upstream = repair.upstream;
            return self.give_up_repair(unit, upstream);
        }
        if self.connections.get(repair.connection).is_some() {
            return;
        }
        // It has ended by itself; another one may be as dead.
        let mut others = self.connections.iter();
        let dead = others.find(|(_, c)| c.ending && c.is_left_to(unit));
        match dead.map(|(id, c)| (id, c.upstream)) {
            None => drop(self.repairs.units.remove(unit)),
            Some((id, upstream)) => {
                let by_address = !self.is_well(upstream);
                if let Some(repair) = self.repairs.units.get_mut(unit) {
                    repair.connection = id;
                    repair.upstream = upstream;
                    repair.by_address = by_address;
                }
            }
        }
    }

    fn is_well(&self, address: SocketAddr) -> bool {
        let usable = |u: &super::Upstream| balance::is_usable(u.health.verdict());
        self.upstreams.get(&address).is_some_and(usable)
    }

    /// The connections to that address are judged anew.
    fn give_up_repair(&mut self, unit: &str, upstream: SocketAddr) {
        self.repairs.units.remove(unit);
        let there = |c: &&mut super::Connection| c.upstream == upstream && c.is_left_to(unit);
        for one in self.connections.values_mut().filter(there) {
            one.ending = false;
        }
        if !self.is_well(upstream)
            && let Some(upstream) = self.upstreams.get_mut(&upstream)
        {
            upstream.cutting = Cutting::Withheld(None);
        }
    }

    /// The unit was looked at.
    pub(super) fn unit_seen(&mut self, now: Tick, unit: &str, seen: Result<UnitSeen, String>) {
        let looks = |repair: &Repair| repair.step == Step::Looking;
        if !self.repairs.units.get(unit).is_some_and(looks) {
            return;
        }
        let not_now = |reason: Reason, words: String| Refusal {
            reason,
            words,
            again: None,
        };
        let may = match seen {
            Err(why) => Err(not_now(Reason::Blind, why)),
            Ok(seen) if seen.shutting_down => {
                let words = "the machine shuts down".to_owned();
                Err(not_now(Reason::ShuttingDown, words))
            }
            Ok(seen) => self.repairs.restarts.may(now, unit, seen.life),
        };
        if let Err(refusal) = may {
            return self.refuse(now, unit, &refusal);
        }
        let Some(cure) = self.repairs.fallback.as_ref().map(|f| f.cure) else {
            return;
        };
        if let Some(repair) = self.repairs.units.get_mut(unit) {
            repair.step = Step::Restarting;
        }
        let forget = self.repairs.restarts.begin(now, unit);
        self.actions.push_back(Action::RestartUnit {
            unit: unit.to_owned(),
            cure,
            forget,
            past: self.repairs.restarts.past(now),
        });
    }

    fn refuse(&mut self, now: Tick, unit: &str, refusal: &Refusal) {
        let Some(repair) = self.repairs.units.get_mut(unit) else {
            return;
        };
        let until = refusal
            .again
            .unwrap_or(now + LOOK_AGAIN)
            .max(now + LOOK_AGAIN);
        repair.step = Step::Waiting { until };
        if repair.withheld.replace(refusal.reason) == Some(refusal.reason) {
            return;
        }
        let mut entry = Entry::new(What::Withheld, refusal.reason)
            .on(repair.upstream)
            .because(format!("{}; {}", repair.evidence, refusal.words))
            .then("looked at again; its client finds out by itself meanwhile");
        entry.connection = Some(repair.connection);
        self.write(now, entry);
    }

    /// The restart is over.
    pub(super) fn unit_restarted(&mut self, now: Tick, unit: &str, result: Result<(), String>) {
        let Some(repair) = self.repairs.units.remove(unit) else {
            return;
        };
        let entry = match result {
            Ok(()) => Entry::new(What::UnitRestarted, repair.reason)
                .because(format!("{unit}: {}", repair.evidence))
                .then(format!(
                    "{unit} runs anew and connects by the endpoint's name"
                )),
            Err(why) => Entry::new(What::Withheld, Reason::UnitFailed)
                .because(format!("{unit}: {}; {why}", repair.evidence))
                .then("not tried again before the hold-down is over"),
        };
        let mut entry = entry.on(repair.upstream);
        entry.connection = Some(repair.connection);
        self.write(now, entry);
    }
}
