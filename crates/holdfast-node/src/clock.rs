//! The one place that reads the clock: ticks since the start of the process.

use std::time::Duration;

use holdfast_core::machine::Tick;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// A clock that started with the process. It is monotonic: setting the system's time does nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(self) -> Tick {
        Tick::from_start(self.0.elapsed())
    }

    /// The same as milliseconds, for counters that are shared between threads.
    pub(crate) fn now_ms(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How long the machine has slept since it started: the monotonic clock stands meanwhile
    /// (`clock_gettime(2)`, `CLOCK_BOOTTIME`).
    pub(crate) fn slept() -> Duration {
        let read = |id| Duration::try_from(clock_gettime(id)).unwrap_or_default();
        // In this order the difference is never below the truth by more than the time between.
        let monotonic = read(ClockId::Monotonic);
        read(ClockId::Boottime).saturating_sub(monotonic)
    }

    pub(crate) fn at_ms(ms: u64) -> Tick {
        Tick::from_start(Duration::from_millis(ms))
    }

    pub(crate) fn instant(self, tick: Tick) -> Instant {
        self.0 + tick.since_start()
    }
}
