//! The egress commands on Azure itself, for which the stand-in stands.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::stage::{Azure, holdfast, written};

const SECRET: &str = "hunter2-and-more";

/// A command that signs in as a service principal.
fn asks(azure: &Azure, arguments: &[&str]) -> Command {
    let mut command = holdfast();
    for name in ["AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"] {
        command.env_remove(name);
    }
    command
        .arg("egress")
        .args(arguments)
        .args(["--arm-endpoint", azure.told("endpoint")])
        .args(["--authority", azure.told("endpoint")])
        .args(["--arm-ca", azure.told("ca")])
        .args(["--subscription", azure.told("subscription")])
        .env("AZURE_TENANT_ID", azure.told("tenant"))
        .env("AZURE_CLIENT_ID", "app")
        .env("AZURE_CLIENT_SECRET", SECRET)
        .env("NO_PROXY", "127.0.0.1");
    command
}

fn said(output: &Output) -> (Value, String) {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let out: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!out.to_string().contains(SECRET) && !error.contains(SECRET));
    (out, error)
}

fn explained_from(folder: &std::path::Path) -> Value {
    let mut command = holdfast();
    let command = command.args(["egress", "explain", "-o", "json", "--from"]);
    said(&command.arg(folder).output().unwrap()).0
}

/// The stand-in, with what `written` has, in pages of one.
fn filled(more: &[&str]) -> (Azure, tempfile::TempDir) {
    let folder = written();
    let from = folder.path().to_str().unwrap();
    let arguments = [
        "--from",
        from,
        "--page-size",
        "1",
        "--client-secret",
        SECRET,
    ];
    (Azure::start(&[&arguments, more].concat()), folder)
}

#[test]
fn what_is_collected_means_what_it_was_made_of_and_so_does_live() {
    let (azure, folder) = filled(&[]);
    let before = explained_from(folder.path());
    let to = tempfile::tempdir().unwrap();
    let collected = to.path().join("facts");
    let arguments = ["collect", "-o", "json", "--to", collected.to_str().unwrap()];
    let (rows, _) = said(&asks(&azure, &arguments).output().unwrap());
    assert_eq!(rows.as_array().unwrap().len(), 9, "{rows}");
    assert_eq!(explained_from(&collected), before);
    let mut live = asks(&azure, &["explain", "-o", "json", "--live"]);
    let (live, _) = said(&live.output().unwrap());
    assert_eq!(live, before);
    let denied = asks(
        &azure,
        &[
            "what-if",
            "remove",
            "vm",
            "--pool",
            "kubernetes/kubernetes",
            "--live",
        ],
    )
    .output()
    .unwrap();
    assert_eq!(denied.status.code(), Some(1), "{denied:?}");
    // The same again: its own lists are no others. A subscription that is named twice is read once.
    let twice = azure.told("subscription").to_ascii_uppercase();
    let mut again = asks(&azure, &arguments);
    let (again, _) = said(&again.args(["--subscription", &twice]).output().unwrap());
    assert_eq!(again, rows);
    std::fs::write(collected.join("old.json"), "[]").unwrap();
    let refused = asks(&azure, &arguments).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("old.json"));
}

#[test]
fn faults_are_waited_for_and_an_expired_token_is_renewed_once() {
    let (azure, folder) = filled(&[]);
    let before = explained_from(folder.path());
    for fault in [
        json!({"meets": "throttled", "retryAfter": 1, "path": "networkInterfaces"}),
        json!({"meets": "referenced-not-provisioned", "path": "loadBalancers"}),
        json!({"meets": "unavailable", "times": 2, "path": "virtualNetworks"}),
        json!({"meets": "lost-answer", "path": "natGateways"}),
    ] {
        azure.ask(http::Method::POST, "/lab/faults", Some(&fault));
    }
    let (live, _) = said(
        &asks(&azure, &["explain", "-o", "json", "--live"])
            .output()
            .unwrap(),
    );
    assert_eq!(live, before);
    let waiting = azure.ask(http::Method::GET, "/lab/faults", None);
    assert_eq!(waiting.to_string().matches("meets").count(), 0, "{waiting}");
}

#[test]
fn s11_what_is_refused_is_named_with_what_would_help_and_no_secret() {
    let (azure, _folder) = filled(&[]);
    let to = tempfile::tempdir().unwrap();
    let collected = to.path().join("facts");
    let arguments = ["collect", "--to", collected.to_str().unwrap()];
    azure.ask(
        http::Method::POST,
        "/lab/faults",
        Some(&json!({"meets": "forbidden", "path": "routeTables"})),
    );
    let refused = asks(&azure, &arguments).output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{error}");
    for wanted in [
        "route-table.json",
        "HTTP 403",
        "routeTables",
        "holdfast-egress-reader.json",
    ] {
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    assert!(!collected.exists(), "nothing half is left");
    let refused = asks(&azure, &arguments)
        .env("AZURE_CLIENT_SECRET", "another-one")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{error}");
    assert!(error.contains("service principal"), "{error}");
    assert!(!error.contains("another-one"), "{error}");
    let refused = asks(&azure, &arguments)
        .env_remove("AZURE_TENANT_ID")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("AZURE_TENANT_ID"), "{error}");
}

#[test]
fn where_one_list_can_not_be_written_the_others_stay_as_they_were() {
    let (azure, _folder) = filled(&[]);
    let to = tempfile::tempdir().unwrap();
    let arguments = ["collect", "--to", to.path().to_str().unwrap()];
    let old = to.path().join("lb.json");
    std::fs::write(&old, "[]").unwrap();
    // In the way of what is written.
    std::fs::create_dir(to.path().join("vnet.new")).unwrap();
    let failed = asks(&azure, &arguments).output().unwrap();
    let error = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(3), "{error}");
    assert!(error.contains("vnet.json"), "{error}");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "[]");
    let mut left: Vec<_> = std::fs::read_dir(to.path())
        .unwrap()
        .map(|one| one.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["lb.json", "vnet.new"]);
}

#[test]
fn every_other_way_to_sign_in_works_too() {
    let (azure, folder) = filled(&["--metadata", "127.0.0.1:0"]);
    let before = explained_from(folder.path());
    let keys = tempfile::tempdir().unwrap();
    let token = keys.path().join("token");
    std::fs::write(&token, "of.the.pod").unwrap();
    let certificate = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../holdfast-cloud/src/arm/assertion/service-principal.pem"
    );
    let ways: [(&str, &[(&str, &str)]); 3] = [
        (
            "managed-identity",
            &[("AZURE_POD_IDENTITY_AUTHORITY_HOST", azure.told("metadata"))],
        ),
        (
            "workload-identity",
            &[("AZURE_FEDERATED_TOKEN_FILE", token.to_str().unwrap())],
        ),
        (
            "service-principal",
            &[("AZURE_CLIENT_CERTIFICATE_PATH", certificate)],
        ),
    ];
    for (way, variables) in ways {
        let mut command = asks(&azure, &["explain", "-o", "json", "--live", "--auth", way]);
        command.env_remove("AZURE_CLIENT_SECRET");
        command.envs(variables.iter().copied());
        let (live, _) = said(&command.output().unwrap());
        assert_eq!(live, before, "{way}");
    }
    // Azure CLI, for which a program of the same name stands.
    let program = keys.path().join("az");
    let answer = r#"{"accessToken": "good", "expires_on": 4102444800, "tokenType": "Bearer"}"#;
    std::fs::write(&program, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let path = format!(
        "{}:{}",
        keys.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = asks(&azure, &["explain", "-o", "json", "--live"]);
    command.env_remove("AZURE_CLIENT_SECRET").env("PATH", path);
    assert_eq!(said(&command.output().unwrap()).0, before);
}

#[test]
fn what_is_missing_or_wrong_is_named_with_what_is_accepted() {
    for (arguments, wanted) in [
        (&["explain", "--live"][..], "--subscription"),
        (&["explain", "--live", "--from", "x"], "--from"),
        (
            &["explain", "--live", "--subscription", "a/b"],
            "the id of a subscription",
        ),
        (
            &[
                "explain",
                "--live",
                "--subscription",
                "a",
                "--arm-endpoint",
                "http://x",
            ],
            "https://HOST",
        ),
    ] {
        let mut command = holdfast();
        let command = command.env_remove("AZURE_SUBSCRIPTION_ID").arg("egress");
        let output = command.args(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(wanted), "{arguments:?}: {error}");
    }
}
