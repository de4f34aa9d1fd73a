//! Makes a verified connection to the first of several addresses that completes TLS.
//!
//! A server that hangs accepts TCP and never answers TLS, so the whole handshake counts. The next
//! address is tried beside the first one after a short while, or at once when it fails.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use holdfast_linux::dial;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::Service;

use super::Route;

/// Time for TCP and TLS with one address. A SYN that got lost is sent again after 1 s and 3 s
/// (RFC 6298), and may still make it.
const CONNECT: Duration = Duration::from_secs(5);

/// After this time without a connection the next address is tried beside the first
/// (RFC 8305, section 5, recommends 250 ms).
const HEDGE: Duration = Duration::from_millis(250);

/// A connection with bytes that nobody acknowledges ends after this time.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);

/// Why no address gave a connection.
#[derive(Clone, Debug)]
pub struct ConnectError {
    /// Each address that was tried, and how it failed.
    pub failures: Vec<(SocketAddr, Failure)>,
    /// The name could not be resolved.
    pub unresolved: Option<String>,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.unresolved {
            return f.write_str(why);
        }
        if self.failures.is_empty() {
            return f.write_str("no address of an API server is known");
        }
        for (place, (address, failure)) in self.failures.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{address} {failure}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConnectError {}

/// How one address failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// TCP failed, in the kernel's words.
    Tcp(String),
    /// The TLS handshake failed: a stranger, or a client certificate that is not accepted.
    Tls(String),
    /// Nothing came in time.
    Silent,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(why) => write!(f, "can't be reached ({why})"),
            Self::Tls(why) => write!(f, "fails TLS ({why})"),
            Self::Silent => write!(f, "completes no TLS handshake in {} s", CONNECT.as_secs()),
        }
    }
}

/// Connects for the HTTP client.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) tls: TlsConnector,
    pub(super) name: ServerName<'static>,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) route: Route,
    pub(super) turn: Arc<AtomicUsize>,
}

impl Connector {
    async fn connect(self) -> Result<Link, ConnectError> {
        let mut addresses = match &self.route {
            Route::Through(addresses) => addresses(),
            Route::Server => self.resolve().await?,
        };
        // A server that completes TLS and answers no request would be met again and again.
        let turn = self.turn.load(Ordering::Relaxed);
        if !addresses.is_empty() {
            let start = turn % addresses.len();
            addresses.rotate_left(start);
        }
        self.race(addresses).await
    }

    async fn resolve(&self) -> Result<Vec<SocketAddr>, ConnectError> {
        let unresolved = |why: String| ConnectError {
            failures: Vec::new(),
            unresolved: Some(format!("{} can't be resolved ({why})", self.host)),
        };
        let found = timeout(CONNECT, lookup_host((self.host.as_str(), self.port))).await;
        let found = found
            .map_err(|_| unresolved(format!("no answer in {} s", CONNECT.as_secs())))?
            .map_err(|error| unresolved(error.to_string()))?;
        Ok(found.collect())
    }

    async fn race(&self, addresses: Vec<SocketAddr>) -> Result<Link, ConnectError> {
        let mut waiting = addresses.into_iter();
        let mut attempts: FuturesUnordered<_> = waiting
            .next()
            .map(|address| self.attempt(address))
            .into_iter()
            .collect();
        let mut failures = Vec::new();
        loop {
            tokio::select! {
                done = attempts.next() => match done {
                    Some((_, Ok(link))) => return Ok(link),
                    Some((address, Err(failure))) => failures.push((address, failure)),
                    None => return Err(ConnectError { failures, unresolved: None }),
                },
                () = sleep(HEDGE), if waiting.len() > 0 => {}
            }
            attempts.extend(waiting.next().map(|address| self.attempt(address)));
        }
    }

    async fn attempt(&self, address: SocketAddr) -> (SocketAddr, Result<Link, Failure>) {
        let secured = timeout(CONNECT, self.secure(address)).await;
        (address, secured.unwrap_or(Err(Failure::Silent)))
    }

    async fn secure(&self, address: SocketAddr) -> Result<Link, Failure> {
        let unreachable = |error: io::Error| Failure::Tcp(error.to_string());
        let stream = dial::dial(address).await.map_err(unreachable)?;
        dial::end_unacknowledged(&stream, UNACKNOWLEDGED).map_err(unreachable)?;
        let stream = self
            .tls
            .connect(self.name.clone(), stream)
            .await
            .map_err(|error| Failure::Tls(error.to_string()))?;
        Ok(Link(TokioIo::new(stream)))
    }
}

impl Service<http::Uri> for Connector {
    type Response = Link;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<Link, ConnectError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        Box::pin(self.clone().connect())
    }
}

/// A verified connection.
pub(super) struct Link(TokioIo<TlsStream<TcpStream>>);

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }
}
