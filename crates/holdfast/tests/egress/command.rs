//! Running the binary.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

/// What a command did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `holdfast` with such arguments and such standard input.
pub(crate) fn holdfast(arguments: &[&str], input: &str) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdfast"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || match stdin.write_all(input.as_bytes()) {
            // It stops reading after the first bad row.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => panic!("{error}"),
            _ => {}
        });
        child.wait_with_output().unwrap()
    });
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
