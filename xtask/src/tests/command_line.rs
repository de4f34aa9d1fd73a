use std::collections::BTreeSet;

use clap::{Command, CommandFactory as _};
use holdfast::args::Cli;

use super::{has_row, text};
use crate::cli::{environment, options, told, written};
use crate::command::{commands, name};
use crate::config::{agent, fields, flag};
use crate::files::generated;

#[test]
fn every_option_is_explained_under_its_command_and_in_its_man_page() {
    let page = text("docs/reference/cli.md");
    for command in commands() {
        let name = name(&command);
        let heading = format!("\n## `{name}`\n");
        let (_, section) = page.split_once(&heading).expect(name);
        let section = section.split("\n## ").next().unwrap();
        let man = text(&format!("docs/man/{}.1", name.replace(' ', "-")));
        assert!(section.contains(&command.get_about().unwrap().to_string()));
        for option in options(&command) {
            let told = told(option);
            let row = written(option).replace('|', "\\|");
            assert!(has_row(section, &row), "{name}: {row}");
            assert!(!told.meaning.is_empty(), "{name}: {row} has no meaning");
            assert!(section.contains(&told.meaning), "{name}: {row}");
            if let Some(long) = option.get_long() {
                let long = long.replace('-', "\\-");
                assert!(man.contains(&format!("\\-\\-{long}")), "{name}: {row}");
            }
            if let Some(name) = environment(option) {
                assert!(section.contains(&format!("| `{name}`")), "{name}");
                assert!(man.contains(name), "{name}");
            }
        }
    }
}

#[test]
fn every_option_is_completed() {
    for file in ["_holdfast", "holdfast.bash", "holdfast.fish"] {
        let completions = text(&format!("deploy/completions/{file}"));
        for command in commands() {
            assert!(completions.contains(command.get_name()), "{file}");
            for long in options(&command).filter_map(|option| option.get_long()) {
                assert!(completions.contains(long), "{file}: {long}");
            }
        }
    }
}

#[test]
fn every_option_of_the_agent_has_its_environment_and_its_field() {
    let agent = agent().unwrap();
    let fields = fields().unwrap();
    for option in options(&agent) {
        let long = option.get_long().unwrap();
        let expected = format!("HOLDFAST_{}", long.replace('-', "_").to_uppercase());
        // What may be given several times is one list in the environment.
        let is_list = option.get_value_delimiter().is_some();
        let found = environment(option).expect(long);
        assert!(
            found == expected || is_list && found == format!("{expected}S"),
            "--{long} has {found}"
        );
        let field = fields.iter().find(|field| {
            flag(&agent, &field.path).is_some_and(|one| one.get_long() == Some(long))
        });
        assert_eq!(field.is_some(), long != "config", "--{long}");
        if let Some(field) = field {
            assert_eq!(field.is_list, is_list, "--{long}");
        }
    }
}

#[test]
fn the_help_of_the_agent_tells_the_defaults_of_the_configuration() {
    let agent = agent().unwrap();
    let page = text("docs/reference/config.md");
    let parts = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        parts.map(str::to_owned).collect()
    };
    for field in fields().unwrap() {
        let Some(option) = flag(&agent, &field.path) else {
            continue;
        };
        let row = format!("| `{}` ", field.path);
        let row = page.lines().find(|line| line.starts_with(&row)).unwrap();
        let default = row.split('|').nth(2).unwrap().trim();
        match told(option).default {
            Some(said) if default.contains(' ') => {
                assert!(
                    parts(&said).is_superset(&parts(default)),
                    "{}: {said}",
                    field.path
                );
            }
            Some(said) => assert_eq!(said, default, "{}", field.path),
            // A switch is off unless it is given.
            None => assert!(
                ["none", "required", "`false`"].contains(&default),
                "{}",
                field.path
            ),
        }
    }
}

#[test]
fn hidden_commands_stay_hidden() {
    let mut hidden = Vec::new();
    collect(&Cli::command(), false, "", &mut hidden);
    assert!(hidden.iter().any(|(path, _)| path == "lab actor client"));
    for file in generated().unwrap() {
        for (path, about) in &hidden {
            let traces = [
                path.clone(),
                path.replace(' ', "-"),
                path.replace(' ', "__subcmd__"),
                about.clone(),
            ];
            for trace in traces {
                let of_holdfast = format!("holdfast {trace}");
                let is_there =
                    file.text
                        .contains(if trace == *path { &of_holdfast } else { &trace });
                assert!(!is_there, "{} tells of {trace}", file.path);
            }
        }
    }
}

/// The paths of hidden commands, below the program's name, and what is said about them.
fn collect(command: &Command, is_hidden: bool, path: &str, hidden: &mut Vec<(String, String)>) {
    for one in command.get_subcommands() {
        let path = format!("{path} {}", one.get_name()).trim().to_owned();
        let is_hidden = is_hidden || one.is_hide_set();
        if is_hidden {
            let about = one.get_about().map(ToString::to_string);
            hidden.push((path.clone(), about.unwrap()));
        }
        collect(one, is_hidden, &path, hidden);
    }
}
