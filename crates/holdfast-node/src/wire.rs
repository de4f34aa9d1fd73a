//! Asks the kernel about upstream connections that wait for an acknowledgement, and tells the agent.
//!
//! Only what may have something to say is asked about: connections whose client waits, and one
//! connection of each upstream, which stands for all that are idle there (its keepalive questions
//! stay open as well as theirs). So the cost follows what is wrong, not how much is open.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::agent::{ConnectionId, Input, Wire};
use holdfast_core::machine::Tick;
use holdfast_linux::sock_diag::{DiagError, SockDiag, TcpInfo};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::table::Table;

/// Connections whose client waits are looked at this often: between two retransmissions of a LAN
/// (0.3, 0.9, 1.75 and 3.4 s after the bytes) once at least.
const TICK: Duration = Duration::from_millis(250);

/// One connection of each upstream is looked at once in so many ticks.
const SCOUT_EVERY: u32 = 2;

/// Connections that are looked at in one tick, at most; each costs two system calls.
const MOST: usize = 64;

/// An upstream connection by its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) connection: ConnectionId,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// Tells the agent what the kernel says, until `stop`.
pub(crate) async fn watch(
    table: Arc<Table>,
    facts: mpsc::UnboundedSender<Input>,
    clock: Clock,
    stop: CancellationToken,
) {
    let mut kernel = None;
    let mut failing = false;
    let mut tick = 0u32;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(TICK) => {}
        }
        tick = tick.wrapping_add(1);
        let mut asked = table.waiting(clock.now_ms(), MOST);
        if tick.is_multiple_of(SCOUT_EVERY) {
            asked.extend(table.scouts());
        }
        for ends in asked {
            match look(&mut kernel, ends, clock) {
                Ok(wire) => {
                    failing = false;
                    if let Some(wire) = wire {
                        let connection = ends.connection;
                        // Without a receiver the agent is stopping.
                        drop(facts.send(Input::Wire { connection, wire }));
                    }
                }
                Err(error) => {
                    kernel = None;
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "kernel can't be asked about connections, probes alone judge");
                    }
                    break;
                }
            }
        }
    }
}

fn look(
    kernel: &mut Option<SockDiag>,
    ends: Ends,
    clock: Clock,
) -> Result<Option<Wire>, DiagError> {
    let line = match kernel {
        Some(line) => line,
        None => kernel.insert(SockDiag::open()?),
    };
    let found = line.find(ends.local, ends.remote)?;
    let info = found.and_then(|socket| socket.info);
    Ok(info.map(|info| wire(clock.now(), &info)))
}

/// What the kernel says, on the agent's clock.
pub(crate) fn wire(now: Tick, info: &TcpInfo) -> Wire {
    Wire {
        unacknowledged: info.unacked,
        retransmits: info.retransmits,
        questions: info.probes,
        window_closed: info.send_window == Some(0),
        timer: info.rto,
        last_sent: now - info.last_data_sent,
        heard: now - info.last_data_received.min(info.last_ack_received),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A connection on loopback, the writing end first.
    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        (near, far)
    }

    #[tokio::test]
    async fn the_kernel_tells_an_acknowledged_write_from_a_peer_that_has_stopped_reading() {
        let clock = Clock::start();
        let (mut near, far) = connection();
        let ends = Ends {
            connection: 1,
            local: near.local_addr().unwrap(),
            remote: near.peer_addr().unwrap(),
        };
        let mut kernel = None;
        near.write_all(b"ping").unwrap();
        sleep(Duration::from_millis(100)).await;
        let wire = look(&mut kernel, ends, clock).unwrap().unwrap();
        assert_eq!((wire.unacknowledged, wire.retransmits), (0, 0));
        assert!(!wire.window_closed);
        assert!(wire.timer >= Duration::from_millis(200), "{wire:?}");

        // The far end reads nothing: its window closes, and its kernel goes on answering.
        near.set_nonblocking(true).unwrap();
        while near.write(&[0; 4096]).is_ok() {}
        sleep(Duration::from_millis(1500)).await;
        let wire = look(&mut kernel, ends, clock).unwrap().unwrap();
        assert!(wire.window_closed, "{wire:?}");
        assert_eq!(wire.retransmits, 0, "{wire:?}");
        drop(far);
    }

    #[tokio::test]
    async fn a_connection_that_is_gone_has_nothing_to_say() {
        let (near, far) = connection();
        let ends = Ends {
            connection: 1,
            local: near.local_addr().unwrap(),
            // Nobody's port but the listener's, which is closed.
            remote: SocketAddr::new(near.peer_addr().unwrap().ip(), 1),
        };
        let mut kernel = None;
        assert_eq!(look(&mut kernel, ends, Clock::start()).unwrap(), None);
        drop((near, far));
    }
}
