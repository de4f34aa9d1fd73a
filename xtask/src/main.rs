//! Chores of this repository: `cargo xtask generate` writes what is derived from the program.

mod cli;
mod command;
mod completions;
mod config;
mod exit_codes;
mod fields;
mod files;
mod man;
mod markdown;
mod metrics;
mod reasons;
mod results;
mod schema;
mod status;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::files::{Difference, generated, repository};

/// Chores of this repository
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Write schemas, reference docs, man pages and completions
    Generate {
        /// Write nothing; fail when a file is not what would be written
        #[arg(long)]
        check: bool,
    },
    /// Write docs/results from the reports that `make e2e` left
    Results {
        /// Folder of the reports
        #[arg(default_value = "target/e2e")]
        reports: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Generate { check: true } => verify(),
        Chore::Generate { check: false } => write(),
        Chore::Results { reports } => write_results(&reports),
    };
    done.unwrap_or_else(|error| {
        // A closed terminal can't be told that it is closed.
        drop(writeln!(io::stderr(), "error: {error:#}"));
        ExitCode::from(3)
    })
}

fn write() -> Result<ExitCode> {
    for path in files::write(&repository(), &generated()?)? {
        writeln!(io::stdout(), "{path}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_results(reports: &Path) -> Result<ExitCode> {
    let page = results::write(reports, &repository().join("docs/results"))?;
    writeln!(io::stdout(), "{}", page.display())?;
    Ok(ExitCode::SUCCESS)
}

fn verify() -> Result<ExitCode> {
    let differences = files::differences(&repository(), &generated()?)?;
    if differences.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut err = io::stderr();
    writeln!(err, "error: generated files are not what the program says")?;
    for difference in &differences {
        writeln!(err, "  {difference}")?;
    }
    let mends: Vec<_> = differences.iter().map(Difference::mend).collect();
    let mut mends: Vec<_> = mends.iter().map(String::as_str).collect();
    mends.dedup();
    writeln!(err, "\nhint: {}", mends.join(" && "))?;
    Ok(ExitCode::from(1))
}
