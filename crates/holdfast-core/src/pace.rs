//! How often anything may be done: a token bucket and a doubling back-off.

use std::time::Duration;

use crate::machine::Tick;

/// A bucket of `capacity` tokens that gains one token each `refill`.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    capacity: u32,
    refill: Duration,
    tokens: u32,
    counted_at: Tick,
}

impl TokenBucket {
    /// A full bucket. A `capacity` of 0 never gives a token.
    pub const fn full(capacity: u32, refill: Duration) -> Self {
        Self {
            capacity,
            refill,
            tokens: capacity,
            counted_at: Tick::ZERO,
        }
    }

    /// Takes a token if there is one.
    #[must_use]
    pub fn take(&mut self, now: Tick) -> bool {
        self.count(now);
        let taken = self.tokens > 0;
        self.tokens = self.tokens.saturating_sub(1);
        taken
    }

    /// When the next token comes.
    pub fn next(&self) -> Tick {
        self.counted_at + self.refill
    }

    /// When a token can be taken: at once if there is one.
    pub fn earliest(&self) -> Tick {
        if self.tokens > 0 {
            Tick::ZERO
        } else {
            self.next()
        }
    }

    fn count(&mut self, now: Tick) {
        if self.refill.is_zero() {
            self.tokens = self.capacity;
            return;
        }
        if self.tokens == self.capacity {
            // The time of the next one counts from when one is taken.
            self.counted_at = now;
            return;
        }
        let gained = now.since(self.counted_at).as_nanos() / self.refill.as_nanos();
        if gained == 0 {
            return;
        }
        let gained = u32::try_from(gained).unwrap_or(u32::MAX);
        self.tokens = self.tokens.saturating_add(gained).min(self.capacity);
        self.counted_at = if self.tokens == self.capacity {
            now
        } else {
            self.counted_at + self.refill.saturating_mul(gained)
        };
    }
}

/// A delay that doubles with each failure, from `first` to `most`.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    /// A back-off that has seen no failure yet.
    pub const fn new(first: Duration, most: Duration) -> Self {
        Self {
            first,
            most,
            next: first,
        }
    }

    /// The delay after one more failure.
    pub fn fail(&mut self) -> Duration {
        let delay = self.next;
        self.next = self.next.saturating_mul(2).min(self.most);
        delay
    }

    /// Forgets all failures.
    pub const fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Tick {
        Tick::from_start(Duration::from_millis(ms))
    }

    #[test]
    fn doubles_up_to_its_cap_and_starts_again() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        let delays: Vec<_> = (0..5).map(|_| backoff.fail().as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5, 5]);
        backoff.reset();
        assert_eq!(backoff.fail().as_secs(), 1);
    }

    #[test]
    fn names_the_moment_of_the_next_token() {
        let mut bucket = TokenBucket::full(1, Duration::from_secs(10));
        assert!(bucket.take(at(500)));
        assert!(!bucket.take(at(600)));
        let next = bucket.next();
        assert!(!bucket.take(next - Duration::from_millis(1)));
        assert!(bucket.take(next));
    }

    proptest! {
        /// S5: however requests come, no window sees more than its share.
        #[test]
        fn s5_no_window_sees_more_than_capacity_plus_refills(
            gaps in prop::collection::vec(0u64..3000, 1..300),
            capacity in 1u32..8,
        ) {
            let refill = Duration::from_secs(1);
            let mut bucket = TokenBucket::full(capacity, refill);
            let mut now = 0;
            let mut taken = Vec::new();
            for gap in gaps {
                now += gap;
                if bucket.take(at(now)) {
                    taken.push(now);
                }
            }
            let window = 5000;
            for (i, start) in taken.iter().enumerate() {
                let inside = taken.iter().skip(i).take_while(|t| **t < start + window).count();
                prop_assert!(inside as u64 <= u64::from(capacity) + window / 1000);
            }
        }
    }
}
