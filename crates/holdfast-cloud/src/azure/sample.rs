//! A small subscription for tests, in the JSON that `az` prints.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Id;
use super::inventory::Inventory;

const GROUP: &str = "/subscriptions/s/resourceGroups/g/providers";

/// The id of a network resource.
pub(super) fn id(name: &str) -> Id {
    Id::from(format!("{GROUP}/Microsoft.Network/{name}"))
}

/// The id of a VM or a scale set.
pub(super) fn compute(name: &str) -> Id {
    Id::from(format!("{GROUP}/Microsoft.Compute/{name}"))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "an inventory's lists are optional"
)]
fn list<T: DeserializeOwned>(values: &[Value]) -> Option<Vec<T>> {
    let read = |value: &Value| serde_json::from_value(value.clone()).unwrap();
    Some(values.iter().map(read).collect())
}

fn to(id: impl Into<Id>) -> Value {
    let id: Id = id.into();
    json!({ "id": id })
}

fn pool(name: &str) -> Value {
    to(id(&format!(
        "loadBalancers/{}",
        name.replace('/', "/backendAddressPools/")
    )))
}

fn subnet(name: &str) -> Value {
    to(id(&format!("virtualNetworks/vnet/subnets/{name}")))
}

fn nic(name: &str, vm: Id, address: &str, at: &str, pools: &[&str]) -> Value {
    let nic = if vm.has("virtualMachineScaleSets") {
        format!("{vm}/networkInterfaces/{name}")
    } else {
        id(&format!("networkInterfaces/{name}")).to_string()
    };
    let pools: Vec<_> = pools.iter().map(|name| pool(name)).collect();
    json!({"id": nic, "primary": true, "virtualMachine": to(vm), "ipConfigurations": [{
        "id": format!("{nic}/ipConfigurations/first"), "primary": true,
        "privateIPAddress": address, "privateIPAddressVersion": "IPv4",
        "subnet": subnet(at), "loadBalancerBackendAddressPools": pools,
    }]})
}

fn balancers() -> [Value; 2] {
    let child = |kind: &str, name: &str| id(&format!("loadBalancers/kubernetes/{kind}/{name}"));
    let balancing = |name: &str, protocol: &str| {
        json!({"id": child("loadBalancingRules", name), "protocol": protocol,
            "backendAddressPool": pool("kubernetes/kubernetes"), "disableOutboundSnat": false,
            "probe": {"id": "probe"}})
    };
    let outbound = |name: &str, pool_name: &str| json!({"id": child("outboundRules", name), "protocol": "All", "backendAddressPool": pool(pool_name)});
    let by_address = json!([{"name": "one", "ipAddress": "10.0.0.9", "virtualNetwork": to(id("virtualNetworks/vnet"))}]);
    [
        json!({"id": id("loadBalancers/kubernetes"), "sku": {"name": "Standard"},
            "frontendIPConfigurations": [{"id": "f", "publicIPAddress": to(id("publicIPAddresses/front"))}],
            "backendAddressPools": [
                {"id": pool("kubernetes/kubernetes")["id"]},
                {"id": pool("kubernetes/outbound")["id"], "loadBalancerBackendAddresses": by_address},
                {"id": pool("kubernetes/workers")["id"]},
            ],
            "loadBalancingRules": [balancing("tcp", "Tcp"), balancing("udp", "Udp")],
            "outboundRules": [outbound("egress", "kubernetes/outbound"), outbound("workers", "kubernetes/workers")]}),
        json!({"id": id("loadBalancers/kubernetes-internal"), "sku": {"name": "Standard"},
            "frontendIPConfigurations": [{"id": "f", "subnet": subnet("nodes")}],
            "backendAddressPools": [{"id": pool("kubernetes-internal/kubernetes")["id"]}]}),
    ]
}

/// One VM per path that there is, named for it.
pub(super) fn inventory() -> Inventory {
    let vm = |name: &str| compute(&format!("virtualMachines/{name}"));
    let instance = |n: u8| {
        compute(&format!(
            "virtualMachineScaleSets/workers/virtualMachines/{n}"
        ))
    };
    let plain = |name: &str, address: &str, at: &str, pools: &[&str]| {
        nic(name, vm(name), address, at, pools)
    };
    let both = ["kubernetes/kubernetes", "kubernetes-internal/kubernetes"];
    let mut addressed = plain("addressed", "10.0.0.6", "nodes", &both);
    addressed["ipConfigurations"][0]["publicIPAddress"] = to(id("publicIPAddresses/own"));
    let mut second = nic("second", vm("two-nics"), "10.0.0.11", "nodes", &both[1..]);
    second["primary"] = false.into();
    let in_set = |name: &str| json!({"id": vm(name), "availabilitySet": to(compute("availabilitySets/set"))});
    let standalone = [
        "alone",
        "private",
        "gateway",
        "addressed",
        "routed",
        "by-address",
        "two-nics",
    ];
    let mut vms: Vec<_> = standalone
        .iter()
        .map(|name| json!({"id": vm(name)}))
        .collect();
    vms.extend([
        in_set("snat"),
        in_set("sibling"),
        json!({"id": vm("flex"), "virtualMachineScaleSet": to(compute("virtualMachineScaleSets/flexible"))}),
    ]);
    Inventory {
        load_balancers: list(&balancers()),
        nics: list(&[
            plain("snat", "10.0.0.1", "nodes", &both),
            plain("sibling", "10.0.0.2", "nodes", &[]),
            plain("alone", "10.0.0.3", "nodes", &[]),
            plain("private", "10.0.1.4", "private", &[]),
            plain("gateway", "10.0.2.5", "gateway", &both),
            addressed,
            plain("routed", "10.0.3.7", "routed", &both),
            plain("flex", "10.0.0.8", "nodes", &[]),
            plain("by-address", "10.0.0.9", "nodes", &[]),
            second,
            plain("two-nics", "10.0.0.10", "nodes", &[]),
        ]),
        instance_nics: list(&[
            nic(
                "nic",
                instance(0),
                "10.0.0.20",
                "nodes",
                &["kubernetes/workers"],
            ),
            nic("nic", instance(1), "10.0.0.21", "nodes", &[]),
        ]),
        networks: list(&[json!({"id": id("virtualNetworks/vnet"), "subnets": [
            subnet("nodes"),
            {"id": subnet("private")["id"], "defaultOutboundAccess": false},
            {"id": subnet("gateway")["id"], "natGateway": to(id("natGateways/gw"))},
            {"id": subnet("routed")["id"], "routeTable": to(id("routeTables/table"))},
        ]})]),
        nat_gateways: list(&[
            json!({"id": id("natGateways/gw"), "sku": {"name": "Standard"},
            "publicIpAddresses": [to(id("publicIPAddresses/gateway"))]}),
        ]),
        public_addresses: list(&[
            json!({"id": id("publicIPAddresses/own"), "sku": {"name": "Standard"}}),
        ]),
        route_tables: list(&[json!({"id": id("routeTables/table"), "routes": [{
            "id": id("routeTables/table/routes/default"),
            "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance"}]})]),
        vms: list(&vms),
        scale_sets: list(&[json!({"id": compute("virtualMachineScaleSets/workers"),
            "orchestrationMode": "Uniform", "virtualMachineProfile": {"networkProfile": {
                "networkInterfaceConfigurations": [{"ipConfigurations": [{}]}]}}})]),
        ..Inventory::default()
    }
}
