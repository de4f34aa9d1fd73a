//! The client's writes: whole resources, only if they are as they were read, followed to their end.

use std::path::Path;
use std::time::Duration;

use holdfast_cloud::arm::{Arm, ArmError, Auth, Cloud, Credentials};
use http::Method;
use serde_json::{Value, json};

use crate::stage::{Azure, nic, written};

const VERSION: &str = "2024-05-01";

fn client(azure: &Azure) -> Arm {
    let cloud = Cloud {
        resource_manager: azure.told("endpoint").to_owned(),
        authority: azure.told("endpoint").to_owned(),
        audience: None,
    };
    let given = Credentials {
        tenant_id: Some(azure.told("tenant").to_owned()),
        client_id: Some("app".to_owned()),
        client_secret: Some("any".to_owned()),
        ..Credentials::default()
    };
    let ca = Path::new(azure.told("ca"));
    Arm::new(cloud, Auth::Auto, given, Some(ca)).unwrap()
}

fn started(latency: &str) -> (Azure, tempfile::TempDir) {
    let folder = written();
    let from = folder.path().to_str().unwrap();
    (
        Azure::start(&["--from", from, "--latency", latency]),
        folder,
    )
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(future)
}

async fn fault(azure: &Azure, fault: &Value) {
    azure.asked(Method::POST, "/lab/faults", Some(fault)).await;
}

/// The NIC without its pools, and with a field that nobody knows.
async fn changed(arm: &Arm) -> (Value, String) {
    let mut body = arm.get(&nic(), VERSION).await.unwrap();
    let etag = body["etag"].as_str().unwrap().to_owned();
    body["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"] =
        json!([]);
    body["properties"]["fieldOfTomorrow"] = json!({"kept": true});
    (body, etag)
}

#[test]
fn s10_a_write_holds_only_for_what_was_read_and_keeps_what_nobody_knows() {
    let (azure, _folder) = started("100ms");
    let arm = client(&azure);
    run(async {
        let (body, etag) = changed(&arm).await;
        let after = arm.put(&nic(), VERSION, &body, Some(&etag)).await.unwrap();
        assert_eq!(after["properties"]["provisioningState"], "Succeeded");
        assert_eq!(after["properties"]["fieldOfTomorrow"]["kept"], true);
        let error = arm
            .put(&nic(), VERSION, &body, Some(&etag))
            .await
            .unwrap_err();
        assert!(matches!(error, ArmError::Changed { .. }), "{error}");
        assert!(error.to_string().contains("networkInterfaces/n"), "{error}");
    });
}

#[test]
fn an_operation_is_followed_to_its_end_whatever_that_is() {
    let (azure, _folder) = started("100ms");
    let arm = client(&azure).within(Duration::from_secs(8));
    run(async {
        let (body, _) = changed(&arm).await;
        fault(
            &azure,
            &json!({"method": "PUT", "meets": "operation-fails"}),
        )
        .await;
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Failed { .. }), "{error}");
        fault(
            &azure,
            &json!({"method": "PUT", "meets": "operation-canceled"}),
        )
        .await;
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Failed { .. }), "{error}");
        fault(
            &azure,
            &json!({"method": "PUT", "meets": "another-operation"}),
        )
        .await;
        arm.put(&nic(), VERSION, &body, None).await.unwrap();
        fault(
            &azure,
            &json!({"method": "PUT", "meets": "operation-hangs"}),
        )
        .await;
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Late { .. }), "{error}");
    });
}

#[test]
fn a_write_whose_answer_is_lost_is_not_sent_again() {
    let (azure, _folder) = started("0s");
    let arm = client(&azure);
    run(async {
        let (body, _) = changed(&arm).await;
        azure.asked(Method::DELETE, "/lab/requests", None).await;
        fault(&azure, &json!({"method": "PUT", "meets": "lost-answer"})).await;
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Unknown { .. }), "{error}");
        let after = arm.get(&nic(), VERSION).await.unwrap();
        assert_eq!(after["properties"]["fieldOfTomorrow"]["kept"], true);
    });
    let requests = azure.ask(Method::GET, "/lab/requests", None).to_string();
    assert_eq!(requests.matches("PUT").count(), 1, "{requests}");
}

#[test]
fn an_expired_token_is_renewed_and_what_is_deleted_is_gone() {
    let (azure, _folder) = started("100ms");
    let arm = client(&azure);
    let table = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.Network/routeTables/t";
    run(async {
        let body = json!({"location": "westeurope", "properties": {"routes": []}});
        arm.put(table, VERSION, &body, None).await.unwrap();
        azure.asked(Method::DELETE, "/lab/tokens", None).await;
        arm.get(table, VERSION).await.unwrap();
        arm.delete(table, VERSION).await.unwrap();
        arm.delete(table, VERSION).await.unwrap();
        arm.put(table, VERSION, &body, None).await.unwrap();
        let gone = json!({"path": "/operations/", "meets": "not-found"});
        fault(&azure, &gone).await;
        arm.delete(table, VERSION).await.unwrap();
        let error = arm.get(table, VERSION).await.unwrap_err();
        let ArmError::Refused { answer, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(answer.status, Some(404));
        let routes = format!("{}/effectiveRouteTable", nic());
        let routes = arm.post(&routes, VERSION).await.unwrap();
        assert!(routes["value"].is_array(), "{routes}");
    });
}

/// The paths and status codes of requests whose path has this in it.
async fn seen(azure: &Azure, part: &str) -> Vec<u64> {
    let told = azure.asked(Method::GET, "/lab/requests", None).await;
    let requests = told["requests"].as_array().unwrap();
    let of = requests
        .iter()
        .filter(|one| one["path"].as_str().unwrap().contains(part));
    of.map(|one| one["status"].as_u64().unwrap()).collect()
}

#[test]
fn a_list_is_read_to_its_last_page() {
    let azure = Azure::start(&[
        "--subscription",
        "s1",
        "--page-size",
        "1",
        "--latency",
        "0s",
    ]);
    let arm = client(&azure);
    let of = |name: &str| {
        format!("/subscriptions/s1/resourceGroups/g/providers/Microsoft.Network/routeTables/{name}")
    };
    run(async {
        let group = "/subscriptions/s1/resourceGroups/g";
        let body = json!({"location": "westeurope"});
        arm.put(group, "2024-03-01", &body, None).await.unwrap();
        for name in ["a", "b", "c"] {
            arm.put(&of(name), VERSION, &body, None).await.unwrap();
        }
        azure.asked(Method::DELETE, "/lab/requests", None).await;
        let all = "/subscriptions/s1/providers/Microsoft.Network/routeTables";
        let list = arm.list(all, VERSION).await.unwrap();
        let names: Vec<_> = list.iter().map(|one| one["name"].as_str()).collect();
        assert_eq!(names, [Some("a"), Some("b"), Some("c")]);
        assert!(seen(&azure, "routeTables").await.len() >= 3, "in pages");
        let forbidden = json!({"path": "routeTables", "after": 1, "meets": "forbidden"});
        fault(&azure, &forbidden).await;
        let error = arm.list(all, VERSION).await.unwrap_err();
        assert!(matches!(error, ArmError::Refused { .. }), "{error}");
    });
}

#[test]
fn a_token_is_renewed_once_and_not_again() {
    let (azure, _folder) = started("0s");
    let arm = client(&azure);
    run(async {
        arm.get(&nic(), VERSION).await.unwrap();
        azure.asked(Method::DELETE, "/lab/requests", None).await;
        azure.asked(Method::DELETE, "/lab/tokens", None).await;
        arm.get(&nic(), VERSION).await.unwrap();
        assert_eq!(seen(&azure, "networkInterfaces").await, [401, 200]);
    });
}

#[test]
fn a_look_at_an_operation_that_is_throttled_does_not_outlast_the_deadline() {
    let (azure, _folder) = started("100ms");
    let arm = client(&azure).within(Duration::from_secs(4));
    run(async {
        let (body, _) = changed(&arm).await;
        let throttled =
            json!({"path": "/operations/", "meets": "throttled", "retryAfter": 20, "times": 9});
        fault(&azure, &throttled).await;
        let begun = std::time::Instant::now();
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Late { .. }), "{error}");
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
    });
}

#[test]
fn a_write_that_can_no_longer_be_looked_at_is_named_itself() {
    let (azure, _folder) = started("100ms");
    let arm = client(&azure);
    run(async {
        let (body, _) = changed(&arm).await;
        let down =
            json!({"path": "/operations/", "meets": "unavailable", "retryAfter": 0, "times": 9});
        fault(&azure, &down).await;
        let error = arm.put(&nic(), VERSION, &body, None).await.unwrap_err();
        assert!(matches!(error, ArmError::Unknown { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("PUT") && text.contains("networkInterfaces/n"),
            "{text}"
        );
    });
}
