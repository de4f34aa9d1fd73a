//! The shape of what is stored: ids, names, types and parts, whoever wrote them.

use serde_json::{Map, Value, json};

use super::json::set;
use super::kind::{Found, Kind};
use super::link;
use super::place::{Path, Place};
use super::store::{Document, Store, elements, elements_mut, id_of};
use super::wire::Refusal;

/// What an id leads to.
#[derive(Debug)]
pub(super) enum Target<'a> {
    /// A kind that is not served: it may be there or not.
    Foreign,
    /// Nothing.
    Missing,
    /// A document, or a part of it.
    There(&'a Document),
}

/// A body as a client wrote it, in the shape in which it is stored.
pub(super) fn stored(kind: &'static Kind, id: &str, mut body: Value) -> Result<Value, Refusal> {
    settle_properties(&mut body);
    link::remove_told(kind, &mut body);
    name(&mut body, id, &kind.type_name());
    for part in kind.parts {
        let kind_of_part = format!("{}/{}", kind.type_name(), part.name);
        for element in elements_mut(&mut body, part.name) {
            settle_properties(element);
            let written = element.get("name").and_then(Value::as_str);
            let from_id = id_of(element).rsplit('/').next();
            let Some(own) = written.or(from_id).filter(|it| !it.is_empty()) else {
                return Err(Refusal::bad(
                    "InvalidRequestFormat",
                    format!(
                        "Cannot parse the request: an element of {} has no name.",
                        part.name
                    ),
                ));
            };
            let part_id = format!("{id}/{}/{own}", part.name);
            name(element, &part_id, &kind_of_part);
            set_default_state(element);
        }
    }
    Ok(body)
}

fn settle_properties(body: &mut Value) {
    if let Some(object) = body.as_object_mut() {
        let properties = object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
        if !properties.is_object() {
            *properties = json!({});
        }
        if let Some(properties) = properties.as_object_mut() {
            properties.remove("provisioningState");
        }
    }
}

fn set_default_state(element: &mut Value) {
    super::store::set_state(element, "Succeeded");
}

fn name(body: &mut Value, id: &str, kind: &str) {
    if body.is_object() {
        set(body, "id", id);
        set(body, "name", id.rsplit('/').next().unwrap_or_default());
        set(body, "type", kind);
    }
}

/// What an id leads to.
pub(super) fn target<'a>(store: &'a Store, id: &str) -> Target<'a> {
    let Some(Path::Resource(place)) = Path::parse(id) else {
        return Target::Foreign;
    };
    let Some(found) = Found::by_types(&place.types).filter(|_| place.is_named()) else {
        return Target::Foreign;
    };
    let owner = match found.part {
        Some(_) => place.outer().id(),
        None => place.id(),
    };
    match (store.find(&owner), found.part) {
        (Some(document), None) => Target::There(document),
        (Some(document), Some(part)) if find_part(&document.body, part.name, id).is_some() => {
            Target::There(document)
        }
        _ => Target::Missing,
    }
}

/// The part with this id.
pub(super) fn find_part<'a>(body: &'a Value, part: &str, id: &str) -> Option<&'a Value> {
    elements(body, part)
        .iter()
        .find(|element| id_of(element).eq_ignore_ascii_case(id))
}

/// Every id that a body refers to, its own parts' ids left out.
pub(super) fn references(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(properties) = body.get("properties") {
        collect(properties, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            // What has properties is a part, and its id is its own; in a VM's network profile it
            // is a reference with properties of its own.
            let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
            let is_part = object.contains_key("properties") && object.contains_key("name");
            if id.starts_with('/') && !is_part {
                found.push(id.to_owned());
            }
            object.values().for_each(|it| collect(it, found));
        }
        Value::Array(list) => list.iter().for_each(|it| collect(it, found)),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
    }
}

/// The place of a stored id.
pub(super) fn place_of(id: &str) -> Option<Place> {
    match Path::parse(id) {
        Some(Path::Resource(place)) => Some(place),
        _ => None,
    }
}

/// What a PATCH makes of a body: objects are merged, everything else is replaced, null removes
/// (RFC 7396).
pub(super) fn merge(into: &mut Value, change: Value) {
    let (Some(target), Value::Object(change)) = (into.as_object_mut(), change) else {
        return;
    };
    for (name, value) in change {
        if value.is_null() {
            target.remove(&name);
        } else if value.is_object() {
            let own = target.entry(name).or_insert_with(|| json!({}));
            if !own.is_object() {
                *own = json!({});
            }
            merge(own, value);
        } else {
            target.insert(name, value);
        }
    }
}
