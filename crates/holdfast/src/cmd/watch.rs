//! `holdfast watch`: the watcher of kube-aws#598 done right, with the same variables.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use holdfast_core::config::{LogFormat, LogLevel, time};
use holdfast_core::restart::{Cure, Limits, spread};
use holdfast_core::sources::Expiry;
use holdfast_core::watch::{Settings, Strategy, WatchStatus, status};
use holdfast_node::host::{host_name, seed};
use holdfast_node::watch::{self as node, StartError};

use super::agent::{log_format, log_level, start_log};
use super::run_to_end;
use super::status::{print_table, table};
use crate::exit::{Failure, Outcome, input, unable};
use crate::print;

/// Arguments of `holdfast watch`.
#[derive(Debug, Args)]
pub struct Watcher {
    /// DNS name of the API endpoint, without scheme and port
    #[arg(long, value_name = "NAME", env = "API_ENDPOINT_DNS_NAME")]
    name: Option<String>,
    /// File for what is known: addresses with their ages, and the latest restarts
    #[arg(
        long,
        value_name = "FILE",
        env = "ELB_BACKENDS_VERSION_FILE",
        default_value = "/run/holdfast-watch/state.json"
    )]
    state_file: PathBuf,
    /// A unit whose connections are watched; may be repeated
    #[arg(
        long = "unit",
        value_name = "UNIT",
        env = "KUBELET_SYSTEMD_UNIT_NAME",
        value_delimiter = ',',
        default_value = "kubelet.service,kube-proxy.service"
    )]
    units: Vec<String>,
    /// What is done to a unit that is connected to an address that left DNS
    #[arg(
        long,
        value_enum,
        env = "KUBELET_RESTART_STRATEGY",
        default_value = "sever"
    )]
    strategy: Chosen,
    /// What is done where severing is not possible
    #[arg(
        long,
        value_enum,
        env = "HOLDFAST_WATCH_FALLBACK",
        default_value = "systemctl"
    )]
    fallback: Fallback,
    /// Seconds between two looks at connections while an address has left DNS
    #[arg(
        long,
        value_name = "SECONDS",
        env = "WATCH_INTERVAL_SEC",
        default_value_t = 3,
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    interval: u64,
    /// Grace period of the node controller: a fleet spreads its actions over what is left of it
    #[arg(long, value_name = "TIME", env = "HOLDFAST_WATCH_GRACE_PERIOD", value_parser = time::parse, default_value = "40s")]
    grace_period: Duration,
    /// Time in which a unit starts and is heard of again
    #[arg(long, value_name = "TIME", env = "HOLDFAST_WATCH_START_TIME", value_parser = time::parse, default_value = "10s")]
    start_time: Duration,
    /// Shortest time between two restarts of one unit
    #[arg(long, value_name = "TIME", env = "HOLDFAST_WATCH_HOLD_DOWN", value_parser = time::parse, default_value = "10m")]
    hold_down: Duration,
    /// Restarts of one unit in an hour
    #[arg(
        long,
        value_name = "N",
        env = "HOLDFAST_WATCH_RESTARTS",
        default_value_t = 3
    )]
    restarts: u32,
    /// A resolver to ask; may be repeated [default: those of /etc/resolv.conf]
    #[arg(
        long = "dns-server",
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_DNS_SERVERS",
        value_delimiter = ','
    )]
    dns_servers: Vec<SocketAddr>,
    /// Record lifetimes without an address before it has left
    #[arg(long, value_name = "N", env = "HOLDFAST_WATCH_LIFETIMES", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    lifetimes: u32,
    /// Show what the watcher on this node knows and has done, and end
    #[arg(long)]
    show: bool,
    /// What to print with --show
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Form of a log line: text or json
    #[arg(long, value_name = "FORMAT", env = "HOLDFAST_LOG_FORMAT", value_parser = log_format, default_value = "text")]
    log_format: LogFormat,
    /// What is logged: error, warn, info or debug
    #[arg(long, value_name = "LEVEL", env = "HOLDFAST_LOG_LEVEL", value_parser = log_level, default_value = "info")]
    log_level: LogLevel,
}

/// What is done to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chosen {
    /// Abort its connections to that address, and nothing else
    Sever,
    /// Restart it through systemd
    Systemctl,
    /// Let systemd's watchdog restart it, as its Restart= says
    Watchdog,
}

/// What is done where severing is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Fallback {
    /// Nothing but saying so
    None,
    /// Restart it through systemd
    Systemctl,
    /// Let systemd's watchdog restart it, as its Restart= says
    Watchdog,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table for people
    Table,
    /// JSON for programs
    Json,
}

/// Longest lifetime that is believed: a resolver is asked at least so often.
const LONGEST_LIFETIME: Duration = Duration::from_mins(1);

/// A kubelet sends a heartbeat so often (`nodeLeaseDurationSeconds` of 40 s, a quarter of which is the
/// interval of renewal: kubernetes `pkg/kubelet/kubelet.go`).
const HEARTBEAT: Duration = Duration::from_secs(10);

/// More addresses of a name are not watched.
const MOST_ADDRESSES: usize = 256;

/// Answers in a row without an address before it has left, beside its lifetimes.
const ANSWERS: u32 = 3;

impl Watcher {
    fn options(&self) -> Result<node::Options, Failure> {
        let name = self.name.clone().unwrap_or_default();
        let name = name.trim_end_matches('.');
        if name.is_empty() {
            return Err(wrong("--name (or API_ENDPOINT_DNS_NAME)", "nothing"));
        }
        if name.parse::<std::net::IpAddr>().is_ok() || name.contains([':', '/', ' ']) {
            return Err(wrong(
                "--name (or API_ENDPOINT_DNS_NAME)",
                &format!("{name:?}"),
            ));
        }
        let units: Vec<String> = self.units.iter().map(|unit| full(unit)).collect();
        if let Some(unit) = units.iter().find(|unit| !is_service(unit)) {
            return Err(input(anyhow!(
                "--unit (or KUBELET_SYSTEMD_UNIT_NAME): found {unit:?}; accepted: the name of a \
                 service, for example kubelet.service"
            )));
        }
        let interval = Duration::from_secs(self.interval);
        let cure = match self.fallback {
            Fallback::None => None,
            Fallback::Systemctl => Some(Cure::Systemctl),
            Fallback::Watchdog => Some(Cure::Watchdog),
        };
        Ok(node::Options {
            name: name.to_owned(),
            dns_servers: self.dns_servers.clone(),
            state_file: self.state_file.clone(),
            settings: Settings {
                units,
                strategy: match self.strategy {
                    Chosen::Sever => Strategy::Sever,
                    Chosen::Systemctl => Strategy::Restart(Cure::Systemctl),
                    Chosen::Watchdog => Strategy::Restart(Cure::Watchdog),
                },
                fallback: cure,
                expiry: Expiry {
                    answers: ANSWERS,
                    lifetimes: self.lifetimes,
                    shortest: Duration::from_secs(1),
                    longest: LONGEST_LIFETIME,
                    most: MOST_ADDRESSES,
                },
                interval,
                limits: Limits {
                    hold_down: self.hold_down,
                    most: self.restarts,
                    ..Limits::default()
                },
                spread: spread(self.grace_period, HEARTBEAT, self.start_time, interval),
                seed: seed(&host_name()),
            },
        })
    }
}

fn wrong(flag: &str, found: &str) -> Failure {
    input(anyhow!(
        "{flag}: found {found}; accepted: a DNS name, for example api.example.com"
    ))
}

/// systemctl(1): without a suffix a unit is a service.
pub(super) fn full(unit: &str) -> String {
    if unit.contains('.') {
        unit.to_owned()
    } else {
        format!("{unit}.service")
    }
}

/// Characters and length as in systemd.unit(5).
pub(super) fn is_service(unit: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c);
    unit.strip_suffix(".service")
        .is_some_and(|name| !name.is_empty())
        && unit.len() < 256
        && unit.chars().all(allowed)
}

/// Runs the watcher until it is told to stop, or shows what it knows.
pub(crate) fn run(arguments: &Watcher, out: &mut impl Write) -> Result<Outcome, Failure> {
    if arguments.show {
        return show(arguments, out);
    }
    let options = arguments.options()?;
    let _level = start_log(arguments.log_format, arguments.log_level);
    let ended = run_to_end(node::run(options, env!("CARGO_PKG_VERSION")))?;
    match ended {
        Ok(()) => Ok(Outcome::Held),
        Err(error @ (StartError::Signals(_) | StartError::Systemd(_))) => Err(unable(error)),
    }
}

fn show(arguments: &Watcher, out: &mut impl Write) -> Result<Outcome, Failure> {
    let path = arguments.state_file.display();
    let text = fs::read_to_string(&arguments.state_file)
        .with_context(|| format!("read {path}"))
        .map_err(|error| {
            let hint = "does the watcher run, with this --state-file?".to_owned();
            Failure::Unable(error, Some(hint))
        })?;
    let status = status(&text).map_err(|why| unable(anyhow!("{path}: {why}")))?;
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&status).map_err(unable)? + "\n",
        Output::Table => render(&status, print::colours(&io::stdout())),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    let trouble = status.blind.is_some() || status.units.iter().any(|u| u.withheld.is_some());
    Ok(if trouble {
        Outcome::NotHeld
    } else {
        Outcome::Held
    })
}

fn render(status: &WatchStatus, colours: bool) -> String {
    let mut addresses = table(colours, &["ADDRESS", "STATE", "USED BY"]);
    for address in &status.addresses {
        let state = match address.left_s {
            None => format!("in DNS, named {:.0} s before", address.named_s),
            Some(left) => format!("left DNS {left:.0} s before"),
        };
        addresses.add_row([
            address.address.to_string(),
            state,
            address.connected.join(", "),
        ]);
    }
    let mut units = table(colours, &["UNIT", "STATE", "RESTARTED", "WITHHELD"]);
    for unit in &status.units {
        let restarted = unit.restarted_s.map(|s| format!("{s:.0} s before"));
        let withheld = unit.withheld.map(|reason| reason.as_str().to_owned());
        units.add_row([
            unit.unit.clone(),
            unit.state.clone(),
            restarted.unwrap_or_default(),
            withheld.unwrap_or_default(),
        ]);
    }
    let mut actions = table(colours, &["AT", "WHAT", "REASON", "EVIDENCE", "THEN"]);
    for action in status.actions.iter().rev().take(15).rev() {
        actions.add_row([
            format!("{:.1} s", action.at_s),
            action.what.as_str().to_owned(),
            action.reason.as_str().to_owned(),
            action.evidence.clone(),
            action.next.clone(),
        ]);
    }
    let blind = status.blind.as_ref();
    let blind = blind.map(|why| format!("connections can't be seen: {why}\n\n"));
    [
        blind.unwrap_or_default(),
        print_table(&addresses),
        "\n".to_owned(),
        print_table(&units),
        "\n".to_owned(),
        print_table(&actions),
    ]
    .concat()
}
