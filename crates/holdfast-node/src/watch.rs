//! The watcher at work: looks names up, looks at the machine, aborts connections, restarts units, and
//! writes down what it knows.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::restart::Cure;
use holdfast_core::status::Source;
use holdfast_core::watch::{Action, Input, Look, Seen, Settings, Strategy, Watch, WatchStatus};
use holdfast_linux::systemd::notify::{self, ALIVE};
use holdfast_linux::systemd::{Systemd, SystemdError};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::dns::NameWatch;
use crate::drive::{Shell, drive};
use crate::signal::Signals;
use crate::systemd;
use crate::units::{Towards, Units};
use crate::{report, state_file};

/// What the watcher is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The endpoint's name.
    pub name: String,
    /// Resolvers to ask; none stands for those of /etc/resolv.conf.
    pub dns_servers: Vec<SocketAddr>,
    /// Where what is known is written down.
    pub state_file: PathBuf,
    /// Everything that the decisions need.
    pub settings: Settings,
}

/// Why the watcher could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Signals can't be waited for.
    #[error("wait for signals: {0}")]
    Signals(std::io::Error),
    /// There is no systemd whose units could be watched.
    #[error("{0}")]
    Systemd(#[from] SystemdError),
}

/// Runs the watcher until SIGTERM or SIGINT.
///
/// # Errors
/// Whatever keeps it from starting; once it runs it does not fail.
pub async fn run(options: Options, version: &str) -> Result<(), StartError> {
    let mut signals = Signals::catch().map_err(StartError::Signals)?;
    let units = Units::new(Systemd::find()?);
    let memory = state_file::read(&options.state_file, &options.name);
    let clock = Clock::start();
    let stop = CancellationToken::new();
    let (facts, queue) = mpsc::unbounded_channel();
    let Options {
        name,
        dns_servers,
        state_file,
        settings,
    } = options;
    tracing::info!(
        version,
        %name,
        units = ?settings.units,
        strategy = ?settings.strategy,
        fallback = ?settings.fallback,
        spread = ?settings.spread,
        state_file = %state_file.display(),
        "watcher started"
    );
    let watchdog = settings.strategy == Strategy::Restart(Cure::Watchdog);
    if watchdog {
        tokio::spawn(keep_alive(
            units.clone(),
            settings.units.clone(),
            settings.interval,
            stop.clone(),
        ));
    }
    let shell = WatchShell {
        names: Arc::new(NameWatch::new(&name, 0, dns_servers)),
        name,
        chosen: settings.units.clone(),
        units,
        facts,
        state_file,
        orders: Vec::new(),
        unwritten: true,
        writing_fails: false,
        told: None,
        ready: false,
        supervisor: systemd::Supervisor::from_environment(),
        clock,
    };
    let watch = Watch::new(settings, &memory);
    tokio::select! {
        () = drive(watch, queue, shell, clock, stop.clone()) => {}
        () = signals.stop() => {}
    }
    stop.cancel();
    tracing::info!("watcher stopped");
    Ok(())
}

/// Tells systemd that the units are alive, as the script's watchdog strategy does, for units whose
/// program does not do it itself.
async fn keep_alive(
    units: Units,
    chosen: Vec<String>,
    interval: Duration,
    stop: CancellationToken,
) {
    let mut failing = false;
    loop {
        let mut pause = interval;
        for name in &chosen {
            let Ok(unit) = units.unit(name).await else {
                continue;
            };
            // A unit that does not run has no main process: there is nobody to speak for.
            if let (Some(every), Some(pid), true) =
                (unit.watchdog, unit.main_pid, unit.life().runs())
            {
                pause = pause.min(every / 2);
                let told = notify::report_for(pid, ALIVE);
                if let Err(error) = &told
                    && !failing
                {
                    tracing::warn!(
                        unit = %name, %error,
                        "systemd can't be told that the unit is alive, which takes CAP_SYS_ADMIN"
                    );
                }
                failing = told.is_err();
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
    }
}

/// Carries the watcher's orders out.
struct WatchShell {
    name: String,
    names: Arc<NameWatch>,
    chosen: Vec<String>,
    units: Units,
    facts: mpsc::UnboundedSender<Input>,
    state_file: PathBuf,
    /// Orders that are carried out once everything is written down.
    orders: Vec<Action>,
    unwritten: bool,
    writing_fails: bool,
    /// What systemd shows as the unit's status.
    told: Option<String>,
    ready: bool,
    supervisor: systemd::Supervisor,
    clock: Clock,
}

impl WatchShell {
    fn begin(&self, order: Action) {
        let (units, facts) = (self.units.clone(), self.facts.clone());
        let (names, chosen) = (Arc::clone(&self.names), self.chosen.clone());
        tokio::spawn(async move {
            let fact = match order {
                Action::Look { addresses } => Input::Looked {
                    look: look(&units, &chosen, Towards::Addresses(addresses)).await,
                },
                Action::Resolve { source } => Input::Resolved {
                    source,
                    answer: names.ask(source).await,
                },
                Action::Restart { unit, cure, forget } => {
                    let result = units.restart(&unit, cure, forget).await;
                    Input::Restarted { unit, result }
                }
                Action::Sever { unit, addresses } => {
                    let result = units.sever(&unit, Towards::Addresses(addresses)).await;
                    Input::Severed { unit, result }
                }
                Action::Remember | Action::Report(_) => return,
            };
            // Without a receiver the watcher is stopping.
            drop(facts.send(fact));
        });
    }

    fn write(&mut self, watch: &Watch) {
        let now = self.clock.now();
        let memory = watch.memory(now);
        let written = state_file::write(&self.state_file, &self.name, &memory, &watch.status(now));
        if let Err(error) = &written
            && !self.writing_fails
        {
            tracing::warn!(file = %self.state_file.display(), %error, "state could not be written");
        }
        self.writing_fails = written.is_err();
        self.unwritten = false;
    }
}

/// What the kernel and systemd say of the units.
async fn look(units: &Units, chosen: &[String], towards: Towards) -> Result<Look, String> {
    let mut found = Vec::new();
    for name in chosen {
        found.push(units.unit(name).await.map_err(|error| error.to_string())?);
    }
    let mut connections = units.connections(&found, towards).await?;
    let shutting_down = units.is_shutting_down().await;
    let seen = found.into_iter().map(|unit| {
        let seen = Seen {
            life: unit.life(),
            state: unit.state(),
            main_pid: unit.main_pid,
            connections: connections.remove(&unit.name).unwrap_or_default(),
        };
        (unit.name, seen)
    });
    Ok(Look {
        shutting_down,
        units: seen.collect::<BTreeMap<_, _>>(),
    })
}

/// One line for `systemctl status`.
fn summary(name: &str, status: &WatchStatus) -> String {
    let stand = status.addresses.iter().filter(|a| a.left_s.is_none());
    let left = status.addresses.iter().filter(|a| a.left_s.is_some());
    let connected = left.clone().filter(|a| !a.connected.is_empty()).count();
    let failing = status
        .sources
        .iter()
        .any(|source| source.source != Source::Seed && source.failure.is_some());
    format!(
        "{name}: {} addresses, {} left DNS, {connected} of them still used{}",
        stand.count(),
        left.count(),
        if failing { "; lookups fail" } else { "" }
    )
}

impl Shell<Watch> for WatchShell {
    type Query = std::convert::Infallible;

    fn obey(&mut self, action: Action) {
        match action {
            Action::Remember => self.unwritten = true,
            Action::Report(action) => {
                report::log(&action);
                self.unwritten = true;
            }
            order @ (Action::Look { .. }
            | Action::Resolve { .. }
            | Action::Restart { .. }
            | Action::Sever { .. }) => self.orders.push(order),
        }
    }

    async fn query(&mut self) -> Self::Query {
        std::future::pending().await
    }

    fn answer(&mut self, _: &Watch, query: Self::Query) {
        match query {}
    }

    fn settled(&mut self, watch: &Watch) {
        // First the file: a watcher that is killed in the middle of a restart must know of it later.
        if self.unwritten && watch.is_started() {
            self.write(watch);
        }
        for order in std::mem::take(&mut self.orders) {
            self.begin(order);
        }
        let summary = summary(&self.name, &watch.status(self.clock.now()));
        if watch.is_started() && !self.ready {
            self.ready = true;
            systemd::ready(&summary);
            self.told = Some(summary.clone());
        }
        if self.ready && self.told.as_ref() != Some(&summary) {
            systemd::tell(&summary);
            self.told = Some(summary);
        }
        self.supervisor.beat();
    }
}
