//! The JSON documents of the Kubernetes API, as far as the stand-in has them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::{Value, json};

/// The namespace of the nodes' heartbeats (`corev1.NamespaceNodeLease`).
pub(super) const NODE_LEASES: &str = "kube-node-lease";
/// The version that the stand-in claims to be.
const VERSION: &str = "v1.33.0";

/// A kind of object, and where it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) plural: &'static str,
    pub(super) namespaced: bool,
    verbs: &'static [&'static str],
}

pub(super) const NODE: Kind = Kind {
    group: "",
    name: "Node",
    plural: "nodes",
    namespaced: false,
    verbs: &["get", "list", "watch"],
};
pub(super) const LEASE: Kind = Kind {
    group: "coordination.k8s.io",
    name: "Lease",
    plural: "leases",
    namespaced: true,
    verbs: &["create", "get", "list", "update", "watch"],
};
pub(super) const ENDPOINT_SLICE: Kind = Kind {
    group: "discovery.k8s.io",
    name: "EndpointSlice",
    plural: "endpointslices",
    namespaced: true,
    verbs: &["get", "list", "watch"],
};
/// Everything there is.
pub(super) const KINDS: [Kind; 3] = [NODE, LEASE, ENDPOINT_SLICE];

impl Kind {
    /// The value of `apiVersion`: the group, where there is one, and the version.
    pub(super) fn api_version(self) -> String {
        if self.group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{}/v1", self.group)
        }
    }
}

/// The time as in `metadata.creationTimestamp`.
pub(super) fn now() -> String {
    format!("{:.0}", jiff::Timestamp::now())
}

/// `/version`.
pub(super) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "33",
        "gitVersion": VERSION,
        "gitCommit": "lab",
        "gitTreeState": "clean",
        "buildDate": "2025-04-23T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

/// `/api`: the versions of the group without a name.
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`: the groups with a name.
pub(super) fn groups() -> Value {
    let names: BTreeSet<_> = KINDS.iter().map(|kind| kind.group).collect();
    let groups: Vec<_> = names
        .into_iter()
        .filter(|group| !group.is_empty())
        .map(|group| {
            let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
            json!({"name": group, "versions": [version], "preferredVersion": version})
        })
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/api/v1` or `/apis/GROUP/v1`, if there is such a group.
pub(super) fn resources(group: &str) -> Option<Value> {
    let kinds: Vec<_> = KINDS.iter().filter(|kind| kind.group == group).collect();
    let version = kinds.first()?.api_version();
    let resources: Vec<_> = kinds
        .iter()
        .map(|kind| {
            json!({
                "name": kind.plural,
                "singularName": kind.name.to_lowercase(),
                "namespaced": kind.namespaced,
                "kind": kind.name,
                "verbs": kind.verbs,
            })
        })
        .collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": resources,
    }))
}

/// A list of objects.
pub(super) fn list(kind: Kind, revision: u64, items: &[Value]) -> Value {
    json!({
        "kind": format!("{}List", kind.name),
        "apiVersion": kind.api_version(),
        "metadata": {"resourceVersion": revision.to_string()},
        "items": items,
    })
}

/// An event of a watch.
pub(super) fn event(what: &str, object: &Value) -> Value {
    json!({"type": what, "object": object})
}

/// The event that only says how far the watch has come.
pub(super) fn bookmark(kind: Kind, revision: u64) -> Value {
    let object = json!({
        "kind": kind.name,
        "apiVersion": kind.api_version(),
        "metadata": {"resourceVersion": revision.to_string(), "creationTimestamp": null},
    });
    event("BOOKMARK", &object)
}

/// The body of an error.
pub(super) fn failure(code: u16, reason: &str, message: &str) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    })
}

/// A node that has the condition which it was given, or is as ready as its lease.
pub(super) fn node(name: &str, created: &Value, revision: u64, condition: Option<&str>) -> Value {
    let (status, reason, message) = match condition {
        Some("False") => ("False", "KubeletNotReady", "the kubelet says so"),
        Some("Unknown") => (
            "Unknown",
            "NodeStatusUnknown",
            "Kubelet stopped posting node status.",
        ),
        Some(_) => ("True", "KubeletReady", "kubelet is posting ready status"),
        None => ("True", "LeaseHeld", "the node renews its lease"),
    };
    let ready = json!({
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
    });
    json!({
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": name,
            "resourceVersion": revision.to_string(),
            "creationTimestamp": created,
        },
        "spec": {},
        "status": {"conditions": [ready], "nodeInfo": {"kubeletVersion": VERSION}},
    })
}

/// A lease as stored: the given one under its own name, with the server's own fields.
pub(super) fn lease(
    namespace: &str,
    name: &str,
    revision: u64,
    created: &Value,
    given: &Value,
) -> Value {
    json!({
        "kind": LEASE.name,
        "apiVersion": LEASE.api_version(),
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": name,
            "resourceVersion": revision.to_string(),
            "creationTimestamp": created,
            "labels": given.pointer("/metadata/labels").unwrap_or(&Value::Null),
        },
        "spec": given.get("spec").unwrap_or(&Value::Null),
    })
}

/// The endpoint slices of `default/kubernetes`, by name: one for each address family and port.
/// The first is called `kubernetes`, as a stock API server calls its own.
pub(super) fn endpoint_slices(endpoints: &[SocketAddr], revision: u64) -> BTreeMap<String, Value> {
    let mut groups: BTreeMap<(bool, u16), Vec<String>> = BTreeMap::new();
    for endpoint in endpoints {
        let group = (endpoint.is_ipv6(), endpoint.port());
        let group = groups.entry(group).or_default();
        group.push(endpoint.ip().to_string());
    }
    let slices = groups.into_iter().enumerate();
    slices
        .map(|(index, ((ipv6, port), addresses))| {
            let family = if ipv6 { "IPv6" } else { "IPv4" };
            let name = if index == 0 {
                "kubernetes".to_owned()
            } else {
                format!("kubernetes-{}-{port}", family.to_lowercase())
            };
            let endpoints: Vec<_> = addresses
                .iter()
                .map(|address| json!({"addresses": [address], "conditions": {"ready": true}}))
                .collect();
            let slice = json!({
                "kind": ENDPOINT_SLICE.name,
                "apiVersion": ENDPOINT_SLICE.api_version(),
                "metadata": {
                    "name": name,
                    "namespace": "default",
                    "labels": {"kubernetes.io/service-name": "kubernetes"},
                    "resourceVersion": revision.to_string(),
                },
                "addressType": family,
                "endpoints": endpoints,
                "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
            });
            (name, slice)
        })
        .collect()
}
