//! The real components in a world: etcd, kube-apiserver and kube-controller-manager in the places of
//! the API servers, the kubelet's own code on the nodes.
//!
//! Nothing here starts anything: [`command`] says how each component is called, [`pki`] makes the keys
//! that they know each other by, [`Components`] finds the programs.

pub mod command;
pub mod pki;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where the suite's build puts the programs, one folder per version.
const BUILT: &str = "target/kubernetes";

/// A folder with the programs of one version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Components {
    folder: PathBuf,
}

/// The real components of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Real {
    /// The programs.
    pub components: Components,
    /// After how many seconds without a heartbeat a node is not Ready; their own figure unless given.
    pub grace_period_s: Option<u32>,
}

/// A program of Kubernetes, or one that it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Keeps the cluster's state.
    Etcd,
    /// Serves the API.
    ApiServer,
    /// Watches the nodes' leases, taints and evicts.
    ControllerManager,
    /// The kubelet's code on a runtime that only pretends to run containers.
    HollowKubelet,
    /// Asks and tells the API on a person's behalf.
    Kubectl,
}

/// Why the real components can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// No folder has them.
    #[error(
        "find the components of Kubernetes: {folder} has no {program}; e2e/kubernetes/build makes them"
    )]
    Missing {
        /// Where they were looked for.
        folder: PathBuf,
        /// The first that is not there.
        program: &'static str,
    },
}

impl Program {
    /// Every program.
    pub const ALL: [Self; 5] = [
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::HollowKubelet,
        Self::Kubectl,
    ];

    /// Its file's name. The hollow kubelet is kubemark's (kubernetes, `cmd/kubemark`).
    pub const fn file(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::HollowKubelet => "kubemark",
            Self::Kubectl => "kubectl",
        }
    }
}

impl Components {
    /// Those in `folder`, or else of the newest version that was built below the working directory.
    pub fn find(folder: Option<&Path>) -> Result<Self, ComponentError> {
        let folder = folder.map_or_else(newest_built, Path::to_owned);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let missing = Program::ALL
            .into_iter()
            .find(|program| !folder.join(program.file()).is_file());
        match missing {
            None => Ok(Self { folder }),
            Some(program) => Err(ComponentError::Missing {
                folder,
                program: program.file(),
            }),
        }
    }

    /// The path of a program.
    pub fn program(&self, program: Program) -> PathBuf {
        self.folder.join(program.file())
    }

    /// The version, as the folder is called: `v1.37.2`.
    pub fn version(&self) -> String {
        self.folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// The folder of the highest version, or of versions as such when there is none.
fn newest_built() -> PathBuf {
    let built = PathBuf::from(BUILT);
    let Ok(entries) = std::fs::read_dir(&built) else {
        return built;
    };
    entries
        .flatten()
        .filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path())))
        .max()
        .map_or(built, |(_, path)| path)
}

/// `v1.37.2` as numbers that compare.
fn version(name: &str) -> Option<Vec<u32>> {
    name.strip_prefix('v')?
        .split('.')
        .map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests;
