//! Whatever the agent does, its status alone explains it afterwards (safety rule S12).
//!
//! Every run of a scenario compares status, metrics and what the client felt, and fails if they differ; so
//! `make e2e` does it for all of them. Here it is done for a few, at a time scale.

use serde_json::Value;

use crate::command::{can_make_worlds, holdfast};

/// Scenarios with what the agent has to have done in each, and why.
const FAULTS: [(&str, &str, &[&str]); 5] = [
    ("kill", "verdict-changed", &["refused", "reset"]),
    ("drop", "connection-cut", &["silent"]),
    ("not-ready", "verdict-changed", &["readyz-failed"]),
    ("stranger", "verdict-changed", &["wrong-certificate"]),
    ("dns-servfail", "source-changed", &["source-failed"]),
];

#[test]
fn case_24_status_alone_explains_every_action() {
    if !can_make_worlds() {
        return;
    }
    let mut arguments = vec!["lab", "run"];
    arguments.extend(FAULTS.map(|(scenario, _, _)| scenario));
    let rest = "--subjects holdfast --time-scale 4 --jobs 2 -o json";
    arguments.extend(rest.split(' '));
    let done = holdfast(&arguments);
    // What is measured here is not the matter: a busy machine may miss a bound.
    assert!(matches!(done.code, Some(0 | 1)), "{}{}", done.out, done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    for (run, (scenario, what, reasons)) in
        report["scenarios"].as_array().unwrap().iter().zip(FAULTS)
    {
        assert_eq!(run["scenario"], scenario);
        let met = &run["subjects"]["holdfast"];
        assert_eq!(met["unexplained"], serde_json::json!([]), "{scenario}");
        let events = met["events"].as_array().unwrap();
        let happened = events.iter().any(|event| {
            event["what"] == what && reasons.iter().any(|reason| event["reason"] == *reason)
        });
        assert!(
            happened,
            "{scenario}: no {what} for {reasons:?}: {events:?}"
        );
    }
}
