//! Findings as `JUnit` XML: one test suite, one test per check, one failure per finding.

use holdfast_cloud::azure::audit::{Check, Finding, Severity};

use super::audit::{cut, nodes};

/// The document. A check without findings is a test that passed; a note doesn't fail.
pub(super) fn document(findings: &[Finding]) -> String {
    let of = |check: Check| findings.iter().filter(move |it| it.check == check);
    let failures = Check::ALL
        .iter()
        .filter(|check| of(**check).any(fails))
        .count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"holdfast egress audit\" tests=\"{}\" failures=\"{failures}\">\n",
        Check::ALL.len()
    );
    text.extend(Check::ALL.map(|check| test(check, of(check))));
    text + "  </testsuite>\n</testsuites>\n"
}

fn test<'a>(check: Check, findings: impl Iterator<Item = &'a Finding>) -> String {
    let findings: String = findings.map(outcome).collect();
    format!(
        "    <testcase classname=\"egress\" name=\"{}\">\n{findings}    </testcase>\n",
        escaped(check.as_str())
    )
}

fn outcome(finding: &Finding) -> String {
    let message = escaped(&format!("{}: {}", finding.resource, finding.found));
    let mut body = vec![nodes(finding)];
    body.extend(cut(finding));
    body.push(format!("change: {}", finding.change));
    body.push(finding.command.clone());
    body.retain(|line| !line.is_empty());
    let body = escaped(&body.join("\n"));
    if fails(finding) {
        format!("      <failure message=\"{message}\">{body}</failure>\n")
    } else {
        format!("      <system-out>{message}\n{body}</system-out>\n")
    }
}

fn fails(finding: &Finding) -> bool {
    finding.severity != Severity::Note
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
