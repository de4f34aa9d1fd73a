//! Fetches from Resource Manager what a node's egress rests on: the lists that [`folder`](super::folder)
//! reads. All of them or none: half a list would be read as a whole one.

use std::fmt;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;

use super::inventory::Listing;
use crate::arm::{Arm, ArmError};

/// Version of the API for network resources.
const NETWORK: &str = "2024-05-01";

/// Version of the API for compute resources.
const COMPUTE: &str = "2024-07-01";

/// The version in which the network provider lists the NICs of a Uniform scale set
/// (azure-rest-api-specs, Microsoft.Network, vmssNetworkInterface.json).
const INSTANCE_NICS: &str = "2018-10-01";

/// Requests that are under way at once.
const AT_ONCE: usize = 4;

/// The lists of a subscription; NICs of instances follow from its scale sets.
const LISTS: [(Listing, &str, &str); 8] = [
    (
        Listing::LoadBalancers,
        "Microsoft.Network/loadBalancers",
        NETWORK,
    ),
    (
        Listing::Nics,
        "Microsoft.Network/networkInterfaces",
        NETWORK,
    ),
    (
        Listing::Networks,
        "Microsoft.Network/virtualNetworks",
        NETWORK,
    ),
    (
        Listing::NatGateways,
        "Microsoft.Network/natGateways",
        NETWORK,
    ),
    (
        Listing::PublicAddresses,
        "Microsoft.Network/publicIPAddresses",
        NETWORK,
    ),
    (
        Listing::RouteTables,
        "Microsoft.Network/routeTables",
        NETWORK,
    ),
    (Listing::Vms, "Microsoft.Compute/virtualMachines", COMPUTE),
    (
        Listing::ScaleSets,
        "Microsoft.Compute/virtualMachineScaleSets",
        COMPUTE,
    ),
];

/// A list could not be fetched.
#[derive(Debug, thiserror::Error)]
pub struct CollectError {
    /// Which.
    pub listing: Listing,
    /// Why.
    pub source: ArmError,
}

impl fmt::Display for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fetch {}", self.listing)
    }
}

/// Fetches every list of these subscriptions.
pub async fn collect(
    arm: &Arm,
    subscriptions: &[String],
) -> Result<Vec<(Listing, Vec<Value>)>, CollectError> {
    let wanted = LISTS.iter().flat_map(|(listing, kind, version)| {
        subscriptions.iter().map(move |subscription| {
            let path = format!("/subscriptions/{subscription}/providers/{kind}");
            fetch(arm, *listing, path, version)
        })
    });
    let mut lists = joined(wanted).await?;
    let sets = lists
        .iter()
        .find(|(listing, _)| *listing == Listing::ScaleSets);
    let uniform: Vec<_> = sets
        .into_iter()
        .flat_map(|(_, sets)| sets.iter().filter(|set| is_uniform(set)))
        .filter_map(|set| set.get("id")?.as_str())
        .map(|id| format!("{id}/networkInterfaces"))
        .collect();
    let wanted = uniform
        .into_iter()
        .map(|path| fetch(arm, Listing::InstanceNics, path, INSTANCE_NICS));
    let instances = joined(wanted).await?.pop();
    // No scale set, no NICs: that is known, and not missing.
    lists.push(instances.unwrap_or((Listing::InstanceNics, Vec::new())));
    Ok(lists)
}

async fn fetch(
    arm: &Arm,
    listing: Listing,
    path: String,
    version: &str,
) -> Result<(Listing, Vec<Value>), CollectError> {
    let list = arm.list(&path, version).await;
    list.map(|list| (listing, list))
        .map_err(|source| CollectError { listing, source })
}

/// Fetches some at once, and joins those of one kind.
async fn joined<F>(
    wanted: impl Iterator<Item = F>,
) -> Result<Vec<(Listing, Vec<Value>)>, CollectError>
where
    F: Future<Output = Result<(Listing, Vec<Value>), CollectError>>,
{
    let parts: Vec<_> = stream::iter(wanted).buffered(AT_ONCE).try_collect().await?;
    let mut lists: Vec<(Listing, Vec<Value>)> = Vec::new();
    for (listing, part) in parts {
        match lists.iter_mut().find(|(known, _)| *known == listing) {
            Some((_, list)) => list.extend(part),
            None => lists.push((listing, part)),
        }
    }
    Ok(lists)
}

/// Instances of a Flexible scale set are VMs with NICs of their own; a set that says nothing is Uniform.
fn is_uniform(set: &Value) -> bool {
    let mode = set.pointer("/properties/orchestrationMode");
    mode.and_then(Value::as_str)
        .is_none_or(|mode| !mode.eq_ignore_ascii_case("Flexible"))
}
