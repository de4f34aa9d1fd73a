//! The signals that a person or a supervisor sends to the agent.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// SIGHUP: read the configuration again.
    Reload,
    /// SIGTERM or SIGINT: drain, then end.
    Stop,
}

/// The signals, caught from their creation on.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next one; cancel safe.
    pub(crate) async fn next(&mut self) -> Ask {
        tokio::select! {
            _ = self.terminate.recv() => Ask::Stop,
            _ = self.interrupt.recv() => Ask::Stop,
            _ = self.hangup.recv() => Ask::Reload,
        }
    }

    /// The next that asks for the end.
    pub(crate) async fn stop(&mut self) {
        while self.next().await != Ask::Stop {}
    }
}
