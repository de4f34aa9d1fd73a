//! The kernel's own view of TCP connections, and aborting one of them (`sock_diag(7)`).
//!
//! Listing needs no right. Aborting needs `CAP_NET_ADMIN` in the network namespace of the socket
//! and a kernel with `CONFIG_INET_DIAG_DESTROY` (Linux 4.5 and newer); its owner gets
//! `ECONNABORTED` at once, the peer a reset. A netlink socket sees the namespace that it was opened
//! in, for good: open it with [`Namespace::within`](crate::netns::Namespace::within) and use it
//! from any thread.
//!
//! The kernel does the work inside the calls and has the answer ready when they return, so nothing
//! here waits. A list walks the kernel's whole table of connections, though: call [`SockDiag::list`]
//! on a thread that may be busy for a few milliseconds.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{SockDiagDestroy, SockDiagMessage};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use rustix::io::Errno;

mod error;
mod socket;
mod tcp_info;

#[cfg(test)]
mod tests;

pub use error::{DiagError, Missing};
pub use socket::{Socket, State};
pub use tcp_info::TcpInfo;

/// The kernel puts at most 32 KiB into one part of a list (`netlink_recvmsg` in the kernel's
/// `net/netlink/af_netlink.c`), and that only for readers that offer as much.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// More sockets than this that match are an error, not a list.
const MOST_SOCKETS: usize = 65_536;

/// More parts than this are not a list any more: the largest table of connections (2^19 of about
/// 500 bytes) makes fewer, even in the smallest parts.
const MOST_PARTS: usize = 131_072;

/// Remote ports up to this number are sorted out by the kernel, one list each.
const PORTS_IN_KERNEL: usize = 4;

/// A cookie that matches any socket (`INET_DIAG_NOCOOKIE` in the kernel's `inet_diag.h`).
const ANY_COOKIE: [u8; 8] = [0xff; 8];

/// Which sockets to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// In one of these states.
    pub states: Vec<State>,
    /// Connected to one of these; `None` is to anybody. IPv4 in its plain form, also for sockets
    /// that use it as IPv6.
    pub remotes: Option<BTreeSet<SocketAddr>>,
}

impl Filter {
    /// Established connections to `remotes`.
    pub fn established(remotes: impl IntoIterator<Item = SocketAddr>) -> Self {
        Self {
            states: vec![State::Established],
            remotes: Some(remotes.into_iter().collect()),
        }
    }

    fn admits(&self, socket: &Socket) -> bool {
        self.states.contains(&socket.state)
            && self
                .remotes
                .as_ref()
                .is_none_or(|r| r.contains(&socket.remote))
    }

    /// The remote ports for which the kernel is asked one by one; 0 asks for all at once.
    fn ports(&self) -> BTreeSet<u16> {
        let Some(remotes) = &self.remotes else {
            return BTreeSet::from([0]);
        };
        let ports: BTreeSet<u16> = remotes.iter().map(SocketAddr::port).collect();
        if ports.len() > PORTS_IN_KERNEL {
            return BTreeSet::from([0]);
        }
        ports
    }
}

/// What became of a socket that was to be aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destroyed {
    /// It is aborted; its owner knows.
    Aborted,
    /// It was gone before: closed, or another one has its addresses and ports now.
    Gone,
}

/// A line to the kernel about the sockets of one network namespace.
///
/// After an error the line may be out of step: open a new one.
pub struct SockDiag {
    line: netlink_sys::Socket,
    sequence: u32,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for SockDiag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SockDiag")
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl SockDiag {
    /// Opens a line in the network namespace of this thread.
    pub fn open() -> Result<Self, DiagError> {
        let open = || {
            let line = netlink_sys::Socket::new(NETLINK_SOCK_DIAG)?;
            line.connect(&netlink_sys::SocketAddr::new(0, 0))?;
            // What is not there at once never comes.
            line.set_non_blocking(true)?;
            Ok(line)
        };
        let line = open().map_err(|source| DiagError::Open { source })?;
        Ok(Self {
            line,
            sequence: 0,
            buffer: Vec::with_capacity(RECEIVE_BUFFER),
        })
    }

    /// Lists the sockets that `filter` admits, both families, with what TCP knows about each.
    /// A kernel without IPv6 lists IPv4 alone.
    pub fn list(&mut self, filter: &Filter) -> Result<Vec<Socket>, DiagError> {
        let mut found = Vec::new();
        for family in [AF_INET, AF_INET6] {
            for port in filter.ports() {
                match self.list_family(family, port, filter, &mut found) {
                    Ok(()) => {}
                    Err(error) if family == AF_INET6 && error.is_unknown_family() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if found.len() > MOST_SOCKETS {
            return Err(DiagError::TooMany { most: MOST_SOCKETS });
        }
        Ok(found)
    }

    /// Looks one connection up by its two ends, as its owner's `getsockname` and `getpeername` say
    /// them.
    pub fn find(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<Option<Socket>, DiagError> {
        let request = find_request(local, remote);
        let family = request.family;
        self.ask(NLM_F_REQUEST, SockDiagMessage::InetRequest(request))
            .map_err(|source| DiagError::List { source })?;
        let mut found = None;
        let end = self.read_part(|message: SockDiagMessage| found = read_socket(&message))?;
        match end {
            End::More | End::Done => Ok(found),
            End::Failed(errno) if errno == Errno::NOENT.raw_os_error() => {
                // The kernel says the same without the diagnosing module: tell them apart.
                self.list_family(family, 1, &Filter::default(), &mut Vec::new())?;
                Ok(None)
            }
            End::Failed(errno) => Err(DiagError::list(errno)),
        }
    }

    /// Aborts exactly this socket, and none that got its addresses and ports meanwhile: the kernel
    /// compares the cookie. `TIME_WAIT` is nobody's connection any more, and left alone.
    pub fn destroy(&mut self, socket: &Socket) -> Result<Destroyed, DiagError> {
        if socket.state == State::TimeWait {
            return Ok(Destroyed::Gone);
        }
        let failed = |source| DiagError::Destroy {
            local: socket.local,
            remote: socket.remote,
            source,
        };
        let request = InetRequest {
            family: socket.family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            states: StateFlags::all(),
            socket_id: socket.id.clone(),
        };
        let order = SockDiagDestroy::new(SockDiagMessage::InetRequest(request));
        self.ask(NLM_F_REQUEST | NLM_F_ACK, order).map_err(failed)?;
        match self.read_part(|_: SockDiagMessage| {})? {
            End::More | End::Done => Ok(Destroyed::Aborted),
            End::Failed(errno) if errno == Errno::NOENT.raw_os_error() => Ok(Destroyed::Gone),
            End::Failed(errno) => Err(failed(std::io::Error::from_raw_os_error(errno))),
        }
    }

    fn list_family(
        &mut self,
        family: u8,
        port: u16,
        filter: &Filter,
        found: &mut Vec<Socket>,
    ) -> Result<(), DiagError> {
        let mut socket_id = if family == AF_INET {
            SocketId::new_v4()
        } else {
            SocketId::new_v6()
        };
        socket_id.destination_port = port;
        let request = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states: socket::states(&filter.states),
            socket_id,
        };
        self.ask(
            NLM_F_REQUEST | NLM_F_DUMP,
            SockDiagMessage::InetRequest(request),
        )
        .map_err(|source| DiagError::List { source })?;
        for _ in 0..MOST_PARTS {
            let end = self.read_part(|message| {
                // Read to the end in any case: the line stays in step.
                if found.len() <= MOST_SOCKETS {
                    found.extend(read_socket(&message).filter(|s| filter.admits(s)));
                }
            })?;
            match end {
                End::More => {}
                End::Done => return Ok(()),
                End::Failed(errno) => return Err(DiagError::list(errno)),
            }
        }
        Err(DiagError::Malformed {
            what: "a list without an end".to_owned(),
        })
    }

    fn ask<M: NetlinkSerializable>(&mut self, flags: u16, message: M) -> std::io::Result<()>
    where
        NetlinkPayload<M>: From<M>,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.line.send(&bytes, 0).map(|_| ())
    }

    /// Reads one part of an answer and gives each message in it to `take`.
    fn read_part<M: NetlinkDeserializable<Error: std::fmt::Display>>(
        &mut self,
        mut take: impl FnMut(M),
    ) -> Result<End, DiagError> {
        self.buffer.clear();
        self.line
            .recv(&mut self.buffer, 0)
            .map_err(|source| DiagError::Read { source })?;
        let mut rest = self.buffer.as_slice();
        let mut end = End::More;
        while !rest.is_empty() {
            let message =
                NetlinkMessage::<M>::deserialize(rest).map_err(|error| DiagError::Malformed {
                    what: error.to_string(),
                })?;
            let length = message.header.length as usize;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            if message.header.sequence_number != self.sequence {
                continue;
            }
            match message.payload {
                NetlinkPayload::InnerMessage(inner) => take(inner),
                NetlinkPayload::Done(done) if done.code < 0 => end = End::Failed(-done.code),
                NetlinkPayload::Done(_) => end = End::Done,
                NetlinkPayload::Error(error) => {
                    end = error.code.map_or(End::Done, |c| End::Failed(-c.get()));
                }
                NetlinkPayload::Noop | NetlinkPayload::Overrun(_) | _ => {}
            }
        }
        Ok(end)
    }
}

/// How one part of an answer ends.
enum End {
    More,
    Done,
    /// The kernel's error number.
    Failed(i32),
}

fn read_socket(message: &SockDiagMessage) -> Option<Socket> {
    match message {
        SockDiagMessage::InetResponse(response) => Some(Socket::read(response)),
        SockDiagMessage::InetRequest(_)
        | SockDiagMessage::UnixRequest(_)
        | SockDiagMessage::UnixResponse(_) => None,
    }
}

fn find_request(local: SocketAddr, remote: SocketAddr) -> InetRequest {
    // A connection between IPv4 addresses is found as such, whichever family its socket has: the
    // kernel keeps both in one table.
    let (from, to) = (local.ip().to_canonical(), remote.ip().to_canonical());
    let (family, mut socket_id) = match (from, to) {
        (IpAddr::V4(_), IpAddr::V4(_)) => (AF_INET, SocketId::new_v4()),
        _ => (AF_INET6, SocketId::new_v6()),
    };
    socket_id.source_address = from;
    socket_id.destination_address = to;
    socket_id.source_port = local.port();
    socket_id.destination_port = remote.port();
    if let SocketAddr::V6(remote) = remote {
        socket_id.interface_id = remote.scope_id();
    }
    socket_id.cookie = ANY_COOKIE;
    InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::all(),
        socket_id,
    }
}

/// Tries whether sockets of this thread's network namespace may be aborted, on a listener of this
/// process that nobody knows: the kernel checks rights only once it has found a socket.
pub fn try_destroy() -> Result<(), DiagError> {
    let listen = || {
        std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .or_else(|_| std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)))
            .and_then(|listener| Ok((listener.local_addr()?, listener)))
    };
    let (local, listener) = listen().map_err(|source| DiagError::Try { source })?;
    let mut diag = SockDiag::open()?;
    let nobody = match local {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let own = diag
        .find(local, nobody)?
        .ok_or_else(|| DiagError::Malformed {
            what: format!("no listener on {local}, though there is one"),
        })?;
    let tried = diag.destroy(&own).map(|_| ());
    drop(listener);
    tried
}
