//! Asking systemd about a unit, and having it restarted.
//!
//! The system bus is asked where there is one; a restart waits until systemd says how its job ended,
//! since the call itself returns before anything has happened. Where there is no bus, `systemctl` does
//! the same through systemd's private socket.
//!
//! Only `TryRestart` is ever used: a unit that somebody has stopped stays stopped. How often a unit may
//! be restarted is decided elsewhere.

use std::path::Path;
use std::time::Duration;

mod bus;
mod error;
pub mod notify;
mod systemctl;
mod unit;

pub use error::SystemdError;
pub use unit::Unit;

/// systemd made this directory if, and only if, it runs as the first process (`sd_booted(3)`).
const BOOTED: &str = "/run/systemd/system";

/// Time for an answer of the bus or of `systemctl show`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time for a restart: stop and start of a service may take 90 s each before systemd ends them itself
/// (`DefaultTimeoutStopSec`, `DefaultTimeoutStartSec` in systemd-system.conf(5)).
pub const RESTART_PATIENCE: Duration = Duration::from_secs(190);

/// What a restart that systemd carried out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restarted {
    /// The unit runs anew.
    Done,
    /// The unit did not run, and was left so.
    NotRunning,
}

/// systemd on this machine. Each call makes its own connection: calls are rare, and the bus may have
/// been restarted between two of them.
#[derive(Clone, Debug)]
pub struct Systemd {
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    /// The usual bus; `systemctl` if there is none.
    Usual,
    /// This bus alone.
    Bus(String),
    /// `systemctl` alone.
    Systemctl,
}

impl Systemd {
    /// The system's own.
    ///
    /// # Errors
    /// Another program is the first process of this machine.
    pub fn find() -> Result<Self, SystemdError> {
        if Path::new(BOOTED).is_dir() {
            Ok(Self { way: Way::Usual })
        } else {
            Err(SystemdError::NotBooted)
        }
    }

    /// The one that is reached over the bus at `address`, such as
    /// `unix:path=/run/dbus/system_bus_socket`.
    pub fn on_bus(address: &str) -> Self {
        Self {
            way: Way::Bus(address.to_owned()),
        }
    }

    /// The system's own by way of `systemctl`, as where no bus runs.
    pub const fn without_bus() -> Self {
        Self {
            way: Way::Systemctl,
        }
    }

    /// The unit called `name`.
    pub async fn unit(&self, name: &str) -> Result<Unit, SystemdError> {
        match self.bus().await? {
            Some(bus) => bus.unit(name).await,
            None => systemctl::unit(name).await,
        }
    }

    /// Restarts the unit if it runs, and waits until that is done.
    pub async fn try_restart(&self, name: &str) -> Result<Restarted, SystemdError> {
        let before = self.unit(name).await?;
        if !before.life().runs() {
            return Ok(Restarted::NotRunning);
        }
        match self.bus().await? {
            Some(bus) => bus.try_restart(name).await?,
            None => systemctl::try_restart(name).await?,
        }
        // Somebody may have stopped it meanwhile: then the job is done, and nothing runs.
        let after = self.unit(name).await?;
        Ok(if after.life().runs() {
            Restarted::Done
        } else {
            Restarted::NotRunning
        })
    }

    /// Forgets failures of the unit, and how often it was started lately: the next start does not meet
    /// the start limit (systemctl(1), `reset-failed`).
    pub async fn reset_failed(&self, name: &str) -> Result<(), SystemdError> {
        match self.bus().await? {
            Some(bus) => bus.reset_failed(name).await,
            None => systemctl::reset_failed(name).await,
        }
    }

    /// Whether the machine is on its way down, as logind (`PreparingForShutdown`) or systemd itself
    /// (`SystemState` is `stopping`) says. logind says it first, while services still run; a machine
    /// without logind is asked through systemd alone.
    pub async fn is_shutting_down(&self) -> Result<bool, SystemdError> {
        match self.bus().await? {
            Some(bus) => bus.is_shutting_down().await,
            None => systemctl::is_shutting_down().await,
        }
    }

    async fn bus(&self) -> Result<Option<bus::Bus>, SystemdError> {
        match &self.way {
            Way::Systemctl => Ok(None),
            Way::Bus(address) => bus::Bus::connect(Some(address)).await.map(Some),
            Way::Usual => match bus::Bus::connect(None).await {
                Ok(bus) => Ok(Some(bus)),
                Err(SystemdError::NoBus { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}
