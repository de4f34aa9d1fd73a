//! The signals that stop the agent, and the one that must not.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Waits for SIGTERM or SIGINT; both are caught from this call on. SIGHUP would end the process
/// without a word (signal(7)) when its terminal closes; it is told and changes nothing.
pub(crate) fn stop() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => {
                    tracing::warn!("SIGHUP changes nothing: restart the agent for a new configuration");
                }
            }
        }
    })
}
