//! Nodes and Services as `kubectl get nodes,services -o json` prints them.

use std::collections::BTreeMap;

use holdfast_core::egress::case::Role;
use holdfast_core::egress::facts::{Exclusion, Node as State, NodeObject, Ready, VmState};
use serde::Deserialize;

use super::id::Id;

/// The taint of a node that the autoscaler is about to delete.
const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";
/// The label that keeps a node out of load balancers.
const EXCLUDE: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
/// The label that keeps cloud-provider-azure's hands off a node.
const MANAGED: &str = "kubernetes.azure.com/managed";

/// Any object of the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Object {
    /// `Node` or `Service`.
    pub kind: String,
    /// Name, labels, deletion.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: Spec,
    /// What is.
    pub status: Status,
}

/// Name, labels, deletion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// Its namespace; a node has none.
    pub namespace: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// When its deletion was asked for.
    pub deletion_timestamp: Option<String>,
}

/// What is wanted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec {
    /// A node's VM: `azure:///subscriptions/…`.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// A node's taints.
    pub taints: Vec<Taint>,
    /// A Service's type.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A taint.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Its key.
    pub key: String,
}

/// What is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// A node's conditions.
    pub conditions: Vec<Condition>,
}

/// A condition.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Condition {
    /// Which.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
}

impl Object {
    /// The id of a node's VM, where its provider is Azure.
    pub fn vm(&self) -> Option<Id> {
        self.spec
            .provider_id
            .strip_prefix("azure://")
            .map(Id::from)
            .filter(|id| !id.is_empty())
    }

    /// The provider that a node's VM is from: `azure`, `aws`, `gce`…
    pub fn provider(&self) -> Option<&str> {
        self.spec
            .provider_id
            .split_once("://")
            .map(|(name, _)| name)
    }

    /// The state of a node whose VM runs.
    pub fn state(&self) -> State {
        let ready = self
            .status
            .conditions
            .iter()
            .find(|one| one.kind == "Ready");
        let label = |name: &str| self.metadata.labels.get(name).map(String::as_str);
        State {
            object: if self.metadata.deletion_timestamp.is_some() {
                NodeObject::Deleting
            } else {
                NodeObject::Present
            },
            ready: match ready.map(|one| one.status.as_str()) {
                Some("True") => Ready::Yes,
                Some("False") => Ready::No,
                _ => Ready::Unknown,
            },
            vm: VmState::Running,
            exclusion: Exclusion::of(label(EXCLUDE)),
            managed: !label(MANAGED).is_some_and(|value| value.eq_ignore_ascii_case("false")),
            draining: self.spec.taints.iter().any(|one| one.key == TO_BE_DELETED),
            last_member: false,
        }
    }

    /// What a node is for.
    pub fn role(&self) -> Role {
        let labels = &self.metadata.labels;
        if labels.contains_key("node-role.kubernetes.io/control-plane")
            || labels.contains_key("node-role.kubernetes.io/master")
        {
            Role::ControlPlane
        } else {
            Role::Worker
        }
    }

    /// Whether this is a Service on the public load balancer.
    pub fn is_public_service(&self) -> bool {
        const INTERNAL: &str = "service.beta.kubernetes.io/azure-load-balancer-internal";
        self.kind == "Service"
            && self.spec.kind == "LoadBalancer"
            && self.metadata.annotations.get(INTERNAL).map(String::as_str) != Some("true")
    }
}
