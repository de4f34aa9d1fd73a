//! Changes of an inventory: what an operation would leave behind. The lists are edited as Azure
//! would, and asked again; so what happens to other nodes of a group shows too.

use holdfast_core::egress::facts::{Rule, Rules};

use super::id::Id;
use super::inventory::Inventory;
use super::resource::{
    BackendPool, BalancingRule, Frontend, LoadBalancer, OutboundRule, Reference, Route, RouteTable,
    Sku, Subnet,
};

/// One change, all ids being those of existing resources unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A NIC leaves a pool.
    Leave {
        /// The NIC.
        nic: Id,
        /// The pool.
        pool: Id,
    },
    /// A NIC joins a pool, which may be new.
    Join {
        /// The NIC.
        nic: Id,
        /// The pool.
        pool: Id,
    },
    /// A new Standard load balancer with one pool and these rules.
    NewBalancer {
        /// The pool's id, of which the load balancer's is the beginning.
        pool: Id,
        /// Whether it is public.
        public: bool,
        /// The rules that name the pool.
        rules: Rules,
    },
    /// A pool goes, with all memberships.
    DeletePool(Id),
    /// A load balancer goes, with all memberships.
    DeleteBalancer(Id),
    /// The load-balancing rules of a pool go.
    DropRules(Id),
    /// The outbound rules of a pool go.
    DropOutboundRules(Id),
    /// One rule goes, of whatever kind.
    DropRule(Id),
    /// `disableOutboundSnat: true` on the load-balancing rules of a pool.
    DisableSnat(Id),
    /// `disableOutboundSnat: true` on one rule.
    DisableSnatOf(Id),
    /// A subnet gets a NAT gateway, which may be new, or loses its own.
    NatGateway {
        /// The subnet.
        subnet: Id,
        /// The NAT gateway.
        gateway: Option<Id>,
    },
    /// A NAT gateway loses this address or prefix, or all.
    DetachNatAddress {
        /// The NAT gateway.
        gateway: Id,
        /// What it loses.
        address: Option<Id>,
    },
    /// A NAT gateway goes, also from its subnets.
    DeleteNatGateway(Id),
    /// A NIC loses its public addresses.
    DetachAddress(Id),
    /// A subnet becomes private.
    MakePrivate(Id),
    /// A subnet gets a route table, which may be new, or loses its own.
    RouteTable {
        /// The subnet.
        subnet: Id,
        /// The route table.
        table: Option<Id>,
    },
    /// A route table's route for this prefix is set, or goes.
    Route {
        /// The route table.
        table: Id,
        /// What the route is for.
        prefix: String,
        /// Where it goes.
        next_hop: Option<String>,
    },
    /// A subnet gets a default route with next hop `None`, in its route table or a new one.
    NoneRoute(Id),
}

/// Makes a change.
pub fn apply(edit: &Edit, inventory: &mut Inventory) {
    match edit {
        Edit::Leave { nic, pool } => leave(inventory, nic, pool),
        Edit::Join { nic, pool } => join(inventory, nic, pool),
        Edit::NewBalancer {
            pool,
            public,
            rules,
        } => {
            if let Some(balancers) = &mut inventory.load_balancers {
                balancers.push(new_balancer(pool, *public, *rules));
            }
        }
        Edit::DeletePool(pool) => delete_pools(inventory, |id| id == pool),
        Edit::DeleteBalancer(balancer) => {
            let of_balancer = |id: &Id| id.before("backendAddressPools").as_ref() == Some(balancer);
            delete_pools(inventory, of_balancer);
            if let Some(balancers) = &mut inventory.load_balancers {
                balancers.retain(|it| it.id != *balancer);
            }
        }
        Edit::DropRules(pool) => {
            for balancer in inventory.load_balancers.iter_mut().flatten() {
                balancer.rules.retain(|rule| !names(rule, pool));
            }
        }
        Edit::DropOutboundRules(pool) => {
            for balancer in inventory.load_balancers.iter_mut().flatten() {
                balancer
                    .outbound_rules
                    .retain(|rule| !is(rule.pool.as_ref(), pool));
            }
        }
        Edit::DropRule(rule) => {
            for balancer in inventory.load_balancers.iter_mut().flatten() {
                balancer.rules.retain(|it| it.id != *rule);
                balancer.outbound_rules.retain(|it| it.id != *rule);
                balancer.inbound_nat_rules.retain(|it| it.id != *rule);
            }
        }
        Edit::DisableSnat(pool) => disable_snat(inventory, |rule| names(rule, pool)),
        Edit::DisableSnatOf(id) => disable_snat(inventory, |rule| rule.id == *id),
        Edit::NatGateway { subnet, gateway } => {
            on_subnet(inventory, subnet, |it| {
                it.nat_gateway = gateway.as_ref().map(to);
            });
        }
        Edit::DetachNatAddress { gateway, address } => {
            for it in inventory.nat_gateways.iter_mut().flatten() {
                let lists = [
                    &mut it.addresses,
                    &mut it.prefixes,
                    &mut it.addresses_v6,
                    &mut it.prefixes_v6,
                ];
                for list in lists.into_iter().filter(|_| it.id == *gateway) {
                    list.retain(|one| address.as_ref().is_some_and(|gone| one.id != *gone));
                }
            }
        }
        Edit::DeleteNatGateway(gateway) => {
            for subnet in inventory.subnets_mut() {
                if is(subnet.nat_gateway.as_ref(), gateway) {
                    subnet.nat_gateway = None;
                }
            }
            if let Some(gateways) = &mut inventory.nat_gateways {
                gateways.retain(|it| it.id != *gateway);
            }
        }
        Edit::DetachAddress(nic) => {
            for it in inventory.all_nics_mut().filter(|it| it.id == *nic) {
                for configuration in &mut it.configurations {
                    configuration.public_address = None;
                }
            }
        }
        Edit::MakePrivate(subnet) => {
            on_subnet(inventory, subnet, |it| it.default_outbound = Some(false));
        }
        Edit::RouteTable { subnet, table } => {
            on_subnet(inventory, subnet, |it| {
                it.route_table = table.as_ref().map(to);
            });
        }
        Edit::Route {
            table,
            prefix,
            next_hop,
        } => {
            set_route(inventory, table, prefix, next_hop.as_deref());
        }
        Edit::NoneRoute(subnet) => add_none_route(inventory, subnet),
    }
}

fn to(id: &Id) -> Reference {
    Reference { id: id.clone() }
}

fn is(reference: Option<&Reference>, id: &Id) -> bool {
    reference.is_some_and(|it| it.id == *id)
}

fn names(rule: &BalancingRule, pool: &Id) -> bool {
    is(rule.pool.as_ref(), pool) || rule.pools.iter().any(|it| it.id == *pool)
}

fn leave(inventory: &mut Inventory, nic: &Id, pool: &Id) {
    let mut addresses = Vec::new();
    for it in inventory.all_nics_mut().filter(|it| it.id == *nic) {
        for configuration in &mut it.configurations {
            configuration.pools.retain(|one| one.id != *pool);
            addresses.push(configuration.address.clone());
        }
    }
    for it in pools_mut(inventory).filter(|it| it.id == *pool) {
        it.addresses.retain(|one| !addresses.contains(&one.address));
    }
}

/// Both families join: the pool's rules tell which gets something out of it.
fn join(inventory: &mut Inventory, nic: &Id, pool: &Id) {
    for it in inventory.all_nics_mut().filter(|it| it.id == *nic) {
        for configuration in &mut it.configurations {
            if !configuration.pools.iter().any(|one| one.id == *pool) {
                configuration.pools.push(to(pool));
            }
        }
    }
}

fn delete_pools(inventory: &mut Inventory, is_gone: impl Fn(&Id) -> bool) {
    for nic in inventory.all_nics_mut() {
        for configuration in &mut nic.configurations {
            configuration.pools.retain(|it| !is_gone(&it.id));
        }
    }
    let sets = inventory.scale_sets.iter_mut().flatten();
    let models = sets.flat_map(|it| &mut it.model.network.configurations);
    for configuration in models.flat_map(|it| &mut it.configurations) {
        configuration.pools.retain(|it| !is_gone(&it.id));
    }
    for balancer in inventory.load_balancers.iter_mut().flatten() {
        balancer.pools.retain(|it| !is_gone(&it.id));
    }
}

fn pools_mut(inventory: &mut Inventory) -> impl Iterator<Item = &mut BackendPool> {
    let balancers = inventory.load_balancers.iter_mut().flatten();
    balancers.flat_map(|balancer| &mut balancer.pools)
}

fn disable_snat(inventory: &mut Inventory, applies: impl Fn(&BalancingRule) -> bool) {
    for balancer in inventory.load_balancers.iter_mut().flatten() {
        for rule in balancer.rules.iter_mut().filter(|rule| applies(rule)) {
            rule.disable_outbound_snat = true;
        }
    }
}

fn on_subnet(inventory: &mut Inventory, subnet: &Id, change: impl Fn(&mut Subnet)) {
    for it in inventory.subnets_mut().filter(|it| it.id == *subnet) {
        change(it);
    }
}

fn set_route(inventory: &mut Inventory, table: &Id, prefix: &str, next_hop: Option<&str>) {
    for it in inventory
        .route_tables
        .iter_mut()
        .flatten()
        .filter(|it| it.id == *table)
    {
        it.routes.retain(|route| route.prefix != prefix);
        if let Some(next_hop) = next_hop {
            it.routes.push(Route {
                id: Id::from(format!("{table}/routes/planned")),
                prefix: prefix.to_owned(),
                next_hop: next_hop.to_owned(),
            });
        }
    }
}

fn add_none_route(inventory: &mut Inventory, subnet: &Id) {
    let known = inventory.subnets_mut().find(|it| it.id == *subnet);
    let Some(named) = known.map(|it| it.route_table.clone()) else {
        return;
    };
    let table = named.map_or_else(|| Id::from(format!("{subnet}/planned")), |it| it.id);
    let tables = inventory.route_tables.get_or_insert_default();
    if !tables.iter().any(|it| it.id == table) {
        tables.push(RouteTable {
            id: table.clone(),
            ..RouteTable::default()
        });
    }
    for prefix in ["0.0.0.0/0", "::/0"] {
        set_route(inventory, &table, prefix, Some("None"));
    }
    on_subnet(inventory, subnet, |it| it.route_table = Some(to(&table)));
}

fn new_balancer(pool: &Id, public: bool, rules: Rules) -> LoadBalancer {
    let id = pool.before("backendAddressPools").unwrap_or_default();
    let rule = |protocol: &str, disable_outbound_snat| BalancingRule {
        id: Id::from(format!("{id}/loadBalancingRules/{protocol}")),
        pool: Some(to(pool)),
        protocol: protocol.to_owned(),
        disable_outbound_snat,
        ..BalancingRule::default()
    };
    let outbound = |protocol: &str| OutboundRule {
        id: Id::from(format!("{id}/outboundRules/{protocol}")),
        pool: Some(to(pool)),
        protocol: protocol.to_owned(),
    };
    let mut balancer = LoadBalancer {
        sku: Sku {
            name: "Standard".to_owned(),
        },
        frontends: vec![Frontend {
            subnet: (!public).then(Reference::default),
            public_address: public.then(Reference::default),
            ..Frontend::default()
        }],
        pools: vec![BackendPool {
            id: pool.clone(),
            ..BackendPool::default()
        }],
        ..LoadBalancer::default()
    };
    for one in Rule::ALL.iter().filter(|one| rules.contains(**one)) {
        match one {
            Rule::OutboundAll => balancer.outbound_rules.push(outbound("All")),
            Rule::OutboundTcp => balancer.outbound_rules.push(outbound("Tcp")),
            Rule::OutboundUdp => balancer.outbound_rules.push(outbound("Udp")),
            Rule::SnatTcp => balancer.rules.push(rule("Tcp", false)),
            Rule::SnatUdp => balancer.rules.push(rule("Udp", false)),
            Rule::NoSnat => balancer.rules.push(rule("Tcp", true)),
            Rule::InboundNat => {}
        }
    }
    balancer.id = id;
    balancer
}

#[cfg(test)]
mod tests;
