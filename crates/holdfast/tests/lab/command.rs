//! Running the binary.

use std::io::Write as _;
use std::process::Command;

use holdfast_lab::launch::{LaunchError, Means};

/// What a command did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `holdfast` with such arguments.
pub(crate) fn holdfast(arguments: &[&str]) -> Done {
    let output = Command::new(env!("CARGO_BIN_EXE_holdfast"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Whether worlds can be made here. If not, says so where nobody overlooks it.
pub(crate) fn can_make_worlds() -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match runtime.block_on(Means::find()) {
        Ok(_) => true,
        Err(LaunchError::Missing { what, hint }) => {
            // Not captured, as the print macros are.
            writeln!(std::io::stderr(), "SKIPPED: {what}\n  hint: {hint}").unwrap();
            false
        }
        Err(error) => panic!("{error}"),
    }
}
