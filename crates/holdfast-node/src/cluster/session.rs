//! What requests share until a credential changes: the connections that were made with it, and its
//! header.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use http::HeaderValue;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::{SignedDuration, Timestamp};
use kube::client::Body;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::Route;
use super::connect::Connector;
use super::kubeconfig::Access;
use super::material;
use super::transport::TransportError;

/// An idle connection is kept for this time: long enough for lists that are asked for each half
/// minute to share one, short enough to follow the agent's choice of upstream.
const KEEP_IDLE: Duration = Duration::from_secs(90);

/// A credential is replaced this long before it ends.
const EARLY: SignedDuration = SignedDuration::from_secs(60);

/// A credential that a server refuses is asked for again, but no more often than this: a plug-in may
/// cost its own servers something.
const REFUSED_AGAIN: Duration = Duration::from_secs(10);

pub(super) struct Session {
    access: Access,
    pub(super) http: Client<Connector, Body>,
    pub(super) authorization: Option<HeaderValue>,
    /// `HOST:PORT` for the URI and the Host header.
    pub(super) authority: String,
    pub(super) prefix: String,
    until: Option<Timestamp>,
    began: Instant,
}

impl Session {
    /// Asks the plug-in, where there is one.
    pub(super) async fn begin(
        mut access: Access,
        route: Route,
        turn: Arc<AtomicUsize>,
    ) -> Result<Self, TransportError> {
        let mut until = None;
        let mut authorization = access.authorization.take();
        let mut identity = access.identity.take();
        if let Some(plugin) = &access.plugin {
            let given = plugin.ask().await?;
            authorization = given.authorization.or(authorization);
            identity = given.identity.or(identity);
            until = given.until;
        }
        let tls = material::tls(access.roots.clone(), identity).map_err(TransportError::Setup)?;
        let host = if access.host.contains(':') {
            format!("[{}]", access.host)
        } else {
            access.host.clone()
        };
        let connector = Connector {
            tls: TlsConnector::from(Arc::new(tls)),
            name: access.server_name.clone(),
            host: access.host.clone(),
            port: access.port,
            route,
            turn,
        };
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEEP_IDLE)
            .pool_max_idle_per_host(1)
            .build(connector);
        Ok(Self {
            authority: format!("{host}:{}", access.port),
            prefix: access.prefix.clone(),
            access,
            http,
            authorization,
            until,
            began: Instant::now(),
        })
    }

    /// Whether it may serve one more request as it is.
    pub(super) fn is_current(&self) -> bool {
        let runs_out = self
            .until
            .is_some_and(|until| Timestamp::now() + EARLY >= until);
        // A credential that ends in less than a minute is used as long as it can be.
        let renewed = self.began.elapsed() < REFUSED_AGAIN;
        !self.access.is_outdated() && (!runs_out || renewed)
    }

    /// Whether it may still be used when a newer one can't be had.
    pub(super) fn is_valid(&self) -> bool {
        self.until.is_none_or(|until| Timestamp::now() < until)
    }

    /// Whether a refusal is a reason to ask for another credential.
    pub(super) fn may_be_refused(&self) -> bool {
        self.began.elapsed() >= REFUSED_AGAIN
    }
}
