//! A status that explains everything, and everything that one can leave out.

use serde_json::json;

use super::histories::status;
use super::*;

const METRICS: &str = "\
# TYPE holdfast_actions counter
holdfast_actions_total{what=\"verdict-changed\",reason=\"silent\"} 1
holdfast_actions_total{what=\"connection-cut\",reason=\"silent\"} 1
holdfast_connections_ended_total{by=\"cut\"} 1
holdfast_connections_ended_total{by=\"client\"} 4
# EOF
";

fn row(seq: u64, what: &str, connection: Option<u64>, verdict: Option<&str>) -> serde_json::Value {
    json!({
        "seq": seq, "at_s": 1.0, "what": what, "upstream": "10.99.2.1:6443", "connection": connection,
        "verdict": verdict, "reason": "silent", "evidence": "no answer for 1 s", "next": "it is probed",
    })
}

fn told(actions: &serde_json::Value) -> Testimony {
    let mut told = status(9.0, &[]);
    told.actions = serde_json::from_value(actions.clone()).unwrap();
    let upstream = json!({
        "address": "10.99.2.1:6443", "verdict": "silent", "reason": "silent", "since_s": 1.0,
        "here": false, "origins": [], "connections": 0, "last_probe": null, "last_byte_s": null, "next_probe_s": null,
    });
    told.upstreams = vec![serde_json::from_value(upstream).unwrap()];
    Testimony {
        status: told,
        metrics: METRICS.to_owned(),
    }
}

fn good() -> serde_json::Value {
    json!([
        row(1, "verdict-changed", None, Some("silent")),
        row(2, "connection-cut", Some(7), None),
    ])
}

#[test]
fn rows_that_match_what_was_counted_and_felt_explain_it() {
    assert_eq!(unexplained(&told(&good()), 1), [""; 0]);
}

#[test]
fn each_thing_that_a_row_keeps_back_is_found() {
    for (field, nothing, wanted) in [
        (
            "evidence",
            json!(""),
            "row 2 (connection-cut) does not say evidence",
        ),
        (
            "next",
            json!(""),
            "row 2 (connection-cut) does not say what happens next",
        ),
        (
            "upstream",
            json!(null),
            "row 2 (connection-cut) does not say its address",
        ),
        (
            "connection",
            json!(null),
            "row 2 (connection-cut) does not say its connection",
        ),
    ] {
        let mut rows = good();
        rows[1][field] = nothing;
        assert_eq!(unexplained(&told(&rows), 1), [wanted]);
    }
    let mut rows = good();
    rows[0]["verdict"] = json!(null);
    assert_eq!(
        unexplained(&told(&rows), 1),
        ["row 1 (verdict-changed) does not say its verdict"]
    );
}

#[test]
fn an_action_without_a_row_is_found_in_the_metrics() {
    let rows = json!([row(1, "verdict-changed", None, Some("silent"))]);
    assert_eq!(
        unexplained(&told(&rows), 1),
        [
            "the metrics count 2 actions, the last row is 1",
            "the metrics count 1 of connection-cut for silent, 0 rows tell them",
            "1 ended by cut, and 0 rows say so",
        ]
    );
}

#[test]
fn a_verdict_that_no_row_led_to_is_found() {
    let mut rows = good();
    rows[0]["verdict"] = json!("ready");
    let found = unexplained(&told(&rows), 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("10.99.2.1:6443 is silent"),
        "{found:?}"
    );
}

#[test]
fn an_end_that_only_the_client_saw_is_found() {
    let found = unexplained(&told(&good()), 6);
    assert_eq!(
        found,
        ["the client saw 6 connections end, the agent knows of 5"]
    );
}

#[test]
fn a_guards_aborts_are_its_actions_and_no_connections_of_its_own() {
    let mut told = told(&good());
    told.status.listeners.clear();
    told.status.guard = Some(holdfast_core::status::GuardStatus::default());
    assert_eq!(unexplained(&told, 1), [""; 0]);
    assert_eq!(
        unexplained(&told, 2),
        ["the client saw 2 connections end, the agent knows of 1"]
    );
}

#[test]
fn rows_that_were_dropped_for_age_are_not_missed() {
    let rows = json!([row(2, "connection-cut", Some(7), None)]);
    assert_eq!(unexplained(&told(&rows), 1), [""; 0]);
}
