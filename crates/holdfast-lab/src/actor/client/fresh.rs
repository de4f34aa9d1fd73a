//! New connections, each for one cheap request: what a program that starts now would meet.

use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::dial::Dialer;
use super::event::{Teller, What};
use super::link::LinkError;
use super::request;
use crate::actor::monotonic_seconds;

/// From the dial to the answer; never scaled.
const PATIENCE: Duration = Duration::from_secs(5);

/// Knocks at every tick for as long as it is polled, whether or not the last one was answered.
pub(super) async fn knock(every: Duration, dialer: Arc<Dialer>, teller: Teller) {
    let mut tick = interval(every.max(Duration::from_millis(1)));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut requests = JoinSet::new();
    for id in 0.. {
        tick.tick().await;
        requests.spawn(ask(id, Arc::clone(&dialer), teller.clone()));
        while requests.try_join_next().is_some() {}
    }
}

async fn ask(id: u64, dialer: Arc<Dialer>, teller: Teller) {
    let begun = monotonic_seconds();
    let outcome = timeout(PATIENCE, request_once(&dialer)).await;
    let outcome = outcome.unwrap_or_else(|_| Err("timed out".to_owned()));
    let event = match outcome {
        Ok(server) => teller.now(id, What::Ok).by(server),
        Err(error) => teller.now(id, What::Failed).because(error),
    };
    teller.tell(&event.since(begun));
}

/// One request on a connection of its own; the name of the server that answered.
async fn request_once(dialer: &Dialer) -> Result<Option<String>, String> {
    let dialed = dialer.dial().await.map_err(|error| error.to_string())?;
    let exchange = async {
        let (mut sender, connection) = http1::handshake(TokioIo::new(dialed.stream)).await?;
        let request = request::get_plain(&dialer.origin, "/livez")?;
        let response = tokio::select! {
            response = sender.send_request(request) => response?,
            ended = connection => {
                ended?;
                return Ok(None);
            }
        };
        Ok::<_, LinkError>(Some(response))
    };
    match exchange.await {
        Ok(Some(response)) if response.status().is_success() => Ok(request::server(&response)),
        Ok(Some(response)) => Err(format!("status {}", response.status())),
        Ok(None) => Err("closed without an answer".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
