//! One look at a cluster through whichever API server answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::try_join3;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::time::timeout;

use super::change::View;
use crate::actor::{StartError, monotonic_seconds};

/// How long one API server may take for a look before the next is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the kubelet keeps its lease (kubernetes, `pkg/apis/core/v1`, `NamespaceNodeLease`).
const LEASES: &str = "kube-node-lease";

/// What looks.
pub(super) struct Eye {
    clients: Vec<Client>,
    /// The one that answered last.
    current: usize,
}

impl Eye {
    /// One client for each kubeconfig.
    pub(super) async fn open(kubeconfigs: &[PathBuf]) -> Result<Self, StartError> {
        let mut clients = Vec::new();
        for path in kubeconfigs {
            clients.push(client(path).await?);
        }
        Ok(Self {
            clients,
            current: 0,
        })
    }

    /// What the first API server that answers shows; none if none does.
    pub(super) async fn look(&mut self) -> Option<View> {
        for turn in 0..self.clients.len() {
            let index = (self.current + turn) % self.clients.len();
            let client = self.clients.get(index)?.clone();
            if let Ok(Ok(view)) = timeout(PATIENCE, view(client)).await {
                self.current = index;
                return Some(view);
            }
        }
        None
    }
}

async fn client(path: &Path) -> Result<Client, StartError> {
    let wrong = |problem: String| StartError::Kubeconfig {
        path: path.to_owned(),
        problem,
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| wrong(error.to_string()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| wrong(error.to_string()))?;
    Client::try_from(config).map_err(|error| wrong(error.to_string()))
}

async fn view(client: Client) -> Result<View, kube::Error> {
    // Served from the watch cache, so that a look works while etcd has no quorum.
    let all = ListParams::default().match_any();
    let leases: Api<Lease> = Api::namespaced(client.clone(), LEASES);
    let nodes: Api<Node> = Api::all(client.clone());
    let pods: Api<Pod> = Api::all(client);
    let (leases, nodes, pods) =
        try_join3(leases.list(&all), nodes.list(&all), pods.list(&all)).await?;
    let to_monotonic = monotonic_seconds() - Timestamp::now().as_duration().as_secs_f64();
    Ok(View {
        renewed: leases
            .into_iter()
            .filter_map(|lease| {
                let renewed = lease.spec?.renew_time?.0.as_duration().as_secs_f64();
                Some((lease.metadata.name?, renewed + to_monotonic))
            })
            .collect(),
        ready: nodes
            .into_iter()
            .filter_map(|node| Some((node.metadata.name.clone()?, is_ready(&node)?)))
            .collect(),
        pods: pods
            .into_iter()
            .filter(|pod| pod.metadata.deletion_timestamp.is_none())
            .filter_map(|pod| Some((pod.metadata.uid?, pod.spec?.node_name?)))
            .collect(),
    })
}

/// Whether the condition `Ready` is `True`; none while the node has not reported one.
fn is_ready(node: &Node) -> Option<bool> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")
        .map(|condition| condition.status == "True")
}
