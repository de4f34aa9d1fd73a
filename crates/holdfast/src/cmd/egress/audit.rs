//! `holdfast egress audit`: where egress may be taken away, and what to change.

use std::io::Write;

use clap::{Args, ValueEnum};
use holdfast_cloud::azure::audit::{Finding, Severity, audit};
use holdfast_cloud::azure::{Listing, Topology};
use serde::Serialize;

use super::{Source, junit, sarif};
use crate::exit::{Failure, Outcome, unable};

/// Arguments of `holdfast egress audit`.
#[derive(Debug, Args)]
pub struct Audit {
    #[command(flatten)]
    source: Source,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Findings for people, with what to change and the command that does it
    Table,
    /// JSON for programs
    Json,
    /// `JUnit` XML for pipelines
    Junit,
    /// SARIF 2.1.0 for code scanning
    Sarif,
}

/// The whole audit.
#[derive(Debug, Serialize)]
struct Report<'a> {
    nodes: usize,
    missing: &'a [Listing],
    findings: &'a [Finding],
}

/// Prints the findings; the answer is no if there are errors or warnings.
pub(crate) fn run(arguments: &Audit, out: &mut impl Write) -> Result<Outcome, Failure> {
    let inventory = arguments.source.inventory()?;
    let topology = Topology::new(&inventory, &arguments.source.cluster());
    let findings = audit(&topology);
    let missing = inventory.missing();
    let nodes = topology.machines().len();
    let text = match arguments.output {
        Output::Table => render(nodes, &missing, &findings),
        Output::Json => {
            let report = Report {
                nodes,
                missing: &missing,
                findings: &findings,
            };
            serde_json::to_string_pretty(&report).map_err(unable)? + "\n"
        }
        Output::Junit => junit::document(&findings),
        Output::Sarif => {
            serde_json::to_string_pretty(&sarif::document(&findings)).map_err(unable)? + "\n"
        }
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    let clean = findings.iter().all(|it| it.severity == Severity::Note);
    Ok(if clean {
        Outcome::Held
    } else {
        Outcome::NotHeld
    })
}

/// The nodes of a finding in few words.
pub(super) fn nodes(finding: &Finding) -> String {
    const SHOWN: usize = 5;
    let first: Vec<_> = finding
        .nodes
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect();
    match finding.nodes.len() {
        0 => String::new(),
        all if all > SHOWN => format!("{all} nodes: {}, …", first.join(", ")),
        1 => format!("node {}", first.join(", ")),
        all => format!("{all} nodes: {}", first.join(", ")),
    }
}

/// Who would cut these nodes, in words; nothing where nobody would.
pub(super) fn cut(finding: &Finding) -> Vec<String> {
    finding
        .cut_upon
        .iter()
        .map(|(version, events)| {
            let events: Vec<_> = events.iter().map(|it| it.as_str()).collect();
            format!(
                "cloud-provider-azure {version} cuts them upon: {}",
                events.join(", ")
            )
        })
        .collect()
}

fn render(count: usize, missing: &[Listing], findings: &[Finding]) -> String {
    let mut lines = Vec::new();
    for finding in findings {
        let severity = match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Note => "NOTE",
        };
        lines.push(format!(
            "{severity} {}: {}",
            finding.check.as_str(),
            finding.found
        ));
        lines.push(format!("  {}", finding.resource));
        let nodes = nodes(finding);
        let details = [nodes].into_iter().chain(cut(finding));
        lines.extend(
            details
                .filter(|it| !it.is_empty())
                .map(|it| format!("  {it}")),
        );
        lines.push(format!("  change: {}", finding.change));
        lines.push(format!("  $ {}\n", finding.command));
    }
    let counted = |severity| findings.iter().filter(|it| it.severity == severity).count();
    lines.push(format!(
        "{count} nodes: {} errors, {} warnings, {} notes",
        counted(Severity::Error),
        counted(Severity::Warning),
        counted(Severity::Note)
    ));
    lines.extend(
        missing
            .iter()
            .map(|it| format!("not in the folder: {it}, which tells {}", it.needed_for())),
    );
    lines.join("\n") + "\n"
}
