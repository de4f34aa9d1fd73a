//! Scale sets: instances follow the capacity, and the model as their upgrade policy says.

use http::Method;
use serde_json::{Value, json};

use super::world::{World, compute, network, pool, subnet};

fn set(mode: &str, upgrades: &str, capacity: u32, pools: &[&str]) -> Value {
    let pools: Vec<_> = pools.iter().map(|name| pool(name)).collect();
    json!({"location": "westeurope", "sku": {"name": "Standard_D2s_v5", "capacity": capacity}, "properties": {
        "orchestrationMode": mode, "upgradePolicy": {"mode": upgrades},
        "virtualMachineProfile": {"networkProfile": {"networkInterfaceConfigurations": [{"name": "nic", "properties": {
            "primary": true, "ipConfigurations": [{"name": "first", "properties": {
                "subnet": subnet(), "loadBalancerBackendAddressPools": pools}}]}}]}}}})
}

fn paths(world: &World) -> Vec<(String, String)> {
    let exits = world.arm.exits();
    let told = exits.iter().filter(|it| it.vm.starts_with("set"));
    told.map(|it| (it.vm.clone(), it.path.unwrap().to_string()))
        .collect()
}

#[test]
fn instances_of_a_uniform_set_are_made_and_taken_away_with_their_nics() {
    let mut world = World::usual();
    let path = compute("virtualMachineScaleSets/set");
    world.put(&path, set("Uniform", "Manual", 3, &["public/nodes"]));
    world.wait();
    let nics = world.get(&format!("{path}/networkInterfaces"));
    let nics = nics["value"].as_array().unwrap();
    assert_eq!(nics.len(), 3);
    assert_eq!(
        nics[0]["properties"]["virtualMachine"]["id"],
        format!("{path}/virtualMachines/0")
    );
    assert_eq!(
        nics[2]["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"],
        "10.0.1.8"
    );
    let members = world.get(&network("loadBalancers/public"));
    let members =
        &members["properties"]["backendAddressPools"][0]["properties"]["backendIPConfigurations"];
    assert_eq!(members.as_array().unwrap().len(), 4);

    world.put(&path, set("Uniform", "Manual", 1, &["public/nodes"]));
    world.wait();
    assert_eq!(
        world.get(&format!("{path}/virtualMachines"))["value"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    world.put(&path, set("Uniform", "Manual", 2, &["public/nodes"]));
    world.wait();
    assert_eq!(paths(&world).len(), 2);
    world.ask(
        Method::DELETE,
        &format!("{path}/virtualMachines/0"),
        &Value::Null,
    );
    world.wait();
    assert_eq!(world.get(&path)["sku"]["capacity"], 1);
    world.ask(Method::DELETE, &path, &Value::Null);
    world.wait();
    assert_eq!(paths(&world), []);
}

#[test]
fn a_model_reaches_instances_when_they_are_upgraded() {
    let mut world = World::usual();
    let path = compute("virtualMachineScaleSets/set");
    world.put(&path, set("Uniform", "Manual", 2, &["public/nodes"]));
    world.wait();
    assert_eq!(paths(&world)[0].1, "lb_snat");
    world.put(&path, set("Uniform", "Manual", 2, &[]));
    world.wait();
    let instance = format!("{path}/virtualMachines/0");
    assert_eq!(
        world.get(&instance)["properties"]["latestModelApplied"],
        false
    );
    assert_eq!(
        paths(&world)[0].1,
        "lb_snat",
        "an instance of an old model keeps its pools"
    );
    world.ask(
        Method::POST,
        &format!("{path}/manualupgrade"),
        &json!({"instanceIds": ["0"]}),
    );
    world.wait();
    assert_eq!(
        world.get(&instance)["properties"]["latestModelApplied"],
        true
    );
    // The other one still is in a Standard pool, and that ends default outbound for both.
    assert_eq!(
        paths(&world),
        [
            ("set_0".to_owned(), "none_group_is_standard".to_owned()),
            ("set_1".to_owned(), "lb_snat".to_owned())
        ]
    );
    world.put(&path, set("Uniform", "Automatic", 2, &[]));
    world.wait();
    assert_eq!(paths(&world)[1].1, "default_outbound");
}

#[test]
fn an_instance_is_taken_out_of_its_pool_on_its_own() {
    let mut world = World::usual();
    let path = compute("virtualMachineScaleSets/set");
    world.put(&path, set("Uniform", "Manual", 2, &["public/nodes"]));
    world.wait();
    let instance = format!("{path}/virtualMachines/1");
    let mut body = world.get(&instance);
    let first = "/properties/networkProfileConfiguration/networkInterfaceConfigurations/0/properties/ipConfigurations/0/properties";
    body.pointer_mut(first).unwrap()["loadBalancerBackendAddressPools"] = json!([]);
    world.put(&instance, body);
    assert_eq!(paths(&world)[1].1, "lb_snat");
    world.wait();
    assert_eq!(paths(&world)[1].1, "none_group_is_standard");
    assert_eq!(paths(&world)[0].1, "lb_snat");
}

#[test]
fn a_flexible_set_has_ordinary_vms_and_no_default_outbound() {
    let mut world = World::usual();
    let path = compute("virtualMachineScaleSets/set");
    world.put(&path, set("Flexible", "Manual", 2, &[]));
    world.wait();
    let vms = world.get(&compute("virtualMachines"));
    assert_eq!(vms["value"].as_array().unwrap().len(), 3);
    let found = paths(&world);
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|(_, path)| path == "none_vmss_flex"),
        "{found:?}"
    );
    assert_eq!(
        world.get(&network("networkInterfaces"))["value"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}
