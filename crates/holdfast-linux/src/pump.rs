//! Moving bytes between two sockets, both ways, with no buffer per idle connection.
//!
//! Small things are copied: each worker thread has one buffer; bytes that the receiver does not take at once are set aside
//! until it does, and nothing more is read meanwhile, so back-pressure reaches the sender. Bulk transfers are spliced,
//! through pipes that are shared between connections.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::ReadHalf;
use tokio::time::{sleep, timeout};

use crate::dial;

mod flow;
mod splice;
#[cfg(test)]
mod tests;

pub use flow::{Flow, Unanswered};

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// Reads in a row that fill the buffer, after which bytes are spliced: a bulk transfer pays for a pipe,
/// and nothing else does.
const FULL_READS: u32 = 4;

/// When one side has closed and the other is silent for this long, the connection is over: API
/// clients do not leave connections half open, and nothing else would ever end this one.
const HALF_OPEN: Duration = Duration::from_mins(5);

/// A connection that has lasted this long may become idle, and its upstream's socket asks its peer
/// from then on. It is less than the time after which such a question would be asked.
const LASTING: Duration = Duration::from_secs(1);

thread_local! {
    static SHARED: RefCell<Vec<u8>> = RefCell::new(vec![0; BUFFER]);
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both sides closed in order, the client first.
    ClientClosed,
    /// The client's socket failed.
    ClientFailed,
    /// Both sides closed in order, the upstream first.
    UpstreamClosed,
    /// The upstream's socket failed.
    UpstreamFailed,
}

/// Moves bytes both ways until both sides have closed or one has failed. `clock` gives the
/// milliseconds that go to the [`Flow`]. The caller drops both sockets then, which tells the side
/// that closed first that the other one has closed too.
pub async fn pump(
    client: &mut TcpStream,
    upstream: &mut TcpStream,
    flow: &Flow,
    clock: impl Fn() -> u64 + Sync,
) -> End {
    let (mut from_client, to_client) = client.split();
    let (mut from_upstream, to_upstream) = upstream.split();
    let sent = |n| flow.sent(n, clock());
    // A client that takes nothing at the moment does not make its upstream silent.
    let heard = || flow.heard(clock());
    let delivered = |n| flow.delivered(n);
    let up = async {
        let way = Way::new(&|| (), &sent, flow);
        let way = one_way(&mut from_client, to_upstream.as_ref(), &way).await;
        way.map_err(|side| match side {
            Side::Reader => End::ClientFailed,
            Side::Writer => End::UpstreamFailed,
        })
    };
    let down = async {
        let way = Way::new(&heard, &delivered, flow);
        let way = one_way(&mut from_upstream, to_client.as_ref(), &way).await;
        way.map_err(|side| match side {
            Side::Reader => End::UpstreamFailed,
            Side::Writer => End::ClientFailed,
        })
    };
    let (mut up, mut down) = (std::pin::pin!(up), std::pin::pin!(down));
    let mut lasting = std::pin::pin!(sleep(LASTING));
    let mut lasts = false;
    let first = loop {
        tokio::select! {
            biased;
            end = &mut up => break end.map(|()| true),
            end = &mut down => break end.map(|()| false),
            () = &mut lasting, if !lasts => {
                lasts = true;
                // A socket that fails here fails at its next read.
                drop(dial::keep_alive(to_upstream.as_ref()));
            }
        }
    };
    let up_is_over = match first {
        Err(end) => return end,
        Ok(up_is_over) => up_is_over,
    };
    let (end, told) = if up_is_over {
        (End::ClientClosed, to_upstream.as_ref())
    } else {
        (End::UpstreamClosed, to_client.as_ref())
    };
    // The peer may be gone already; its own direction tells. The other side needs no such call: when
    // its direction is over both sockets are closed.
    drop(SockRef::from(told).shutdown(std::net::Shutdown::Write));
    let rest = half_open(flow, async move {
        if up_is_over { down.await } else { up.await }
    });
    rest.await.err().unwrap_or(end)
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

/// One direction's counting.
struct Way<'a> {
    /// Bytes were read.
    read: &'a (dyn Fn() + Sync),
    /// So many bytes were read and written.
    moved: &'a (dyn Fn(u64) + Sync),
    flow: &'a Flow,
}

impl<'a> Way<'a> {
    fn new(read: &'a (dyn Fn() + Sync), moved: &'a (dyn Fn(u64) + Sync), flow: &'a Flow) -> Self {
        Self { read, moved, flow }
    }

    fn count(&self, bytes: usize) {
        (self.moved)(bytes as u64);
    }

    fn count_spliced(&self, bytes: usize) {
        self.count(bytes);
        self.flow.spliced(bytes as u64);
    }
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Reader,
    Writer,
}

async fn one_way(from: &mut ReadHalf<'_>, to: &TcpStream, way: &Way<'_>) -> Result<(), Side> {
    let mut full = 0;
    loop {
        let step = poll_fn(|context| {
            SHARED.with_borrow_mut(|buffer| {
                let mut chunk = ReadBuf::new(buffer);
                // A read that does not fill the buffer has emptied the socket, and this kind of read
                // knows that: no second one has to fail to find out.
                match Pin::new(&mut *from).poll_read(context, &mut chunk) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Err(_)) => Poll::Ready(Err(Side::Reader)),
                    Poll::Ready(Ok(())) => {
                        if !chunk.filled().is_empty() {
                            (way.read)();
                        }
                        Poll::Ready(forward(chunk.filled(), to))
                    }
                }
            })
        });
        let moved = match step.await? {
            Step::Over => break,
            Step::Moved(n) => n,
            Step::SetAside(n, rest) => {
                write_all(to, &rest).await.map_err(|_| Side::Writer)?;
                n
            }
        };
        way.count(moved);
        full = if moved == BUFFER { full + 1 } else { 0 };
        if full >= FULL_READS && splice::while_it_pays(from.as_ref(), to, way).await? {
            break;
        }
    }
    Ok(())
}

enum Step {
    Moved(usize),
    Over,
    /// So many bytes were read, and these of them are not written yet.
    SetAside(usize, Vec<u8>),
}

fn forward(bytes: &[u8], to: &TcpStream) -> Result<Step, Side> {
    if bytes.is_empty() {
        return Ok(Step::Over);
    }
    let mut rest = bytes;
    while !rest.is_empty() {
        match to.try_write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(Step::SetAside(bytes.len(), rest.to_vec()));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Side::Writer),
        }
    }
    Ok(Step::Moved(bytes.len()))
}

/// Reads what has come, at most `most` bytes and 64 KiB, through the worker's buffer. Empty when the
/// other side has closed.
///
/// # Errors
/// What the kernel says.
pub fn poll_some(
    from: &mut TcpStream,
    most: usize,
    context: &mut Context<'_>,
) -> Poll<io::Result<Vec<u8>>> {
    SHARED.with_borrow_mut(|buffer| {
        let most = most.min(buffer.len());
        let mut chunk = ReadBuf::new(buffer.get_mut(..most).unwrap_or_default());
        let read = Pin::new(from).poll_read(context, &mut chunk);
        read.map_ok(|()| chunk.filled().to_vec())
    })
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
