//! One request and its answer, whole.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use tokio::time::timeout;

use super::link::{Link, LinkError};

/// The header in which a server gives its name.
const SERVER: &str = "x-lab-server";

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("status {status}")]
    Status {
        status: StatusCode,
        server: Option<String>,
    },
    #[error("timed out")]
    TimedOut,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) connection: u64,
    pub(super) server: Option<String>,
    pub(super) body: Bytes,
}

impl RequestError {
    /// The server that refused, if one did.
    pub(super) fn server(&self) -> Option<String> {
        match self {
            Self::Status { server, .. } => server.clone(),
            Self::Link(_) | Self::TimedOut => None,
        }
    }
}

/// A request to a server, for either protocol.
pub(super) fn build(
    method: Method,
    uri: &str,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .header(ACCEPT, "application/json");
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    request.body(Full::new(Bytes::from(body)))
}

/// A GET for HTTP/1.1: the path in its line, the host in its header.
pub(super) fn get_plain(origin: &str, path: &str) -> Result<Request<Full<Bytes>>, http::Error> {
    let mut request = build(Method::GET, path, Vec::new())?;
    let host = origin.trim_start_matches("https://");
    let host = http::HeaderValue::from_str(host)?;
    request.headers_mut().insert(HOST, host);
    Ok(request)
}

/// Sends a request over a link, dialling if need be, and reads the whole answer within a time.
/// An answer other than 2xx is an error.
pub(super) async fn send(
    link: &std::sync::Arc<Link>,
    method: Method,
    path: &str,
    body: Vec<u8>,
    within: Duration,
) -> Result<Answer, RequestError> {
    let exchange = async {
        let (connection, response) = link.send(method, path, body).await?;
        let status = response.status();
        let server = server(&response);
        let body = response.into_body().collect().await;
        let body = body.map_err(LinkError::Http)?.to_bytes();
        if status.is_success() {
            Ok(Answer {
                connection,
                server,
                body,
            })
        } else {
            Err(RequestError::Status { status, server })
        }
    };
    timeout(within, exchange)
        .await
        .unwrap_or(Err(RequestError::TimedOut))
}

/// The name of the server that answered.
pub(super) fn server(response: &Response<Incoming>) -> Option<String> {
    let name = response.headers().get(SERVER)?.to_str().ok()?;
    Some(name.to_owned())
}
