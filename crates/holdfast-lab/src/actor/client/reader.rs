//! A connection whose client reads an endless answer, and stops reading when it is told to: its window
//! closes, while the kernels at both ends go on acknowledging each other. Nothing is wrong then.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::client::TlsStream;

use super::clock::Clock;
use super::dial::Dialer;
use super::event::{Ending, Teller, What};
use super::witness::Witness;
use crate::actor::monotonic_seconds;

/// Asks for bytes without end; see the API server's `/lab/flood`.
const REQUEST: &[u8] = b"GET /lab/flood HTTP/1.1\r\nHost: lab\r\n\r\n";
/// How much is read at once, and how often: enough to be busy, little enough to leave the machine to others.
const PIECE: usize = 16 * 1024;
const PAUSE: Duration = Duration::from_millis(20);
/// How often a connection that is not read is asked whether the kernel has ended it.
const LOOK: Duration = Duration::from_millis(100);

/// Reads for as long as it is polled and `reads` says so.
pub(super) async fn read(
    worker: u64,
    dialer: Arc<Dialer>,
    teller: Teller,
    clock: Clock,
    reads: watch::Receiver<bool>,
) {
    loop {
        let id = teller.connection();
        let begun = monotonic_seconds();
        match dialer.dial().await {
            Ok(dialed) => {
                let event = teller.now(id, What::Connected);
                teller.tell(&event.since(begun).because(dialed.address));
                let born = monotonic_seconds();
                let mut stream = dialed.stream;
                if exchange(&mut stream, &reads, || {
                    teller.tell(&teller.now(worker, What::Ok).on(id).since(born));
                })
                .await
                .is_err()
                {
                    teller.tell(&teller.now(worker, What::Failed).since(born));
                }
                let ending = dialed.testimony.ending().unwrap_or(Ending::Own);
                let event = teller.now(id, What::Closed).since(born);
                teller.tell(&event.because(ending));
            }
            Err(error) => {
                let event = teller.now(id, What::DialFailed).since(begun);
                teller.tell(&event.because(error));
            }
        }
        sleep(clock.second()).await;
    }
}

/// Asks, reads, stops reading, until the connection ends.
async fn exchange(
    stream: &mut TlsStream<Witness>,
    reads: &watch::Receiver<bool>,
    answered: impl FnOnce(),
) -> std::io::Result<()> {
    stream.write_all(REQUEST).await?;
    let mut piece = vec![0; PIECE];
    let mut answered = Some(answered);
    loop {
        if !*reads.borrow() {
            if stream.get_ref().0.is_ended() {
                return Ok(());
            }
            sleep(LOOK).await;
            continue;
        }
        // A read that waits must not keep from noticing that reading is over.
        let Ok(read) = timeout(LOOK, stream.read(&mut piece)).await else {
            continue;
        };
        if read? == 0 {
            return Ok(());
        }
        if let Some(answered) = answered.take() {
            answered();
        }
        sleep(PAUSE).await;
    }
}
