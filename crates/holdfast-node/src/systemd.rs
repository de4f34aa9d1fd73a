//! Tells systemd that the agent is ready, what it does, and that its loop is alive (`sd_notify(3)`).

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::Instant;

/// The line to systemd; silent where there is none.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// Half the watchdog's interval, as `sd_watchdog_enabled(3)` advises.
    every: Option<Duration>,
    pinged: Instant,
    told_ready: Option<bool>,
}

/// The listeners stand: units that are ordered after this one may start.
pub(crate) fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

impl Supervisor {
    pub(crate) fn from_environment() -> Self {
        Self {
            every: sd_notify::watchdog_enabled().map(|interval| interval / 2),
            pinged: Instant::now(),
            told_ready: None,
        }
    }

    /// The loop has just done its work.
    pub(crate) fn alive(&mut self, upstream_usable: bool) {
        if self
            .every
            .is_some_and(|every| self.pinged.elapsed() >= every)
        {
            self.pinged = Instant::now();
            notify(&[NotifyState::Watchdog]);
        }
        if self.told_ready != Some(upstream_usable) {
            self.told_ready = Some(upstream_usable);
            notify(&[NotifyState::Status(if upstream_usable {
                "serving"
            } else {
                "no usable upstream; see holdfast status"
            })]);
        }
    }
}

fn notify(state: &[NotifyState<'_>]) {
    // Without systemd there is nobody to tell.
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "systemd was not told");
    }
}
