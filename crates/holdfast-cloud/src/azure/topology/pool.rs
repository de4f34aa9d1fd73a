//! Backend pools as their members meet them: side, kind, SKU, rules.

use std::collections::HashMap;

use holdfast_core::egress::facts::{Membership, Rule, Rules};

use super::Cluster;
use crate::azure::id::Id;
use crate::azure::inventory::Inventory;
use crate::azure::resource::{BackendPool, LoadBalancer};

/// What side of the network a load balancer faces, and who manages the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Public, in a pool that the cloud provider manages.
    Managed,
    /// Public, in any other pool.
    Other,
    /// Internal.
    Internal,
}

/// How a pool knows its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By IP configuration, or by address with `syncMode: Automatic`.
    Nic,
    /// By address.
    Ip,
    /// By address with `syncMode: Manual`, of which no document says what it means for egress.
    Manual,
}

/// A pool and what its load balancer does with it.
#[derive(Clone, Debug)]
pub struct PoolView<'a> {
    /// The pool.
    pub pool: &'a BackendPool,
    /// Its load balancer.
    pub balancer: &'a LoadBalancer,
    /// Its side.
    pub side: Side,
    /// Its kind.
    pub kind: Kind,
    /// The rules that name it.
    pub rules: Rules,
    /// The ids of outbound rules that name it.
    pub outbound_rules: Vec<&'a Id>,
    /// The ids of load-balancing rules whose SNAT it has.
    pub snat_rules: Vec<&'a Id>,
}

impl PoolView<'_> {
    /// Whether the load balancer is of the Basic SKU; one without a SKU is.
    pub fn is_basic(&self) -> bool {
        let sku = &self.balancer.sku.name;
        sku.is_empty() || sku.eq_ignore_ascii_case("basic")
    }

    /// Whether membership ends default outbound access.
    pub fn ends_default_outbound(&self) -> bool {
        !self.is_basic() && self.kind == Kind::Nic
    }

    /// How a member belongs to it.
    pub const fn membership(&self) -> Membership {
        match self.kind {
            Kind::Nic => Membership::Nic,
            Kind::Ip | Kind::Manual => Membership::Ip,
        }
    }

    /// The network that this address is of, where the pool says so.
    pub(super) fn network_of(&self, address: &str) -> Option<&Id> {
        let member = self.pool.addresses.iter().find(|it| it.address == address);
        let of_member = member.and_then(|it| it.network.as_ref());
        of_member.or(self.pool.network.as_ref()).map(|it| &it.id)
    }
}

/// Every pool by its id.
pub(super) fn views<'a>(
    inventory: &'a Inventory,
    cluster: &Cluster,
) -> HashMap<&'a Id, PoolView<'a>> {
    let mut views = HashMap::new();
    for balancer in inventory.load_balancers.iter().flatten() {
        let internal = balancer.frontends.iter().any(|it| it.subnet.is_some());
        for pool in &balancer.pools {
            let view = PoolView {
                pool,
                balancer,
                side: if internal {
                    Side::Internal
                } else if is_managed(&pool.id, balancer, cluster) {
                    Side::Managed
                } else {
                    Side::Other
                },
                kind: kind(pool),
                rules: Rules::NONE,
                outbound_rules: Vec::new(),
                snat_rules: Vec::new(),
            };
            views.insert(&pool.id, view);
        }
        add_rules(balancer, &mut views);
    }
    views
}

/// Pools by IP configuration list their members by address too, but without one: a pool is by
/// address if an address is written (as Karpenter and the provider tell them apart).
fn kind(pool: &BackendPool) -> Kind {
    let by_address = pool.addresses.iter().any(|it| !it.address.is_empty());
    if pool.sync_mode.eq_ignore_ascii_case("manual") {
        Kind::Manual
    } else if by_address && pool.sync_mode.is_empty() {
        Kind::Ip
    } else {
        Kind::Nic
    }
}

fn is_managed(pool: &Id, balancer: &LoadBalancer, cluster: &Cluster) -> bool {
    let cluster = match cluster {
        Cluster::ByBalancer => balancer.id.name(),
        Cluster::Named(name) => name,
    };
    let name = pool.name().to_ascii_lowercase();
    let cluster = cluster.to_ascii_lowercase();
    name.strip_suffix("-ipv6").unwrap_or(&name) == cluster
}

fn add_rules<'a>(balancer: &'a LoadBalancer, views: &mut HashMap<&'a Id, PoolView<'a>>) {
    for rule in &balancer.rules {
        let first = rule.pool.iter();
        for pool in first.chain(&rule.pools) {
            let Some(view) = views.get_mut(&pool.id) else {
                continue;
            };
            if rule.disable_outbound_snat {
                view.rules = view.rules.with(Rule::NoSnat);
                continue;
            }
            if !view.snat_rules.contains(&&rule.id) {
                view.snat_rules.push(&rule.id);
            }
            view.rules = match rule.protocol.to_ascii_lowercase().as_str() {
                "tcp" => view.rules.with(Rule::SnatTcp),
                // QUIC is UDP.
                "udp" | "quic" => view.rules.with(Rule::SnatUdp),
                _ => view.rules.with(Rule::SnatTcp).with(Rule::SnatUdp),
            };
        }
    }
    for rule in &balancer.outbound_rules {
        let pool = rule.pool.as_ref();
        if let Some(view) = pool.and_then(|pool| views.get_mut(&pool.id)) {
            view.outbound_rules.push(&rule.id);
            view.rules = view
                .rules
                .with(match rule.protocol.to_ascii_lowercase().as_str() {
                    "tcp" => Rule::OutboundTcp,
                    "udp" => Rule::OutboundUdp,
                    _ => Rule::OutboundAll,
                });
        }
    }
    for rule in &balancer.inbound_nat_rules {
        let pool = rule.pool.as_ref();
        if let Some(view) = pool.and_then(|pool| views.get_mut(&pool.id)) {
            view.rules = view.rules.with(Rule::InboundNat);
        }
    }
}
