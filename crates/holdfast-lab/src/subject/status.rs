//! Asking an agent in a namespace for its status.

use std::net::SocketAddrV4;
use std::time::Duration;

use holdfast_core::status::Status;
use holdfast_linux::netns::{self, Namespace};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an agent may take. Its admin port is on loopback and answers from memory.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why there is no status.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// Nothing listens there yet.
    #[error("connect to the agent's admin port {address}")]
    Connect {
        /// Where.
        address: SocketAddrV4,
        /// What the system said.
        source: std::io::Error,
    },
    /// It does not speak HTTP.
    #[error("ask the agent for its status")]
    Http(#[from] hyper::Error),
    /// The request could not be built.
    #[error("ask the agent for its status")]
    Request(#[from] http::Error),
    /// It did not answer in time.
    #[error("the agent did not tell its status within {} s", PATIENCE.as_secs())]
    Late,
    /// Its namespace can't be entered.
    #[error(transparent)]
    Namespace(#[from] netns::NamespaceError),
    /// The answer is no status.
    #[error("read the agent's status")]
    Shape(#[from] serde_json::Error),
}

/// The status of the agent that tells it at `address` inside `namespace`.
pub async fn ask(namespace: &Namespace, address: SocketAddrV4) -> Result<Status, StatusError> {
    let body = read(namespace, address, "/status").await?;
    Ok(serde_json::from_str(&body)?)
}

/// What the agent answers at `address` inside `namespace`.
pub async fn read(
    namespace: &Namespace,
    address: SocketAddrV4,
    path: &str,
) -> Result<String, StatusError> {
    timeout(PATIENCE, fetch(namespace, address, path))
        .await
        .map_err(|_| StatusError::Late)?
}

async fn fetch(
    namespace: &Namespace,
    address: SocketAddrV4,
    path: &str,
) -> Result<String, StatusError> {
    let connect = |source| StatusError::Connect { address, source };
    // Loopback either accepts or refuses at once, so that nothing waits for this.
    let stream = namespace
        .within(|| std::net::TcpStream::connect(address))?
        .map_err(connect)?;
    stream.set_nonblocking(true).map_err(connect)?;
    let stream = TcpStream::from_std(stream).map_err(connect)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let talk = async move {
        let request = http::Request::get(path)
            .header(http::header::HOST, address.to_string())
            .body(Empty::<Bytes>::new())?;
        let body = sender
            .send_request(request)
            .await?
            .into_body()
            .collect()
            .await?;
        Ok::<_, StatusError>(body.to_bytes())
    };
    let (body, ended) = tokio::join!(talk, connection);
    // How the connection ended does not matter once the answer is there.
    drop(ended);
    Ok(String::from_utf8_lossy(&body?).into_owned())
}
