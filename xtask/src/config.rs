//! `docs/reference/config.md`: every field of the configuration.

mod example;

use anyhow::{Context as _, Result, ensure};
use clap::{Arg, Command};
use holdfast_core::config::{Config, RawConfig};
use serde_json::{Value, json};

use crate::cli::{environment, options, written};
use crate::command::commands;
use crate::fields::{Field, Kind, objects};
use crate::markdown::{block, choice, code, page as markdown, paragraph, sentence, table};
use crate::schema;
use crate::vocabulary;

pub(crate) use self::example::{CA, ENDPOINT, example};

/// The page.
pub(crate) fn page() -> Result<String> {
    let agent = agent()?;
    let mut told = Vec::new();
    let mut accepted = Vec::new();
    for field in fields()? {
        let flag = flag(&agent, &field.path);
        let (meaning, noted) = split(&field.meaning);
        told.push(vec![
            code(&field.path),
            default(&field.path, noted)?,
            flag.map(written).unwrap_or_default(),
            flag.and_then(environment).map(code).unwrap_or_default(),
            sentence(&meaning),
        ]);
        accepted.push(vec![code(&field.path), accepts(&field)?]);
    }
    Ok(markdown(&[
        "# Configuration".to_owned(),
        paragraph(
            "`holdfast agent` reads one YAML document, named by `--config` or `HOLDFAST_CONFIG`. \
             Many fields have an [option](cli.md) and an environment variable too: an option wins \
             over the environment, the environment over the file.",
        ),
        paragraph(
            "Unknown fields, wrong units and values out of range are errors that name the field, \
             what was found and what is accepted. Times are written with their units, such as \
             `500ms`, `5s` or `10m`. The schema for editors is \
             [`config.schema.json`](../schema/config.schema.json).",
        ),
        "## Fields".to_owned(),
        table(
            &["Field", "Default", "Option", "Environment", "Meaning"],
            &told,
        ),
        "## Accepted values".to_owned(),
        table(&["Field", "Accepted"], &accepted),
        "## Example".to_owned(),
        paragraph("Everything as it is by default, but for `endpoint` and `ca`, which have none:"),
        block("yaml", &example()?),
    ]))
}

/// Every field that has a value of its own.
pub(crate) fn fields() -> Result<Vec<Field>> {
    Ok(objects(&schema::config()?)?
        .into_iter()
        .flat_map(|object| object.fields)
        .filter(|field| field.kind != Kind::Object)
        .collect())
}

/// `holdfast agent`.
pub(crate) fn agent() -> Result<Command> {
    commands()
        .into_iter()
        .find(|command| command.get_name() == "agent")
        .context("there is no command agent")
}

/// The option that sets the field: its name is the field's path.
pub(crate) fn flag<'a>(agent: &'a Command, path: &str) -> Option<&'a Arg> {
    options(agent).find(|option| letters(option.get_id().as_str()) == letters(path))
}

/// `probe.interval` and `probe_interval`, `serverName` and `server_name` are the same.
fn letters(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

/// A meaning, and what it says at its end about the default.
fn split(meaning: &str) -> (String, Option<String>) {
    let meaning = sentence(meaning);
    if let Some(rest) = meaning.strip_suffix("Required.") {
        return (rest.trim_end().to_owned(), Some("required".to_owned()));
    }
    match meaning.rsplit_once("Default: ") {
        Some((rest, noted)) => (
            rest.trim_end().to_owned(),
            Some(noted.trim_end_matches('.').to_owned()),
        ),
        None => (meaning, None),
    }
}

fn default(path: &str, noted: Option<String>) -> Result<String> {
    if let Some(noted) = noted {
        return Ok(noted);
    }
    let all = serde_json::to_value(RawConfig::default())?;
    let value = all
        .pointer(&pointer(path))
        .with_context(|| format!("{path} has no default"))?;
    Ok(match value.as_array() {
        Some(items) if items.is_empty() => "none".to_owned(),
        Some(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        None => shown(value),
    })
}

fn shown(value: &Value) -> String {
    code(
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
            .as_str(),
    )
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// What the program says that it accepts, when it is given something that it can't.
fn accepts(field: &Field) -> Result<String> {
    let absurd = match &field.kind {
        Kind::Word(_, schema) => {
            let words = vocabulary::of(schema)?;
            let words: Vec<_> = words
                .iter()
                .map(|one| choice(&one.word, &one.meaning))
                .collect();
            return Ok(words.join(", "));
        }
        Kind::Plain(kind) if kind == "boolean" => return Ok("true, false".to_owned()),
        Kind::Plain(kind) if kind == "integer" && field.is_list => {
            return Ok("whole numbers".to_owned());
        }
        Kind::Plain(kind) if kind == "integer" => json!(u32::MAX),
        Kind::Plain(_) | Kind::Object if field.is_list => json!(["?"]),
        Kind::Plain(_) | Kind::Object => match field.path.as_str() {
            "ca" => Value::Null,
            "serverName" | "kubeconfig" | "cache" => json!(""),
            _ => json!("?"),
        },
    };
    let attempt = |value: Value| -> Result<Option<&'static str>, serde_json::Error> {
        let mut all = serde_json::to_value(RawConfig::default())?;
        for (path, value) in [
            ("endpoint", json!(ENDPOINT)),
            ("ca", json!(CA)),
            (&field.path, value),
        ] {
            if let Some(place) = all.pointer_mut(&pointer(path)) {
                *place = value;
            }
        }
        let raw: RawConfig = serde_json::from_value(all)?;
        Ok(Config::parse(raw)
            .err()
            .filter(|error| error.field == field.path)
            .map(|error| error.accepted))
    };
    // Where a question mark can't even be read, a time is wanted: one that is too long.
    let is_number = absurd.is_number();
    let mut accepted = attempt(absurd).or_else(|_| attempt(json!("10000h")))?;
    if is_number && accepted.is_none() {
        accepted = attempt(json!(0))?;
    }
    ensure!(
        accepted.is_some() || field.path == "nodeName",
        "{} accepts anything, it seems: write here what it does accept",
        field.path
    );
    Ok(accepted.unwrap_or("any text").to_owned())
}
