//! Counts the cluster's nodes now and then: what the fleet may ask of its API servers is shared among
//! so many.

use std::time::Duration;

use holdfast_core::agent::Input;
use holdfast_core::chance::Chance;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::api::{Api, ListParams};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::endpoint_slices::words;

#[cfg(test)]
mod tests;

/// A fleet grows by a node at a time; by a tenth in ten minutes at most.
const COUNT_EVERY: Duration = Duration::from_mins(10);

/// After a failure the next try comes sooner.
const RETRY: Duration = Duration::from_mins(1);

/// At the start the upstreams prove themselves first.
const FIRST: Duration = Duration::from_secs(5);

/// Share of these times that is cut off at random, in percent: a fleet must not count together.
const JITTER_PERCENT: u32 = 50;

/// Time for the one node that is asked for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Counts until `stop`.
pub(crate) async fn watch(
    client: kube::Client,
    facts: mpsc::UnboundedSender<Input>,
    seed: u64,
    stop: CancellationToken,
) {
    let mut chance = Chance::new(seed);
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(chance.shorten(pause, JITTER_PERCENT)) => {}
        }
        pause = match count(&client).await {
            Ok(nodes) => {
                // Without a receiver the agent is stopping.
                drop(facts.send(Input::FleetCounted { nodes }));
                COUNT_EVERY
            }
            Err(why) => {
                tracing::debug!(why, "nodes could not be counted");
                RETRY
            }
        };
    }
}

/// One node's metadata is asked for; the server says how many more there are
/// (meta/v1 `ListMeta.remainingItemCount`).
async fn count(client: &kube::Client) -> Result<u64, String> {
    let nodes: Api<Node> = Api::all(client.clone());
    let wanted = ListParams::default().limit(1);
    let list = timeout(PATIENCE, nodes.list_metadata(&wanted))
        .await
        .map_err(|_| format!("no whole answer in {} s", PATIENCE.as_secs()))?
        .map_err(|error| words(&error))?;
    total(list.items.len(), &list.metadata)
        .ok_or_else(|| "the server does not say how many nodes there are".to_owned())
}

/// What is shown and what is left. A list that goes on and does not say for how long has no total.
fn total(shown: usize, list: &ListMeta) -> Option<u64> {
    let goes_on = list.continue_.as_deref().is_some_and(|c| !c.is_empty());
    let left = match list.remaining_item_count {
        Some(left) => u64::try_from(left).ok()?,
        None if goes_on => return None,
        None => 0,
    };
    Some(left + u64::try_from(shown).ok()?)
}
