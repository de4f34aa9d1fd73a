//! A stand-in for a Kubernetes API server: TLS, HTTP/1.1 and HTTP/2, and as much of the API as a kubelet's
//! heartbeat, a proxy's probe and `kubectl get nodes` need.
//!
//! Every response carries `x-lab-server: NAME`. Leases live in memory, each server with its own; a PUT that
//! names another resource version than the stored one is a conflict. The nodes are the holders of leases.
//!
//! Orders:
//!
//! | order | effect |
//! |---|---|
//! | `ready`, `not-ready` | what `/readyz` answers: 200, or 500 as a server that shuts down |
//! | `delay 12s` | every answer is that late; `delay 0s` ends it |
//! | `endpoints A:6443,B:6443` | replaces the endpoint slices of `default/kubernetes`, and tells their watchers |
//! | `nodes 5000` | lists of nodes say that there are so many, beyond those that hold a lease |
//! | `deny 403` | the objects of the API are refused with that status; `deny 0` ends it |
//! | `node NAME True`, `False`, `Unknown`, `gone` | what the node's `Ready` condition is, or that there is no such node; `node NAME` leaves it to its lease |
//! | `clock -1h` | the `Date` of answers is so far from this machine's; `clock 0s` ends it |
//! | `count` | `{"ok":true,"requests":N,"connections_open":N,"handshakes":N}` |

mod document;
mod route;
mod state;
mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{Console, StartError, control, port, tls};
use state::State;

/// How long a handshake may take: kube-apiserver's `ReadHeaderTimeout`
/// (apiserver `pkg/server/secure_serving.go`).
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(32);

/// What an API server is told at start.
#[derive(Debug, Clone)]
pub struct ApiServer {
    /// The name it gives in `x-lab-server` with every response.
    pub name: String,
    /// Where it listens; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// PEM file with its certificate chain.
    pub cert: PathBuf,
    /// PEM file with the certificate's private key.
    pub key: PathBuf,
    /// The addresses in the endpoint slices of `default/kubernetes`.
    pub endpoints: Vec<SocketAddr>,
    /// How often an idle watch gets a bookmark. `None`: only the first one, then silence.
    /// Stock API servers send one about each minute.
    pub bookmark_every: Option<Duration>,
}

/// Runs an API server on the process's own input and output until the input ends.
pub async fn run(options: ApiServer) -> Result<(), StartError> {
    serve(options, Console::stdio()).await
}

/// Runs an API server until the console's input ends.
pub async fn serve(options: ApiServer, mut console: Console) -> Result<(), StartError> {
    if http::HeaderValue::from_str(&options.name).is_err() {
        return Err(StartError::Setting {
            option: "--name",
            found: options.name,
            accepted: "a name that fits in an HTTP header",
        });
    }
    let acceptor = TlsAcceptor::from(Arc::new(tls::server(&options.cert, &options.key)?));
    let (listener, address) = port::listen(options.listen).await?;
    let name = options.name.clone();
    let state = Arc::new(State::new(
        options.name,
        &options.endpoints,
        options.bookmark_every,
    ));

    let mut tasks = JoinSet::new();
    let shared = Arc::clone(&state);
    tasks.spawn(port::accept(listener, move |stream| {
        converse(stream, acceptor.clone(), Arc::clone(&shared))
    }));
    console.ready(&json!({"listen": address, "name": name}));
    while let Some(line) = console.order().await {
        console.answer(obey(&line, &state));
    }
    Ok(())
}

fn obey(line: &str, state: &State) -> Result<Value, String> {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["ready"] => state.set_ready(true),
        ["not-ready"] => state.set_ready(false),
        ["delay", time] => state.set_delay(control::duration(time)?),
        ["endpoints"] => state.set_endpoints(&[]),
        ["endpoints", list] => state.set_endpoints(&control::addresses(list)?),
        ["node", name] => state.set_node(name, None),
        [
            "node",
            name,
            condition @ ("True" | "False" | "Unknown" | "gone"),
        ] => {
            state.set_node(name, Some(condition));
        }
        ["clock", ahead] => state.set_clock(match ahead.strip_prefix('-') {
            Some(behind) => -seconds(behind)?,
            None => seconds(ahead)?,
        }),
        ["nodes", count] => state.set_nodes(number(count)?),
        ["deny", status] => state.deny(number(status)?),
        ["count"] => return Ok(state.counts()),
        _ => {
            return Err(format!(
                "found {line:?}, accepted: ready, not-ready, delay TIME, endpoints ADDRESS:PORT,…, nodes COUNT, deny STATUS, \
                 node NAME CONDITION, clock TIME, count"
            ));
        }
    }
    Ok(Value::Null)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| format!("found {text:?}, accepted: a whole number"))
}

fn seconds(text: &str) -> Result<i64, String> {
    let time = control::duration(text)?;
    i64::try_from(time.as_secs()).map_err(|_| format!("found {text:?}, accepted: a shorter time"))
}

/// Serves one connection until either side ends it.
async fn converse(stream: TcpStream, acceptor: TlsAcceptor, state: Arc<State>) {
    let _open = Arc::clone(&state).opened();
    let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await else {
        return;
    };
    state.shook_hands();
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, std::convert::Infallible>(route::answer(request, state).await) }
    });
    // How a connection ends is the client's to tell.
    drop(
        auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}
