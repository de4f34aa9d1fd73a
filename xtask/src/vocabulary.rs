//! The words of a closed vocabulary with their meanings, from its schema.

use anyhow::{Context as _, Result};
use schemars::JsonSchema;
use serde_json::Value;

use crate::markdown::{code, sentence, table};
use crate::schema;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it is written.
    pub(crate) word: String,
    /// What it means, in a sentence.
    pub(crate) meaning: String,
}

/// The words of an enum, in the order of its declaration.
pub(crate) fn words<T: JsonSchema>() -> Result<Vec<Word>> {
    schema::read::<T>("Words")
        .and_then(|schema| of(&schema))
        .with_context(|| format!("read the words of {}", T::schema_name()))
}

/// The words of an enum's schema. A word without a meaning is an error.
pub(crate) fn of(schema: &Value) -> Result<Vec<Word>> {
    let variants = schema
        .get("oneOf")
        .and_then(Value::as_array)
        .context("no enum")?;
    variants
        .iter()
        .map(|variant| {
            let text = |key| variant.get(key).and_then(Value::as_str);
            Ok(Word {
                word: text("const")
                    .context("a word without a doc comment")?
                    .to_owned(),
                meaning: sentence(text("description").context("a word without a meaning")?),
            })
        })
        .collect()
}

/// The words and meanings as a table.
pub(crate) fn listed(title: &str, words: &[Word]) -> String {
    let rows: Vec<_> = words
        .iter()
        .map(|word| vec![code(&word.word), word.meaning.clone()])
        .collect();
    table(&[title, "Meaning"], &rows)
}
