//! Folders of `az … -o json` files: in, out, and in again.

use std::fs;

use holdfast_cloud::azure::folder;
use http::Method;
use serde_json::{Value, json};

use super::world::{World, code, compute, network, nic, settings};
use crate::azure::Arm;

const ID: &str = "/subscriptions/s1/resourceGroups/MC_g/providers";

/// What `az` prints: everything on one level.
fn written(folder: &std::path::Path) {
    let nic = format!("{ID}/Microsoft.Network/networkInterfaces/n1");
    let instance = format!("{ID}/Microsoft.Compute/virtualMachineScaleSets/ss/virtualMachines/4");
    let pool =
        format!("{ID}/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/kubernetes");
    let subnet = json!({"id": format!("{ID}/Microsoft.Network/virtualNetworks/v/subnets/s"), "resourceGroup": "MC_g"});
    let configuration = |nic: &str, address: &str| {
        json!([{"id": format!("{nic}/ipConfigurations/c"), "name": "c", "primary": true,
        "privateIpAddress": address, "privateIPAddressVersion": "IPv4", "subnet": subnet, "fromTheFuture": {"a": 1},
        "loadBalancerBackendAddressPools": [{"id": pool, "resourceGroup": "MC_g"}]}])
    };
    let vmss_nic = format!("{instance}/networkInterfaces/vn");
    let files = [
        (
            "nic.json",
            json!([{"id": nic, "name": "n1", "location": "westeurope", "resourceGroup": "MC_g", "enableIPForwarding": true,
            "ipConfigurations": configuration(&nic, "10.0.0.4"),
            "virtualMachine": {"id": format!("{ID}/Microsoft.Compute/virtualMachines/vm"), "resourceGroup": "MC_g"}}]),
        ),
        (
            "vmss-nic-ss.json",
            json!([{"id": vmss_nic, "name": "vn", "primary": true, "ipConfigurations": configuration(&vmss_nic, "10.0.0.5"),
            "virtualMachine": {"id": instance}}]),
        ),
        (
            "lb.json",
            json!([{"id": format!("{ID}/Microsoft.Network/loadBalancers/kubernetes"), "name": "kubernetes", "location": "westeurope",
            "sku": {"name": "Standard", "tier": "Regional"}, "etag": "W/\"old\"",
            "frontendIpConfigurations": [{"name": "f", "id": format!("{ID}/Microsoft.Network/loadBalancers/kubernetes/frontendIPConfigurations/f"),
                "publicIpAddress": {"id": format!("{ID}/Microsoft.Network/publicIPAddresses/p")}}],
            "backendAddressPools": [{"id": pool, "name": "kubernetes"}],
            "loadBalancingRules": [{"name": "r", "protocol": "Tcp", "frontendPort": 80, "backendPort": 80,
                "id": format!("{ID}/Microsoft.Network/loadBalancers/kubernetes/loadBalancingRules/r"),
                "backendAddressPool": {"id": pool}, "disableOutboundSnat": false}]}]),
        ),
        (
            "vnet.json",
            json!([{"id": format!("{ID}/Microsoft.Network/virtualNetworks/v"), "name": "v", "location": "westeurope",
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [{"id": subnet["id"], "name": "s", "addressPrefix": "10.0.0.0/24"}]}]),
        ),
        (
            "vm.json",
            json!([{"id": format!("{ID}/Microsoft.Compute/virtualMachines/vm"), "name": "vm", "location": "westeurope",
            "hardwareProfile": {"vmSize": "x"}}]),
        ),
        (
            "vmss.json",
            json!([{"id": format!("{ID}/Microsoft.Compute/virtualMachineScaleSets/ss"), "name": "ss", "location": "westeurope",
            "orchestrationMode": "Uniform", "sku": {"name": "x", "capacity": 1}}]),
        ),
        ("nat-gateway.json", json!([])),
        ("public-ip.json", json!([])),
        ("route-table.json", json!([])),
        (
            "nodes.json",
            json!({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "vm"}}]}),
        ),
    ];
    for (name, list) in files {
        fs::write(folder.join(name), list.to_string()).unwrap();
    }
}

/// Etags are new whenever a folder is loaded.
fn without_etags(files: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.remove("etag");
                object.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
        }
    }
    let each = files.into_iter().map(|(name, mut list)| {
        strip(&mut list);
        (name, list)
    });
    each.collect()
}

fn loaded(folder: &std::path::Path) -> World {
    let mut arm = Arm::new(settings());
    arm.load(folder).unwrap();
    World {
        arm,
        now: std::time::Duration::ZERO,
    }
}

#[test]
fn a_folder_of_az_is_served_as_arm_spells_it() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let mut world = loaded(folder.path());
    assert_eq!(world.arm.subscription(), "s1");
    let nic =
        world.get(&format!("{ID}/Microsoft.Network/networkInterfaces/N1").replace("MC_g", "mc_G"));
    assert_eq!(nic["properties"]["enableIPForwarding"], true);
    let own = &nic["properties"]["ipConfigurations"][0]["properties"];
    assert_eq!(own["privateIPAddress"], "10.0.0.4");
    assert_eq!(own["fromTheFuture"]["a"], 1);
    assert!(nic.get("resourceGroup").is_none());
    let vm = world.get(&format!("{ID}/Microsoft.Compute/virtualMachines/vm"));
    assert_eq!(
        vm["properties"]["networkProfile"]["networkInterfaces"][0]["id"],
        nic["id"]
    );
    let balancer = world.get(&format!("{ID}/Microsoft.Network/loadBalancers/kubernetes"));
    let frontend = &balancer["properties"]["frontendIPConfigurations"][0];
    assert!(frontend["properties"]["publicIPAddress"]["id"].is_string());
    let instance = world.get(&format!(
        "{ID}/Microsoft.Compute/virtualMachineScaleSets/ss/virtualMachines/4"
    ));
    assert_eq!(instance["instanceId"], "4");
    let mut exits: Vec<_> = world
        .arm
        .exits()
        .iter()
        .map(|it| (it.vm.clone(), it.path.unwrap().to_string()))
        .collect();
    exits.sort();
    assert_eq!(
        exits,
        [
            ("ss_4".to_owned(), "lb_snat".to_owned()),
            ("vm".to_owned(), "lb_snat".to_owned())
        ]
    );
}

#[test]
fn what_comes_out_goes_in_again_and_means_the_same() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    written(first.path());
    let world = loaded(first.path());
    world.arm.dump(second.path()).unwrap();
    let again = loaded(second.path());
    assert_eq!(again.arm.exits(), world.arm.exits());
    let inventory = folder::read(second.path()).unwrap();
    assert_eq!(
        inventory.missing(),
        [holdfast_cloud::azure::Listing::Services]
    );
    assert_eq!(
        inventory.nics.unwrap()[0].configurations[0].address,
        "10.0.0.4"
    );
    assert_eq!(
        without_etags(again.arm.files()),
        without_etags(world.arm.files())
    );
}

#[test]
fn a_folder_that_is_loaded_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let mut world = loaded(folder.path());
    let path = format!("{ID}/Microsoft.Network/networkInterfaces/n1");
    let mut body = world.get(&path);
    body["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"] =
        json!([]);
    world.put(&path, body);
    world.wait();
    let exits = world.arm.exits();
    let vm = exits.iter().find(|it| it.vm == "vm").unwrap();
    assert_eq!(vm.path.unwrap().to_string(), "default_outbound");
    let files = world.get("/lab/folder");
    assert_eq!(
        files["nic.json"][0]["ipConfigurations"][0]["loadBalancerBackendAddressPools"],
        json!([])
    );
}

#[test]
fn a_resource_that_makes_no_sense_is_named_with_its_list() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("nic.json"),
        r#"[{"id": "networkInterfaces"}]"#,
    )
    .unwrap();
    let error = Arm::new(settings())
        .load(folder.path())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("nic.json") && error.contains("accepted"),
        "{error}"
    );
}

#[test]
fn groups_are_made_and_deleted_with_what_is_in_them() {
    let mut world = World::usual();
    let list = world.get("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups");
    assert_eq!(list["value"][0]["name"], "g");
    world.ask(Method::DELETE, super::world::GROUP, &Value::Null);
    world.wait();
    let gone = world.ask(Method::GET, &network("networkInterfaces"), &Value::Null);
    assert_eq!(code(&gone), (404, "ResourceGroupNotFound".to_owned()));
    assert_eq!(world.arm.exits(), []);
    let body = json!({"location": "westeurope", "properties": nic(&[])});
    let answer = world.ask(Method::PUT, &compute("virtualMachines/vm"), &body);
    assert_eq!(code(&answer).1, "ResourceGroupNotFound");
}
