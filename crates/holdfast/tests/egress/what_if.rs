//! Operations and what they would do, as a step of a pipeline sees it.

use std::fs;

use serde_json::{Value, json};

use crate::command::{Done, holdfast};
use crate::subscription::{folder, forget, name};

fn what_if(folder: &tempfile::TempDir, operation: &[&str]) -> Done {
    let from = folder.path().to_str().unwrap();
    holdfast(
        &[&["egress", "what-if"], operation, &["--from", from]].concat(),
        "",
    )
}

#[test]
fn each_operation_has_its_exit_code_and_its_verdict() {
    let folder = folder(8);
    let (wedge, gateway, default) = (name(0), name(2), name(3));
    let managed = "kubernetes/kubernetes";
    let cases: [(&[&str], i32, &str, &str); 13] = [
        (
            &["remove", &wedge, "--pool", managed],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (&["remove", &gateway, "--pool", managed], 0, "allow", ""),
        (
            &["add", &default, "--pool", "internal"],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["add", &default, "--pool", "public"],
            1,
            "deny",
            "WOULD_CUT_UDP",
        ),
        (
            &["add", &default, "--pool", "public", "--rules", "outbound"],
            0,
            "allow_warn",
            "EGRESS_PATH_CHANGES",
        ),
        (
            &["drop-rules", managed],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["drop-outbound-rule", "kubernetes/egress"],
            0,
            "allow_warn",
            "EGRESS_PATH_CHANGES",
        ),
        (
            &["disable-snat", managed],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["detach-nat-gateway", "vnet/behind-gateway"],
            0,
            "allow_warn",
            "EGRESS_PATH_CHANGES",
        ),
        (
            &["detach-nat-address", "gateway"],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["private-subnet", "nodes"],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["none-route", "behind-gateway"],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
        (
            &["delete-last-service"],
            1,
            "deny",
            "WOULD_CUT_ALL_OUTBOUND",
        ),
    ];
    for (operation, code, verdict, reason) in cases {
        let done = what_if(&folder, operation);
        assert_eq!(
            done.code,
            Some(code),
            "{operation:?}: {}{}",
            done.out,
            done.err
        );
        let last = done.out.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("{verdict}: ")),
            "{operation:?}: {last}"
        );
        assert!(done.out.contains(reason), "{operation:?}: {}", done.out);
    }
}

#[test]
fn json_has_every_node_before_and_after() {
    let folder = folder(8);
    let done = what_if(
        &folder,
        &["drop-rules", "kubernetes/kubernetes", "-o", "json"],
    );
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["verdict"], "deny");
    let rows = report["nodes"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let cut: Vec<_> = rows.iter().filter(|row| row["verdict"] == "deny").collect();
    assert_eq!(cut.len(), 2);
    assert_eq!(cut[1]["node"], name(4));
    assert_eq!(
        (&cut[1]["path_now"], &cut[1]["path_after"]),
        (&json!("lb_snat"), &json!("none_standard_lb_member"))
    );
}

#[test]
fn a_terraform_plan_is_an_operation() {
    let folder = folder(4);
    let nics: Value =
        serde_json::from_slice(&fs::read(folder.path().join("nic.json")).unwrap()).unwrap();
    let pool = &nics[0]["ipConfigurations"][0]["loadBalancerBackendAddressPools"][0]["id"];
    let plan = |kind: &str, before: Value| {
        let plan = json!({"format_version": "1.2", "resource_changes": [{
            "address": format!("{kind}.it"), "type": kind,
            "change": {"actions": ["delete"], "before": before, "after": null}}]});
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("plan"), plan.to_string()).unwrap();
        directory
    };
    let association =
        json!({"network_interface_id": nics[0]["id"], "backend_address_pool_id": pool});
    let cutting = plan(
        "azurerm_network_interface_backend_address_pool_association",
        association,
    );
    let done = what_if(
        &folder,
        &["terraform", cutting.path().join("plan").to_str().unwrap()],
    );
    assert_eq!(done.code, Some(1), "{}{}", done.out, done.err);
    assert!(done.out.contains("node-00000"), "{}", done.out);
    let unread = plan("azurerm_kubernetes_cluster", json!({"id": "/x"}));
    let done = what_if(
        &folder,
        &["terraform", unread.path().join("plan").to_str().unwrap()],
    );
    assert_eq!(done.code, Some(3), "{}", done.out);
    assert!(
        done.err.contains("azurerm_kubernetes_cluster.it"),
        "{}",
        done.err
    );
    let done = what_if(
        &folder,
        &[
            "terraform",
            folder.path().join("vnet.json").to_str().unwrap(),
        ],
    );
    assert_eq!(done.code, Some(2), "{}", done.err);
}

#[test]
fn what_is_missing_is_no_permission() {
    let folder = folder(4);
    forget(&folder, "nat-gateway.json");
    let done = what_if(
        &folder,
        &["remove", &name(2), "--pool", "kubernetes/kubernetes"],
    );
    assert_eq!(done.code, Some(3), "{}", done.out);
    assert!(
        done.out.lines().last().unwrap().starts_with("unknown: "),
        "{}",
        done.out
    );
    assert!(
        done.err.contains("without nat-gateway.json"),
        "{}",
        done.err
    );
    assert!(
        done.err
            .contains("hint: add to the folder what this prints: az network nat gateway list")
    );
}

#[test]
fn unknown_and_ambiguous_names_are_errors_that_list_what_there_is() {
    let folder = folder(4);
    for (operation, wanted) in [
        (
            ["drop-rules", "nothing"],
            "no pool nothing; accepted: /subscriptions/",
        ),
        (["drop-rules", "egress/egress"], "no pool egress/egress"),
        (["private-subnet", "pods"], "no subnet pods"),
        (["detach-address", "nobody"], "no node or NIC nobody"),
    ] {
        let done = what_if(&folder, &operation);
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(2), ""),
            "{operation:?}"
        );
        assert!(done.err.contains(wanted), "{operation:?}: {}", done.err);
    }
    let done = what_if(&folder, &["drop-rules", "kubernetes"]);
    assert!(
        done.err.contains("pool kubernetes is not one but several"),
        "{}",
        done.err
    );
}
