//! Findings, as people, scripts and pipelines get them.

use serde_json::{Value, json};

use crate::command::{Done, holdfast};
use crate::subscription::{folder, forget};

fn audit(folder: &tempfile::TempDir, more: &[&str]) -> Done {
    let from = folder.path().to_str().unwrap();
    holdfast(&[&["egress", "audit", "--from", from], more].concat(), "")
}

const FOUND: [(&str, &str, usize); 4] = [
    ("managed-pool-only", "error", 2),
    ("default-outbound", "warning", 2),
    ("implicit-snat", "warning", 2),
    ("rule-without-probe", "warning", 0),
];

#[test]
fn json_has_every_finding_with_its_nodes_its_change_and_its_command() {
    let done = audit(&folder(8), &["-o", "json"]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (&report["nodes"], &report["missing"]),
        (&json!(9), &json!(["services"]))
    );
    let findings = report["findings"].as_array().unwrap();
    let found: Vec<_> = findings
        .iter()
        .map(|it| {
            let nodes = it["nodes"].as_array().unwrap().len();
            (
                it["check"].as_str().unwrap(),
                it["severity"].as_str().unwrap(),
                nodes,
            )
        })
        .collect();
    assert_eq!(found, FOUND);
    for finding in findings {
        assert!(
            finding["command"]
                .as_str()
                .unwrap()
                .starts_with("az network ")
        );
        assert!(!finding["change"].as_str().unwrap().is_empty());
    }
    let current = &findings[0]["cut_upon"]["current"];
    assert_eq!(
        current,
        &json!(["exclude-label", "node-deleted", "unmanaged"])
    );
}

#[test]
fn the_table_says_the_same_in_words() {
    let folder = folder(8);
    forget(&folder, "public-ip.json");
    let done = audit(&folder, &[]);
    for (check, severity, _) in FOUND {
        assert!(
            done.out
                .contains(&format!("{} {check}: ", severity.to_uppercase())),
            "{}",
            done.out
        );
    }
    assert!(
        done.out.contains("2 nodes: node-00000, node-00004"),
        "{}",
        done.out
    );
    assert!(
        done.out
            .contains("cloud-provider-azure current cuts them upon: exclude-label")
    );
    assert!(
        done.out.contains("9 nodes: 1 errors, 3 warnings, 0 notes"),
        "{}",
        done.out
    );
    assert!(
        done.out
            .contains("not in the folder: public-ip.json, which tells"),
        "{}",
        done.out
    );
}

#[test]
fn sarif_has_what_its_schema_requires() {
    let done = audit(&folder(8), &["-o", "sarif"]);
    assert_eq!(done.code, Some(1));
    let document: Value = serde_json::from_str(&done.out).unwrap();
    // The required properties and closed vocabularies of sarif-schema-2.1.0.json, for what is used.
    let text = json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}});
    let level = json!({"enum": ["none", "note", "warning", "error"]});
    let rules = json!({"type": "array", "uniqueItems": true, "items": {
        "type": "object", "required": ["id"], "properties": {
            "id": {"type": "string"}, "shortDescription": text, "help": text,
            "defaultConfiguration": {"properties": {"level": level}}}}});
    let places = json!({"type": "array", "items": {"type": "object", "properties": {
        "logicalLocations": {"type": "array", "uniqueItems": true, "items": {
            "type": "object", "properties": {"name": {"type": "string"},
                "fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}}}}}}});
    let results = json!({"type": "array", "items": {
        "type": "object", "required": ["message", "ruleId", "level", "locations"], "properties": {
            "message": text, "level": level, "locations": places,
            "ruleIndex": {"type": "integer", "minimum": 0}}}});
    let driver = json!({"type": "object", "required": ["name", "rules"], "properties": {
        "name": {"type": "string"}, "rules": rules}});
    let run = json!({
        "type": "object", "required": ["tool", "results"], "additionalProperties": false,
        "properties": {"results": results,
            "tool": {"type": "object", "required": ["driver"], "properties": {"driver": driver}}}});
    let schema = json!({
        "type": "object", "required": ["version", "runs"], "properties": {
            "version": {"const": "2.1.0"}, "runs": {"type": "array", "minItems": 1, "items": run}}});
    let errors: Vec<_> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let run = &document["runs"][0];
    let results = run["results"].as_array().unwrap();
    let found: Vec<_> = results
        .iter()
        .map(|it| {
            (
                it["ruleId"].as_str().unwrap(),
                it["level"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(found, FOUND.map(|(check, severity, _)| (check, severity)));
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            run["tool"]["driver"]["rules"][index]["id"],
            result["ruleId"]
        );
    }
}

#[test]
fn junit_fails_one_test_per_check_that_found_something() {
    let done = audit(&folder(8), &["-o", "junit"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.out
            .starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>")
    );
    assert!(
        done.out.contains("tests=\"12\" failures=\"4\""),
        "{}",
        done.out
    );
    for tag in ["testsuites", "testsuite", "testcase", "failure"] {
        let (opened, closed) = (format!("<{tag} "), format!("</{tag}>"));
        let opened =
            done.out.matches(&opened).count() + done.out.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, done.out.matches(&closed).count(), "{tag}");
    }
    assert_eq!(done.out.matches("<testcase ").count(), 12);
    // Everything but the tags themselves is escaped.
    assert!(
        done.out.contains("&amp;&amp;") && !done.out.contains(" && "),
        "{}",
        done.out
    );
}
