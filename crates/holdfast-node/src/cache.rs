//! The file of the last good set: read with suspicion, written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdfast_core::cache::{self, CacheError, Entry, MOST_BYTES, Remembered};
use rustix::process::geteuid;

#[cfg(test)]
mod tests;

/// Why the file is not used or could not be written.
#[derive(Debug, thiserror::Error)]
enum FileError {
    /// The kernel's word.
    #[error("{what} {path}: {source}")]
    Kernel {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Somebody else may have written it.
    #[error(
        "read {path}: found {found}; accepted: a file of this user or root that nobody else may write"
    )]
    Untrusted { path: PathBuf, found: String },
    /// Its contents.
    #[error("read {path}: {source}")]
    Contents { path: PathBuf, source: CacheError },
}

/// Where the set is kept, and for which endpoint.
#[derive(Clone, Debug)]
pub(crate) struct CacheFile {
    path: PathBuf,
    endpoint: String,
}

impl CacheFile {
    pub(crate) fn new(path: &Path, endpoint: String) -> Self {
        Self {
            path: path.to_owned(),
            endpoint,
        }
    }

    /// What an earlier life wrote down. A file that is not there is no failure.
    pub(crate) fn read(&self, now: SystemTime) -> Remembered {
        match self.load() {
            Ok(Some(cache)) => {
                let saved = UNIX_EPOCH.checked_add(Duration::from_secs(cache.saved));
                // A clock that went backwards makes the file new, not the agent fail.
                let age = saved.and_then(|saved| now.duration_since(saved).ok());
                Remembered {
                    entries: cache.entries,
                    age: age.unwrap_or_default(),
                    failure: None,
                }
            }
            Ok(None) => Remembered::default(),
            Err(error) => Remembered {
                failure: Some(error.to_string()),
                ..Remembered::default()
            },
        }
    }

    fn load(&self) -> Result<Option<cache::Cache>, FileError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.kernel("read", error)),
        };
        let metadata = file.metadata().map_err(|e| self.kernel("read", e))?;
        self.check(&metadata)?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|e| self.kernel("read", e))?;
        let decoded = cache::decode(&text, &self.endpoint);
        decoded.map(Some).map_err(|source| FileError::Contents {
            path: self.path.clone(),
            source,
        })
    }

    fn check(&self, metadata: &fs::Metadata) -> Result<(), FileError> {
        let found = if !metadata.is_file() {
            "something that is no file".to_owned()
        } else if metadata.uid() != 0 && metadata.uid() != geteuid().as_raw() {
            format!("a file of user {}", metadata.uid())
        } else if metadata.mode() & 0o022 != 0 {
            format!("mode {:04o}", metadata.mode() & 0o7777)
        } else if metadata.len() > MOST_BYTES as u64 {
            format!("{} bytes, more than the agent ever writes", metadata.len())
        } else {
            return Ok(());
        };
        Err(FileError::Untrusted {
            path: self.path.clone(),
            found,
        })
    }

    /// Replaces the file; what went wrong, in words. Blocks on the disk.
    ///
    /// A reader sees the old file or the new one, also after a crash: the new one is whole on the disk
    /// before it takes the name (rename(2), fsync(2)).
    pub(crate) fn write(&self, now: SystemTime, entries: &[Entry]) -> Result<(), String> {
        self.replace(now, entries)
            .map_err(|error| error.to_string())
    }

    fn replace(&self, now: SystemTime, entries: &[Entry]) -> Result<(), FileError> {
        let saved = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = cache::encode(&self.endpoint, saved.as_secs(), entries);
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        let failed = |error| self.kernel("write", error);
        // What a crash left behind; created anew, so that no link is followed.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&beside).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::rename(&beside, &self.path).map_err(failed)?;
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or_else(|| Path::new("."))).map_err(failed)?;
        folder.sync_all().map_err(failed)
    }

    fn kernel(&self, what: &'static str, source: io::Error) -> FileError {
        FileError::Kernel {
            what,
            path: self.path.clone(),
            source,
        }
    }
}
