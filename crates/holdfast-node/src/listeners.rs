//! The proxy's listeners: opened, accepted from, and closed.

use std::net::SocketAddr;
use std::time::Duration;

use holdfast_core::agent::Input;
use holdfast_linux::dial::shortage;
use holdfast_linux::listen::{ListenError, listen};
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{Doorway, lacking};

/// After a failed accept (most often: out of descriptors, accept(2) EMFILE) the next try waits, since
/// the kernel would fail it at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// One address that is listened on.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) bound: SocketAddr,
    socket: TcpListener,
}

/// The listeners that clients are accepted from.
#[derive(Debug)]
pub(crate) struct Listeners {
    open: Vec<(SocketAddr, CancellationToken)>,
    doorway: Doorway,
    tasks: TaskTracker,
}

/// Binds every address that can be bound. IPv6 may be switched off on a node: as long as one
/// listener stands, an address family that the kernel lacks is a warning.
pub(crate) fn open(addresses: &[SocketAddr]) -> Result<Vec<Listener>, ListenError> {
    let mut open = Vec::new();
    let mut without_family = None;
    for address in addresses {
        match listen(*address) {
            Ok(socket) => open.push(Listener {
                // Port 0 lets the kernel choose; log and status must say what it chose.
                bound: socket.local_addr().unwrap_or(*address),
                socket,
            }),
            Err(error) if error.is_missing_family() => {
                tracing::warn!(%error, "address family is not there, other listeners serve");
                without_family = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match without_family {
        Some(error) if open.is_empty() => Err(error),
        _ => Ok(open),
    }
}

impl Listeners {
    /// Accepts from all of them.
    pub(crate) fn start(listeners: Vec<Listener>, doorway: Doorway, tasks: TaskTracker) -> Self {
        let mut all = Self {
            open: Vec::new(),
            doorway,
            tasks,
        };
        for listener in listeners {
            all.accept_from(listener);
        }
        all
    }

    /// The addresses that are listened on.
    pub(crate) fn bound(&self) -> Vec<SocketAddr> {
        self.open.iter().map(|(bound, _)| *bound).collect()
    }

    /// Takes no new connections any more.
    pub(crate) fn close(&mut self) {
        for (_, stop) in self.open.drain(..) {
            stop.cancel();
        }
    }

    fn accept_from(&mut self, listener: Listener) {
        let stop = CancellationToken::new();
        self.open.push((listener.bound, stop.clone()));
        let doorway = self.doorway.clone();
        self.tasks.spawn(accept(listener, doorway, stop));
    }
}

async fn accept(listener: Listener, doorway: Doorway, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.socket.accept() => accepted,
        };
        match accepted {
            Ok((client, _)) => doorway.admit(client),
            Err(error) => {
                doorway.tell(Input::FailedHere {
                    shortage: lacking(shortage(&error)),
                    evidence: format!("accept on {}: {error}", listener.bound),
                });
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
