//! What `holdfast adopt` writes down, and how `holdfast release` finds the way back from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kubeconfig::{Kubeconfig, KubeconfigError, Target};

#[cfg(test)]
mod tests;

/// What stands in the record beside an adopted kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The form of this record.
    pub version: u32,
    /// The two fields as they were.
    pub before: Target,
    /// The two fields as they were written.
    pub after: Target,
    /// SHA-256 of the file as it was.
    pub before_sha256: String,
    /// SHA-256 of the file as it was written.
    pub after_sha256: String,
}

impl Record {
    /// The form that this version writes and reads.
    pub const VERSION: u32 = 1;
}

/// The way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Return {
    /// The file as it was, to the byte.
    Exact(String),
    /// The file as it is, with the two fields as they were: somebody has changed something else.
    Fields(String),
    /// It is back already.
    There,
}

/// Finds the way back from `text`. `backup` is the copy that was kept, `sha256` gives a text's sum.
///
/// # Errors
/// The fields are not the ones that were written, so that undoing them would undo somebody else's
/// work.
pub fn way_back(
    text: &str,
    record: &Record,
    backup: Option<&str>,
    sha256: impl Fn(&str) -> String,
) -> Result<Return, KubeconfigError> {
    let sum = sha256(text);
    if sum == record.before_sha256 {
        return Ok(Return::There);
    }
    let kubeconfig = Kubeconfig::parse(text)?;
    let now = kubeconfig.target();
    if now == record.before {
        return Ok(Return::There);
    }
    if now.server != record.after.server {
        return Err(KubeconfigError {
            field: format!("clusters[{}].cluster.server", kubeconfig.cluster),
            found: "another server than the one that was adopted".to_owned(),
            accepted: "the server that `holdfast adopt` wrote, or the one before it",
        });
    }
    if sum == record.after_sha256
        && let Some(backup) = backup.filter(|backup| sha256(backup) == record.before_sha256)
    {
        return Ok(Return::Exact(backup.to_owned()));
    }
    let undone = kubeconfig.with(&record.before)?;
    Ok(if sha256(&undone) == record.before_sha256 {
        Return::Exact(undone)
    } else {
        Return::Fields(undone)
    })
}

/// What was done with one kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adoption {
    /// The file itself, behind all links.
    pub kubeconfig: String,
    /// What was done.
    pub outcome: AdoptionOutcome,
    /// The server before.
    pub server_before: String,
    /// The server now; with `--dry-run` the one that would be.
    pub server: String,
    /// The name that the server's certificate must be for, before; absent where it was the server's
    /// host.
    pub tls_server_name_before: Option<String>,
    /// The same now.
    pub tls_server_name: Option<String>,
    /// What was verified, in words, in order.
    pub evidence: Vec<String>,
}

/// What `holdfast adopt` or `holdfast release` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adoptions {
    /// One for each kubeconfig, in the order in which they were given.
    pub kubeconfigs: Vec<Adoption>,
}

/// What was done with a kubeconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdoptionOutcome {
    /// It leads to the agent now.
    Adopted,
    /// It led to the agent before.
    AlreadyAdopted,
    /// It would be adopted without `--dry-run`.
    WouldAdopt,
    /// It is as it was before, to the byte.
    Released,
    /// Its two fields are as they were; something else was changed meanwhile, and is kept.
    FieldsReleased,
    /// It does not lead to the agent any more.
    AlreadyReleased,
    /// It would be released without `--dry-run`.
    WouldRelease,
}

impl AdoptionOutcome {
    /// The outcome as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Adopted => "adopted",
            Self::AlreadyAdopted => "already-adopted",
            Self::WouldAdopt => "would-adopt",
            Self::Released => "released",
            Self::FieldsReleased => "fields-released",
            Self::AlreadyReleased => "already-released",
            Self::WouldRelease => "would-release",
        }
    }

    /// Whether the file was written, so that whoever reads it at its start must be restarted.
    pub const fn has_changed(self) -> bool {
        matches!(self, Self::Adopted | Self::Released | Self::FieldsReleased)
    }
}
