//! Reads the API servers' own list of themselves: the `EndpointSlices` of `default/kubernetes`.
//!
//! Asked through whichever upstream answers, in the agent's own order of the moment. A list is asked
//! for rather than watched: see ADR 0008.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use holdfast_core::sources::Answer;
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointPort, EndpointSlice};
use kube::api::{Api, ListParams};
use tokio::time::timeout;

#[cfg(test)]
mod tests;

/// The label that ties slices to their service (`discovery.k8s.io/v1.LabelServiceName`).
const SLICES: &str = "kubernetes.io/service-name=kubernetes";

/// Time for one list. It is some kilobytes from a server's memory.
const PATIENCE: Duration = Duration::from_secs(5);

/// A list that got no answer is asked for once more, and then by way of another server.
const TRIES: usize = 2;

/// The list, and who is asked for it.
#[derive(Clone)]
pub(crate) struct SliceWatch {
    slices: Api<EndpointSlice>,
}

impl SliceWatch {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self {
            slices: Api::namespaced(client, "default"),
        }
    }

    /// Asks once. Never fails: a failure is an answer too.
    pub(crate) async fn ask(&self) -> Answer {
        match list(&self.slices).await {
            Ok(slices) => answer(&slices),
            Err(why) => Answer::Failed {
                why,
                lifetime: None,
            },
        }
    }
}

async fn list(api: &Api<EndpointSlice>) -> Result<Vec<EndpointSlice>, String> {
    // Resource version 0: from the server's memory, which costs etcd nothing and goes on when etcd
    // is down. It may be a little old; what is missing from it once means nothing (see `sources`).
    let wanted = ListParams::default().labels(SLICES).match_any();
    let mut why = String::new();
    for _ in 0..TRIES {
        match timeout(PATIENCE, api.list(&wanted)).await {
            Ok(Ok(list)) => return Ok(list.items),
            Ok(Err(error)) => {
                let refused = matches!(error, kube::Error::Api(_));
                why = words(&error);
                if refused {
                    break;
                }
            }
            Err(_) => why = format!("no whole answer in {} s", PATIENCE.as_secs()),
        }
    }
    Err(format!("list EndpointSlices of default/kubernetes: {why}"))
}

/// What went wrong, in words that fit in a line.
pub(crate) fn words(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        let hint = match status.code {
            401 => "; the kubeconfig's credential is not accepted",
            403 => "; deploy/kubernetes/agent-rbac.yaml grants what the agent needs",
            _ => "",
        };
        return format!("{} ({}){hint}", status.message, status.code);
    }
    if let kube::Error::Service(error) = error {
        return error.to_string();
    }
    error.to_string()
}

fn answer(slices: &[EndpointSlice]) -> Answer {
    let addresses: BTreeSet<_> = slices.iter().flat_map(addresses).collect();
    if addresses.is_empty() {
        // The reconciler of API servers keeps at least the one that answers: an empty list is a
        // mistake, not news.
        return Answer::Failed {
            why: "EndpointSlices of default/kubernetes name no address that serves".to_owned(),
            lifetime: None,
        };
    }
    Answer::Addresses {
        addresses,
        lifetime: None,
    }
}

/// The addresses of one slice that serve. Slices of names (address type `FQDN`) have none.
fn addresses(slice: &EndpointSlice) -> Vec<SocketAddr> {
    let Some(port) = port(slice.ports.as_deref().unwrap_or_default()) else {
        return Vec::new();
    };
    let serving = slice.endpoints.iter().filter(|endpoint| serves(endpoint));
    // All addresses of one endpoint lead to the same place, and clients use the first
    // (discovery.k8s.io/v1 `Endpoint.addresses`).
    let first = serving.filter_map(|endpoint| endpoint.addresses.first());
    first
        .filter_map(|address| address.parse::<IpAddr>().ok())
        .map(|ip| SocketAddr::new(ip, port))
        .collect()
}

/// `serving` tells whether it answers, also while it terminates; where it is missing, `ready` stands
/// for it, and what is missing is true (discovery.k8s.io/v1 `EndpointConditions`).
fn serves(endpoint: &Endpoint) -> bool {
    let conditions = endpoint.conditions.as_ref();
    conditions
        .and_then(|conditions| conditions.serving.or(conditions.ready))
        .unwrap_or(true)
}

/// The port called `https`, as API servers name their own, or else the only one. TCP is the default
/// (discovery.k8s.io/v1 `EndpointPort.protocol`).
fn port(ports: &[EndpointPort]) -> Option<u16> {
    let tcp = |port: &&EndpointPort| port.protocol.as_deref().is_none_or(|p| p == "TCP");
    let mut over_tcp = ports.iter().filter(tcp);
    let named = over_tcp
        .clone()
        .find(|port| port.name.as_deref() == Some("https"));
    let chosen = named.or_else(|| {
        let only = over_tcp.next();
        only.filter(|_| over_tcp.next().is_none())
    });
    chosen?.port.and_then(|port| u16::try_from(port).ok())
}
