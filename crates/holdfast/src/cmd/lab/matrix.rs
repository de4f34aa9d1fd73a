//! `holdfast lab matrix`: the same faults for Holdfast and its peers.

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use comfy_table::CellAlignment;
use holdfast_lab::matrix::{Row, rows};
use holdfast_lab::measure::Metric;
use holdfast_lab::scenario::{BUILT_IN, Scenario};
use holdfast_lab::subject::Subject;

use super::{
    Failure, Outcome, Output, check_writable, input, loops, order, possible, progress, table,
    unable, write_file,
};

/// Arguments of `holdfast lab matrix`.
#[derive(Debug, Args)]
pub(super) struct Matrix {
    /// Names of scenarios, or paths of scenario files; unless given, every built-in one that means
    /// something to other proxies too
    #[arg(long, value_delimiter = ',', value_name = "NAME|FILE")]
    faults: Vec<String>,
    /// Who meets them; whose program is not installed is left out, and named
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SUBJECT",
        default_value = "direct,holdfast,haproxy,haproxy-tuned,nginx,kubespray-nginx"
    )]
    subjects: Vec<Subject>,
    /// How often each fault happens
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    loops: u16,
    /// How many worlds there are at the same time; more than the machine bears spoils the figures
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command; results go to `out`, progress and who is left out to `err`.
pub(super) fn run(
    matrix: &Matrix,
    out: &mut impl Write,
    err: &mut impl Write,
) -> Result<Outcome, Failure> {
    let subjects = present(&matrix.subjects, err)?;
    let faults = if matrix.faults.is_empty() {
        faults()?
    } else {
        matrix.faults.clone()
    };
    if let Some(path) = &matrix.json {
        check_writable(path)?;
    }
    let mut orders = Vec::new();
    for fault in &faults {
        orders.push(order(fault, &subjects, None, None)?);
    }
    let orders = loops(possible(orders, err)?, matrix.loops);
    let runs = progress(orders, usize::from(matrix.jobs), err)?;
    let rows = rows(&runs);
    let json = serde_json::to_string_pretty(&rows).map_err(unable)? + "\n";
    if let Some(path) = &matrix.json {
        write_file(path, &json)?;
    }
    let text = match matrix.output {
        Output::Json => json,
        Output::Table => shown(&rows),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(Outcome::Held)
}

/// Those whose programs are here; the others are named with the command that installs them.
fn present(asked: &[Subject], err: &mut impl Write) -> Result<Vec<Subject>, Failure> {
    let mut present = Vec::new();
    for subject in Subject::ALL {
        if !asked.contains(&subject) {
            continue;
        }
        match subject.missing() {
            None => present.push(subject),
            Some(missing) => writeln!(
                err,
                "SKIPPED: {subject}: this machine lacks {}; as root: {}",
                missing.what, missing.install
            )
            .map_err(unable)?,
        }
    }
    if present.is_empty() {
        let hint = "install one of them, or ask for direct and holdfast";
        return Err(Failure::Unable(
            anyhow!("nobody is left to meet a fault"),
            Some(hint.to_owned()),
        ));
    }
    Ok(present)
}

/// The built-in scenarios that mean something to other proxies too.
fn faults() -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    for known in BUILT_IN {
        let scenario = Scenario::parse(known.name, known.yaml).map_err(input)?;
        if scenario.matrix {
            faults.push(scenario.name);
        }
    }
    Ok(faults)
}

/// The columns after fault and node.
const FIGURES: [(&str, Metric); 9] = [
    ("WORST GAP", Metric::WorstGap),
    ("CUT AFTER", Metric::Cut),
    ("ACTIVE OUTAGE", Metric::ActiveOutage),
    ("NEW FAILED", Metric::NewFailed),
    ("SLOWEST NEW", Metric::NewSlowest),
    ("RECOVERY", Metric::Recovery),
    ("WRONG CUTS", Metric::WrongCuts),
    ("NOTREADY 40s", Metric::NotReady40),
    ("NOTREADY 50s", Metric::NotReady50),
];

/// One line per fault and subject: the median, and the worst where it differs.
fn shown(rows: &[Row]) -> String {
    let mut table = table::plain();
    let figures = FIGURES.iter().map(|(name, _)| *name);
    table.set_header(["FAULT", "NODE"].into_iter().chain(figures));
    for row in rows {
        let figures = FIGURES.iter().map(|(_, metric)| cell(row, *metric));
        table.add_row(
            [row.fault.clone(), row.subject.to_string()]
                .into_iter()
                .chain(figures),
        );
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let loops = rows.iter().map(|row| row.loops).max().unwrap_or_default();
    let spread = if loops > 1 {
        format!("Median of {loops} loops, and behind / the worst. ")
    } else {
        String::new()
    };
    format!(
        "{table}\n\n{spread}Clocks are unscaled; a heartbeat is due every 10 s, an active connection asks every second.\n"
    )
}

fn cell(row: &Row, metric: Metric) -> String {
    let Some(spread) = row.metrics.get(metric.as_str()) else {
        return "-".to_owned();
    };
    let was_hit = metric == Metric::Cut && !has_none(row, Metric::OnFault);
    let never = if was_hit { "never" } else { "-" };
    let (median, worst) = (
        table::figure(metric, &spread.median, never),
        table::figure(metric, &spread.max, never),
    );
    if median == worst {
        median
    } else {
        format!("{median} / {worst}")
    }
}

fn has_none(row: &Row, metric: Metric) -> bool {
    let spread = row.metrics.get(metric.as_str());
    spread.is_none_or(|spread| spread.max == 0)
}
