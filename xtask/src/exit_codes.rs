//! `docs/reference/exit-codes.md`: what the program's end means.

use holdfast::exit::CODES;

use crate::markdown::{code, page as markdown, paragraph, sentence, table};

/// The page.
pub(crate) fn page() -> String {
    let rows: Vec<_> = CODES
        .iter()
        .map(|(number, meaning)| vec![code(&number.to_string()), sentence(meaning)])
        .collect();
    markdown(&[
        "# Exit codes".to_owned(),
        paragraph(
            "Every command ends with one of these. Any other code is a bug: 101 or 134 after a panic.",
        ),
        table(&["Code", "Meaning"], &rows),
    ])
}
