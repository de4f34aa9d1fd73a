//! `holdfast egress collect`: the folder that the other commands read, fetched from Azure.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use holdfast_cloud::azure::Listing;
use holdfast_cloud::azure::folder::paths;
use serde::Serialize;

use super::{live::Azure, table};
use crate::exit::{Failure, Outcome, input, unable};

/// Arguments of `holdfast egress collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// The folder to write; it is made if it isn't there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    azure: Azure,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table for people
    Table,
    /// JSON for programs
    Json,
}

/// A list that was written.
#[derive(Debug, Serialize)]
struct Row {
    file: PathBuf,
    resources: usize,
}

/// Fetches all lists, and writes them when all of them are there.
pub(crate) fn run(arguments: &Collect, out: &mut impl Write) -> Result<Outcome, Failure> {
    let folder = &arguments.to;
    refuse_others(folder)?;
    let mut rows = Vec::new();
    let lists = arguments.azure.lists()?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("make {}", folder.display()))
        .map_err(unable)?;
    let mut files = Vec::new();
    for (listing, list) in lists {
        let file = folder.join(listing.file());
        let text = serde_json::to_string_pretty(&list).map_err(unable)? + "\n";
        files.push((file.clone(), text));
        rows.push(Row {
            file,
            resources: list.len(),
        });
    }
    write(&files).map_err(unable)?;
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&rows).map_err(unable)? + "\n",
        Output::Table => {
            let mut table = table::titled(&["FILE", "RESOURCES"]);
            for row in &rows {
                table.add_row([row.file.display().to_string(), row.resources.to_string()]);
            }
            table::text(&table)
        }
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(Outcome::Held)
}

/// Other lists in the folder would be read together with the new ones.
fn refuse_others(folder: &Path) -> Result<(), Failure> {
    let Ok(found) = paths(folder) else {
        return Ok(());
    };
    for path in found {
        let name = path.file_name().unwrap_or_default();
        if !Listing::ALL.iter().any(|it| it.file() == name) {
            return Err(input(anyhow!(
                "{}: found a list that is not of this command's making, which would be read together with the new ones; accepted: a folder without other .json files",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Writes all files beside those that are there, and only then puts them in their place: a full disk
/// leaves the folder as it was.
fn write(files: &[(PathBuf, String)]) -> anyhow::Result<()> {
    let new = |file: &Path| file.with_extension("new");
    for (at, (file, text)) in files.iter().enumerate() {
        if let Err(error) = std::fs::write(new(file), text) {
            for (file, _) in files.iter().take(at + 1) {
                // What can't be removed either changes nothing: it is no list.
                std::fs::remove_file(new(file)).ok();
            }
            return Err(error).with_context(|| format!("write {}", file.display()));
        }
    }
    for (file, _) in files {
        std::fs::rename(new(file), file).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(())
}
