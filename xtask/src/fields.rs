//! The fields of a document, from its schema.

use anyhow::{Context as _, Result};
use serde_json::Value;

/// One object of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    /// Where it stands; empty for the document itself, `[]` after lists.
    pub(crate) path: String,
    /// What it is.
    pub(crate) meaning: String,
    /// Its fields, in the order of their declaration.
    pub(crate) fields: Vec<Field>,
}

/// One field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: String,
    /// Where it stands in the document.
    pub(crate) path: String,
    /// What it means.
    pub(crate) meaning: String,
    /// What its value, or each of its values, is.
    pub(crate) kind: Kind,
    /// Whether it has any number of values.
    pub(crate) is_list: bool,
    /// Whether it may be null.
    pub(crate) is_nullable: bool,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An object, which is described on its own.
    Object,
    /// One of JSON's own types.
    Plain(String),
    /// A word of the vocabulary with this name and this schema.
    Word(String, Value),
}

/// Every object of the document, each before those within it.
pub(crate) fn objects(root: &Value) -> Result<Vec<Object>> {
    let mut found = Vec::new();
    walk(root, root, "", &mut found)?;
    Ok(found)
}

fn walk(root: &Value, object: &Value, path: &str, found: &mut Vec<Object>) -> Result<()> {
    let properties = object.get("properties").and_then(Value::as_object);
    let properties = properties.with_context(|| format!("{path:?} is no object"))?;
    let mut fields = Vec::new();
    let mut inner = Vec::new();
    for (name, schema) in properties {
        let field = field(root, path, name, schema)?;
        if field.kind == Kind::Object {
            let place = if field.is_list {
                format!("{}[]", field.path)
            } else {
                field.path.clone()
            };
            inner.push((place, target(root, schema)?.schema));
        }
        fields.push(field);
    }
    found.push(Object {
        path: path.to_owned(),
        meaning: described(object),
        fields,
    });
    for (path, object) in inner {
        walk(root, object, &path, found)?;
    }
    Ok(())
}

fn field(root: &Value, path: &str, name: &str, schema: &Value) -> Result<Field> {
    let path = if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    };
    let target = target(root, schema).with_context(|| format!("read the schema of {path}"))?;
    let kind = if target.schema.get("properties").is_some() {
        Kind::Object
    } else if target.schema.get("oneOf").is_some() {
        Kind::Word(target.name.to_owned(), target.schema.clone())
    } else {
        let kind = kinds(target.schema).find(|kind| *kind != "null");
        Kind::Plain(
            kind.with_context(|| format!("{path} has no type"))?
                .to_owned(),
        )
    };
    Ok(Field {
        name: name.to_owned(),
        meaning: described(schema),
        kind,
        is_list: target.is_list,
        is_nullable: target.is_nullable,
        path,
    })
}

/// What a schema leads to through references, lists and alternatives to null.
#[derive(Clone, Copy)]
struct Target<'a> {
    name: &'a str,
    schema: &'a Value,
    is_list: bool,
    is_nullable: bool,
}

fn target<'a>(root: &'a Value, schema: &'a Value) -> Result<Target<'a>> {
    let mut target = Target {
        name: "",
        schema,
        is_list: false,
        is_nullable: false,
    };
    loop {
        let here = target.schema;
        target.is_nullable |= kinds(here).any(|kind| kind == "null");
        if let Some(path) = here.get("$ref").and_then(Value::as_str) {
            let pointer = path.trim_start_matches('#');
            target.schema = root
                .pointer(pointer)
                .with_context(|| format!("{path} leads nowhere"))?;
            target.name = path.rsplit('/').next().unwrap_or_default();
        } else if let Some(items) = here.get("items") {
            target.is_list = true;
            target.schema = items;
        } else if let Some(alternatives) = here.get("anyOf").and_then(Value::as_array) {
            target.is_nullable = true;
            let other = alternatives
                .iter()
                .find(|one| kinds(one).all(|kind| kind != "null"));
            target.schema = other.context("no alternative to null")?;
        } else {
            return Ok(target);
        }
    }
}

/// The types that a schema names itself.
fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, several) = match schema.get("type") {
        Some(Value::Array(kinds)) => (None, kinds.as_slice()),
        kind => (kind, Default::default()),
    };
    one.into_iter().chain(several).filter_map(Value::as_str)
}

fn described(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}
