//! Moving bytes between two sockets, both ways, with no buffer per idle connection.
//!
//! Each worker thread has one buffer; bytes that the receiver does not take at once are set aside
//! until it does, and nothing more is read meanwhile, so back-pressure reaches the sender.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;

mod flow;
#[cfg(test)]
mod tests;

pub use flow::{Flow, Unanswered};

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// Reads in a row after which other tasks get their turn.
const TURN: u32 = 32;

/// When one side has closed and the other is silent for this long, the connection is over: API
/// clients do not leave connections half open, and nothing else would ever end this one.
const HALF_OPEN: Duration = Duration::from_mins(5);

thread_local! {
    static SHARED: RefCell<Vec<u8>> = RefCell::new(vec![0; BUFFER]);
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both sides closed in order.
    Closed,
    /// The client's socket failed.
    ClientFailed,
    /// The upstream's socket failed.
    UpstreamFailed,
}

/// Moves bytes both ways until both sides have closed or one has failed. `clock` gives the
/// milliseconds that go to the [`Flow`].
pub async fn pump(
    client: &TcpStream,
    upstream: &TcpStream,
    flow: &Flow,
    clock: impl Fn() -> u64,
) -> End {
    let up = async {
        let count = |n| flow.sent(n, clock());
        one_way(client, upstream, count)
            .await
            .map_err(|side| match side {
                Side::Reader => End::ClientFailed,
                Side::Writer => End::UpstreamFailed,
            })
    };
    let down = async {
        let count = |n| flow.heard(n, clock());
        one_way(upstream, client, count)
            .await
            .map_err(|side| match side {
                Side::Reader => End::UpstreamFailed,
                Side::Writer => End::ClientFailed,
            })
    };
    let (mut up, mut down) = (std::pin::pin!(up), std::pin::pin!(down));
    let first = tokio::select! {
        end = &mut up => end.map(|()| true),
        end = &mut down => end.map(|()| false),
    };
    let rest = match first {
        Err(end) => return end,
        Ok(up_is_over) => half_open(flow, async move {
            if up_is_over { down.await } else { up.await }
        }),
    };
    rest.await.err().unwrap_or(End::Closed)
}

/// Waits for the other direction for as long as it moves bytes.
async fn half_open(flow: &Flow, other: impl Future<Output = Result<(), End>>) -> Result<(), End> {
    tokio::pin!(other);
    loop {
        let moved = moved(flow);
        match timeout(HALF_OPEN, &mut other).await {
            Ok(end) => return end,
            Err(_) if moved == self::moved(flow) => return Ok(()),
            Err(_) => {}
        }
    }
}

fn moved(flow: &Flow) -> u64 {
    flow.to_upstream() + flow.to_client()
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Reader,
    Writer,
}

async fn one_way(from: &TcpStream, to: &TcpStream, count: impl Fn(u64)) -> Result<(), Side> {
    let mut turn = 0;
    loop {
        from.readable().await.map_err(|_| Side::Reader)?;
        let step = SHARED.with_borrow_mut(|buffer| step(from, to, buffer));
        match step? {
            Step::Again => {}
            Step::Over => {
                // The peer may be gone already; its own direction tells.
                drop(SockRef::from(to).shutdown(std::net::Shutdown::Write));
                return Ok(());
            }
            Step::Moved(n) => count(n as u64),
            Step::SetAside(n, rest) => {
                write_all(to, &rest).await.map_err(|_| Side::Writer)?;
                count(n as u64);
            }
        }
        turn += 1;
        if turn % TURN == 0 {
            yield_now().await;
        }
    }
}

enum Step {
    Again,
    Moved(usize),
    Over,
    /// So many bytes were read, and these of them are not written yet.
    SetAside(usize, Vec<u8>),
}

fn step(from: &TcpStream, to: &TcpStream, buffer: &mut [u8]) -> Result<Step, Side> {
    let n = match from.try_read(buffer) {
        Ok(0) => return Ok(Step::Over),
        Ok(n) => n,
        Err(error) if is_retry(&error) => return Ok(Step::Again),
        Err(_) => return Err(Side::Reader),
    };
    let mut rest = buffer.get(..n).unwrap_or_default();
    while !rest.is_empty() {
        match to.try_write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(Step::SetAside(n, rest.to_vec()));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Side::Writer),
        }
    }
    Ok(Step::Moved(n))
}

/// Writes everything, waiting for room.
///
/// # Errors
/// What the kernel says.
pub async fn write_all(to: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        to.writable().await?;
        match to.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if is_retry(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
