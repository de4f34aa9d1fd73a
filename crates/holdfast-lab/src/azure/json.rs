//! Fields of JSON objects; what is no object has none and gets none.

use serde_json::Value;

/// Sets a field.
pub(super) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(field.to_owned(), value.into());
    }
}

/// Sets a field under `properties`.
pub(super) fn set_property(body: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(properties) = body.get_mut("properties") {
        set(properties, field, value);
    }
}
