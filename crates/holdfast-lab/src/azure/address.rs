//! Addresses that the service gives: private ones from subnets, public ones from a test range.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::json::set;
use super::kind::Kind;
use super::shape;
use super::store::{Store, elements, elements_mut, id_of};

/// Azure keeps the first four addresses of a subnet and the last one for itself.
const KEPT: u32 = 4;
/// Public addresses are given from here: it is for benchmarks, never routed (RFC 2544).
const PUBLIC_V4: u32 = 0xc612_0000;
/// And from here: it is for documentation (RFC 3849).
const PUBLIC_V6: u128 = 0x2001_0db8_0000_0000_0000_0000_0000_0000;

/// Gives a body the addresses that it wants and has not.
pub(super) fn give(store: &Store, kind: &Kind, body: &mut Value) {
    match kind.name() {
        "networkInterfaces" => give_private(store, body, "ipConfigurations"),
        "loadBalancers" => give_private(store, body, "frontendIPConfigurations"),
        "publicIPAddresses" => give_public(store, body),
        _ => {}
    }
}

fn give_private(store: &Store, body: &mut Value, part: &str) {
    let mut taken = taken(store);
    for element in elements_mut(body, part) {
        let Some(properties) = element.get_mut("properties").filter(|it| it.is_object()) else {
            continue;
        };
        let subnet = properties.get("subnet").map(|it| id_of(it).to_owned());
        let has = text(properties, "privateIPAddress").is_some();
        let Some(subnet) = subnet.filter(|_| !has) else {
            continue;
        };
        let is_v6 = text(properties, "privateIPAddressVersion")
            .is_some_and(|it| it.eq_ignore_ascii_case("ipv6"));
        if let Some(free) = free(&prefixes(store, &subnet), is_v6, &taken) {
            set(properties, "privateIPAddress", free.to_string());
            taken.insert(free);
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value
        .get(field)
        .and_then(Value::as_str)
        .filter(|it| !it.is_empty())
}

/// Every private address; two networks never share any here.
fn taken(store: &Store) -> BTreeSet<IpAddr> {
    let parts = ["ipConfigurations", "frontendIPConfigurations"];
    store
        .all()
        .flat_map(|document| parts.map(|part| document.part(part)))
        .flatten()
        .filter_map(|element| {
            text(element.get("properties")?, "privateIPAddress")?
                .parse()
                .ok()
        })
        .collect()
}

fn prefixes(store: &Store, subnet: &str) -> Vec<String> {
    let shape::Target::There(network) = shape::target(store, subnet) else {
        return Vec::new();
    };
    let Some(subnet) = shape::find_part(&network.body, "subnets", subnet) else {
        return Vec::new();
    };
    let single = subnet.pointer("/properties/addressPrefix");
    single
        .into_iter()
        .chain(elements(subnet, "addressPrefixes"))
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn free(prefixes: &[String], v6: bool, taken: &BTreeSet<IpAddr>) -> Option<IpAddr> {
    prefixes.iter().find_map(|prefix| {
        let (base, length) = prefix.split_once('/')?;
        let length: u32 = length.parse().ok()?;
        match base.parse().ok()? {
            IpAddr::V4(base) if !v6 => {
                let size = 1_u32.checked_shl(32_u32.checked_sub(length)?)?;
                let candidates = (KEPT..size.saturating_sub(1)).map(|host| base.to_bits() | host);
                candidates
                    .map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)))
                    .find(|it| !taken.contains(it))
            }
            IpAddr::V6(base) if v6 => (KEPT..u32::MAX)
                .map(|host| IpAddr::V6(Ipv6Addr::from_bits(base.to_bits() | u128::from(host))))
                .find(|it| !taken.contains(it)),
            IpAddr::V4(_) | IpAddr::V6(_) => None,
        }
    })
}

/// Addresses of the Basic SKU that are dynamic have none before they are used; the others do.
fn give_public(store: &Store, body: &mut Value) {
    let used: BTreeSet<&str> = store
        .all()
        .filter_map(|document| document.body.pointer("/properties/ipAddress")?.as_str())
        .collect();
    let sku = body.pointer("/sku/name").and_then(Value::as_str);
    let is_basic = !sku.is_some_and(|it| it.eq_ignore_ascii_case("standard"));
    let Some(properties) = body.get_mut("properties").filter(|it| it.is_object()) else {
        return;
    };
    let is = |field: &str, word: &str| {
        text(properties, field).is_some_and(|it| it.eq_ignore_ascii_case(word))
    };
    let is_dynamic = is_basic && !is("publicIPAllocationMethod", "static");
    if is_dynamic || text(properties, "ipAddress").is_some() {
        return;
    }
    let v6 = is("publicIPAddressVersion", "ipv6");
    let free = (1..u32::from(u16::MAX))
        .map(|host| {
            if v6 {
                Ipv6Addr::from_bits(PUBLIC_V6 | u128::from(host)).to_string()
            } else {
                Ipv4Addr::from_bits(PUBLIC_V4 | host).to_string()
            }
        })
        .find(|address| !used.contains(address.as_str()));
    if let Some(free) = free {
        set(properties, "ipAddress", free);
    }
}
