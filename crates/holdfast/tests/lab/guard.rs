//! Clients that a guard severs: they come back as the same process, with the descriptors that they had.

use std::io::Write as _;

use serde_json::Value;

use crate::command::{can_make_worlds, holdfast};

/// Scenarios in which the endpoint's name leads to something that works, so that severing helps.
const SEVERED: [&str; 4] = ["address-change", "address-replaced", "drop", "hang"];

fn runs(arguments: &[&str]) -> Vec<Value> {
    let done = holdfast(arguments);
    // What is measured here is not the matter: a busy machine may miss a bound.
    assert!(matches!(done.code, Some(0 | 1)), "{}{}", done.out, done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    match report["scenarios"].as_array() {
        Some(runs) => runs.clone(),
        None => vec![report],
    }
}

#[test]
fn where_severing_is_possible_the_client_is_severed_and_its_process_goes_on() {
    if !can_make_worlds() {
        return;
    }
    let mut arguments = vec!["lab", "run"];
    arguments.extend(SEVERED);
    let rest = "--subjects guard --time-scale 4 --jobs 2 -o json";
    arguments.extend(rest.split(' '));
    for run in runs(&arguments) {
        let scenario = &run["scenario"];
        let met = &run["subjects"]["guard"];
        let events = met["events"].as_array().unwrap();
        let cut = events.iter().any(|event| event["what"] == "connection-cut");
        assert!(cut, "{scenario}: {events:?}");
        assert!(met["reconnects"].as_u64() >= Some(1), "{scenario}: {met}");
        assert_eq!(met["process_kept"], true, "{scenario}");
        assert_eq!(met["wrong_cuts"], 0, "{scenario}");
        assert_eq!(met["unexplained"], serde_json::json!([]), "{scenario}");
    }
}

/// The name follows at once, and one lifetime later the old address goes silent.
const GO: &str = "
scenario: go-client
summary: A client of the kubelet's own parts meets an address that goes silent after it left the name.
world:
  servers: [cp1, cp2, cp3]
  name: {addresses: [cp1], lifetime: 2s}
client: {kind: go}
subjects: {guard: {}}
timeline:
  - {at: -3s, verb: set-name, to: [cp2, cp3]}
  - {at: 0s, verb: drop, target: cp1}
after: 40s
expect:
  # Bounds for a busy machine; without help it takes 45 s.
  - {subject: guard, metric: cut_s, atMost: 25s}
  - {subject: guard, metric: worst_gap_s, atMost: 38s}
  - {subject: guard, metric: reconnects, atLeast: 1}
  - {subject: guard, metric: wrong_cuts, equals: 0}
  - {subject: guard, metric: process_kept, equals: true}
  - {subject: guard, metric: descriptors_added, equals: 0}
";

#[test]
fn a_client_of_the_kubelets_own_parts_is_severed_and_renews_its_lease_elsewhere() {
    if !can_make_worlds() {
        return;
    }
    // The tests run in their crate's folder.
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/kubernetes/go-client"
    );
    let program = std::env::var("HOLDFAST_LAB_GO_CLIENT").unwrap_or_else(|_| built.to_owned());
    if !std::path::Path::new(&program).is_file() {
        let hint = "hint: e2e/kubernetes/goclient/build, which takes Go 1.26";
        writeln!(std::io::stderr(), "SKIPPED: {program} is missing\n  {hint}").unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("go.yaml");
    std::fs::write(&file, GO).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_holdfast"))
        .args(["lab", "run", file.to_str().unwrap(), "-o", "json"])
        .current_dir(root)
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let met = &run["subjects"]["guard"];
    assert_eq!(met["on_fault"], 1, "{run:#}");
    let events = met["events"].as_array().unwrap();
    let cut = events.iter().any(|event| event["what"] == "connection-cut");
    assert!(cut, "{events:?}");
}
