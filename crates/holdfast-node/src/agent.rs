//! The agent at work: its machine, the shell that carries its orders out, and its life from the
//! first listener to the last connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::agent::{self as core, Action, Agent, Input, Settings};
use holdfast_core::balance::Candidates;
use holdfast_core::cache::Entry;
use holdfast_core::chance::hash_text;
use holdfast_core::config::{Config, Host};
use holdfast_core::status::{ActionStatus, Source};
use holdfast_linux::descriptors;
use holdfast_linux::listen::{ListenError, listen};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admin::{Admin, StatusRequest};
use crate::cache::CacheFile;
use crate::clock::Clock;
use crate::cluster::{self, Route};
use crate::connection::{Doorway, most_connections};
use crate::dns::NameWatch;
use crate::drive::{Shell, drive};
use crate::endpoint_slices::SliceWatch;
use crate::fleet;
use crate::listeners::{self, Listeners};
use crate::metrics::Metrics;
use crate::probe::Prober;
use crate::report;
use crate::signal::Signals;
use crate::systemd::{self, Life, Supervisor};
use crate::table::{Ending, Table};
use crate::tls::{Identity, TlsError};

/// Status requests that wait for the loop; more than that many readers wait for their turn.
const STATUS_REQUESTS: usize = 16;

/// While stopping, open connections are counted this often.
const DRAIN_TICK: Duration = Duration::from_millis(50);

/// Why the agent could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address can't be listened on.
    #[error("{0}")]
    Listen(#[from] ListenError),
    /// Signals can't be waited for.
    #[error("wait for signals: {0}")]
    Signals(std::io::Error),
    /// The CA file or the server name can't be used.
    #[error("{0}")]
    Tls(#[from] TlsError),
}

/// Runs the agent until SIGTERM or SIGINT, then drains.
///
/// # Errors
/// Whatever keeps it from starting; once it serves it does not fail.
pub async fn run(config: Config, version: &str) -> Result<(), StartError> {
    let identity = Arc::new(Identity::load(&config.ca, &config.server_name)?);
    if let Err((limit, error)) = descriptors::raise() {
        tracing::warn!(%error, limit, "descriptor limit could not be raised");
    }
    let mut signals = Signals::catch().map_err(StartError::Signals)?;
    let listeners = listeners::open(&config.listen)?;
    let admin_listener = listen(config.admin)?;

    let clock = Clock::start();
    // Whoever serves readers or watches connections does so until the last connection has ended.
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    let metrics = Arc::new(Metrics::default());
    let table = Arc::new(Table::default());
    let (facts, fact_queue) = mpsc::unbounded_channel();
    let (offer, candidates) = watch::channel(Arc::new(Candidates::default()));
    let (requests, status_requests) = mpsc::channel(STATUS_REQUESTS);
    let (draining, drain_until) = watch::channel(None);

    let cluster = config
        .kubeconfig
        .as_deref()
        .map(|path| cluster::client_in_time(path, through(candidates.clone())));
    let doorway = Doorway {
        clock,
        candidates,
        facts: facts.clone(),
        table: Arc::clone(&table),
        metrics: Arc::clone(&metrics),
        first_byte: config.first_byte,
        full_told_ms: Arc::default(),
    };
    // Port 0 lets the kernel choose; the log must say what it chose.
    let admin_bound = admin_listener.local_addr().unwrap_or(config.admin);
    let mut listeners = Listeners::start(listeners, doorway, tasks.clone());
    let bound = listeners.bound();
    let admin = Admin {
        requests,
        metrics: Arc::clone(&metrics),
    };
    tasks.spawn(admin.serve(admin_listener, stop.clone()));

    tasks.spawn(watch_connections(
        Arc::clone(&table),
        facts.clone(),
        clock,
        stop.clone(),
    ));

    let node = config.node_name.clone().unwrap_or_else(host_name);
    let cache = config
        .cache
        .as_deref()
        .map(|path| CacheFile::new(path, config.endpoint.to_string()));
    let settings = settings(&config, &node, &bound, cache.as_ref());
    if let Some(client) = cluster.clone() {
        let seed = settings.seed;
        tasks.spawn(fleet::watch(client, facts.clone(), seed, stop.clone()));
    }
    let shell = AgentShell {
        prober: Prober::new(identity, facts.clone()),
        names: name_watch(&config).map(Arc::new),
        slices: cluster.map(SliceWatch::new),
        cache,
        facts,
        offer,
        table: Arc::clone(&table),
        metrics,
        identity: core::Identity {
            version: version.to_owned(),
            node: node.clone(),
            endpoint: config.endpoint.to_string(),
            listeners: bound.clone(),
            connections_most: most_connections(),
            draining_s: None,
        },
        drain_until,
        status_requests,
        supervisor: Supervisor::from_environment(),
        clock,
    };
    tracing::info!(version, %node, endpoint = %config.endpoint, listeners = ?bound, admin = %admin_bound, "agent started");
    systemd::ready(&format!("listening on {bound:?}"));
    let loop_stop = CancellationToken::new();
    let agent_loop = tokio::spawn(drive(
        Agent::new(settings),
        fact_queue,
        shell,
        clock,
        loop_stop.clone(),
    ));

    signals.stop().await;
    let until = Instant::now() + config.shutdown;
    listeners.close();
    draining.send_replace(Some(until));
    systemd::stopping(config.shutdown);
    tracing::info!(
        connections = table.len(),
        timeout = ?config.shutdown,
        "stopping, open connections may end until the timeout"
    );
    tokio::select! {
        () = drained(&table, until) => {}
        () = signals.stop() => tracing::warn!("told to stop again, open connections are closed now"),
    }
    end_the_rest(&table).await;
    stop.cancel();
    loop_stop.cancel();
    drop(agent_loop.await);
    tasks.close();
    tracing::info!("agent stopped");
    Ok(())
}

/// The agent's own order of upstreams, for its own requests.
fn through(candidates: watch::Receiver<Arc<Candidates>>) -> Route {
    Route::Through(Arc::new(move || {
        let candidates = candidates.borrow();
        candidates.order.iter().map(|c| c.address).collect()
    }))
}

fn settings(
    config: &Config,
    node: &str,
    bound: &[SocketAddr],
    cache: Option<&CacheFile>,
) -> Settings {
    let mut live = match config.endpoint.host {
        Host::Name(_) => vec![Source::DnsA, Source::DnsAaaa],
        Host::Address(_) => Vec::new(),
    };
    if config.kubeconfig.is_some() {
        live.push(Source::EndpointSlices);
    }
    let started = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.subsec_nanos());
    let place = hash_text(node);
    Settings {
        node: place,
        seeds: config.seeds.clone(),
        live,
        remembered: cache.map(|file| file.read(std::time::SystemTime::now())),
        own: bound.to_vec(),
        expiry: config.expiry,
        probe_interval: config.probe_interval,
        patience: config.patience,
        drain: config.drain,
        cuts: config.cuts,
        cut_window: config.cut_window,
        // Agents that start together must not keep step.
        seed: place ^ u64::from(started),
    }
}

fn name_watch(config: &Config) -> Option<NameWatch> {
    match &config.endpoint.host {
        Host::Name(name) => Some(NameWatch::new(
            name,
            config.endpoint.port,
            config.dns_servers.clone(),
        )),
        Host::Address(_) => None,
    }
}

fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Connections are looked at this often.
const WATCH_TICK: Duration = Duration::from_secs(1);

/// Tells the agent which connections are unanswered.
async fn watch_connections(
    table: Arc<Table>,
    facts: mpsc::UnboundedSender<Input>,
    clock: Clock,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(WATCH_TICK) => {}
        }
        for fact in table.unanswered(clock.now_ms()) {
            // Without a receiver the agent is stopping.
            drop(facts.send(fact));
        }
    }
}

/// Waits until all connections have ended, or until the time is over.
async fn drained(table: &Table, until: Instant) {
    while table.len() > 0 && Instant::now() < until {
        sleep(DRAIN_TICK).await;
    }
}

async fn end_the_rest(table: &Table) {
    let left = table.len();
    if left > 0 {
        tracing::warn!(connections = left, "timeout is over, the rest is closed");
        table.end_all(Ending::Close);
        sleep(DRAIN_TICK).await;
    }
}

/// Carries the agent's orders out.
struct AgentShell {
    prober: Prober,
    names: Option<Arc<NameWatch>>,
    slices: Option<SliceWatch>,
    cache: Option<CacheFile>,
    facts: mpsc::UnboundedSender<Input>,
    offer: watch::Sender<Arc<Candidates>>,
    table: Arc<Table>,
    metrics: Arc<Metrics>,
    identity: core::Identity,
    drain_until: watch::Receiver<Option<Instant>>,
    status_requests: mpsc::Receiver<StatusRequest>,
    supervisor: Supervisor,
    clock: Clock,
}

impl AgentShell {
    fn resolve(&self, source: Source) {
        let (names, slices) = (self.names.clone(), self.slices.clone());
        let facts = self.facts.clone();
        tokio::spawn(async move {
            let answer = match (source, names, slices) {
                (Source::DnsA | Source::DnsAaaa, Some(names), _) => names.ask(source).await,
                (Source::EndpointSlices, _, Some(slices)) => slices.ask().await,
                // The agent asks only what it was told that there is.
                _ => return,
            };
            // Without a receiver the agent is stopping.
            drop(facts.send(Input::Resolved { source, answer }));
        });
    }

    fn remember(&self, entries: Vec<Entry>) {
        let Some(cache) = self.cache.clone() else {
            return;
        };
        let facts = self.facts.clone();
        tokio::task::spawn_blocking(move || {
            let written = cache.write(std::time::SystemTime::now(), &entries);
            let failure = written.err();
            drop(facts.send(Input::Remembered { failure }));
        });
    }

    fn report(&self, action: &ActionStatus) {
        self.metrics.acted(action.what, action.reason);
        report::log(action);
    }
}

impl Shell<Agent> for AgentShell {
    type Query = StatusRequest;

    fn obey(&mut self, action: Action) {
        match action {
            Action::AbortProbe { upstream, id } => self.prober.abort(upstream, id),
            Action::Close { connection } => {
                self.table.end(connection, Ending::Close);
            }
            Action::Cut { connection } => {
                self.table.end(connection, Ending::Cut);
            }
            Action::Forget { upstream } => self.prober.forget(upstream),
            Action::Offer(order) => {
                self.offer.send_replace(Arc::new(order));
            }
            Action::Probe {
                upstream,
                id,
                reuse,
            } => self.prober.start(upstream, id, reuse),
            Action::Remember { entries } => self.remember(entries),
            Action::Report(action) => self.report(&action),
            Action::Resolve { source } => self.resolve(source),
            Action::Sample { upstream } => {
                let traffic = self.table.traffic(upstream);
                drop(self.facts.send(Input::Sampled { upstream, traffic }));
            }
        }
    }

    async fn query(&mut self) -> StatusRequest {
        match self.status_requests.recv().await {
            Some(request) => request,
            None => std::future::pending().await,
        }
    }

    fn answer(&mut self, agent: &Agent, request: StatusRequest) {
        let until = *self.drain_until.borrow();
        self.identity.draining_s = until.map(|until| {
            until
                .saturating_duration_since(Instant::now())
                .as_secs_f64()
        });
        // A reader that has gone away needs no answer.
        drop(request.send(agent.status(self.clock.now(), &self.identity)));
    }

    fn settled(&mut self, agent: &Agent) {
        let life = if self.drain_until.borrow().is_some() {
            Life::Draining
        } else if agent.is_ready() {
            Life::Serving
        } else {
            Life::WithoutUpstream
        };
        self.supervisor.alive(life);
    }
}
