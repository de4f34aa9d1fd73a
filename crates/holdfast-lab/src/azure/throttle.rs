//! The request budget of a subscription: token buckets, as ARM has them.

use std::time::Duration;

use http::{Method, StatusCode};

use super::wire::{Answer, Refusal};

/// A bucket's size, and what it gets back per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// How many requests fit in.
    pub size: u32,
    /// How many come back per second.
    pub refill: u32,
}

/// A budget for each kind of request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Of GET and HEAD.
    pub reads: Budget,
    /// Of PUT, PATCH and POST.
    pub writes: Budget,
    /// Of DELETE.
    pub deletes: Budget,
}

impl Default for Limits {
    /// Those of a subscription and principal in a region (ARM, request limits).
    fn default() -> Self {
        Self {
            reads: Budget {
                size: 250,
                refill: 25,
            },
            writes: Budget {
                size: 200,
                refill: 10,
            },
            deletes: Budget {
                size: 200,
                refill: 10,
            },
        }
    }
}

/// What is left of a budget.
#[derive(Debug)]
struct Bucket {
    budget: Budget,
    left: f64,
    seen: Duration,
}

/// What is left of all of them.
#[derive(Debug)]
pub(super) struct Throttle {
    reads: Bucket,
    writes: Bucket,
    deletes: Bucket,
}

impl Bucket {
    fn new(budget: Budget) -> Self {
        Self {
            budget,
            left: f64::from(budget.size),
            seen: Duration::ZERO,
        }
    }

    /// Takes one, or says in how many seconds there is one.
    fn take(&mut self, now: Duration) -> Result<(), u64> {
        let passed = now.saturating_sub(self.seen).as_secs_f64();
        self.seen = now;
        let back = passed * f64::from(self.budget.refill);
        self.left = (self.left + back).min(f64::from(self.budget.size));
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - self.left) / f64::from(self.budget.refill.max(1));
        Err(Duration::from_secs_f64(wait).as_secs() + 1)
    }

    fn remaining(&self) -> String {
        format!("{:.0}", self.left.floor())
    }
}

impl Throttle {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            reads: Bucket::new(limits.reads),
            writes: Bucket::new(limits.writes),
            deletes: Bucket::new(limits.deletes),
        }
    }

    pub(super) fn take(&mut self, now: Duration, method: &Method) -> Result<(), Refusal> {
        let (bucket, _) = self.bucket(method);
        bucket.take(now).map_err(|seconds| throttled(Some(seconds)))
    }

    /// Tells what is left.
    pub(super) fn told(&mut self, method: &Method, answer: Answer) -> Answer {
        let (bucket, header) = self.bucket(method);
        let left = bucket.remaining();
        answer.with(header, left)
    }

    fn bucket(&mut self, method: &Method) -> (&mut Bucket, &'static str) {
        match *method {
            Method::GET | Method::HEAD => (
                &mut self.reads,
                "x-ms-ratelimit-remaining-subscription-reads",
            ),
            Method::DELETE => (
                &mut self.deletes,
                "x-ms-ratelimit-remaining-subscription-deletes",
            ),
            _ => (
                &mut self.writes,
                "x-ms-ratelimit-remaining-subscription-writes",
            ),
        }
    }
}

/// 429 as throttling.
pub(super) fn throttled(retry_after: Option<u64>) -> Refusal {
    let mut refusal = Refusal::new(
        StatusCode::TOO_MANY_REQUESTS,
        "SubscriptionRequestsThrottled",
        "Number of requests for the subscription exceeded the limit. Please try again later.",
    );
    refusal.retry_after = retry_after;
    refusal
}
