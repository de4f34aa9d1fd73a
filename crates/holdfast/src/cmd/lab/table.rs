//! The lab's tables.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use holdfast_lab::measure::{Kind, Metric};
use holdfast_lab::report::html::clocks;
use holdfast_lab::report::{Run, SubjectRun};
use serde_json::Value;

/// How much a table of results shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Everything that was measured.
    All,
    /// What decides whether a node stays Ready.
    Few,
}

/// The columns after scenario and node, and whether [`Columns::Few`] has them.
const FIGURES: [(&str, bool); 11] = [
    ("WORST GAP", true),
    ("CUT AFTER", true),
    ("FIRST SUCCESS", false),
    ("RECONNECTS", true),
    ("WRONG CUTS", false),
    ("NEW FAILED", false),
    ("NOTREADY 40s", true),
    ("NOTREADY 50s", true),
    ("NOTREADY", true),
    ("EVICTIONS", true),
    ("RELISTS", true),
];

/// Those that only a real API can tell; they are shown where one did.
const TOLD_BY_THE_API: usize = 8;

/// The results of runs: one row per subject, which clocks were scaled, and what was expected and did
/// not come true.
pub(crate) fn results(runs: &[Run], columns: Columns) -> String {
    let mut subjects = runs.iter().flat_map(|run| run.subjects.values());
    let real = subjects.any(|subject| subject.figures.relists.is_some());
    let shown = |index: usize| {
        (real || index < TOLD_BY_THE_API)
            && (columns == Columns::All || FIGURES.get(index).is_some_and(|(_, few)| *few))
    };
    let mut table = plain();
    let figures = (0..).zip(FIGURES).filter(|(index, _)| shown(*index));
    let header = figures.map(|(_, (name, _))| name);
    table.set_header(["SCENARIO", "NODE"].into_iter().chain(header));
    for run in runs {
        for (subject, found) in &run.subjects {
            let figures = (0..)
                .zip(figures_of(found))
                .filter(|(index, _)| shown(*index));
            let row = figures.map(|(_, figure)| figure);
            table.add_row(
                [run.scenario.clone(), subject.to_string()]
                    .into_iter()
                    .chain(row),
            );
        }
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = vec![table.to_string(), String::new()];
    lines.extend(said_of_clocks(runs));
    lines.extend(runs.iter().flat_map(broken_expectations));
    lines.extend(runs.iter().flat_map(unexplained));
    lines.join("\n") + "\n"
}

/// Names with their cases and sentences.
pub(super) fn listed<'a>(rows: impl Iterator<Item = (&'a str, &'a Vec<u32>, &'a str)>) -> String {
    let mut table = plain();
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["SCENARIO", "CASES", "WHAT IT SHOWS"]);
    for (name, cases, summary) in rows {
        let cases: Vec<String> = cases.iter().map(ToString::to_string).collect();
        table.add_row([name, &cases.join(" "), summary]);
    }
    format!("{table}\n")
}

pub(super) fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// The figures in the order of [`FIGURES`].
fn figures_of(found: &SubjectRun) -> [String; 11] {
    let figures = &found.figures;
    let count = |figure: Option<u32>| figure.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let truth = |grace: &str| match figures.not_ready.get(grace) {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => "-".to_owned(),
    };
    [
        seconds(figures.worst_gap_s, 1),
        seconds(figures.cut_s, 2),
        seconds(figures.first_success_s, 2),
        figures.reconnects.to_string(),
        figures.wrong_cuts.to_string(),
        format!("{}/{}", figures.new_failed, figures.new_total),
        truth("40"),
        truth("50"),
        count(figures.turned_not_ready),
        count(figures.evictions),
        count(figures.relists),
    ]
}

/// A figure as JSON has it, for people; `never` stands for null.
pub(super) fn figure(metric: Metric, value: &Value, never: &str) -> String {
    match (metric.kind(), value) {
        (_, Value::Null) => never.to_owned(),
        (Kind::Time, value) => seconds(value.as_f64(), 2),
        (Kind::Truth, value) => if value == &Value::Bool(true) {
            "yes"
        } else {
            "no"
        }
        .to_owned(),
        (Kind::Count, value) => value.to_string(),
    }
}

fn seconds(figure: Option<f64>, digits: usize) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.digits$} s"))
}

/// Which clocks were scaled; once for all runs where that is the same.
fn said_of_clocks(runs: &[Run]) -> Vec<String> {
    let said: Vec<String> = runs.iter().map(clocks).collect();
    match said.first() {
        Some(first) if said.iter().all(|other| other == first) => vec![first.clone()],
        _ => runs
            .iter()
            .zip(said)
            .map(|(run, said)| format!("{}: {said}", run.scenario))
            .collect(),
    }
}

fn unexplained(run: &Run) -> Vec<String> {
    let met = run.subjects.iter();
    met.flat_map(|(subject, met)| met.unexplained.iter().map(move |what| (subject, what)))
        .map(|(subject, what)| {
            format!(
                "{}: {subject}: its status leaves unexplained: {what}",
                run.scenario
            )
        })
        .collect()
}

fn broken_expectations(run: &Run) -> Vec<String> {
    run.expectations
        .iter()
        .filter(|verdict| !verdict.held)
        .map(|verdict| {
            let measured = if verdict.measured.is_null() {
                "never".to_owned()
            } else {
                verdict.measured.to_string()
            };
            format!(
                "{}: expected {}, measured {measured}",
                run.scenario, verdict.text
            )
        })
        .collect()
}
