//! The command line as people may know it: without hidden commands, which completions and man pages
//! would otherwise give away.

use clap::builder::Resettable;
use clap::{Command, CommandFactory as _};
use holdfast::args::Cli;

/// The name of the program.
pub(crate) const NAME: &str = "holdfast";

/// The program without its hidden commands.
pub(crate) fn visible() -> Command {
    without_hidden(&Cli::command())
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
}

/// The same, complete and without `help`: every command in order, each with its whole name.
pub(crate) fn commands() -> Vec<Command> {
    let mut root = visible().disable_help_subcommand(true);
    root.build();
    let mut all = Vec::new();
    flatten(&root, &mut all);
    all
}

/// A command's whole name.
pub(crate) fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

fn without_hidden(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    Command::new(command.get_name().to_owned())
        .about(Resettable::from(command.get_about().cloned()))
        .long_about(Resettable::from(command.get_long_about().cloned()))
        .args(
            command
                .get_arguments()
                .filter(|one| !one.is_hide_set())
                .cloned(),
        )
        .subcommand_required(command.is_subcommand_required_set())
        .subcommand_value_name("COMMAND")
        .arg_required_else_help(command.is_arg_required_else_help_set())
        .subcommands(shown.map(without_hidden))
}

fn flatten(command: &Command, all: &mut Vec<Command>) {
    all.push(command.clone());
    for one in command.get_subcommands() {
        flatten(one, all);
    }
}
