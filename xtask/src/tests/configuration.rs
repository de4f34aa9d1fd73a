use holdfast_core::config::{Config, RawConfig};
use serde_json::Value;

use super::{has_row, text};
use crate::config::{CA, ENDPOINT, example, fields};
use crate::fields::Kind;
use crate::schema;

#[test]
fn every_field_is_explained() {
    let page = text("docs/reference/config.md");
    for field in fields().unwrap() {
        assert!(
            has_row(&page, &format!("`{}`", field.path)),
            "{}",
            field.path
        );
        assert!(!field.meaning.is_empty(), "{}", field.path);
    }
}

#[test]
fn the_example_has_every_field_with_its_default() {
    let read: RawConfig = serde_saphyr::from_str(&example().unwrap()).unwrap();
    let expected = RawConfig {
        endpoint: Some(ENDPOINT.to_owned()),
        ca: Some(CA.into()),
        ..RawConfig::default()
    };
    assert_eq!(read, expected);
    Config::parse(read).unwrap();
    let value: Value = serde_saphyr::from_str(&example().unwrap()).unwrap();
    for field in fields().unwrap() {
        let pointer = format!("/{}", field.path.replace('.', "/"));
        assert!(value.pointer(&pointer).is_some(), "{}", field.path);
    }
}

#[test]
fn the_example_stands_on_the_page() {
    assert!(text("docs/reference/config.md").contains(&example().unwrap()));
}

#[test]
fn the_schema_accepts_the_example_and_no_field_that_does_not_exist() {
    let validator = jsonschema::validator_for(&schema::config().unwrap()).unwrap();
    let mut value: Value = serde_saphyr::from_str(&example().unwrap()).unwrap();
    assert!(validator.is_valid(&value));
    value["probe"]["intervall"] = "1s".into();
    assert!(!validator.is_valid(&value));
}

#[test]
fn every_default_in_the_schema_is_the_program_s() {
    let schema = schema::config().unwrap();
    let defaults = serde_json::to_value(RawConfig::default()).unwrap();
    for (name, property) in schema["properties"].as_object().unwrap() {
        assert_eq!(property["default"], defaults[name], "{name}");
    }
}

#[test]
fn words_are_told_apart_from_text() {
    let words = fields()
        .unwrap()
        .into_iter()
        .filter(|field| matches!(field.kind, Kind::Word(..)));
    let words: Vec<_> = words.map(|field| field.path).collect();
    assert_eq!(words, ["log.format", "log.level"]);
}
