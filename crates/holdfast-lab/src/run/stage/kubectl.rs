//! What a person does to a real cluster, done with the real kubectl.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{RunError, Stage, Subject};
use crate::kubernetes::Program;
use crate::process::ProcessError;
use crate::scenario::Credentials;
use crate::world::OBSERVER;

/// How long the cluster may take until it lets something be made: its controllers make what that needs
/// first, the accounts of pods for example.
const PATIENCE: Duration = Duration::from_mins(2);

/// What an agent may do, as it ships.
const RBAC: &str = include_str!("../../../../../deploy/kubernetes/agent-rbac.yaml");

impl Stage {
    /// Runs kubectl as an administrator until it succeeds, and returns the last line that it prints.
    pub(super) async fn kubectl(&self, arguments: &[&str]) -> Result<String, RunError> {
        let kubeconfigs = self.world.admin_kubeconfigs()?;
        let (Some(plane), Some(kubeconfig)) = (self.world.plane(), kubeconfigs.first()) else {
            return Ok(String::new());
        };
        let kubectl = plane.program(Program::Kubectl);
        let mut all = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--cache-dir={}", self.world.directory().display()),
        ];
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let begun = Instant::now();
        loop {
            let mut process = self
                .world
                .start_other("kubectl", OBSERVER, &kubectl, &all)?;
            match process.finish().await {
                Ok(()) => {
                    let mut last = String::new();
                    while let Some(line) = process.line().await {
                        last = line;
                    }
                    return Ok(last);
                }
                Err(ProcessError::Ended { .. } | ProcessError::Late { .. })
                    if begun.elapsed() < PATIENCE =>
                {
                    sleep(Duration::from_secs(1)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Lets the subject's agent ask the API for the list of API servers; none if it is not to.
    pub(super) async fn let_discover(
        &self,
        subject: Subject,
        credentials: Option<Credentials>,
    ) -> Result<Option<PathBuf>, RunError> {
        let (Some(plane), Some(credentials)) = (self.world.plane(), credentials) else {
            return Ok(None);
        };
        let file = self.world.directory().join("agent-rbac.yaml");
        std::fs::write(&file, RBAC).map_err(|source| RunError::Configuration {
            path: file.clone(),
            source,
        })?;
        self.kubectl(&["apply", "--filename", &file.display().to_string()])
            .await?;
        let token = self
            .kubectl(&["create", "token", "agent", "--namespace=holdfast"])
            .await?;
        Ok(Some(plane.agent_kubeconfig(
            credentials,
            &subject.server(),
            &token,
        )?))
    }
}
