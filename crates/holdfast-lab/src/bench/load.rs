//! The client of the benchmark: one generator for all metrics, so that nothing but the peers need be
//! installed.
//!
//! Each measurement runs on the calling thread alone and ends with its time; a connection that breaks, a
//! wrong answer and a silence are errors, since nothing goes wrong in this world.

mod swarm;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use super::backend::{self, BLOCK, BULK, SMALL};
use super::report::quantile;

/// After so long without a byte something is broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the answer to every request begins.
const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// Load on one address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    to: SocketAddrV4,
}

/// What one stream carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    pub(super) bytes: f64,
    pub(super) seconds: f64,
}

/// How long requests took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

impl Load {
    /// Load on a port of 127.0.0.1.
    pub(super) const fn on(port: u16) -> Self {
        Self {
            to: SocketAddrV4::new(Ipv4Addr::LOCALHOST, port),
        }
    }

    /// One small request on a connection of its own.
    pub(super) fn once(self) -> io::Result<()> {
        self.connect()?.request(&mut answer_buffer())
    }

    /// Reads from one stream for as long as `each`.
    pub(super) fn bulk(self, each: Duration) -> io::Result<Bulk> {
        let mut link = self.connect()?;
        link.stream.write_all(BULK)?;
        let mut block = vec![0; BLOCK];
        let start = Instant::now();
        let mut bytes = 0_u64;
        loop {
            let n = link.stream.read(&mut block)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes += n as u64;
            let passed = start.elapsed();
            if passed >= each {
                return Ok(Bulk {
                    bytes: real(bytes),
                    seconds: passed.as_secs_f64(),
                });
            }
        }
    }

    /// Small requests one after the other on one connection.
    pub(super) fn latency(self, each: Duration) -> io::Result<Latency> {
        let mut link = self.connect()?;
        let mut answer = answer_buffer();
        let mut took = Vec::new();
        let start = Instant::now();
        let mut before = start;
        while before - start < each {
            link.request(&mut answer)?;
            let now = Instant::now();
            took.push((now - before).as_secs_f64() * 1e6);
            before = now;
        }
        took.sort_by(f64::total_cmp);
        Ok(Latency {
            p50_us: quantile(&took, 0.5),
            p99_us: quantile(&took, 0.99),
        })
    }

    /// Small requests from so many clients at once, each on one connection; answers per second.
    pub(super) fn requests(self, clients: usize, each: Duration) -> io::Result<f64> {
        swarm::requests(self.to, clients, each)
    }

    /// Connections by so many clients at once, each for one small request; answers per second.
    pub(super) fn connects(self, clients: usize, each: Duration) -> io::Result<f64> {
        swarm::connects(self.to, clients, each)
    }

    /// So many connections, open after one small request each, until they are dropped.
    pub(super) fn crowd(self, connections: usize) -> io::Result<Vec<TcpStream>> {
        let mut answer = answer_buffer();
        (0..connections)
            .map(|_| {
                let mut link = self.connect()?;
                link.request(&mut answer)?;
                Ok(link.stream)
            })
            .collect()
    }

    fn connect(self) -> io::Result<Link> {
        let stream = TcpStream::connect(self.to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Link { stream })
    }
}

/// One connection that waits for its answers.
struct Link {
    stream: TcpStream,
}

impl Link {
    /// `answer` is exactly as long as the answer that is expected.
    fn request(&mut self, answer: &mut [u8]) -> io::Result<()> {
        self.stream.write_all(SMALL)?;
        self.stream.read_exact(answer)?;
        check(answer)
    }
}

fn answer_buffer() -> Vec<u8> {
    backend::small_answer(false)
}

fn check(answer: &[u8]) -> io::Result<()> {
    if answer.starts_with(OK) {
        return Ok(());
    }
    let start = answer.get(..answer.len().min(80)).unwrap_or_default();
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        format!("unexpected answer {:?}", String::from_utf8_lossy(start)),
    ))
}

/// A count as a number to divide by.
#[expect(
    clippy::cast_precision_loss,
    reason = "2^52 bytes are more than any measurement moves"
)]
const fn real(count: u64) -> f64 {
    count as f64
}
