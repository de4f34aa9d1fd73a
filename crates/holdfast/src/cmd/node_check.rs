//! `holdfast node-check`: is this node ready, and if not, the cures in the order of their harm.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use holdfast_core::config::{LogFormat, LogLevel, time};
use holdfast_core::node_check::{Ready, Reply, Settings};
use holdfast_core::restart::Limits;
use holdfast_node::host::{host_name, seed};
use holdfast_node::node_check::{self as node, StartError};
use serde_json::json;

use super::agent::{log_format, log_level, start_log};
use super::run_to_end;
use super::watch::{full, is_service};
use crate::exit::{Failure, Outcome, input, unable};

/// Arguments of `holdfast node-check`.
#[derive(Debug, Args)]
pub struct NodeChecker {
    /// Kubeconfig with which the API is asked; it needs more rights than the kubelet's own
    #[arg(long, value_name = "FILE", env = "HOLDFAST_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// Name of this node in the cluster [default: the host's name]
    #[arg(long, value_name = "NAME", env = "HOLDFAST_NODE_NAME")]
    node_name: Option<String>,
    /// A unit that is cured, the kubelet first; may be repeated
    #[arg(
        long = "unit",
        value_name = "UNIT",
        env = "HOLDFAST_NODE_CHECK_UNITS",
        value_delimiter = ',',
        default_value = "kubelet.service,kube-proxy.service"
    )]
    units: Vec<String>,
    /// A port of the API servers or of a proxy before them; may be repeated [default: the kubeconfig's]
    #[arg(
        long = "api-port",
        value_name = "PORT",
        env = "HOLDFAST_NODE_CHECK_API_PORTS",
        value_delimiter = ','
    )]
    api_ports: Vec<u16>,
    /// Time between two checks
    #[arg(long, value_name = "TIME", env = "HOLDFAST_NODE_CHECK_INTERVAL", value_parser = time::parse, default_value = "20s")]
    interval: Duration,
    /// Checks in a row that must find the node not ready
    #[arg(long, value_name = "N", env = "HOLDFAST_NODE_CHECK_FAILURES", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    failures: u32,
    /// Time for the node to become ready after its connections were severed
    #[arg(long, value_name = "TIME", env = "HOLDFAST_NODE_CHECK_SETTLE", value_parser = time::parse, default_value = "30s")]
    settle: Duration,
    /// Never restart a unit; sever connections alone
    #[arg(long, env = "HOLDFAST_NODE_CHECK_NO_RESTART")]
    no_restart: bool,
    /// Shortest time between two restarts of one unit
    #[arg(long, value_name = "TIME", env = "HOLDFAST_NODE_CHECK_HOLD_DOWN", value_parser = time::parse, default_value = "10m")]
    hold_down: Duration,
    /// Restarts of one unit in an hour
    #[arg(
        long,
        value_name = "N",
        env = "HOLDFAST_NODE_CHECK_RESTARTS",
        default_value_t = 3
    )]
    restarts: u32,
    /// Time over which a fleet spreads its restarts
    #[arg(long, value_name = "TIME", env = "HOLDFAST_NODE_CHECK_SPREAD", value_parser = time::parse, default_value = "30s")]
    spread: Duration,
    /// Nodes in a hundred that may restart their units at once
    #[arg(long, value_name = "PERCENT", env = "HOLDFAST_NODE_CHECK_SHARE", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    share: u32,
    /// Namespace of the leases by which the fleet agrees on that
    #[arg(
        long,
        value_name = "NAMESPACE",
        env = "HOLDFAST_NODE_CHECK_NAMESPACE",
        default_value = "holdfast"
    )]
    lease_namespace: String,
    /// File for the latest restarts
    #[arg(
        long,
        value_name = "FILE",
        env = "HOLDFAST_NODE_CHECK_STATE_FILE",
        default_value = "/run/holdfast-node-check/restarts.json"
    )]
    state_file: PathBuf,
    /// Ask once, print the answer, and end: 0 when the node is ready, 1 when it is not
    #[arg(long)]
    once: bool,
    /// What to print with --once
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Form of a log line: text or json
    #[arg(long, value_name = "FORMAT", env = "HOLDFAST_LOG_FORMAT", value_parser = log_format, default_value = "text")]
    log_format: LogFormat,
    /// What is logged: error, warn, info or debug
    #[arg(long, value_name = "LEVEL", env = "HOLDFAST_LOG_LEVEL", value_parser = log_level, default_value = "info")]
    log_level: LogLevel,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A line for people
    Text,
    /// JSON for programs
    Json,
}

/// How far the clocks may differ: half of the shortest grace period in use.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(20);

impl NodeChecker {
    fn kubeconfig(&self) -> Result<PathBuf, Failure> {
        self.kubeconfig.clone().ok_or_else(|| {
            input(anyhow!(
                "--kubeconfig (or HOLDFAST_KUBECONFIG): found nothing; accepted: a kubeconfig that \
                 may read nodes and write leases"
            ))
        })
    }

    fn node(&self) -> String {
        self.node_name.clone().unwrap_or_else(host_name)
    }

    fn options(&self) -> Result<node::Options, Failure> {
        let units: Vec<String> = self.units.iter().map(|unit| full(unit)).collect();
        if let Some(unit) = units.iter().find(|unit| !is_service(unit)) {
            return Err(input(anyhow!(
                "--unit: found {unit:?}; accepted: the name of a service, for example kubelet.service"
            )));
        }
        let node_name = self.node();
        Ok(node::Options {
            kubeconfig: self.kubeconfig()?,
            ports: self.api_ports.iter().copied().collect(),
            share: self.share,
            namespace: self.lease_namespace.clone(),
            state_file: self.state_file.clone(),
            settings: Settings {
                seed: seed(&node_name),
                node: node_name,
                units,
                interval: self.interval.max(Duration::from_secs(1)),
                failures: self.failures,
                sever: true,
                restart: !self.no_restart,
                settle: self.settle,
                limits: Limits {
                    hold_down: self.hold_down,
                    most: self.restarts,
                    ..Limits::default()
                },
                spread: self.spread,
                clock_tolerance: CLOCK_TOLERANCE,
            },
        })
    }
}

/// Runs the check until it is told to stop, or asks once.
pub(crate) fn run(arguments: &NodeChecker, out: &mut impl Write) -> Result<Outcome, Failure> {
    if arguments.once {
        return once(arguments, out);
    }
    let options = arguments.options()?;
    let _level = start_log(arguments.log_format, arguments.log_level);
    run_to_end(node::run(options, env!("CARGO_PKG_VERSION")))?.map_err(explain)?;
    Ok(Outcome::Held)
}

fn explain(error: StartError) -> Failure {
    match error {
        StartError::Kubeconfig(_) | StartError::Port { .. } => input(error),
        StartError::Signals(_) | StartError::Systemd(_) => unable(error),
    }
}

fn once(arguments: &NodeChecker, out: &mut impl Write) -> Result<Outcome, Failure> {
    let (kubeconfig, node_name) = (arguments.kubeconfig()?, arguments.node());
    let reply = run_to_end(node::ask_once(&kubeconfig, &node_name))?.map_err(explain)?;
    let (mut ready, mut clock_s) = (None, None);
    if let Reply::Node {
        ready: says, clock, ..
    } = &reply
    {
        ready = Some(*says == Ready::True);
        clock_s = *clock;
    }
    let text = match arguments.output {
        Output::Text => format!("{node_name}: {}\n", reply.words()),
        Output::Json => {
            let answer = json!({
                "node": node_name,
                "ready": ready,
                "answer": reply.words(),
                "clock_s": clock_s,
            });
            format!("{answer:#}\n")
        }
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    match ready {
        Some(true) => Ok(Outcome::Held),
        Some(false) => Ok(Outcome::NotHeld),
        None => Err(unable(anyhow!("whether {node_name} is ready is not known"))),
    }
}
