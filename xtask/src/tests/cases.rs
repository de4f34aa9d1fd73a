//! docs/cases.md against the tests and scenarios that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use holdfast_lab::scenario::{BUILT_IN, Scenario};

/// The numbers of all reports.
const REPORTS: [u32; 32] = [
    1, 2, 5, 6, 7, 9, 10, 11, 13, 15, 16, 20, 21, 22, 24, 25, 26, 29, 30, 31, 33, 34, 35, 37, 38,
    39, 42, 43, 44, 47, 49, 50,
];

/// The names behind each number in the table.
fn table() -> BTreeMap<u32, Vec<String>> {
    let page = include_str!("../../../docs/cases.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, number, _, _, proof, _] = cells.as_slice() else {
            return None;
        };
        let names = proof.split('`').skip(1).step_by(2).map(str::to_owned);
        Some((number.parse().ok()?, names.collect()))
    });
    rows.collect()
}

fn scenarios() -> BTreeMap<String, Vec<u32>> {
    BUILT_IN
        .into_iter()
        .map(|known| {
            let scenario = Scenario::parse(known.name, known.yaml).unwrap();
            (scenario.name, scenario.cases)
        })
        .collect()
}

/// The names of all tests that carry the number of a report.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeSet::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                let names = text.split("fn case_").skip(1);
                found.extend(names.filter_map(|rest| {
                    let (name, _) = rest.split_once('(')?;
                    Some(format!("case_{name}"))
                }));
            }
        }
    }
    found
}

#[test]
fn every_report_has_a_proof_that_exists() {
    let (table, scenarios, tests) = (table(), scenarios(), tests());
    for (number, names) in &table {
        assert!(!names.is_empty(), "report {number} has no proof");
        for name in names {
            if name.starts_with("case_") {
                assert!(
                    tests.contains(name),
                    "report {number}: there is no test {name}"
                );
            } else {
                let cases = scenarios.get(name);
                let cases = cases.unwrap_or_else(|| panic!("report {number}: no scenario {name}"));
                assert!(
                    cases.contains(number),
                    "{name} does not list report {number}"
                );
            }
        }
    }
    let unknown = table.keys().find(|number| !REPORTS.contains(number));
    assert_eq!(unknown, None, "there is no such report");
}

#[test]
fn every_scenario_that_replays_a_report_is_its_proof() {
    let table = table();
    for (name, cases) in scenarios() {
        for case in cases {
            assert!(
                table.get(&case).is_some_and(|names| names.contains(&name)),
                "{name} lists report {case}, and docs/cases.md does not name it there"
            );
        }
    }
}
