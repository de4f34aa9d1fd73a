use std::fmt::Debug;

use holdfast::exit::{CODES, Failure, Outcome};
use holdfast_core::reason::Reason;
use holdfast_core::status::{Source, Verdict, What};
use holdfast_lab::subject::Subject;
use holdfast_node::metrics::REFERENCE;
use schemars::JsonSchema;
use serde_json::{Error, Value, from_value};

use super::{has_row, text};
use crate::vocabulary::words;

/// The words of the schema are exactly `all`, in this order, and each has a row on the page.
fn agree<T: JsonSchema + PartialEq + Debug>(
    all: &[T],
    read: impl Fn(Value) -> Result<T, Error>,
    word: impl Fn(&T) -> &'static str,
    page: &str,
) {
    let page = text(page);
    let mut found = Vec::new();
    for known in words::<T>().unwrap() {
        let value = read(known.word.as_str().into()).unwrap();
        assert_eq!(word(&value), known.word);
        let row = format!("`{}`", known.word);
        assert!(has_row(&page, &row), "no row for {row}");
        assert!(page.contains(&known.meaning), "no meaning of {row}");
        found.push(value);
    }
    assert_eq!(found, all);
}

#[test]
fn every_reason_is_listed_and_explained() {
    agree(
        &Reason::ALL,
        from_value,
        |one| one.as_str(),
        "docs/reference/reasons.md",
    );
}

#[test]
fn every_verdict_is_listed_and_explained() {
    agree(
        &Verdict::ALL,
        from_value,
        |one| one.as_str(),
        "docs/reference/status.md",
    );
}

#[test]
fn every_action_is_listed_and_explained() {
    agree(
        &What::ALL,
        from_value,
        |one| one.as_str(),
        "docs/reference/status.md",
    );
}

#[test]
fn every_source_is_explained_with_the_status_and_with_the_metrics() {
    let all = Source::ALL;
    for page in ["docs/reference/status.md", "docs/reference/metrics.md"] {
        agree(&all, from_value, |one| one.as_str(), page);
    }
}

#[test]
fn every_subject_is_listed() {
    let found: Vec<Subject> = words::<Subject>()
        .unwrap()
        .into_iter()
        .map(|known| known.word.parse().unwrap())
        .collect();
    assert_eq!(found, Subject::ALL);
}

#[test]
fn every_metric_is_explained() {
    let page = text("docs/reference/metrics.md");
    for (name, _, labels, meaning) in REFERENCE {
        assert!(has_row(&page, &format!("`{name}`")), "{name}");
        assert!(page.contains(meaning), "{name}");
        for label in labels.split(", ").filter(|label| !label.is_empty()) {
            assert!(page.contains(&format!("`{label}`")), "{name} {label}");
        }
    }
}

#[test]
fn every_exit_code_is_explained() {
    let page = text("docs/reference/exit-codes.md");
    for (code, meaning) in CODES {
        assert!(has_row(&page, &format!("`{code}`")), "{code}");
        assert!(page.contains(meaning), "{code}");
    }
    let problem = || anyhow::anyhow!("a problem");
    let used = [
        Outcome::Held.code(),
        Outcome::NotHeld.code(),
        Failure::Input(problem()).code(),
        Failure::Unable(problem(), None).code(),
    ];
    for code in used {
        assert!(CODES.iter().any(|(known, _)| *known == code), "{code}");
    }
}
