//! The benchmark's figures for people: medians, ratios, goals, and what they were measured on.

use comfy_table::{CellAlignment, Table};
use holdfast_lab::bench::contender::Contender;
use holdfast_lab::bench::goal::{Goal, Verdict};
use holdfast_lab::bench::metric::Metric;
use holdfast_lab::bench::{Found, Order};

use super::super::table::plain;

/// The columns that ratios are worth taking of.
const RATIOS: [Metric; 8] = [
    Metric::BulkBytesPerS,
    Metric::BulkCpuSPerGb,
    Metric::RequestsPerS,
    Metric::P50Us,
    Metric::P99Us,
    Metric::ConnectsPerS,
    Metric::RssIdleMib,
    Metric::Rss2000Mib,
];

/// Everything there is to say.
pub(super) fn page(found: &Found, order: &Order, absent: &[String]) -> String {
    let mut parts = vec![
        format!(
            "Medians; rounds: {}, each timed measurement: {:?}",
            order.rounds, order.each
        ),
        medians(found).to_string(),
    ];
    if found.contenders().contains(&Contender::Haproxy) {
        parts.push("\nRatio to haproxy in the same round, median of the rounds".to_owned());
        parts.push(ratios(found).to_string());
    }
    parts.push("\nGoals of holdfast".to_owned());
    parts.push(goals(found).to_string());
    parts.push(String::new());
    parts.extend(machine(found));
    parts.extend(absent.iter().cloned());
    parts.join("\n") + "\n"
}

fn medians(found: &Found) -> Table {
    let mut table = titled("SUBJECT", &Metric::ALL);
    for contender in found.contenders() {
        let figures = Metric::ALL.map(|metric| match found.figure(metric, contender) {
            Some(figure) if is_of(metric, contender) => shown(metric, figure.median),
            _ => "-".to_owned(),
        });
        table.add_row([contender.to_string()].into_iter().chain(figures));
    }
    to_the_right(table)
}

fn ratios(found: &Found) -> Table {
    let mut table = titled("SUBJECT", &RATIOS);
    for contender in found.contenders() {
        let ratios = RATIOS.map(|metric| {
            found
                .ratio(metric, contender, Contender::Haproxy)
                .filter(|_| is_of(metric, contender))
                .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
        });
        table.add_row([contender.to_string()].into_iter().chain(ratios));
    }
    to_the_right(table)
}

fn goals(found: &Found) -> Table {
    let mut table = plain();
    table.set_header(["GOAL", "", "MEASURED", ""]);
    for goal in Goal::ALL {
        let what = match goal.against {
            Some(peer) => format!("{} / {peer}", goal.metric.as_str()),
            None => goal.metric.as_str().to_owned(),
        };
        let (measured, verdict) = match goal.judge(found) {
            Verdict::Met { measured } => (format!("{measured:.2}"), "met".to_owned()),
            Verdict::Missed { measured, by } => (
                format!("{measured:.2}"),
                format!("missed by {:.0} %", by * 100.0),
            ),
            Verdict::Unknown => ("-".to_owned(), "not measured".to_owned()),
        };
        table.add_row([what, goal.bound.to_string(), measured, verdict]);
    }
    table
}

fn machine(found: &Found) -> Vec<String> {
    let machine = &found.machine;
    let mut lines = vec![format!(
        "{} cores of {}, shared by client, subject and backend; Linux {}, TCP {}",
        machine.cores, machine.processor, machine.kernel, machine.congestion_control
    )];
    lines.push(format!("holdfast {}", env!("CARGO_PKG_VERSION")));
    lines.extend(machine.peers.iter().cloned());
    if machine.debug_build {
        lines.push(
            "warning: this holdfast was built without optimisation; its figures mean nothing"
                .to_owned(),
        );
    }
    lines
}

fn titled(first: &str, metrics: &[Metric]) -> Table {
    let mut table = plain();
    let titles = metrics.iter().map(|metric| title(*metric));
    table.set_header([first].into_iter().chain(titles));
    table
}

fn to_the_right(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A direct path has no process that could use anything.
fn is_of(metric: Metric, contender: Contender) -> bool {
    contender != Contender::Direct || !metric.is_of_process()
}

const fn title(metric: Metric) -> &'static str {
    match metric {
        Metric::BulkBytesPerS => "BULK GB/s",
        Metric::BulkCpuSPerGb => "CPU s/GB",
        Metric::RequestsPerS => "REQUESTS/s",
        Metric::P50Us => "P50 µs",
        Metric::P99Us => "P99 µs",
        Metric::ConnectsPerS => "CONNECTS/s",
        Metric::RssIdleMib => "RSS MiB",
        Metric::Rss2000Mib => "RSS 2000",
        Metric::PssIdleMib => "PSS MiB",
        Metric::Pss2000Mib => "PSS 2000",
    }
}

fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::BulkBytesPerS => format!("{:.2}", value / 1e9),
        Metric::BulkCpuSPerGb => format!("{value:.3}"),
        Metric::RequestsPerS | Metric::ConnectsPerS | Metric::P50Us | Metric::P99Us => {
            format!("{value:.0}")
        }
        Metric::RssIdleMib | Metric::Rss2000Mib | Metric::PssIdleMib | Metric::Pss2000Mib => {
            format!("{value:.1}")
        }
    }
}
