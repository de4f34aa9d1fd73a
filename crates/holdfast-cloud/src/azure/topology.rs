//! What each node's egress rests on: the resources around its NIC, found by id.

mod pool;
mod way;

use std::collections::{BTreeMap, HashMap};

use holdfast_core::egress::facts::VmKind;

use super::id::Id;
use super::inventory::Inventory;
use super::kubernetes::Object;
use super::resource::{
    IpConfiguration, NatGateway, Network, Nic, PublicAddress, RouteTable, ScaleSet, Subnet, Vm,
};

pub use pool::{Kind, PoolView, Side};
pub use way::{Missing, Support, Way};

/// Which pools a cloud provider manages: those named like the cluster, `<name>` and `<name>-ipv6`
/// (cloud-provider-azure, `getBackendPoolName`).
#[derive(Clone, Debug, Default)]
pub enum Cluster {
    /// Those named like their own load balancer, which the provider names like the cluster too.
    #[default]
    ByBalancer,
    /// Those of this name.
    Named(String),
}

/// A node, or a VM of which no node is known.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The node's name, or the VM's.
    pub name: String,
    /// The VM's id; a node of another provider has none.
    pub vm: Option<Id>,
    /// The Node object.
    pub node: Option<&'a Object>,
    /// Its first NIC, through which everything goes that isn't told to go elsewhere.
    pub nic: Option<&'a Nic>,
}

/// An index over an inventory.
#[derive(Debug)]
pub struct Topology<'a> {
    inventory: &'a Inventory,
    pools: HashMap<&'a Id, PoolView<'a>>,
    /// Pools by address that name an address.
    pools_of_address: HashMap<&'a str, Vec<&'a Id>>,
    subnets: HashMap<&'a Id, (&'a Network, &'a Subnet)>,
    nat_gateways: HashMap<&'a Id, &'a NatGateway>,
    /// NAT gateways that serve a whole network.
    network_gateways: HashMap<&'a Id, &'a NatGateway>,
    route_tables: HashMap<&'a Id, &'a RouteTable>,
    public_addresses: HashMap<&'a Id, &'a PublicAddress>,
    vms: HashMap<&'a Id, &'a Vm>,
    scale_sets: HashMap<&'a Id, &'a ScaleSet>,
    nics: HashMap<Id, Vec<&'a Nic>>,
    /// How many VMs of a group are surely Standard.
    standard: HashMap<Id, usize>,
}

fn by_id<'a, T>(list: Option<&'a Vec<T>>, id: impl Fn(&'a T) -> &'a Id) -> HashMap<&'a Id, &'a T> {
    list.into_iter()
        .flatten()
        .map(|one| (id(one), one))
        .collect()
}

/// The VM that a NIC belongs to.
pub(crate) fn vm_of(nic: &Nic) -> Option<Id> {
    let of_instance = || {
        nic.id
            .before("networkInterfaces")
            .filter(|id| id.has("virtualMachines"))
    };
    nic.vm.as_ref().map(|vm| vm.id.clone()).or_else(of_instance)
}

impl<'a> Topology<'a> {
    /// Indexes an inventory.
    pub fn new(inventory: &'a Inventory, cluster: &Cluster) -> Self {
        let pools = pool::views(inventory, cluster);
        let mut pools_of_address: HashMap<&str, Vec<&Id>> = HashMap::new();
        for (id, view) in &pools {
            for member in view
                .pool
                .addresses
                .iter()
                .filter(|_| view.kind != Kind::Nic)
            {
                pools_of_address
                    .entry(&member.address)
                    .or_default()
                    .push(id);
            }
        }
        let mut nics: HashMap<Id, Vec<&Nic>> = HashMap::new();
        for nic in inventory.all_nics() {
            if let Some(vm) = vm_of(nic) {
                nics.entry(vm).or_default().push(nic);
            }
        }
        let mut topology = Self {
            inventory,
            pools,
            pools_of_address,
            subnets: inventory
                .networks
                .iter()
                .flatten()
                .flat_map(|network| {
                    network
                        .subnets
                        .iter()
                        .map(move |it| (&it.id, (network, it)))
                })
                .collect(),
            nat_gateways: by_id(inventory.nat_gateways.as_ref(), |it| &it.id),
            network_gateways: inventory
                .nat_gateways
                .iter()
                .flatten()
                .filter_map(|gateway| Some((&gateway.network.as_ref()?.id, gateway)))
                .collect(),
            route_tables: by_id(inventory.route_tables.as_ref(), |it| &it.id),
            public_addresses: by_id(inventory.public_addresses.as_ref(), |it| &it.id),
            vms: by_id(inventory.vms.as_ref(), |it| &it.id),
            scale_sets: by_id(inventory.scale_sets.as_ref(), |it| &it.id),
            nics,
            standard: HashMap::new(),
        };
        topology.standard = topology.count_standard();
        topology
    }

    /// The inventory.
    pub const fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// Every node; without a list of nodes, every VM that has a NIC. In order of their names.
    pub fn machines(&self) -> Vec<Machine<'a>> {
        let mut machines: Vec<_> = if let Some(nodes) = &self.inventory.nodes {
            nodes
                .iter()
                .map(|node| {
                    let vm = node.vm();
                    Machine {
                        name: node.metadata.name.clone(),
                        nic: vm.as_ref().and_then(|vm| self.first_nic(vm)),
                        vm,
                        node: Some(node),
                    }
                })
                .collect()
        } else {
            self.nics
                .keys()
                .map(|vm| Machine {
                    name: vm_name(vm),
                    nic: self.first_nic(vm),
                    vm: Some(vm.clone()),
                    node: None,
                })
                .collect()
        };
        machines.sort_by(|one, other| one.name.cmp(&other.name));
        machines
    }

    /// All pools, in order of their ids.
    pub fn pools(&self) -> BTreeMap<&'a Id, &PoolView<'a>> {
        self.pools.iter().map(|(id, view)| (*id, view)).collect()
    }

    /// The address behind the id of a public address.
    pub fn address(&self, id: &Id) -> Option<&'a str> {
        let found = self.public_addresses.get(id)?;
        Some(found.address.as_str()).filter(|it| !it.is_empty())
    }

    fn first_nic(&self, vm: &Id) -> Option<&'a Nic> {
        let nics = self.nics.get(vm)?;
        let named = self.vms.get(vm).and_then(|vm| {
            let of_vm = &vm.network.nics;
            of_vm
                .iter()
                .find(|it| it.primary == Some(true))
                .map(|it| &it.id)
        });
        let is_first = |nic: &&&Nic| Some(&nic.id) == named || nic.primary == Some(true);
        nics.iter().find(is_first).or_else(|| nics.first()).copied()
    }

    /// The pools that an IP configuration is in, by either kind of membership. `None` stands for a
    /// pool that no list knows.
    fn memberships(&self, configuration: &'a IpConfiguration) -> Vec<Option<&PoolView<'a>>> {
        let network = configuration
            .subnet
            .as_ref()
            .and_then(|it| it.id.before("subnets"));
        let by_address = self.pools_of_address.get(configuration.address.as_str());
        let by_nic = configuration
            .pools
            .iter()
            .map(|pool| self.pools.get(&pool.id));
        let by_address = by_address.into_iter().flatten().filter_map(|id| {
            let view = self.pools.get(*id)?;
            let named = view.network_of(&configuration.address);
            // The same address may exist in another network.
            (named.is_none() || network.is_none() || named == network.as_ref())
                .then_some(Some(view))
        });
        by_nic.chain(by_address).collect()
    }

    /// The group of a VM whose members share the Standard SKU's rules, and what kind of VM it is;
    /// `None` where no list says it.
    fn kind(&self, vm: &Id) -> Option<(VmKind, Option<Id>)> {
        if vm.has("virtualMachineScaleSets") {
            return Some((VmKind::VmssUniform, vm.before("virtualMachines")));
        }
        let vm = self.vms.get(vm)?;
        let group = |it: &super::resource::Reference| it.id.clone();
        Some(match (&vm.scale_set, &vm.availability_set) {
            (Some(set), _) => (VmKind::VmssFlex, Some(group(set))),
            (None, Some(set)) => (VmKind::AvailabilitySet, Some(group(set))),
            (None, None) => (VmKind::Standalone, None),
        })
    }

    /// Whether a configuration makes its VM Standard: by a NIC-based pool of a Standard load
    /// balancer, or by a Standard public address. `None` where no list says it.
    fn is_standard(&self, configuration: &'a IpConfiguration) -> Option<bool> {
        let mut known = true;
        for pool in self.memberships(configuration) {
            match pool {
                Some(view) if view.ends_default_outbound() => return Some(true),
                Some(_) => {}
                None => known = false,
            }
        }
        if let Some(address) = &configuration.public_address {
            match self.public_addresses.get(&address.id) {
                Some(address) if address.sku.name.eq_ignore_ascii_case("basic") => {}
                Some(_) => return Some(true),
                None => known = false,
            }
        }
        known.then_some(false)
    }

    fn count_standard(&self) -> HashMap<Id, usize> {
        let mut standard = HashMap::new();
        for (vm, nics) in &self.nics {
            let Some((_, Some(group))) = self.kind(vm) else {
                continue;
            };
            if self.is_any_standard(nics) {
                *standard.entry(group).or_default() += 1;
            }
        }
        standard
    }

    fn is_any_standard(&self, nics: &[&'a Nic]) -> bool {
        let mut configurations = nics.iter().flat_map(|nic| &nic.configurations);
        configurations.any(|it| self.is_standard(it) == Some(true))
    }
}

/// The name that a VM is known by: an instance of a scale set has its set's name before its number.
pub(crate) fn vm_name(vm: &Id) -> String {
    match vm.after("virtualMachineScaleSets") {
        Some(set) => format!("{set}_{}", vm.name()),
        None => vm.name().to_owned(),
    }
}

#[cfg(test)]
mod tests;
