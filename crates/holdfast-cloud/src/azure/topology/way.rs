//! A node's way to the internet in one address family: bare facts, with every value that is
//! possible where a list is missing.
//!
//! An unknown is never guessed: the model is asked for each possible value, and only if all agree
//! there is an answer.

use std::collections::BTreeSet;

use holdfast_core::egress::facts::{
    Facts, Family, InstanceAddress, Membership, NatGateway, Peer, Pool, Route, Rule, Rules, Sku,
    VmKind,
};
use holdfast_core::egress::path::{Egress, Path, egress};
use serde::Serialize;

use super::{Kind, Machine, PoolView, Side, Topology};
use crate::azure::id::Id;
use crate::azure::inventory::Listing;
use crate::azure::resource::{IpConfiguration, Network, Nic, Subnet};

/// What would have to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A list, or a resource that should be in it.
    List(Listing),
    /// The effective routes: a virtual network gateway may have learned a default route by BGP.
    EffectiveRoutes,
    /// What `syncMode: Manual` means for egress; no document says it.
    ManualPool,
}

impl Missing {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List(listing) => listing.file(),
            Self::EffectiveRoutes => "effective routes",
            Self::ManualPool => "meaning of syncMode Manual",
        }
    }

    /// What would tell.
    pub const fn command(self) -> &'static str {
        match self {
            Self::List(listing) => listing.command(),
            Self::EffectiveRoutes => "az network nic show-effective-route-table -n NIC -g GROUP",
            Self::ManualPool => "a connection test from the node",
        }
    }
}

/// The resources that a way may rest on.
#[derive(Clone, Debug, Default)]
pub struct Support<'a> {
    /// The NIC's subnet.
    pub subnet: Option<&'a Id>,
    /// The default route that counts.
    pub route: Option<&'a Id>,
    /// The NAT gateway.
    pub nat_gateway: Option<&'a Id>,
    /// The NIC's own public address.
    pub address: Option<&'a Id>,
    /// The pools that it is in.
    pub pools: Vec<PoolView<'a>>,
}

/// A way to the internet.
#[derive(Clone, Debug)]
pub struct Way<'a> {
    /// In which family.
    pub family: Family,
    /// What the facts may be; one if nothing is missing.
    pub possible: Vec<Facts>,
    /// What is missing.
    pub missing: BTreeSet<Missing>,
    /// What it may rest on.
    pub support: Support<'a>,
}

impl<'a> Way<'a> {
    fn new(family: Family) -> Self {
        let facts = Facts {
            family,
            ..Facts::BARE
        };
        Self {
            family,
            possible: vec![facts],
            missing: BTreeSet::new(),
            support: Support::default(),
        }
    }

    fn set(&mut self, set: impl Fn(&mut Facts)) {
        self.possible.iter_mut().for_each(set);
    }

    /// Goes on with each of these values.
    fn vary<V: Copy>(&mut self, missing: Missing, values: &[V], set: impl Fn(&mut Facts, V)) {
        self.missing.insert(missing);
        self.possible = values
            .iter()
            .flat_map(|value| {
                let mut facts = self.possible.clone();
                for one in &mut facts {
                    set(one, *value);
                }
                facts
            })
            .collect();
    }

    /// The answer of a function on which all possible facts agree.
    pub fn agreed<T: PartialEq>(&self, of: impl Fn(&Facts) -> T) -> Option<T> {
        let mut answers = self.possible.iter().map(of);
        let first = answers.next()?;
        answers.all(|other| other == first).then_some(first)
    }

    /// The egress, unless what is missing decides.
    pub fn egress(&self) -> Option<Egress> {
        self.agreed(egress)
    }

    /// The ids that this path rests on.
    pub fn rests_on(&self, path: Path) -> Vec<&'a Id> {
        let support = &self.support;
        let pools = |side: fn(&PoolView<'a>) -> Vec<&'a Id>| {
            let carrying = support
                .pools
                .iter()
                .filter(move |view| view.side != Side::Internal);
            carrying
                .filter_map(move |view| {
                    let rules = side(view);
                    (!rules.is_empty()).then(|| [vec![&view.pool.id], rules].concat())
                })
                .flatten()
                .collect::<Vec<_>>()
        };
        match path {
            Path::UdrAppliance | Path::UdrBgp | Path::UdrVpnGateway | Path::UdrDrop => {
                support.route.into_iter().collect()
            }
            Path::NatGateway | Path::NoneNatGatewayWithoutAddress => {
                support.nat_gateway.into_iter().collect()
            }
            Path::InstanceAddress => support.address.into_iter().collect(),
            Path::OutboundRule => pools(|view| view.outbound_rules.clone()),
            Path::Snat | Path::BasicSnat => pools(|view| view.snat_rules.clone()),
            Path::OutboundRuleAndSnat => {
                pools(|view| [view.outbound_rules.as_slice(), view.snat_rules.as_slice()].concat())
            }
            Path::DefaultOutbound | Path::NonePrivateSubnet => support.subnet.into_iter().collect(),
            Path::NoneStandardMember => support.pools.iter().map(|view| &view.pool.id).collect(),
            Path::NoneNoV6Default | Path::NoneVmssFlex | Path::NoneGroupIsStandard => Vec::new(),
        }
    }
}

fn family_of(configuration: &IpConfiguration) -> Family {
    if configuration.version.eq_ignore_ascii_case("ipv6") {
        Family::V6
    } else {
        Family::V4
    }
}

impl<'a> Topology<'a> {
    /// The ways of a machine, one per address family that its NIC has. Of a machine without a known
    /// NIC nothing is known.
    pub fn ways(&self, machine: &Machine<'a>) -> Vec<Way<'a>> {
        let (Some(vm), Some(nic)) = (&machine.vm, machine.nic) else {
            return Vec::new();
        };
        [Family::V4, Family::V6]
            .into_iter()
            .filter_map(|family| self.way(vm, nic, family))
            .collect()
    }

    /// The list that should have a machine's NIC.
    pub fn list_of_nic(machine: &Machine<'_>) -> Listing {
        match &machine.vm {
            Some(vm) if vm.has("virtualMachineScaleSets") => Listing::InstanceNics,
            _ => Listing::Nics,
        }
    }

    fn way(&self, vm: &Id, nic: &'a Nic, family: Family) -> Option<Way<'a>> {
        let of_family = || {
            nic.configurations
                .iter()
                .filter(|it| family_of(it) == family)
        };
        let first = of_family()
            .find(|it| it.primary == Some(true))
            .or_else(|| of_family().next())?;
        // Load balancers carry the egress of the first IPv4 configuration only, and of any IPv6 one
        // (OBR, limitations).
        let carried: Vec<_> = match family {
            Family::V4 => vec![first],
            Family::V6 => of_family().collect(),
        };
        let mut way = Way::new(family);
        self.add_subnet(&mut way, first);
        if let Some(address) = &first.public_address {
            way.support.address = Some(&address.id);
            let own = match family {
                Family::V4 => InstanceAddress::Standard,
                Family::V6 => InstanceAddress::V6,
            };
            way.set(|facts| facts.instance_address = own);
        }
        self.add_pools(&mut way, &carried);
        self.add_group(&mut way, vm, &carried);
        Some(way)
    }

    fn add_subnet(&self, way: &mut Way<'a>, configuration: &'a IpConfiguration) {
        let id = configuration.subnet.as_ref().map(|it| &it.id);
        way.support.subnet = id;
        let Some((network, subnet)) = id.and_then(|id| self.subnets.get(id)) else {
            let networks = Missing::List(Listing::Networks);
            way.vary(networks, Route::ALL, |facts, it| facts.route = it);
            way.vary(networks, NatGateway::ALL, |facts, it| {
                facts.nat_gateway = it;
            });
            way.vary(networks, &[true, false], |facts, it| {
                facts.default_outbound = it;
            });
            return;
        };
        way.set(|facts| facts.default_outbound = subnet.default_outbound != Some(false));
        self.add_nat_gateway(way, network, subnet);
        self.add_route(way, network, subnet);
    }

    fn add_nat_gateway(&self, way: &mut Way<'a>, network: &'a Network, subnet: &'a Subnet) {
        let of_network = self.network_gateways.get(&network.id);
        let (id, gateway) = match (&subnet.nat_gateway, of_network) {
            (Some(named), _) => (&named.id, self.nat_gateways.get(&named.id)),
            (None, Some(gateway)) => (&gateway.id, Some(gateway)),
            // One of a whole network is named by itself only.
            (None, None) if self.inventory.nat_gateways.is_none() => {
                let gateways = Missing::List(Listing::NatGateways);
                way.vary(gateways, NatGateway::ALL, |facts, it| {
                    facts.nat_gateway = it;
                });
                return;
            }
            (None, None) => return,
        };
        way.support.nat_gateway = Some(id);
        let Some(gateway) = gateway else {
            let gateways = Missing::List(Listing::NatGateways);
            let some = [
                NatGateway::StandardV4,
                NatGateway::V2Both,
                NatGateway::NoAddress,
            ];
            way.vary(gateways, &some, |facts, it| facts.nat_gateway = it);
            return;
        };
        let v4 = !gateway.addresses.is_empty() || !gateway.prefixes.is_empty();
        let v6 = !gateway.addresses_v6.is_empty() || !gateway.prefixes_v6.is_empty();
        let found = match (way.family, v4, v6) {
            (Family::V4, true, _) => NatGateway::StandardV4,
            (Family::V6, _, true) => NatGateway::V2Both,
            (Family::V4, false, _) | (Family::V6, _, false) => NatGateway::NoAddress,
        };
        way.set(|facts| facts.nat_gateway = found);
    }

    fn add_route(&self, way: &mut Way<'a>, network: &'a Network, subnet: &'a Subnet) {
        let everything = match way.family {
            Family::V4 => "0.0.0.0/0",
            Family::V6 => "::/0",
        };
        let mut learns = true;
        if let Some(named) = &subnet.route_table {
            let Some(table) = self.route_tables.get(&named.id) else {
                way.support.route = Some(&named.id);
                let tables = Missing::List(Listing::RouteTables);
                way.vary(tables, Route::ALL, |facts, it| facts.route = it);
                return;
            };
            if let Some(route) = table.routes.iter().find(|it| it.prefix == everything) {
                way.support.route = Some(&route.id);
                let found = match route.next_hop.to_ascii_lowercase().as_str() {
                    "virtualappliance" | "virtualapplianceecmp" => Route::Appliance,
                    "virtualnetworkgateway" => Route::VpnGateway,
                    "internet" => Route::Internet,
                    "none" => Route::Drop,
                    _ => {
                        way.vary(Missing::EffectiveRoutes, Route::ALL, |facts, it| {
                            facts.route = it;
                        });
                        return;
                    }
                };
                way.set(|facts| facts.route = found);
                return;
            }
            learns = !table.disable_bgp;
        }
        let has_gateway = network
            .subnets
            .iter()
            .any(|it| it.id.is_called("GatewaySubnet"))
            || network.peerings.iter().any(|it| it.use_remote_gateways);
        if learns && has_gateway {
            let either = [Route::None, Route::Bgp];
            way.vary(Missing::EffectiveRoutes, &either, |facts, it| {
                facts.route = it;
            });
        }
    }

    fn add_pools(&self, way: &mut Way<'a>, carried: &[&'a IpConfiguration]) {
        let balancers = Missing::List(Listing::LoadBalancers);
        let mut unknown = self.inventory.load_balancers.is_none();
        let mut skus = BTreeSet::new();
        for pool in carried.iter().flat_map(|it| self.memberships(it)) {
            let Some(view) = pool else {
                unknown = true;
                continue;
            };
            let sku = &view.balancer.sku.name;
            match sku.to_ascii_lowercase().as_str() {
                "" | "basic" => skus.insert(Sku::Basic),
                "standard" => skus.insert(Sku::Standard),
                // A gateway load balancer is chained before another one; it carries nothing itself.
                _ => continue,
            };
            way.support.pools.push(view.clone());
            way.set(|facts| join(facts, view.side, view.membership(), view.rules));
            if view.kind == Kind::Manual {
                let kinds = [Membership::Nic, Membership::Ip];
                way.vary(Missing::ManualPool, &kinds, |facts, it| {
                    join(facts, view.side, it, view.rules);
                });
            }
        }
        match (skus.first(), skus.len()) {
            (Some(sku), 1) => way.set(|facts| facts.sku = *sku),
            // Azure forbids the mixture, so one of the lists is not of today.
            (Some(_), _) => way.vary(balancers, Sku::ALL, |facts, it| facts.sku = it),
            (None, _) => {}
        }
        if unknown {
            let snat = Rules::NONE.with(Rule::SnatTcp);
            let both = snat.with(Rule::SnatUdp);
            let outbound = Rules::NONE.with(Rule::OutboundAll);
            let may_be = [
                (Side::Internal, Membership::None, Rules::NONE),
                (Side::Internal, Membership::Nic, Rules::NONE),
                (Side::Other, Membership::Nic, snat),
                (Side::Other, Membership::Nic, both),
                (Side::Other, Membership::Nic, outbound),
            ];
            way.vary(balancers, &may_be, |facts, (side, membership, rules)| {
                join(facts, side, membership, rules);
            });
        }
    }

    fn add_group(&self, way: &mut Way<'a>, vm: &Id, carried: &[&'a IpConfiguration]) {
        let nics = self.nics.get(vm).map(Vec::as_slice).unwrap_or_default();
        let elsewhere = nics.iter().flat_map(|it| &it.configurations);
        let mut unknown_elsewhere = false;
        for other in elsewhere.filter(|it| !carried.iter().any(|one| one.id == it.id)) {
            match self.is_standard(other) {
                Some(true) => way.set(|facts| facts.peer = Peer::OtherNic),
                Some(false) => {}
                None => unknown_elsewhere = true,
            }
        }
        if unknown_elsewhere {
            let either = [Peer::None, Peer::OtherNic];
            let list = Missing::List(if self.inventory.load_balancers.is_none() {
                Listing::LoadBalancers
            } else {
                Listing::PublicAddresses
            });
            way.vary(list, &either, or_else);
        }
        let Some((kind, group)) = self.kind(vm) else {
            let kinds = [
                VmKind::Standalone,
                VmKind::AvailabilitySet,
                VmKind::VmssFlex,
            ];
            let vms = Missing::List(Listing::Vms);
            way.vary(vms, &kinds, |facts, it| facts.vm_kind = it);
            way.vary(vms, &[Peer::None, Peer::Group], or_else);
            return;
        };
        way.set(|facts| facts.vm_kind = kind);
        let Some(group) = group else { return };
        let own = usize::from(self.is_any_standard(nics));
        let all = self.standard.get(&group).copied().unwrap_or_default();
        if all > own {
            way.set(|facts| or_else(facts, Peer::Group));
        } else if self.inventory.load_balancers.is_none() {
            let balancers = Missing::List(Listing::LoadBalancers);
            way.vary(balancers, &[Peer::None, Peer::Group], or_else);
        }
        if kind == VmKind::VmssUniform {
            self.add_model(way, &group);
        }
    }

    /// New instances join the pools of the model, and the model alone counts too
    /// (kubernetes/kubernetes#72813).
    fn add_model(&self, way: &mut Way<'a>, group: &Id) {
        let Some(set) = self.scale_sets.get(group) else {
            let sets = Missing::List(Listing::ScaleSets);
            way.vary(sets, &[Peer::None, Peer::Model], or_else);
            return;
        };
        let models = &set.model.network.configurations;
        let pools = models
            .iter()
            .flat_map(|it| &it.configurations)
            .flat_map(|it| &it.pools);
        let standard = pools
            .filter_map(|it| self.pools.get(&it.id))
            .any(PoolView::ends_default_outbound);
        if standard {
            way.set(|facts| or_else(facts, Peer::Model));
        }
    }
}

/// Adds a membership. A NIC-based one outweighs one by address, since it ends default outbound.
fn join(facts: &mut Facts, side: Side, membership: Membership, rules: Rules) {
    let stronger = |old: Membership| match (old, membership) {
        (Membership::Nic, _) | (_, Membership::Nic) => Membership::Nic,
        (Membership::Ip, _) | (_, Membership::Ip) => Membership::Ip,
        (Membership::None, Membership::None) => Membership::None,
    };
    let add = |pool: &mut Pool| {
        pool.membership = stronger(pool.membership);
        pool.rules = pool.rules.and(rules);
    };
    match side {
        Side::Managed => add(&mut facts.managed_pool),
        Side::Other => add(&mut facts.other_pool),
        Side::Internal => facts.internal = stronger(facts.internal),
    }
}

fn or_else(facts: &mut Facts, peer: Peer) {
    if facts.peer == Peer::None {
        facts.peer = peer;
    }
}
