//! Asks one upstream: TCP, TLS verified against the cluster's CA, `GET /readyz`. Reports each step,
//! judges nothing.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::agent::Input;
use holdfast_core::probing::{ProbeId, Progress};
use holdfast_linux::dial::{self, DialError};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::tls::{HandshakeError, Identity, handshake_error};

#[cfg(test)]
mod tests;

/// An attempt is given up after this time. Long after it became remarkable: an answer that comes
/// late proves life.
const GIVE_UP: Duration = Duration::from_secs(15);

/// `/readyz` answers with a few bytes, or with a list of checks when it fails.
const MOST_BODY: usize = 64 * 1024;

/// A connection that has answered once, and waits for the next question.
struct Kept {
    /// Whom it was verified to be.
    identity: Arc<Identity>,
    sender: SendRequest<Empty<Bytes>>,
    _connection: AbortOnDropHandle<()>,
}

type KeptConnections = Arc<Mutex<BTreeMap<SocketAddr, Kept>>>;

/// The probes of all upstreams.
pub(crate) struct Prober {
    identity: Arc<Identity>,
    facts: mpsc::UnboundedSender<Input>,
    kept: KeptConnections,
    running: BTreeMap<(SocketAddr, ProbeId), AbortOnDropHandle<()>>,
}

impl Prober {
    pub(crate) fn new(identity: Arc<Identity>, facts: mpsc::UnboundedSender<Input>) -> Self {
        Self {
            identity,
            facts,
            kept: Arc::default(),
            running: BTreeMap::new(),
        }
    }

    /// Expects another identity from now on; connections that were verified against the old one are
    /// not asked any more.
    pub(crate) fn expect(&mut self, identity: Arc<Identity>) {
        self.identity = identity;
    }

    pub(crate) fn start(&mut self, upstream: SocketAddr, id: ProbeId, reuse: bool) {
        self.running.retain(|_, task| !task.is_finished());
        // A fresh attempt leaves the kept connection where it is.
        let kept = if reuse {
            let kept = self.kept.lock().remove(&upstream);
            kept.filter(|kept| Arc::ptr_eq(&kept.identity, &self.identity))
        } else {
            None
        };
        let attempt = Attempt {
            upstream,
            id,
            identity: Arc::clone(&self.identity),
            facts: self.facts.clone(),
            kept: Arc::clone(&self.kept),
        };
        let task = tokio::spawn(async move {
            if timeout(GIVE_UP, attempt.run(kept)).await.is_err() {
                attempt.report(Progress::TimedOut);
            }
        });
        self.running
            .insert((upstream, id), AbortOnDropHandle::new(task));
    }

    pub(crate) fn abort(&mut self, upstream: SocketAddr, id: ProbeId) {
        self.running.remove(&(upstream, id));
    }

    pub(crate) fn forget(&mut self, upstream: SocketAddr) {
        self.kept.lock().remove(&upstream);
        self.running.retain(|(address, _), _| *address != upstream);
    }
}

struct Attempt {
    upstream: SocketAddr,
    id: ProbeId,
    identity: Arc<Identity>,
    facts: mpsc::UnboundedSender<Input>,
    kept: KeptConnections,
}

impl Attempt {
    fn report(&self, progress: Progress) {
        let fact = Input::Probed {
            upstream: self.upstream,
            id: self.id,
            progress,
        };
        // Without a receiver the agent is stopping.
        drop(self.facts.send(fact));
    }

    async fn run(&self, kept: Option<Kept>) {
        let connection = match kept {
            Some(kept) => Ok(kept),
            None => self.connect().await,
        };
        let asked = match connection {
            Ok(mut connection) => self
                .ask(&mut connection)
                .await
                .map(|status| (status, connection)),
            Err(progress) => Err(progress),
        };
        match asked {
            Ok((status, connection)) => {
                if !connection.sender.is_closed() {
                    self.kept.lock().insert(self.upstream, connection);
                }
                self.report(Progress::Answered { status });
            }
            Err(progress) => self.report(progress),
        }
    }

    async fn connect(&self) -> Result<Kept, Progress> {
        let stream = dial::dial(self.upstream)
            .await
            .map_err(|e| dial_progress(&e))?;
        self.report(Progress::Connected);
        let secured = self
            .identity
            .connector()
            .connect(self.identity.name(), stream)
            .await
            .map_err(|error| match handshake_error(&error) {
                HandshakeError::Stranger(why) => Progress::Foreign { why },
                HandshakeError::Ended => Progress::Reset,
            })?;
        self.report(Progress::Secured);
        let (sender, connection) = http1::handshake(TokioIo::new(secured))
            .await
            .map_err(|_| Progress::Broken)?;
        let connection = tokio::spawn(async move {
            // How it ended is told by the request that fails.
            drop(connection.await);
        });
        Ok(Kept {
            identity: Arc::clone(&self.identity),
            sender,
            _connection: AbortOnDropHandle::new(connection),
        })
    }

    async fn ask(&self, connection: &mut Kept) -> Result<u16, Progress> {
        let request = Request::get("/readyz")
            .header(header::HOST, self.identity.host())
            .header(header::USER_AGENT, USER_AGENT)
            .body(Empty::new())
            .map_err(|_| Progress::Broken)?;
        let broken = |_| Progress::Broken;
        connection.sender.ready().await.map_err(broken)?;
        let response = connection
            .sender
            .send_request(request)
            .await
            .map_err(broken)?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MOST_BODY)
            .collect()
            .await;
        body.map_err(|_| Progress::Broken)?;
        Ok(status)
    }
}

const USER_AGENT: &str = concat!("holdfast/", env!("CARGO_PKG_VERSION"));

fn dial_progress(error: &io::Error) -> Progress {
    match dial::failure(error) {
        DialError::Refused => Progress::Refused,
        DialError::Unreachable => Progress::Unreachable,
        DialError::TimedOut => Progress::TimedOut,
        // Out of descriptors or the like: nothing was learnt about the upstream.
        DialError::Local(_) => Progress::Broken,
    }
}
