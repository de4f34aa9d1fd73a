//! What ARM refuses: references to nothing, combinations that can't work, deletions of what is used.
//!
//! Codes are those of reports from Azure where there is one; docs/azure-lab.md names those that are
//! not.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kind::Kind;
use super::link::Links;
use super::shape::{self, Target};
use super::store::{Document, State, Store, elements, id_of, key};
use super::wire::Refusal;

/// Checks a body before it is stored.
pub(super) fn check(
    store: &Store,
    kind: &'static Kind,
    id: &str,
    body: &Value,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    check_references(store, kind, id, body, before)?;
    match kind.name() {
        "networkInterfaces" => check_nic(store, id, body),
        "loadBalancers" => check_balancer(body),
        _ => Ok(()),
    }
}

fn check_references(
    store: &Store,
    kind: &'static Kind,
    id: &str,
    body: &Value,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let known = before.map(shape::references).unwrap_or_default();
    let own = format!("{}/", key(id));
    for reference in shape::references(body) {
        if key(&reference).starts_with(&own) {
            let mut parts = kind.parts.iter();
            let is_part = parts.any(|part| shape::find_part(body, part.name, &reference).is_some());
            // The NICs of an instance are documents of their own.
            if !is_part && store.find(&reference).is_none() {
                return Err(missing(&reference, id));
            }
            continue;
        }
        match shape::target(store, &reference) {
            // What was there before may have come from a folder that is not complete.
            Target::Missing if !known.contains(&reference) => {
                return Err(missing(&reference, id));
            }
            Target::There(document) if is_unfinished(document) => {
                return Err(Refusal::retryable(
                    "ReferencedResourceNotProvisioned",
                    format!(
                        "Cannot proceed with operation because resource {reference} used by resource {id} is not in \
                         Succeeded state. Resource is in {} state.",
                        document.provisioning_state()
                    ),
                ));
            }
            Target::Foreign | Target::Missing | Target::There(_) => {}
        }
    }
    Ok(())
}

/// Whether an operation holds it; a VM that is being changed may still be referred to.
fn is_unfinished(document: &Document) -> bool {
    document.state != State::Settled && document.kind.provider == super::kind::Provider::Network
}

fn missing(reference: &str, id: &str) -> Refusal {
    Refusal::bad(
        "InvalidResourceReference",
        format!(
            "Resource {reference} referenced by resource {id} was not found. Please make sure that the referenced \
             resource exists, and that both resources are in the same region."
        ),
    )
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Whether a load balancer is internal: a frontend of it has a subnet.
pub(super) fn is_internal(balancer: &Value) -> bool {
    elements(balancer, "frontendIPConfigurations")
        .iter()
        .any(|frontend| frontend.pointer("/properties/subnet/id").is_some())
}

fn check_nic(store: &Store, id: &str, body: &Value) -> Result<(), Refusal> {
    let configurations = elements(body, "ipConfigurations");
    if configurations.is_empty() {
        return Err(Refusal::bad(
            "NetworkInterfaceMustHaveAtLeastOneIpConfiguration",
            format!("Network interface {id} must have at least one IP configuration."),
        ));
    }
    let mut balancers: BTreeMap<&str, &Document> = BTreeMap::new();
    for configuration in configurations {
        for pool in elements(configuration, "loadBalancerBackendAddressPools") {
            if let Target::There(balancer) = shape::target(store, id_of(pool)) {
                balancers.insert(&balancer.id, balancer);
            }
        }
        check_address(store, id, configuration)?;
    }
    check_sides(id, &balancers)?;
    check_skus(store, id, configurations, &balancers)
}

fn check_sides(id: &str, balancers: &BTreeMap<&str, &Document>) -> Result<(), Refusal> {
    for side in [true, false] {
        let same: Vec<&str> = balancers
            .values()
            .filter(|one| is_internal(&one.body) == side)
            .map(|one| one.id.as_str())
            .collect();
        if same.len() > 1 {
            return Err(Refusal::bad(
                "NetworkInterfaceUsesMultipleLoadBalancersOfSameType",
                format!(
                    "Network interface {id} references more than one load balancer of the same type (internal or \
                     public): {}",
                    same.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

fn check_skus(
    store: &Store,
    id: &str,
    configurations: &[Value],
    balancers: &BTreeMap<&str, &Document>,
) -> Result<(), Refusal> {
    let addresses = configurations
        .iter()
        .filter_map(|one| store.find(text(one, "/properties/publicIPAddress/id")));
    let is_basic = |document: &Document| {
        let sku = text(&document.body, "/sku/name");
        sku.is_empty() || sku.eq_ignore_ascii_case("basic")
    };
    let mut all = balancers.values().copied().chain(addresses).map(is_basic);
    let first = all.next();
    if all.any(|other| Some(other) != first) {
        return Err(Refusal::bad(
            "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed",
            format!(
                "Different basic sku and standard sku load balancer or public Ip resources in availability set are \
                 not allowed: {id}"
            ),
        ));
    }
    Ok(())
}

fn check_address(store: &Store, id: &str, configuration: &Value) -> Result<(), Refusal> {
    let address = text(configuration, "/properties/privateIPAddress");
    let subnet = text(configuration, "/properties/subnet/id");
    let network = subnet.split("/subnets/").next().unwrap_or_default();
    let taken = store
        .all()
        .filter(|other| key(&other.id) != key(id))
        .any(|other| {
            let mut theirs = other.part("ipConfigurations").iter();
            theirs.any(|one| {
                text(one, "/properties/privateIPAddress") == address
                    && key(text(one, "/properties/subnet/id")).starts_with(&key(network))
            })
        });
    if taken && !address.is_empty() {
        return Err(Refusal::bad(
            "PrivateIPAddressInUse",
            format!("Private static IP address {address} is in use by another resource."),
        ));
    }
    Ok(())
}

fn check_balancer(body: &Value) -> Result<(), Refusal> {
    let outbound = elements(body, "outboundRules");
    let sku = text(body, "/sku/name");
    let is_basic = sku.is_empty() || sku.eq_ignore_ascii_case("basic");
    if !outbound.is_empty() && (is_basic || is_internal(body)) {
        return Err(Refusal::bad(
            "OutboundRulesNotSupportedForLoadBalancer",
            format!(
                "Outbound rules are supported on public load balancers of the Standard SKU only: {}",
                id_of(body)
            ),
        ));
    }
    check_snat(body, outbound)?;
    check_overlap(outbound)?;
    check_ports(body)
}

/// Where a frontend has an outbound rule, rules on it must not SNAT too.
fn check_snat(body: &Value, outbound: &[Value]) -> Result<(), Refusal> {
    for rule in elements(body, "loadBalancingRules") {
        let frontend = key(text(rule, "/properties/frontendIPConfiguration/id"));
        let snat = rule.pointer("/properties/disableOutboundSnat") != Some(&Value::Bool(true));
        let clash = outbound.iter().find(|one| {
            let mut frontends = elements(one, "frontendIPConfigurations").iter();
            frontends.any(|it| key(id_of(it)) == frontend)
        });
        if let Some(clash) = clash.filter(|_| snat) {
            return Err(Refusal::bad(
                "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule",
                format!(
                    "Load balancing rule {} must disable SNAT since same frontend IP configuration {frontend} is \
                     referenced by outbound rule {}.",
                    id_of(rule),
                    id_of(clash)
                ),
            ));
        }
    }
    Ok(())
}

fn check_overlap(outbound: &[Value]) -> Result<(), Refusal> {
    let protocol = |rule: &Value| text(rule, "/properties/protocol").to_ascii_lowercase();
    for (at, one) in outbound.iter().enumerate() {
        for other in outbound.iter().skip(at + 1) {
            let (first, second) = (protocol(one), protocol(other));
            let overlap = first == second || first == "all" || second == "all";
            let mut frontends = elements(one, "frontendIPConfigurations").iter();
            let shared = frontends.find(|frontend| {
                let mut others = elements(other, "frontendIPConfigurations").iter();
                others.any(|it| key(id_of(it)) == key(id_of(frontend)))
            });
            if let Some(frontend) = shared.filter(|_| overlap) {
                return Err(Refusal::bad(
                    "MoreThanOneOutboundRuleUsingSameFrontendIPConfigurationAndProtocolIsNotSupported",
                    format!(
                        "It is not supported to have more than a single outbound rule using frontendIPConfiguration {} \
                         with same or overlapping protocol: {}, {}",
                        id_of(frontend),
                        id_of(one),
                        id_of(other)
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Without floating IP, two rules can't send to the same port of the same pool.
fn check_ports(body: &Value) -> Result<(), Refusal> {
    let rules = elements(body, "loadBalancingRules");
    let target = |rule: &Value| {
        (
            key(text(rule, "/properties/backendAddressPool/id")),
            text(rule, "/properties/protocol").to_ascii_lowercase(),
            rule.pointer("/properties/backendPort")
                .and_then(Value::as_u64),
        )
    };
    let floats =
        |rule: &Value| rule.pointer("/properties/enableFloatingIP") == Some(&Value::Bool(true));
    for (at, one) in rules.iter().enumerate() {
        let clash = rules.iter().skip(at + 1).find(|other| {
            target(one) == target(other)
                && !floats(one)
                && !floats(other)
                && !target(one).0.is_empty()
        });
        if let Some(other) = clash {
            return Err(Refusal::bad(
                "RulesUseSameBackendPortProtocolAndPool",
                format!(
                    "Load balancing rules {} and {} with floating IP disabled use the same protocol and backend port, \
                     and must not be used with the same backend address pool.",
                    id_of(one),
                    id_of(other)
                ),
            ));
        }
    }
    Ok(())
}

/// Checks a document before it is deleted, or a part of it.
pub(super) fn check_delete(
    store: &Store,
    links: &Links,
    name: &str,
    id: &str,
) -> Result<(), Refusal> {
    let in_use = |code: &str, users: Vec<&str>| match users.first() {
        None => Ok(()),
        Some(user) => Err(Refusal::bad(
            code,
            format!("{id} is in use by {user} and can't be deleted."),
        )),
    };
    match name {
        "networkInterfaces" => in_use("NicInUse", links.to(id, "virtualMachine")),
        "publicIPAddresses" => {
            let mut users = links.to(id, "ipConfiguration");
            users.extend(links.to(id, "natGateway"));
            in_use("PublicIPAddressCannotBeDeleted", users)
        }
        "natGateways" => in_use("InUseNatGatewayCannotBeDeleted", links.to(id, "subnets")),
        "routeTables" => in_use("InUseRouteTableCannotBeDeleted", links.to(id, "subnets")),
        "networkSecurityGroups" => {
            let mut users = links.to(id, "subnets");
            users.extend(links.to(id, "networkInterfaces"));
            in_use("InUseNetworkSecurityGroupCannotBeDeleted", users)
        }
        "subnets" => in_use(
            "InUseSubnetCannotBeDeleted",
            links.to(id, "ipConfigurations"),
        ),
        "virtualNetworks" => {
            let subnets = store.find(id).map(|it| it.part("subnets"));
            let users = subnets
                .unwrap_or_default()
                .iter()
                .flat_map(|subnet| links.to(id_of(subnet), "ipConfigurations"));
            in_use("InUseSubnetCannotBeDeleted", users.collect())
        }
        "availabilitySets" => match links.to(id, "virtualMachines").as_slice() {
            [] => Ok(()),
            _ => Err(Refusal::conflict(
                "OperationNotAllowed",
                "Availability Set cannot be deleted before all its VMs are deleted.",
            )),
        },
        "loadBalancers" | "backendAddressPools" => in_use(
            "LoadBalancerInUseByVirtualMachineScaleSet",
            sets_with(store, id),
        ),
        _ => Ok(()),
    }
}

/// The scale sets in whose model this is referred to, or a part of it.
fn sets_with<'a>(store: &'a Store, id: &str) -> Vec<&'a str> {
    let (whole, inside) = (key(id), format!("{}/", key(id)));
    store
        .all()
        .filter(|document| document.kind.types == ["virtualMachineScaleSets"])
        .filter(|set| {
            let mut referred = shape::references(&set.body).into_iter();
            referred.any(|it| key(&it) == whole || key(&it).starts_with(&inside))
        })
        .map(|set| set.id.as_str())
        .collect()
}
