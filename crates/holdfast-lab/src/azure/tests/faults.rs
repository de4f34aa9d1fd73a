//! Throttling, faults on demand and tokens.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{World, code, header, network, nic, request};
use crate::azure::{Budget, Limits};

#[test]
fn a_budget_is_told_used_up_and_refilled() {
    let mut settings = super::world::settings();
    let tight = Budget { size: 2, refill: 1 };
    settings.limits = Some(Limits {
        reads: tight,
        writes: tight,
        deletes: tight,
    });
    let mut world = World::with(settings);
    let list = "/subscriptions/s/providers/Microsoft.Network/loadBalancers";
    let left = |world: &mut World| {
        let answer = world.ask(Method::GET, list, &Value::Null);
        header(&answer, "x-ms-ratelimit-remaining-subscription-reads").to_owned()
    };
    assert_eq!(left(&mut world), "1");
    assert_eq!(left(&mut world), "0");
    let answer = world.ask(Method::GET, list, &Value::Null);
    assert_eq!(
        code(&answer),
        (429, "SubscriptionRequestsThrottled".to_owned())
    );
    let wait = header(&answer, "retry-after").parse().unwrap();
    world.now += Duration::from_secs(wait);
    assert!(!left(&mut world).is_empty(), "waiting as told is enough");
}

#[test]
fn faults_meet_the_requests_that_they_are_for_and_no_more() {
    let mut world = World::usual();
    let path = network("networkInterfaces/nic");
    let fault = json!({"method": "PUT", "path": "NetworkInterfaces", "times": 2, "meets": "throttled", "retryAfter": 7});
    let answer = world.ask(Method::POST, "/lab/faults", &fault);
    assert_eq!(answer.status, StatusCode::OK);
    world.get(&path);
    let body = json!({"location": "westeurope", "properties": nic(&[])});
    for _ in 0..2 {
        let answer = world.ask(Method::PUT, &path, &body);
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(header(&answer, "retry-after"), "7");
    }
    world.put(&path, body);
    let wrong = world.ask(Method::POST, "/lab/faults", &json!({"meets": "nothing"}));
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[test]
fn every_fault_meets_a_request_as_its_name_says() {
    for (meets, expected) in [
        ("another-operation", (409, "AnotherOperationInProgress")),
        ("conflict", (409, "Conflict")),
        ("error", (500, "InternalServerError")),
        ("forbidden", (403, "AuthorizationFailed")),
        ("precondition", (412, "PreconditionFailed")),
        ("referenced-not-provisioned", (429, "RetryableError")),
        ("retryable-busy", (429, "RetryableError")),
        ("scope-locked", (409, "ScopeLocked")),
        ("throttled", (429, "SubscriptionRequestsThrottled")),
        ("unavailable", (503, "ServiceUnavailable")),
    ] {
        let mut world = World::empty();
        world.ask(Method::POST, "/lab/faults", &json!({"meets": meets}));
        let answer = world.ask(Method::GET, &network("loadBalancers"), &Value::Null);
        assert_eq!(code(&answer), (expected.0, expected.1.to_owned()));
    }
}

#[test]
fn an_operation_can_fail_be_canceled_and_hang() {
    for (meets, status, state) in [
        ("operation-fails", "Failed", "Failed"),
        ("operation-canceled", "Canceled", "Failed"),
        ("operation-hangs", "InProgress", "Updating"),
    ] {
        let mut world = World::usual();
        world.ask(Method::POST, "/lab/faults", &json!({"meets": meets}));
        // Reading begins no operation.
        world.get(&network("networkInterfaces/nic"));
        let path = network("networkInterfaces/nic");
        let answer = world.put(
            &path,
            json!({"location": "westeurope", "properties": nic(&[])}),
        );
        let operation = header(&answer, "azure-asyncoperation");
        let operation = operation.strip_prefix("https://arm.lab.test").unwrap();
        world.wait();
        assert_eq!(world.get(operation)["status"], status);
        assert_eq!(world.get(&path)["properties"]["provisioningState"], state);
        world.ask(Method::DELETE, "/lab/faults", &Value::Null);
        let ended = world.get(operation)["status"].clone();
        assert_ne!(ended, "InProgress", "clearing faults lets it end");
    }
}

#[test]
fn a_lost_answer_is_to_a_request_that_was_carried_out() {
    let mut world = World::usual();
    world.ask(
        Method::POST,
        "/lab/faults",
        &json!({"meets": "lost-answer"}),
    );
    let path = network("networkInterfaces/nic");
    let answer = world.put(
        &path,
        json!({"location": "westeurope", "properties": nic(&[])}),
    );
    assert!(answer.lost);
    world.wait();
    let body = world.get(&path);
    let pools =
        &body["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"];
    assert_eq!(pools, &json!([]));
}

#[test]
fn tokens_are_given_for_credentials_and_expire() {
    let mut world = World::empty();
    let ask = |world: &mut World, form: &str| {
        let mut request = request(Method::POST, "/tenant/oauth2/v2.0/token", &Value::Null);
        form.as_bytes().clone_into(&mut request.body);
        world.arm.answer(world.now, &request)
    };
    let form = |secret: &str| {
        format!(
            "grant_type=client_credentials&client_id=c&client_secret={secret}&scope=https%3A%2F%2Fmanagement.azure.com%2F.default"
        )
    };
    assert_eq!(
        ask(&mut world, &form("wrong")).status,
        StatusCode::UNAUTHORIZED
    );
    let answer = ask(&mut world, &form("secret"));
    let token = answer.body.unwrap()["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let list = "/subscriptions";
    let bearer = format!("Bearer {token}");
    let with = |world: &mut World, bearer: &str| {
        let answer = world.ask_if(Method::GET, list, &Value::Null, "authorization", bearer);
        code(&answer)
    };
    assert_eq!(with(&mut world, &bearer).0, 200);
    assert_eq!(
        with(&mut world, "Bearer lab-token-9"),
        (401, "InvalidAuthenticationToken".to_owned())
    );
    world.ask(Method::DELETE, "/lab/tokens", &Value::Null);
    assert_eq!(
        with(&mut world, &bearer),
        (401, "ExpiredAuthenticationToken".to_owned())
    );
    assert_eq!(with(&mut world, "Bearer good").0, 200);
    let federated = "grant_type=client_credentials&client_id=c&client_assertion=jwt&client_assertion_type=t&scope=s";
    assert_eq!(ask(&mut world, federated).status, StatusCode::OK);

    let managed = "/metadata/identity/oauth2/token?api-version=2019-08-01&resource=https%3A%2F%2Fmanagement.azure.com";
    assert_eq!(
        world.ask(Method::GET, managed, &Value::Null).status,
        StatusCode::BAD_REQUEST
    );
    let answer = world.ask_if(Method::GET, managed, &Value::Null, "metadata", "true");
    assert_eq!(
        answer.body.unwrap()["resource"],
        "https://management.azure.com"
    );
}

#[test]
fn what_was_asked_is_told() {
    let mut world = World::empty();
    world.ask(Method::DELETE, "/lab/requests", &Value::Null);
    world.ask(Method::GET, &network("loadBalancers/none"), &Value::Null);
    let told = world.get("/lab/requests");
    assert_eq!(told["requests"][0]["status"], 404);
    assert_eq!(told["requests"][0]["code"], "ResourceNotFound");
}
