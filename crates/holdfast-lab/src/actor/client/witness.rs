//! A TCP stream that remembers how it ended, which the layers above it do not tell.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Ending;

/// The stream.
#[derive(Debug)]
pub(super) struct Witness {
    stream: TcpStream,
    testimony: Testimony,
}

/// What the witness has seen; can be asked after the stream is gone.
#[derive(Debug, Clone, Default)]
pub(super) struct Testimony(Arc<Mutex<Option<Ending>>>);

impl Testimony {
    /// How the stream ended, if the kernel or the peer ended it.
    pub(super) fn ending(&self) -> Option<Ending> {
        *self.0.lock()
    }

    /// The first ending is the true one: what follows an RST is a broken pipe.
    fn record(&self, ending: Ending) {
        self.0.lock().get_or_insert(ending);
    }

    fn note<T>(&self, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &outcome {
            self.record(ending_of(error));
        }
        outcome
    }
}

fn ending_of(error: &io::Error) -> Ending {
    let kind = error.kind();
    if kind == io::ErrorKind::ConnectionAborted {
        Ending::Aborted
    } else if [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset].contains(&kind) {
        Ending::Reset
    } else {
        Ending::Lost
    }
}

impl Witness {
    pub(super) fn new(stream: TcpStream) -> (Self, Testimony) {
        let testimony = Testimony::default();
        let witness = Self {
            stream,
            testimony: testimony.clone(),
        };
        (witness, testimony)
    }
}

impl Witness {
    /// Whether the kernel has ended the stream, which nobody reads from or writes to.
    pub(super) fn is_ended(&self) -> bool {
        match SockRef::from(&self.stream).take_error() {
            Ok(None) => false,
            Ok(Some(error)) | Err(error) => {
                self.testimony.record(ending_of(&error));
                true
            }
        }
    }
}

impl AsyncRead for Witness {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer));
        if outcome.is_ok() && buffer.remaining() > 0 && buffer.filled().len() == before {
            self.testimony.record(Ending::Eof);
        }
        self.testimony.note(Poll::Ready(outcome))
    }
}

impl AsyncWrite for Witness {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.testimony.note(outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
