//! Connecting to an upstream: sockets that notice when the other end is gone, and failures by kind.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::io::Errno;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpSocket, TcpStream};

/// An idle connection asks its peer after this time (tcp(7), `TCP_KEEPIDLE`). A host that restarted,
/// or another one that took over the address, answers with a reset.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(2);

/// Time between two such questions (tcp(7), `TCP_KEEPINTVL`).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);

/// Unanswered questions that end a connection (tcp(7), `TCP_KEEPCNT`). With the times above that is
/// after 22 s: late on purpose. The kernel can't tell a dead upstream from this node's own network
/// being down for a moment; the probes can, and cut a dead upstream's connections within seconds.
/// This bound is for what they can't see, and lies below the node monitor grace period of 40 s.
const KEEPALIVE_COUNT: u32 = 10;

/// Connects to `upstream`, with a socket that notices when the other end is gone. The caller bounds
/// the time.
///
/// # Errors
/// What the kernel says; [`failure`] sorts it.
pub async fn dial(upstream: SocketAddr) -> io::Result<TcpStream> {
    let stream = dial_for_client(upstream).await?;
    keep_alive(&stream)?;
    Ok(stream)
}

/// The same without keepalive, which costs four system calls: most connections are over before it
/// would ask its first question. The [`pump`](crate::pump) sets it for those that last.
///
/// # Errors
/// What the kernel says; [`failure`] sorts it.
pub async fn dial_for_client(upstream: SocketAddr) -> io::Result<TcpStream> {
    let socket = if upstream.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_nodelay(true)?;
    socket.connect(upstream).await
}

/// Lets the kernel ask the peer of an idle connection whether it is still there.
///
/// # Errors
/// What the kernel says.
pub(crate) fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_IDLE)
        .with_interval(KEEPALIVE_INTERVAL)
        .with_retries(KEEPALIVE_COUNT);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Ends a connection whose bytes nobody acknowledged for `time` (tcp(7), `TCP_USER_TIMEOUT`; it bounds
/// the keepalive too). For the agent's own short requests: a client's connection must outlive a peer
/// that does not read for a while.
///
/// # Errors
/// What the kernel says.
pub fn end_unacknowledged(stream: &TcpStream, time: Duration) -> io::Result<()> {
    SockRef::from(stream).set_tcp_user_timeout(Some(time))
}

/// Why a connection could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialError {
    /// This node's own doing: says nothing about the upstream.
    Local(Shortage),
    /// Nothing listens there.
    Refused,
    /// Not answered in the kernel's time.
    TimedOut,
    /// No way there.
    Unreachable,
}

/// What this node lacks for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Descriptors, of this process (`EMFILE`) or of the whole system (`ENFILE`).
    Descriptors,
    /// Local ports, or a source address of that family (`EADDRNOTAVAIL`, connect(2)).
    Ports,
    /// Something else: memory (`ENOBUFS`, `ENOMEM`), permission (`EACCES`, `EPERM` from a packet
    /// filter), the address family (`EAFNOSUPPORT`).
    Other,
}

/// What this node lacked when a system call failed like that.
pub fn shortage(error: &io::Error) -> Shortage {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => Shortage::Descriptors,
        Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN) => Shortage::Ports,
        _ => Shortage::Other,
    }
}

/// Sorts an error of `connect` (connect(2), tcp(7); `EHOSTUNREACH` also comes when nobody answers
/// ARP or neighbour discovery, about 3 s after the attempt).
pub fn failure(error: &io::Error) -> DialError {
    match Errno::from_io_error(error) {
        Some(Errno::CONNREFUSED | Errno::CONNRESET) => DialError::Refused,
        Some(Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => {
            DialError::Unreachable
        }
        Some(Errno::TIMEDOUT) => DialError::TimedOut,
        _ => DialError::Local(shortage(error)),
    }
}

/// Makes the end of this socket a reset, so that the peer's pool drops the connection at once
/// (socket(7), `SO_LINGER` with a time of zero).
pub fn reset_on_drop(stream: &TcpStream) {
    // A socket that is gone already needs no reset.
    drop(SockRef::from(stream).set_linger(Some(Duration::ZERO)));
}

/// Whether the kernel asks the peer of this connection, at the times that are meant.
#[cfg(test)]
pub(crate) fn asks_when_idle(stream: &TcpStream) -> bool {
    let socket = SockRef::from(stream);
    socket.keepalive().unwrap()
        && socket.tcp_keepalive_time().unwrap() == KEEPALIVE_IDLE
        && socket.tcp_keepalive_interval().unwrap() == KEEPALIVE_INTERVAL
        && socket.tcp_keepalive_retries().unwrap() == KEEPALIVE_COUNT
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_closed_port_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = dial(address).await.unwrap_err();
        assert_eq!(failure(&error), DialError::Refused);
    }

    #[test]
    fn errors_are_sorted_by_whose_word_they_are() {
        let cases = [
            (Errno::CONNREFUSED, DialError::Refused),
            (Errno::CONNRESET, DialError::Refused),
            (Errno::HOSTUNREACH, DialError::Unreachable),
            (Errno::NETUNREACH, DialError::Unreachable),
            (Errno::NETDOWN, DialError::Unreachable),
            (Errno::HOSTDOWN, DialError::Unreachable),
            (Errno::TIMEDOUT, DialError::TimedOut),
            (Errno::MFILE, DialError::Local(Shortage::Descriptors)),
            (Errno::NFILE, DialError::Local(Shortage::Descriptors)),
            (Errno::ADDRNOTAVAIL, DialError::Local(Shortage::Ports)),
            (Errno::AFNOSUPPORT, DialError::Local(Shortage::Other)),
            (Errno::ACCESS, DialError::Local(Shortage::Other)),
            (Errno::PERM, DialError::Local(Shortage::Other)),
            (Errno::NOBUFS, DialError::Local(Shortage::Other)),
            (Errno::INVAL, DialError::Local(Shortage::Other)),
        ];
        for (errno, expected) in cases {
            assert_eq!(failure(&io::Error::from(errno)), expected, "{errno}");
        }
    }

    #[tokio::test]
    async fn idle_connections_ask_their_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = dial(listener.local_addr().unwrap()).await.unwrap();
        assert!(asks_when_idle(&stream));
    }

    #[tokio::test]
    async fn a_reset_reaches_the_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = dial(listener.local_addr().unwrap()).await.unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        reset_on_drop(&stream);
        drop(stream);
        let error = peer.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
