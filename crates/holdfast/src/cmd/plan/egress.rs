//! `holdfast plan egress`: the egress model on bare facts, one row in, one row out.
//!
//! Rows are answered as they come, so a million take no more memory than one. After a bad row
//! nothing more is read; the answers before it are written.

use std::io::{BufRead, BufWriter, Write};

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use holdfast_core::egress::{Answer, COLUMNS, Case};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::exit::{Failure, Outcome, input as wrong, unable};

/// Arguments of `holdfast plan egress`.
#[derive(Debug, Args)]
pub struct PlanEgress {
    /// How the rows on standard input are written; answers are written the same way
    #[arg(short, long, value_enum, default_value_t = Format::Csv)]
    input: Format,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Comma-separated values, with the columns' names in the first line
    Csv,
    /// One JSON object per line
    Json,
}

/// The column that names a row.
const NAME: &str = "case_id";

/// An answer as it is written, field by field in the order of the columns.
#[derive(Serialize)]
struct Written<'a, Name: ?Sized> {
    case_id: &'a Name,
    path_now: &'a str,
    out_now: &'a str,
    path_after: &'a str,
    out_after: &'a str,
    lost: &'a str,
    decision: &'a str,
    reason: &'a str,
}

impl<'a, Name: ?Sized> Written<'a, Name> {
    fn new(case_id: &'a Name, answer: Answer) -> Self {
        Self {
            case_id,
            path_now: answer.before.path.as_str(),
            out_now: answer.before.protocols.as_str(),
            path_after: answer.after.path.as_str(),
            out_after: answer.after.protocols.as_str(),
            lost: answer.lost.as_str(),
            decision: answer.verdict.as_str(),
            reason: answer.reason.as_str(),
        }
    }
}

/// Answers every row.
pub(crate) fn run(
    arguments: &PlanEgress,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let done = match arguments.input {
        Format::Csv => answer_csv(input, &mut out),
        Format::Json => answer_json(input, &mut out),
    };
    // What was answered before a bad row is not lost with it.
    out.flush().map_err(unable)?;
    done.map(|()| Outcome::Held)
}

fn answer_csv(input: &mut impl BufRead, out: &mut impl Write) -> Result<(), Failure> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
    let mut writer = csv::Writer::from_writer(out);
    let header = reader.headers().map_err(unread)?.clone();
    let at = |column: &str| {
        header
            .iter()
            .position(|name| name.trim() == column)
            .ok_or_else(|| {
                wrong(anyhow!(
                    "line 1: no column {column}; found {:?}, accepted: a header that names {NAME} and {}, in any order",
                    header.iter().collect::<Vec<_>>().join(","),
                    COLUMNS.join(", ")
                ))
            })
    };
    let name_at = at(NAME)?;
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = at(column)?;
    }
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(unread)? {
        let line = record.position().map_or(0, csv::Position::line);
        let mut row = [""; COLUMNS.len()];
        for ((word, place), column) in row.iter_mut().zip(places).zip(COLUMNS) {
            *word = record.get(place).map(str::trim).ok_or_else(|| {
                wrong(anyhow!(
                    "line {line}, column {column}: found the end of the line after {} columns, accepted: {} columns, as in the header",
                    record.len(),
                    header.len()
                ))
            })?;
        }
        let answer = decide(line, &row)?;
        let name = record.get(name_at).unwrap_or_default();
        writer
            .serialize(Written::new(name, answer))
            .map_err(|error| unable(io(error).context("write an answer")))?;
    }
    writer.flush().map_err(unable)
}

fn answer_json(input: &mut impl BufRead, out: &mut impl Write) -> Result<(), Failure> {
    let mut text = String::new();
    for line in 1_u64.. {
        text.clear();
        let length = input.read_line(&mut text);
        if length.context("read standard input").map_err(unable)? == 0 {
            break;
        }
        if text.trim().is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(anyhow!("line {line}: {error}, accepted: a JSON object")))?;
        let field = |column: &str| {
            object.get(column).ok_or_else(|| {
                wrong(anyhow!(
                    "line {line}: no field {column}; accepted: an object with {NAME}, {}",
                    COLUMNS.join(", ")
                ))
            })
        };
        let mut row = [""; COLUMNS.len()];
        for (word, column) in row.iter_mut().zip(COLUMNS) {
            *word = match field(column)? {
                Value::String(text) => text,
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                other @ (Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    return Err(wrong(anyhow!(
                        "line {line}, column {column}: found {other}, accepted: a string"
                    )));
                }
            };
        }
        let answer = decide(line, &row)?;
        serde_json::to_writer(&mut *out, &Written::new(field(NAME)?, answer)).map_err(unable)?;
        out.write_all(b"\n").map_err(unable)?;
    }
    Ok(())
}

fn decide(line: u64, row: &[&str; COLUMNS.len()]) -> Result<Answer, Failure> {
    match Case::read(row) {
        Ok(case) => Ok(case.answer()),
        Err(error) => Err(wrong(anyhow!(
            "line {line}, column {}: found {:?}, accepted: {}",
            error.column,
            error.found,
            error.accepted
        ))),
    }
}

fn unread(error: csv::Error) -> Failure {
    if error.is_io_error() {
        return unable(io(error).context("read standard input"));
    }
    let line = error.position().map_or(0, csv::Position::line);
    wrong(anyhow!("line {line}: {error}"))
}

/// The error beneath: only that tells a reader who has gone from other trouble.
fn io(error: csv::Error) -> anyhow::Error {
    let said = error.to_string();
    if let csv::ErrorKind::Io(beneath) = error.into_kind() {
        beneath.into()
    } else {
        anyhow!(said)
    }
}
