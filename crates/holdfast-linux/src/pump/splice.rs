//! Bulk transfers without copying: splice(2) through a large pipe.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::{Side, Way};
use crate::descriptors::{self, Lease};

/// Bytes of a pipe. With the default of 64 KiB splicing costs as much as copying; with this it costs
/// less than half. The kernel's limit for ordinary users is the same (`fs.pipe-max-size`, pipe(7)).
const PIPE: usize = 1024 * 1024;

/// A splice that moves less than this is not worth a pipe any more.
const LITTLE: usize = 16 * 1024;

/// Pipes that are kept for the next bulk transfer: each may hold a MiB of the kernel's memory only
/// while it is used.
const KEPT: usize = 8;

static POOL: Mutex<Vec<Pipe>> = Mutex::new(Vec::new());

struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
    _descriptors: Lease,
}

impl Pipe {
    /// An empty pipe, or none: out of descriptors, copying goes on.
    fn take() -> Option<Self> {
        if let Some(pipe) = POOL.lock().pop() {
            return Some(pipe);
        }
        let lease = descriptors::take(2)?;
        let (read, write) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).ok()?;
        // A smaller pipe works too, if this user has used up its share of pipe memory.
        fcntl_setpipe_size(&write, PIPE).ok();
        Some(Self {
            read,
            write,
            _descriptors: lease,
        })
    }

    /// Keeps an empty pipe for the next one. One that still holds bytes is dropped instead, which is
    /// what happens when the transfer is cancelled.
    fn keep(self) {
        let mut pool = POOL.lock();
        if pool.len() < KEPT {
            pool.push(self);
        }
    }
}

/// Splices until it moves little; true when the sender has closed.
pub(super) async fn while_it_pays(
    from: &TcpStream,
    to: &TcpStream,
    way: &Way<'_>,
) -> Result<bool, Side> {
    let Some(pipe) = Pipe::take() else {
        return Ok(false);
    };
    loop {
        // The pipe is empty here, so "would block" can only mean that the socket is.
        let moved = from
            .async_io(Interest::READABLE, || shift(from, &pipe.write, PIPE))
            .await
            .map_err(|_| Side::Reader)?;
        if moved > 0 {
            (way.read)();
        }
        let mut left = moved;
        while left > 0 {
            left -= to
                .async_io(Interest::WRITABLE, || shift(&pipe.read, to, left))
                .await
                .map_err(|_| Side::Writer)?;
        }
        way.count_spliced(moved);
        if moved < LITTLE {
            pipe.keep();
            return Ok(moved == 0);
        }
        // Readiness that never runs out must not keep the worker from its other connections.
        tokio::task::consume_budget().await;
    }
}

fn shift(from: impl AsFd, to: impl AsFd, most: usize) -> io::Result<usize> {
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    loop {
        match splice(&from, None, &to, None, most, flags) {
            Err(Errno::INTR) => {}
            other => return other.map_err(Into::into),
        }
    }
}
