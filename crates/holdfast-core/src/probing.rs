//! When to ask one upstream, and what an answer that does not come is evidence of.
//!
//! In the steady state one request goes out per interval on a connection that is kept open: it
//! costs an API server a tenth of a fresh handshake and is not fooled by one lost SYN. When it is
//! not answered in time, fresh connections are tried beside it.

use std::time::Duration;

use crate::chance::Chance;
use crate::health::{Evidence, Patience};
use crate::machine::Tick;
use crate::status::ProbeStatus;

#[cfg(test)]
mod tests;

/// Names one attempt.
pub type ProbeId = u64;

/// How far an attempt came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// `/readyz` was answered with this HTTP status. The connection is kept.
    Answered {
        /// The HTTP status.
        status: u16,
    },
    /// A connection that had been kept ended; says nothing but that a new one is needed.
    Broken,
    /// TCP is connected.
    Connected,
    /// The certificate is not the cluster's, or not for the expected name.
    Foreign {
        /// What is wrong with it, in words.
        why: String,
    },
    /// The connection was refused.
    Refused,
    /// Reset or closed before TLS was answered.
    Reset,
    /// TLS is complete and the certificate verified.
    Secured,
    /// The shell gave up; what was late has been noticed long before.
    TimedOut,
    /// The network says that there is no way.
    Unreachable,
}

/// What the shell is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Drop that attempt and its connection.
    Abort {
        /// The attempt.
        id: ProbeId,
    },
    /// Ask.
    Start {
        /// Names the attempt.
        id: ProbeId,
        /// On the kept connection, if it is still there.
        reuse: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Dialing,
    Connected,
    Secured,
    /// A request on the kept connection.
    Requested,
}

#[derive(Clone, Debug)]
struct Attempt {
    id: ProbeId,
    started: Tick,
    stage: Stage,
    stage_since: Tick,
    overdue: bool,
    witnessed: bool,
}

/// A handshake that is one of a sample.
#[derive(Clone, Debug)]
struct Sampling {
    id: ProbeId,
    connected_at: Option<Tick>,
}

#[derive(Clone, Debug)]
struct Finished {
    result: String,
    at: Tick,
    took: Duration,
}

/// Attempts that may be under way at once; beyond it the oldest that is overdue is dropped.
const MOST_ATTEMPTS: usize = 4;

/// Handshakes of one sample. With one of three targets hung, one of six meets it in nine samples out
/// of ten, whichever way the balancer spreads.
const SAMPLES: u32 = 6;

/// A handshake that is not answered in this time has met a target that hangs: a busy API server takes
/// long, but its accept queue would have to be seconds behind.
pub(crate) const SAMPLE_PATIENCE: Duration = Duration::from_secs(3);

/// While something is suspected, an upstream is asked as if the interval were no longer than this.
const URGENT: Duration = Duration::from_millis(500);

/// Intervals between two attempts while one waits for a late answer.
const SLOW_PAUSE: u32 = 8;

/// Share by which an interval is lengthened at random, in percent, so that agents and upstreams do
/// not fall into step.
pub(crate) const JITTER_PERCENT: u32 = 10;

/// The probes of one upstream.
#[derive(Clone, Debug)]
pub struct Probing {
    interval: Duration,
    patience: Patience,
    kept: bool,
    attempts: Vec<Attempt>,
    next: Tick,
    last_start: Option<Tick>,
    finished: Option<Finished>,
    chance: Chance,
    samples_wanted: u32,
    next_sample: Tick,
    sampling: Vec<Sampling>,
    sampled: Vec<bool>,
}

impl Probing {
    /// Probes that begin at once and go on every `interval`.
    pub fn new(now: Tick, interval: Duration, patience: Duration, seed: u64) -> Self {
        Self {
            interval,
            patience: Patience::new(patience),
            kept: false,
            attempts: Vec::new(),
            next: now,
            last_start: None,
            finished: None,
            chance: Chance::new(seed),
            samples_wanted: 0,
            next_sample: now,
            sampling: Vec::new(),
            sampled: Vec::new(),
        }
    }

    /// Goes on every `interval` from now on, with another floor of patience.
    pub fn repace(&mut self, interval: Duration, patience: Duration) {
        self.patience = self.patience.with_floor(patience);
        self.pace(interval);
    }

    /// Sets the interval; an attempt that is due is not put off.
    pub fn pace(&mut self, interval: Duration) {
        self.interval = interval;
        self.next = self
            .last_start
            .map_or(self.next, |start| self.next.min(start + interval));
    }

    /// How long an answer may take before that is remarkable.
    pub fn patience(&self) -> Duration {
        self.patience.limit()
    }

    /// Whether this attempt is one of those under way.
    pub fn has(&self, id: ProbeId) -> bool {
        self.attempts.iter().any(|a| a.id == id)
    }

    /// Attempts that have become overdue, as evidence.
    pub fn overdue(&mut self, now: Tick) -> Vec<Evidence> {
        let limit = self.patience.limit();
        let kept = &mut self.kept;
        self.attempts
            .iter_mut()
            .filter(|a| !a.overdue && now >= a.stage_since + limit)
            .map(|a| {
                a.overdue = true;
                *kept &= a.stage != Stage::Requested;
                let (started, witnessed) = (a.started, a.witnessed);
                match a.stage {
                    Stage::Dialing => Evidence::NoConnection { started, witnessed },
                    Stage::Connected => Evidence::NoHandshake { started, witnessed },
                    Stage::Secured => Evidence::Late,
                    Stage::Requested => Evidence::NoAnswer { started },
                }
            })
            .collect()
    }

    /// Starts an attempt if one is due. `suspected`: something is unanswered, so fresh connections
    /// are tried twice per interval. `witnessed`: another upstream has answered since then, so this
    /// node's own network works.
    pub fn start_due(
        &mut self,
        now: Tick,
        suspected: bool,
        witnessed: bool,
        id: ProbeId,
    ) -> Vec<Order> {
        let waiting = self.attempts.iter().any(|a| !a.overdue);
        if now < self.next_due(suspected) || (waiting && !suspected) {
            return Vec::new();
        }
        let mut orders = Vec::new();
        if self.attempts.len() >= MOST_ATTEMPTS {
            // One that is not overdue may still be answered; giving it up would hide a silence.
            let Some(oldest) = self.attempts.iter().position(|a| a.overdue) else {
                self.next = now + self.urgent() / 2;
                return orders;
            };
            let dropped = self.attempts.remove(oldest);
            orders.push(Order::Abort { id: dropped.id });
        }
        let reuse = self.kept && !suspected;
        let stage = if reuse {
            Stage::Requested
        } else {
            Stage::Dialing
        };
        self.attempts.push(Attempt {
            id,
            started: now,
            stage,
            stage_since: now,
            overdue: false,
            witnessed,
        });
        self.last_start = Some(now);
        let pause = if suspected {
            self.urgent() / 2
        } else {
            self.chance.stretch(self.interval, JITTER_PERCENT)
        };
        self.next = now + pause;
        orders.push(Order::Start { id, reuse });
        orders
    }

    /// Wants fresh handshakes, each on a connection of its own, to learn whether all targets behind
    /// this address answer. They count in [`take_samples`](Self::take_samples) alone: one silent
    /// target is no verdict on the address.
    pub fn sample(&mut self, now: Tick) {
        self.samples_wanted = SAMPLES;
        self.next_sample = now;
    }

    /// Starts a sample if one is due.
    pub fn start_sample(&mut self, now: Tick, id: ProbeId) -> Vec<Order> {
        if self.samples_wanted == 0 || now < self.next_sample {
            return Vec::new();
        }
        self.samples_wanted -= 1;
        self.next_sample = now + self.urgent() / 4;
        self.sampling.push(Sampling {
            id,
            connected_at: None,
        });
        vec![Order::Start { id, reuse: false }]
    }

    /// The samples that ended since the last call: whether the target answered. One that did not
    /// even connect, or that ended in any other way, says nothing.
    pub fn take_samples(&mut self, now: Tick) -> (Vec<bool>, Vec<Order>) {
        let limit = self.patience.limit().max(SAMPLE_PATIENCE);
        let mut orders = Vec::new();
        let answered = &mut self.sampled;
        self.sampling.retain(|sample| {
            let overdue = sample.connected_at.is_some_and(|at| now >= at + limit);
            if overdue {
                answered.push(false);
                orders.push(Order::Abort { id: sample.id });
            }
            !overdue
        });
        (std::mem::take(&mut self.sampled), orders)
    }

    fn sample_progress(
        &mut self,
        now: Tick,
        id: ProbeId,
        progress: &Progress,
    ) -> (Option<Evidence>, Vec<Order>) {
        if *progress == Progress::Connected {
            for sample in self.sampling.iter_mut().filter(|s| s.id == id) {
                sample.connected_at = Some(now);
            }
            return (None, Vec::new());
        }
        self.sampling.retain(|s| s.id != id);
        if *progress == Progress::Secured {
            self.sampled.push(true);
            return (Some(Evidence::Secured), vec![Order::Abort { id }]);
        }
        (None, Vec::new())
    }

    /// The interval while something is suspected.
    fn urgent(&self) -> Duration {
        self.interval.min(URGENT)
    }

    /// Asks as soon as possible, but not more than four times per urgent interval.
    pub fn hurry(&mut self, now: Tick) {
        let earliest = self.last_start.map_or(now, |s| s + self.urgent() / 4);
        self.next = self.next.min(earliest.max(now));
    }

    /// Takes in how far an attempt came: what it is evidence of, and which attempts are now
    /// pointless.
    pub fn progress(
        &mut self,
        now: Tick,
        id: ProbeId,
        progress: &Progress,
    ) -> (Option<Evidence>, Vec<Order>) {
        if self.sampling.iter().any(|s| s.id == id) {
            return self.sample_progress(now, id, progress);
        }
        let limit = self.patience.limit();
        let Some(attempt) = self.attempts.iter_mut().find(|a| a.id == id) else {
            return (None, Vec::new());
        };
        let in_stage = now.since(attempt.stage_since);
        let started = attempt.started;
        let witnessed = attempt.witnessed;
        let stage = attempt.stage;
        match progress {
            Progress::Connected => {
                self.patience.learn(in_stage);
                attempt.enter(Stage::Connected, now);
                (None, Vec::new())
            }
            Progress::Secured => {
                self.patience.learn(in_stage);
                attempt.enter(Stage::Secured, now);
                // A fresh handshake worked while a request on the kept connection did not: behind a
                // balancer that connection's target may be gone. The fresh one takes its place.
                // One that is past TLS itself may still be answered, late.
                let orders = self.abort_where(|a| a.overdue && a.stage != Stage::Secured);
                (Some(Evidence::Secured), orders)
            }
            Progress::Answered { status } => {
                self.patience.learn(in_stage);
                let late = in_stage >= limit;
                self.finish(now, id, started, format!("HTTP {status}"));
                self.kept = true;
                let orders = self.abort_where(|_| true);
                let status = *status;
                (Some(Evidence::Answered { status, late }), orders)
            }
            Progress::Broken => {
                self.finish(now, id, started, "connection ended".to_owned());
                self.kept = false;
                if stage == Stage::Requested {
                    self.next = now;
                }
                (None, Vec::new())
            }
            Progress::Foreign { why } => {
                self.finish(now, id, started, format!("certificate: {why}"));
                (Some(Evidence::Foreign), Vec::new())
            }
            Progress::Refused => {
                self.finish(now, id, started, "refused".to_owned());
                (Some(Evidence::Refused), Vec::new())
            }
            Progress::Reset => {
                self.finish(now, id, started, "reset before TLS".to_owned());
                (Some(Evidence::Reset), Vec::new())
            }
            Progress::Unreachable => {
                self.finish(now, id, started, "unreachable".to_owned());
                (
                    Some(Evidence::Unreachable { started, witnessed }),
                    Vec::new(),
                )
            }
            Progress::TimedOut => {
                self.finish(now, id, started, "no answer".to_owned());
                (None, Vec::new())
            }
        }
    }

    /// Moves the clocks of all attempts: the process itself was held up for `late`, so nothing that
    /// it did not notice in that time is evidence.
    pub fn forgive(&mut self, late: Duration) {
        for attempt in &mut self.attempts {
            attempt.started = attempt.started + late;
            attempt.stage_since = attempt.stage_since + late;
        }
        for sample in &mut self.sampling {
            sample.connected_at = sample.connected_at.map(|at| at + late);
        }
    }

    /// When [`overdue`](Self::overdue) or [`start_due`](Self::start_due) has something to do next.
    pub fn next_wake(&self, suspected: bool) -> Option<Tick> {
        let limit = self.patience.limit();
        let sample_limit = limit.max(SAMPLE_PATIENCE);
        let waiting = self.attempts.iter().any(|a| !a.overdue);
        self.attempts
            .iter()
            .filter(|a| !a.overdue)
            .map(|a| a.stage_since + limit)
            .chain((suspected || !waiting).then_some(self.next_due(suspected)))
            .chain((self.samples_wanted > 0).then_some(self.next_sample))
            .chain(
                self.sampling
                    .iter()
                    .filter_map(|s| Some(s.connected_at? + sample_limit)),
            )
            .min()
    }

    /// While an answer is awaited that is late, and nothing else is wrong, a fresh handshake twice a
    /// second would only add to what makes it late.
    fn next_due(&self, suspected: bool) -> Tick {
        let slow = self.attempts.iter().any(|a| a.stage == Stage::Secured);
        match self.last_start {
            Some(start) if slow && !suspected => self.next.max(start + self.urgent() * SLOW_PAUSE),
            _ => self.next,
        }
    }

    /// When the next attempt starts.
    pub const fn next_start(&self) -> Tick {
        self.next
    }

    /// The latest finished attempt, for `status`.
    pub fn status(&self, now: Tick) -> Option<ProbeStatus> {
        self.finished.as_ref().map(|f| ProbeStatus {
            result: f.result.clone(),
            age_s: now.since(f.at).as_secs_f64(),
            took_s: f.took.as_secs_f64(),
        })
    }

    /// Ends all attempts, for an upstream that is forgotten.
    pub fn abort_all(&mut self) -> Vec<Order> {
        self.kept = false;
        self.samples_wanted = 0;
        self.sampled.clear();
        let samples = self.sampling.drain(..).map(|s| Order::Abort { id: s.id });
        let mut orders: Vec<_> = samples.collect();
        orders.extend(self.abort_where(|_| true));
        orders
    }

    fn abort_where(&mut self, unwanted: impl Fn(&Attempt) -> bool) -> Vec<Order> {
        let mut orders = Vec::new();
        self.attempts.retain(|attempt| {
            let drop = unwanted(attempt);
            if drop {
                orders.push(Order::Abort { id: attempt.id });
            }
            !drop
        });
        orders
    }

    fn finish(&mut self, now: Tick, id: ProbeId, started: Tick, result: String) {
        self.attempts.retain(|a| a.id != id);
        self.finished = Some(Finished {
            result,
            at: now,
            took: now.since(started),
        });
    }
}

impl Attempt {
    const fn enter(&mut self, stage: Stage, now: Tick) {
        self.stage = stage;
        self.stage_since = now;
        self.overdue = false;
    }
}
