//! A VM in a network namespace loses its internet when its NIC leaves the pool, and has it back.

use http::Method;
use serde_json::{Value, json};

use crate::stage::{Azure, can_make_namespaces, nic, written};

/// The operation's end is its effect.
const LATENCY: &str = "400ms";

fn connects(azure: &Azure, protocol: &str) -> bool {
    let dial = json!({"vm": "vm", "protocol": protocol});
    let answer = azure.ask(Method::POST, "/lab/dial", Some(&dial));
    answer["connected"].as_bool().unwrap()
}

/// Writes the NIC, and waits until ARM says that it is done.
fn put(azure: &Azure, body: &Value) {
    azure.ask(Method::PUT, &nic(), Some(body));
    for _ in 0..200 {
        let state = &azure.ask(Method::GET, &nic(), None)["properties"]["provisioningState"];
        if state == "Succeeded" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the operation never ends");
}

#[test]
fn a_vm_loses_its_internet_when_its_nic_leaves_the_pool_and_has_it_back() {
    if !can_make_namespaces() {
        return;
    }
    let folder = written();
    let from = folder.path().to_str().unwrap();
    let azure = Azure::start(&["--network", "--latency", LATENCY, "--from", from]);
    assert!(connects(&azure, "tcp"), "a rule for TCP carries TCP");
    assert!(!connects(&azure, "udp"), "and nothing else");

    let member = azure.ask(Method::GET, &nic(), None);
    let mut alone = member.clone();
    alone["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"] =
        json!([]);
    put(&azure, &alone);
    assert!(!connects(&azure, "tcp"), "its only way out is gone");

    put(&azure, &member);
    assert!(connects(&azure, "tcp"), "it is back");
}

#[test]
fn a_vm_that_ends_and_one_that_comes_follow() {
    if !can_make_namespaces() {
        return;
    }
    let folder = written();
    let from = folder.path().to_str().unwrap();
    let azure = Azure::start(&["--network", "--latency", "0s", "--from", from]);
    let vm = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm";
    azure.ask(Method::POST, &format!("{vm}/deallocate"), None);
    assert!(!connects(&azure, "tcp"), "what doesn't run sends nothing");
    azure.ask(Method::POST, &format!("{vm}/start"), None);
    assert!(connects(&azure, "tcp"));

    let member = azure.ask(Method::GET, &nic(), None);
    let second = nic().replace("networkInterfaces/n", "networkInterfaces/second");
    let own = &member["properties"]["ipConfigurations"][0]["properties"];
    let body = json!({"location": "westeurope", "properties": {"ipConfigurations": [{"name": "c", "properties": {
        "subnet": own["subnet"], "loadBalancerBackendAddressPools": own["loadBalancerBackendAddressPools"]}}]}});
    azure.ask(Method::PUT, &second, Some(&body));
    let other = vm.replace("virtualMachines/vm", "virtualMachines/other");
    let body = json!({"location": "westeurope", "properties": {"networkProfile": {"networkInterfaces": [{"id": second}]}}});
    azure.ask(Method::PUT, &other, Some(&body));
    let answer = azure.ask(Method::POST, "/lab/dial", Some(&json!({"vm": "other"})));
    assert_eq!(answer["connected"], true, "{answer}");
}
