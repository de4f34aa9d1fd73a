//! JSON schemas of everything that people write or programs read.

use anyhow::Result;
use holdfast_core::adoption::Adoptions;
use holdfast_core::checkup::Checkup;
use holdfast_core::config::RawConfig;
use holdfast_core::status::Status;
use holdfast_lab::report::{Report, Run};
use holdfast_lab::scenario::RawScenario;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::files::Generated;

/// The configuration, as it is read.
pub(crate) fn config() -> Result<Value> {
    read::<RawConfig>("Configuration of holdfast agent")
}

/// The agent's status, as it is written.
pub(crate) fn status() -> Result<Value> {
    written::<Status>("Status of holdfast agent")
}

/// What was done with kubeconfigs, as it is written.
pub(crate) fn adopt() -> Result<Value> {
    written::<Adoptions>("Result of holdfast adopt and holdfast release")
}

/// What a checkup found, as it is written.
pub(crate) fn check() -> Result<Value> {
    written::<Checkup>("Findings of holdfast check")
}

/// A run of a scenario, as it is written.
pub(crate) fn lab_run() -> Result<Value> {
    written::<Run>("Run of a lab scenario")
}

/// Several runs, as they are written.
pub(crate) fn lab_report() -> Result<Value> {
    written::<Report>("Report of lab runs")
}

/// A scenario, as it is read.
pub(crate) fn scenario() -> Result<Value> {
    read::<RawScenario>("Lab scenario")
}

/// The schema files.
pub(crate) fn files() -> Result<Vec<Generated>> {
    [
        ("adopt", adopt()),
        ("check", check()),
        ("config", config()),
        ("lab-report", lab_report()),
        ("lab-run", lab_run()),
        ("scenario", scenario()),
        ("status", status()),
    ]
    .into_iter()
    .map(|(name, schema)| {
        Ok(Generated {
            path: format!("docs/schema/{name}.schema.json"),
            text: serde_json::to_string_pretty(&schema?)? + "\n",
        })
    })
    .collect()
}

/// What is accepted when a `T` is read.
pub(crate) fn read<T: JsonSchema>(title: &str) -> Result<Value> {
    of::<T>(SchemaSettings::draft2020_12().for_deserialize(), title)
}

/// What comes when a `T` is written.
fn written<T: JsonSchema>(title: &str) -> Result<Value> {
    of::<T>(SchemaSettings::draft2020_12().for_serialize(), title)
}

fn of<T: JsonSchema>(settings: SchemaSettings, title: &str) -> Result<Value> {
    // Serialising puts title, description and type first.
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = serde_json::to_value(schema)?;
    polish(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.insert("title".to_owned(), title.into());
    }
    Ok(schema)
}

/// Takes the traces of Rust out of a schema: line ends within paragraphs, formats that no standard
/// knows, and the prefix of types that are as written.
fn polish(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(polish),
        Value::Object(object) => {
            if object.get("format").is_some_and(Value::is_string) {
                object.shift_remove("format");
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = unwrapped(text);
            }
            if let Some(Value::String(path)) = object.get_mut("$ref") {
                *path = path.replace("#/$defs/Raw", "#/$defs/");
            }
            if let Some(Value::Object(definitions)) = object.get_mut("$defs") {
                let renamed: Map<_, _> = std::mem::take(definitions)
                    .into_iter()
                    .map(|(name, value)| (name.trim_start_matches("Raw").to_owned(), value))
                    .collect();
                *definitions = renamed;
            }
            // What is in a default is no schema, even if it has a field called `format`.
            let schemas = object.iter_mut().filter(|(key, _)| *key != "default");
            schemas.for_each(|(_, value)| polish(value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Each paragraph on one line.
fn unwrapped(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "))
        .collect::<Vec<_>>()
        .join("\n\n")
}
