//! Doing something inside a named network namespace.
//!
//! A thread that enters a namespace stays there, so each piece of work gets a thread of its own.
//! What the work makes keeps the namespace for good: a socket stays in the one it was opened in,
//! and a process starts in the one of the thread that started it.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Where `ip netns` keeps its namespaces (ip-netns(8)).
pub const DIRECTORY: &str = "/run/netns";

/// A network namespace that `ip netns add` made.
#[derive(Debug)]
pub struct Namespace {
    path: PathBuf,
    file: File,
}

/// Why work could not be done in a namespace.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// There is no such namespace, or it may not be opened.
    #[error("open network namespace {path}")]
    Open {
        /// The file that stands for the namespace.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It exists, but may not be entered.
    #[error("enter network namespace {path}")]
    Enter {
        /// The file that stands for the namespace.
        path: PathBuf,
        /// What the system said; `EPERM` without `CAP_SYS_ADMIN` (setns(2)).
        source: io::Error,
    },
    /// No thread could be started, or the work panicked in it.
    #[error("run a thread in network namespace {path}")]
    Thread {
        /// The file that stands for the namespace.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Namespace {
    /// Opens the namespace called `name`.
    pub fn open(name: &str) -> Result<Self, NamespaceError> {
        let path = Path::new(DIRECTORY).join(name);
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(NamespaceError::Open { path, source }),
        }
    }

    /// Does `work` on a thread inside the namespace and waits for it.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        let enter_and_work = || {
            move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))
                .map_err(|errno| NamespaceError::Enter {
                    path: self.path.clone(),
                    source: errno.into(),
                })?;
            Ok(work())
        };
        let thread_failed = |source| NamespaceError::Thread {
            path: self.path.clone(),
            source,
        };
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .spawn_scoped(scope, enter_and_work)
                .map_err(thread_failed)?
                .join()
                .map_err(|_| thread_failed(io::Error::other("it panicked")))?
        })
    }
}
