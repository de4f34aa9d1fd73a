//! The data plane as the egress model has it: what gets out of each VM, from what is in effect.

use std::collections::BTreeSet;

use holdfast_cloud::azure::topology::{Cluster, Topology};
use holdfast_cloud::azure::{Id, Inventory};
use holdfast_core::egress::facts::Family;
use holdfast_core::egress::path::Path;
use holdfast_core::egress::protocols::Protocols;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::kind::Kind;
use super::link::Links;
use super::store::{Document, Key, Store, key};

/// What gets out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// Whether TCP does.
    pub tcp: bool,
    /// Whether UDP does.
    pub udp: bool,
}

/// A VM's way out in one address family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exit {
    /// The VM's name; of an instance its scale set's name and its number.
    pub vm: String,
    /// The id of its first NIC.
    pub nic: String,
    /// Its private address.
    pub address: String,
    /// The family.
    pub family: Family,
    /// The path; none where the model can't know it.
    pub path: Option<Path>,
    /// What gets out. Where the path is not known, and behind an appliance, everything does.
    pub reach: Reach,
    /// What would have to be known.
    pub missing: Vec<&'static str>,
}

const OPEN: Reach = Reach {
    tcp: true,
    udp: true,
};

/// The exits of all VMs that run.
pub(super) fn exits(store: &Store, stopped: &BTreeSet<Key>) -> Vec<Exit> {
    let inventory = inventory(store);
    let topology = Topology::new(&inventory, &Cluster::default());
    let mut exits = Vec::new();
    for machine in topology.machines() {
        let (Some(vm), Some(nic)) = (&machine.vm, machine.nic) else {
            continue;
        };
        let runs = !stopped.contains(&key(vm.as_str()));
        for way in topology.ways(&machine) {
            let egress = way.egress();
            let reach = match egress {
                _ if !runs => Reach::default(),
                None => OPEN,
                Some(egress) => reach(egress.protocols),
            };
            let of_family =
                |version: &str| version.eq_ignore_ascii_case("ipv6") == (way.family == Family::V6);
            let mut configurations = nic.configurations.iter();
            let address = configurations
                .find(|one| of_family(&one.version))
                .map(|one| one.address.clone());
            exits.push(Exit {
                vm: machine.name.clone(),
                nic: nic.id.to_string(),
                address: address.unwrap_or_default(),
                family: way.family,
                path: egress.map(|it| it.path),
                reach,
                missing: if egress.is_none() {
                    way.missing.iter().map(|it| it.as_str()).collect()
                } else {
                    Vec::new()
                },
            });
        }
    }
    exits
}

fn reach(protocols: Protocols) -> Reach {
    // What an appliance lets through is its own business; the lab's lets everything.
    if protocols.contains(Protocols::HOP) {
        return OPEN;
    }
    Reach {
        tcp: protocols.contains(Protocols::TCP),
        udp: protocols.contains(Protocols::UDP),
    }
}

/// What is in effect, as the model reads it.
pub(super) fn inventory(store: &Store) -> Inventory {
    let links = Links::of(store, Document::in_effect);
    Inventory {
        load_balancers: list(store, &links, &["loadBalancers"]),
        nics: list(store, &links, &["networkInterfaces"]),
        instance_nics: list(
            store,
            &links,
            &[
                "virtualMachineScaleSets",
                "virtualMachines",
                "networkInterfaces",
            ],
        ),
        networks: list(store, &links, &["virtualNetworks"]),
        nat_gateways: list(store, &links, &["natGateways"]),
        public_addresses: list(store, &links, &["publicIPAddresses"]),
        route_tables: list(store, &links, &["routeTables"]),
        vms: list(store, &links, &["virtualMachines"]),
        scale_sets: list(store, &links, &["virtualMachineScaleSets"]),
        nodes: None,
        services: None,
    }
}

fn list<T: DeserializeOwned>(store: &Store, links: &Links, types: &[&str]) -> Option<Vec<T>> {
    let kind = Kind::of(types)?;
    let of_kind = store
        .all()
        .filter(|document| std::ptr::eq(document.kind, kind));
    let read = of_kind.filter_map(|document| {
        let body = links.rendered(document, document.in_effect()?);
        // What doesn't read is nothing that the model could use.
        serde_json::from_value(body).ok()
    });
    Some(read.collect())
}

/// Whether an id is one of a VM.
pub(super) fn is_vm(id: &str) -> bool {
    Id::from(id).has("virtualMachines")
}
