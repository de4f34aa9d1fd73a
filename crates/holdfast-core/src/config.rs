//! The agent's configuration, valid by construction.
//!
//! [`RawConfig`] is what is written down; [`Config::parse`] makes a [`Config`] of it or says which
//! field is wrong, what was found there and what is accepted.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::sources::{Expiry, canonical, is_own};

mod guard;
mod raw;
#[cfg(test)]
mod tests;
pub mod time;

pub use guard::{Clients, Guard, Unit};
pub use raw::{
    LogFormat, LogLevel, RawConfig, RawDns, RawDrain, RawFleet, RawGuard, RawLimits, RawLog,
    RawProbe, RawShutdown,
};

/// One wrong field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}; accepted: {accepted}")]
pub struct ConfigError {
    /// The field's path, as in the file.
    pub field: &'static str,
    /// What was found there.
    pub found: String,
    /// What is accepted there.
    pub accepted: &'static str,
}

/// The endpoint that clients are told to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address.
    pub host: Host,
    /// Port.
    pub port: u16,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.host {
            Host::Name(name) => write!(f, "https://{name}:{}", self.port),
            Host::Address(ip) => write!(f, "https://{}", SocketAddr::new(*ip, self.port)),
        }
    }
}

/// The host of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A DNS name, which is watched.
    Name(String),
    /// An address, which is used as it is.
    Address(IpAddr),
}

/// A valid configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// See [`RawConfig::endpoint`].
    pub endpoint: Endpoint,
    /// See [`RawConfig::ca`].
    pub ca: PathBuf,
    /// See [`RawConfig::server_name`].
    pub server_name: String,
    /// See [`RawConfig::node_name`]; `None` means the host's name.
    pub node_name: Option<String>,
    /// See [`RawConfig::listen`].
    pub listen: Vec<SocketAddr>,
    /// See [`RawConfig::admin`].
    pub admin: SocketAddr,
    /// See [`RawConfig::seeds`], with the endpoint's own address where it is one.
    pub seeds: Vec<SocketAddr>,
    /// See [`RawConfig::kubeconfig`].
    pub kubeconfig: Option<PathBuf>,
    /// See [`RawConfig::cache`].
    pub cache: Option<PathBuf>,
    /// See [`RawDns::servers`].
    pub dns_servers: Vec<SocketAddr>,
    /// See [`RawDns`].
    pub expiry: Expiry,
    /// See [`RawConfig::local`]; it is in `seeds` too.
    pub local: Option<SocketAddr>,
    /// See [`RawFleet::nodes`].
    pub nodes: Option<u64>,
    /// See [`RawConfig::move_home`].
    pub move_home: bool,
    /// See [`RawProbe::interval`].
    pub probe_interval: Option<Duration>,
    /// See [`RawProbe::budget`].
    pub probe_budget: u32,
    /// See [`RawProbe::patience`].
    pub patience: Duration,
    /// See [`RawDrain::timeout`].
    pub drain: Duration,
    /// See [`RawConfig::guard`].
    pub guard: Option<Guard>,
    /// See [`RawLimits::cuts`].
    pub cuts: u32,
    /// See [`RawLimits::window`].
    pub cut_window: Duration,
    /// See [`RawLimits::first_byte`].
    pub first_byte: Duration,
    /// See [`RawLimits::grace_period`].
    pub grace: Duration,
    /// See [`RawShutdown::timeout`].
    pub shutdown: Duration,
    /// See [`RawLog::format`].
    pub log_format: LogFormat,
    /// See [`RawLog::level`].
    pub log_level: LogLevel,
}

const ENDPOINT: &str =
    "https://NAME:PORT or https://ADDRESS:PORT, for example https://api.example.com:6443";
const CA: &str =
    "a file with the PEM certificates of the cluster's CA, usually /etc/kubernetes/pki/ca.crt";
const LOOPBACK: &str = "loopback addresses with a port, for example 127.0.0.1:6445: a node's proxy serves that node alone; none only where the guard is enabled";
const ADMIN: &str = "a loopback address with a port, for example 127.0.0.1:6446";
const UPSTREAM: &str =
    "ADDRESS:PORT of an API server, for example 10.0.0.11:6443 or [fd00::11]:6443";
const KUBECONFIG: &str =
    "the path of a kubeconfig, for example /etc/holdfast/kubeconfig; it may appear later";
const CACHE: &str = "the path of a file, for example /var/lib/holdfast/addresses";

impl Config {
    /// Makes a configuration of what is written down.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn parse(raw: RawConfig) -> Result<Self, ConfigError> {
        let endpoint = parse_endpoint(raw.endpoint.as_deref())?;
        let ca = raw.ca.ok_or_else(|| wrong("ca", "nothing", CA))?;
        let server_name = match (raw.server_name, &endpoint.host) {
            (Some(name), _) if name.is_empty() => {
                return Err(wrong(
                    "serverName",
                    "an empty name",
                    "a DNS name or an address",
                ));
            }
            (Some(name), _) => name,
            (None, Host::Name(name)) => name.clone(),
            (None, Host::Address(ip)) => ip.to_string(),
        };
        let listen = addresses("listen", &raw.listen, LOOPBACK)?;
        let guard = Guard::parse(raw.guard)?;
        if listen.is_empty() && guard.is_none() {
            return Err(wrong("listen", "an empty list", LOOPBACK));
        }
        if let Some(open) = listen.iter().find(|a| !a.ip().is_loopback()) {
            return Err(wrong("listen", open, LOOPBACK));
        }
        let admin = address("admin", &raw.admin, ADMIN)?;
        if !admin.ip().is_loopback() {
            return Err(wrong("admin", admin, ADMIN));
        }
        if listen.contains(&admin) && admin.port() != 0 {
            return Err(wrong(
                "admin",
                format!("{admin}, which is in listen too"),
                "an address of its own",
            ));
        }
        let mut seeds = addresses("seeds", &raw.seeds, UPSTREAM)?;
        let local = match &raw.local {
            Some(written) => Some(address("local", written, UPSTREAM)?),
            None => None,
        };
        seeds.extend(local.filter(|local| !seeds.contains(local)));
        let own: BTreeSet<_> = listen.iter().copied().filter(|a| a.port() != 0).collect();
        if let Some(own) = seeds.iter().find(|a| is_own(&own, **a)) {
            return Err(wrong(
                "seeds",
                format!("{own}, this agent's own listener"),
                UPSTREAM,
            ));
        }
        if let Host::Address(ip) = endpoint.host {
            let itself = SocketAddr::new(ip, endpoint.port);
            if is_own(&own, itself) {
                return Err(wrong(
                    "endpoint",
                    format!("{endpoint}, this agent's own listener"),
                    "the API servers' own endpoint, not the local proxy",
                ));
            }
            if !seeds.contains(&itself) {
                seeds.push(itself);
            }
        }
        let expiry = Expiry {
            answers: number(
                "dns.expireAfterAnswers",
                raw.dns.expire_after_answers,
                1,
                100,
                "1 to 100",
            )?,
            lifetimes: number(
                "dns.expireAfterLifetimes",
                raw.dns.expire_after_lifetimes,
                1,
                100,
                "1 to 100",
            )?,
            shortest: within(
                "dns.shortestLifetime",
                raw.dns.shortest_lifetime,
                (1_000, 60_000),
                "1s to 1m",
            )?,
            longest: within(
                "dns.longestLifetime",
                raw.dns.longest_lifetime,
                (1_000, 3_600_000),
                "1s to 1h",
            )?,
            most: usize::try_from(number(
                "limits.addresses",
                raw.limits.addresses,
                1,
                1000,
                "1 to 1000",
            )?)
            .unwrap_or(usize::MAX),
        };
        if expiry.shortest > expiry.longest {
            return Err(wrong(
                "dns.shortestLifetime",
                format!(
                    "{:?}, above dns.longestLifetime {:?}",
                    expiry.shortest, expiry.longest
                ),
                "at most dns.longestLifetime",
            ));
        }
        Ok(Self {
            ca,
            server_name,
            kubeconfig: file("kubeconfig", raw.kubeconfig, KUBECONFIG)?,
            cache: file("cache", raw.cache, CACHE)?,
            node_name: raw.node_name.filter(|name| !name.is_empty()),
            admin,
            seeds,
            dns_servers: addresses(
                "dns.servers",
                &raw.dns.servers,
                "ADDRESS:PORT of a resolver, for example 10.0.0.2:53",
            )?,
            expiry,
            local,
            nodes: match raw.fleet.nodes {
                Some(0) => return Err(wrong("fleet.nodes", 0, "1 or more")),
                nodes => nodes,
            },
            move_home: raw.move_home,
            probe_interval: match raw.probe.interval {
                Some(interval) => Some(within(
                    "probe.interval",
                    interval,
                    (100, 60_000),
                    "100ms to 1m",
                )?),
                None => None,
            },
            probe_budget: number(
                "probe.budget",
                raw.probe.budget,
                1,
                1_000_000,
                "1 to 1000000",
            )?,
            patience: within(
                "probe.patience",
                raw.probe.patience,
                (100, 5_000),
                "100ms to 5s",
            )?,
            drain: within(
                "drain.timeout",
                raw.drain.timeout,
                (1_000, 86_400_000),
                "1s to 24h",
            )?,
            guard,
            cuts: number("limits.cuts", raw.limits.cuts, 1, 1000, "1 to 1000")?,
            cut_window: within(
                "limits.window",
                raw.limits.window,
                (1_000, 3_600_000),
                "1s to 1h",
            )?,
            first_byte: within(
                "limits.firstByte",
                raw.limits.first_byte,
                (1_000, 3_600_000),
                "1s to 1h",
            )?,
            grace: within(
                "limits.gracePeriod",
                raw.limits.grace_period,
                (1_000, 3_600_000),
                "1s to 1h",
            )?,
            shutdown: within(
                "shutdown.timeout",
                raw.shutdown.timeout,
                (0, 600_000),
                "0s to 10m",
            )?,
            log_format: raw.log.format,
            log_level: raw.log.level,
            listen,
            endpoint,
        })
    }
}

fn wrong(
    field: &'static str,
    found: impl std::fmt::Display,
    accepted: &'static str,
) -> ConfigError {
    ConfigError {
        field,
        found: found.to_string(),
        accepted,
    }
}

fn parse_endpoint(written: Option<&str>) -> Result<Endpoint, ConfigError> {
    let Some(written) = written else {
        return Err(wrong("endpoint", "nothing", ENDPOINT));
    };
    let bad = |what: &str| wrong("endpoint", format!("{written:?}, {what}"), ENDPOINT);
    let rest = match written.split_once("://") {
        Some(("https", rest)) => rest,
        Some((scheme, _)) => return Err(bad(&format!("scheme {scheme}"))),
        None => return Err(bad("which has no scheme")),
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains(['/', '?', '#', '@']) {
        return Err(bad("which has more than a host and a port"));
    }
    if let Ok(address) = authority.parse::<SocketAddr>() {
        return Ok(Endpoint {
            host: Host::Address(address.ip().to_canonical()),
            port: address.port(),
        });
    }
    if authority.parse::<IpAddr>().is_ok() {
        return Err(bad("which has no port"));
    }
    let Some((host, port)) = authority.rsplit_once(':') else {
        return Err(bad("which has no port"));
    };
    let port = match port.parse::<u16>() {
        Ok(port) if port > 0 => port,
        _ => return Err(bad("whose port is not a number from 1 to 65535")),
    };
    let name = host.strip_suffix('.').unwrap_or(host);
    if !is_dns_name(name) {
        return Err(bad("whose host is no DNS name"));
    }
    Ok(Endpoint {
        host: Host::Name(name.to_ascii_lowercase()),
        port,
    })
}

/// Letters, digits, hyphens and underscores in labels of 1 to 63, 253 in all (RFC 1035, section
/// 2.3.4; underscores are seen in private zones).
fn is_dns_name(name: &str) -> bool {
    name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
}

fn address(
    field: &'static str,
    written: &str,
    accepted: &'static str,
) -> Result<SocketAddr, ConfigError> {
    written
        .parse()
        .map(canonical)
        .map_err(|_| wrong(field, format!("{written:?}"), accepted))
}

fn addresses(
    field: &'static str,
    written: &[String],
    accepted: &'static str,
) -> Result<Vec<SocketAddr>, ConfigError> {
    written
        .iter()
        .map(|one| address(field, one, accepted))
        .collect()
}

fn file(
    field: &'static str,
    written: Option<PathBuf>,
    accepted: &'static str,
) -> Result<Option<PathBuf>, ConfigError> {
    match written {
        Some(path) if path.as_os_str().is_empty() => Err(wrong(field, "an empty path", accepted)),
        written => Ok(written),
    }
}

fn within(
    field: &'static str,
    found: Duration,
    (least, most): (u64, u64),
    accepted: &'static str,
) -> Result<Duration, ConfigError> {
    let bounds = Duration::from_millis(least)..=Duration::from_millis(most);
    if bounds.contains(&found) {
        Ok(found)
    } else {
        Err(wrong(field, format!("{found:?}"), accepted))
    }
}

fn number(
    field: &'static str,
    found: u32,
    least: u32,
    most: u32,
    accepted: &'static str,
) -> Result<u32, ConfigError> {
    if (least..=most).contains(&found) {
        Ok(found)
    } else {
        Err(wrong(field, found, accepted))
    }
}
