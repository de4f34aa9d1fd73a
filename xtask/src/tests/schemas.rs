use holdfast_core::status::Status;
use holdfast_lab::report::Report;
use holdfast_lab::scenario::BUILT_IN;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::text;
use crate::fields::objects;
use crate::schema;

const NAMES: [&str; 7] = [
    "adopt",
    "check",
    "config",
    "lab-report",
    "lab-run",
    "scenario",
    "status",
];

fn published(name: &str) -> Value {
    serde_json::from_str(&text(&format!("docs/schema/{name}.schema.json"))).unwrap()
}

fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&published(name)).unwrap()
}

#[test]
fn schemas_are_valid_and_say_what_they_are() {
    for name in NAMES {
        let schema = published(name);
        jsonschema::meta::validate(&schema).unwrap();
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{name}"
        );
        assert!(schema["title"].is_string(), "{name}");
        assert!(schema["description"].is_string(), "{name}");
        let text = schema.to_string();
        assert!(!text.contains("\"$id\"") && !text.contains("Raw"), "{name}");
        assert!(
            !text.contains("[`"),
            "{name} has links that only Rust follows"
        );
    }
}

#[test]
fn every_property_has_a_meaning() {
    for name in NAMES {
        let schema = published(name);
        let inner = schema.get("$defs").and_then(Value::as_object);
        let inner = inner.into_iter().flat_map(|all| all.values());
        for object in std::iter::once(&schema).chain(inner) {
            let properties = object.get("properties").and_then(Value::as_object);
            for (property, schema) in properties.into_iter().flatten() {
                assert!(schema["description"].is_string(), "{name}: {property}");
            }
        }
    }
}

#[test]
fn every_field_of_the_status_is_on_its_page() {
    let page = text("docs/reference/status.md");
    for object in objects(&schema::status().unwrap()).unwrap() {
        let heading = match object.path.as_str() {
            "" => "\n## The document\n".to_owned(),
            path => format!("\n## `{path}`\n"),
        };
        let (_, section) = page.split_once(&heading).expect(&heading);
        let section = section.split("\n## ").next().unwrap();
        for field in object.fields {
            assert!(
                super::has_row(section, &format!("`{}`", field.name)),
                "{}",
                field.path
            );
        }
    }
}

#[test]
fn built_in_scenarios_are_valid() {
    let validator = validator("scenario");
    for known in BUILT_IN {
        let mut value: Value = serde_saphyr::from_str(known.yaml).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", known.name);
        value["timelime"] = json!([]);
        assert!(!validator.is_valid(&value), "{}", known.name);
    }
}

#[test]
fn a_report_is_valid_and_so_is_each_of_its_runs() {
    let report: Report = serde_json::from_value(json!({"scenarios": [{
        "scenario": "kill",
        "version": "0.1.0",
        "time_scale": 1.0,
        "subjects": {"holdfast": {
            "worst_gap_s": 10.4,
            "cut_s": null,
            "first_success_s": 0.3,
            "reconnects": 1,
            "wrong_cuts": 0,
            "new_failed": 0,
            "new_total": 120,
            "not_ready": {"40": false, "50": false},
            "events": [{"t_s": 0.1, "what": "connection-cut", "reason": "refused"}],
        }},
        "expectations": [{"text": "a text", "held": true, "measured": "10.4 s"}],
    }]}))
    .unwrap();
    let written = serde_json::to_value(&report).unwrap();
    validator("lab-report").validate(&written).unwrap();
    validator("lab-run")
        .validate(&written["scenarios"][0])
        .unwrap();
    assert!(!validator("lab-run").is_valid(&json!({"scenario": "kill"})));
}

#[test]
fn a_status_is_valid() {
    let status: Status = serde_json::from_value(json!({
        "version": "0.1.0",
        "node": "node-1",
        "endpoint": "https://api.example.com:6443",
        "uptime_s": 12.5,
        "ready": true,
        "listeners": ["127.0.0.1:6445", "[::1]:6445"],
        "connections": 1,
        "config": {"file": "/etc/holdfast/agent.yaml", "age_s": 3.5, "failure": null, "failing_s": null},
        "connections_most": 9904,
        "draining_s": null,
        "sources": [{
            "source": "dns-a",
            "addresses": ["10.0.0.11:6443"],
            "age_s": 2.0,
            "failure": null,
            "lifetime_s": 60.0,
            "next_s": 58.0,
        }],
        "upstreams": [{
            "address": "10.0.0.11:6443",
            "verdict": "ready",
            "reason": "readyz-ok",
            "since_s": 12.0,
            "origins": [{"source": "dns-a", "age_s": 2.0, "missed": 0}],
            "here": false,
            "connections": 1,
            "last_probe": {"result": "ready", "age_s": 0.2, "took_s": 0.001},
            "last_byte_s": 0.2,
            "next_probe_s": 0.3,
        }],
        "actions": [{
            "seq": 1,
            "at_s": 0.1,
            "what": "verdict-changed",
            "upstream": "10.0.0.11:6443",
            "connection": null,
            "verdict": "ready",
            "reason": "readyz-ok",
            "evidence": "in words",
            "next": "in words",
        }],
    }))
    .unwrap();
    let written = serde_json::to_value(&status).unwrap();
    validator("status").validate(&written).unwrap();
}
