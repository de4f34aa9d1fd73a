//! Clients of the agent: an API client with TLS from end to end, and one that reads the admin paths.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::stage::{NAME, PATIENCE};

/// How a connection came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By this machine's own kernel, on somebody's order.
    Aborted,
    Closed,
    Reset,
}

/// One answer of an API server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The server that gave it.
    pub(crate) server: String,
    pub(crate) body: String,
}

/// An API client with one connection, which verifies the server's certificate.
pub(crate) struct Client(StreamOwned<ClientConnection, TcpStream>);

/// Trusts that CA and nothing else.
pub(crate) fn tls(ca: &Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(ca).unwrap())
        .unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

/// A connection without TLS, with patience.
pub(crate) fn dial(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Client {
    /// Connects and completes the handshake.
    pub(crate) fn open(to: SocketAddr, ca: &Path) -> io::Result<Self> {
        Self::open_with(to, &tls(ca))
    }

    pub(crate) fn open_with(to: SocketAddr, tls: &Arc<ClientConfig>) -> io::Result<Self> {
        Self::over(dial(to)?, tls)
    }

    /// The same on a connection that is there.
    pub(crate) fn over(mut stream: TcpStream, tls: &Arc<ClientConfig>) -> io::Result<Self> {
        let name = ServerName::try_from(NAME).unwrap();
        let mut session = ClientConnection::new(Arc::clone(tls), name).unwrap();
        while session.is_handshaking() {
            session.complete_io(&mut stream)?;
        }
        Ok(Self(StreamOwned::new(session, stream)))
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        write!(self.0, "GET {path} HTTP/1.1\r\nHost: {NAME}\r\n\r\n")?;
        self.0.flush()?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.0.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim().to_owned()
        };
        let mut body = vec![0; field("content-length:").parse().unwrap_or(0)];
        self.0.read_exact(&mut body)?;
        Ok(Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            server: field("x-lab-server:"),
            body: String::from_utf8(body).unwrap(),
        })
    }

    /// This end's address.
    pub(crate) fn local(&self) -> SocketAddr {
        self.0.sock.local_addr().unwrap()
    }

    /// Which server is at the other end.
    pub(crate) fn server(&mut self) -> String {
        self.get("/version").unwrap().server
    }

    /// Waits for the end of the connection. Bytes that still come are thrown away.
    pub(crate) fn end(mut self) -> End {
        let mut rest = Vec::new();
        end_of(self.0.sock.read_to_end(&mut rest))
    }
}

/// How it goes for a client that connects and says nothing.
pub(crate) fn fate_of_a_client(to: SocketAddr) -> End {
    // The reset may be there before the connection is.
    end_of(dial(to).and_then(|mut stream| stream.read_to_end(&mut Vec::new())))
}

fn end_of(read: io::Result<usize>) -> End {
    match read {
        Ok(_) => End::Closed,
        Err(error) if error.kind() == ErrorKind::ConnectionAborted => End::Aborted,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => End::Reset,
        Err(error) => panic!("the connection did not end: {error}"),
    }
}

/// One request without TLS: the HTTP status and the body.
pub(crate) fn plain_get(from: SocketAddr, path: &str) -> io::Result<(u16, String)> {
    let mut stream = dial(from)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {from}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Ok((status, body.to_owned()))
}
