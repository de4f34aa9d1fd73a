//! The effective routes of a NIC: the subnet's route table over the system's routes.

use serde_json::{Value, json};

use super::shape::{self, Target};
use super::store::{Document, Store, elements, id_of};

/// What the system routes to nowhere unless the network has it (virtual networks, system routes).
const NOWHERE: [&str; 4] = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
];

/// The routes as `effectiveRouteTable` lists them.
pub(super) fn routes(store: &Store, nic: &Document) -> Value {
    let subnet = nic
        .part("ipConfigurations")
        .iter()
        .find_map(|one| one.pointer("/properties/subnet/id")?.as_str());
    let Some((network, subnet)) = subnet.and_then(|id| subnet_of(store, id)) else {
        return json!({"value": []});
    };
    let user = user_routes(store, subnet);
    let mut system = vec![(String::from("0.0.0.0/0"), "Internet")];
    system.extend(NOWHERE.map(|prefix| (prefix.to_owned(), "None")));
    let own = network
        .body
        .pointer("/properties/addressSpace/addressPrefixes");
    let own = own.and_then(Value::as_array).into_iter().flatten();
    let own = own
        .filter_map(Value::as_str)
        .map(|it| (it.to_owned(), "VnetLocal"));
    system = own.chain(system).collect();
    let overridden = |prefix: &str| {
        user.iter()
            .any(|route| route.pointer("/properties/addressPrefix") == Some(&prefix.into()))
    };
    let mut all: Vec<_> = system
        .iter()
        .map(|(prefix, hop)| {
            let state = if overridden(prefix) {
                "Invalid"
            } else {
                "Active"
            };
            json!({"source": "Default", "state": state, "addressPrefix": [prefix],
                "nextHopType": hop, "nextHopIpAddress": []})
        })
        .collect();
    all.extend(user.iter().map(|route| {
        let hop = route.pointer("/properties/nextHopIpAddress");
        let hop: Vec<_> = hop.into_iter().filter(|it| !it.is_null()).collect();
        json!({"name": route.get("name"), "source": "User", "state": "Active",
            "addressPrefix": [route.pointer("/properties/addressPrefix")],
            "nextHopType": route.pointer("/properties/nextHopType"), "nextHopIpAddress": hop})
    }));
    json!({"value": all})
}

fn subnet_of<'a>(store: &'a Store, id: &str) -> Option<(&'a Document, &'a Value)> {
    let Target::There(network) = shape::target(store, id) else {
        return None;
    };
    Some((network, shape::find_part(&network.body, "subnets", id)?))
}

fn user_routes<'a>(store: &'a Store, subnet: &Value) -> &'a [Value] {
    let table = subnet.pointer("/properties/routeTable").map(id_of);
    let table = table.and_then(|id| store.find(id));
    table.map_or(&[], |table| elements(&table.body, "routes"))
}
