//! What slices say, and who is asked for them.

use serde_json::{Value, json};

use super::*;

fn slice(family: &str, ports: &Value, endpoints: &Value) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "kubernetes", "namespace": "default"},
        "addressType": family, "ports": ports, "endpoints": endpoints,
    })
}

fn endpoint(address: &str, conditions: &Value) -> Value {
    json!({"addresses": [address], "conditions": conditions})
}

fn parsed(slices: Vec<Value>) -> Vec<EndpointSlice> {
    slices
        .into_iter()
        .map(|slice| serde_json::from_value(slice).unwrap())
        .collect()
}

fn named(slices: Vec<Value>) -> Vec<String> {
    let answer = answer(&parsed(slices));
    let Answer::Addresses {
        addresses,
        lifetime: None,
    } = answer
    else {
        panic!("{answer:?}");
    };
    addresses.iter().map(ToString::to_string).collect()
}

fn https() -> Value {
    json!([{"name": "https", "port": 6443, "protocol": "TCP"}])
}

#[test]
fn both_families_are_taken_with_their_ports() {
    let ready = json!({"ready": true});
    let four = slice(
        "IPv4",
        &https(),
        &json!([endpoint("10.0.0.1", &ready), endpoint("10.0.0.2", &ready)]),
    );
    let six = slice(
        "IPv6",
        &json!([{"name": "https", "port": 8443}]),
        &json!([endpoint("fd00::1", &ready)]),
    );
    assert_eq!(
        named(vec![four, six]),
        ["10.0.0.1:6443", "10.0.0.2:6443", "[fd00::1]:8443"]
    );
}

#[test]
fn what_does_not_serve_is_left_out_and_what_is_not_said_is_true() {
    let cases = [
        (json!({}), true),
        (Value::Null, true),
        (json!({"ready": true}), true),
        (json!({"ready": false}), false),
        (
            json!({"ready": false, "serving": true, "terminating": true}),
            true,
        ),
        (
            json!({"ready": false, "serving": false, "terminating": true}),
            false,
        ),
        (json!({"ready": true, "serving": false}), false),
        (json!({"serving": true}), true),
    ];
    for (conditions, counts) in cases {
        let endpoints = json!([
            endpoint("10.0.0.1", &json!({"ready": true})),
            endpoint("10.0.0.2", &conditions)
        ]);
        let named = named(vec![slice("IPv4", &https(), &endpoints)]);
        assert_eq!(named.len(), 1 + usize::from(counts), "{conditions}");
    }
}

#[test]
fn the_port_is_the_one_called_https_or_the_only_one() {
    let cases = [
        (https(), Some(6443)),
        (json!([{"port": 443}]), Some(443)),
        (
            json!([{"name": "metrics", "port": 1}, {"name": "https", "port": 2}]),
            Some(2),
        ),
        (
            json!([{"name": "a", "port": 1}, {"name": "b", "port": 2}]),
            None,
        ),
        (
            json!([{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "a", "port": 7}]),
            Some(7),
        ),
        (json!([{"name": "https", "protocol": "TCP"}]), None),
        (json!([{"name": "https", "port": 70000}]), None),
        (json!([]), None),
        (Value::Null, None),
    ];
    for (ports, expected) in cases {
        let endpoints = json!([endpoint("10.0.0.1", &Value::Null)]);
        let found = addresses(&parsed(vec![slice("IPv4", &ports, &endpoints)])[0]);
        let found: Vec<_> = found.iter().map(SocketAddr::port).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{ports}");
    }
}

#[test]
fn case_47_a_list_that_names_nobody_is_a_failure() {
    let none = [
        vec![],
        vec![slice("IPv4", &https(), &json!([]))],
        vec![slice(
            "IPv4",
            &https(),
            &json!([endpoint("10.0.0.1", &json!({"ready": false}))]),
        )],
        vec![slice(
            "FQDN",
            &https(),
            &json!([endpoint("api.example.test", &Value::Null)]),
        )],
    ];
    for slices in none {
        let answer = answer(&parsed(slices));
        let Answer::Failed { why, .. } = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(
            why,
            "EndpointSlices of default/kubernetes name no address that serves"
        );
    }
}
