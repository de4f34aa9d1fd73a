//! `holdfast lab matrix` and `holdfast lab goals` in real worlds that take seconds.

use std::io::Write as _;

use holdfast_lab::matrix::Row;
use holdfast_lab::subject::Subject;
use serde_json::Value;

use crate::command::{can_make_worlds, holdfast};

/// A server is killed; unscaled, and over after a few seconds.
const SHORT: &str = "
scenario: short
summary: One of two servers is killed.
world:
  servers: [cp1, cp2]
  name: {addresses: [cp1, cp2], lifetime: 5s}
client: {heartbeats: 3, idle: 3, active: 3, fresh: 200ms}
subjects: {holdfast: {prefers: cp1}}
before: 3s
timeline:
  - {at: 0s, verb: kill, target: cp1}
after: 4s
lanes: [idle]
goals:
  - {metric: on_fault, equals: 3}
  - {metric: active_outage_s, atMost: 1ms}
";

fn short() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("short.yaml");
    std::fs::write(&file, SHORT).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (directory, path)
}

#[test]
fn a_matrix_has_a_row_for_everybody_who_is_installed_in_one_world() {
    if !can_make_worlds() {
        return;
    }
    let (_directory, path) = short();
    let done = holdfast(&[
        "lab", "matrix", "--faults", &path, "--loops", "2", "-o", "json",
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(
        done.err.contains("2 runs, 2 at a time: about 1 min"),
        "{}",
        done.err
    );
    let rows: Vec<Value> = serde_json::from_str(&done.out).unwrap();
    let mut met = Vec::new();
    let guards = |subject: &Subject| matches!(subject, Subject::Guard | Subject::HoldfastGuard);
    // A guard is asked for by name: it does not compare with proxies.
    for subject in Subject::ALL.into_iter().filter(|one| !guards(one)) {
        if let Some(missing) = subject.missing() {
            let skipped = format!("SKIPPED: {subject}: this machine lacks {}", missing.what);
            assert!(done.err.contains(&skipped), "{}", done.err);
            let tell = format!("{skipped}; as root: {}", missing.install);
            writeln!(std::io::stderr(), "{tell}").unwrap();
        } else {
            met.push(subject.as_str());
        }
    }
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["subject"].as_str().unwrap())
        .collect();
    assert_eq!(names, met);
    for row in &rows {
        assert_eq!((&row["fault"], &row["loops"]), (&"short".into(), &2.into()));
        serde_json::from_value::<Row>(row.clone()).unwrap();
        for metric in ["active_outage_s", "worst_gap_s", "new_total"] {
            assert!(row[metric]["median"].as_f64() > Some(0.0), "{row}");
            assert!(row[metric]["max"].as_f64() >= row[metric]["median"].as_f64());
        }
        assert_eq!(row["not_ready_40"]["max"], false, "{row}");
    }
}

#[test]
fn goals_are_set_beside_what_was_measured_and_a_missed_one_is_exit_code_1() {
    if !can_make_worlds() {
        return;
    }
    let (_directory, path) = short();
    let done = holdfast(&["lab", "goals", "--faults", &path]);
    assert_eq!(done.code, Some(1), "{}{}", done.out, done.err);
    let row = |goal: &str| {
        let line = done.out.lines().find(|line| line.contains(goal));
        line.unwrap_or_else(|| panic!("no {goal}: {}", done.out))
            .split_whitespace()
            .last()
            .unwrap()
            .to_owned()
    };
    assert_eq!(row("on_fault 3"), "yes");
    assert_eq!(row("active_outage_s at most 0.001 s"), "NO");
    assert!(done.out.contains("1 of 2 goals are met"), "{}", done.out);
}

#[test]
fn lost_packets_are_lost_and_then_no_more() {
    if !can_make_worlds() {
        return;
    }
    let (directory, _) = short();
    let file = directory.path().join("lost.yaml");
    let lost = SHORT
        .replace("{holdfast: {prefers: cp1}}", "{direct: {}}")
        .replace(
            "verb: kill, target: cp1}",
            "verb: lose, share: 100}\n  - {at: 2s, verb: lose, share: 0}",
        )
        .replace("after: 4s", "after: 9s")
        .replace(
            "lanes: [idle]",
            "expect:\n  - {subject: direct, metric: active_outage_s, atLeast: 1900ms, atMost: 8s}",
        )
        .replace(
            "metric: on_fault, equals: 3",
            "metric: wrong_cuts, equals: 0",
        );
    std::fs::write(&file, lost).unwrap();
    let done = holdfast(&["lab", "run", file.to_str().unwrap()]);
    if done.err.contains("SKIPPED") {
        assert_eq!(done.code, Some(3), "{}{}", done.out, done.err);
        assert!(
            done.err.contains("apt-get install nftables"),
            "{}",
            done.err
        );
        write!(std::io::stderr(), "{}", done.err).unwrap();
        return;
    }
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
}
