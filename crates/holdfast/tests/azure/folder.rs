//! A folder goes in, is changed through ARM, comes out, and `holdfast egress` reads it.

use http::Method;
use serde_json::{Value, json};

use crate::stage::{Azure, holdfast, nic, written};

fn explained(folder: &std::path::Path) -> Value {
    let output = holdfast()
        .args(["egress", "explain", "-o", "json", "--from"])
        .arg(folder)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_change_through_arm_shows_in_the_folder_that_comes_out() {
    let (first, second) = (written(), tempfile::tempdir().unwrap());
    let nic = nic();
    let before = explained(first.path());
    let dump = second.path().to_str().unwrap();
    let azure = Azure::start(&[
        "--latency",
        "0s",
        "--from",
        first.path().to_str().unwrap(),
        "--dump",
        dump,
    ]);
    assert_eq!(azure.told("subscription"), "s1");
    let mut body = azure.ask(Method::GET, &nic, None);
    body["properties"]["ipConfigurations"][0]["properties"]["loadBalancerBackendAddressPools"] =
        json!([]);
    let third = tempfile::tempdir().unwrap();
    azure.ask(
        Method::POST,
        "/lab/folder",
        Some(&json!({"write": third.path()})),
    );
    azure.ask(Method::PUT, &nic, Some(&body));
    let exits = azure.ask(Method::GET, "/lab/egress", None);
    assert_eq!(
        exits["exits"][0]["reach"],
        json!({"tcp": false, "udp": false})
    );
    assert!(azure.end().success());
    assert_eq!(
        explained(third.path()),
        before,
        "unchanged, it means the same"
    );
    let after = explained(second.path());
    assert_eq!(before[0]["path"], "lb_snat", "{before:#}");
    assert_eq!(after[0]["path"], "none_private_subnet", "{after:#}");
}

#[test]
fn what_it_can_not_start_with_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("nic.json"),
        r#"[{"id": "/subscriptions/networkInterfaces"}]"#,
    )
    .unwrap();
    let output = holdfast()
        .args(["lab", "azure", "--from"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("nic.json") && error.contains("accepted"),
        "{error}"
    );
    let output = holdfast()
        .args(["lab", "azure", "--limits", "many"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("250:25,200:10,200:10"), "{error}");
}
