//! When one source is asked: after its answer's lifetime, later when it fails, sooner when something
//! does not work.

use std::time::Duration;

use super::Expiry;
use super::rotation::Rotation;
use crate::chance::Chance;
use crate::machine::Tick;
use crate::pace::{Backoff, TokenBucket};
use crate::status::Source;

/// First delay after a failed question, and the longest. A source that is down is asked often, since
/// its next answer may be the way out.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

/// The same for API servers: they are asked by the whole fleet, and refuse all of it at once.
const RETRY_API: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// An early question, prompted by a failed dial, is asked at most this often.
const EARLY_EVERY: Duration = Duration::from_secs(1);

/// Share by which the time to the next question is shortened at random, in percent, so that a fleet
/// that started together does not ask together. Never lengthened: an answer ends with its lifetime.
const JITTER_PERCENT: u32 = 10;

/// The same for the time to the next try: a fleet fails together.
const RETRY_JITTER_PERCENT: u32 = 50;

/// API servers are asked for their own addresses this often until the fleet's size is known.
const PERIOD: Duration = Duration::from_secs(30);

/// Questions per second that all API servers together get from the whole fleet. A list from the watch
/// cache costs about as much as a kubelet's heartbeat, of which a fleet of 1,000 sends 100 per second.
const FLEET_BUDGET: u64 = 100;

/// Bounds of the period that follows from the budget.
const PERIODS: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(1));

/// One source's questions.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    asking: bool,
    next: Tick,
    backoff: Backoff,
    early: TokenBucket,
    /// How often it is asked, if it does not say so itself.
    period: Option<Duration>,
    answered_at: Option<Tick>,
    lifetime: Option<Duration>,
    failure: Option<String>,
    pub(super) rotation: Rotation,
}

impl Lane {
    pub(super) fn new(source: Source) -> Self {
        let period = match source {
            Source::EndpointSlices => Some(PERIOD),
            Source::Cache | Source::DnsA | Source::DnsAaaa | Source::Seed => None,
        };
        let retry = if period.is_some() { RETRY_API } else { RETRY };
        Self {
            asking: false,
            next: Tick::ZERO,
            backoff: Backoff::new(retry.0, retry.1),
            early: TokenBucket::full(1, period.map_or(EARLY_EVERY, |_| PERIODS.0)),
            period,
            answered_at: None,
            lifetime: None,
            failure: None,
            rotation: Rotation::default(),
        }
    }

    /// Whatever was answered before, it is asked at once.
    pub(super) const fn ask_now(&mut self, now: Tick) {
        self.asking = false;
        self.next = now;
    }

    pub(super) fn count_fleet(&mut self, nodes: u64) {
        if let Some(period) = &mut self.period {
            *period = Duration::from_secs(nodes / FLEET_BUDGET).clamp(PERIODS.0, PERIODS.1);
            // The answer before the count was to be kept for longer.
            if let Some(answered_at) = self.answered_at {
                self.next = self.next.min(answered_at + *period);
            }
        }
    }

    /// A usable answer: the lifetime that is believed of it.
    pub(super) fn answered(
        &mut self,
        now: Tick,
        lifetime: Option<Duration>,
        expiry: &Expiry,
        chance: &mut Chance,
    ) -> Duration {
        let said = lifetime.unwrap_or(expiry.shortest);
        let lifetime = self
            .period
            .unwrap_or_else(|| said.clamp(expiry.shortest, expiry.longest));
        self.backoff.reset();
        self.answered_at = Some(now);
        self.lifetime = Some(lifetime);
        self.ask_again(now + chance.shorten(lifetime, JITTER_PERCENT));
        lifetime
    }

    /// An answer without records, which stands for `lifetime` if it says so.
    pub(super) fn empty(
        &mut self,
        now: Tick,
        lifetime: Option<Duration>,
        expiry: &Expiry,
        chance: &mut Chance,
    ) {
        let stands = lifetime
            .unwrap_or(RETRY.1)
            .clamp(expiry.shortest, expiry.longest);
        self.backoff.reset();
        self.ask_again(now + chance.shorten(stands, JITTER_PERCENT));
    }

    /// A failure, which stands for `lifetime` if the source says so.
    pub(super) fn failed(&mut self, now: Tick, lifetime: Option<Duration>, chance: &mut Chance) {
        let delay = chance.shorten(self.backoff.fail(), RETRY_JITTER_PERCENT);
        self.ask_again(now + lifetime.map_or(delay, |l| l.max(delay)));
    }

    fn ask_again(&mut self, next: Tick) {
        self.asking = false;
        self.next = next;
    }

    /// Keeps the failure for `status`; whether the source began to fail or came back.
    pub(super) fn set_failure(&mut self, failure: Option<&str>) -> bool {
        let changed = self.failure.is_some() != failure.is_some();
        self.failure = failure.map(ToOwned::to_owned);
        changed
    }

    /// Whether it is due; it counts as being asked then.
    pub(super) fn ask(&mut self, now: Tick) -> bool {
        let due = !self.asking && self.next <= now;
        self.asking |= due;
        due
    }

    pub(super) fn ask_soon(&mut self, now: Tick, chance: &mut Chance) {
        // When an API server dies the whole fleet notices at once.
        let spread = self.period.unwrap_or_default() / 10;
        let soon = now + chance.shorten(spread, 100);
        if !self.asking && self.next > soon && self.early.take(now) {
            self.next = soon;
        }
    }

    /// When it is asked next, unless it is being asked.
    pub(super) fn next(&self) -> Option<Tick> {
        (!self.asking).then_some(self.next)
    }

    pub(super) const fn answered_at(&self) -> Option<Tick> {
        self.answered_at
    }

    pub(super) const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
