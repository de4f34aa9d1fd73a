//! Every generated file, and how the repository's differ from them.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::{cli, completions, config, exit_codes, man, metrics, reasons, schema, status};

/// Nothing in these directories is written by hand.
const DIRECTORIES: [&str; 4] = [
    "deploy/completions",
    "docs/man",
    "docs/reference",
    "docs/schema",
];

/// A file as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generated {
    /// Its path in the repository.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) text: String,
}

/// How a file in the repository differs from what is generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// It says something else.
    Changed(String),
    /// It is not there.
    Missing(String),
    /// Nothing generates it.
    Stray(String),
}

impl Difference {
    /// The command that mends it.
    pub(crate) fn mend(&self) -> String {
        match self {
            Self::Changed(_) | Self::Missing(_) => "cargo xtask generate".to_owned(),
            Self::Stray(path) => format!("rm {path}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(path) => write!(f, "{path}: changed"),
            Self::Missing(path) => write!(f, "{path}: missing"),
            Self::Stray(path) => write!(f, "{path}: nothing generates it"),
        }
    }
}

/// The root of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Everything that is generated.
pub(crate) fn generated() -> Result<Vec<Generated>> {
    let mut files: Vec<_> = [
        ("cli.md", cli::page()),
        ("config.md", config::page()?),
        ("exit-codes.md", exit_codes::page()),
        ("metrics.md", metrics::page()?),
        ("reasons.md", reasons::page()?),
        ("status.md", status::page()?),
    ]
    .map(|(name, text)| Generated {
        path: format!("docs/reference/{name}"),
        text,
    })
    .to_vec();
    files.extend(schema::files()?);
    files.extend(man::files()?);
    files.extend(completions::files()?);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Writes what differs; returns the paths of what was written.
pub(crate) fn write<'a>(root: &Path, files: &'a [Generated]) -> Result<Vec<&'a str>> {
    let mut written = Vec::new();
    for file in files {
        let path = root.join(&file.path);
        if read(&path)?.as_ref() == Some(&file.text) {
            continue;
        }
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)
                .with_context(|| format!("make {}", directory.display()))?;
        }
        fs::write(&path, &file.text).with_context(|| format!("write {}", file.path))?;
        written.push(file.path.as_str());
    }
    Ok(written)
}

/// How the repository at `root` differs from `files`.
pub(crate) fn differences(root: &Path, files: &[Generated]) -> Result<Vec<Difference>> {
    let mut differences = Vec::new();
    for file in files {
        match read(&root.join(&file.path))? {
            None => differences.push(Difference::Missing(file.path.clone())),
            Some(text) if text != file.text => {
                differences.push(Difference::Changed(file.path.clone()));
            }
            Some(_) => {}
        }
    }
    let known: BTreeSet<_> = files.iter().map(|file| file.path.as_str()).collect();
    for path in found(root)? {
        if !known.contains(path.as_str()) {
            differences.push(Difference::Stray(path));
        }
    }
    Ok(differences)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("read {}", path.display())),
    }
}

/// The paths of the files in the generated directories, in order.
fn found(root: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for directory in DIRECTORIES {
        let entries = match fs::read_dir(root.join(directory)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("read {directory}")),
        };
        for entry in entries {
            let name = entry?.file_name();
            found.insert(format!("{directory}/{}", name.to_string_lossy()));
        }
    }
    Ok(found)
}
