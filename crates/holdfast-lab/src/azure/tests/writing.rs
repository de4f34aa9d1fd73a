//! Etags, operations, references and rules.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{World, code, compute, header, network, nic, pool, public_balancer, subnet, to};

#[expect(
    clippy::needless_pass_by_value,
    reason = "bodies are written where they are passed"
)]
fn located(properties: Value) -> Value {
    json!({"location": "westeurope", "sku": {"name": "Standard"}, "properties": properties})
}

#[test]
fn a_write_is_answered_at_once_and_takes_effect_when_its_operation_ends() {
    let mut world = World::usual();
    let path = network("networkInterfaces/nic");
    let answer = world.put(&path, located(nic(&["internal/nodes"])));
    assert_eq!(answer.status, StatusCode::OK);
    let body = answer.body.as_ref().unwrap();
    assert_eq!(body["properties"]["provisioningState"], "Updating");
    let operation = header(&answer, "azure-asyncoperation").to_owned();
    assert!(operation.len() >= 4096, "clients must take URLs of 4 KiB");
    let operation = operation.strip_prefix("https://arm.lab.test").unwrap();
    assert_eq!(world.get(operation)["status"], "InProgress");
    assert_eq!(world.path(), "lb_snat", "not before the operation ends");

    world.wait();
    assert_eq!(world.get(operation)["status"], "Succeeded");
    assert_eq!(world.path(), "none_standard_lb_member");
    let now = world.get(&path);
    assert_eq!(now["properties"]["provisioningState"], "Succeeded");
    assert_ne!(
        now["etag"], body["etag"],
        "the end of an operation is a change too"
    );
}

#[test]
fn a_stale_etag_is_412_and_changes_nothing() {
    let mut world = World::usual();
    let path = network("loadBalancers/public");
    let before = world.get(&path);
    let old = before["etag"].as_str().unwrap().to_owned();
    world.put(
        &network("networkInterfaces/nic"),
        located(nic(&["internal/nodes"])),
    );
    world.wait();
    let answer = world.ask_if(Method::PUT, &path, &before, "if-match", &old);
    assert_eq!(
        code(&answer),
        (412, "PreconditionFailed".to_owned()),
        "its member has left"
    );
    let current = world.get(&path);
    let etag = current["etag"].as_str().unwrap().to_owned();
    let answer = world.ask_if(Method::PUT, &path, &current, "if-match", &etag);
    assert_eq!(answer.status, StatusCode::OK);
    world.wait();
    let answer = world.ask_if(Method::PUT, &path, &current, "if-none-match", "*");
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    let answer = world.ask_if(Method::DELETE, &path, &Value::Null, "if-match", &etag);
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
}

#[test]
fn etags_of_compute_count_up() {
    let mut world = World::usual();
    let path = compute("virtualMachines/vm");
    let vm = world.get(&path);
    assert_eq!(vm["etag"], "\"1\"");
    world.put(&path, vm);
    world.wait();
    assert_eq!(world.get(&path)["etag"], "\"2\"");
}

#[test]
fn both_ends_of_a_reference_are_told() {
    let mut world = World::usual();
    let configuration = network("networkInterfaces/nic/ipConfigurations/first");
    let balancer = world.get(&network("loadBalancers/PUBLIC"));
    let pool = &balancer["properties"]["backendAddressPools"][0]["properties"];
    assert_eq!(
        pool["backendIPConfigurations"],
        json!([to(configuration.clone())])
    );
    assert_eq!(
        pool["loadBalancingRules"][0]["id"],
        network("loadBalancers/public/loadBalancingRules/https")
    );
    let member = &pool["loadBalancerBackendAddresses"][0]["properties"];
    assert_eq!(
        member["networkInterfaceIPConfiguration"]["id"],
        configuration
    );
    assert!(member.get("ipAddress").is_none());
    let subnet = world.get(&network("virtualNetworks/vnet/subnets/nodes"));
    assert_eq!(
        subnet["properties"]["ipConfigurations"][1]["id"],
        configuration
    );
    let nic = world.get(&network("networkInterfaces/nic"));
    assert_eq!(
        nic["properties"]["virtualMachine"]["id"],
        compute("virtualMachines/vm")
    );
    let members = world.get(&network("loadBalancers/public/networkInterfaces"));
    assert_eq!(members["value"][0]["name"], "nic");
    let balancers = world.get(&network("networkInterfaces/nic/loadBalancers"));
    assert_eq!(balancers["value"].as_array().unwrap().len(), 2);

    // What is told is nobody's to write: sent back as it came, the pool stays one by NIC.
    world.put(&network("loadBalancers/public"), balancer);
    world.wait();
    assert_eq!(world.path(), "lb_snat");
    world.ask(
        Method::DELETE,
        &network("loadBalancers/public"),
        &Value::Null,
    );
    world.wait();
    let nic = world.get(&network("networkInterfaces/nic"));
    let pools =
        &nic["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"];
    assert_eq!(
        pools.as_array().unwrap().len(),
        1,
        "a pool that is gone has no members"
    );
}

#[test]
fn fields_that_the_service_does_not_know_are_kept() {
    let mut world = World::usual();
    let path = network("networkInterfaces/nic");
    let mut body = world.get(&path);
    body["properties"]["fromTheFuture"] = json!({"deep": [1, {"id": "no id"}]});
    body["properties"]["ipConfigurations"][0]["properties"]["alsoNew"] = json!("kept");
    world.put(&path, body);
    world.wait();
    let body = world.get(&path);
    assert_eq!(
        body["properties"]["fromTheFuture"]["deep"][1]["id"],
        "no id"
    );
    assert_eq!(
        body["properties"]["ipConfigurations"][0]["properties"]["alsoNew"],
        "kept"
    );
    assert_eq!(
        body["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"],
        "10.0.1.5"
    );
}

#[test]
fn an_operation_holds_its_resource_and_what_refers_to_it() {
    let mut world = World::usual();
    let (balancer, path) = (
        network("loadBalancers/public"),
        network("networkInterfaces/nic"),
    );
    world.put(&balancer, located(public_balancer()));
    let again = world.ask(Method::PUT, &balancer, &located(public_balancer()));
    assert_eq!(code(&again), (409, "AnotherOperationInProgress".to_owned()));
    let answer = world.ask(Method::PUT, &path, &located(nic(&["public/nodes"])));
    assert_eq!(code(&answer), (429, "RetryableError".to_owned()));
    let detail = answer
        .body
        .as_ref()
        .unwrap()
        .pointer("/error/details/0/code")
        .unwrap();
    assert_eq!(detail, "ReferencedResourceNotProvisioned");
    assert!(
        header(&answer, "retry-after").is_empty(),
        "this is no throttling"
    );
    let vm = compute("virtualMachines/vm");
    let body = world.get(&vm);
    world.put(&vm, body.clone());
    let answer = world.ask(Method::PUT, &vm, &body);
    assert_eq!(code(&answer), (409, "Conflict".to_owned()));
    world.wait();
    world.put(&path, located(nic(&["public/nodes"])));
}

#[test]
fn a_part_is_written_on_its_own_and_is_its_owners_change() {
    let mut world = World::usual();
    let owner = network("virtualNetworks/vnet");
    let before = world.get(&owner)["etag"].clone();
    let path = network("virtualNetworks/vnet/subnets/second");
    let answer = world.put(
        &path,
        json!({"properties": {"addressPrefix": "10.0.2.0/24"}}),
    );
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.body.as_ref().unwrap()["id"], path);
    let other = network("virtualNetworks/vnet/subnets/nodes");
    let busy = world.ask(Method::PUT, &other, &json!({"properties": {}}));
    assert_eq!(code(&busy).0, 409, "one write at a time in a network");
    world.wait();
    let after = world.get(&owner);
    assert_ne!(after["etag"], before);
    assert_eq!(after["properties"]["subnets"][1]["etag"], after["etag"]);
    let in_use = world.ask(Method::DELETE, &other, &Value::Null);
    assert_eq!(
        code(&in_use),
        (400, "InUseSubnetCannotBeDeleted".to_owned())
    );
    assert_eq!(
        world.ask(Method::DELETE, &path, &Value::Null).status,
        StatusCode::ACCEPTED
    );
    world.wait();
    assert_eq!(
        world.ask(Method::GET, &path, &Value::Null).status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        world.ask(Method::DELETE, &path, &Value::Null).status,
        StatusCode::NO_CONTENT
    );
}

#[test]
fn members_are_changed_at_the_nic_and_addresses_at_the_pool() {
    let mut world = World::usual();
    let path = network("loadBalancers/public/backendAddressPools/nodes");
    let mut body = world.get(&path);
    body["properties"]["backendIPConfigurations"] = json!([]);
    world.put(&path, body);
    world.wait();
    assert_eq!(world.path(), "lb_snat", "a NIC leaves at the NIC");
    let by_address = json!([{"name": "one", "properties": {"ipAddress": "10.0.1.9", "virtualNetwork": to(network("virtualNetworks/vnet"))}}]);
    let path = network("loadBalancers/public/backendAddressPools/by-address");
    world.put(
        &path,
        json!({"properties": {"loadBalancerBackendAddresses": by_address}}),
    );
    world.wait();
    let pool = world.get(&path);
    assert_eq!(
        pool["properties"]["loadBalancerBackendAddresses"][0]["properties"]["ipAddress"],
        "10.0.1.9"
    );
}

#[test]
fn what_can_not_work_is_refused() {
    let mut world = World::usual();
    let vm = compute("virtualMachines/vm");
    world.made(
        "loadBalancers/second",
        json!({"backendAddressPools": [{"name": "nodes"}]}),
    );
    let mut outbound = public_balancer();
    outbound["outboundRules"] = json!([{"name": "out", "properties": {"protocol": "All", "backendAddressPool": pool("public/nodes"),
        "frontendIPConfigurations": [to(network("loadBalancers/public/frontendIPConfigurations/f"))]}}]);
    let mut nowhere = nic(&[]);
    nowhere["ipConfigurations"][0]["properties"]["subnet"] =
        to(network("virtualNetworks/vnet/subnets/none"));
    let mut taken = nic(&[]);
    taken["ipConfigurations"][0]["properties"]["privateIPAddress"] = "10.0.1.5".into();
    let mut on_internal = outbound.clone();
    on_internal["frontendIPConfigurations"][0]["properties"] = json!({"subnet": subnet()});
    let cases = [
        (
            "networkInterfaces/nic",
            nic(&["public/nodes", "second/nodes"]),
            "NetworkInterfaceUsesMultipleLoadBalancersOfSameType",
        ),
        ("networkInterfaces/new", nowhere, "InvalidResourceReference"),
        (
            "networkInterfaces/new",
            nic(&["public/none"]),
            "InvalidResourceReference",
        ),
        ("networkInterfaces/new", taken, "PrivateIPAddressInUse"),
        (
            "loadBalancers/public",
            outbound,
            "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule",
        ),
        (
            "loadBalancers/public",
            on_internal,
            "OutboundRulesNotSupportedForLoadBalancer",
        ),
    ];
    for (name, properties, expected) in cases {
        let answer = world.ask(Method::PUT, &network(name), &located(properties));
        assert_eq!(code(&answer), (400, expected.to_owned()), "{name}");
    }
    let basic = json!({"location": "westeurope", "sku": {"name": "Basic"}, "properties": {"publicIPAllocationMethod": "Static"}});
    world.put(&network("publicIPAddresses/basic"), basic);
    world.wait();
    let mut mixed = nic(&["public/nodes"]);
    mixed["ipConfigurations"][0]["properties"]["publicIPAddress"] =
        to(network("publicIPAddresses/basic"));
    let answer = world.ask(
        Method::PUT,
        &network("networkInterfaces/nic"),
        &located(mixed),
    );
    assert_eq!(
        code(&answer).1,
        "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed"
    );
    for (path, expected) in [
        (network("networkInterfaces/nic"), "NicInUse"),
        (
            network("publicIPAddresses/front"),
            "PublicIPAddressCannotBeDeleted",
        ),
        (
            network("virtualNetworks/vnet"),
            "InUseSubnetCannotBeDeleted",
        ),
    ] {
        let answer = world.ask(Method::DELETE, &path, &Value::Null);
        assert_eq!(code(&answer), (400, expected.to_owned()), "{path}");
    }
    let answer = world.ask(
        Method::PUT,
        &network("natGateways/new"),
        &json!({"properties": {}}),
    );
    assert_eq!(code(&answer).1, "LocationRequired");
    let moved = json!({"location": "northeurope", "properties": {}});
    assert_eq!(
        code(&world.ask(Method::PUT, &vm, &moved)).1,
        "InvalidResourceLocation"
    );
    let elsewhere = vm.replace("resourceGroups/g/", "resourceGroups/none/");
    assert_eq!(
        code(&world.ask(Method::PUT, &elsewhere, &moved)).1,
        "ResourceGroupNotFound"
    );
}

#[test]
fn locks_are_resources_and_forbid_what_they_say() {
    let mut world = World::usual();
    let path = network("networkInterfaces/nic");
    let lock = format!("{path}/providers/Microsoft.Authorization/locks/keep");
    world.put(&lock, json!({"properties": {"level": "CanNotDelete"}}));
    let answer = world.ask(Method::DELETE, &path, &Value::Null);
    assert_eq!(code(&answer), (409, "ScopeLocked".to_owned()));
    world.put(&path, located(nic(&[])));
    world.wait();
    world.put(&lock, json!({"properties": {"level": "ReadOnly"}}));
    let answer = world.ask(Method::PUT, &path, &located(nic(&[])));
    assert_eq!(code(&answer), (409, "ScopeLocked".to_owned()));
    assert_eq!(
        world.ask(Method::DELETE, &lock, &Value::Null).status,
        StatusCode::OK
    );
    world.put(&path, located(nic(&[])));
}

#[test]
fn effective_routes_are_of_running_vms_and_show_what_overrides_the_system() {
    let mut world = World::usual();
    let to_nowhere = json!({"routes": [{"name": "all", "properties": {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}}]});
    world.made("routeTables/table", to_nowhere);
    let subnet = network("virtualNetworks/vnet/subnets/nodes");
    let mut body = world.get(&subnet);
    body["properties"]["routeTable"] = to(network("routeTables/table"));
    world.put(&subnet, body);
    world.wait();
    assert_eq!(world.path(), "udr_drop");
    assert!(!world.arm.exits()[0].reach.tcp);
    let ask = network("networkInterfaces/nic/effectiveRouteTable");
    let answer = world.ask(Method::POST, &ask, &Value::Null);
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    let result = header(&answer, "location")
        .strip_prefix("https://arm.lab.test")
        .unwrap()
        .to_owned();
    assert_eq!(
        world.ask(Method::GET, &result, &Value::Null).status,
        StatusCode::ACCEPTED
    );
    world.wait();
    let routes = world.get(&result);
    let of = |prefix: &str, source: &str| {
        let list = routes["value"].as_array().unwrap();
        list.iter()
            .find(|it| it["addressPrefix"][0] == prefix && it["source"] == source)
            .cloned()
            .unwrap()
    };
    assert_eq!(of("0.0.0.0/0", "Default")["state"], "Invalid");
    assert_eq!(of("0.0.0.0/0", "User")["nextHopType"], "None");
    world.ask(
        Method::POST,
        &compute("virtualMachines/vm/deallocate"),
        &Value::Null,
    );
    let answer = world.ask(Method::POST, &ask, &Value::Null);
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[test]
fn lists_come_in_pages_that_survive_deletions() {
    let mut settings = super::world::settings();
    settings.page = 3;
    let mut world = World::with(settings);
    for n in 0..8 {
        world.made(
            &format!("publicIPAddresses/ip{n}"),
            json!({"publicIPAllocationMethod": "Static"}),
        );
    }
    let list = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Network/publicIPAddresses";
    let mut path = list.to_owned();
    let mut names = Vec::new();
    for page in 0.. {
        let body = world.get(&path);
        names.extend(
            body["value"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["name"].as_str().unwrap().to_owned()),
        );
        if page == 0 {
            world.ask(
                Method::DELETE,
                &network("publicIPAddresses/ip2"),
                &Value::Null,
            );
            world.wait();
        }
        let Some(next) = body["nextLink"].as_str() else {
            break;
        };
        next.strip_prefix("https://arm.lab.test")
            .unwrap()
            .clone_into(&mut path);
        assert!(page < 5);
    }
    assert_eq!(
        names,
        ["ip0", "ip1", "ip2", "ip3", "ip4", "ip5", "ip6", "ip7"]
    );
}
