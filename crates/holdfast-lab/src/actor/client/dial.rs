//! Makes connections as client-go's dialer does: resolve anew, try the addresses in turn, then TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr as _;
use std::sync::Arc;

use hickory_proto::rr::Name;
use http::Uri;
use http::uri::Scheme;
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Client;
use super::clock::Clock;
use super::resolve::{ResolveError, resolve};
use super::witness::{Testimony, Witness};
use crate::actor::{StartError, tls};

/// Knows where the server is and how to reach it.
#[derive(Clone)]
pub(super) struct Dialer {
    host: Host,
    port: u16,
    name: ServerName<'static>,
    connector: TlsConnector,
    clock: Clock,
    /// Whether the kernel may send keepalives: a connection that is to write nothing gets none.
    keepalive: bool,
    /// `https://NAME:PORT`, the beginning of every request's URI.
    pub(super) origin: String,
}

/// A connection that has just been made.
#[derive(Debug)]
pub(super) struct Dialed {
    pub(super) stream: TlsStream<Witness>,
    pub(super) testimony: Testimony,
    pub(super) address: SocketAddr,
}

/// Why a dial failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("connect to {address}: {source}")]
    Connect {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("resolve: {0}")]
    Resolve(#[from] ResolveError),
    #[error("TLS with {address}: {source}")]
    Tls {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("dial: timed out")]
    TimedOut,
}

#[derive(Debug, Clone)]
enum Host {
    Address(IpAddr),
    /// Ask this DNS server.
    Name(Name, SocketAddr),
    /// Ask the system.
    System(String),
}

impl Dialer {
    /// Reads the options; `protocol` is the one that ALPN offers.
    pub(super) fn new(options: &Client, clock: Clock, protocol: &[u8]) -> Result<Self, StartError> {
        let (host, port) = server(options)?;
        let name =
            ServerName::try_from(options.tls_name.clone()).map_err(|error| StartError::Name {
                name: options.tls_name.clone(),
                problem: error.to_string(),
            })?;
        let config = tls::client(&options.ca, protocol)?;
        Ok(Self {
            host,
            port,
            name,
            connector: TlsConnector::from(Arc::new(config)),
            clock,
            keepalive: protocol == tls::H2,
            origin: format!("https://{}:{port}", options.tls_name),
        })
    }

    /// One connection, or why there is none.
    pub(super) async fn dial(&self) -> Result<Dialed, DialError> {
        let deadline = Instant::now() + self.clock.dial_timeout();
        let (stream, address) = timeout_at(deadline, self.connect(deadline))
            .await
            .map_err(|_| DialError::TimedOut)??;
        drop(stream.set_nodelay(true));
        if self.keepalive {
            let interval = self.clock.keepalive();
            let keepalive = TcpKeepalive::new()
                .with_time(interval)
                .with_interval(interval);
            drop(SockRef::from(&stream).set_tcp_keepalive(&keepalive));
        }
        let (witness, testimony) = Witness::new(stream);
        let handshake = self.connector.connect(self.name.clone(), witness);
        let stream = timeout(self.clock.handshake_timeout(), handshake)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|source| DialError::Tls { address, source })?;
        Ok(Dialed {
            stream,
            testimony,
            address,
        })
    }

    /// Tries each address in turn. One that is silent may use up its share of the time that is left
    /// (Go `net/dial.go` `partialDeadline`).
    async fn connect(&self, deadline: Instant) -> Result<(TcpStream, SocketAddr), DialError> {
        let addresses = self.addresses().await?;
        let mut failure = DialError::Resolve(ResolveError::Empty);
        for (address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
            let address = SocketAddr::new(*address, self.port);
            let remaining = deadline.saturating_duration_since(Instant::now());
            let share = u32::try_from(left).map_or(remaining, |left| remaining / left);
            let share = share.max(self.clock.least_share()).min(remaining);
            let attempt = timeout(share, TcpStream::connect(address)).await;
            match attempt.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => return Ok((stream, address)),
                Err(source) => failure = DialError::Connect { address, source },
            }
        }
        Err(failure)
    }

    async fn addresses(&self) -> Result<Vec<IpAddr>, ResolveError> {
        match &self.host {
            Host::Address(address) => Ok(vec![*address]),
            Host::Name(name, server) => resolve(name, *server, self.clock.resolve_timeout()).await,
            Host::System(name) => {
                let found = lookup_host((name.as_str(), self.port)).await?;
                Ok(found.map(|address| address.ip()).collect())
            }
        }
    }
}

/// Reads `https://HOST:PORT`.
fn server(options: &Client) -> Result<(Host, u16), StartError> {
    let wrong = || StartError::Setting {
        option: "--server",
        found: options.server.clone(),
        accepted: "https://HOST:PORT",
    };
    let uri: Uri = options.server.parse().map_err(|_| wrong())?;
    let (Some(host), Some(port)) = (uri.host(), uri.port_u16()) else {
        return Err(wrong());
    };
    if uri.scheme() != Some(&Scheme::HTTPS) {
        return Err(wrong());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let host = match (bare.parse(), options.resolve_with) {
        (Ok(address), _) => Host::Address(address),
        (Err(_), None) => Host::System(host.to_owned()),
        (Err(_), Some(server)) => {
            let mut name = Name::from_str(host).map_err(|error| StartError::Name {
                name: host.to_owned(),
                problem: error.to_string(),
            })?;
            name.set_fqdn(true);
            Host::Name(name, server)
        }
    };
    Ok((host, port))
}
