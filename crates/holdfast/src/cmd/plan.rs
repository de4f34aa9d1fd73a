//! `holdfast plan`: the decisions of Holdfast on facts that are given, with nothing touched.

pub mod egress;

use std::io::{BufRead, Write};

use clap::{Args, Subcommand};

use crate::exit::{Failure, Outcome};

/// Arguments of `holdfast plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// What to decide.
    #[command(subcommand)]
    command: PlanCommand,
}

/// What can be decided on given facts.
#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// Decide, row by row, what an operation does to a node's way to the internet (Azure)
    Egress(egress::PlanEgress),
}

/// Decides.
pub(crate) fn run(
    arguments: &Plan,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    match &arguments.command {
        PlanCommand::Egress(arguments) => egress::run(arguments, input, out),
    }
}
