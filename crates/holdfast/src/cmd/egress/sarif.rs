//! Findings as SARIF 2.1.0 (OASIS, 2020): one run, one rule per check, one result per finding.

use holdfast_cloud::azure::audit::{Check, Finding, Severity};
use serde_json::{Value, json};

use super::audit::{cut, nodes};

/// The document. A cloud has no files, so each result's place is a logical one: the resource.
pub(super) fn document(findings: &[Finding]) -> Value {
    let rules: Vec<_> = Check::ALL
        .iter()
        .map(|check| {
            json!({
                "id": check.as_str(),
                "shortDescription": {"text": check.about()},
                "help": {"text": check.change()},
                "defaultConfiguration": {"level": level(check.severity())},
            })
        })
        .collect();
    let results: Vec<_> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "holdfast",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let mut said = vec![finding.found.clone(), nodes(finding)];
    said.extend(cut(finding));
    said.push(format!("change: {}", finding.change));
    said.push(finding.command.clone());
    said.retain(|it| !it.is_empty());
    let name = finding.resource.rsplit('/').next().unwrap_or_default();
    json!({
        "ruleId": finding.check.as_str(),
        "ruleIndex": Check::ALL.iter().position(|it| *it == finding.check),
        "level": level(finding.severity),
        "message": {"text": said.join("\n")},
        "locations": [{"logicalLocations": [{
            "name": name,
            "fullyQualifiedName": finding.resource,
            "kind": "resource",
        }]}],
        "properties": {"nodes": finding.nodes},
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
