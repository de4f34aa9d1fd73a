//! The benchmark from end to end, short enough to show that it works and too short for its figures to
//! mean anything.

use serde_json::Value;

use crate::command::{can_make_worlds, holdfast};

const METRICS: [&str; 8] = [
    "bulk_bytes_per_s",
    "bulk_cpu_s_per_gb",
    "connects_per_s",
    "p50_us",
    "p99_us",
    "requests_per_s",
    "rss_2000_mib",
    "rss_idle_mib",
];

#[test]
fn a_short_benchmark_fills_the_report_and_the_table() {
    if !can_make_worlds() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("new/report.json");
    let done = holdfast(&[
        "lab",
        "bench",
        "--subjects",
        "direct,holdfast",
        "--rounds",
        "1",
        "--seconds",
        "0.3",
        "--json",
        file.to_str().unwrap(),
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);

    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let metrics: Vec<_> = report.as_object().unwrap().keys().collect();
    assert_eq!(metrics, METRICS);
    for metric in METRICS {
        let figure = &report[metric]["holdfast"];
        let value = |what: &str| figure[what].as_f64().unwrap();
        assert!(value("min") <= value("median"), "{metric}: {figure}");
        assert!(value("median") <= value("max"), "{metric}: {figure}");
        // Processor time is counted in hundredths of a second, of which there may be none yet.
        assert!(value("min") > 0.0 || metric == "bulk_cpu_s_per_gb");
    }
    assert!(report["requests_per_s"]["direct"]["median"].as_f64() > Some(100.0));
    assert_eq!(report["rss_idle_mib"]["direct"]["median"], 0.0);

    assert!(done.err.contains("round 1 of 1: holdfast"), "{}", done.err);
    for told in ["rounds: 1", "direct", "rss_2000_mib", "Linux "] {
        assert!(done.out.contains(told), "{told}: {}", done.out);
    }
    assert!(done.out.contains("not measured"), "no peer took part");
}

#[test]
fn the_json_output_is_the_report() {
    if !can_make_worlds() {
        return;
    }
    let done = holdfast(&[
        "lab",
        "bench",
        "--subjects",
        "direct",
        "--rounds",
        "2",
        "--seconds",
        "0.1",
        "-o",
        "json",
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert!(report["p99_us"]["direct"]["max"].as_f64() > Some(0.0));
}

#[test]
fn bad_arguments_are_named_with_what_is_accepted() {
    for (arguments, accepted) in [
        (["--subjects", "envoy"], "haproxy-splice"),
        (["--rounds", "0"], "1..=1000"),
        (["--seconds", "0"], "seconds from 0.1 to 60"),
    ] {
        let done = holdfast(&[&["lab", "bench"], arguments.as_slice()].concat());
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(done.err.contains(accepted), "{}", done.err);
        assert_eq!(done.out, "");
    }
}
