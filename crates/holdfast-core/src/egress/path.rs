//! The path that a NIC's new connections take to the internet: Azure's precedence, rule by rule.

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::{
    Facts, Family, InstanceAddress, Membership, NatGateway, Peer, Pool, Route, Rules, Sku, VmKind,
};
use super::protocols::Protocols;
use super::words::words;

words! {
    /// How new connections reach the internet, or what keeps them from it.
    Path {
        /// A user's route sends everything to a virtual appliance.
        UdrAppliance = "udr_appliance",
        /// A route learned by BGP sends everything to the virtual network gateway.
        UdrBgp = "udr_bgp",
        /// A user's route sends everything to the virtual network gateway.
        UdrVpnGateway = "udr_vpngw",
        /// A user's route drops everything.
        UdrDrop = "udr_drop",
        /// The NAT gateway.
        NatGateway = "natgw",
        /// The NIC's own public address.
        InstanceAddress = "nic_pip",
        /// An outbound rule of the public load balancer.
        OutboundRule = "lb_outbound_rule",
        /// Outbound rules, and implicit SNAT for the protocol that they don't carry.
        OutboundRuleAndSnat = "lb_outbound_rule+lb_snat",
        /// Implicit SNAT of a load-balancing rule.
        Snat = "lb_snat",
        /// Implicit SNAT of a Basic load balancer.
        BasicSnat = "basic_lb_snat",
        /// Default outbound access: an address of Azure's that may change at any time.
        DefaultOutbound = "default_outbound",
        /// None: the NAT gateway takes every connection and has no public address.
        NoneNatGatewayWithoutAddress = "none_natgw_no_pip",
        /// None: default outbound access is IPv4 only.
        NoneNoV6Default = "none_no_v6_default",
        /// None: the subnet is private.
        NonePrivateSubnet = "none_private_subnet",
        /// None: a Flexible scale set has no default outbound access.
        NoneVmssFlex = "none_vmss_flex",
        /// None: the NIC is in a Standard load balancer, which ends default outbound access.
        NoneStandardMember = "none_standard_lb_member",
        /// None: its group, scale set model or another NIC is Standard, which ends it too.
        NoneGroupIsStandard = "none_group_is_standard",
    }
}

/// A path and what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Egress {
    /// The path.
    pub path: Path,
    /// The protocols that get out on it.
    pub protocols: Protocols,
}

const fn via(path: Path, protocols: Protocols) -> Egress {
    Egress { path, protocols }
}

/// The egress of a NIC: the first rule that applies wins.
pub fn egress(facts: &Facts) -> Egress {
    by_route(facts)
        .or_else(|| by_nat_gateway(facts))
        .or_else(|| by_instance_address(facts))
        .or_else(|| by_load_balancer(facts))
        .unwrap_or_else(|| by_default(facts))
}

/// Rule 0: a route of everything to somewhere else wins over all the rest, also over a NAT gateway
/// and a public address (NAT; UDR). Next hop `Internet` is the system's own route.
fn by_route(facts: &Facts) -> Option<Egress> {
    match facts.route {
        Route::None | Route::Internet => None,
        Route::Appliance => Some(via(Path::UdrAppliance, Protocols::HOP)),
        Route::VpnGateway => Some(via(Path::UdrVpnGateway, Protocols::HOP)),
        Route::Bgp => Some(via(Path::UdrBgp, Protocols::HOP)),
        Route::Drop => Some(via(Path::UdrDrop, Protocols::NONE)),
    }
}

/// Rule 1: a NAT gateway takes all new connections, also of VMs with a public address or a load
/// balancer (NAT). SKU Standard has IPv4 only. That one without an address lets nothing out is
/// inferred: no document says what happens.
fn by_nat_gateway(facts: &Facts) -> Option<Egress> {
    match (facts.nat_gateway, facts.family) {
        (NatGateway::StandardV4, Family::V4) | (NatGateway::V2Both, _) => {
            Some(via(Path::NatGateway, Protocols::BOTH))
        }
        (NatGateway::NoAddress, Family::V4) => {
            Some(via(Path::NoneNatGatewayWithoutAddress, Protocols::NONE))
        }
        (NatGateway::None, _) | (NatGateway::StandardV4 | NatGateway::NoAddress, Family::V6) => {
            None
        }
    }
}

/// Rule 2: a public address on the NIC beats every method of a load balancer (SNAT; OBR: "outbound
/// rules are ignored for it"). It serves its own family only.
fn by_instance_address(facts: &Facts) -> Option<Egress> {
    match (facts.instance_address, facts.family) {
        (InstanceAddress::Standard, Family::V4) | (InstanceAddress::V6, Family::V6) => {
            Some(via(Path::InstanceAddress, Protocols::BOTH))
        }
        (InstanceAddress::None, _)
        | (InstanceAddress::Standard, Family::V6)
        | (InstanceAddress::V6, Family::V4) => None,
    }
}

/// Rules 3 and 4: what the rules of the NIC's public pools carry. Outbound rules and implicit SNAT
/// can both apply, and then frontends of both are used (OBR; kubernetes/kubernetes#75281); SNAT is
/// named only where it adds a protocol. Membership of a pool without rules carries nothing, and
/// neither does an inbound NAT rule (SNAT). A Basic load balancer knows no outbound rules (OBR).
fn by_load_balancer(facts: &Facts) -> Option<Egress> {
    let rules = member_rules(facts.managed_pool).and(member_rules(facts.other_pool));
    let snat = rules.implicit_snat();
    let (path, protocols) = match facts.sku {
        Sku::Basic => (Path::BasicSnat, snat),
        Sku::Standard => {
            let outbound = rules.outbound();
            let path = if outbound.is_empty() {
                Path::Snat
            } else if outbound.contains(snat) {
                Path::OutboundRule
            } else {
                Path::OutboundRuleAndSnat
            };
            (path, outbound | snat)
        }
    };
    (!protocols.is_empty()).then_some(via(path, protocols))
}

fn member_rules(pool: Pool) -> Rules {
    match pool.membership {
        Membership::None => Rules::NONE,
        Membership::Nic | Membership::Ip => pool.rules,
    }
}

/// Rules 5 and 6: default outbound access, unless something ends it (DOA): it is IPv4 only; private
/// subnets and Flexible scale sets have none; a NIC in a Standard load balancer, public or internal,
/// has none, and neither has one whose availability set, scale set or VM is Standard elsewhere.
/// Pools by address don't end it (BPM), nor does a Basic load balancer.
fn by_default(facts: &Facts) -> Egress {
    let nic_member = [
        facts.managed_pool.membership,
        facts.other_pool.membership,
        facts.internal,
    ]
    .contains(&Membership::Nic);
    let path = if facts.family == Family::V6 {
        Path::NoneNoV6Default
    } else if !facts.default_outbound {
        Path::NonePrivateSubnet
    } else if facts.vm_kind == VmKind::VmssFlex {
        Path::NoneVmssFlex
    } else if nic_member && facts.sku == Sku::Standard {
        Path::NoneStandardMember
    } else if facts.peer != Peer::None {
        Path::NoneGroupIsStandard
    } else {
        return via(Path::DefaultOutbound, Protocols::BOTH);
    };
    via(path, Protocols::NONE)
}
