//! A kubelet's intervals, all divided by one scale.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Gives the intervals as this client uses them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    scale: f64,
}

impl Clock {
    /// A clock on which `scale` stock seconds pass in one second; `None` for a scale that is no pace.
    pub(super) fn new(scale: f64) -> Option<Self> {
        (scale.is_finite() && scale > 0.0).then_some(Self { scale })
    }

    /// Any stock interval on this clock.
    pub(super) fn scaled(self, stock: Duration) -> Duration {
        stock.div_f64(self.scale)
    }

    /// Between two renewals of the lease: a quarter of its 40 s
    /// (kubelet `nodeLeaseRenewIntervalFraction`, `NodeLeaseDurationSeconds`), and up to 4 % more.
    pub(super) fn renewal(self) -> Duration {
        let interval = self.scaled(Duration::from_secs(10));
        interval + interval.mul_f64(0.04 * chance())
    }

    /// For one request of the heartbeat: the shorter of the lease and the kubelet's
    /// `NodeStatusUpdateFrequency` (kubelet `cmd/kubelet/app/server.go`).
    pub(super) fn request_timeout(self) -> Duration {
        self.scaled(Duration::from_secs(10))
    }

    /// For resolving and connecting (client-go `transport/cache.go`).
    pub(super) fn dial_timeout(self) -> Duration {
        self.scaled(Duration::from_secs(30))
    }

    /// The least that a dial spends on one of several addresses (Go `net/dial.go` `partialDeadline`).
    pub(super) fn least_share(self) -> Duration {
        self.scaled(Duration::from_secs(2))
    }

    /// For the TLS handshake (client-go `transport/cache.go`).
    pub(super) fn handshake_timeout(self) -> Duration {
        self.scaled(Duration::from_secs(10))
    }

    /// Without a frame for this long, a connection is pinged (apimachinery `pkg/util/net/http.go`
    /// `readIdleTimeoutSeconds`).
    pub(super) fn ping_after(self) -> Duration {
        self.scaled(Duration::from_secs(30))
    }

    /// For the ping's answer (apimachinery `pkg/util/net/http.go` `pingTimeoutSeconds`).
    pub(super) fn ping_timeout(self) -> Duration {
        self.scaled(Duration::from_secs(15))
    }

    /// For each of two attempts to ask the DNS server (Go `net/dnsconfig_unix.go`).
    pub(super) fn resolve_timeout(self) -> Duration {
        self.scaled(Duration::from_secs(5))
    }

    /// Between two TCP keepalives (client-go `transport/cache.go`). The kernel counts whole seconds.
    pub(super) fn keepalive(self) -> Duration {
        let interval = self.scaled(Duration::from_secs(30));
        interval.max(Duration::from_secs(1))
    }

    /// Between two requests of an active connection, and before an idle one is made again.
    pub(super) fn second(self) -> Duration {
        self.scaled(Duration::from_secs(1))
    }
}

/// A pause that doubles with each failure, up to a cap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    next: Duration,
    cap: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration, cap: Duration) -> Self {
        Self { next: first, cap }
    }

    /// The pause after one more failure.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.cap);
        pause
    }
}

/// A random number from 0 up to, not including, 1.
pub(super) fn chance() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    let upper = u32::try_from(random >> 32).unwrap_or_default();
    f64::from(upper) / (f64::from(u32::MAX) + 1.0)
}
