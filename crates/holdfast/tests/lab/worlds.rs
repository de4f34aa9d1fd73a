//! Real worlds, at a time scale at which the client's clocks still can be told apart.

use holdfast_lab::report::{Report, Run};
use serde_json::Value;

use crate::command::{can_make_worlds, holdfast};

/// A scenario without any agent: 30 s of timeline in a second and a half.
const SILENT: &str = "
scenario: silent
summary: The only server goes silent and comes back.
world:
  servers: [cp1, cp2]
  balancers: {lb1: [cp1, cp2]}
  name: {addresses: [lb1], lifetime: 5s}
client: {idle: 1, fresh: 250ms}
subjects: {direct: {}}
timeline:
  - {at: 0s, verb: drop, target: lb1}
  - {at: 70s, verb: restore, target: faulted}
after: 120s
lanes: [heartbeat]
expect:
  - {subject: direct, metric: worst_gap_s, atLeast: 60s}
  - {subject: direct, metric: cut_s, atLeast: 30s, atMost: 48s}
  - {subject: direct, metric: not_ready_50, equals: true}
  - {subject: direct, metric: wrong_cuts, equals: 0}
";

fn schema_errors<T: schemars::JsonSchema>(value: &Value) -> Vec<String> {
    let schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect()
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {path} of {value:#}"))
}

#[test]
fn a_silent_drop_costs_a_client_without_help_its_ping_and_its_dial() {
    if !can_make_worlds() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("silent.yaml");
    let page = directory.path().join("new/page.html");
    std::fs::write(&file, SILENT).unwrap();
    let (file, page) = (file.to_str().unwrap(), page.to_str().unwrap());
    let done = holdfast(&[
        "lab",
        "run",
        file,
        "--time-scale",
        "20",
        "-o",
        "json",
        "--html",
        page,
        "--live",
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);

    let run: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(schema_errors::<Run>(&run), [""; 0]);
    // 45 s of ping, then a dial that nobody answers, all divided by 20; until the address is back.
    let gap = number(&run, "/subjects/direct/worst_gap_s");
    assert!((3.0..6.0).contains(&gap), "{gap}");
    assert!(
        number(&run, "/subjects/direct/first_success_s") >= 3.5,
        "nothing passed before the address was back"
    );
    assert!(number(&run, "/subjects/direct/reconnects") >= 1.0);
    assert!(number(&run, "/subjects/direct/new_failed") >= 1.0);
    assert!((number(&run, "/time_scale") - 20.0).abs() < f64::EPSILON);

    for told in [
        "lb1 is silent: packets vanish",
        "node is NotReady",
        "heartbeat again",
        "lb1 is reachable again",
    ] {
        assert!(done.err.contains(told), "{told}: {}", done.err);
    }
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .contains("20 times as fast as stock")
    );
}

#[test]
fn an_expectation_that_does_not_hold_is_exit_code_1_with_both_figures() {
    if !can_make_worlds() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hopeful.yaml");
    let hopeful = SILENT
        .replace(
            "metric: worst_gap_s, atLeast: 60s",
            "metric: worst_gap_s, atMost: 20s",
        )
        .replace("at: 70s", "at: 30s")
        .replace("after: 120s", "after: 40s");
    std::fs::write(&file, hopeful).unwrap();
    let done = holdfast(&["lab", "run", file.to_str().unwrap(), "--time-scale", "20"]);
    assert_eq!(done.code, Some(1), "{}{}", done.out, done.err);
    assert!(
        done.out
            .contains("expected direct: worst_gap_s at most 1 s, measured "),
        "{}",
        done.out
    );
}

#[test]
fn several_runs_are_a_report_in_the_order_in_which_they_were_asked_for() {
    if !can_make_worlds() {
        return;
    }
    let arguments = [
        "lab",
        "run",
        "not-ready",
        "kill",
        "--subjects",
        "direct",
        "--time-scale",
        "20",
        "--jobs",
        "2",
        "-o",
        "json",
    ];
    let done = holdfast(&arguments);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(schema_errors::<Report>(&report), [""; 0]);
    assert_eq!(report["scenarios"][0]["scenario"], "not-ready");
    assert_eq!(report["scenarios"][1]["scenario"], "kill");
    // Nobody cuts a draining server's connections before it stops, 20 s / 20 after the fault.
    assert!(number(&report, "/scenarios/0/subjects/direct/cut_s") >= 0.99);
}

#[test]
fn a_node_with_holdfast_keeps_its_api_server_when_its_address_goes_silent() {
    if !can_make_worlds() {
        return;
    }
    let done = holdfast(&["lab", "run", "drop", "--time-scale", "5", "-o", "json"]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let run: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(schema_errors::<Run>(&run), [""; 0]);
    let events = run["subjects"]["holdfast"]["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["what"] == "connection-cut"),
        "{events:?}"
    );
}
