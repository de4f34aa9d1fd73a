//! What can keep systemd from answering or obeying, in the field's words.

use std::time::Duration;

/// Why systemd could not be asked, or did not do it.
#[derive(Debug, thiserror::Error)]
pub enum SystemdError {
    /// Another program is the first process.
    #[error("this machine was not booted with systemd (there is no /run/systemd/system)")]
    NotBooted,
    /// There is no system bus to talk over.
    #[error("connect to the system bus: {why}")]
    NoBus {
        /// What the library or the kernel says.
        why: String,
    },
    /// There is no such unit.
    #[error("{unit}: systemd knows no such unit")]
    NoSuchUnit {
        /// The unit.
        unit: String,
    },
    /// systemd would want a password for this.
    #[error(
        "{what}: not permitted; run as root, or give this user \
         org.freedesktop.systemd1.manage-units in a polkit rule"
    )]
    Denied {
        /// What was asked for.
        what: String,
    },
    /// A restart went wrong.
    #[error("restart {unit}: the job ended as {result:?}, and the unit is {state}")]
    Job {
        /// The unit.
        unit: String,
        /// How the job ended: canceled, timeout, failed, dependency or skipped.
        result: String,
        /// The unit's state after it.
        state: String,
    },
    /// A restart takes longer than systemd itself allows by default.
    #[error("restart {unit}: not done after {} s", after.as_secs())]
    Slow {
        /// The unit.
        unit: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// Any other failure.
    #[error("{what}: {why}")]
    Failed {
        /// What was asked for.
        what: String,
        /// What was answered.
        why: String,
    },
}

impl SystemdError {
    pub(super) fn failed(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::Failed {
            what: what.into(),
            why: why.to_string(),
        }
    }
}
