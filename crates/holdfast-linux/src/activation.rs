//! Listening sockets that systemd opened and hands over (`sd_listen_fds(3)`): they stay open while the
//! service restarts, and clients wait in the kernel's queue instead of being refused.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;

/// Names of the descriptors, parted by colons; `listenfd` takes care of the other variables, and takes
/// them out of the environment so that no child believes that they are meant for it. Names without
/// descriptors mean nothing to anybody.
const NAMES: &str = "LISTEN_FDNAMES";

/// A listening socket from outside.
#[derive(Debug)]
pub struct Passed {
    /// `FileDescriptorName=` of the socket unit; the unit's own name if it sets none.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// The socket. No child of this process inherits it.
    pub socket: TcpListener,
}

/// A descriptor that is no listening TCP socket.
#[derive(Debug, thiserror::Error)]
#[error(
    "descriptor {place} from the socket unit ({name}): found {source}; accepted: ListenStream= with an \
     address and a port"
)]
pub struct ActivationError {
    /// Counts from 1 in the order of the unit.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// What the kernel says.
    pub source: io::Error,
}

/// Takes the sockets that were passed to this process: none if it was started without. Changes the
/// environment, so it must be called before the process has a second thread.
///
/// # Errors
/// A descriptor is no listening TCP socket.
pub fn take() -> Result<Vec<Passed>, ActivationError> {
    let names = std::env::var(NAMES).unwrap_or_default();
    let mut names = names.split(':');
    let mut descriptors = ListenFd::from_env();
    let mut passed = Vec::with_capacity(descriptors.len());
    for place in 0..descriptors.len() {
        let name = names.next().unwrap_or_default().to_owned();
        let wrong = |source| ActivationError {
            place: place + 1,
            name: name.clone(),
            source,
        };
        let Some(socket) = descriptors.take_tcp_listener(place).map_err(wrong)? else {
            continue;
        };
        let address = socket.local_addr().map_err(wrong)?;
        passed.push(Passed {
            name: name.clone(),
            address,
            socket,
        });
    }
    Ok(passed)
}
