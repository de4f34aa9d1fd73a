//! The node check's decisions: what to do when the API server says that this node is not ready.
//!
//! It acts after the damage, so it is the last net below proxy, guard and watcher. A node that is not
//! ready for several checks in a row has its units' connections severed first, which disturbs nobody.
//! Only when that does not help within a few heartbeats the units are restarted: within the unit's own
//! limits, after a delay of this node's own, and while the fleet's budget has a place. Whatever can't be
//! known for sure (the API does not answer, refuses the credential, has no such node; a clock is wrong)
//! is no reason to restart anything.
//!
//! ```text
//! watching ─▶ not ready, N times ─▶ look ─▶ sever ─▶ settle ─▶ delay ─▶ claim a place ─▶ look ─▶ restart
//!     ▲                                                                                            │
//!     └──────────────────────────────────────── ready ◀────────────────────────────────────────────┘
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::chance::Chance;
use crate::journal::{Entry, Journal};
use crate::machine::{Machine, Tick};
use crate::pace::TokenBucket;
use crate::reason::Reason;
use crate::restart::Restarts;
use crate::status::{ActionStatus, What};

pub mod budget;
mod protocol;
#[cfg(test)]
mod tests;

pub use protocol::{
    Action, CheckStatus, CheckedUnit, Input, Look, Place, Purpose, Ready, Reply, Settings, State,
};

/// A node that flaps has its connections severed so often, and once more each `SEVER_EVERY`.
const SEVERS: u32 = 3;

/// See [`SEVERS`].
const SEVER_EVERY: Duration = Duration::from_mins(5);

/// The node check.
#[derive(Clone, Debug)]
pub struct NodeCheck {
    settings: Settings,
    step: Step,
    asking: bool,
    next_ask: Tick,
    /// Answers in a row that say that the node is not ready.
    failures: u32,
    /// Its connections were severed and nothing was restarted since.
    severed: bool,
    severs: TokenBucket,
    restarts: Restarts,
    /// This node holds a place in the fleet's budget.
    placed: bool,
    last: Option<(Tick, Reply)>,
    look: Option<Look>,
    /// Why nothing is done; told once for as long as it lasts.
    withheld: Option<Reason>,
    journal: Journal,
    chance: Chance,
    actions: VecDeque<Action>,
}

/// How far a cure has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing is being done.
    Watching,
    /// The machine is looked at before anything is done.
    Looking,
    /// Connections are being severed.
    Severing { left: usize, count: u32 },
    /// Severed: the kubelet gets time to report.
    Settling { until: Tick },
    /// It did not help: this node waits for its moment.
    Waiting { until: Tick },
    /// A place in the budget is being claimed.
    Claiming,
    /// The machine is looked at once more.
    Confirming,
    /// Units are being restarted.
    Restarting { left: usize },
}

impl NodeCheck {
    /// A check that has asked nothing yet. `restarted` is how long before its start an earlier process
    /// restarted each unit.
    pub fn new(settings: Settings, restarted: &BTreeMap<String, Duration>) -> Self {
        let mut restarts = Restarts::new(settings.limits);
        for (unit, ago) in restarted {
            restarts.remember(unit, *ago);
        }
        let mut chance = Chance::new(settings.seed);
        // Nodes that boot together do not ask together.
        let first = chance.below(u64::try_from(settings.interval.as_millis()).unwrap_or(u64::MAX));
        Self {
            step: Step::Watching,
            asking: false,
            next_ask: Tick::ZERO + Duration::from_millis(first),
            failures: 0,
            severed: false,
            severs: TokenBucket::full(SEVERS, SEVER_EVERY),
            restarts,
            placed: false,
            last: None,
            look: None,
            withheld: None,
            journal: Journal::default(),
            chance,
            actions: VecDeque::new(),
            settings,
        }
    }

    /// What readers see.
    pub fn status(&self, now: Tick) -> CheckStatus {
        let past = self.restarts.past(now);
        let units = self.settings.units.iter().map(|name| CheckedUnit {
            unit: name.clone(),
            state: self
                .look
                .as_ref()
                .and_then(|look| look.units.get(name))
                .map(|place| place.state.clone())
                .unwrap_or_default(),
            restarted_s: past.get(name).map(Duration::as_secs_f64),
        });
        CheckStatus {
            node: self.settings.node.clone(),
            state: self.state(),
            answer: self.last.as_ref().map(|(_, reply)| reply.words()),
            age_s: self
                .last
                .as_ref()
                .map(|(at, _)| now.since(*at).as_secs_f64()),
            failures: self.failures,
            withheld: self.withheld,
            units: units.collect(),
            actions: self.journal.entries(),
        }
    }

    /// How long ago each unit was restarted last, for the next process.
    pub fn restarted_before(&self, now: Tick) -> BTreeMap<String, Duration> {
        self.restarts.past(now)
    }

    const fn state(&self) -> State {
        match self.step {
            Step::Watching if self.failures == 0 => match &self.last {
                Some((
                    _,
                    Reply::Node {
                        ready: Ready::True, ..
                    },
                )) => State::Ready,
                _ => State::Unknown,
            },
            Step::Watching | Step::Looking => State::NotReady,
            Step::Severing { .. } | Step::Settling { .. } => State::Severed,
            Step::Waiting { .. } | Step::Claiming | Step::Confirming => State::Waiting,
            Step::Restarting { .. } => State::Restarting,
        }
    }

    fn asked(&mut self, now: Tick, reply: Reply) {
        self.asking = false;
        let pause = self.chance.stretch(self.settings.interval, 10);
        self.next_ask = now + pause;
        let verdict = reply.verdict(self.settings.clock_tolerance);
        let words = reply.words();
        self.last = Some((now, reply));
        match verdict {
            Err(reason) => {
                // What is not known is counted for neither side, and stops what was not begun.
                self.failures = 0;
                self.give_up();
                self.withhold(now, reason, &words, "asked again; nothing is restarted");
            }
            Ok(true) => self.ready(now, &words),
            Ok(false) => {
                self.failures = self.failures.saturating_add(1);
                if self.failures >= self.settings.failures {
                    self.go_on(now);
                }
            }
        }
    }

    fn ready(&mut self, now: Tick, words: &str) {
        if self.failures >= self.settings.failures {
            let entry = Entry::new(What::NodeChanged, Reason::NodeReady)
                .because(words.to_owned())
                .then("watched");
            self.report(now, entry);
        }
        self.failures = 0;
        self.severed = false;
        self.withheld = None;
        if !matches!(self.step, Step::Restarting { .. }) {
            self.give_up();
        }
    }

    /// Ends what was not done yet, and gives the place back.
    fn give_up(&mut self) {
        match self.step {
            // These come to their end first.
            Step::Restarting { .. } | Step::Severing { .. } => return,
            Step::Watching
            | Step::Looking
            | Step::Settling { .. }
            | Step::Waiting { .. }
            | Step::Claiming
            | Step::Confirming => {}
        }
        self.step = Step::Watching;
        if self.placed {
            self.placed = false;
            self.actions.push_back(Action::Release);
        }
    }

    /// The node is still not ready: the next step, if its time has come.
    fn go_on(&mut self, now: Tick) {
        match self.step {
            Step::Watching => {
                if self.failures == self.settings.failures {
                    let words = self.last.as_ref().map(|(_, reply)| reply.words());
                    let entry = Entry::new(What::NodeChanged, Reason::NodeNotReady)
                        .because(format!(
                            "{}, {} times in a row",
                            words.unwrap_or_default(),
                            self.failures
                        ))
                        .then("the machine is looked at");
                    self.report(now, entry);
                }
                self.look(Step::Looking);
            }
            Step::Settling { until } if until <= now => self.plan_restart(now),
            Step::Waiting { until } if until <= now => {
                self.step = Step::Claiming;
                self.actions.push_back(Action::Claim);
            }
            Step::Looking
            | Step::Severing { .. }
            | Step::Settling { .. }
            | Step::Waiting { .. }
            | Step::Claiming
            | Step::Confirming
            | Step::Restarting { .. } => {}
        }
    }

    fn look(&mut self, step: Step) {
        self.step = step;
        self.actions.push_back(Action::Look {
            purpose: if step == Step::Confirming {
                Purpose::Restart
            } else {
                Purpose::Sever
            },
        });
    }

    fn looked(&mut self, now: Tick, look: Result<Look, String>) {
        let (looking, confirming) = (self.step == Step::Looking, self.step == Step::Confirming);
        if !looking && !confirming {
            return;
        }
        let look = match look {
            Ok(look) => look,
            Err(why) => return self.stop(now, Reason::Blind, &why),
        };
        self.look = Some(look.clone());
        if look.shutting_down {
            return self.stop(now, Reason::ShuttingDown, "the machine shuts down");
        }
        let kubelet = self.settings.units.first().cloned().unwrap_or_default();
        let life = look.units.get(&kubelet).map(|place| place.life);
        let leave = life.unwrap_or(crate::restart::Life::Absent).leave_alone();
        if let Some((reason, words)) = leave {
            return self.stop(now, reason, &format!("{kubelet} {words}"));
        }
        if confirming {
            return self.restart(now, &look);
        }
        if self.severed || !self.settings.sever || !self.severs.take(now) {
            return self.plan_restart(now);
        }
        self.severed = true;
        let running: Vec<String> = self.running(&look);
        self.step = Step::Severing {
            left: running.len(),
            count: 0,
        };
        for unit in running {
            self.actions.push_back(Action::Sever { unit });
        }
    }

    fn running(&self, look: &Look) -> Vec<String> {
        let units = self.settings.units.iter();
        let runs = |unit: &&String| look.units.get(*unit).is_some_and(|place| place.life.runs());
        units.filter(runs).cloned().collect()
    }

    fn severed(&mut self, now: Tick, unit: &str, result: Result<u32, String>) {
        let Step::Severing { left, count } = self.step else {
            return;
        };
        let cut = match result {
            Ok(cut) => cut,
            Err(why) => {
                let entry = Entry::new(What::Withheld, Reason::NotPermitted)
                    .because(format!("{unit}: {why}"))
                    .then("a restart is considered instead");
                self.report(now, entry);
                0
            }
        };
        let (left, count) = (left.saturating_sub(1), count + cut);
        self.step = Step::Severing { left, count };
        if left > 0 {
            return;
        }
        if self.failures < self.settings.failures {
            // Ready again, or not known any more, while it was done.
            self.step = Step::Watching;
            return;
        }
        if count == 0 {
            return self.plan_restart(now);
        }
        self.withheld = None;
        let settle = self.settings.settle;
        let entry = Entry::new(What::ConnectionsSevered, Reason::NodeNotReady)
            .because(format!(
                "{count} connections of {}",
                self.settings.units.join(", ")
            ))
            .then(format!(
                "a restart is considered when the node is not ready in {} s",
                settle.as_secs()
            ));
        self.report(now, entry);
        self.step = Step::Settling {
            until: now + settle,
        };
    }

    /// Severing was not possible or did not help.
    fn plan_restart(&mut self, now: Tick) {
        if !self.settings.restart {
            let words = "restarts are switched off";
            return self.stop(now, Reason::RestartOff, words);
        }
        for unit in self.settings.units.clone().iter().take(1) {
            if let Err(refusal) = self.restarts.may(now, unit, crate::restart::Life::Running) {
                return self.stop(now, refusal.reason, &refusal.words);
            }
        }
        let most = u64::try_from(self.settings.spread.as_millis()).unwrap_or(u64::MAX);
        let delay = Duration::from_millis(self.chance.below(most.saturating_add(1)));
        self.step = Step::Waiting { until: now + delay };
    }

    fn claimed(&mut self, now: Tick, claim: Result<u32, (Reason, String)>) {
        if self.step != Step::Claiming {
            // Nobody waits for it any more.
            if claim.is_ok() {
                self.actions.push_back(Action::Release);
            }
            return;
        }
        match claim {
            Ok(_) => {
                self.placed = true;
                self.look(Step::Confirming);
            }
            Err((reason, words)) => {
                self.step = Step::Waiting { until: now };
                let next = "asked again; until the fleet agrees, nothing is restarted";
                self.withhold(now, reason, &words, next);
            }
        }
    }

    fn restart(&mut self, now: Tick, look: &Look) {
        let mut chosen = Vec::new();
        for unit in self.running(look) {
            // The place in the budget may have come late, and time has passed.
            match self.restarts.may(now, &unit, crate::restart::Life::Running) {
                Ok(()) => chosen.push(unit),
                Err(refusal) if chosen.is_empty() => {
                    return self.stop(now, refusal.reason, &refusal.words);
                }
                Err(_) => {}
            }
        }
        self.withheld = None;
        self.severed = false;
        self.step = Step::Restarting { left: chosen.len() };
        for unit in chosen {
            let forget = self.restarts.begin(now, &unit);
            self.actions.push_back(Action::Restart { unit, forget });
        }
        self.actions.push_back(Action::Remember);
    }

    fn restarted(&mut self, now: Tick, unit: &str, result: Result<(), String>) {
        let Step::Restarting { left } = self.step else {
            return;
        };
        let words = self.last.as_ref().map(|(_, reply)| reply.words());
        let words = words.unwrap_or_default();
        let entry = match result {
            Ok(()) => Entry::new(What::UnitRestarted, Reason::NodeNotReady)
                .because(format!("{unit}: {words}"))
                .then("not restarted again before the hold-down is over"),
            Err(why) => Entry::new(What::Withheld, Reason::UnitFailed)
                .because(format!("{unit}: {why}"))
                .then("not tried again before the hold-down is over"),
        };
        self.report(now, entry);
        self.step = Step::Restarting {
            left: left.saturating_sub(1),
        };
        if left <= 1 {
            // The place is kept until the node is ready, or else ends by itself: a fleet whose nodes do
            // not come back must not be restarted one by one.
            self.step = Step::Watching;
            if self.failures == 0 {
                self.give_up();
            }
        }
    }

    /// Nothing is done at this point; the next answer leads here again.
    fn stop(&mut self, now: Tick, reason: Reason, words: &str) {
        if self.step == Step::Confirming && self.placed {
            self.placed = false;
            self.actions.push_back(Action::Release);
        }
        self.step = Step::Watching;
        self.withhold(now, reason, words, "looked at again; nothing is restarted");
    }

    /// Says once why nothing is done, for as long as the same holds.
    fn withhold(&mut self, now: Tick, reason: Reason, words: &str, next: &str) {
        if self.withheld == Some(reason) {
            return;
        }
        self.withheld = Some(reason);
        let entry = Entry::new(What::Withheld, reason).because(words).then(next);
        self.report(now, entry);
    }

    fn report(&mut self, now: Tick, entry: Entry) {
        let action: ActionStatus = self.journal.write(now, entry);
        self.actions.push_back(Action::Report(action));
    }
}

impl Machine for NodeCheck {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Tick, input: Input) {
        match input {
            Input::Asked { reply } => self.asked(now, reply),
            Input::Claimed { claim } => self.claimed(now, claim),
            Input::Looked { look } => self.looked(now, look),
            Input::Restarted { unit, result } => self.restarted(now, &unit, result),
            Input::Severed { unit, result } => self.severed(now, &unit, result),
        }
        self.wake(now);
    }

    fn wake(&mut self, now: Tick) {
        if !self.asking && self.next_ask <= now {
            self.asking = true;
            self.actions.push_back(Action::Ask);
        }
    }

    fn next_wake(&self) -> Option<Tick> {
        (!self.asking).then_some(self.next_ask)
    }

    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn check(&self) {
        let acts = !matches!(
            self.step,
            Step::Watching | Step::Severing { .. } | Step::Restarting { .. }
        );
        assert!(
            !acts || self.failures >= self.settings.failures,
            "something is under way although the node is not known to be unready: {self:?}"
        );
    }
}
