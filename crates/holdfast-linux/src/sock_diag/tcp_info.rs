//! What TCP knows about one connection (`struct tcp_info` in linux/tcp.h).
//!
//! The structure grew over the years; kernels send as much of it as they have. What an old kernel
//! lacks is `None`, never zero: a window of zero and no word about a window mean different things.

use std::time::Duration;

/// TCP's knowledge about one connection, at the moment of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Retransmissions of the oldest unacknowledged segment that went unanswered so far
    /// (`tcpi_retransmits`).
    pub retransmits: u8,
    /// Keepalive or zero-window probes that went unanswered so far (`tcpi_probes`).
    pub probes: u8,
    /// How often the retransmission timer has been doubled (`tcpi_backoff`).
    pub backoff: u8,
    /// The retransmission timer, with `backoff` in it (`tcpi_rto`).
    pub rto: Duration,
    /// Smoothed round-trip time (`tcpi_rtt`).
    pub rtt: Duration,
    /// Segments that were sent and not acknowledged (`tcpi_unacked`).
    pub unacked: u32,
    /// Segments that were retransmitted in the whole life of the connection
    /// (`tcpi_total_retrans`).
    pub retransmitted: u32,
    /// Time since data were last sent, retransmissions included (`tcpi_last_data_sent`).
    pub last_data_sent: Duration,
    /// Time since data last arrived, or since the connection stands if none did
    /// (`tcpi_last_data_recv`).
    pub last_data_received: Duration,
    /// Time since an acknowledgement last arrived (`tcpi_last_ack_recv`).
    pub last_ack_received: Duration,
    /// Bytes that the peer acknowledged, the SYN included (`tcpi_bytes_acked`, Linux 4.1).
    pub bytes_acked: Option<u64>,
    /// Bytes that arrived (`tcpi_bytes_received`, Linux 4.1).
    pub bytes_received: Option<u64>,
    /// Bytes that were sent, retransmissions included (`tcpi_bytes_sent`, Linux 4.19).
    pub bytes_sent: Option<u64>,
    /// Bytes among them that were sent again (`tcpi_bytes_retrans`, Linux 4.19).
    pub bytes_retransmitted: Option<u64>,
    /// Bytes that the peer is ready to take (`tcpi_snd_wnd`, Linux 5.4).
    pub send_window: Option<u32>,
}

/// Offsets in `struct tcp_info`; they are part of the kernel's promise to user space.
mod offset {
    pub(super) const RETRANSMITS: usize = 2;
    pub(super) const PROBES: usize = 3;
    pub(super) const BACKOFF: usize = 4;
    pub(super) const RTO_US: usize = 8;
    pub(super) const UNACKED: usize = 24;
    pub(super) const LAST_DATA_SENT_MS: usize = 44;
    pub(super) const LAST_DATA_RECV_MS: usize = 52;
    pub(super) const LAST_ACK_RECV_MS: usize = 56;
    pub(super) const RTT_US: usize = 68;
    pub(super) const TOTAL_RETRANS: usize = 100;
    pub(super) const BYTES_ACKED: usize = 120;
    pub(super) const BYTES_RECEIVED: usize = 128;
    pub(super) const BYTES_SENT: usize = 200;
    pub(super) const BYTES_RETRANS: usize = 208;
    pub(super) const SND_WND: usize = 228;
}

impl TcpInfo {
    /// Reads what the kernel sent; `None` if it is shorter than it ever was (Linux 2.6).
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let byte = |at: usize| bytes.get(at).copied();
        let word = |at: usize| {
            bytes
                .get(at..)?
                .first_chunk()
                .copied()
                .map(u32::from_ne_bytes)
        };
        let long = |at: usize| {
            bytes
                .get(at..)?
                .first_chunk()
                .copied()
                .map(u64::from_ne_bytes)
        };
        let ms = |at: usize| Some(Duration::from_millis(word(at)?.into()));
        let us = |at: usize| Some(Duration::from_micros(word(at)?.into()));
        Some(Self {
            retransmits: byte(offset::RETRANSMITS)?,
            probes: byte(offset::PROBES)?,
            backoff: byte(offset::BACKOFF)?,
            rto: us(offset::RTO_US)?,
            rtt: us(offset::RTT_US)?,
            unacked: word(offset::UNACKED)?,
            retransmitted: word(offset::TOTAL_RETRANS)?,
            last_data_sent: ms(offset::LAST_DATA_SENT_MS)?,
            last_data_received: ms(offset::LAST_DATA_RECV_MS)?,
            last_ack_received: ms(offset::LAST_ACK_RECV_MS)?,
            bytes_acked: long(offset::BYTES_ACKED),
            bytes_received: long(offset::BYTES_RECEIVED),
            bytes_sent: long(offset::BYTES_SENT),
            bytes_retransmitted: long(offset::BYTES_RETRANS),
            send_window: word(offset::SND_WND),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure of `length` bytes whose words are numbered, so that each field is another value.
    fn numbered(length: usize) -> Vec<u8> {
        (0u32..).flat_map(u32::to_ne_bytes).take(length).collect()
    }

    #[test]
    fn an_old_kernels_short_structure_is_read_as_far_as_it_goes() {
        let linux_2_6 = TcpInfo::read(&numbered(104)).unwrap();
        assert_eq!(linux_2_6.unacked, 6);
        assert_eq!(linux_2_6.retransmitted, 25);
        assert_eq!(linux_2_6.bytes_acked, None);
        let linux_4_18 = TcpInfo::read(&numbered(200)).unwrap();
        assert!(linux_4_18.bytes_received.is_some());
        assert_eq!(linux_4_18.bytes_sent, None);
        assert_eq!(linux_4_18.send_window, None);
        let linux_5_4 = TcpInfo::read(&numbered(232)).unwrap();
        assert_eq!(linux_5_4.send_window, Some(57));
        assert!(TcpInfo::read(&numbered(90)).is_none());
    }
}
