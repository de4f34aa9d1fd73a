//! One TCP socket as the kernel describes it.

use std::net::SocketAddr;

use netlink_packet_core::Nla as _;
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{InetResponse, SocketId, StateFlags};

use super::TcpInfo;

/// A TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Its near end; IPv4 in its plain form, also when the socket uses it as IPv6.
    pub local: SocketAddr,
    /// Its far end, likewise.
    pub remote: SocketAddr,
    /// Its state.
    pub state: State,
    /// The user who owns it, as this process's user namespace numbers users.
    pub uid: u32,
    /// Its inode, as in /proc/PID/fd; 0 when no process has it open any more.
    pub inode: u32,
    /// Names this socket among all that ever were since the machine started.
    pub cookie: u64,
    /// The cgroup v2 of the process that made it: the inode of the cgroup's directory. `None` from
    /// kernels before 5.8 or without cgroups.
    pub cgroup: Option<u64>,
    /// Bytes that have arrived and that its owner has not read.
    pub unread: u32,
    /// Bytes that its owner has written and that the peer has not acknowledged, sent or not.
    pub unacknowledged: u32,
    /// What TCP knows about the connection; `None` for states without one (`LISTEN` has it, too).
    pub info: Option<TcpInfo>,
    pub(super) family: u8,
    pub(super) id: SocketId,
}

/// The attribute with the cgroup's id (`INET_DIAG_CGROUP_ID` in the kernel's
/// `inet_diag.h`).
const CGROUP_ID: u16 = 21;

impl Socket {
    pub(super) fn read(response: &InetResponse) -> Self {
        let header = &response.header;
        let id = &header.socket_id;
        let mut cgroup = None;
        let mut info = None;
        for attribute in &response.nlas {
            if let Nla::TcpInfo(bytes) = attribute {
                info = TcpInfo::read(bytes);
            } else if attribute.kind() == CGROUP_ID {
                cgroup = read_u64(attribute);
            }
        }
        Self {
            local: SocketAddr::new(id.source_address.to_canonical(), id.source_port),
            remote: SocketAddr::new(id.destination_address.to_canonical(), id.destination_port),
            state: State::read(header.state),
            uid: header.uid,
            inode: header.inode,
            cookie: u64::from_ne_bytes(id.cookie),
            cgroup,
            unread: header.recv_queue,
            unacknowledged: header.send_queue,
            info,
            family: header.family,
            id: id.clone(),
        }
    }
}

fn read_u64(attribute: &Nla) -> Option<u64> {
    let mut value = [0; 8];
    (attribute.value_len() == value.len()).then(|| {
        attribute.emit_value(&mut value);
        u64::from_ne_bytes(value)
    })
}

/// The state of a TCP socket (RFC 9293, section 3.3.2; numbers as in the kernel's `tcp_states.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Open in both directions.
    Established,
    /// Waits for the answer to its own SYN.
    SynSent,
    /// Answered a SYN, waits for the last step.
    SynReceived,
    /// Closed here, not acknowledged.
    FinWait1,
    /// Closed here, not there.
    FinWait2,
    /// Closed on both sides; kept so that late segments find it.
    TimeWait,
    /// Not connected.
    Closed,
    /// Closed by the peer, not here.
    CloseWait,
    /// Closed on both sides, the last FIN is not acknowledged.
    LastAck,
    /// Waits for connections.
    Listen,
    /// Both sides closed at once.
    Closing,
}

impl State {
    const fn read(number: u8) -> Self {
        match number {
            1 => Self::Established,
            2 => Self::SynSent,
            // 12 is a request that has no socket of its own yet (`TCP_NEW_SYN_RECV`).
            3 | 12 => Self::SynReceived,
            4 => Self::FinWait1,
            5 => Self::FinWait2,
            6 => Self::TimeWait,
            8 => Self::CloseWait,
            9 => Self::LastAck,
            10 => Self::Listen,
            11 => Self::Closing,
            _ => Self::Closed,
        }
    }

    const fn flag(self) -> StateFlags {
        match self {
            Self::Established => StateFlags::ESTABLISHED,
            Self::SynSent => StateFlags::SYN_SENT,
            Self::SynReceived => StateFlags::SYN_RECV,
            Self::FinWait1 => StateFlags::FIN_WAIT1,
            Self::FinWait2 => StateFlags::FIN_WAIT2,
            Self::TimeWait => StateFlags::TIME_WAIT,
            Self::Closed => StateFlags::CLOSE,
            Self::CloseWait => StateFlags::CLOSE_WAIT,
            Self::LastAck => StateFlags::LAST_ACK,
            Self::Listen => StateFlags::LISTEN,
            Self::Closing => StateFlags::CLOSING,
        }
    }
}

pub(super) fn states(wanted: &[State]) -> StateFlags {
    wanted
        .iter()
        .fold(StateFlags::empty(), |all, state| all | state.flag())
}
