//! The watch that shares the heartbeat's connection, begun again as a client-go reflector does.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use tokio::time::sleep;

use super::clock::{Backoff, Clock, chance};
use super::event::{Teller, What};
use super::link::{Link, LinkError, chain};
use super::request;
use crate::actor::monotonic_seconds;

/// A reflector's first pause after a failure (client-go `tools/cache/reflector.go`); each is up to twice
/// as long by chance.
const FIRST_PAUSE: Duration = Duration::from_millis(800);
/// A reflector's longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Holds a watch of one's own node for as long as it is polled.
pub(super) async fn hold(link: Arc<Link>, node: String, teller: Teller, clock: Clock) {
    let path = format!(
        "/api/v1/nodes?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3D{node}"
    );
    // The heartbeat makes the first connection; two that dial at once would only leave a spare one.
    link.next_open().await;
    loop {
        let mut backoff = Backoff::new(clock.scaled(FIRST_PAUSE), clock.scaled(LONGEST_PAUSE));
        loop {
            let begun = monotonic_seconds();
            let outcome = watch(&link, &path, &teller).await;
            let event = teller.now(0, What::Failed).since(begun);
            let established = match outcome {
                Ok(how) => {
                    teller.tell(&event.because(how));
                    true
                }
                Err(error) => {
                    teller.tell(&event.because(error));
                    false
                }
            };
            sleep(backoff.pause().mul_f64(1.0 + chance())).await;
            if established {
                break;
            }
        }
    }
}

/// One watch, from its request to its end, and how it ended.
async fn watch(link: &Arc<Link>, path: &str, teller: &Teller) -> Result<String, LinkError> {
    let begun = monotonic_seconds();
    let (connection, response) = link.send(Method::GET, path, Vec::new()).await?;
    if !response.status().is_success() {
        return Ok(format!("status {}", response.status()));
    }
    let event = teller.now(0, What::Ok).on(connection).since(begun);
    teller.tell(&event.by(request::server(&response)));
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        if let Err(error) = frame {
            return Ok(chain(&error));
        }
    }
    Ok("ended by the server".to_owned())
}
