//! The clock that all actors of a host share.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of `CLOCK_MONOTONIC`: the same clock in every process and every network namespace of a host.
#[expect(
    clippy::cast_precision_loss,
    reason = "an f64 holds 285 years of uptime to the microsecond"
)]
pub fn monotonic_seconds() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
