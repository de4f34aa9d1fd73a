//! The agent at work: its machine, the shell that carries its orders out, and its life from the
//! first listener to the last connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::agent::{self as core, Action, Agent, ConnectionId, Fallback, Input, Settings};
use holdfast_core::balance::Candidates;
use holdfast_core::budget::WATCH_TICK;
use holdfast_core::cache::Entry;
use holdfast_core::chance::hash_text;
use holdfast_core::config::{Config, Host};
use holdfast_core::opening::PATIENCE_HOPELESS;
use holdfast_core::restart::{self, Limits};
use holdfast_core::status::{ActionStatus, Source, What};
use holdfast_linux::activation::Passed;
use holdfast_linux::descriptors;
use holdfast_linux::listen::ListenError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admin::{Admin, AdminPort, Request};
use crate::cache::CacheFile;
use crate::clock::Clock;
use crate::cluster::{self, Route};
use crate::connection::{Doorway, most_connections};
use crate::dns::NameWatch;
use crate::drive::{Shell, drive};
use crate::endpoint_slices::SliceWatch;
use crate::fleet;
use crate::guard::GuardLine;
use crate::host::{host_name, seed};
use crate::listeners::{self, Listener, Listeners};
use crate::metrics::Metrics;
use crate::probe::Prober;
use crate::reload::{FileWatch, Origin, Reading, Reconfiguration, Reloader};
use crate::repair::Repairer;
use crate::report;
use crate::signal::{Ask, Signals};
use crate::state_file;
use crate::systemd::{self, Life, Supervisor};
use crate::table::{Ending, Table};
use crate::tls::{Identity, TlsError};
use crate::wire;

/// Status requests that wait for the loop; more than that many readers wait for their turn.
const STATUS_REQUESTS: usize = 16;

/// While stopping, open connections are counted this often.
const DRAIN_TICK: Duration = Duration::from_millis(50);

/// Why the agent could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The guard's thread can't be started.
    #[error("start the guard: {0}")]
    Guard(std::io::Error),
    /// An address can't be listened on.
    #[error("{0}")]
    Listen(#[from] ListenError),
    /// A socket that systemd opened can't be used.
    #[error("use the socket {address} from systemd: {source}")]
    Passed {
        /// Where it listens.
        address: SocketAddr,
        /// What the kernel says.
        source: std::io::Error,
    },
    /// Signals can't be waited for.
    #[error("wait for signals: {0}")]
    Signals(std::io::Error),
    /// The CA file or the server name can't be used.
    #[error("{0}")]
    Tls(#[from] TlsError),
}

/// Name of an admin socket from systemd (`FileDescriptorName=`); all others are the proxy's.
const ADMIN_SOCKET: &str = "admin";

/// Runs the agent until SIGTERM or SIGINT, then drains. `passed` are sockets that systemd opened; they
/// take the place of the addresses in the configuration.
///
/// # Errors
/// Whatever keeps it from starting; once it serves it does not fail.
pub async fn run(
    reading: Reading,
    origin: Origin,
    passed: Vec<Passed>,
    version: &str,
) -> Result<(), StartError> {
    let config = reading.config.clone();
    let identity = Arc::new(Identity::load(&config.ca, &config.server_name)?);
    if let Err((limit, error)) = descriptors::raise() {
        tracing::warn!(%error, limit, "descriptor limit could not be raised");
    }
    let mut signals = Signals::catch().map_err(StartError::Signals)?;
    let mut file = FileWatch::new(origin.file.clone());
    let (for_admin, for_clients): (Vec<_>, Vec<_>) =
        passed.into_iter().partition(|p| p.name == ADMIN_SOCKET);
    let mut from_systemd = Vec::new();
    let listeners = if for_clients.is_empty() {
        listeners::open(&config.listen)?
    } else {
        from_systemd.push("listen");
        take_over(for_clients)?
    };
    let admin_listener = take_over(for_admin)?.pop();

    let clock = Clock::start();
    // Whoever serves readers or watches connections does so until the last connection has ended.
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    let metrics = Arc::new(Metrics::default());
    let table = Arc::new(Table::default());
    let (facts, fact_queue) = mpsc::unbounded_channel();
    let (offer, mut candidates) = watch::channel(Arc::new(Candidates::default()));
    let (requests, asked) = mpsc::channel(STATUS_REQUESTS);
    let (draining, drain_until) = watch::channel(None);

    let cluster = config
        .kubeconfig
        .as_deref()
        .map(|path| cluster::client_in_time(path, through(candidates.clone())));
    let bound: Vec<_> = listeners.iter().map(Listener::bound).collect();
    let admin = Admin {
        requests: requests.clone(),
        metrics: Arc::clone(&metrics),
    };
    let admin = AdminPort::new(admin, tasks.clone(), facts.clone());
    let admin_bound = match admin_listener {
        Some(listener) => {
            from_systemd.push("admin");
            Some(admin.serve(listener.into_socket()))
        }
        None => admin.open(config.admin),
    };

    tasks.spawn(watch_connections(
        Arc::clone(&table),
        facts.clone(),
        clock,
        stop.clone(),
    ));

    tasks.spawn(wire::watch(
        Arc::clone(&table),
        facts.clone(),
        clock,
        stop.clone(),
    ));

    let node = node_name(&config);
    let cache = cache_file(&config);
    let settings = settings(&config, &node, &bound, cache.as_ref());
    if let Some(client) = cluster.clone() {
        let seed = settings.seed;
        tasks.spawn(fleet::watch(client, facts.clone(), seed, stop.clone()));
    }
    let guard = config
        .guard
        .clone()
        .map(|chosen| GuardLine::start(chosen, Arc::clone(&table), facts.clone(), clock))
        .transpose()
        .map_err(StartError::Guard)?;
    let shell = AgentShell {
        prober: Prober::new(identity, facts.clone()),
        names: name_watch(&config).map(Arc::new),
        slices: cluster.map(SliceWatch::new),
        cache,
        facts: facts.clone(),
        guard,
        repairer: Repairer::of(config.guard.as_ref(), &facts),
        local: config.local,
        offer,
        table: Arc::clone(&table),
        metrics: Arc::clone(&metrics),
        identity: core::Identity {
            version: version.to_owned(),
            node: node.clone(),
            endpoint: config.endpoint.to_string(),
            listeners: bound.clone(),
            config_file: origin.file.as_ref().map(|f| f.display().to_string()),
            connections_most: most_connections(),
            draining_s: None,
        },
        drain_until,
        asked,
        supervisor: Supervisor::from_environment(),
        clock,
    };
    let admin_address = admin_bound.unwrap_or(config.admin);
    tracing::info!(version, %node, endpoint = %config.endpoint, listeners = ?bound, admin = %admin_address, "agent started");
    systemd::ready(&format!("listening on {bound:?}"));
    let loop_stop = CancellationToken::new();
    let agent_loop = tokio::spawn(drive(
        Agent::new(settings),
        fact_queue,
        shell,
        clock,
        loop_stop.clone(),
    ));

    served_at_once(&mut candidates).await;
    let doorway = Doorway::new(
        clock,
        candidates,
        facts.clone(),
        Arc::clone(&table),
        Arc::clone(&metrics),
    );
    doorway.set_first_byte(config.first_byte);
    let listeners = Listeners::start(listeners, doorway, tasks.clone());
    let mut reloader = Reloader {
        reading,
        origin,
        listeners,
        admin,
        requests,
        facts,
        from_systemd,
    };
    loop {
        tokio::select! {
            ask = signals.next() => match ask {
                Ask::Reload => reloader.reload().await,
                Ask::Stop => break,
            },
            () = file.changed() => reloader.reload().await,
        }
    }
    let shutdown = reloader.reading.config.shutdown;
    let until = Instant::now() + shutdown;
    reloader.listeners.close();
    draining.send_replace(Some(until));
    systemd::stopping(shutdown);
    tracing::info!(
        connections = table.len(),
        timeout = ?shutdown,
        "stopping, open connections may end until the timeout"
    );
    tokio::select! {
        () = drained(&table, until) => {}
        () = signals.stop() => tracing::warn!("told to stop again, open connections are closed now"),
    }
    end_the_rest(&table).await;
    reloader.admin.close();
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

/// Waits for an upstream that is usable, but not for long: clients that have waited for this process
/// in the kernel's queue would otherwise be turned away in the milliseconds before anybody is known.
async fn served_at_once(candidates: &mut watch::Receiver<Arc<Candidates>>) {
    let usable = candidates.wait_for(|offer| offer.usable);
    // Nobody is usable: then clients are turned away as at any other time.
    drop(timeout(PATIENCE_HOPELESS, usable).await);
}

fn take_over(passed: Vec<Passed>) -> Result<Vec<Listener>, StartError> {
    let one = |passed: Passed| {
        let address = passed.address;
        listeners::take_over(passed).map_err(|source| StartError::Passed { address, source })
    };
    passed.into_iter().map(one).collect()
}

/// The set of an earlier life, if there is a file for it.
pub(crate) fn cache_file(config: &Config) -> Option<CacheFile> {
    let file = |path: &std::path::Path| CacheFile::new(path, config.endpoint.to_string());
    config.cache.as_deref().map(file)
}

pub(crate) fn settings(
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
    let place = hash_text(node);
    Settings {
        node: place,
        seeds: config.seeds.clone(),
        live,
        remembered: cache.map(|file| file.read(std::time::SystemTime::now())),
        own: bound.to_vec(),
        expiry: config.expiry,
        probe_interval: config.probe_interval,
        probe_budget: config.probe_budget,
        nodes: config.nodes,
        patience: config.patience,
        drain: config.drain,
        cuts: config.cuts,
        cut_window: config.cut_window,
        grace: config.grace,
        move_home: config.move_home,
        fallback: fallback(config),
        seed: seed(node),
    }
}

/// What is done to units whose dead connections can't be aborted, if anything is.
fn fallback(config: &Config) -> Option<Fallback> {
    let guard = config.guard.as_ref()?;
    let cure = guard.fallback?;
    Some(Fallback {
        cure,
        limits: Limits::default(),
        spread: restart::spread(config.grace, HEARTBEAT, START, guard.interval),
        past: state_file::read_restarts(&guard.restarts),
    })
}

/// Between two heartbeats of a kubelet (a quarter of `nodeLeaseDurationSeconds`).
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What a kubelet takes from its start to its first heartbeat, with a margin.
const START: Duration = Duration::from_secs(10);

pub(crate) fn name_watch(config: &Config) -> Option<NameWatch> {
    match &config.endpoint.host {
        Host::Name(name) => Some(NameWatch::new(
            name,
            config.endpoint.port,
            config.dns_servers.clone(),
        )),
        Host::Address(_) => None,
    }
}

pub(crate) fn node_name(config: &Config) -> String {
    config.node_name.clone().unwrap_or_else(host_name)
}

/// The machine has slept if its clock stood for longer than this.
const SUSPENDED: Duration = Duration::from_millis(500);

/// Tells the agent which connections are unanswered.
async fn watch_connections(
    table: Arc<Table>,
    facts: mpsc::UnboundedSender<Input>,
    clock: Clock,
    stop: CancellationToken,
) {
    let mut slept = Clock::slept();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(WATCH_TICK) => {}
        }
        let slept_now = Clock::slept();
        if slept_now > slept + SUSPENDED {
            tracing::info!("machine slept, everything is asked again before anything is cut");
            drop(facts.send(Input::Suspended));
        }
        slept = slept_now;
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
    guard: Option<GuardLine>,
    repairer: Option<Repairer>,
    facts: mpsc::UnboundedSender<Input>,
    /// The API server on this node, as configured.
    local: Option<SocketAddr>,
    offer: watch::Sender<Arc<Candidates>>,
    table: Arc<Table>,
    metrics: Arc<Metrics>,
    identity: core::Identity,
    drain_until: watch::Receiver<Option<Instant>>,
    asked: mpsc::Receiver<Request>,
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

    /// The shell first, so that whatever the agent then orders is done the new way.
    fn reconfigure(&mut self, new: Reconfiguration) {
        self.prober.expect(new.identity);
        self.names = new.names;
        self.cache = new.cache;
        self.identity.node = new.node;
        self.identity.endpoint = new.endpoint;
        self.identity.listeners = new.listeners;
        // Without a receiver the agent is stopping.
        drop(self.facts.send(Input::Reconfigured {
            settings: Box::new(new.settings),
            changed: new.changed,
        }));
    }

    fn end(&self, connection: ConnectionId, how: Ending) {
        if !self.table.end(connection, how)
            && let Some(guard) = &self.guard
        {
            guard.abort(connection);
        }
    }

    fn sample(&self, upstream: SocketAddr) {
        if let Some(guard) = &self.guard {
            return guard.sample(upstream);
        }
        let traffic = self.table.traffic(upstream);
        // Without a receiver the agent is stopping.
        drop(self.facts.send(Input::Sampled { upstream, traffic }));
    }

    fn report(&self, action: &ActionStatus) {
        self.metrics.acted(action.what, action.reason);
        report::log(action);
        if action.what == What::UpstreamAdded
            && let Some(upstream) = action.upstream
        {
            let here = self.local == Some(upstream) || is_own_address(upstream.ip());
            drop(self.facts.send(Input::Located { upstream, here }));
        }
    }
}

/// Whether an address is this node's own: nobody else's can be bound (bind(2), `EADDRNOTAVAIL`).
/// Loopback is everybody's own.
fn is_own_address(ip: IpAddr) -> bool {
    std::net::UdpSocket::bind((ip, 0)).is_ok()
}

impl Shell<Agent> for AgentShell {
    type Query = Request;

    fn obey(&mut self, action: Action) {
        match action {
            Action::AbortProbe { upstream, id } => self.prober.abort(upstream, id),
            Action::Close { connection } => self.end(connection, Ending::Close),
            Action::Cut { connection } => self.end(connection, Ending::Cut),
            Action::Forget { upstream } => self.prober.forget(upstream),
            Action::Offer(order) => {
                self.offer.send_replace(Arc::new(order));
            }
            Action::Probe {
                upstream,
                id,
                reuse,
            } => self.prober.start(upstream, id, reuse),
            Action::LookAtUnit { unit } => {
                if let Some(repairer) = &self.repairer {
                    repairer.look(unit);
                }
            }
            Action::RestartUnit {
                unit,
                cure,
                forget,
                past,
            } => {
                if let Some(repairer) = &self.repairer {
                    repairer.restart(unit, cure, forget, past);
                }
            }
            Action::Remember { entries } => self.remember(entries),
            Action::Report(action) => self.report(&action),
            Action::Resolve { source } => self.resolve(source),
            Action::Sample { upstream } => self.sample(upstream),
        }
    }

    async fn query(&mut self) -> Request {
        match self.asked.recv().await {
            Some(request) => request,
            None => std::future::pending().await,
        }
    }

    fn answer(&mut self, agent: &Agent, request: Request) {
        match request {
            Request::Reconfigure(new) => self.reconfigure(*new),
            Request::Status(answer) => {
                let until = *self.drain_until.borrow();
                let left = |until: Instant| until.saturating_duration_since(Instant::now());
                self.identity.draining_s = until.map(|until| left(until).as_secs_f64());
                // A reader that has gone away needs no answer.
                let mut status = agent.status(self.clock.now(), &self.identity);
                status.guard = self.guard.as_ref().map(GuardLine::status);
                drop(answer.send(status));
            }
        }
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
        if let Some(guard) = &self.guard {
            guard.follow(agent);
        }
    }
}
