//! `holdfast egress what-if`: what an operation would do to each node's way to the internet.

mod operation;

use std::io::Write;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use comfy_table::Cell;
use holdfast_cloud::azure::effect::{Effect, effects, worst};
use holdfast_cloud::azure::{Topology, apply};
use holdfast_core::egress::decision::Verdict;
use serde::Serialize;

use super::{Source, table};
use crate::exit::{Failure, Outcome, unable};
pub use operation::{Asked, NewRule};

/// Arguments of `holdfast egress what-if`.
#[derive(Debug, Args)]
pub struct WhatIf {
    /// The operation.
    #[command(subcommand)]
    operation: Asked,
    #[command(flatten)]
    source: Source,
    /// What to print
    #[arg(short, long, global = true, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table of the nodes for which something changes
    Table,
    /// The same with every node
    Wide,
    /// JSON for programs, with every node
    Json,
}

/// The whole answer.
#[derive(Debug, Serialize)]
struct Report {
    /// `allow`, `allow_warn`, `deny`, or `unknown`.
    verdict: &'static str,
    nodes: Vec<Row>,
    /// Changes of a Terraform plan that may matter and could not be read.
    unread: Vec<String>,
}

/// One node in one address family.
#[derive(Debug, Serialize)]
struct Row {
    node: String,
    family: &'static str,
    path_now: &'static str,
    out_now: &'static str,
    path_after: &'static str,
    out_after: &'static str,
    lost: &'static str,
    verdict: &'static str,
    reason: &'static str,
    missing: Vec<&'static str>,
}

impl Row {
    fn new(effect: &Effect) -> Self {
        const UNKNOWN: &str = "unknown";
        let answer = effect.answer;
        Self {
            node: effect.node.clone(),
            family: effect.family.as_str(),
            path_now: answer.map_or(UNKNOWN, |it| it.before.path.as_str()),
            out_now: answer.map_or(UNKNOWN, |it| it.before.protocols.as_str()),
            path_after: answer.map_or(UNKNOWN, |it| it.after.path.as_str()),
            out_after: answer.map_or(UNKNOWN, |it| it.after.protocols.as_str()),
            lost: answer.map_or(UNKNOWN, |it| it.lost.as_str()),
            verdict: effect.verdict.map_or(UNKNOWN, Verdict::as_str),
            reason: answer.map_or(UNKNOWN, |it| it.reason.as_str()),
            missing: match answer {
                Some(_) => Vec::new(),
                None => effect.missing.iter().map(|it| it.as_str()).collect(),
            },
        }
    }

    fn changes(&self) -> bool {
        self.verdict != Verdict::Allow.as_str() && self.reason != "NO_OUTBOUND_BEFORE_OR_AFTER"
    }
}

/// Prints the effect; the answer is no if a protocol is lost anywhere.
pub(crate) fn run(arguments: &WhatIf, out: &mut impl Write) -> Result<Outcome, Failure> {
    let inventory = arguments.source.inventory()?;
    let topology = Topology::new(&inventory, &arguments.source.cluster());
    let planned = arguments.operation.edits(&topology)?;
    let mut changed = inventory.clone();
    for edit in &planned.edits {
        apply(edit, &mut changed);
    }
    let after = Topology::new(&changed, &arguments.source.cluster());
    let effects = effects(&topology, &after);
    let verdict = worst(&effects).filter(|it| *it == Verdict::Deny || planned.unread.is_empty());
    let report = Report {
        verdict: verdict.map_or("unknown", Verdict::as_str),
        nodes: effects.iter().map(Row::new).collect(),
        unread: planned.unread,
    };
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&report).map_err(unable)? + "\n",
        Output::Table => render(&report, false),
        Output::Wide => render(&report, true),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    match verdict {
        Some(Verdict::Deny) => Ok(Outcome::NotHeld),
        Some(_) => Ok(Outcome::Held),
        None => Err(undecided(&report, &effects)),
    }
}

fn undecided(report: &Report, effects: &[Effect]) -> Failure {
    if !report.unread.is_empty() {
        let which = report.unread.join(", ");
        return unable(anyhow!(
            "can't tell what these changes do to egress: {which}"
        ));
    }
    let mut missing: Vec<_> = effects
        .iter()
        .filter(|it| it.verdict.is_none())
        .flat_map(|it| it.missing.iter().copied())
        .collect();
    missing.sort();
    missing.dedup();
    let names: Vec<_> = missing.iter().map(|it| it.as_str()).collect();
    let commands: Vec<_> = missing.iter().map(|it| it.command()).collect();
    Failure::Unable(
        anyhow!("can't be decided without {}", names.join(", ")),
        Some(format!(
            "add to the folder what this prints: {}",
            commands.join("; ")
        )),
    )
}

fn render(report: &Report, all: bool) -> String {
    let mut table = table::titled(&[
        "NODE", "FAMILY", "NOW", "AFTER", "LOST", "VERDICT", "REASON",
    ]);
    let shown: Vec<_> = report
        .nodes
        .iter()
        .filter(|row| all || row.changes())
        .collect();
    for row in &shown {
        let now = format!("{} {}", row.path_now, row.out_now);
        let after = format!("{} {}", row.path_after, row.out_after);
        let reason = if row.missing.is_empty() {
            row.reason.to_owned()
        } else {
            format!("needs {}", row.missing.join(", "))
        };
        table.add_row([
            Cell::new(&row.node),
            Cell::new(row.family),
            Cell::new(now),
            Cell::new(after),
            Cell::new(row.lost),
            table::judged(row.verdict),
            Cell::new(reason),
        ]);
    }
    let mut lines = vec![format!(
        "{}: {} of {} ways change",
        report.verdict,
        report.nodes.iter().filter(|row| row.changes()).count(),
        report.nodes.len()
    )];
    lines.extend(report.unread.iter().map(|it| format!("not read: {it}")));
    let said = lines.join("\n") + "\n";
    if shown.is_empty() {
        said
    } else {
        table::text(&table) + "\n" + &said
    }
}

/// The first of these, for messages.
pub(super) fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut names: Vec<_> = names.take(MOST + 1).collect();
    if names.len() > MOST {
        names.truncate(MOST);
        names.push("…");
    }
    if names.is_empty() {
        "none is known".to_owned()
    } else {
        names.join(", ")
    }
}
