//! Checks of load balancers by themselves, whoever their members are.

use holdfast_core::egress::protocols::Protocols;

use super::{Check, Findings};
use crate::azure::topology::{Side, Topology};

/// Rules without probe, SNAT beside an outbound rule, SKUs that are retired.
pub(super) fn audit(topology: &Topology<'_>, found: &mut Findings) {
    let balancers = topology.inventory().load_balancers.iter().flatten();
    for balancer in balancers {
        let sku = &balancer.sku.name;
        if sku.is_empty() || sku.eq_ignore_ascii_case("basic") {
            found.add(Check::BasicBalancer, balancer.id.as_str(), None);
        }
        for rule in balancer.rules.iter().filter(|rule| rule.probe.is_none()) {
            found.add(Check::RuleWithoutProbe, rule.id.as_str(), None);
        }
    }
    for view in topology
        .pools()
        .values()
        .filter(|view| view.side != Side::Internal)
    {
        let both = view.rules.outbound() != Protocols::NONE;
        for rule in view.snat_rules.iter().filter(|_| both) {
            found.add(Check::SnatBesideOutboundRule, rule.as_str(), None);
        }
    }
}
