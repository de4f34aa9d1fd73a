//! What a data path costs where nothing goes wrong: Holdfast beside its peers on one machine.
//!
//! Everything happens on the loopback of one private network namespace. A `backend` stands in for an
//! API server, each [`contender`] in turn stands before it, and a generator of load (`load`) is the
//! client. In each round every contender is started anew and measured once, in an order that turns from
//! round to round, so that whatever slows the machine for a while hits all of them.

mod backend;
pub mod contender;
pub mod goal;
pub mod launch;
mod load;
pub mod machine;
pub mod metric;
pub mod report;
mod service;
mod usage;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use self::backend::Backend;
use self::contender::Contender;
use self::load::Load;
use self::machine::Machine;
use self::metric::Metric;
use self::service::Service;
use crate::certificates::{CertificateError, Certificates};

/// What every other file of a run is below; private to it.
const DIRECTORY: &str = "/run/holdfast-lab";

/// How long a contender works before it is measured.
const WARM_UP: Duration = Duration::from_millis(300);

/// Clients at once where requests are counted.
const REQUEST_CLIENTS: usize = 32;

/// Clients at once where connections are counted.
const CONNECT_CLIENTS: usize = 16;

/// Connections that are open while memory is read. The generator and the backend hold one end of each
/// in the same process, so that this needs 4,000 descriptors there.
const CROWD: usize = 2000;

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// How often each contender is measured.
    pub rounds: u32,
    /// How long each single measurement takes.
    pub each: Duration,
    /// Who takes part.
    pub contenders: Vec<Contender>,
}

/// What one contender did in one round.
pub type Sample = BTreeMap<Metric, f64>;

/// What all contenders did in one round.
pub type Round = BTreeMap<Contender, Sample>;

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The rounds in the order in which they were run.
    pub rounds: Vec<Round>,
    /// On what, and with which versions.
    pub machine: Machine,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There are no certificates for the backend.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// A contender ended or did not serve in time.
    #[error("{contender} does not serve: {last_words}")]
    Contender {
        /// Who.
        contender: Contender,
        /// The end of what it logged.
        last_words: String,
    },
    /// The load met something that must not happen where nothing goes wrong.
    #[error("{contender}, while measuring {what}")]
    Load {
        /// Who was measured.
        contender: Contender,
        /// What was measured.
        what: &'static str,
        /// What happened.
        source: io::Error,
    },
    /// The machine could not be prepared or asked.
    #[error("{what}")]
    System {
        /// What was attempted.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The backend's TLS could not be set up.
    #[error(transparent)]
    Tls(#[from] crate::actor::StartError),
}

impl BenchError {
    fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

/// Measures, inside namespaces made for it, with `program` as Holdfast.
fn run(order: &Order, program: &Path, progress: impl Fn(String)) -> Result<Found, BenchError> {
    prepare()?;
    let directory = PathBuf::from(DIRECTORY);
    let certificates = Certificates::make(&directory, "localhost", &[])?;
    let _backend = Backend::start(&certificates)?;
    let mut rounds = Vec::new();
    for (turn, number) in (1..=order.rounds).enumerate() {
        let mut round = Round::new();
        let first = turn % order.contenders.len().max(1);
        let (later, sooner) = order.contenders.split_at(first);
        for contender in sooner.iter().chain(later).copied() {
            progress(format!("round {number} of {}: {contender}", order.rounds));
            let service = Service::start(contender, program, &certificates.ca)?;
            let sample = measure(contender, &service, order.each)?;
            round.insert(contender, sample);
            service.stop()?;
        }
        rounds.push(round);
    }
    Ok(Found {
        rounds,
        machine: Machine::look(&order.contenders),
    })
}

/// Measures one contender once. Nothing that runs for `direct` is a process of its own, so its
/// processor time and its memory are zero.
fn measure(contender: Contender, service: &Service, each: Duration) -> Result<Sample, BenchError> {
    let failed = |what| {
        move |source| BenchError::Load {
            contender,
            what,
            source,
        }
    };
    let load = Load::on(contender.port());
    let idle = service.memory()?;
    load.requests(REQUEST_CLIENTS, WARM_UP)
        .map_err(failed("the warm-up"))?;

    let before = service.cpu_seconds()?;
    let bulk = load.bulk(each).map_err(failed("bulk"))?;
    let bulk_cpu = service.cpu_seconds()? - before;

    let latency = load.latency(each).map_err(failed("latency"))?;
    let requests_per_s = load
        .requests(REQUEST_CLIENTS, each)
        .map_err(failed("requests"))?;
    let connects_per_s = load
        .connects(CONNECT_CLIENTS, each)
        .map_err(failed("connects"))?;
    let crowd = load
        .crowd(CROWD)
        .map_err(failed("memory with 2,000 connections"))?;
    let crowded = service.memory()?;
    drop(crowd);

    Ok(BTreeMap::from([
        (Metric::BulkBytesPerS, bulk.bytes / bulk.seconds),
        (Metric::BulkCpuSPerGb, bulk_cpu / (bulk.bytes / 1e9)),
        (Metric::RequestsPerS, requests_per_s),
        (Metric::P50Us, latency.p50_us),
        (Metric::P99Us, latency.p99_us),
        (Metric::ConnectsPerS, connects_per_s),
        (Metric::RssIdleMib, idle.rss_mib),
        (Metric::Rss2000Mib, crowded.rss_mib),
        (Metric::PssIdleMib, idle.pss_mib),
        (Metric::Pss2000Mib, crowded.pss_mib),
    ]))
}

/// A loopback that is up, with ports for a minute of connections and descriptors for the crowd.
fn prepare() -> Result<(), BenchError> {
    let up = std::process::Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status()
        .map_err(BenchError::system("run ip"))?;
    if !up.success() {
        let source = io::Error::other(format!("ip ended with {up}"));
        return Err(BenchError::system("bring up the loopback")(source));
    }
    // A closed connection keeps its port for a while; the usual 28,000 are gone in three seconds
    // (ip-sysctl, ip_local_port_range). The contenders' own ports are below.
    std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "8000 65000")
        .map_err(BenchError::system("widen the range of local ports"))?;
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)
        .map_err(io::Error::from)
        .map_err(BenchError::system("raise the descriptor limit"))?;
    std::fs::create_dir_all(DIRECTORY).map_err(BenchError::system(format!("create {DIRECTORY}")))
}
