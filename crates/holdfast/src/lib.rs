//! The `holdfast` program as a library: arguments, commands, printing and exit codes. The binary and
//! the generator of man pages and reference docs share it.

pub mod args;
pub mod cmd;
pub mod exit;
mod print;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::exit::{Failure, Outcome};

/// Runs the program with these arguments, the first of which is its name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return print::usage(&error),
    };
    match run(cli) {
        Ok(outcome) => outcome.code().into(),
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            print::failure(&failure);
            failure.code().into()
        }
    }
}

fn run(cli: Cli) -> Result<Outcome, Failure> {
    let (mut out, mut err) = print::streams();
    match cli.command {
        Command::Adopt(adopt) => cmd::adopt::adopt(&adopt, &mut out),
        Command::Agent(agent) => cmd::agent::run(agent),
        Command::Check(check) => cmd::check::run(&check, &mut out),
        Command::Demo(demo) => cmd::demo::run(&demo, &mut out, &mut err),
        Command::Egress(egress) => cmd::egress::run(&egress, &mut out),
        Command::Lab(lab) => cmd::lab::run(lab, &mut out, &mut err),
        Command::Plan(plan) => cmd::plan::run(&plan, &mut std::io::stdin().lock(), &mut out),
        Command::NodeCheck(check) => cmd::node_check::run(&check, &mut out),
        Command::Release(release) => cmd::adopt::release(&release, &mut out),
        Command::Status(status) => cmd::status::run(&status, &mut out),
        Command::Watch(watch) => cmd::watch::run(&watch, &mut out),
    }
}
