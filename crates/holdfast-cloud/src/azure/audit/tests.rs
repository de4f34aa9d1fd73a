use super::*;
use crate::azure::Listing;
use crate::azure::sample::inventory;
use crate::azure::topology::Cluster;

fn audited(inventory: &crate::azure::Inventory) -> Vec<Finding> {
    audit(&Topology::new(inventory, &Cluster::ByBalancer))
}

#[test]
fn every_weakness_is_found_once_with_its_nodes_and_its_cure() {
    let findings = audited(&inventory());
    let found: Vec<_> = findings
        .iter()
        .map(|it| {
            (
                it.check,
                Id::from(it.resource.as_str()).name().to_owned(),
                it.nodes.join(" "),
            )
        })
        .collect();
    let expected = [
        (Check::NoEgress, "nodes", "flex sibling two-nics workers_1"),
        (Check::NoEgress, "private", "private"),
        (Check::ManagedPoolOnly, "kubernetes", "snat"),
        (Check::DefaultOutbound, "nodes", "alone"),
        (Check::ImplicitSnat, "kubernetes", "snat"),
    ]
    .map(|(check, resource, nodes)| (check, resource.to_owned(), nodes.to_owned()));
    assert_eq!(found, expected);
    assert!(
        findings
            .iter()
            .all(|it| it.command.contains("az ") && !it.change.is_empty())
    );
}

#[test]
fn a_finding_says_upon_what_each_version_of_the_provider_cuts() {
    let findings = audited(&inventory());
    let wedge = findings
        .iter()
        .find(|it| it.check == Check::ManagedPoolOnly)
        .unwrap();
    let upon = |version| wedge.cut_upon[&version].as_slice();
    let always = [Event::Excluded, Event::NodeDeleted, Event::Unmanaged];
    assert_eq!(upon(Version::Current), always);
    let before = [&[Event::NotReady], always.as_slice()].concat();
    assert_eq!(upon(Version::BeforeReadinessFix), before);
}

#[test]
fn balancers_are_checked_by_themselves() {
    let mut inventory = inventory();
    let balancer = &mut inventory.load_balancers.as_mut().unwrap()[0];
    balancer.rules[0].probe = None;
    let pool = balancer.pools[0].id.clone();
    balancer.outbound_rules[0].pool = Some(crate::azure::resource::Reference { id: pool });
    balancer.sku.name = "Basic".to_owned();
    let findings = audited(&inventory);
    let has = |check, name: &str| {
        findings
            .iter()
            .any(|it| it.check == check && it.resource.ends_with(name))
    };
    assert!(has(Check::RuleWithoutProbe, "/loadBalancingRules/tcp"));
    assert!(!has(Check::RuleWithoutProbe, "/loadBalancingRules/udp"));
    assert!(has(
        Check::SnatBesideOutboundRule,
        "/loadBalancingRules/tcp"
    ));
    assert!(has(Check::BasicBalancer, "/kubernetes"));
}

#[test]
fn what_is_missing_is_a_finding_of_its_own() {
    let mut inventory = inventory();
    inventory.route_tables = None;
    let findings = audited(&inventory);
    let undecided: Vec<_> = findings
        .iter()
        .filter(|it| it.check == Check::Undecided)
        .collect();
    assert_eq!(undecided.len(), 1);
    assert_eq!(undecided[0].resource, Listing::RouteTables.file());
    assert_eq!(undecided[0].nodes, ["routed"]);
    assert_eq!(undecided[0].command, Listing::RouteTables.command());
}
