//! What needs no world: lists, files, and bad input.

use holdfast_lab::scenario::BUILT_IN;

use crate::command::holdfast;

#[test]
fn the_list_has_every_built_in_scenario() {
    let done = holdfast(&["lab", "list", "-o", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let listed: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["scenario"].as_str().unwrap())
        .collect();
    assert_eq!(names, BUILT_IN.map(|known| known.name));
    let table = holdfast(&["lab", "list"]).out;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
}

#[test]
fn a_shown_scenario_is_a_file_that_can_be_run() {
    let shown = holdfast(&["lab", "show", "address-lost"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert_eq!(
        shown.out,
        holdfast_lab::scenario::built_in("address-lost")
            .unwrap()
            .yaml
    );
}

#[test]
fn results_that_can_not_be_written_are_told_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a-file");
    std::fs::write(&file, "kept").unwrap();
    let inside = file.join("report.json");
    let (inside, folder) = (inside.to_str().unwrap(), directory.path().to_str().unwrap());
    let file_name = file.to_str().unwrap();
    for (arguments, said) in [
        (["lab", "run", "kill", "--json", inside], "create "),
        (["lab", "run", "kill", "--html", folder], "write "),
        (
            ["demo", "--out", file_name, "--time-scale", "50"],
            "create ",
        ),
    ] {
        let done = holdfast(&arguments);
        assert_eq!(done.code, Some(3), "{}", done.err);
        // The run itself would tell its progress first.
        assert!(
            done.err.starts_with(&format!("error: {said}")),
            "{}",
            done.err
        );
        assert_eq!(done.out, "");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn an_unknown_scenario_is_wrong_input_and_lists_those_there_are() {
    for command in [
        ["lab", "show", "adress-lost"],
        ["lab", "run", "adress-lost"],
    ] {
        let done = holdfast(&command);
        assert_eq!(done.code, Some(2));
        assert_eq!(done.out, "");
        assert!(
            done.err.contains("adress-lost") && done.err.contains("address-lost"),
            "{}",
            done.err
        );
    }
}

#[test]
fn a_bad_file_is_one_error_with_file_field_found_and_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.yaml");
    let good = holdfast_lab::scenario::built_in("kill").unwrap().yaml;
    std::fs::write(&file, good.replace("verb: kill", "verb: murder")).unwrap();
    let path = file.to_str().unwrap();
    let done = holdfast(&["lab", "run", path]);
    assert_eq!(done.code, Some(2));
    for wanted in [
        path,
        "timeline[0].verb",
        "\"murder\"",
        "continue, delay, drop",
    ] {
        assert!(done.err.contains(wanted), "{wanted}: {}", done.err);
    }
    assert_eq!(done.err.matches("error:").count(), 1, "{}", done.err);
}

#[test]
fn bad_arguments_say_what_is_accepted() {
    for (arguments, wanted) in [
        (["--time-scale", "0"], "a number from 0.1 to 100"),
        (["--time-scale", "fast"], "a number from 0.1 to 100"),
        (
            ["--subjects", "envoy"],
            "direct, holdfast, guard, holdfast-guard, haproxy",
        ),
        (["--jobs", "0"], "1..=16"),
    ] {
        let done = holdfast(&["lab", "run", "kill", arguments[0], arguments[1]]);
        assert_eq!(done.code, Some(2), "{arguments:?}");
        assert!(done.err.contains(wanted), "{arguments:?}: {}", done.err);
    }
}
