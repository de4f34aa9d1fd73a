//! `docs/reference/status.md`: the JSON of `/status` and of `holdfast status -o json`.

use anyhow::{Result, bail};
use holdfast_core::status::{Source, Verdict, What};

use crate::fields::{Field, Kind, Object, objects};
use crate::markdown::{code, page as markdown, paragraph, sentence, table};
use crate::schema;
use crate::vocabulary::{listed, words};

/// The page.
pub(crate) fn page() -> Result<String> {
    let mut parts = vec![
        "# Status".to_owned(),
        paragraph(
            "What `holdfast agent` knows, has done, and why: the JSON of `/status` at its admin address \
         and of `holdfast status -o json`. Its schema is \
         [`status.schema.json`](../schema/status.schema.json). Names that end in `_s` are seconds.",
        ),
    ];
    for object in objects(&schema::status()?)? {
        parts.extend(section(&object)?);
    }
    parts.extend([
        "## Verdicts".to_owned(),
        paragraph("How good an upstream is, best first. New connections go to the best there are."),
        listed("Verdict", &words::<Verdict>()?),
        "## Actions".to_owned(),
        paragraph(
            "What was done or concluded: the words of `what`, each with a [reason](reasons.md).",
        ),
        listed("Action", &words::<What>()?),
        "## Sources".to_owned(),
        paragraph("Where addresses come from."),
        listed("Source", &words::<Source>()?),
    ]);
    Ok(markdown(&parts))
}

fn section(object: &Object) -> Result<Vec<String>> {
    let rows = object.fields.iter().map(row).collect::<Result<Vec<_>>>()?;
    let table = table(&["Field", "Value", "Meaning"], &rows);
    Ok(if object.path.is_empty() {
        vec![
            "## The document".to_owned(),
            sentence(&object.meaning),
            table,
        ]
    } else {
        vec![
            format!("## {}", code(&object.path)),
            sentence(&object.meaning),
            table,
        ]
    })
}

fn row(field: &Field) -> Result<Vec<String>> {
    let mut value = match &field.kind {
        Kind::Object if field.is_list => "objects".to_owned(),
        Kind::Object => "object".to_owned(),
        Kind::Plain(kind) if kind == "number" && field.name.ends_with("_s") => "seconds".to_owned(),
        Kind::Plain(kind) if kind == "boolean" => "true or false".to_owned(),
        Kind::Plain(kind) if kind == "integer" => "whole number".to_owned(),
        Kind::Plain(kind) => kind.clone(),
        Kind::Word(name, _) => match name.as_str() {
            "Reason" => "[reason](reasons.md)".to_owned(),
            "Source" => "[source](#sources)".to_owned(),
            "Verdict" => "[verdict](#verdicts)".to_owned(),
            "What" => "[action](#actions)".to_owned(),
            other => bail!("the words of {other} are not on the page"),
        },
    };
    if field.is_list && field.kind != Kind::Object {
        value = format!("list of {value}s");
    }
    if field.is_nullable {
        value += " or null";
    }
    Ok(vec![code(&field.name), value, sentence(&field.meaning)])
}
