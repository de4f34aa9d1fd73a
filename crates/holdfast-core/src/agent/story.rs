//! The words of evidence and of what happens next, for log and status alike.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{Shortage, Upstream};
use crate::health::{Change, Health};
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::{ProbeStatus, Source, Verdict, What};

pub(super) fn source(source: Source, health: Option<String>) -> Entry {
    match health {
        Some(why) => Entry::new(What::SourceChanged, Reason::SourceFailed)
            .because(format!("{}: {why}", source.as_str()))
            .then(match source {
                Source::Cache => "served without it; the set is written down again when it can be",
                Source::DnsA | Source::DnsAaaa | Source::EndpointSlices | Source::Seed => {
                    "asked again; all that it said before stands"
                }
            }),
        None => Entry::new(What::SourceChanged, Reason::SourceRecovered)
            .because(format!("{} answers again", source.as_str()))
            .then("followed"),
    }
}

pub(super) fn verdict(
    now: Tick,
    address: SocketAddr,
    health: &Health,
    change: Change,
    connections: usize,
    probe: Option<&ProbeStatus>,
) -> Entry {
    let found = probe.map_or("no probe has ended yet", |p| p.result.as_str());
    let evidence = match change.reason {
        Reason::Silent | Reason::Hung | Reason::Hairpin => {
            let (tries, seconds) = health.suspicion().map_or((0, 0.0), |s| {
                (s.unanswered, now.since(s.since).as_secs_f64())
            });
            format!("{tries} attempts unanswered in {seconds:.1} s")
        }
        Reason::Slow => "answers later than it used to".to_owned(),
        Reason::Refused => "connection refused".to_owned(),
        Reason::Unreachable => "the network says that there is no way".to_owned(),
        Reason::Recovering => format!("answers again after it was {}", change.from.as_str()),
        Reason::AddressRemoved => "no source names it any more".to_owned(),
        Reason::AddressAdded => "a source names it again".to_owned(),
        Reason::AllUpstreamsBad
        | Reason::LocalFaultSuspected
        | Reason::NotPermitted
        | Reason::NotYetProven
        | Reason::AddressTaken
        | Reason::ClientSilent
        | Reason::ConfigChanged
        | Reason::ConfigInvalid
        | Reason::NowhereElse
        | Reason::MovedHome
        | Reason::DrainTimeOver
        | Reason::LocalFailure
        | Reason::OutOfDescriptors
        | Reason::OutOfPorts
        | Reason::SourceFailed
        | Reason::SourceRecovered
        | Reason::RateLimited
        | Reason::Unacknowledged
        | Reason::ReadinessUnknown
        | Reason::ReadyzOk
        | Reason::ReadyzFailed
        | Reason::Reset
        | Reason::ApiForbids
        | Reason::ApiUnreachable
        | Reason::ApiUnusable
        | Reason::Blind
        | Reason::ClockWrong
        | Reason::CredentialRefused
        | Reason::FleetBudget
        | Reason::FleetUnknown
        | Reason::HoldDown
        | Reason::NodeMissing
        | Reason::NodeNotReady
        | Reason::NodeReady
        | Reason::RestartOff
        | Reason::ShuttingDown
        | Reason::StateUnknown
        | Reason::UnitAbsent
        | Reason::UnitFailed
        | Reason::UnitStarting
        | Reason::UnitStopped
        | Reason::WrongCertificate => format!("probe: {found}"),
    };
    let next = match change.to {
        Verdict::Ready => "takes new connections".to_owned(),
        Verdict::Slow => format!("its {connections} connections stay, new ones prefer others"),
        Verdict::Draining => {
            format!("its {connections} connections stay until they end, new ones go elsewhere")
        }
        Verdict::Probation => "trusted after one more answer".to_owned(),
        Verdict::Silent => {
            format!("its {connections} connections are cut if another upstream answers")
        }
        Verdict::Dead => "probed until it answers; new connections go elsewhere".to_owned(),
        Verdict::Foreign => "not used while that lasts".to_owned(),
    };
    let mut entry = Entry::new(What::VerdictChanged, change.reason)
        .on(address)
        .because(evidence)
        .then(next);
    entry.verdict = Some(change.to);
    entry
}

pub(super) fn turned_away(upstreams: &BTreeMap<SocketAddr, Upstream>) -> Entry {
    let each: Vec<_> = upstreams
        .iter()
        .map(|(address, u)| format!("{address} {}", u.health.reason()))
        .collect();
    let evidence = if each.is_empty() {
        "no address is known: no seeds, and DNS has not answered".to_owned()
    } else {
        each.join(", ")
    };
    Entry::new(What::ConnectionRefused, Reason::AllUpstreamsBad)
        .because(evidence)
        .then("all upstreams are tried again for each new connection")
}

pub(super) fn failed_here(shortage: Shortage, evidence: String) -> Entry {
    let (reason, next) = match shortage {
        Shortage::Address => (
            Reason::AddressTaken,
            "the proxy serves without it; tried again every 5 s",
        ),
        Shortage::Descriptors => (
            Reason::OutOfDescriptors,
            "new clients are reset until others leave; LimitNOFILE= of the unit raises the limit",
        ),
        Shortage::Ports => (
            Reason::OutOfPorts,
            "tried again for each new connection; net.ipv4.ip_local_port_range widens the range",
        ),
        Shortage::Other => (Reason::LocalFailure, "tried again for each new connection"),
    };
    Entry::new(What::FailedHere, reason)
        .because(evidence)
        .then(next)
}

pub(super) fn unused(evidence: &str) -> Entry {
    Entry::new(What::ConnectionUnused, Reason::ClientSilent)
        .because(evidence)
        .then("closed in order; others of this kind in the next 10 s are counted only")
}
