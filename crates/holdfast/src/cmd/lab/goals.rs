//! `holdfast lab goals`: what Holdfast is to reach, beside what it reaches here and now.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use holdfast_lab::report::Run;
use holdfast_lab::scenario::{BUILT_IN, Scenario};
use holdfast_lab::subject::Subject;
use serde::Serialize;
use serde_json::Value;

use super::{
    Failure, Outcome, Output, check_writable, input, loops, order, possible, progress, table,
    unable, write_file,
};

/// Arguments of `holdfast lab goals`.
#[derive(Debug, Args)]
pub(super) struct Goals {
    /// Names of scenarios with goals, or paths of scenario files; every built-in one unless given
    #[arg(long, value_delimiter = ',', value_name = "NAME|FILE")]
    faults: Vec<String>,
    /// How often each is run; a goal is met when it is met each time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    loops: u16,
    /// How many run at the same time; more than the machine bears spoils the figures
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What came of one goal.
#[derive(Debug, Serialize)]
struct Row {
    fault: String,
    goal: String,
    /// In each loop: a number, a truth, or null where it never happened.
    measured: Vec<Value>,
    met: bool,
}

/// Runs the command; results go to `out`, progress to `err`. A goal that is missed is exit code 1.
pub(super) fn run(
    goals: &Goals,
    out: &mut impl Write,
    err: &mut impl Write,
) -> Result<Outcome, Failure> {
    let faults = if goals.faults.is_empty() {
        with_goals()?
    } else {
        goals.faults.clone()
    };
    if let Some(path) = &goals.json {
        check_writable(path)?;
    }
    let mut orders = Vec::new();
    for fault in &faults {
        orders.push(order(fault, &[Subject::Holdfast], None, None)?);
    }
    let orders = loops(possible(orders, err)?, goals.loops);
    let runs = progress(orders, usize::from(goals.jobs), err)?;
    let rows = rows(&runs);
    let json = serde_json::to_string_pretty(&rows).map_err(unable)? + "\n";
    if let Some(path) = &goals.json {
        write_file(path, &json)?;
    }
    let text = match goals.output {
        Output::Json => json,
        Output::Table => shown(&rows),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(if rows.iter().all(|row| row.met) {
        Outcome::Held
    } else {
        Outcome::NotHeld
    })
}

fn with_goals() -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for known in BUILT_IN {
        let scenario = Scenario::parse(known.name, known.yaml).map_err(input)?;
        if !scenario.goals.is_empty() {
            names.push(scenario.name);
        }
    }
    Ok(names)
}

/// One row per scenario and goal, whichever loops there are.
fn rows(runs: &[Run]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        for verdict in &run.goals {
            let about = format!("{}: ", Subject::Holdfast);
            let goal = verdict.text.strip_prefix(&about).unwrap_or(&verdict.text);
            let known = rows
                .iter_mut()
                .find(|row| row.fault == run.scenario && row.goal == goal);
            match known {
                Some(row) => {
                    row.measured.push(verdict.measured.clone());
                    row.met &= verdict.held;
                }
                None => rows.push(Row {
                    fault: run.scenario.clone(),
                    goal: goal.to_owned(),
                    measured: vec![verdict.measured.clone()],
                    met: verdict.held,
                }),
            }
        }
    }
    rows
}

fn shown(rows: &[Row]) -> String {
    let mut table = table::plain();
    table.set_header(["FAULT", "GOAL", "MEASURED", "MET"]);
    for row in rows {
        let measured: Vec<String> = row
            .measured
            .iter()
            .map(|one| {
                if one.is_null() {
                    "never".to_owned()
                } else {
                    one.to_string()
                }
            })
            .collect();
        let met = if row.met { "yes" } else { "NO" };
        table.add_row([&row.fault, &row.goal, &measured.join("  "), met]);
    }
    if let Some(measured) = table.column_mut(2) {
        measured.set_cell_alignment(CellAlignment::Right);
    }
    let met = rows.iter().filter(|row| row.met).count();
    format!(
        "{table}\n\n{met} of {} goals are met; clocks are unscaled.\n",
        rows.len()
    )
}
