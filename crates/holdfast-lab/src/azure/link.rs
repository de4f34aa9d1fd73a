//! What follows from other documents: ARM tells each reference at its other end too.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::json::set;
use super::kind::Kind;
use super::store::{Document, Key, Store, elements, elements_mut, id_of, key};

/// A reference, and where it is told at its other end.
#[derive(Debug)]
pub(super) struct Link {
    /// The kind or part that refers.
    from: &'static str,
    /// The field under `properties` that does: a reference or a list of them.
    field: &'static str,
    /// The kind or part that is referred to.
    at: &'static str,
    /// The field under `properties` that tells it.
    to: &'static str,
    /// Whether several may refer.
    many: bool,
}

const fn many(from: &'static str, field: &'static str, at: &'static str, to: &'static str) -> Link {
    Link {
        from,
        field,
        at,
        to,
        many: true,
    }
}

const fn one(from: &'static str, field: &'static str, at: &'static str, to: &'static str) -> Link {
    Link {
        from,
        field,
        at,
        to,
        many: false,
    }
}

const CONFIGURATIONS: &str = "ipConfigurations";
const FRONTENDS: &str = "frontendIPConfigurations";
const POOLS: &str = "backendAddressPools";
const RULES: &str = "loadBalancingRules";
const ADDRESSES: &str = "publicIPAddresses";
const PREFIXES: &str = "publicIPPrefixes";
const GROUPS: &str = "networkSecurityGroups";

static LINKS: [Link; 24] = [
    many(CONFIGURATIONS, "subnet", "subnets", CONFIGURATIONS),
    one(
        CONFIGURATIONS,
        "publicIPAddress",
        ADDRESSES,
        "ipConfiguration",
    ),
    many(
        CONFIGURATIONS,
        "loadBalancerBackendAddressPools",
        POOLS,
        "backendIPConfigurations",
    ),
    many(FRONTENDS, "subnet", "subnets", CONFIGURATIONS),
    one(FRONTENDS, "publicIPAddress", ADDRESSES, "ipConfiguration"),
    one(
        FRONTENDS,
        "publicIPPrefix",
        PREFIXES,
        "loadBalancerFrontendIpConfiguration",
    ),
    many(RULES, "backendAddressPool", POOLS, RULES),
    many(RULES, "backendAddressPools", POOLS, RULES),
    many(RULES, "frontendIPConfiguration", FRONTENDS, RULES),
    many(RULES, "probe", "probes", RULES),
    many(
        "outboundRules",
        "backendAddressPool",
        POOLS,
        "outboundRules",
    ),
    many(
        "outboundRules",
        "frontendIPConfigurations",
        FRONTENDS,
        "outboundRules",
    ),
    many(
        "inboundNatRules",
        "frontendIPConfiguration",
        FRONTENDS,
        "inboundNatRules",
    ),
    many(
        "inboundNatRules",
        "backendAddressPool",
        POOLS,
        "inboundNatRules",
    ),
    many("subnets", "natGateway", "natGateways", "subnets"),
    many("subnets", "routeTable", "routeTables", "subnets"),
    many("subnets", "networkSecurityGroup", GROUPS, "subnets"),
    many(
        "networkInterfaces",
        "networkSecurityGroup",
        GROUPS,
        "networkInterfaces",
    ),
    one("natGateways", "publicIpAddresses", ADDRESSES, "natGateway"),
    one(
        "natGateways",
        "publicIpAddressesV6",
        ADDRESSES,
        "natGateway",
    ),
    one("natGateways", "publicIpPrefixes", PREFIXES, "natGateway"),
    one("natGateways", "publicIpPrefixesV6", PREFIXES, "natGateway"),
    one(
        "virtualMachines",
        "networkProfile/networkInterfaces",
        "networkInterfaces",
        "virtualMachine",
    ),
    many(
        "virtualMachines",
        "availabilitySet",
        "availabilitySets",
        "virtualMachines",
    ),
];

/// Who refers to what.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_target: HashMap<Key, Vec<(&'static Link, String)>>,
}

impl Links {
    /// The links of all documents, each in the body that `of` shows.
    pub(super) fn of<'a>(store: &'a Store, of: impl Fn(&'a Document) -> Option<&'a Value>) -> Self {
        let mut links = Self::default();
        for document in store.all() {
            let Some(body) = of(document) else { continue };
            for (target, link, source) in outgoing(document.kind, &document.id, body) {
                let sources = links.by_target.entry(target).or_default();
                if !sources
                    .iter()
                    .any(|(old, id)| old.to == link.to && *id == source)
                {
                    sources.push((link, source));
                }
            }
        }
        links
    }

    /// Links as they are asked for.
    pub(super) fn now(store: &Store) -> Self {
        Self::of(store, |document| Some(&document.body))
    }

    /// The ids that refer to this one and are told in that field.
    pub(super) fn to(&self, id: &str, field: &str) -> Vec<&str> {
        let sources = self.by_target.get(&key(id)).into_iter().flatten();
        sources
            .filter(|(link, _)| link.to == field)
            .map(|(_, source)| source.as_str())
            .collect()
    }

    /// A body with everything that follows from other documents.
    pub(super) fn rendered(&self, document: &Document, body: &Value) -> Value {
        let mut shown = body.clone();
        self.add(&mut shown, &document.id, document.kind.name());
        for part in document.kind.parts {
            for element in elements_mut(&mut shown, part.name) {
                let id = id_of(element).to_owned();
                self.add(element, &id, part.name);
                if part.name == POOLS {
                    add_members(element);
                }
            }
        }
        shown
    }

    fn add(&self, body: &mut Value, id: &str, name: &str) {
        let Some(sources) = self.by_target.get(&key(id)) else {
            return;
        };
        let Some(properties) = body.get_mut("properties").filter(|it| it.is_object()) else {
            return;
        };
        for (link, source) in sources.iter().filter(|(link, _)| link.at == name) {
            let told = json!({"id": source});
            if !link.many {
                set(properties, link.to, told);
            } else if let Some(list) = properties.get_mut(link.to).and_then(Value::as_array_mut) {
                list.push(told);
            } else {
                set(properties, link.to, json!([told]));
            }
        }
    }
}

/// Pools by IP configuration list their members by address too, but without the address.
fn add_members(pool: &mut Value) {
    let by_address = elements(pool, "loadBalancerBackendAddresses");
    if !by_address.is_empty() {
        return;
    }
    let members: Vec<_> = elements(pool, "backendIPConfigurations")
        .iter()
        .map(|member| {
            let name = id_of(member)
                .split('/')
                .skip(8)
                .collect::<Vec<_>>()
                .join("_");
            json!({"name": name, "properties": {"networkInterfaceIPConfiguration": member}})
        })
        .collect();
    if let Some(properties) = pool.get_mut("properties").filter(|_| !members.is_empty()) {
        set(properties, "loadBalancerBackendAddresses", members);
    }
}

/// What a document refers to: target, link and the id that refers.
pub(super) fn outgoing(kind: &Kind, id: &str, body: &Value) -> Vec<(Key, &'static Link, String)> {
    let mut found = Vec::new();
    let mut look = |name: &str, id: &str, body: &Value| {
        let Some(properties) = body.get("properties") else {
            return;
        };
        for link in LINKS.iter().filter(|link| link.from == name) {
            for target in references(properties, link.field) {
                found.push((key(target), link, id.to_owned()));
            }
        }
    };
    look(kind.name(), id, body);
    for part in kind.parts {
        for element in elements(body, part.name) {
            look(part.name, id_of(element), element);
        }
    }
    found
}

/// The ids in a field that is a reference or a list of them.
fn references<'a>(properties: &'a Value, field: &str) -> Vec<&'a str> {
    let value = properties.pointer(&format!("/{field}"));
    let of = |value: &'a Value| Some(id_of(value)).filter(|id| !id.is_empty());
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(of).collect(),
        Some(single) => of(single).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Removes what only the service tells, from what a client writes.
pub(super) fn remove_told(kind: &Kind, body: &mut Value) {
    remove(body, kind.name());
    for part in kind.parts {
        for element in elements_mut(body, part.name) {
            remove(element, part.name);
        }
    }
}

fn remove(body: &mut Value, name: &str) {
    let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for link in LINKS.iter().filter(|link| link.at == name) {
        properties.remove(link.to);
    }
    if name == POOLS {
        keep_addresses(properties.get_mut("loadBalancerBackendAddresses"));
    }
}

fn keep_addresses(members: Option<&mut Value>) {
    if let Some(members) = members.and_then(Value::as_array_mut) {
        members.retain(|member| {
            let address = member.pointer("/properties/ipAddress");
            address
                .and_then(Value::as_str)
                .is_some_and(|it| !it.is_empty())
        });
    }
}

/// Documents whose other end of a reference changes between two bodies of one document.
pub(super) fn moved(kind: &Kind, id: &str, before: Option<&Value>, after: &Value) -> BTreeSet<Key> {
    let ends = |body: &Value| {
        outgoing(kind, id, body)
            .into_iter()
            .map(|(target, _, source)| (target, source))
            .collect::<BTreeSet<_>>()
    };
    let before = before.map(ends).unwrap_or_default();
    let after = ends(after);
    let changed = before.symmetric_difference(&after);
    changed.map(|(target, _)| target.clone()).collect()
}
