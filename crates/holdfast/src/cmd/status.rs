//! `holdfast status`: what the agent on this node knows, has done, and why.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use comfy_table::{Cell, Color, ContentArrangement, Table, presets};
use holdfast_core::status::{
    ActionStatus, ConfigStatus, SourceStatus, Status, UpstreamStatus, Verdict,
};

use crate::exit::{Failure, Outcome, unable};
use crate::print;

mod guard;

/// Arguments of `holdfast status`.
#[derive(Debug, Args)]
pub struct StatusOf {
    /// The agent's admin address
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_ADMIN",
        default_value = "127.0.0.1:6446"
    )]
    admin: SocketAddr,
    /// How many of the latest actions to show
    #[arg(long, value_name = "N", default_value_t = 15)]
    actions: usize,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// A table for people
    Table,
    /// JSON for programs
    Json,
}

/// A local answer takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints the status; the answer is no while no upstream is usable.
pub(crate) fn run(arguments: &StatusOf, out: &mut impl Write) -> Result<Outcome, Failure> {
    let body = get(arguments.admin, "/status").map_err(|error| {
        let hint = format!(
            "is the agent running, with its admin address {}?",
            arguments.admin
        );
        Failure::Unable(error, Some(hint))
    })?;
    let status: Status = serde_json::from_str(&body)
        .context("read the agent's status")
        .map_err(unable)?;
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&status).map_err(unable)? + "\n",
        Output::Table => render(&status, arguments.actions, print::colours(&io::stdout())),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(if status.ready {
        Outcome::Held
    } else {
        Outcome::NotHeld
    })
}

/// One request without keep-alive: the whole answer is what comes until the end.
pub(super) fn get(admin: SocketAddr, path: &str) -> anyhow::Result<String> {
    let ask = || -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&admin, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {admin}\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    // As words: a pipe that breaks here is the agent's end, not that of our own reader.
    let answer = ask()
        .map_err(|error| anyhow!("{error}"))
        .with_context(|| format!("ask the agent at {admin}"))?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| anyhow!("{admin} does not speak HTTP"))?;
    if head.split_whitespace().nth(1) != Some("200") {
        bail!(
            "{admin} answered {}: {}",
            head.lines().next().unwrap_or_default(),
            body.trim()
        );
    }
    Ok(body.to_owned())
}

fn render(status: &Status, actions: usize, colours: bool) -> String {
    let ready = match status.draining_s {
        Some(left) => format!("STOPPING, open connections have {} left", span(left)),
        None if status.ready => "serving".to_owned(),
        None => "NO USABLE UPSTREAM".to_owned(),
    };
    let fleet = status
        .fleet
        .map(|nodes| format!(", one of {nodes} nodes"))
        .unwrap_or_default();
    let mut text = format!(
        "{} on {}: {ready}, {} connections, up {}, version {}{fleet}\n",
        status.endpoint,
        status.node,
        status.connections,
        span(status.uptime_s),
        status.version
    );
    text += &configuration(&status.config);
    text += "\n";
    text += &sources(&status.sources, colours);
    text += "\n";
    text += &upstreams(&status.upstreams, colours);
    text += "\n";
    if let Some(guard) = &status.guard {
        text += &guard::render(guard, status.uptime_s, colours);
        text += "\n";
    }
    text += &latest(&status.actions, actions, status.uptime_s, colours);
    text
}

/// Nothing without a file that is right.
fn configuration(config: &ConfigStatus) -> String {
    let age = span(config.age_s);
    match (&config.file, &config.failure) {
        (None, None) => String::new(),
        (Some(file), None) => format!("configuration: {file}, read {age} ago\n"),
        (_, Some(why)) => format!(
            "CONFIGURATION CAN'T BE USED for {}, the one read {age} ago holds: {why}\n",
            maybe_span(config.failing_s)
        ),
    }
}

pub(super) fn table(colours: bool, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    // On a terminal cells wrap within its width; in a pipe each row is one line, however long.
    if let Some(width) = table.width() {
        table
            .set_width(width)
            .set_content_arrangement(ContentArrangement::Dynamic);
    }
    if colours {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

pub(super) fn print_table(table: &Table) -> String {
    table
        .lines()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

fn sources(sources: &[SourceStatus], colours: bool) -> String {
    let mut table = table(colours, &["SOURCE", "AGE", "LIFETIME", "NEXT", "ADDRESSES"]);
    for source in sources {
        let mut named: Vec<_> = source.addresses.iter().map(ToString::to_string).collect();
        if let Some(failure) = &source.failure {
            named.push(format!("(failing: {failure})"));
        }
        table.add_row([
            source.source.as_str().to_owned(),
            maybe_span(source.age_s),
            maybe_span(source.lifetime_s),
            maybe_span(source.next_s),
            named.join(" "),
        ]);
    }
    print_table(&table)
}

fn upstreams(upstreams: &[UpstreamStatus], colours: bool) -> String {
    let header = [
        "UPSTREAM",
        "VERDICT",
        "REASON",
        "SINCE",
        "CONNS",
        "LAST PROBE",
        "LAST BYTE",
        "ORIGINS",
    ];
    let mut table = table(colours, &header);
    for upstream in upstreams {
        let probe = upstream.last_probe.as_ref().map_or_else(
            || "none yet".to_owned(),
            |p| format!("{} in {}, {} ago", p.result, span(p.took_s), span(p.age_s)),
        );
        let origins: Vec<_> = upstream.origins.iter().map(|o| o.source.as_str()).collect();
        table.add_row([
            Cell::new(upstream.address),
            Cell::new(upstream.verdict.as_str()).fg(colour(upstream.verdict)),
            Cell::new(upstream.reason),
            Cell::new(span(upstream.since_s)),
            Cell::new(upstream.connections),
            Cell::new(probe),
            Cell::new(maybe_span(upstream.last_byte_s)),
            Cell::new(if origins.is_empty() {
                "none".to_owned()
            } else {
                origins.join(" ")
            }),
        ]);
    }
    print_table(&table)
}

const fn colour(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Ready => Color::Green,
        Verdict::Slow | Verdict::Draining | Verdict::Probation => Color::Yellow,
        Verdict::Silent | Verdict::Dead | Verdict::Foreign => Color::Red,
    }
}

fn latest(actions: &[ActionStatus], most: usize, uptime: f64, colours: bool) -> String {
    let mut table = table(
        colours,
        &["AGO", "ACTION", "UPSTREAM", "REASON", "EVIDENCE", "NEXT"],
    );
    let skip = actions.len().saturating_sub(most);
    for action in actions.iter().skip(skip) {
        let what = match (action.verdict, action.connection) {
            (Some(verdict), _) => format!("{} {}", action.what.as_str(), verdict.as_str()),
            (None, Some(connection)) => format!("{} #{connection}", action.what.as_str()),
            (None, None) => action.what.as_str().to_owned(),
        };
        table.add_row([
            span(uptime - action.at_s),
            what,
            action.upstream.map(|u| u.to_string()).unwrap_or_default(),
            action.reason.to_string(),
            action.evidence.clone(),
            action.next.clone(),
        ]);
    }
    print_table(&table)
}

fn maybe_span(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), span)
}

/// Seconds for people: `0.3ms`, `1.2s`, `3m12s`, `2h05m`.
fn span(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    if seconds < 1.0 {
        return format!("{:.0}ms", seconds * 1000.0);
    }
    if seconds < 60.0 {
        return format!("{seconds:.1}s");
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        return format!("{minutes:.0}m{:02.0}s", (seconds % 60.0).floor());
    }
    format!("{:.0}h{:02.0}m", (minutes / 60.0).floor(), minutes % 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        let cases = [
            (0.0004, "0ms"),
            (0.25, "250ms"),
            (1.24, "1.2s"),
            (192.0, "3m12s"),
            (7500.0, "2h05m"),
        ];
        for (seconds, text) in cases {
            assert_eq!(span(seconds), text);
        }
    }
}
