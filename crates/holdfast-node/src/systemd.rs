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
    told: Option<Life>,
}

/// What the agent does, for `systemctl status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Draining,
    Serving,
    WithoutUpstream,
}

impl Life {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Draining => "stopping: open connections may end",
            Self::Serving => "serving",
            Self::WithoutUpstream => "no usable upstream; see holdfast status",
        }
    }
}

/// The listeners stand: units that are ordered after this one may start.
pub(crate) fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The configuration is being read again; [`reloaded`] must follow, whatever comes of it (`RELOADING=1`,
/// `sd_notify(3)`).
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!(%error, "systemd was not told"),
    }
}

/// The reload is over.
pub(crate) fn reloaded() {
    notify(&[NotifyState::Ready]);
}

/// The end takes up to `time`, and a little for the rest: systemd waits for as long
/// (`EXTEND_TIMEOUT_USEC=`), whatever `TimeoutStopSec=` says.
pub(crate) fn stopping(time: Duration) {
    let micros = u32::try_from((time + AFTER_DRAIN).as_micros()).unwrap_or(u32::MAX);
    notify(&[
        NotifyState::Stopping,
        NotifyState::ExtendTimeoutUsec(micros),
    ]);
}

/// What is left to do after the last connection has ended takes milliseconds.
const AFTER_DRAIN: Duration = Duration::from_secs(5);

/// What `systemctl status` shows.
pub(crate) fn tell(status: &str) {
    notify(&[NotifyState::Status(status)]);
}

impl Supervisor {
    pub(crate) fn from_environment() -> Self {
        Self {
            every: sd_notify::watchdog_enabled().map(|interval| interval / 2),
            pinged: Instant::now(),
            told: None,
        }
    }

    /// The loop has just done its work.
    pub(crate) fn beat(&mut self) {
        if self
            .every
            .is_some_and(|every| self.pinged.elapsed() >= every)
        {
            self.pinged = Instant::now();
            notify(&[NotifyState::Watchdog]);
        }
    }

    /// The agent's loop has just done its work.
    pub(crate) fn alive(&mut self, life: Life) {
        self.beat();
        if self.told != Some(life) {
            self.told = Some(life);
            tell(life.as_str());
        }
    }
}

fn notify(state: &[NotifyState<'_>]) {
    // Without systemd there is nobody to tell.
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "systemd was not told");
    }
}
