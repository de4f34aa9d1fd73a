//! The admin port's connections: so many at once and for so long, so that readers who stay can't take
//! the descriptors that the agent needs for itself.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// Connections at once; more wait in the kernel's queue.
const AT_ONCE: usize = 32;

/// An answer takes milliseconds: a connection that is older than this belongs to somebody who does not
/// read, or does not ask.
const LONGEST: Duration = Duration::from_secs(10);

/// After a failed accept (most often: out of descriptors, accept(2) EMFILE) the next try waits.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Door {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl Listener for Door {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        loop {
            // Never closed, so it never fails; without a place there is nothing to do but wait.
            let place = Arc::clone(&self.places).acquire_owned().await.ok();
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    let visit = Visit {
                        stream,
                        over: Box::pin(sleep(LONGEST)),
                        _place: place,
                    };
                    return (visit, from);
                }
                Err(error) => {
                    tracing::debug!(%error, "accept on the admin port failed, tried again");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection, which ends when its time is over.
#[derive(Debug)]
pub(super) struct Visit {
    stream: TcpStream,
    over: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Visit {
    fn in_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.over.as_mut().poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl AsyncRead for Visit {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Visit {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
