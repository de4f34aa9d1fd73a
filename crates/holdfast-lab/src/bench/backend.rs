//! The API server of the benchmark: plain HTTP/1.1 for the load, TLS for proxies that probe, both on one
//! port.
//!
//! One thread and one epoll set answer the load, with as little work per request as the kernel allows,
//! so that most of the machine is left to whoever is measured. A connection that begins as TLS does is
//! handed to [`tls`].

mod tls;

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};

use rustix::event::epoll;
use socket2::{Domain, Socket, Type};
use tokio::sync::mpsc::UnboundedSender;

use super::BenchError;
use crate::certificates::Certificates;

/// Where the backend listens.
pub(super) const ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6443);

/// Asks for a small answer on a connection that stays open.
pub(super) const SMALL: &[u8] = b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// Asks for a small answer, and for the end of the connection.
pub(super) const SMALL_AND_CLOSE: &[u8] =
    b"GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/// Asks for bytes without end.
pub(super) const BULK: &[u8] = b"GET /bulk HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Bytes in the body of a small answer: about a Lease, what a kubelet moves most.
const SMALL_BODY: usize = 1400;

/// Bytes that are given to the kernel at once in bulk, as iperf3 does by default.
pub(super) const BLOCK: usize = 128 * 1024;

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: i32 = 4096;

/// First byte of a TLS handshake (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

/// The listener's name in the epoll set; connections count from 1.
const LISTENER: u64 = 0;

/// The small answer, whole; `close` says that the connection ends with it.
pub(super) fn small_answer(close: bool) -> Vec<u8> {
    let end = if close { "Connection: close\r\n" } else { "" };
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {SMALL_BODY}\r\n{end}\r\n"
    )
    .into_bytes();
    answer.resize(answer.len() + SMALL_BODY, b'x');
    answer
}

/// A backend that runs; it does so until the process ends.
#[derive(Debug)]
pub(super) struct Backend;

impl Backend {
    /// Listens, and serves from threads of its own.
    pub(super) fn start(certificates: &Certificates) -> Result<Self, BenchError> {
        let tls = tls::start(certificates)?;
        let failed = || BenchError::system("start the backend");
        let mut server = Server::listen(tls).map_err(failed())?;
        std::thread::Builder::new()
            .name("backend".to_owned())
            .spawn(move || {
                // Its end shows as refused connections, and with them as the end of the benchmark.
                drop(server.serve());
            })
            .map_err(failed())?;
        Ok(Self)
    }
}

struct Server {
    listener: TcpListener,
    epoll: std::os::fd::OwnedFd,
    connections: HashMap<u64, Connection>,
    next: u64,
    tls: UnboundedSender<TcpStream>,
    block: Vec<u8>,
    small: Vec<u8>,
    small_and_close: Vec<u8>,
}

struct Connection {
    stream: TcpStream,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has come yet.
    Fresh,
    /// Small requests come.
    Http,
    /// Bytes go without end.
    Bulk,
}

/// What becomes of a connection.
enum Next {
    Close,
    HandOver,
    Keep,
    Stream,
}

impl Server {
    fn listen(tls: UnboundedSender<TcpStream>) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&ADDRESS.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from(socket);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let name = epoll::EventData::new_u64(LISTENER);
        epoll::add(&epoll, &listener, name, epoll::EventFlags::IN)?;
        Ok(Self {
            listener,
            epoll,
            connections: HashMap::new(),
            next: LISTENER,
            tls,
            block: vec![0; BLOCK],
            small: small_answer(false),
            small_and_close: small_answer(true),
        })
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        loop {
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                None,
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            for event in &events {
                let data = event.data;
                match data.u64() {
                    LISTENER => self.accept()?,
                    name => self.attend(name)?,
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    self.next += 1;
                    let name = epoll::EventData::new_u64(self.next);
                    epoll::add(&self.epoll, &stream, name, epoll::EventFlags::IN)?;
                    let connection = Connection {
                        stream,
                        state: State::Fresh,
                    };
                    self.connections.insert(self.next, connection);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // Its client has gone already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn attend(&mut self, name: u64) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&name) else {
            return Ok(());
        };
        let next = match connection.state {
            State::Bulk => stream_on(&mut connection.stream, &self.block),
            State::Fresh if begins_tls(&connection.stream) => Ok(Next::HandOver),
            State::Fresh | State::Http => {
                connection.state = State::Http;
                let answers = (self.small.as_slice(), self.small_and_close.as_slice());
                answer(&mut connection.stream, answers)
            }
        };
        // A connection that failed is over; what that means is its client's to tell.
        match next.unwrap_or(Next::Close) {
            Next::Keep => {}
            Next::Stream => {
                connection.state = State::Bulk;
                let name = epoll::EventData::new_u64(name);
                epoll::modify(
                    &self.epoll,
                    &connection.stream,
                    name,
                    epoll::EventFlags::OUT,
                )?;
            }
            Next::Close => {
                self.connections.remove(&name);
            }
            Next::HandOver => {
                if let Some(connection) = self.connections.remove(&name) {
                    epoll::delete(&self.epoll, &connection.stream)?;
                    // The other side goes on for as long as this process.
                    drop(self.tls.send(connection.stream));
                }
            }
        }
        Ok(())
    }
}

fn begins_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first), Ok(1)) && first == [TLS_HANDSHAKE]
}

/// Reads a request and answers it. The load sends one request at a time, each in one piece, and a small
/// answer always fits into the socket's empty buffer; anything else ends the connection.
fn answer(stream: &mut TcpStream, (small, small_and_close): (&[u8], &[u8])) -> io::Result<Next> {
    let mut request = [0; 256];
    let n = match stream.read(&mut request) {
        Ok(n) => n,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Keep),
        Err(error) => return Err(error),
    };
    match request.get(..n).unwrap_or_default() {
        SMALL => stream.write_all(small).map(|()| Next::Keep),
        SMALL_AND_CLOSE => stream.write_all(small_and_close).map(|()| Next::Close),
        BULK => Ok(Next::Stream),
        _ => Ok(Next::Close),
    }
}

/// Writes until the socket is full, which it soon is.
fn stream_on(stream: &mut TcpStream, block: &[u8]) -> io::Result<Next> {
    loop {
        match stream.write(block) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Keep),
            Err(error) => return Err(error),
        }
    }
}
