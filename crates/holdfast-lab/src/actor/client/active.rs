//! A connection that is never idle: a request each second, and a kubelet's ping.

use std::sync::Arc;

use http::Method;
use tokio::time::{MissedTickBehavior, interval};

use super::clock::Clock;
use super::event::{Teller, What};
use super::link::Link;
use super::request;
use crate::actor::monotonic_seconds;

/// Asks for as long as it is polled.
pub(super) async fn ask(worker: u64, link: Arc<Link>, teller: Teller, clock: Clock) {
    let mut tick = interval(clock.second());
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let begun = monotonic_seconds();
        let within = clock.request_timeout();
        let event = match request::send(&link, Method::GET, "/version", Vec::new(), within).await {
            Ok(answer) => {
                let event = teller.now(worker, What::Ok).on(answer.connection);
                event.by(answer.server)
            }
            Err(error) => {
                let event = teller.now(worker, What::Failed).by(error.server());
                event.because(error)
            }
        };
        teller.tell(&event.since(begun));
    }
}
