//! The shell: TLS and HTTP in front of [`Arm`], and the time.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::arm::{Arm, Settings};
use super::folder::LoadError;
use super::plane::{Dial, Plane, PlaneError};
use super::wire::{Answer, Refusal, Request};
use crate::actor::{StartError, port, tls};
use crate::certificates::{CertificateError, Certificates};

/// The tenant that the first line names; any other does as well.
const TENANT: &str = "11111111-1111-1111-1111-111111111111";
/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(32);

/// What the server is told at start.
#[derive(Clone, Debug)]
pub struct Azure {
    /// Where it listens; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Where managed identities ask for tokens, without TLS, as the Instance Metadata Service lets
    /// them; nowhere unless given.
    pub metadata: Option<SocketAddr>,
    /// Where its certificates go.
    pub certificates: PathBuf,
    /// The folder that it starts with.
    pub from: Option<PathBuf>,
    /// The folder that its state goes to when it ends.
    pub dump: Option<PathBuf>,
    /// Put each VM into a network namespace, with copies of this program.
    pub network: Option<PathBuf>,
    /// What the service itself is told.
    pub settings: Settings,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Its certificates could not be made.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Its folder could not be read or written.
    #[error(transparent)]
    Folder(#[from] LoadError),
    /// Its network could not be made.
    #[error(transparent)]
    Plane(#[from] PlaneError),
    /// It could not listen, or not set up TLS.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    arm: Mutex<Arm>,
    started: Instant,
    plane: Option<tokio::sync::Mutex<Plane>>,
    /// Tells that something may have changed.
    changed: Notify,
}

/// Serves until `end` comes; `ready` gets what a client needs to know.
pub async fn serve(
    options: Azure,
    ready: impl FnOnce(&Value),
    end: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let mut arm = Arm::new(options.settings);
    if let Some(folder) = &options.from {
        arm.load(folder)?;
    }
    let reached = match options.listen.ip() {
        IpAddr::V4(address) => vec![address],
        IpAddr::V6(_) => Vec::new(),
    };
    let certificates = Certificates::make(&options.certificates, "arm.lab.test", &reached)?;
    let server = tls::server(&certificates.server, &certificates.key)?;
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let (listener, address) = port::listen(options.listen).await?;
    let metadata = match options.metadata {
        Some(metadata) => Some(port::listen(metadata).await?),
        None => None,
    };
    let plane = match &options.network {
        Some(program) => Some(tokio::sync::Mutex::new(Plane::start(program).await?)),
        None => None,
    };
    let told = json!({
        "ready": true,
        "endpoint": format!("https://{address}"),
        "ca": certificates.ca,
        "subscription": arm.subscription(),
        "tenant": TENANT,
        "metadata": metadata.as_ref().map(|(_, address)| format!("http://{address}")),
    });
    let shared = Arc::new(Shared {
        arm: Mutex::new(arm),
        started: Instant::now(),
        plane,
        changed: Notify::new(),
    });
    shared.follow().await?;
    let mut tasks = JoinSet::new();
    let own = Arc::clone(&shared);
    tasks.spawn(port::accept(listener, move |stream| {
        secure(stream, acceptor.clone(), Arc::clone(&own))
    }));
    if let Some((listener, _)) = metadata {
        let own = Arc::clone(&shared);
        tasks.spawn(port::accept(listener, move |stream| {
            converse(TokioIo::new(stream), "http", Arc::clone(&own))
        }));
    }
    let own = Arc::clone(&shared);
    tasks.spawn(async move { own.go_on_following().await });
    ready(&told);
    end.await;
    tasks.shutdown().await;
    if let Some(folder) = &options.dump {
        shared.arm.lock().dump(folder)?;
    }
    Ok(())
}

impl Shared {
    /// Ends operations that are due, and lets the network follow. When there is more to do.
    async fn follow(&self) -> Result<Option<Duration>, PlaneError> {
        let Some(plane) = &self.plane else {
            return Ok(None);
        };
        let mut plane = plane.lock().await;
        let (changed, wake) = {
            let mut arm = self.arm.lock();
            arm.settle(self.started.elapsed());
            let generation = arm.generation();
            let behind = !plane.follows(generation);
            let changed = behind.then(|| (generation, arm.exits()));
            (changed, arm.next_wake())
        };
        if let Some((generation, exits)) = changed {
            plane.follow(generation, &exits).await?;
        }
        Ok(wake.map(|wake| wake.saturating_sub(self.started.elapsed())))
    }

    /// Follows until the network can't any more; who dials is told why.
    async fn go_on_following(&self) {
        while let Ok(wake) = self.follow().await {
            let changed = self.changed.notified();
            match wake {
                Some(wake) => drop(timeout(wake, changed).await),
                None => changed.await,
            }
        }
    }

    /// Tries to reach the internet from a VM, as of now.
    async fn dial(&self, request: &Request) -> Answer {
        let dial: Dial = match serde_json::from_slice(&request.body) {
            Ok(dial) => dial,
            Err(error) => return Refusal::bad("InvalidDial", error.to_string()).into(),
        };
        let Some(plane) = &self.plane else {
            let what = "there is no network: start with --network";
            return Refusal::conflict("NoNetwork", what).into();
        };
        let tried = match self.follow().await {
            Ok(_) => plane.lock().await.dial(dial).await,
            Err(error) => Err(error),
        };
        match tried {
            Ok(answer) => Answer::json(StatusCode::OK, answer),
            Err(error) => Refusal::bad("InvalidDial", chain(&error)).into(),
        }
    }
}

async fn secure(stream: TcpStream, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        converse(TokioIo::new(stream), "https", shared).await;
    }
}

async fn converse<I>(io: I, scheme: &'static str, shared: Arc<Shared>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { answer(request, scheme, &shared).await }
    });
    // How a connection ends is the client's to tell.
    drop(
        auto::Builder::new(TokioExecutor::new())
            .serve_connection(io, service)
            .await,
    );
}

/// The connection breaks, as a fault asked for.
#[derive(Debug, thiserror::Error)]
#[error("the answer is lost, as a fault asked for")]
struct Lost;

async fn answer(
    request: http::Request<Incoming>,
    scheme: &str,
    shared: &Shared,
) -> Result<Response<Full<Bytes>>, Lost> {
    let request = match whole(request, scheme).await {
        Ok(request) => request,
        Err(refusal) => return Ok(response(Answer::from(refusal), &Method::GET)),
    };
    let method = request.method.clone();
    let answer = match (&request.method, request.path.as_str()) {
        (&Method::POST, "/lab/folder") => written(&request, shared),
        (&Method::POST, "/lab/dial") => shared.dial(&request).await,
        _ => {
            let now = shared.started.elapsed();
            let answer = shared.arm.lock().answer(now, &request);
            shared.changed.notify_one();
            answer
        }
    };
    if answer.lost {
        return Err(Lost);
    }
    Ok(response(answer, &method))
}

/// Writes the state into a folder.
fn written(request: &Request, shared: &Shared) -> Answer {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(folder) = body.get("write").and_then(Value::as_str) else {
        let what = format!("found {body}, accepted: {{\"write\": \"FOLDER\"}}");
        return Refusal::bad("InvalidFolder", what).into();
    };
    let done = shared.arm.lock().dump(folder.as_ref());
    match done {
        Ok(()) => Answer::json(StatusCode::OK, json!({"written": folder})),
        Err(error) => Refusal::bad("InvalidFolder", chain(&error)).into(),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    crate::launch::chain(error).join(": ")
}

async fn whole(request: http::Request<Incoming>, scheme: &str) -> Result<Request, Refusal> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|error| {
        Refusal::bad(
            "InvalidRequestContent",
            format!("the body broke off: {error}"),
        )
    })?;
    let host = head.headers.get(http::header::HOST);
    let host = host.and_then(|it| it.to_str().ok()).map(str::to_owned);
    let authority = head.uri.authority().map(ToString::to_string);
    let host = host.or(authority).unwrap_or_default();
    Ok(Request {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        base: format!("{scheme}://{host}"),
        headers: head.headers,
        body: body.to_bytes().to_vec(),
    })
}

fn response(answer: Answer, method: &Method) -> Response<Full<Bytes>> {
    let text = answer.body.map(|body| body.to_string()).unwrap_or_default();
    let mut builder = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        builder = builder.header(*name, value);
    }
    if !text.is_empty() {
        builder = builder.header(CONTENT_TYPE, "application/json; charset=utf-8");
    }
    let body = if method == Method::HEAD {
        builder = builder.header(CONTENT_LENGTH, text.len());
        Bytes::new()
    } else {
        Bytes::from(text)
    };
    builder.body(Full::new(body)).unwrap_or_default()
}
