//! Markdown that reads well as plain text too.

/// What stands at the end of each page.
const FOOT: &str = "_Generated from the program by `cargo xtask generate`._";

/// Columns of a paragraph.
const WIDTH: usize = 100;

/// A page of these parts, with an empty line between them.
pub(crate) fn page(parts: &[String]) -> String {
    let mut text = String::new();
    for part in parts {
        text += part.trim_end();
        text += "\n\n";
    }
    text + FOOT + "\n"
}

/// A table whose columns line up, except for the last one. Columns without content are left out.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let columns: Vec<Vec<String>> = header
        .iter()
        .enumerate()
        .map(|(at, title)| {
            let cell =
                |row: &Vec<String>| row.get(at).map_or_else(String::new, |text| escape(text));
            std::iter::once((*title).to_owned())
                .chain(rows.iter().map(cell))
                .collect::<Vec<_>>()
        })
        .filter(|column| column.iter().skip(1).any(|cell| !cell.is_empty()))
        .collect();
    let mut lines = vec![vec![String::from("|")]; rows.len() + 2];
    for (at, column) in columns.iter().enumerate() {
        let is_last = at + 1 == columns.len();
        let widest = if is_last {
            column.first()
        } else {
            column.iter().max_by_key(|cell| width(cell))
        };
        let widest = widest.map_or(0, |cell| width(cell));
        let (head, body) = column.split_at(1);
        let rule = "-".repeat(widest);
        let cells = head.iter().chain(std::iter::once(&rule)).chain(body);
        for (line, cell) in lines.iter_mut().zip(cells) {
            line.push(if is_last {
                format!(" {cell} |")
            } else {
                format!(" {cell:widest$} |")
            });
        }
    }
    let lines: Vec<_> = lines.iter().map(|cells| cells.concat()).collect();
    lines.join("\n")
}

/// A paragraph, in lines of moderate length.
pub(crate) fn paragraph(text: &str) -> String {
    wrapped(text, WIDTH).join("\n")
}

/// The text in lines of up to so many columns.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= columns => {
                *line += " ";
                *line += &word;
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// What stays on one line: words, program text and the text of links.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_open = |word: &&mut String| {
            word.matches('`').count() % 2 == 1
                || word.matches('[').count() > word.matches(']').count()
        };
        match words.last_mut().filter(is_open) {
            Some(begun) => {
                *begun += " ";
                *begun += word;
            }
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Program text.
pub(crate) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// One of the words that are accepted, with its meaning.
pub(crate) fn choice(word: &str, meaning: &str) -> String {
    let meaning = meaning.trim_end_matches('.');
    let mut letters = meaning.chars();
    let (first, second) = (letters.next(), letters.next());
    let meaning = match (first, second) {
        // `A table`, but not `JSON`.
        (Some(first), Some(second)) if !second.is_uppercase() => {
            meaning.replacen(first, &first.to_lowercase().to_string(), 1)
        }
        _ => meaning.to_owned(),
    };
    format!("{} ({meaning})", code(word))
}

/// A block of program text in some language.
pub(crate) fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end())
}

/// The text on one line, with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.ends_with(['.', '!', '?', ':']) {
        text
    } else {
        text + "."
    }
}

/// A bar would end the cell, even between backticks (GitHub Flavored Markdown, section 4.10).
fn escape(cell: &str) -> String {
    cell.replace('|', "\\|")
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up_and_leave_out_empty_columns() {
        let rows = [
            ["`a`", "", "One."].map(str::to_owned).to_vec(),
            ["`bb|c`", "", "The other."].map(str::to_owned).to_vec(),
        ];
        assert_eq!(
            table(&["Name", "Default", "Meaning"], &rows),
            "| Name    | Meaning |\n\
             | ------- | ------- |\n\
             | `a`     | One. |\n\
             | `bb\\|c` | The other. |"
        );
    }

    #[test]
    fn links_and_program_text_stay_on_one_line() {
        let text = "Read the `holdfast lab run` and the [exit codes](e.md) now";
        assert_eq!(
            wrapped(text, 18),
            [
                "Read the",
                "`holdfast lab run`",
                "and the",
                "[exit codes](e.md)",
                "now"
            ]
        );
    }

    #[test]
    fn meanings_of_choices_go_on_in_the_sentence() {
        assert_eq!(choice("table", "A table."), "`table` (a table)");
        assert_eq!(choice("json", "JSON for all"), "`json` (JSON for all)");
    }

    #[test]
    fn sentences_end_once() {
        assert_eq!(sentence("Always\n 1"), "Always 1.");
        assert_eq!(sentence("Always 1."), "Always 1.");
        assert_eq!(sentence(""), "");
    }
}
