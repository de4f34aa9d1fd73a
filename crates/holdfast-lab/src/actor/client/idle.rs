//! A connection over which nothing is ever written after its watch has begun: HTTP/1.1, no ping, no
//! keepalive. It shows when somebody else cuts it.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::client::TlsStream;

use super::clock::Clock;
use super::dial::{Dialed, Dialer};
use super::event::{Ending, Teller, What};
use super::link::LinkError;
use super::request;
use super::witness::Witness;
use crate::actor::monotonic_seconds;

/// Where the watch goes.
const WATCH: &str = "/api/v1/nodes?watch=true&allowWatchBookmarks=true";

/// Holds one connection after the other for as long as it is polled.
pub(super) async fn hold(worker: u64, dialer: Arc<Dialer>, teller: Teller, clock: Clock) {
    loop {
        let id = teller.connection();
        let begun = monotonic_seconds();
        teller.tell(&teller.now(id, What::Dialing));
        match dialer.dial().await {
            Ok(dialed) => {
                let event = teller.now(id, What::Connected);
                teller.tell(&event.since(begun).because(dialed.address));
                let held = Held {
                    worker,
                    id,
                    dialer: &dialer,
                    teller: &teller,
                    clock,
                };
                held.until_it_ends(dialed).await;
            }
            Err(error) => {
                let event = teller.now(id, What::DialFailed).since(begun);
                teller.tell(&event.because(error));
            }
        }
        sleep(clock.second()).await;
    }
}

/// One connection and whose it is.
struct Held<'a> {
    worker: u64,
    id: u64,
    dialer: &'a Dialer,
    teller: &'a Teller,
    clock: Clock,
}

impl Held<'_> {
    /// Holds a watch on the connection and tells how both end.
    async fn until_it_ends(&self, dialed: Dialed) {
        let born = monotonic_seconds();
        let testimony = dialed.testimony;
        let mut server = None;
        if let Err(error) = self.watch(dialed.stream, &mut server).await {
            let event = self.teller.now(self.worker, What::Failed).since(born);
            self.teller.tell(&event.because(error));
        }
        let ending = testimony.ending().unwrap_or(Ending::Own);
        let event = self.teller.now(self.id, What::Closed).since(born);
        self.teller.tell(&event.by(server).because(ending));
    }

    /// Begins a watch, remembers who answers, and reads until the end.
    async fn watch(
        &self,
        stream: TlsStream<Witness>,
        server: &mut Option<String>,
    ) -> Result<(), LinkError> {
        let begun = monotonic_seconds();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        let request = request::get_plain(&self.dialer.origin, WATCH)?;
        let answer = timeout(self.clock.request_timeout(), sender.send_request(request));
        let response = answer.await.map_err(|_| LinkError::TimedOut)??;
        server.clone_from(&request::server(&response));
        let event = self.teller.now(self.worker, What::Ok).since(begun);
        self.teller.tell(&event.on(self.id).by(server.clone()));
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        Ok(())
    }
}
