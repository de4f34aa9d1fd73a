//! A complete configuration with every default.

use anyhow::{Context as _, Result};
use holdfast_core::config::RawConfig;
use serde_json::Value;

use super::pointer;
use crate::fields::{Kind, objects};
use crate::markdown::wrapped;
use crate::schema;

/// The example's endpoint.
pub(crate) const ENDPOINT: &str = "https://api.example.com:6443";
/// The example's file with the cluster's CA: where kubeadm puts it.
pub(crate) const CA: &str = "/etc/kubernetes/pki/ca.crt";

/// Columns of a comment.
const WIDTH: usize = 84;

/// The document, with the meaning of each field above it.
pub(crate) fn example() -> Result<String> {
    let values = serde_json::to_value(RawConfig {
        endpoint: Some(ENDPOINT.to_owned()),
        ca: Some(CA.into()),
        ..RawConfig::default()
    })?;
    let mut lines = Vec::new();
    for object in objects(&schema::config()?)? {
        let indent = if object.path.is_empty() { "" } else { "  " };
        if !object.path.is_empty() {
            lines.extend([
                String::new(),
                format!("# {}", object.meaning),
                format!("{}:", object.path),
            ]);
        }
        for field in object.fields.iter().filter(|one| one.kind != Kind::Object) {
            let value = values
                .pointer(&pointer(&field.path))
                .with_context(|| format!("{} has no value", field.path))?;
            let comment = wrapped(&field.meaning, WIDTH);
            lines.extend(comment.iter().map(|line| format!("{indent}# {line}")));
            lines.push(format!("{indent}{}: {}", field.name, yaml(value)));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// A value as YAML on one line. JSON is YAML; words that can't be mistaken need no quotes.
fn yaml(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(yaml).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '/')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"./:-".contains(&byte))
        && !text.ends_with(':')
}
