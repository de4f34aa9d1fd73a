//! What is known of a subscription: lists of resources, some of which may be missing.

use std::fmt;

use serde::Serialize;

use super::kubernetes::Object;
use super::resource::{
    LoadBalancer, NatGateway, Network, Nic, PublicAddress, RouteTable, ScaleSet, Vm,
};

/// A list that egress depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// Load balancers.
    LoadBalancers,
    /// NICs of VMs.
    Nics,
    /// NICs of instances of Uniform scale sets.
    InstanceNics,
    /// Virtual networks with their subnets.
    Networks,
    /// NAT gateways.
    NatGateways,
    /// Public addresses.
    PublicAddresses,
    /// Route tables.
    RouteTables,
    /// VMs.
    Vms,
    /// Scale sets.
    ScaleSets,
    /// Kubernetes Nodes.
    Nodes,
    /// Kubernetes Services.
    Services,
}

impl Listing {
    /// Every list.
    pub const ALL: [Self; 11] = [
        Self::LoadBalancers,
        Self::Nics,
        Self::InstanceNics,
        Self::Networks,
        Self::NatGateways,
        Self::PublicAddresses,
        Self::RouteTables,
        Self::Vms,
        Self::ScaleSets,
        Self::Nodes,
        Self::Services,
    ];

    /// The file that it is kept in.
    pub const fn file(self) -> &'static str {
        match self {
            Self::LoadBalancers => "lb.json",
            Self::Nics => "nic.json",
            Self::InstanceNics => "vmss-nic.json",
            Self::Networks => "vnet.json",
            Self::NatGateways => "nat-gateway.json",
            Self::PublicAddresses => "public-ip.json",
            Self::RouteTables => "route-table.json",
            Self::Vms => "vm.json",
            Self::ScaleSets => "vmss.json",
            Self::Nodes => "nodes.json",
            Self::Services => "services.json",
        }
    }

    /// The command that prints it.
    pub const fn command(self) -> &'static str {
        match self {
            Self::LoadBalancers => "az network lb list -o json",
            Self::Nics => "az network nic list -o json",
            Self::InstanceNics => "az vmss nic list -g GROUP --vmss-name NAME -o json",
            Self::Networks => "az network vnet list -o json",
            Self::NatGateways => "az network nat gateway list -o json",
            Self::PublicAddresses => "az network public-ip list -o json",
            Self::RouteTables => "az network route-table list -o json",
            Self::Vms => "az vm list -o json",
            Self::ScaleSets => "az vmss list -o json",
            Self::Nodes => "kubectl get nodes -o json",
            Self::Services => "kubectl get services -A -o json",
        }
    }

    /// What can't be decided without it.
    pub const fn needed_for(self) -> &'static str {
        match self {
            Self::LoadBalancers => "which pools and rules carry a node's egress",
            Self::Nics => "how nodes on VMs and Flexible scale sets reach the internet",
            Self::InstanceNics => "how instances of Uniform scale sets reach the internet",
            Self::Networks => "NAT gateway, route table and default outbound access of a subnet",
            Self::NatGateways => "whether a NAT gateway has an address, and of which family",
            Self::PublicAddresses => "the SKU of a NIC's public address, and addresses as text",
            Self::RouteTables => "whether a route takes everything elsewhere",
            Self::Vms => "availability sets and Flexible scale sets",
            Self::ScaleSets => "the pools in a scale set's model",
            Self::Nodes => "names, readiness and labels of nodes",
            Self::Services => "whether a public Service remains",
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.file())
    }
}

/// All lists; `None` is a list that nobody gave, which is not the same as an empty one.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each list is described where Listing names it")]
pub struct Inventory {
    pub load_balancers: Option<Vec<LoadBalancer>>,
    pub nics: Option<Vec<Nic>>,
    pub instance_nics: Option<Vec<Nic>>,
    pub networks: Option<Vec<Network>>,
    pub nat_gateways: Option<Vec<NatGateway>>,
    pub public_addresses: Option<Vec<PublicAddress>>,
    pub route_tables: Option<Vec<RouteTable>>,
    pub vms: Option<Vec<Vm>>,
    pub scale_sets: Option<Vec<ScaleSet>>,
    pub nodes: Option<Vec<Object>>,
    pub services: Option<Vec<Object>>,
}

impl Inventory {
    /// The lists that nobody gave.
    pub fn missing(&self) -> Vec<Listing> {
        Listing::ALL
            .into_iter()
            .filter(|listing| !self.has(*listing))
            .collect()
    }

    /// Whether this list was given.
    pub const fn has(&self, listing: Listing) -> bool {
        match listing {
            Listing::LoadBalancers => self.load_balancers.is_some(),
            Listing::Nics => self.nics.is_some(),
            Listing::InstanceNics => self.instance_nics.is_some(),
            Listing::Networks => self.networks.is_some(),
            Listing::NatGateways => self.nat_gateways.is_some(),
            Listing::PublicAddresses => self.public_addresses.is_some(),
            Listing::RouteTables => self.route_tables.is_some(),
            Listing::Vms => self.vms.is_some(),
            Listing::ScaleSets => self.scale_sets.is_some(),
            Listing::Nodes => self.nodes.is_some(),
            Listing::Services => self.services.is_some(),
        }
    }

    /// Every NIC that is known.
    pub fn all_nics(&self) -> impl Iterator<Item = &Nic> {
        self.nics.iter().chain(&self.instance_nics).flatten()
    }

    /// Every NIC that is known, to be changed.
    pub fn all_nics_mut(&mut self) -> impl Iterator<Item = &mut Nic> {
        self.nics
            .iter_mut()
            .chain(&mut self.instance_nics)
            .flatten()
    }

    /// Every subnet that is known.
    pub fn subnets_mut(&mut self) -> impl Iterator<Item = &mut super::resource::Subnet> {
        self.networks
            .iter_mut()
            .flatten()
            .flat_map(|network| &mut network.subnets)
    }
}
