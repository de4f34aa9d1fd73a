//! The proxy's listeners: opened or taken over, accepted from, exchanged and closed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use holdfast_core::agent::Input;
use holdfast_linux::activation::Passed;
use holdfast_linux::dial::shortage;
use holdfast_linux::listen::{ListenError, listen, without_delay};
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
    /// As it was asked for; port 0 lets the kernel choose.
    wanted: SocketAddr,
    bound: SocketAddr,
    socket: TcpListener,
}

/// An address that clients are accepted from.
#[derive(Debug)]
struct Open {
    wanted: SocketAddr,
    bound: SocketAddr,
    stop: CancellationToken,
}

/// The listeners that clients are accepted from.
#[derive(Debug)]
pub(crate) struct Listeners {
    open: Vec<Open>,
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
                wanted: *address,
                // Log and status must say what the kernel chose.
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

/// A socket that systemd opened. Must be called within a runtime.
pub(crate) fn take_over(passed: Passed) -> io::Result<Listener> {
    passed.socket.set_nonblocking(true)?;
    let socket = TcpListener::from_std(passed.socket)?;
    without_delay(&socket)?;
    Ok(Listener {
        wanted: passed.address,
        bound: passed.address,
        socket,
    })
}

impl Listener {
    /// Where it listens.
    pub(crate) const fn bound(&self) -> SocketAddr {
        self.bound
    }

    /// The socket alone.
    pub(crate) fn into_socket(self) -> TcpListener {
        self.socket
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
        self.open.iter().map(|open| open.bound).collect()
    }

    /// Opens those of the addresses that are not listened on yet.
    pub(crate) fn open_missing(
        &self,
        addresses: &[SocketAddr],
    ) -> Result<Vec<Listener>, ListenError> {
        let has = |address: &SocketAddr| self.open.iter().any(|open| open.wanted == *address);
        let missing: Vec<_> = addresses.iter().copied().filter(|a| !has(a)).collect();
        match open(&missing) {
            // The others are there.
            Err(error) if error.is_missing_family() && missing.len() < addresses.len() => {
                Ok(Vec::new())
            }
            opened => opened,
        }
    }

    /// Accepts from the new ones first, and then no more from those that are not wanted any longer.
    pub(crate) fn exchange(&mut self, new: Vec<Listener>, wanted: &[SocketAddr]) {
        for listener in new {
            self.accept_from(listener);
        }
        self.open.retain(|open| {
            let stays = wanted.contains(&open.wanted);
            if !stays {
                open.stop.cancel();
            }
            stays
        });
    }

    /// Time for a client's first byte, from the next client on.
    pub(crate) fn set_first_byte(&self, within: Duration) {
        self.doorway.set_first_byte(within);
    }

    /// Takes no new connections any more.
    pub(crate) fn close(&mut self) {
        for open in self.open.drain(..) {
            open.stop.cancel();
        }
    }

    fn accept_from(&mut self, listener: Listener) {
        let stop = CancellationToken::new();
        self.open.push(Open {
            wanted: listener.wanted,
            bound: listener.bound,
            stop: stop.clone(),
        });
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
