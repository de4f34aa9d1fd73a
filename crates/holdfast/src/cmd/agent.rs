//! `holdfast agent`: flags, environment and file become one configuration; then the agent runs.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use holdfast_core::config::{Config, ConfigError, LogFormat, LogLevel, RawConfig, time};
use holdfast_linux::activation;
use holdfast_node::agent::{self as node, StartError};
use holdfast_node::config::read;
use holdfast_node::guard::drop_privileges;
use holdfast_node::reload::{Origin, Reading};
use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, reload};

use crate::exit::{Failure, Outcome, input, unable};

mod guard;

use guard::GuardFlags;

/// What is given to `--listen` so that nobody is listened for.
const NOBODY: &str = "none";

/// Arguments of `holdfast agent`. Each has a field of the same name in the configuration file; a
/// flag wins over the environment, the environment over the file.
#[derive(Debug, Default, Args)]
pub struct Agent {
    /// Configuration file, one YAML document
    #[arg(long, value_name = "FILE", env = "HOLDFAST_CONFIG")]
    pub config: Option<PathBuf>,
    /// The cluster's endpoint as nodes know it; its name is watched in DNS
    #[arg(long, value_name = "https://NAME:PORT", env = "HOLDFAST_ENDPOINT")]
    pub endpoint: Option<String>,
    /// PEM certificates of the cluster's CA
    #[arg(long, value_name = "FILE", env = "HOLDFAST_CA")]
    pub ca: Option<PathBuf>,
    /// Name that the API servers' certificate must be for [default: the endpoint's host]
    #[arg(long, value_name = "NAME", env = "HOLDFAST_SERVER_NAME")]
    pub server_name: Option<String>,
    /// Name of this node; decides which upstream it prefers [default: the host's name]
    #[arg(long, value_name = "NAME", env = "HOLDFAST_NODE_NAME")]
    pub node_name: Option<String>,
    /// Loopback address that clients connect to.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_LISTEN",
        value_delimiter = ',',
        help = "Loopback address that clients connect to; may be repeated; none for a \
                guard alone [default: 127.0.0.1:6445 and [::1]:6445]"
    )]
    pub listen: Vec<String>,
    /// Loopback address of /livez, /readyz, /status and /metrics [default: 127.0.0.1:6446]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HOLDFAST_ADMIN")]
    pub admin: Option<String>,
    /// An API server that is always tried, whatever DNS says; may be repeated
    #[arg(
        long = "seed",
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_SEEDS",
        value_delimiter = ','
    )]
    pub seeds: Vec<String>,
    /// Kubeconfig that may read the API servers' own list of themselves
    #[arg(long, value_name = "FILE", env = "HOLDFAST_KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,
    /// File in which the last good set of addresses is remembered
    #[arg(long, value_name = "FILE", env = "HOLDFAST_CACHE")]
    pub cache: Option<PathBuf>,
    /// A resolver to ask; may be repeated [default: those of /etc/resolv.conf]
    #[arg(
        long = "dns-server",
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_DNS_SERVERS",
        value_delimiter = ','
    )]
    pub dns_servers: Vec<String>,
    /// Time between two probes of one upstream [default: this node's share of budget, and 500 ms at least.
    /// While something is suspected it is 500 ms in any case]
    #[arg(long, value_name = "TIME", env = "HOLDFAST_PROBE_INTERVAL", value_parser = time::parse)]
    pub probe_interval: Option<std::time::Duration>,
    /// Time for which connections stay on an upstream that drains [default: 10m]
    #[arg(long, value_name = "TIME", env = "HOLDFAST_DRAIN_TIMEOUT", value_parser = time::parse)]
    pub drain_timeout: Option<std::time::Duration>,
    /// Time that open connections get to end after SIGTERM [default: 5s]
    #[arg(long, value_name = "TIME", env = "HOLDFAST_SHUTDOWN_TIMEOUT", value_parser = time::parse)]
    pub shutdown_timeout: Option<std::time::Duration>,
    #[command(flatten)]
    guard: GuardFlags,
    /// Form of a log line: text or json [default: text]
    #[arg(long, value_name = "FORMAT", env = "HOLDFAST_LOG_FORMAT", value_parser = log_format)]
    pub log_format: Option<LogFormat>,
    /// What is logged: error, warn, info or debug [default: info]
    #[arg(long, value_name = "LEVEL", env = "HOLDFAST_LOG_LEVEL", value_parser = log_level)]
    pub log_level: Option<LogLevel>,
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("found {text:?}; accepted: text, json")),
    }
}

pub(super) fn log_level(text: &str) -> Result<LogLevel, String> {
    match text {
        "error" => Ok(LogLevel::Error),
        "warn" => Ok(LogLevel::Warn),
        "info" => Ok(LogLevel::Info),
        "debug" => Ok(LogLevel::Debug),
        _ => Err(format!(
            "found {text:?}; accepted: error, warn, info, debug"
        )),
    }
}

impl Agent {
    /// The configuration that file, environment and flags make together.
    ///
    /// # Errors
    /// The file can't be read, or a field is wrong.
    pub fn configuration(&self) -> Result<Config, Failure> {
        self.read().map(|reading| reading.config).map_err(input)
    }

    fn read(&self) -> anyhow::Result<Reading> {
        let file = match &self.config {
            Some(path) => read(path)?,
            None => RawConfig::default(),
        };
        let raw = self.over(file);
        let mut fields = BTreeMap::new();
        flatten("", &serde_json::to_value(&raw)?, &mut fields);
        let config = Config::parse(raw).map_err(|error| anyhow!(self.locate(&error)))?;
        Ok(Reading { config, fields })
    }

    fn over(&self, file: RawConfig) -> RawConfig {
        let mut raw = file;
        let list = |flags: &[String], field: &mut Vec<String>| {
            if !flags.is_empty() {
                flags.clone_into(field);
            }
        };
        list(&self.listen, &mut raw.listen);
        list(&self.seeds, &mut raw.seeds);
        list(&self.dns_servers, &mut raw.dns.servers);
        raw.listen.retain(|address| address != NOBODY);
        self.guard.over(&mut raw.guard);
        raw.endpoint = self.endpoint.clone().or(raw.endpoint);
        raw.ca = self.ca.clone().or(raw.ca);
        raw.kubeconfig = self.kubeconfig.clone().or(raw.kubeconfig);
        raw.cache = self.cache.clone().or(raw.cache);
        raw.server_name = self.server_name.clone().or(raw.server_name);
        raw.node_name = self.node_name.clone().or(raw.node_name);
        raw.admin = self.admin.clone().unwrap_or(raw.admin);
        raw.probe.interval = self.probe_interval.or(raw.probe.interval);
        raw.drain.timeout = self.drain_timeout.unwrap_or(raw.drain.timeout);
        raw.shutdown.timeout = self.shutdown_timeout.unwrap_or(raw.shutdown.timeout);
        raw.log.format = self.log_format.unwrap_or(raw.log.format);
        raw.log.level = self.log_level.unwrap_or(raw.log.level);
        raw
    }

    /// Says where a wrong value came from: the flag and its variable, or the file.
    fn locate(&self, error: &ConfigError) -> String {
        let given = [
            ("endpoint", "--endpoint", self.endpoint.is_some()),
            ("ca", "--ca", self.ca.is_some()),
            ("serverName", "--server-name", self.server_name.is_some()),
            ("listen", "--listen", !self.listen.is_empty()),
            ("admin", "--admin", self.admin.is_some()),
            ("seeds", "--seed", !self.seeds.is_empty()),
            ("kubeconfig", "--kubeconfig", self.kubeconfig.is_some()),
            ("cache", "--cache", self.cache.is_some()),
            ("guard.units", "--guard-unit", self.guard.names_units()),
            (
                "guard.fallback",
                "--guard-fallback",
                self.guard.names_fallback(),
            ),
            ("dns.servers", "--dns-server", !self.dns_servers.is_empty()),
            (
                "probe.interval",
                "--probe-interval",
                self.probe_interval.is_some(),
            ),
            (
                "drain.timeout",
                "--drain-timeout",
                self.drain_timeout.is_some(),
            ),
            (
                "shutdown.timeout",
                "--shutdown-timeout",
                self.shutdown_timeout.is_some(),
            ),
        ];
        let flag = given.iter().find(|(field, ..)| *field == error.field);
        let missing = error.found == "nothing";
        match (flag, &self.config) {
            (Some((_, flag, true)), _) => format!(
                "{flag}: found {}; accepted: {}",
                error.found, error.accepted
            ),
            (Some((_, flag, false)), None) if missing => {
                format!(
                    "{flag} (or {} in --config FILE): found nothing; accepted: {}",
                    error.field, error.accepted
                )
            }
            (_, Some(path)) => format!("{}: {error}", path.display()),
            (_, None) => error.to_string(),
        }
    }
}

/// Each value that is no object, by its path.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    if let Value::Object(fields) = value {
        for (name, value) in fields {
            let dot = if path.is_empty() { "" } else { "." };
            flatten(&format!("{path}{dot}{name}"), value, into);
        }
    } else {
        into.insert(path.to_owned(), value.to_string());
    }
}

/// Runs the agent until it is told to stop.
pub(crate) fn run(agent: Agent) -> Result<Outcome, Failure> {
    // Before there is a second thread.
    let passed = activation::take().map_err(input)?;
    let reading = agent.read().map_err(input)?;
    let set_log_level = start_log(reading.config.log_format, reading.config.log_level);
    let origin = Origin {
        file: agent.config.clone(),
        read: Box::new(move || agent.read().map_err(|error| format!("{error:#}"))),
        set_log_level: Box::new(set_log_level),
    };
    drop_privileges(&reading.config)
        .context("give up privileges")
        .map_err(unable)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .enable_all()
        .build()
        .context("start the runtime")
        .map_err(unable)?;
    match runtime.block_on(node::run(
        reading,
        origin,
        passed,
        env!("CARGO_PKG_VERSION"),
    )) {
        Ok(()) => Ok(Outcome::Held),
        Err(error @ (StartError::Tls(_) | StartError::Passed { .. })) => Err(input(error)),
        Err(StartError::Listen(error)) => {
            let hint = error.owner.as_ref().map(|owner| {
                format!(
                    "stop process {}, or choose another address with --listen",
                    owner.pid
                )
            });
            Err(Failure::Unable(error.into(), hint))
        }
        Err(error @ (StartError::Guard(_) | StartError::Signals(_))) => Err(unable(error)),
    }
}

/// A proxy for one node: two workers are enough, and leave the rest to the node's own work.
fn workers() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(2)
}

/// Starts the log; gives the way to another level.
pub(super) fn start_log(
    format: LogFormat,
    level: LogLevel,
) -> impl Fn(LogLevel) + Send + Sync + 'static {
    let (filter, handle) = reload::Layer::new(filter(level));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).init(),
        LogFormat::Text => registry
            .with(layer.with_ansi(crate::print::colours(&io::stderr())))
            .init(),
    }
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "this is a bug; the process ends and its supervisor starts a clean one");
        default(panic);
    }));
    move |level| {
        // It fails only when the log is gone, and then there is nobody to be told.
        drop(handle.reload(self::filter(level)));
    }
}

fn filter(level: LogLevel) -> EnvFilter {
    EnvFilter::new(format!(
        "error,holdfast={0},holdfast_node={0},holdfast_linux={0}",
        level.as_str()
    ))
}
