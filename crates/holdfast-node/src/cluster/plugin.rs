//! Credential plug-ins: a program that prints a token or a certificate
//! (Kubernetes, "client-go credential plugins"; `client.authentication.k8s.io`).

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::HeaderValue;
use jiff::Timestamp;
use kube::config::{Cluster, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::kubeconfig::{KubeconfigError, Part};
use super::material::{self, Identity};

/// A plug-in asks its own servers; one that hangs must not hold requests for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// The cluster's own words to its plug-in: the extension's name (`client.authentication.k8s.io`).
const EXTENSION: &str = "client.authentication.k8s.io/exec";

/// Why a credential plug-in gave no credential. Its output is never repeated: it may be a secret.
#[derive(Debug, thiserror::Error)]
#[error("{path}: exec: {command} {what}")]
pub struct PluginError {
    /// The kubeconfig.
    path: PathBuf,
    /// The plug-in.
    command: String,
    /// What it did.
    what: String,
}

/// How the plug-in is run.
#[derive(Clone)]
pub(super) struct Plugin {
    path: PathBuf,
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    version: String,
    question: String,
}

/// What the plug-in gave.
pub(super) struct Given {
    pub(super) identity: Option<Identity>,
    pub(super) authorization: Option<HeaderValue>,
    /// Until when it may be used; for ever if it says nothing.
    pub(super) until: Option<Timestamp>,
}

impl Part<'_> {
    pub(super) fn plugin(
        &self,
        exec: ExecConfig,
        cluster: &Cluster,
        authority: &[u8],
    ) -> Result<Plugin, KubeconfigError> {
        let version = exec.api_version.unwrap_or_default();
        if !VERSIONS.contains(&version.as_str()) {
            return Err(self.wrong("exec.apiVersion", format!("{version:?}"), ACCEPTED_VERSIONS));
        }
        if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
            return Err(self.wrong(
                "exec.interactiveMode",
                "Always",
                "Never or IfAvailable: nobody is there to be asked",
            ));
        }
        let command = exec.command.filter(|command| !command.is_empty());
        let command = command.ok_or_else(|| self.wrong("exec.command", "nothing", "a program"))?;
        let info = exec
            .provide_cluster_info
            .then(|| cluster_info(cluster, authority));
        let spec = info.map_or_else(
            || json!({"interactive": false}),
            |cluster| json!({"interactive": false, "cluster": cluster}),
        );
        let question = json!({"kind": "ExecCredential", "apiVersion": version, "spec": spec});
        let environment = exec.env.unwrap_or_default().into_iter();
        Ok(Plugin {
            path: self.file().to_owned(),
            command,
            arguments: exec.args.unwrap_or_default(),
            environment: environment
                .filter_map(|mut one| Some((one.remove("name")?, one.remove("value")?)))
                .collect(),
            version,
            question: question.to_string(),
        })
    }
}

const VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];
const ACCEPTED_VERSIONS: &str =
    "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";

/// What a plug-in is told of the cluster, if the kubeconfig says that it shall be.
fn cluster_info(cluster: &Cluster, authority: &[u8]) -> Value {
    let config = cluster
        .extensions
        .iter()
        .flatten()
        .find(|extension| extension.name == EXTENSION)
        .map(|extension| &extension.extension);
    json!({
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "certificate-authority-data": BASE64.encode(authority),
        "config": config,
    })
}

/// The part of an `ExecCredential` that a plug-in fills in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<Timestamp>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Plugin {
    /// Runs the plug-in once.
    pub(super) async fn ask(&self) -> Result<Given, PluginError> {
        self.ask_within(PATIENCE).await
    }

    pub(super) async fn ask_within(&self, patience: Duration) -> Result<Given, PluginError> {
        let mut command = Command::new(&self.command);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("KUBERNETES_EXEC_INFO", &self.question)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let ran = timeout(patience, command.output()).await;
        let output = ran
            .map_err(|_| {
                self.failed(format!(
                    "gave no credential in {:.1} s",
                    patience.as_secs_f64()
                ))
            })?
            .map_err(|error| self.failed(format!("can't be run ({error})")))?;
        if !output.status.success() {
            return Err(self.failed(format!(
                "failed ({}); run by hand it says why",
                output.status
            )));
        }
        self.understand(&output.stdout)
    }

    fn understand(&self, output: &[u8]) -> Result<Given, PluginError> {
        let printed = |what: &str| {
            self.failed(format!(
                "printed {what}; accepted: an ExecCredential as JSON"
            ))
        };
        let answer: Answer =
            serde_json::from_slice(output).map_err(|_| printed("something else"))?;
        if answer.api_version != self.version {
            return Err(printed(
                "a credential of another apiVersion than it was asked for",
            ));
        }
        let status = answer.status.ok_or_else(|| printed("no status"))?;
        let pair = status.client_certificate_data.zip(status.client_key_data);
        let identity = match pair {
            Some((certificate, key)) => {
                Some(identity(&certificate, &key).map_err(|found| {
                    printed(&format!("a client certificate and key with {found}"))
                })?)
            }
            None => None,
        };
        let authorization = match status.token.filter(|token| !token.is_empty()) {
            Some(token) => Some(
                material::bearer(&token)
                    .map_err(|found| printed(&format!("a token with {found}")))?,
            ),
            None => None,
        };
        if identity.is_none() && authorization.is_none() {
            return Err(printed("neither a token nor a certificate with its key"));
        }
        Ok(Given {
            identity,
            authorization,
            until: status.expiration_timestamp,
        })
    }

    fn failed(&self, what: String) -> PluginError {
        PluginError {
            path: self.path.clone(),
            command: self.command.clone(),
            what,
        }
    }
}

fn identity(certificate: &str, key: &str) -> Result<Identity, &'static str> {
    Identity::new(
        material::chain(certificate.as_bytes())?,
        material::key(key.as_bytes())?,
    )
}
