//! Reads the configuration file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_core::config::RawConfig;

/// A file that could not be read as configuration.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The kernel's word.
    #[error("read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// The YAML reader's word, with line and column.
    #[error("{path}: {message}")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong, where.
        message: String,
    },
}

/// Reads one YAML document.
///
/// # Errors
/// The file can't be read, or has a field that is unknown, twice there, or of another kind.
pub fn read(path: &Path) -> Result<RawConfig, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| ReadError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let name = path.display().to_string();
    let in_file = serde_saphyr::render_options! { source_name: Some(name.as_str()) };
    serde_saphyr::from_str(&text).map_err(|error| ReadError::Wrong {
        path: path.to_owned(),
        // Who reports it says that it is one.
        message: error
            .render_with_options(in_file)
            .trim_start_matches("error: ")
            .to_owned(),
    })
}
