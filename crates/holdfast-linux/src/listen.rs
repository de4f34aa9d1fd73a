//! Listening on an address, and naming the process that has it when it is taken.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::io::Errno;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket};

#[cfg(test)]
mod tests;

/// Connections that wait for being accepted (listen(2)); the kernel caps it at
/// `net.core.somaxconn`.
const BACKLOG: u32 = 4096;

/// An address that could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error("listen on {address}: {source}{}", owner.as_ref().map(|o| format!(" ({o})")).unwrap_or_default())]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// The process that has it, where this process may see that.
    pub owner: Option<Owner>,
    /// What the kernel says.
    pub source: io::Error,
}

impl ListenError {
    /// Whether the kernel has no such address family, or none with that address (IPv6 that is
    /// switched off).
    pub fn is_missing_family(&self) -> bool {
        matches!(
            Errno::from_io_error(&self.source),
            Some(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL)
        ) && self.address.is_ipv6()
    }
}

/// A process that has a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "taken by process {} ({})", self.pid, self.name)
    }
}

/// Listens on `address`. Must be called within a runtime.
///
/// # Errors
/// What the kernel says, with the process that has the address if that is the reason.
pub fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    bind(address)
        .and_then(|socket| socket.listen(BACKLOG))
        .and_then(|listener| without_delay(&listener).map(|()| listener))
        .map_err(|source| taken(address, source))
}

/// Whether `address` could be listened on; nobody can connect meanwhile. Must be called within a
/// runtime.
///
/// # Errors
/// What [`listen`] would say.
pub fn is_free(address: SocketAddr) -> Result<(), ListenError> {
    bind(address)
        .map(drop)
        .map_err(|source| taken(address, source))
}

fn taken(address: SocketAddr, source: io::Error) -> ListenError {
    ListenError {
        address,
        owner: (source.kind() == io::ErrorKind::AddrInUse)
            .then(|| owner(address))
            .flatten(),
        source,
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A restart must not wait for connections of the process before (TIME_WAIT, tcp(7)).
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Small frames go in both directions: waiting to fill a segment would only delay them. Connections
/// inherit `TCP_NODELAY` from the socket that they are accepted from, which saves a system call for
/// each (Linux copies the listener's options in `sk_clone_lock`; a test asks the kernel).
///
/// # Errors
/// What the kernel says.
pub fn without_delay(listener: &TcpListener) -> io::Result<()> {
    SockRef::from(listener).set_tcp_nodelay(true)
}

/// Finds who listens on `address`: the socket's inode in /proc/net/tcp, then the process that has
/// it open (proc(5)). Other users' processes show theirs only to `CAP_SYS_PTRACE`.
fn owner(address: SocketAddr) -> Option<Owner> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening_inodes(&table, address))
        .collect();
    let links: Vec<String> = inodes.iter().map(|i| format!("socket:[{i}]")).collect();
    let processes = fs::read_dir("/proc").ok()?;
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        let Ok(files) = fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let has = files.flatten().any(|file| {
            fs::read_link(file.path())
                .is_ok_and(|to| links.iter().any(|link| to.as_os_str() == link.as_str()))
        });
        if has {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            let name = name.trim().to_owned();
            return Some(Owner { pid, name });
        }
    }
    None
}

/// The state of a listening socket in /proc/net/tcp (`TCP_LISTEN` in the kernel's `tcp_states.h`).
const LISTENING: &str = "0A";

/// Inodes of sockets that listen on `address` or on all addresses with its port.
fn listening_inodes(table: &str, address: SocketAddr) -> Vec<String> {
    let exact = hex(address.ip());
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
            let (ip, port) = local.split_once(':')?;
            let same_port = u16::from_str_radix(port, 16).ok()? == address.port();
            let covers = ip == exact || ip.bytes().all(|b| b == b'0');
            (*state == LISTENING && same_port && covers).then(|| (*inode).to_owned())
        })
        .collect()
}

/// An address as /proc/net/tcp shows it: 32-bit words in the host's byte order.
fn hex(ip: IpAddr) -> String {
    let words: Vec<[u8; 4]> = match ip {
        IpAddr::V4(ip) => vec![ip.octets()],
        IpAddr::V6(ip) => ip
            .octets()
            .chunks_exact(4)
            .map(|c| c.try_into().unwrap_or_default())
            .collect(),
    };
    words.into_iter().fold(String::new(), |text, word| {
        format!("{text}{:08X}", u32::from_ne_bytes(word))
    })
}
