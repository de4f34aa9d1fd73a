//! The contract that every decision of Holdfast keeps: facts in, orders out, told the time.

use std::ops::{Add, Sub};
use std::time::Duration;

/// Time since the process started; only a driver makes one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(Duration);

impl Tick {
    /// The start of the process.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// The tick that lies `elapsed` after the start of the process.
    pub const fn from_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Time from the start of the process to this tick.
    pub const fn since_start(self) -> Duration {
        self.0
    }

    /// Time from `earlier` to this tick; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Tick {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs))
    }
}

impl Sub<Duration> for Tick {
    type Output = Self;

    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(rhs))
    }
}

/// A state machine that decides and does nothing else.
///
/// A driver calls [`handle`](Self::handle) for each fact and [`wake`](Self::wake) when
/// [`next_wake`](Self::next_wake) is due, and after either of them takes orders from
/// [`poll`](Self::poll) until there are none. An order that can fail comes back as a fact that
/// carries the order's id. Same facts at the same ticks give the same orders.
pub trait Machine {
    /// A fact: what happened outside.
    type Input;
    /// An order: what to do outside.
    type Action;

    /// Takes in one fact.
    fn handle(&mut self, now: Tick, input: Self::Input);

    /// Lets time pass; early or repeated calls do nothing.
    fn wake(&mut self, now: Tick);

    /// When [`wake`](Self::wake) wants to be called next, if at all.
    #[must_use]
    fn next_wake(&self) -> Option<Tick>;

    /// The next order; call until `None` after every `handle` and `wake`.
    #[must_use]
    fn poll(&mut self) -> Option<Self::Action>;

    /// Panics when an invariant does not hold; drivers call it after each step in debug builds.
    fn check(&self);
}
