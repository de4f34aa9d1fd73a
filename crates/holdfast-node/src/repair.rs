//! Restarts units for the guard, where their dead connections can't be aborted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use holdfast_core::agent::{Input, UnitSeen};
use holdfast_core::config::Guard;
use holdfast_core::restart::Cure;
use holdfast_linux::systemd::Systemd;
use tokio::sync::mpsc;

use crate::state_file;
use crate::units::Units;

/// The way to systemd, or why there is none.
#[derive(Clone, Debug)]
pub(crate) struct Repairer {
    units: Result<Units, String>,
    restarts: PathBuf,
    facts: mpsc::UnboundedSender<Input>,
}

impl Repairer {
    /// One for this guard, if it is to restart anything.
    pub(crate) fn of(guard: Option<&Guard>, facts: &mpsc::UnboundedSender<Input>) -> Option<Self> {
        let guard = guard.filter(|guard| guard.fallback.is_some())?;
        let systemd = Systemd::find();
        Some(Self {
            units: systemd.map(Units::new).map_err(|error| error.to_string()),
            restarts: guard.restarts.clone(),
            facts: facts.clone(),
        })
    }

    /// Tells where in its life a unit is.
    pub(crate) fn look(&self, unit: String) {
        let this = self.clone();
        tokio::spawn(async move {
            let seen = this.seen(&unit).await;
            // Without a receiver the agent is stopping.
            drop(this.facts.send(Input::UnitSeen { unit, seen }));
        });
    }

    async fn seen(&self, unit: &str) -> Result<UnitSeen, String> {
        let units = self.units.as_ref().map_err(Clone::clone)?;
        let seen = units.unit(unit).await.map_err(|error| error.to_string())?;
        Ok(UnitSeen {
            life: seen.life(),
            shutting_down: units.is_shutting_down().await?,
        })
    }

    /// Writes `past` down and restarts a unit: an agent that is killed meanwhile must know of it later.
    pub(crate) fn restart(
        &self,
        unit: String,
        cure: Cure,
        forget: bool,
        past: BTreeMap<String, Duration>,
    ) {
        let this = self.clone();
        tokio::spawn(async move {
            let file = this.restarts.clone();
            let shown = file.display().to_string();
            let write = move || state_file::write_restarts(&file, &past);
            let written = tokio::task::spawn_blocking(write).await;
            if let Err(error) = written.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
                tracing::warn!(file = shown, %error, "a restart could not be written down");
            }
            let result = match &this.units {
                Ok(units) => units.restart(&unit, cure, forget).await,
                Err(why) => Err(why.clone()),
            };
            drop(this.facts.send(Input::UnitRestarted { unit, result }));
        });
    }
}
