use holdfast_core::egress::facts::{Membership, Peer};
use holdfast_core::egress::path::Path;

use super::*;
use crate::azure::Listing;
use crate::azure::sample::{self, id};

fn way_of<'a>(topology: &Topology<'a>, node: &str) -> Vec<Way<'a>> {
    let machines = topology.machines();
    let machine = machines.iter().find(|it| it.name == node).unwrap();
    topology.ways(machine)
}

fn path_of(inventory: &Inventory, node: &str) -> Option<Path> {
    let topology = Topology::new(inventory, &Cluster::ByBalancer);
    way_of(&topology, node)[0].egress().map(|it| it.path)
}

#[test]
fn each_vm_has_the_path_that_its_resources_make() {
    let inventory = sample::inventory();
    for (node, path) in [
        ("snat", Path::Snat),
        ("sibling", Path::NoneGroupIsStandard),
        ("alone", Path::DefaultOutbound),
        ("private", Path::NonePrivateSubnet),
        ("gateway", Path::NatGateway),
        ("addressed", Path::InstanceAddress),
        ("routed", Path::UdrAppliance),
        ("flex", Path::NoneVmssFlex),
        ("by-address", Path::OutboundRule),
        ("workers_0", Path::OutboundRule),
        ("workers_1", Path::NoneGroupIsStandard),
        ("two-nics", Path::NoneGroupIsStandard),
    ] {
        assert_eq!(path_of(&inventory, node), Some(path), "{node}");
    }
}

#[test]
fn a_way_names_the_resources_that_it_rests_on() {
    let inventory = sample::inventory();
    let topology = Topology::new(&inventory, &Cluster::ByBalancer);
    for (node, names) in [
        ("snat", vec!["kubernetes", "tcp", "udp"]),
        ("gateway", vec!["gw"]),
        ("addressed", vec!["own"]),
        ("routed", vec!["default"]),
        ("alone", vec!["nodes"]),
        ("by-address", vec!["outbound", "egress"]),
    ] {
        let way = &way_of(&topology, node)[0];
        let found: Vec<_> = way.rests_on(way.egress().unwrap().path);
        let found: Vec<_> = found.iter().map(|id| id.name()).collect();
        assert_eq!(found, names, "{node}");
    }
}

#[test]
fn ids_are_found_whatever_their_case() {
    let mut inventory = sample::inventory();
    for nic in inventory.all_nics_mut() {
        for configuration in &mut nic.configurations {
            for pool in &mut configuration.pools {
                pool.id = Id::from(pool.id.as_str().to_uppercase());
            }
        }
    }
    for subnet in inventory.subnets_mut() {
        subnet.id = Id::from(subnet.id.as_str().to_lowercase());
    }
    for node in ["snat", "sibling", "gateway", "workers_0", "routed"] {
        assert_eq!(
            path_of(&inventory, node),
            path_of(&sample::inventory(), node),
            "{node}"
        );
    }
}

#[test]
fn what_is_missing_makes_unknown_only_what_depends_on_it() {
    type Forget = fn(&mut Inventory);
    let cases: [(Listing, Forget, &[&str], &[&str]); 6] = [
        (
            Listing::RouteTables,
            |it| it.route_tables = None,
            &["routed"],
            &["snat", "gateway", "alone"],
        ),
        (
            Listing::NatGateways,
            |it| it.nat_gateways = None,
            &["gateway", "snat", "alone"],
            &["routed"],
        ),
        (
            Listing::Networks,
            |it| it.networks = None,
            &["snat", "gateway", "routed", "addressed"],
            &[],
        ),
        (
            Listing::LoadBalancers,
            |it| it.load_balancers = None,
            &["snat", "sibling", "alone", "workers_0"],
            &["gateway", "addressed", "routed"],
        ),
        (
            Listing::Vms,
            |it| it.vms = None,
            &["sibling", "alone", "flex"],
            &["snat", "gateway", "workers_0"],
        ),
        (
            Listing::ScaleSets,
            |it| {
                it.scale_sets = None;
                // Without a Standard instance, only the model would tell.
                for nic in it.instance_nics.iter_mut().flatten() {
                    nic.configurations[0].pools.clear();
                }
            },
            &["workers_0", "workers_1"],
            &["snat", "alone"],
        ),
    ];
    for (list, forget, unknown, known) in cases {
        let mut inventory = sample::inventory();
        forget(&mut inventory);
        assert_eq!(
            inventory.missing(),
            [list, Listing::Nodes, Listing::Services]
        );
        let topology = Topology::new(&inventory, &Cluster::ByBalancer);
        for node in unknown {
            let way = &way_of(&topology, node)[0];
            assert_eq!(way.egress(), None, "{list} {node}");
            assert!(way.missing.contains(&Missing::List(list)), "{list} {node}");
        }
        for node in known {
            assert_eq!(
                path_of(&inventory, node),
                path_of(&sample::inventory(), node),
                "{list} {node}"
            );
        }
    }
}

#[test]
fn a_resource_that_no_list_has_is_unknown_too() {
    let mut inventory = sample::inventory();
    let pool = id("loadBalancers/elsewhere/backendAddressPools/kubernetes");
    crate::azure::apply(
        &crate::azure::Edit::Join {
            nic: id("networkInterfaces/alone"),
            pool,
        },
        &mut inventory,
    );
    assert_eq!(path_of(&inventory, "alone"), None);
}

#[test]
fn a_gateway_that_may_have_learned_a_route_makes_the_route_unknown() {
    let mut inventory = sample::inventory();
    let network = &mut inventory.networks.as_mut().unwrap()[0];
    network.subnets.push(Subnet {
        id: id("virtualNetworks/vnet/subnets/GatewaySubnet"),
        ..Default::default()
    });
    assert_eq!(path_of(&inventory, "snat"), None);
    // A user's default route outranks what is learned.
    assert_eq!(path_of(&inventory, "routed"), Some(Path::UdrAppliance));
    let topology = Topology::new(&inventory, &Cluster::ByBalancer);
    let missing = way_of(&topology, "snat")[0].missing.clone();
    assert_eq!(
        missing.into_iter().collect::<Vec<_>>(),
        [Missing::EffectiveRoutes]
    );
}

#[test]
fn pools_are_told_apart_by_side_kind_and_manager() {
    let inventory = sample::inventory();
    let topology = Topology::new(&inventory, &Cluster::ByBalancer);
    let seen: Vec<_> = topology
        .pools()
        .values()
        .map(|view| (view.pool.id.name(), view.side, view.kind))
        .collect();
    assert_eq!(
        seen,
        [
            ("kubernetes", Side::Internal, Kind::Nic),
            ("kubernetes", Side::Managed, Kind::Nic),
            ("outbound", Side::Other, Kind::Ip),
            ("workers", Side::Other, Kind::Nic),
        ]
    );
    let named = Topology::new(&inventory, &Cluster::Named("Outbound".to_owned()));
    let managed = named
        .pools()
        .values()
        .filter(|it| it.side == Side::Managed)
        .count();
    assert_eq!(managed, 1);
}

#[test]
fn a_pool_by_address_means_the_address_of_its_own_network_only() {
    let mut inventory = sample::inventory();
    assert_eq!(path_of(&inventory, "by-address"), Some(Path::OutboundRule));
    for balancer in inventory.load_balancers.as_mut().unwrap() {
        for member in balancer.pools.iter_mut().flat_map(|it| &mut it.addresses) {
            member.network = Some(crate::azure::resource::Reference {
                id: id("virtualNetworks/other"),
            });
        }
    }
    assert_eq!(
        path_of(&inventory, "by-address"),
        Some(Path::DefaultOutbound)
    );
}

#[test]
fn a_manual_pool_is_not_guessed_at() {
    let mut inventory = sample::inventory();
    for balancer in inventory.load_balancers.as_mut().unwrap() {
        for pool in balancer
            .pools
            .iter_mut()
            .filter(|it| it.id.name() == "outbound")
        {
            pool.sync_mode = "Manual".to_owned();
        }
        balancer
            .outbound_rules
            .retain(|rule| rule.id.name() != "egress");
    }
    assert_eq!(path_of(&inventory, "by-address"), None);
}

#[test]
fn nodes_are_joined_to_vms_and_strangers_are_left_alone() {
    let mut inventory = sample::inventory();
    let node = |name: &str, provider: &str| {
        serde_json::from_value(serde_json::json!({
            "kind": "Node", "metadata": {"name": name}, "spec": {"providerID": provider},
        }))
        .unwrap()
    };
    let snat = format!("azure://{}", sample::compute("virtualMachines/SNAT"));
    inventory.nodes = Some(vec![node("b", &snat), node("a", "aws:///eu-west-1a/i-1")]);
    let topology = Topology::new(&inventory, &Cluster::ByBalancer);
    let machines = topology.machines();
    assert_eq!(
        machines
            .iter()
            .map(|it| it.name.as_str())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert!(machines[0].vm.is_none() && topology.ways(&machines[0]).is_empty());
    let facts = topology.ways(&machines[1])[0].possible[0];
    assert_eq!(facts.managed_pool.membership, Membership::Nic);
    assert_eq!(facts.internal, Membership::Nic);
    assert_eq!(facts.peer, Peer::None);
}
