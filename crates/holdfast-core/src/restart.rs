//! Whether a unit may be restarted now: where it is in its life, its hold-down, and its limit.
//!
//! A restart is the second best cure (the first is to abort the dead connections alone), so it is
//! rationed: one per hold-down and unit, and so many per window. A unit that does not run is left as it
//! is, whoever stopped it (S8).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::machine::Tick;
use crate::reason::Reason;

#[cfg(test)]
mod tests;

/// Where in its life a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Running,
    /// It is being started, or waits for its next start.
    Starting,
    /// It is being stopped.
    Stopping,
    /// It was stopped, or ended by itself in order, or was never started.
    Stopped,
    /// It ended with a failure, and systemd has given up on it.
    Failed,
    /// Its start limit was reached, and systemd has given up on it.
    StartLimitHit,
    /// There is no such unit, or it is masked.
    Absent,
}

impl Life {
    /// Whether its main process is at work.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Running)
    }

    /// Why a unit at this point is left alone, and that in words; `None` when it runs.
    pub const fn leave_alone(self) -> Option<(Reason, &'static str)> {
        match self {
            Self::Running => None,
            Self::Starting => Some((Reason::UnitStarting, "is being started")),
            Self::Stopping => Some((Reason::UnitStopped, "is being stopped")),
            Self::Stopped => Some((Reason::UnitStopped, "does not run: somebody stopped it")),
            Self::Failed => Some((Reason::UnitFailed, "has failed and is left to its owner")),
            Self::StartLimitHit => Some((
                Reason::UnitFailed,
                "has reached its start limit and is left to its owner",
            )),
            Self::Absent => Some((Reason::UnitAbsent, "is not a unit of this machine")),
        }
    }
}

/// How a unit is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cure {
    /// systemd is told to restart it (`TryRestartUnit`).
    Systemctl,
    /// systemd is told that it hangs (`WATCHDOG=trigger`, `sd_notify(3)`), so that its `Restart=`
    /// setting applies.
    Watchdog,
}

impl Cure {
    /// The word for it, as in `KUBELET_RESTART_STRATEGY`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Systemctl => "systemctl",
            Self::Watchdog => "watchdog",
        }
    }
}

/// How often units may be restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Shortest time between two restarts of one unit.
    pub hold_down: Duration,
    /// Restarts of one unit per `window`.
    pub most: u32,
    /// See `most`.
    pub window: Duration,
}

impl Default for Limits {
    /// A restart that did not help in ten minutes will not help at once a second time; three in an hour
    /// are a fault that needs a person.
    fn default() -> Self {
        Self {
            hold_down: Duration::from_mins(10),
            most: 3,
            window: Duration::from_hours(1),
        }
    }
}

/// Not now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// The same in words, about the unit: "… was restarted 12 s ago".
    pub words: String,
    /// When to ask again, if time alone changes anything.
    pub again: Option<Tick>,
}

/// What is known about the restarts of each unit.
#[derive(Clone, Debug)]
pub struct Restarts {
    limits: Limits,
    units: BTreeMap<String, Record>,
}

#[derive(Clone, Debug, Default)]
struct Record {
    /// The latest restarts, no more than the limit counts, oldest first.
    times: VecDeque<Tick>,
    /// How long before this process started the last one was, where an earlier process did it.
    before: Duration,
    /// When its failures were forgotten last.
    forgotten: Option<Tick>,
}

impl Record {
    fn ago(&self, now: Tick) -> Option<Duration> {
        let at = *self.times.back()?;
        Some(now.since(at) + self.before)
    }
}

impl Restarts {
    /// Nothing has been restarted yet.
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            units: BTreeMap::new(),
        }
    }

    /// An earlier process restarted `unit` so long before this one started.
    pub fn remember(&mut self, unit: &str, ago: Duration) {
        let record = self.units.entry(unit.to_owned()).or_default();
        record.times.push_back(Tick::ZERO);
        record.before = ago;
    }

    /// Whether `unit` may be restarted now.
    pub fn may(&mut self, now: Tick, unit: &str, life: Life) -> Result<(), Refusal> {
        if let Some((reason, words)) = life.leave_alone() {
            return Err(Refusal {
                reason,
                words: format!("{unit} {words}"),
                again: None,
            });
        }
        let limits = self.limits;
        let record = self.units.entry(unit.to_owned()).or_default();
        if let Some(ago) = record.ago(now)
            && ago < limits.hold_down
        {
            return Err(Refusal {
                reason: Reason::HoldDown,
                words: format!(
                    "{unit} was restarted {} s ago, and is not restarted twice in {} s",
                    ago.as_secs(),
                    limits.hold_down.as_secs()
                ),
                again: Some(now + limits.hold_down.saturating_sub(ago)),
            });
        }
        let counted = limits.most as usize;
        let oldest = record.times.len().checked_sub(counted);
        let over = match oldest {
            Some(place) => record.times.get(place).map(|at| *at + limits.window),
            None => Some(Tick::ZERO),
        };
        match over {
            Some(free) if free <= now => Ok(()),
            again => Err(Refusal {
                reason: Reason::RateLimited,
                words: format!(
                    "{unit} is not restarted more than {} times in {} s",
                    limits.most,
                    limits.window.as_secs()
                ),
                again,
            }),
        }
    }

    /// `unit` is being restarted: the hold-down begins, whatever comes of it. Says whether its earlier
    /// failures may be forgotten first, so that systemd's start limit does not leave it stopped; once per
    /// window, since else a unit that fails again and again would never meet that limit.
    pub fn begin(&mut self, now: Tick, unit: &str) -> bool {
        let most = self.limits.most as usize;
        let window = self.limits.window;
        let record = self.units.entry(unit.to_owned()).or_default();
        record.times.push_back(now);
        while record.times.len() > most.max(1) {
            record.times.pop_front();
        }
        record.before = Duration::ZERO;
        let forget = record.forgotten.is_none_or(|at| now.since(at) >= window);
        if forget {
            record.forgotten = Some(now);
        }
        forget
    }

    /// How long ago each unit was restarted last.
    pub fn past(&self, now: Tick) -> BTreeMap<String, Duration> {
        let units = self.units.iter();
        units
            .filter_map(|(unit, record)| Some((unit.clone(), record.ago(now)?)))
            .collect()
    }
}

/// Time within which all nodes may spread one action, so that each has its effect before the grace
/// period of the node controller is over (`--node-monitor-grace-period`, 50 s, 40 s before Kubernetes
/// 1.32): what is left of it after the longest pause between two heartbeats, the start of a kubelet, and
/// one interval of the watcher.
pub fn spread(
    grace: Duration,
    heartbeat: Duration,
    start: Duration,
    interval: Duration,
) -> Duration {
    grace
        .saturating_sub(heartbeat)
        .saturating_sub(start)
        .saturating_sub(interval)
}
