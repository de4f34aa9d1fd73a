//! `docs/reference/cli.md`: every command with its options.

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::command::{commands, name};
use crate::markdown::{block, choice, code, page as markdown, paragraph, sentence, table};

/// The page.
pub(crate) fn page() -> String {
    let mut parts = vec![
        "# Commands".to_owned(),
        paragraph(
            "Each command also takes `-h` and `--help`, and `-V` and `--version`; `holdfast help COMMAND` \
         is the same as `holdfast COMMAND --help`. An option wins over its environment variable. The \
         options of `holdfast agent` can be fields of its [configuration file](config.md) instead. \
         What was asked for goes to standard output, everything else to standard error. How a command \
         ended is told by its [exit code](exit-codes.md).",
        ),
    ];
    for command in commands() {
        parts.extend(section(command));
    }
    markdown(&parts)
}

/// What stands in a row about an option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// What it means.
    pub(crate) meaning: String,
    /// What holds without it, in words.
    pub(crate) default: Option<String>,
}

/// The options of a command that are its own.
pub(crate) fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|one| !["help", "version"].contains(&one.get_id().as_str()))
}

/// An option with its short form and its value.
pub(crate) fn written(option: &Arg) -> String {
    let values = option
        .get_num_args()
        .is_some_and(|range| range.takes_values());
    let names = option
        .get_value_names()
        .filter(|_| values)
        .unwrap_or_default();
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let value = names.join(" ");
    let more = option.is_positional()
        && option
            .get_num_args()
            .is_some_and(|range| range.max_values() > 1);
    let long = match option.get_long() {
        Some(long) if value.is_empty() => format!("--{long}"),
        Some(long) => format!("--{long} {value}"),
        None if more => format!("{value}…"),
        None => value,
    };
    match option.get_short() {
        Some(short) => format!("{}, {}", code(&format!("-{short}")), code(&long)),
        None => code(&long),
    }
}

/// An option's environment variable.
pub(crate) fn environment(option: &Arg) -> Option<&str> {
    option.get_env().and_then(|name| name.to_str())
}

/// What an option's help says. A default that only the help knows stands at its end in brackets.
pub(crate) fn told(option: &Arg) -> Told {
    let help = text(option.get_help());
    let (meaning, noted) = match help.split_once(" [default: ") {
        Some((meaning, default)) => (meaning, Some(default.trim_end_matches(']'))),
        None => (help.as_str(), None),
    };
    let takes_values = option.get_action().takes_values();
    let choices: Vec<_> = option
        .get_possible_values()
        .iter()
        .filter(|one| takes_values && !one.is_hide_set())
        .map(|one| choice(one.get_name(), &text(one.get_help())))
        .collect();
    let meaning = if choices.is_empty() {
        meaning.to_owned()
    } else {
        format!("{meaning}: {}", choices.join(", "))
    };
    let set: Vec<_> = option
        .get_default_values()
        .iter()
        .filter(|_| takes_values)
        .map(|value| value.to_string_lossy())
        .collect();
    let default = match noted {
        _ if option.is_required_set() => Some("required".to_owned()),
        _ if !set.is_empty() => Some(code(&set.join(","))),
        // A word is what could be written; several words are said about it.
        Some(noted) if !noted.contains(' ') => Some(code(noted)),
        noted => noted.map(str::to_owned),
    };
    Told {
        meaning: sentence(&meaning),
        default,
    }
}

fn text(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}

fn section(mut command: Command) -> Vec<String> {
    let about = text(command.get_about());
    let usage = command.render_usage().to_string();
    let mut parts = vec![
        format!("## {}", code(name(&command))),
        sentence(&about),
        block("text", usage.trim_start_matches("Usage: ")),
    ];
    let rows: Vec<_> = command
        .get_subcommands()
        .map(|one| {
            let about = text(one.get_about());
            vec![code(one.get_name()), sentence(&about)]
        })
        .collect();
    if !rows.is_empty() {
        parts.push(table(&["Command", "Meaning"], &rows));
    }
    let rows: Vec<_> = options(&command)
        .map(|option| {
            let told = told(option);
            vec![
                written(option),
                environment(option).map(code).unwrap_or_default(),
                told.default.unwrap_or_default(),
                told.meaning,
            ]
        })
        .collect();
    if !rows.is_empty() {
        parts.push(table(
            &["Option", "Environment", "Default", "Meaning"],
            &rows,
        ));
    }
    parts
}
