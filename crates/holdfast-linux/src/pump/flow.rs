//! What went over a connection, and what of it is unanswered.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Client bytes that lie so far apart are two moments, not one.
const MOMENT_MS: u64 = 1000;

/// Counters of one connection; readable from anywhere while bytes move. Times are milliseconds on
/// the clock of the caller.
#[derive(Debug, Default)]
pub struct Flow {
    to_upstream: AtomicU64,
    to_client: AtomicU64,
    /// One more than the time, so that 0 stands for never; the same below.
    heard: AtomicU64,
    asked: AtomicU64,
    asked_last: AtomicU64,
    moments: AtomicU64,
    bytes_before: AtomicU64,
    spliced: AtomicU64,
}

/// Client bytes since the upstream's last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// When the first of them were sent.
    pub since_ms: u64,
    /// At how many moments, a second or more apart, some were sent.
    pub moments: u64,
    /// How many there are.
    pub bytes: u64,
}

impl Flow {
    /// The client's bytes went to the upstream.
    pub fn sent(&self, bytes: u64, now_ms: u64) {
        let before = self.to_upstream.fetch_add(bytes, Relaxed);
        if self.asked.load(Relaxed) == 0 {
            self.bytes_before.store(before, Relaxed);
            self.moments.store(1, Relaxed);
            self.asked_last.store(now_ms, Relaxed);
            self.asked.store(now_ms + 1, Relaxed);
        } else if now_ms >= self.asked_last.load(Relaxed) + MOMENT_MS {
            self.moments.fetch_add(1, Relaxed);
            self.asked_last.store(now_ms, Relaxed);
        }
    }

    /// The upstream's bytes went to the client.
    pub fn delivered(&self, bytes: u64) {
        self.to_client.fetch_add(bytes, Relaxed);
    }

    /// The upstream's bytes came.
    pub fn heard(&self, now_ms: u64) {
        self.heard.store(now_ms + 1, Relaxed);
        self.asked.store(0, Relaxed);
    }

    /// Bytes that were moved without copying; they are in the other counters too.
    pub fn spliced(&self, bytes: u64) {
        self.spliced.fetch_add(bytes, Relaxed);
    }

    /// Bytes of both directions that were moved without copying.
    pub fn bytes_spliced(&self) -> u64 {
        self.spliced.load(Relaxed)
    }

    /// Bytes from the client to the upstream.
    pub fn to_upstream(&self) -> u64 {
        self.to_upstream.load(Relaxed)
    }

    /// Bytes from the upstream to the client.
    pub fn to_client(&self) -> u64 {
        self.to_client.load(Relaxed)
    }

    /// When the upstream's last bytes came, if ever.
    pub fn heard_ms(&self) -> Option<u64> {
        self.heard.load(Relaxed).checked_sub(1)
    }

    /// What the client has sent since then, if anything.
    pub fn unanswered(&self) -> Option<Unanswered> {
        let since_ms = self.asked.load(Relaxed).checked_sub(1)?;
        Some(Unanswered {
            since_ms,
            moments: self.moments.load(Relaxed),
            bytes: self
                .to_upstream()
                .saturating_sub(self.bytes_before.load(Relaxed)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_moments_until_an_answer_comes() {
        let flow = Flow::default();
        assert_eq!(flow.unanswered(), None);
        flow.sent(100, 0);
        flow.heard(5);
        assert_eq!(flow.unanswered(), None);
        assert_eq!(flow.heard_ms(), Some(5));
        flow.sent(7, 1000);
        flow.sent(7, 1500);
        flow.sent(7, 11_000);
        let unanswered = Unanswered {
            since_ms: 1000,
            moments: 2,
            bytes: 21,
        };
        assert_eq!(flow.unanswered(), Some(unanswered));
        flow.heard(11_001);
        assert_eq!(flow.unanswered(), None);
    }
}
