//! Changes two fields of a kubeconfig where they stand.

use std::ops::Range;

use serde_json::Value;

use super::{Kubeconfig, KubeconfigError, Target, read, wrong};

const NAME: &str = "tls-server-name";
const ONE_LINE: &str =
    "fields that each stand on a line or between braces, not shared by an anchor";

/// One piece of text in the place of another.
struct Change {
    place: Range<usize>,
    text: String,
}

/// The text with `target`'s fields.
pub(super) fn edited(of: &Kubeconfig<'_>, target: &Target) -> Result<String, KubeconfigError> {
    let mut changes = Vec::new();
    if of.server.value != target.server {
        changes.push(Change {
            place: of.server.span.clone(),
            text: scalar(of, &of.server.span, &target.server),
        });
    }
    match (&of.tls_server_name, &target.tls_server_name) {
        (Some(now), Some(wanted)) if now.value != *wanted => changes.push(Change {
            place: now.span.clone(),
            text: scalar(of, &now.span, wanted),
        }),
        (None, Some(wanted)) => changes.push(inserted(of, wanted)),
        (Some(now), None) => changes.push(removed(of, &now.span)),
        (Some(_), Some(_)) | (None, None) => {}
    }
    // From the end, so that the places before stay true.
    changes.sort_by_key(|change| std::cmp::Reverse(change.place.start));
    let mut text = of.text.to_owned();
    for change in changes {
        text.replace_range(change.place, &change.text);
    }
    verified(of, target, text)
}

/// Reads the result: it must be the same in all but the two fields.
fn verified(of: &Kubeconfig<'_>, target: &Target, text: String) -> Result<String, KubeconfigError> {
    let mut expected: Value = read(of.text)?;
    let path = format!("/clusters/{}/cluster", of.place);
    if let Some(Value::Object(cluster)) = expected.pointer_mut(&path) {
        cluster.insert("server".to_owned(), target.server.clone().into());
        match &target.tls_server_name {
            Some(name) => cluster.insert(NAME.to_owned(), name.clone().into()),
            None => cluster.remove(NAME),
        };
    }
    if read::<Value>(&text).is_ok_and(|value| value == expected) {
        return Ok(text);
    }
    let field = format!("clusters[{}].cluster", of.cluster);
    let found = "a server or tls-server-name that can't be changed alone";
    Err(wrong(field, found, ONE_LINE))
}

/// A value in the form in which another one stood there.
fn scalar(of: &Kubeconfig<'_>, before: &Range<usize>, value: &str) -> String {
    let before = of.text.get(before.clone()).unwrap_or_default();
    // In braces a plain value ends at a bracket, which an IPv6 address has.
    let plain = is_plain(value) && !(of.braces && value.contains(['[', ']', ',']));
    match before.chars().next() {
        Some('\'') if !value.contains('\'') => format!("'{value}'"),
        Some('"' | '\'') => quoted(value),
        _ if plain => value.to_owned(),
        _ => quoted(value),
    }
}

/// Whether YAML takes it for a string without quotes: it begins with a letter and has nothing that
/// YAML or a shorter notation of numbers and truth could mean otherwise.
fn is_plain(value: &str) -> bool {
    value.contains(['.', '/'])
        && value.starts_with(|c: char| c.is_ascii_alphabetic())
        && !value.ends_with(':')
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:/[]".contains(c))
}

/// JSON's quotes are YAML's too (YAML 1.2, section 1.2).
fn quoted(value: &str) -> String {
    Value::from(value).to_string()
}

/// `tls-server-name` after `server`: on a line of its own, or behind a comma in braces.
fn inserted(of: &Kubeconfig<'_>, name: &str) -> Change {
    let end = of.server.span.end;
    let line_start = line_start(of.text, of.server.span.start);
    let line_end = of
        .text
        .get(end..)
        .and_then(|rest| rest.find('\n'))
        .map(|at| end + at);
    if of.braces {
        // JSON that has a field per line gets another line.
        let line = of.text.get(line_start..).unwrap_or_default();
        let indentation: String = line
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect();
        let own_line = line
            .trim_start()
            .trim_start_matches(['"', '\''])
            .starts_with("server");
        let comma = if own_line {
            format!(",{}{indentation}", newline(of.text))
        } else {
            ", ".to_owned()
        };
        return Change {
            place: end..end,
            text: format!("{comma}{}: {}", quoted(NAME), quoted(name)),
        };
    }
    let indentation = of.text.get(of.indentation.clone()).unwrap_or_default();
    let name = if is_plain(name) {
        name.to_owned()
    } else {
        quoted(name)
    };
    let newline = newline(of.text);
    let (at, text) = match line_end {
        Some(at) => (at + 1, format!("{indentation}{NAME}: {name}{newline}")),
        None => (
            of.text.len(),
            format!("{newline}{indentation}{NAME}: {name}"),
        ),
    };
    Change {
        place: at..at,
        text,
    }
}

/// Takes `tls-server-name` out, with its line or with the comma before it.
fn removed(of: &Kubeconfig<'_>, value: &Range<usize>) -> Change {
    let before = of.text.get(..value.start).unwrap_or_default();
    let key = before.rfind(NAME).unwrap_or(value.start);
    let quotes = usize::from(before.get(..key).is_some_and(|b| b.ends_with(['"', '\''])));
    let key = key - quotes;
    let kept = before.get(..key).unwrap_or_default().trim_end();
    if of.braces {
        if kept.ends_with(',') {
            return Change {
                place: kept.len() - 1..value.end,
                text: String::new(),
            };
        }
        let rest = of.text.get(value.end..).unwrap_or_default();
        let comma = rest.find(',').map_or(value.end, |at| value.end + at + 1);
        return Change {
            place: key..comma,
            text: String::new(),
        };
    }
    let rest = of.text.get(value.end..).unwrap_or_default();
    let place = match rest.find('\n') {
        Some(at) => line_start(of.text, key)..value.end + at + 1,
        // The last line, without an end of its own: the end before it goes.
        None => kept.len()..of.text.len(),
    };
    Change {
        place,
        text: String::new(),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |newline| newline + 1)
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
