//! The generated files agree with the repository, and with the program.

mod cases;
mod command_line;
mod configuration;
mod drift;
mod schemas;
mod vocabularies;

use crate::files::generated;

/// The text of a generated file.
fn text(path: &str) -> String {
    let mut files = generated().unwrap().into_iter();
    let file = files.find(|file| file.path == path);
    file.unwrap_or_else(|| panic!("{path} is not generated"))
        .text
}

/// Whether a table of the page has a row that begins with this.
fn has_row(page: &str, first: &str) -> bool {
    page.lines().any(|line| {
        line.strip_prefix("| ")
            .and_then(|rest| rest.strip_prefix(first))
            .is_some_and(|rest| rest.trim_start().starts_with('|'))
    })
}
