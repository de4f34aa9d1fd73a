//! `holdfast egress explain`: each node's way to the internet.

use std::io::Write;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use comfy_table::Cell;
use holdfast_cloud::azure::Topology;
use holdfast_cloud::azure::topology::{Machine, Missing, Way};
use holdfast_core::egress::operation::{Operation, threats};
use serde::Serialize;

use super::{Source, table};
use crate::exit::{Failure, Outcome, input, unable};

/// Arguments of `holdfast egress explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// Only these nodes
    #[arg(value_name = "NODE")]
    nodes: Vec<String>,
    #[command(flatten)]
    source: Source,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table for people
    Table,
    /// A wider one, with whole resource ids and what would take each way away
    Wide,
    /// JSON for programs
    Json,
}

/// One node's way in one address family.
#[derive(Debug, Serialize)]
struct Row {
    node: String,
    /// `v4` or `v6`; none where nothing is known, or where it doesn't matter.
    family: Option<&'static str>,
    /// The path; `unknown` where what is missing decides, and `elsewhere` for other clouds.
    path: &'static str,
    protocols: &'static str,
    rests_on: Vec<String>,
    would_take_it_away: Vec<&'static str>,
    missing: Vec<Missing>,
    note: String,
}

/// Prints every way.
pub(crate) fn run(arguments: &Explain, out: &mut impl Write) -> Result<Outcome, Failure> {
    let inventory = arguments.source.inventory()?;
    let topology = Topology::new(&inventory, &arguments.source.cluster());
    let machines = chosen(topology.machines(), &arguments.nodes)?;
    let rows: Vec<_> = machines.iter().flat_map(|it| rows(&topology, it)).collect();
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&rows).map_err(unable)? + "\n",
        Output::Table => short(&rows),
        Output::Wide => wide(&rows),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(Outcome::Held)
}

fn chosen<'a>(machines: Vec<Machine<'a>>, names: &[String]) -> Result<Vec<Machine<'a>>, Failure> {
    if names.is_empty() {
        return Ok(machines);
    }
    for name in names {
        if !machines.iter().any(|it| it.name.eq_ignore_ascii_case(name)) {
            return Err(input(anyhow!(
                "no node {name}; accepted: {}",
                super::what_if::some_of(machines.iter().map(|it| it.name.as_str()))
            )));
        }
    }
    let wanted = |it: &Machine<'_>| names.iter().any(|name| it.name.eq_ignore_ascii_case(name));
    Ok(machines.into_iter().filter(wanted).collect())
}

fn rows(topology: &Topology<'_>, machine: &Machine<'_>) -> Vec<Row> {
    let row = |path, note: String, missing| Row {
        node: machine.name.clone(),
        family: None,
        path,
        protocols: path,
        rests_on: Vec::new(),
        would_take_it_away: Vec::new(),
        missing,
        note,
    };
    let provider = machine.node.map(|node| node.provider());
    if let Some(Some(provider)) = provider
        && provider != "azure"
    {
        let note = format!("{provider}: membership does not carry egress here");
        return vec![row("elsewhere", note, Vec::new())];
    }
    if machine.vm.is_none() {
        let note = "the node has no providerID, so its VM is not known".to_owned();
        return vec![row("unknown", note, Vec::new())];
    }
    let ways = topology.ways(machine);
    if ways.is_empty() {
        let list = Missing::List(Topology::list_of_nic(machine));
        let note = format!("its NIC is not in the folder: {}", list.command());
        return vec![row("unknown", note, vec![list])];
    }
    ways.iter().map(|way| row_of(&machine.name, way)).collect()
}

fn row_of(node: &str, way: &Way<'_>) -> Row {
    let egress = way.egress();
    let missing: Vec<_> = match egress {
        Some(_) => Vec::new(),
        None => way.missing.iter().copied().collect(),
    };
    let needs: Vec<_> = missing.iter().map(|it| it.as_str()).collect();
    let rests_on = egress.map(|it| way.rests_on(it.path)).unwrap_or_default();
    Row {
        node: node.to_owned(),
        family: Some(way.family.as_str()),
        path: egress.map_or("unknown", |it| it.path.as_str()),
        protocols: egress.map_or("unknown", |it| it.protocols.as_str()),
        rests_on: rests_on.into_iter().map(ToString::to_string).collect(),
        would_take_it_away: way
            .agreed(threats)
            .unwrap_or_default()
            .into_iter()
            .map(Operation::as_str)
            .collect(),
        missing,
        note: if needs.is_empty() {
            String::new()
        } else {
            format!("needs {}", needs.join(", "))
        },
    }
}

fn short(rows: &[Row]) -> String {
    let mut table = table::titled(&["NODE", "FAMILY", "OUT", "PATH", "RESTS ON"]);
    for row in rows {
        let names: Vec<_> = row.rests_on.iter().map(|id| name(id)).collect();
        let on = if row.note.is_empty() {
            names.join(" ")
        } else {
            row.note.clone()
        };
        table.add_row([
            Cell::new(&row.node),
            Cell::new(row.family.unwrap_or("-")),
            table::judged(row.protocols),
            table::judged(row.path),
            Cell::new(on),
        ]);
    }
    table::text(&table)
}

fn wide(rows: &[Row]) -> String {
    let titles = [
        "NODE",
        "FAMILY",
        "OUT",
        "PATH",
        "RESTS ON",
        "WOULD TAKE IT AWAY",
    ];
    let mut table = table::titled(&titles);
    for row in rows {
        let on = if row.note.is_empty() {
            row.rests_on.join(" ")
        } else {
            row.note.clone()
        };
        let taking = row.would_take_it_away.join("; ");
        table.add_row([
            Cell::new(&row.node),
            Cell::new(row.family.unwrap_or("-")),
            table::judged(row.protocols),
            table::judged(row.path),
            Cell::new(on),
            Cell::new(taking),
        ]);
    }
    table::text(&table)
}

/// The last two names of an id: `kubernetes/outbound`.
fn name(id: &str) -> String {
    let mut names: Vec<_> = id.rsplit('/').step_by(2).take(2).collect();
    names.reverse();
    // The first of a resource by itself is its provider's name.
    names.retain(|name| !name.starts_with("Microsoft."));
    names.join("/")
}
