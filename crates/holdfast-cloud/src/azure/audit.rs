//! Findings: nodes whose egress somebody may take away without meaning to, and load balancers that
//! are set up so that this happens.

mod balancer;
mod check;

use std::collections::BTreeMap;

use holdfast_core::egress::case::Role;
use holdfast_core::egress::facts::Facts;
use holdfast_core::egress::operation::{AnyPool, Operation, threats};
use holdfast_core::egress::path::Path;
use holdfast_core::egress::protocols::Protocols;
use holdfast_core::egress::provider::{Event, Version, removes_upon};
use serde::Serialize;

use super::Id;
use super::kubernetes::Object;
use super::topology::{Machine, Missing, Side, Topology, Way};

pub use check::{Check, Severity};

/// Something to be mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which check found it.
    pub check: Check,
    /// How bad it is.
    pub severity: Severity,
    /// The resource to change, or the list that is missing.
    pub resource: String,
    /// The nodes that it concerns.
    pub nodes: Vec<String>,
    /// Upon what each version of cloud-provider-azure would cut these nodes' egress, whose own
    /// doing that would be.
    pub cut_upon: BTreeMap<Version, Vec<Event>>,
    /// What is so.
    pub found: String,
    /// What to change.
    pub change: String,
    /// The command that makes the change, with capitals for what only its user knows.
    pub command: String,
}

/// All findings, worst first.
pub fn audit(topology: &Topology<'_>) -> Vec<Finding> {
    let mut found = Findings::default();
    for machine in topology.machines() {
        audit_machine(topology, &machine, &mut found);
    }
    balancer::audit(topology, &mut found);
    found.sorted()
}

/// Findings so far, one per check and resource.
#[derive(Default)]
struct Findings(BTreeMap<(Check, String), Finding>);

impl Findings {
    fn add(&mut self, check: Check, resource: &str, node: Option<&str>) -> &mut Finding {
        let key = (check, resource.to_ascii_lowercase());
        let finding = self.0.entry(key).or_insert_with(|| Finding {
            check,
            severity: check.severity(),
            resource: resource.to_owned(),
            nodes: Vec::new(),
            cut_upon: BTreeMap::new(),
            found: check.about().to_owned(),
            change: check.change().to_owned(),
            command: check.command(&Id::from(resource)),
        });
        if let Some(node) = node
            && finding.nodes.last().map(String::as_str) != Some(node)
        {
            finding.nodes.push(node.to_owned());
        }
        finding
    }

    fn sorted(self) -> Vec<Finding> {
        let mut findings: Vec<_> = self.0.into_values().collect();
        findings.sort_by_key(|it| (it.severity, it.check));
        findings
    }
}

fn audit_machine(topology: &Topology<'_>, machine: &Machine<'_>, found: &mut Findings) {
    let foreign = machine
        .node
        .is_some_and(|node| node.provider() != Some("azure"));
    if foreign {
        return;
    }
    let name = Some(machine.name.as_str());
    let ways = topology.ways(machine);
    if ways.is_empty() {
        let list = Missing::List(Topology::list_of_nic(machine));
        undecided(found, list, name);
    }
    let role = machine.node.map_or(Role::Worker, Object::role);
    for way in &ways {
        match way.egress() {
            None => way
                .missing
                .iter()
                .for_each(|it| undecided(found, *it, name)),
            Some(egress) => audit_way(way, egress.path, egress.protocols, role, name, found),
        }
    }
}

fn undecided(found: &mut Findings, missing: Missing, node: Option<&str>) {
    let finding = found.add(Check::Undecided, missing.as_str(), node);
    missing.command().clone_into(&mut finding.command);
    if let Missing::List(listing) = missing {
        finding.found = format!(
            "can't be decided without {listing}: {}",
            listing.needed_for()
        );
    }
}

fn audit_way(
    way: &Way<'_>,
    path: Path,
    protocols: Protocols,
    role: Role,
    node: Option<&str>,
    found: &mut Findings,
) {
    let subnet = way.support.subnet.map_or("", Id::as_str);
    let pool_of = |side: Side| way.support.pools.iter().find(|view| view.side == side);
    let gateway = way.support.nat_gateway.map_or(subnet, Id::as_str);
    match path {
        Path::NoneNatGatewayWithoutAddress => {
            found.add(Check::NatGatewayWithoutAddress, gateway, node);
        }
        Path::UdrDrop => {
            let route = way.support.route.map_or(subnet, Id::as_str);
            found.add(Check::NoEgress, route, node);
        }
        Path::NonePrivateSubnet
        | Path::NoneVmssFlex
        | Path::NoneStandardMember
        | Path::NoneGroupIsStandard => {
            found.add(Check::NoEgress, subnet, node);
        }
        // Without IPv6 egress a node of both families still works.
        Path::NoneNoV6Default => {
            found.add(Check::NoV6Egress, subnet, node);
        }
        Path::DefaultOutbound => {
            found.add(Check::DefaultOutbound, subnet, node);
        }
        Path::Snat | Path::BasicSnat => {
            let carrying = way
                .support
                .pools
                .iter()
                .find(|view| !view.snat_rules.is_empty());
            let pool = carrying.map_or(subnet, |view| view.pool.id.as_str());
            found.add(Check::ImplicitSnat, pool, node);
        }
        Path::UdrAppliance
        | Path::UdrBgp
        | Path::UdrVpnGateway
        | Path::NatGateway
        | Path::InstanceAddress
        | Path::OutboundRule
        | Path::OutboundRuleAndSnat => {}
    }
    if !protocols.is_empty() && !protocols.contains(Protocols::HOP) && protocols != Protocols::BOTH
    {
        found.add(Check::OneProtocol, subnet, node);
    }
    let threatened = |facts: &Facts| threats(facts).contains(&Operation::Remove(AnyPool::Managed));
    if way.agreed(threatened) == Some(true)
        && let Some(view) = pool_of(Side::Managed)
    {
        let finding = found.add(Check::ManagedPoolOnly, view.pool.id.as_str(), node);
        for version in Version::ALL {
            let upon = |facts: &Facts| removes_upon(*version, AnyPool::Managed, facts, role);
            let events = finding.cut_upon.entry(*version).or_default();
            events.extend(way.agreed(upon).into_iter().flatten());
            events.sort();
            events.dedup();
        }
    }
    let outbound = way
        .support
        .pools
        .iter()
        .filter(|view| !view.outbound_rules.is_empty());
    if let [first, _, ..] = outbound.collect::<Vec<_>>().as_slice() {
        found.add(Check::TwoOutboundRules, first.balancer.id.as_str(), node);
    }
}

#[cfg(test)]
mod tests;
