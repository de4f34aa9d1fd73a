//! Man pages: `docs/man`, one for each command.

use std::io;

use anyhow::Result;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use holdfast::exit::CODES;

use crate::command;
use crate::files::Generated;
use crate::markdown::sentence;

/// One page for each command.
pub(crate) fn files() -> Result<Vec<Generated>> {
    command::commands().iter().map(page).collect()
}

fn page(command: &Command) -> Result<Generated> {
    let man = Man::new(command.clone())
        .source(concat!("holdfast ", env!("CARGO_PKG_VERSION")))
        .manual("Holdfast")
        // No date, so that only a change of the program changes the page. An empty one would be
        // left out, and the rest of the title move into its place.
        .date(" ");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    exit_status(&mut text)?;
    if command.get_name() != command::NAME {
        see_also(&mut text)?;
    }
    Ok(Generated {
        path: format!("docs/man/{}", man.get_filename()),
        text: String::from_utf8(text)?,
    })
}

fn exit_status(text: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in CODES {
        roff.control("TP", []);
        roff.text([bold(code.to_string())]);
        roff.text([roman(sentence(meaning))]);
    }
    roff.to_writer(text)
}

fn see_also(text: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold(command::NAME), roman("(1)")]);
    roff.to_writer(text)
}
