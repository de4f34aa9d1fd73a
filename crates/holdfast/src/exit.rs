//! One table from what happened to an exit code.

use std::io;

/// How a command that ran to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done; or the answer is yes.
    Held,
    /// It ran, and the answer is no.
    NotHeld,
}

/// Why a command could not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The arguments, the configuration or a scenario make no sense.
    Input(anyhow::Error),
    /// A safety rule forbids it, and what would help.
    Refused(anyhow::Error, Option<String>),
    /// It could not be done, and what would help.
    Unable(anyhow::Error, Option<String>),
}

/// Every exit code and its meaning, for the docs.
pub const CODES: [(u8, &str); 5] = [
    (
        0,
        "Done; for questions: yes, healthy, all expectations held. Also when the reader closed the pipe",
    ),
    (
        1,
        "Ran correctly, and the answer is no: not ready, something must be mended, or an expectation of a scenario did not hold",
    ),
    (2, "Wrong arguments, configuration or scenario"),
    (
        3,
        "Could not be done: unreachable agent, address in use, missing permission or kernel feature. Worth a retry once that is mended",
    ),
    (
        4,
        "Refused by a safety rule: it would do harm. The hint names the flag that overrides it, if there is one",
    ),
];

impl Outcome {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::NotHeld => 1,
        }
    }
}

impl Failure {
    /// The exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Unable(..) => 3,
            Self::Refused(..) => 4,
        }
    }

    /// What went wrong.
    pub const fn error(&self) -> &anyhow::Error {
        match self {
            Self::Input(error) | Self::Refused(error, _) | Self::Unable(error, _) => error,
        }
    }

    /// What would help.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Input(_) => None,
            Self::Refused(_, hint) | Self::Unable(_, hint) => hint.as_deref(),
        }
    }

    /// Whether the reader of our output has gone: nobody is left to be told.
    pub fn is_broken_pipe(&self) -> bool {
        self.error().chain().any(|cause| {
            cause
                .downcast_ref::<io::Error>()
                .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
        })
    }
}

/// Wrong input.
pub fn input(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Input(error.into())
}

/// Could not be done, and nothing particular would help.
pub fn unable(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Unable(error.into(), None)
}
