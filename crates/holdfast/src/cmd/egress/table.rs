//! Tables for people: aligned, without lines.

use comfy_table::{Table, presets};

/// An empty table with these titles.
pub(super) fn titled(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(titles);
    table.force_no_tty();
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// Its text, without blanks at the ends of lines.
pub(super) fn text(table: &Table) -> String {
    table
        .lines()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}
