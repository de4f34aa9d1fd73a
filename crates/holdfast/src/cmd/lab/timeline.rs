//! A run's story as it happens: one line per event.

use std::io::{self, Write};

use holdfast_lab::run::{Live, Tone};

/// Writes events as lines.
#[derive(Debug)]
pub(crate) struct Timeline {
    coloured: bool,
    named: bool,
}

impl Timeline {
    /// Lines with or without colours, and with or without the scenario's name.
    pub(crate) const fn new(coloured: bool, named: bool) -> Self {
        Self { coloured, named }
    }

    /// Writes one event.
    pub(crate) fn write(
        &self,
        to: &mut impl Write,
        scenario: &str,
        event: &Live,
    ) -> io::Result<()> {
        let named = if self.named {
            format!("{scenario:<15} ")
        } else {
            String::new()
        };
        let because = if event.reason.is_empty() {
            String::new()
        } else {
            format!("  ({})", event.reason)
        };
        let (before, after) = if self.coloured {
            (colour(event.tone), "\u{1b}[0m")
        } else {
            ("", "")
        };
        writeln!(
            to,
            "{named}{:>+8.2} s  {:<9} {before}{}{after}{because}",
            event.t_s, event.node, event.what
        )?;
        to.flush()
    }
}

/// The colour of a tone (ECMA-48 SGR).
const fn colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "\u{1b}[31m",
        Tone::Fault => "\u{1b}[1;35m",
        Tone::Good => "\u{1b}[32m",
        Tone::Plain => "",
    }
}
