//! The endpoint: its name in DNS and in `/etc/hosts`, and each address that it leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use holdfast_core::checkup::{Finding, Subject};
use holdfast_core::config::{Config, Host};
use holdfast_core::hosts::{Pin, pins};
use holdfast_core::probing::Progress;
use holdfast_core::sources::{Answer, canonical, is_own};
use holdfast_core::status::Source;
use tokio::time::timeout;

use crate::dns::NameWatch;
use crate::tls::Identity;
use crate::trial::{PATIENCE, Stranger, Trial, stranger, try_all};

/// Names that stand before DNS for most programs (nsswitch.conf(5)).
const HOSTS: &str = "/etc/hosts";

/// What is known of the endpoint now.
pub(super) struct Seen {
    pub(super) findings: Vec<Finding>,
    /// Addresses that completed TLS with the expected certificate.
    pub(super) answering: Vec<SocketAddr>,
}

pub(super) async fn look(config: &Config) -> Seen {
    let mut findings = Vec::new();
    let mut addresses: BTreeSet<_> = config.seeds.iter().copied().map(canonical).collect();
    if let Host::Name(name) = &config.endpoint.host {
        let (resolved, finding) = resolve(name, config).await;
        findings.push(finding);
        addresses.extend(resolved);
        let text = fs::read_to_string(HOSTS).unwrap_or_default();
        findings.push(pinned(name, &pins(&text, name), config));
    }
    let own: BTreeSet<_> = config
        .listen
        .iter()
        .copied()
        .filter(|a| a.port() != 0)
        .collect();
    let (looping, addresses): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| is_own(&own, *address));
    findings.push(looped(&looping));
    let mut answering = Vec::new();
    // Without a CA that can be used nobody can be verified; its own finding says so.
    if let Ok(identity) = Identity::load(&config.ca, &config.server_name) {
        let identity = Arc::new(identity);
        let trials = try_all(&identity, addresses).await;
        answering.extend(trials.iter().filter(|(_, t)| t.secured).map(|(a, _)| *a));
        let strangers = strangers(&identity, &trials).await;
        findings.extend(trials.iter().map(|(address, trial)| {
            judge(
                *address,
                trial,
                strangers.get(address),
                !answering.is_empty(),
            )
        }));
        findings.push(named(&config.server_name, answering.len(), &strangers));
    }
    Seen {
        findings,
        answering,
    }
}

async fn resolve(name: &str, config: &Config) -> (BTreeSet<SocketAddr>, Finding) {
    let servers = config.dns_servers.clone();
    let watch = NameWatch::new(name, config.endpoint.port, servers);
    let watch = &watch;
    let ask = |source| async move {
        // Not longer than the addresses are tried; two resolvers that are down take 6 s.
        let asked = timeout(PATIENCE, watch.ask(source)).await;
        asked.unwrap_or_else(|_| Answer::Failed {
            why: format!("no answer in {} s", PATIENCE.as_secs()),
            lifetime: None,
        })
    };
    let (a, aaaa) = tokio::join!(ask(Source::DnsA), ask(Source::DnsAaaa));
    let mut resolved = BTreeSet::new();
    let mut said = Vec::new();
    for (kind, answer) in [("A", a), ("AAAA", aaaa)] {
        said.push(match answer {
            Answer::Addresses {
                addresses,
                lifetime,
            } => {
                let list: Vec<_> = addresses.iter().map(|a| a.ip().to_string()).collect();
                resolved.extend(addresses);
                let lasts = lifetime.map_or(0, |time| time.as_secs());
                format!("{kind} {} for {lasts} s", list.join(" "))
            }
            Answer::NoRecords { lifetime: _ } => format!("no {kind}"),
            Answer::Failed { why, lifetime: _ } => format!("{kind} failed: {why}"),
        });
    }
    let evidence = said.join("; ");
    let finding = if !resolved.is_empty() {
        Finding::ok(Subject::Name, evidence)
    } else if config.seeds.is_empty() {
        let advice = "mend DNS, or give the API servers' addresses with --seed";
        Finding::fail(Subject::Name, evidence, advice)
    } else {
        let advice = "mend DNS: only the seeds are known, and a change of addresses is not seen";
        Finding::warn(Subject::Name, evidence, advice)
    };
    (resolved, finding.about(name))
}

/// The agent asks DNS alone, but its clients' libraries read the file first.
fn pinned(name: &str, pins: &[Pin], config: &Config) -> Finding {
    if pins.is_empty() {
        return Finding::ok(Subject::Hosts, format!("{HOSTS} does not name it")).about(name);
    }
    let list: Vec<_> = pins
        .iter()
        .map(|pin| format!("{} in line {}", pin.address, pin.line))
        .collect();
    let evidence = format!("{HOSTS} pins it to {}", list.join(", "));
    let port = config.endpoint.port;
    let leads_here = |pin: &Pin| config.listen.contains(&SocketAddr::new(pin.address, port));
    let finding = if pins.iter().all(leads_here) {
        Finding::ok(
            Subject::Hosts,
            format!("{evidence}: clients come to this agent"),
        )
    } else {
        let advice = "clients go there whatever DNS says, the agent does not look there: take the \
                      line out, or give the address with --seed";
        Finding::warn(Subject::Hosts, evidence, advice)
    };
    finding.about(name)
}

fn looped(own: &[SocketAddr]) -> Finding {
    if own.is_empty() {
        return Finding::ok(
            Subject::Loop,
            "no address of the endpoint is this agent's own",
        );
    }
    let list: Vec<_> = own.iter().map(ToString::to_string).collect();
    Finding::fail(
        Subject::Loop,
        format!("{} is this agent's own listener", list.join(", ")),
        "the endpoint must lead to the API servers; send clients here with tls-server-name in their \
         kubeconfig (`holdfast adopt`) instead of through DNS",
    )
}

async fn strangers(
    identity: &Identity,
    trials: &BTreeMap<SocketAddr, Trial>,
) -> BTreeMap<SocketAddr, Stranger> {
    let foreign = trials
        .iter()
        .filter(|(_, trial)| matches!(trial.end, Some(Progress::Foreign { .. })))
        .map(|(address, _)| async { Some((*address, stranger(identity, *address).await?)) });
    let found = futures_util::future::join_all(foreign).await;
    found.into_iter().flatten().collect()
}

fn judge(
    address: SocketAddr,
    trial: &Trial,
    stranger: Option<&Stranger>,
    others_answer: bool,
) -> Finding {
    let lost = |evidence: &str, advice: &str| {
        // One of several may be down; with none the node has nobody.
        if others_answer {
            Finding::warn(Subject::Address, evidence, advice)
        } else {
            Finding::fail(Subject::Address, evidence, advice)
        }
    };
    let way = "look at the API server there, and at the firewalls on the way";
    let finding = match (&trial.end, trial.connected, trial.secured) {
        (Some(Progress::Answered { status: 200 }), ..) => {
            Finding::ok(Subject::Address, "TCP, TLS and /readyz answer: 200")
        }
        (
            Some(Progress::Answered {
                status: status @ (401 | 403 | 404 | 429),
            }),
            ..,
        ) => Finding::ok(
            Subject::Address,
            format!("TCP and TLS answer; /readyz says {status}: alive, readiness unknown"),
        ),
        (Some(Progress::Answered { status }), ..) => Finding::warn(
            Subject::Address,
            format!("TCP and TLS answer; /readyz says {status}: not ready"),
            "look at that API server; new connections go elsewhere as long as there is any other",
        ),
        (Some(Progress::Foreign { why }), ..) => {
            let (evidence, advice) = foreign(why, stranger);
            Finding::fail(Subject::Address, evidence, advice)
        }
        (Some(Progress::Refused), ..) => lost("refused: nothing listens there", way),
        (Some(Progress::Unreachable), ..) => lost("unreachable: the network knows no way", way),
        (Some(Progress::Reset), ..) => lost("TCP answers, and ends before TLS does", way),
        (_, _, true) => lost(
            "TCP and TLS answer; /readyz does not",
            "look at that API server",
        ),
        (_, true, false) => lost(
            "TCP answers; TLS does not: it hangs",
            "look at that API server",
        ),
        (_, false, false) => lost("silent: no TCP connection", way),
    };
    finding.about(address)
}

fn foreign(why: &str, stranger: Option<&Stranger>) -> (String, &'static str) {
    match stranger {
        Some(Stranger::OtherNames(names)) => (
            format!("the certificate is for {}", names.join(", ")),
            "give one of these names with --server-name, or mend the address",
        ),
        Some(Stranger::OtherAuthority) => (
            "the certificate is not signed by this CA".to_owned(),
            "somebody else has this address, or --ca is another cluster's",
        ),
        Some(Stranger::Other(_)) | None => (
            format!("the certificate is not accepted: {why}"),
            "somebody else has this address, or it is no API server's",
        ),
    }
}

fn named(name: &str, answering: usize, strangers: &BTreeMap<SocketAddr, Stranger>) -> Finding {
    let finding = if answering > 0 {
        let evidence = format!("in the certificates of {answering} addresses");
        Finding::ok(Subject::ServerName, evidence)
    } else if let Some(Stranger::OtherNames(names)) = strangers
        .values()
        .find(|s| matches!(s, Stranger::OtherNames(_)))
    {
        Finding::fail(
            Subject::ServerName,
            format!("not among the certificate's names: {}", names.join(", ")),
            "give one of these names with --server-name",
        )
    } else {
        Finding::warn(
            Subject::ServerName,
            "no certificate of this CA was seen",
            "mend the addresses first",
        )
    };
    finding.about(name)
}
