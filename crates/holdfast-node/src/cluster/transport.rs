//! Carries one request to whichever server answers, with the credential of the moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tower::Service;

use super::Route;
use super::connect::ConnectError;
use super::kubeconfig::{Access, KubeconfigError};
use super::plugin::PluginError;
use super::session::Session;

/// Time for a server's first answer, connecting included.
const ANSWER: Duration = Duration::from_secs(10);

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("holdfast/", env!("CARGO_PKG_VERSION")));

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The kubeconfig can't be used.
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    /// The credential plug-in gave nothing.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// No server could be reached.
    #[error(transparent)]
    Connect(ConnectError),
    /// Nothing came in time.
    #[error("no answer in {:.1} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The connection ended, or what came was no HTTP.
    #[error("the connection broke ({0})")]
    Broken(String),
    /// The request's path can't be asked for.
    #[error("no address for the request ({0})")]
    Uri(http::Error),
    /// The TLS library can't be set up.
    #[error("set up TLS: {0}")]
    Setup(rustls::Error),
}

/// The service below the typed client.
#[derive(Clone)]
pub(super) struct Transport(Arc<Shared>);

struct Shared {
    path: PathBuf,
    route: Route,
    turn: Arc<AtomicUsize>,
    answer: Duration,
    current: Mutex<State>,
}

/// Between a kubeconfig and the first request there is no session yet.
#[derive(Default)]
struct State {
    read: Option<Access>,
    session: Option<Arc<Session>>,
}

impl Transport {
    pub(super) fn at(path: &Path, route: Route) -> Self {
        Self(Arc::new(Shared {
            path: path.to_owned(),
            route,
            turn: Arc::default(),
            answer: ANSWER,
            current: Mutex::default(),
        }))
    }

    pub(super) fn with(access: Access, route: Route) -> Self {
        Self(Arc::new(Shared {
            path: access.path.clone(),
            route,
            turn: Arc::default(),
            answer: ANSWER,
            current: Mutex::new(State {
                read: Some(access),
                session: None,
            }),
        }))
    }
}

#[cfg(test)]
impl Transport {
    /// With another time for a server's first answer.
    pub(super) fn answering_within(path: &Path, route: Route, answer: Duration) -> Self {
        let mut transport = Self::at(path, route);
        if let Some(shared) = Arc::get_mut(&mut transport.0) {
            shared.answer = answer;
        }
        transport
    }
}

impl Shared {
    async fn answer(&self, request: Request<Body>) -> Result<Response<Incoming>, TransportError> {
        let session = self.session().await?;
        let request = addressed(request, &session)?;
        let asked = timeout(self.answer, session.http.request(request)).await;
        let Ok(asked) = asked else {
            self.turn.fetch_add(1, Ordering::Relaxed);
            return Err(TransportError::Silent(self.answer));
        };
        let response = asked.map_err(|error| {
            let connecting = error.is_connect();
            let why = broken(&error);
            if !connecting {
                self.turn.fetch_add(1, Ordering::Relaxed);
            }
            why
        })?;
        if response.status() == StatusCode::UNAUTHORIZED && session.may_be_refused() {
            self.drop_session(&session).await;
        }
        Ok(response)
    }

    /// The current session, or a new one where something has changed. What can't be read any more
    /// changes nothing for as long as the old credential lasts: files are replaced at odd moments.
    async fn session(&self) -> Result<Arc<Session>, TransportError> {
        let mut current = self.current.lock().await;
        if let Some(session) = &current.session
            && session.is_current()
        {
            return Ok(Arc::clone(session));
        }
        let access = match current.read.take() {
            Some(access) if !access.is_outdated() => Ok(access),
            _ => Access::read(&self.path).map_err(TransportError::from),
        };
        let fresh = match access {
            Ok(access) => Session::begin(access, self.route.clone(), Arc::clone(&self.turn)).await,
            Err(error) => Err(error),
        };
        match (fresh, &current.session) {
            (Ok(fresh), _) => {
                let fresh = Arc::new(fresh);
                current.session = Some(Arc::clone(&fresh));
                Ok(fresh)
            }
            (Err(error), Some(old)) if old.is_valid() => {
                tracing::debug!(%error, "credential could not be renewed, the old one is used");
                Ok(Arc::clone(old))
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn drop_session(&self, refused: &Arc<Session>) {
        let mut current = self.current.lock().await;
        if current
            .session
            .as_ref()
            .is_some_and(|s| Arc::ptr_eq(s, refused))
        {
            current.session = None;
        }
    }
}

/// The request with a whole address and its credential.
fn addressed(
    mut request: Request<Body>,
    session: &Session,
) -> Result<Request<Body>, TransportError> {
    let wanted = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let uri = Uri::builder()
        .scheme("https")
        .authority(session.authority.as_str())
        .path_and_query(format!("{}{wanted}", session.prefix))
        .build()
        .map_err(TransportError::Uri)?;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, AGENT);
    if let Some(authorization) = &session.authorization {
        headers.insert(AUTHORIZATION, authorization.clone());
    }
    Ok(request)
}

/// The HTTP client wraps what the connector said.
fn broken(error: &hyper_util::client::legacy::Error) -> TransportError {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(connect) = cause.downcast_ref::<ConnectError>() {
            return TransportError::Connect(connect.clone());
        }
        if cause.source().is_none() {
            return TransportError::Broken(cause.to_string());
        }
        source = cause.source();
    }
    TransportError::Broken(error.to_string())
}

impl Service<Request<Body>> for Transport {
    type Response = Response<Incoming>;
    type Error = TransportError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, TransportError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move { shared.answer(request).await })
    }
}
