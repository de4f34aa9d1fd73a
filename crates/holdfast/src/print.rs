//! The only module that writes to the terminal.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::exit::Failure;

/// Standard output for what was asked, standard error for everything else.
pub(crate) fn streams() -> (io::Stdout, io::Stderr) {
    (io::stdout(), io::stderr())
}

/// Prints help, version or a usage error where it belongs.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed terminal can't be told that it is closed.
    drop(error.print());
    u8::try_from(error.exit_code()).unwrap_or(2).into()
}

/// `error: …`, its causes and a hint.
pub(crate) fn failure(failure: &Failure) {
    let mut said = failure.error().to_string();
    let mut lines = vec![format!("error: {said}")];
    for cause in failure.error().chain().skip(1) {
        let cause = cause.to_string();
        if !said.contains(&cause) {
            lines.push(format!("  caused by: {cause}"));
            said = cause;
        }
    }
    if let Some(hint) = failure.hint() {
        lines.push(format!("\nhint: {hint}"));
    }
    let text = lines.join("\n") + "\n";
    // A closed terminal can't be told that it is closed.
    drop(io::stderr().write_all(text.as_bytes()));
}

/// Whether text for this stream may be coloured (<https://no-color.org>).
pub(crate) fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
