//! What can keep the kernel from listing or aborting sockets, and what the machine lacks then.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;

/// Why sockets could not be listed or aborted.
#[derive(Debug, thiserror::Error)]
pub enum DiagError {
    /// There is no line to the kernel.
    #[error("open a netlink socket for sock_diag: {source}{}", hint(self))]
    Open {
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel does not list sockets.
    #[error("list TCP sockets: {source}{}", hint(self))]
    List {
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel does not abort a socket.
    #[error(
        "abort the connection from {local} to {remote}: {source}{}",
        hint(self)
    )]
    Destroy {
        /// Its near end.
        local: SocketAddr,
        /// Its far end.
        remote: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel's answer could not be read.
    #[error("read the kernel's answer about sockets: {source}")]
    Read {
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel's answer makes no sense.
    #[error("read the kernel's answer about sockets: {what}")]
    Malformed {
        /// What is wrong with it.
        what: String,
    },
    /// More sockets match than are reasonable for connections to API servers.
    #[error("list TCP sockets: more than {most} match")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// There is no socket on which to try it.
    #[error("open a socket of this process to abort: {source}")]
    Try {
        /// What the kernel says.
        source: io::Error,
    },
}

/// What the machine lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The capability to abort sockets.
    Capability,
    /// The kernel's way to abort sockets.
    DestroyOption,
    /// The address family of netlink sockets.
    Family,
    /// The kernel's way to list sockets.
    ListOption,
    /// The kernel's way to list TCP sockets.
    TcpOption,
}

impl Missing {
    /// What is missing, and how to get it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Capability => {
                "CAP_NET_ADMIN is missing in the network namespace of the socket; for a systemd \
                 unit: AmbientCapabilities=CAP_NET_ADMIN, no PrivateUsers=, no PrivateNetwork="
            }
            Self::DestroyOption => {
                "this kernel can't abort sockets: it lacks CONFIG_INET_DIAG_DESTROY (Linux 4.5 and \
                 newer)"
            }
            Self::Family => {
                "netlink sockets are not allowed here; for a systemd unit: AF_NETLINK in \
                 RestrictAddressFamilies="
            }
            Self::ListOption => "this kernel lacks CONFIG_INET_DIAG",
            Self::TcpOption => {
                "this kernel lacks CONFIG_INET_TCP_DIAG, or its module tcp_diag can't be loaded"
            }
        }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl DiagError {
    pub(super) fn list(errno: i32) -> Self {
        Self::List {
            source: io::Error::from_raw_os_error(errno),
        }
    }

    /// What the machine lacks, if the kernel's error says so.
    pub fn missing(&self) -> Option<Missing> {
        match self {
            Self::Open { source } => match Errno::from_io_error(source)? {
                Errno::AFNOSUPPORT | Errno::PERM | Errno::ACCESS => Some(Missing::Family),
                Errno::PROTONOSUPPORT => Some(Missing::ListOption),
                _ => None,
            },
            Self::List { source } => match Errno::from_io_error(source)? {
                Errno::NOENT => Some(Missing::TcpOption),
                Errno::PROTONOSUPPORT | Errno::OPNOTSUPP => Some(Missing::ListOption),
                _ => None,
            },
            Self::Destroy { source, .. } => match Errno::from_io_error(source)? {
                Errno::PERM | Errno::ACCESS => Some(Missing::Capability),
                Errno::OPNOTSUPP | Errno::INVAL => Some(Missing::DestroyOption),
                _ => None,
            },
            Self::Read { .. }
            | Self::Malformed { .. }
            | Self::TooMany { .. }
            | Self::Try { .. } => None,
        }
    }

    /// The kernel knows no sockets of the family that it was asked for.
    pub(super) fn is_unknown_family(&self) -> bool {
        self.missing() == Some(Missing::TcpOption)
    }
}

fn hint(error: &DiagError) -> String {
    error
        .missing()
        .map_or_else(String::new, |missing| format!(" ({missing})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destroy(errno: Errno) -> DiagError {
        DiagError::Destroy {
            local: "10.0.0.1:40000".parse().unwrap(),
            remote: "10.0.0.2:6443".parse().unwrap(),
            source: errno.into(),
        }
    }

    #[test]
    fn errors_name_what_the_machine_lacks() {
        let open = |errno: Errno| DiagError::Open {
            source: errno.into(),
        };
        let cases = [
            (
                open(Errno::AFNOSUPPORT),
                "AF_NETLINK in RestrictAddressFamilies=",
            ),
            (open(Errno::PROTONOSUPPORT), "CONFIG_INET_DIAG"),
            (
                DiagError::list(Errno::NOENT.raw_os_error()),
                "CONFIG_INET_TCP_DIAG",
            ),
            (destroy(Errno::PERM), "CAP_NET_ADMIN"),
            (destroy(Errno::OPNOTSUPP), "CONFIG_INET_DIAG_DESTROY"),
        ];
        for (error, names) in cases {
            assert!(error.to_string().contains(names), "{error}");
        }
        assert_eq!(destroy(Errno::NOBUFS).missing(), None);
        assert_eq!(
            destroy(Errno::NOBUFS).to_string(),
            "abort the connection from 10.0.0.1:40000 to 10.0.0.2:6443: No buffer space available \
             (os error 105)"
        );
    }
}
