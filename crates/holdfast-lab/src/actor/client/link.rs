//! One HTTP/2 connection that many requests share, made again when it is gone.
//!
//! As in Go's transport, a request that finds no connection starts a dial of its own and takes whichever
//! connection is there first. The dial outlives a request that loses patience: a later one uses it. A
//! connection that comes up when there is one already is told of as closed, never as connected.

use std::sync::{Arc, OnceLock};

use http::{Method, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::task::JoinError;

use super::clock::Clock;
use super::dial::{DialError, Dialed, Dialer};
use super::event::{Ending, Teller, What};
use super::request;
use crate::actor::monotonic_seconds;

/// A connection that requests share.
pub(super) struct Link {
    dialer: Arc<Dialer>,
    teller: Teller,
    clock: Clock,
    current: watch::Sender<Option<Open>>,
}

/// The connection that is in use.
#[derive(Debug, Clone)]
pub(super) struct Open {
    id: u64,
    /// Who answered on it first.
    server: Arc<OnceLock<String>>,
    sender: SendRequest<Full<Bytes>>,
}

/// Why a request could not be sent or its answer not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("build the request: {0}")]
    Build(#[from] http::Error),
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("{}", chain(.0))]
    Http(#[from] hyper::Error),
    #[error("dial: {0}")]
    Task(#[from] JoinError),
    #[error("timed out")]
    TimedOut,
}

impl Link {
    /// A link that dials when the first request comes.
    pub(super) fn new(dialer: Arc<Dialer>, teller: Teller, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            dialer,
            teller,
            clock,
            current: watch::Sender::new(None),
        })
    }

    /// Sends a request and returns the head of its answer, with the number of its connection.
    pub(super) async fn send(
        self: &Arc<Self>,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(u64, Response<Incoming>), LinkError> {
        let uri = format!("{}{path}", self.dialer.origin);
        let request = request::build(method, &uri, body)?;
        let mut open = self.open().await?;
        let response = open.sender.send_request(request).await?;
        if let Some(server) = request::server(&response) {
            open.server.get_or_init(|| server);
        }
        Ok((open.id, response))
    }

    /// The current connection, or the first that comes up.
    async fn open(self: &Arc<Self>) -> Result<Open, LinkError> {
        if let Some(open) = self.usable() {
            return Ok(open);
        }
        let mut dial = tokio::spawn(Arc::clone(self).dial());
        tokio::select! {
            dialed = &mut dial => dialed?,
            open = self.next_open() => Ok(open),
        }
    }

    /// The current connection, or the next one that some dial brings up.
    pub(super) async fn next_open(&self) -> Open {
        let mut current = self.current.subscribe();
        loop {
            let open = current.borrow_and_update().clone();
            if let Some(open) = open.filter(Open::is_usable) {
                return open;
            }
            if current.changed().await.is_err() {
                // Cannot be: this link, which is borrowed, holds the sender.
                std::future::pending::<()>().await;
            }
        }
    }

    fn usable(&self) -> Option<Open> {
        self.current.borrow().clone().filter(Open::is_usable)
    }

    /// Makes a connection and makes it the current one, unless another was faster.
    async fn dial(self: Arc<Self>) -> Result<Open, LinkError> {
        let id = self.teller.connection();
        let begun = monotonic_seconds();
        self.teller.tell(&self.teller.now(id, What::Dialing));
        let dialed = match self.dialer.dial().await {
            Ok(dialed) => dialed,
            Err(error) => {
                let event = self.teller.now(id, What::DialFailed);
                self.teller.tell(&event.since(begun).because(&error));
                return Err(error.into());
            }
        };
        if let Some(open) = self.usable() {
            drop(dialed);
            let event = self.teller.now(id, What::Closed);
            self.teller.tell(&event.because(Ending::Own));
            return Ok(open);
        }
        let event = self.teller.now(id, What::Connected);
        self.teller
            .tell(&event.since(begun).because(dialed.address));
        self.adopt(id, dialed).await
    }

    /// Speaks HTTP/2 on a new connection and offers it to all requests until it ends.
    async fn adopt(self: Arc<Self>, id: u64, dialed: Dialed) -> Result<Open, LinkError> {
        let born = monotonic_seconds();
        let testimony = dialed.testimony;
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(self.clock.ping_after())
            .keep_alive_timeout(self.clock.ping_timeout())
            .keep_alive_while_idle(true)
            .handshake(TokioIo::new(dialed.stream))
            .await?;
        let server = Arc::new(OnceLock::new());
        let open = Open {
            id,
            server: Arc::clone(&server),
            sender,
        };
        self.current.send_replace(Some(open.clone()));
        let link = Arc::downgrade(&self);
        let teller = self.teller.clone();
        tokio::spawn(async move {
            let ending = match connection.await {
                Err(error) if error.is_timeout() => Ending::PingTimeout,
                Ok(()) | Err(_) => testimony.ending().unwrap_or(Ending::Own),
            };
            let event = teller.now(id, What::Closed).since(born);
            let event = event.by(server.get().cloned());
            teller.tell(&event.because(ending));
            if let Some(link) = link.upgrade() {
                link.forget(id);
            }
        });
        Ok(open)
    }

    fn forget(&self, id: u64) {
        self.current.send_if_modified(|current| {
            let mine = current.as_ref().is_some_and(|open| open.id == id);
            if mine {
                *current = None;
            }
            mine
        });
    }
}

impl Open {
    fn is_usable(&self) -> bool {
        !self.sender.is_closed()
    }
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
