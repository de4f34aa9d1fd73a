//! The admin port's address: taken as soon as it is free, and left for another one without a gap.

use std::net::SocketAddr;
use std::time::Duration;

use holdfast_core::agent::{Input, Shortage};
use holdfast_linux::listen::listen;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Admin;

/// An address that is taken is tried again this often.
const AGAIN: Duration = Duration::from_secs(5);

/// Where the admin port is, or is to be.
#[derive(Debug)]
pub(crate) struct AdminPort {
    admin: Admin,
    tasks: TaskTracker,
    facts: mpsc::UnboundedSender<Input>,
    stop: CancellationToken,
}

impl AdminPort {
    pub(crate) fn new(
        admin: Admin,
        tasks: TaskTracker,
        facts: mpsc::UnboundedSender<Input>,
    ) -> Self {
        Self {
            admin,
            tasks,
            facts,
            stop: CancellationToken::new(),
        }
    }

    /// Serves at `address`. When somebody else has it, that is told, and it is tried again: clients of
    /// the proxy must not suffer for it. Gives where it serves, if it does.
    pub(crate) fn open(&self, address: SocketAddr) -> Option<SocketAddr> {
        match listen(address) {
            Ok(listener) => Some(self.serve(listener)),
            Err(error) => {
                tracing::error!(%error, "admin port is not there, the proxy serves without it");
                // Without a receiver the agent is stopping.
                drop(self.facts.send(Input::FailedHere {
                    shortage: Shortage::Address,
                    evidence: error.to_string(),
                }));
                let (admin, stop) = (self.admin.clone(), self.stop.clone());
                self.tasks.spawn(async move {
                    let listener = tokio::select! {
                        () = stop.cancelled() => return,
                        listener = when_free(address) => listener,
                    };
                    tracing::info!(%address, "admin port is there");
                    admin.serve(listener, stop).await;
                });
                None
            }
        }
    }

    /// Serves on a socket that is open already.
    pub(crate) fn serve(&self, listener: TcpListener) -> SocketAddr {
        let bound = listener
            .local_addr()
            .unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)));
        let serving = self.admin.clone().serve(listener, self.stop.clone());
        self.tasks.spawn(serving);
        bound
    }

    /// Serves on another socket from now on; answers under way are finished.
    pub(crate) fn move_to(&mut self, listener: TcpListener) -> SocketAddr {
        self.close();
        self.stop = CancellationToken::new();
        self.serve(listener)
    }

    pub(crate) fn close(&self) {
        self.stop.cancel();
    }
}

async fn when_free(address: SocketAddr) -> TcpListener {
    loop {
        sleep(AGAIN).await;
        if let Ok(listener) = listen(address) {
            return listener;
        }
    }
}
