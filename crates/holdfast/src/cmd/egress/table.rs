//! Tables for people: aligned, without lines, coloured on a terminal.

use std::io;

use comfy_table::{Cell, Color, Table, presets};

use crate::print;

/// An empty table with these titles.
pub(super) fn titled(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(titles);
    if print::colours(&io::stdout()) {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// A word in the colour of how good it is: what gets out, a path, or a verdict.
pub(super) fn judged(word: &str) -> Cell {
    let colour = match word {
        "none" | "deny" => Color::Red,
        "unknown" | "allow_warn" | "tcp" | "udp" | "default_outbound" => Color::Yellow,
        _ if word.starts_with("none_") => Color::Red,
        _ => Color::Green,
    };
    Cell::new(word).fg(colour)
}

/// Its text, without blanks at the ends of lines.
pub(super) fn text(table: &Table) -> String {
    table
        .lines()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}
