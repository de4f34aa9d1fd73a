//! The node check at work: asks the API server, looks at the machine, aborts connections, restarts units.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_core::node_check::{
    Action, CheckStatus, Input, Look, NodeCheck, Place, Reply, Settings,
};
use holdfast_core::restart::Cure;
use holdfast_core::status::ActionStatus;
use holdfast_linux::systemd::{Systemd, SystemdError};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::cluster::{self, KubeconfigError, Route};
use crate::drive::{Shell, drive};
use crate::signal::Signals;
use crate::units::{Towards, Units};
use crate::{report, state_file, systemd};

mod api;

use api::Api;

/// What the node check is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kubeconfig with which the API is asked.
    pub kubeconfig: PathBuf,
    /// Ports of API servers, or of the proxy in front of them: connections of the units to these are
    /// the ones that are severed. None stands for the kubeconfig's own.
    pub ports: BTreeSet<u16>,
    /// How many nodes in a hundred may restart their units at once.
    pub share: u32,
    /// The namespace of the leases by which the fleet agrees.
    pub namespace: String,
    /// Where the latest restarts are written down.
    pub state_file: PathBuf,
    /// Everything that the decisions need.
    pub settings: Settings,
}

/// Why the node check could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The kubeconfig can't be used.
    #[error("{0}")]
    Kubeconfig(#[from] KubeconfigError),
    /// The kubeconfig's server can't be told.
    #[error("{}: clusters: found no server with a port; accepted: https://NAME:PORT, or --api-port", path.display())]
    Port {
        /// The file.
        path: PathBuf,
    },
    /// Signals can't be waited for.
    #[error("wait for signals: {0}")]
    Signals(std::io::Error),
    /// There is no systemd.
    #[error("{0}")]
    Systemd(#[from] SystemdError),
}

/// Asks once, and says what came of it.
///
/// # Errors
/// The kubeconfig can't be used.
pub async fn ask_once(kubeconfig: &Path, node: &str) -> Result<Reply, StartError> {
    let client = cluster::client(kubeconfig, Route::Server)?;
    let api = Api {
        client,
        node: node.to_owned(),
        namespace: String::new(),
        share: 0,
        hold: Duration::ZERO,
    };
    Ok(api.ask().await)
}

/// Runs the node check by itself until SIGTERM or SIGINT.
///
/// # Errors
/// Whatever keeps it from starting; once it runs it does not fail.
pub async fn run(options: Options, version: &str) -> Result<(), StartError> {
    let mut signals = Signals::catch().map_err(StartError::Signals)?;
    let stop = CancellationToken::new();
    tracing::info!(
        version,
        node = %options.settings.node,
        units = ?options.settings.units,
        kubeconfig = %options.kubeconfig.display(),
        "node check started"
    );
    let (told, status) = watch::channel(None);
    let client = cluster::client(&options.kubeconfig, Route::Server)?;
    let check = start(options, client, told, |_| {}, stop.clone())?;
    systemd::ready("checks the node");
    tokio::select! {
        () = check => {}
        () = follow(status) => {}
        () = signals.stop() => {}
    }
    stop.cancel();
    tracing::info!("node check stopped");
    Ok(())
}

/// Tells systemd how the check goes.
async fn follow(mut status: watch::Receiver<Option<CheckStatus>>) {
    let mut supervisor = systemd::Supervisor::from_environment();
    let mut told = String::new();
    while status.changed().await.is_ok() {
        supervisor.beat();
        let now = status.borrow_and_update().as_ref().map(summary);
        if let Some(now) = now.filter(|now| *now != told) {
            systemd::tell(&now);
            told = now;
        }
    }
}

fn summary(status: &CheckStatus) -> String {
    let withheld = status
        .withheld
        .map(|reason| format!(", withheld: {reason}"));
    format!(
        "{}: {}{}",
        status.node,
        status.state.as_str(),
        withheld.unwrap_or_default()
    )
}

/// Starts a node check; `acted` hears of each action, `told` has its latest status. The future is its
/// life, until `stop`.
///
/// # Errors
/// There is no systemd, or no port to look for.
pub(crate) fn start(
    mut options: Options,
    client: kube::Client,
    told: watch::Sender<Option<CheckStatus>>,
    acted: impl Fn(&ActionStatus) + Send + 'static,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()> + Send, StartError> {
    let units = Units::new(Systemd::find()?);
    if options.ports.is_empty() {
        options.ports = port_of(&options.kubeconfig).into_iter().collect();
    }
    if options.ports.is_empty() {
        return Err(StartError::Port {
            path: options.kubeconfig,
        });
    }
    let clock = Clock::start();
    let (facts, queue) = mpsc::unbounded_channel();
    let past = state_file::read_restarts(&options.state_file);
    let api = Api {
        client,
        node: options.settings.node.clone(),
        namespace: options.namespace,
        share: options.share,
        hold: options.settings.limits.hold_down,
    };
    let shell = CheckShell {
        api,
        units,
        chosen: options.settings.units.clone(),
        ports: options.ports,
        state_file: options.state_file,
        orders: Vec::new(),
        unwritten: false,
        facts,
        told,
        acted: Box::new(acted),
        clock,
    };
    let check = NodeCheck::new(options.settings, &past);
    Ok(drive(check, queue, shell, clock, stop))
}

/// The port of the kubeconfig's server, in its current context; 443 where none is written.
fn port_of(kubeconfig: &Path) -> Option<u16> {
    let raw = kube::config::Kubeconfig::read_from(kubeconfig).ok()?;
    let context = raw.current_context?;
    let named = raw.contexts.iter().find(|named| named.name == context)?;
    let cluster = &named.context.as_ref()?.cluster;
    let named = raw.clusters.iter().find(|named| named.name == *cluster)?;
    let server: http::Uri = named.cluster.as_ref()?.server.as_ref()?.parse().ok()?;
    Some(server.port_u16().unwrap_or(443))
}

/// Carries the check's orders out.
struct CheckShell {
    api: Api,
    units: Units,
    chosen: Vec<String>,
    ports: BTreeSet<u16>,
    state_file: PathBuf,
    /// Orders that are carried out once everything is written down.
    orders: Vec<Action>,
    unwritten: bool,
    facts: mpsc::UnboundedSender<Input>,
    told: watch::Sender<Option<CheckStatus>>,
    acted: Box<dyn Fn(&ActionStatus) + Send>,
    clock: Clock,
}

impl CheckShell {
    fn begin(&self, order: Action) {
        let (api, units, facts) = (self.api.clone(), self.units.clone(), self.facts.clone());
        let (chosen, ports) = (self.chosen.clone(), self.ports.clone());
        tokio::spawn(async move {
            let fact = match order {
                Action::Ask => Input::Asked {
                    reply: api.ask().await,
                },
                Action::Claim => Input::Claimed {
                    claim: api.claim().await,
                },
                Action::Look { .. } => Input::Looked {
                    look: look(&units, &chosen).await,
                },
                Action::Release => {
                    if let Err(error) = api.release().await {
                        tracing::warn!(
                            error,
                            "place in the budget is not given back, it ends by itself"
                        );
                    }
                    return;
                }
                Action::Restart { unit, forget } => {
                    let result = units.restart(&unit, Cure::Systemctl, forget).await;
                    Input::Restarted { unit, result }
                }
                Action::Sever { unit } => {
                    let result = units.sever(&unit, Towards::Ports(ports)).await;
                    Input::Severed { unit, result }
                }
                Action::Remember | Action::Report(_) => return,
            };
            // Without a receiver the check is stopping.
            drop(facts.send(fact));
        });
    }
}

/// What systemd says of the units.
async fn look(units: &Units, chosen: &[String]) -> Result<Look, String> {
    let mut found = BTreeMap::new();
    for name in chosen {
        let unit = units.unit(name).await.map_err(|error| error.to_string())?;
        let place = Place {
            life: unit.life(),
            state: unit.state(),
        };
        found.insert(name.clone(), place);
    }
    Ok(Look {
        shutting_down: units.is_shutting_down().await?,
        units: found,
    })
}

impl Shell<NodeCheck> for CheckShell {
    type Query = std::convert::Infallible;

    fn obey(&mut self, action: Action) {
        match action {
            Action::Remember => self.unwritten = true,
            Action::Report(action) => {
                report::log(&action);
                (self.acted)(&action);
            }
            order @ (Action::Ask
            | Action::Claim
            | Action::Look { .. }
            | Action::Release
            | Action::Restart { .. }
            | Action::Sever { .. }) => self.orders.push(order),
        }
    }

    async fn query(&mut self) -> Self::Query {
        std::future::pending().await
    }

    fn answer(&mut self, _: &NodeCheck, query: Self::Query) {
        match query {}
    }

    fn settled(&mut self, check: &NodeCheck) {
        let now = self.clock.now();
        // First the file: a process that is killed in the middle of a restart must know of it later.
        if std::mem::take(&mut self.unwritten) {
            let past = check.restarted_before(now);
            if let Err(error) = state_file::write_restarts(&self.state_file, &past) {
                let file = self.state_file.display();
                tracing::warn!(%file, %error, "state could not be written");
            }
        }
        for order in std::mem::take(&mut self.orders) {
            self.begin(order);
        }
        self.told.send_replace(Some(check.status(now)));
    }
}
