use holdfast_core::egress::decision::{Reason, Verdict};
use holdfast_core::egress::path::Path;

use super::*;
use crate::azure::Topology;
use crate::azure::effect::{effects, worst};
use crate::azure::sample::{id, inventory};
use crate::azure::topology::Cluster;

/// What such edits do to the nodes for which anything changes: path before, after, and why.
fn done(edits: &[Edit]) -> Vec<(String, Path, Path, Reason)> {
    let (before, mut after) = (inventory(), inventory());
    for edit in edits {
        apply(edit, &mut after);
    }
    let cluster = Cluster::ByBalancer;
    let effects = effects(
        &Topology::new(&before, &cluster),
        &Topology::new(&after, &cluster),
    );
    let changes = effects.iter().filter_map(|it| {
        let answer = it.answer.unwrap();
        (![Reason::NoEgressChange, Reason::NoOutboundBeforeOrAfter].contains(&answer.reason)).then(
            || {
                let (now, then) = (answer.before.path, answer.after.path);
                (it.node.clone(), now, then, answer.reason)
            },
        )
    });
    changes.collect()
}

fn pool(name: &str) -> Id {
    id(&format!(
        "loadBalancers/{}",
        name.replace('/', "/backendAddressPools/")
    ))
}

fn subnet(name: &str) -> Id {
    id(&format!("virtualNetworks/vnet/subnets/{name}"))
}

fn nic(name: &str) -> Id {
    id(&format!("networkInterfaces/{name}"))
}

fn one(node: &str, now: Path, then: Path, reason: Reason) -> Vec<(String, Path, Path, Reason)> {
    vec![(node.to_owned(), now, then, reason)]
}

const CUT: Reason = Reason::WouldCutAllOutbound;

#[test]
fn each_edit_changes_the_ways_that_rest_on_it_and_no_other() {
    let new = Id::from("/planned/loadBalancers/new/backendAddressPools/new");
    let join_new = |public| {
        vec![
            Edit::NewBalancer {
                pool: new.clone(),
                public,
                rules: Rules::NONE.with(Rule::SnatTcp),
            },
            Edit::Join {
                nic: nic("alone"),
                pool: new.clone(),
            },
        ]
    };
    let cases = [
        (
            vec![Edit::Leave {
                nic: nic("snat"),
                pool: pool("kubernetes/kubernetes"),
            }],
            one("snat", Path::Snat, Path::NoneStandardMember, CUT),
        ),
        (
            vec![Edit::Leave {
                nic: nic("by-address"),
                pool: pool("kubernetes/outbound"),
            }],
            one(
                "by-address",
                Path::OutboundRule,
                Path::DefaultOutbound,
                Reason::EgressPathChanges,
            ),
        ),
        (
            vec![Edit::Join {
                nic: nic("alone"),
                pool: pool("kubernetes-internal/kubernetes"),
            }],
            one(
                "alone",
                Path::DefaultOutbound,
                Path::NoneStandardMember,
                CUT,
            ),
        ),
        (
            join_new(false),
            one(
                "alone",
                Path::DefaultOutbound,
                Path::NoneStandardMember,
                CUT,
            ),
        ),
        (
            join_new(true),
            one(
                "alone",
                Path::DefaultOutbound,
                Path::Snat,
                Reason::WouldCutUdp,
            ),
        ),
        (
            vec![Edit::DropRules(pool("kubernetes/kubernetes"))],
            one("snat", Path::Snat, Path::NoneStandardMember, CUT),
        ),
        (
            vec![Edit::DisableSnat(pool("kubernetes/kubernetes"))],
            one("snat", Path::Snat, Path::NoneStandardMember, CUT),
        ),
        (
            vec![Edit::DropOutboundRules(pool("kubernetes/workers"))],
            one(
                "workers_0",
                Path::OutboundRule,
                Path::NoneStandardMember,
                CUT,
            ),
        ),
        (
            vec![Edit::NatGateway {
                subnet: subnet("gateway"),
                gateway: None,
            }],
            one(
                "gateway",
                Path::NatGateway,
                Path::Snat,
                Reason::EgressPathChanges,
            ),
        ),
        (
            vec![Edit::DetachNatAddress {
                gateway: id("natGateways/gw"),
                address: None,
            }],
            one(
                "gateway",
                Path::NatGateway,
                Path::NoneNatGatewayWithoutAddress,
                CUT,
            ),
        ),
        (
            vec![Edit::DeleteNatGateway(id("natGateways/GW"))],
            one(
                "gateway",
                Path::NatGateway,
                Path::Snat,
                Reason::EgressPathChanges,
            ),
        ),
        (
            vec![Edit::DetachAddress(nic("addressed"))],
            one(
                "addressed",
                Path::InstanceAddress,
                Path::Snat,
                Reason::EgressPathChanges,
            ),
        ),
        (
            vec![Edit::NoneRoute(subnet("gateway"))],
            one("gateway", Path::NatGateway, Path::UdrDrop, CUT),
        ),
        (
            vec![Edit::NoneRoute(subnet("routed"))],
            one("routed", Path::UdrAppliance, Path::UdrDrop, CUT),
        ),
        (
            vec![Edit::RouteTable {
                subnet: subnet("routed"),
                table: None,
            }],
            one(
                "routed",
                Path::UdrAppliance,
                Path::Snat,
                Reason::EgressPathChanges,
            ),
        ),
        (vec![Edit::DropRule(id("natGateways/gw"))], Vec::new()),
    ];
    for (edits, expected) in cases {
        let found = done(&edits);
        assert_eq!(found, expected, "{edits:?}");
    }
}

#[test]
fn making_a_subnet_private_ends_default_outbound_access_there() {
    let expected = one("alone", Path::DefaultOutbound, Path::NonePrivateSubnet, CUT);
    assert_eq!(done(&[Edit::MakePrivate(subnet("nodes"))]), expected);
}

#[test]
fn the_last_public_service_cuts_who_stays_in_an_internal_pool() {
    let found = done(&[Edit::DeleteBalancer(id("loadBalancers/kubernetes"))]);
    let of = |node: &str| found.iter().find(|it| it.0 == node).unwrap();
    assert_eq!(of("snat").2, Path::NoneStandardMember);
    // Nobody in its scale set is Standard any more.
    assert_eq!(of("workers_0").2, Path::DefaultOutbound);
    assert_eq!(of("workers_1").3, Reason::RestoresOutbound);
    assert_eq!(of("by-address").2, Path::DefaultOutbound);
    assert_eq!(found.len(), 4);
}

#[test]
fn siblings_feel_the_last_standard_member_leave() {
    let internal = pool("kubernetes-internal/kubernetes");
    let found = done(&[
        Edit::Leave {
            nic: nic("snat"),
            pool: pool("kubernetes/kubernetes"),
        },
        Edit::Leave {
            nic: nic("snat"),
            pool: internal,
        },
    ]);
    assert_eq!(
        found,
        [
            (
                "sibling".to_owned(),
                Path::NoneGroupIsStandard,
                Path::DefaultOutbound,
                Reason::RestoresOutbound
            ),
            (
                "snat".to_owned(),
                Path::Snat,
                Path::DefaultOutbound,
                Reason::EgressPathChanges
            ),
        ]
    );
}

#[test]
fn a_denial_stands_even_if_another_node_is_unknown() {
    let (mut before, edit) = (inventory(), Edit::DropRules(pool("kubernetes/kubernetes")));
    before.vms = None;
    let mut after = before.clone();
    apply(&edit, &mut after);
    let cluster = Cluster::ByBalancer;
    let (before, after) = (
        Topology::new(&before, &cluster),
        Topology::new(&after, &cluster),
    );
    let effects_of = effects(&before, &after);
    let snat: Vec<_> = effects_of.iter().filter(|it| it.node == "snat").collect();
    assert_eq!(worst(&effects_of), Some(Verdict::Deny), "{snat:#?}");
    let unchanged = effects(&before, &before);
    assert!(unchanged.iter().any(|it| it.answer.is_none()));
    assert_eq!(worst(&unchanged), Some(Verdict::Allow));
}
