//! One client connection: finds an upstream the way [`Opening`] says, then moves bytes.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt};
use holdfast_core::agent::{DialFailure, Input};
use holdfast_core::balance::Candidates;
use holdfast_core::machine::Machine;
use holdfast_core::opening::{self, DialId, Opening};
use holdfast_linux::dial::{self, DialError, reset_on_drop};
use holdfast_linux::pump::{self, End, pump};
use tokio::io::{AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;

use crate::clock::Clock;
use crate::metrics::{Direction, EndedBy, Metrics};
use crate::table::{Ending, Place, Table};

/// Bytes of a client that are kept until an upstream answers. A TLS `ClientHello` has a few hundred;
/// with large post-quantum key shares still below 4 KiB.
const FIRST_BYTES: usize = 16 * 1024;

/// What every connection needs.
#[derive(Clone, Debug)]
pub(crate) struct Doorway {
    pub(crate) clock: Clock,
    pub(crate) candidates: watch::Receiver<Arc<Candidates>>,
    pub(crate) facts: mpsc::UnboundedSender<Input>,
    pub(crate) table: Arc<Table>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Doorway {
    fn tell(&self, fact: Input) {
        // Without a receiver the agent is stopping.
        drop(self.facts.send(fact));
    }

    /// Serves one client until its connection ends.
    pub(crate) async fn serve(self, mut client: TcpStream) {
        self.metrics.accepted.inc();
        // Small frames in both directions: waiting to fill a segment would only delay them. A
        // socket that fails here fails at its first read.
        drop(client.set_nodelay(true));
        let mut place = self.table.enter();
        let id = place.id;
        let by = match self.open(&client, &mut place).await {
            Opened::Upstream(address, mut upstream) => {
                self.carry(&mut client, address, &mut upstream, &mut place)
                    .await
            }
            Opened::ClientGone => EndedBy::Client,
            Opened::Refused => {
                reset_on_drop(&client);
                self.tell(Input::TurnedAway);
                EndedBy::Refusal
            }
            Opened::UpstreamLost(upstream) => {
                reset_on_drop(&client);
                let failure = DialFailure::Ended;
                self.tell(Input::DialFailed { upstream, failure });
                EndedBy::Upstream
            }
            Opened::Ordered => {
                reset_on_drop(&client);
                EndedBy::Cut
            }
        };
        self.metrics.ended(by);
        drop(place);
        self.tell(Input::Closed { connection: id });
    }

    async fn carry(
        &self,
        client: &mut TcpStream,
        address: SocketAddr,
        upstream: &mut TcpStream,
        place: &mut Place,
    ) -> EndedBy {
        let flow = Arc::clone(&place.flow);
        let by = tokio::select! {
            end = pump(&mut *client, &mut *upstream, &flow, || self.clock.now_ms()) => match end {
                End::Closed => EndedBy::Client,
                End::ClientFailed => {
                    reset_on_drop(upstream);
                    EndedBy::Client
                }
                End::UpstreamFailed => {
                    reset_on_drop(client);
                    let failure = DialFailure::Ended;
                    self.tell(Input::DialFailed { upstream: address, failure });
                    EndedBy::Upstream
                }
            },
            how = &mut place.end => match how {
                Ok(Ending::Close) => EndedBy::Drain,
                Ok(Ending::Cut) | Err(_) => {
                    reset_on_drop(client);
                    reset_on_drop(upstream);
                    EndedBy::Cut
                }
            },
        };
        self.metrics
            .moved(Direction::ToUpstream, flow.to_upstream());
        self.metrics.moved(Direction::ToClient, flow.to_client());
        self.metrics.bytes_spliced.inc_by(flow.bytes_spliced());
        by
    }

    async fn open(&self, client: &TcpStream, place: &mut Place) -> Opened {
        let candidates = self.candidates.borrow().as_ref().clone();
        let mut opening = Opening::new(self.clock.now(), candidates);
        let mut dials = FuturesUnordered::new();
        let mut upstreams: BTreeMap<DialId, Upstream> = BTreeMap::new();
        let mut first: Vec<u8> = Vec::new();
        let mut client_open = true;
        loop {
            while let Some(action) = opening.poll() {
                match action {
                    opening::Action::Attach(dial) => {
                        if let Some(upstream) = opening.address(dial) {
                            place.stand_on(upstream);
                            let connection = place.id;
                            self.tell(Input::Attached {
                                connection,
                                upstream,
                            });
                        }
                    }
                    opening::Action::Dial(dial, address) => {
                        dials.push(async move { (dial, address, dial::dial(address).await) });
                    }
                    opening::Action::Drop(dial) => {
                        if let Some(lost) = upstreams.remove(&dial) {
                            reset_on_drop(&lost.stream);
                        }
                    }
                    opening::Action::Refuse => return Opened::Refused,
                    opening::Action::Stalled(dial) => {
                        if let Some(upstream) = opening.address(dial) {
                            self.tell(Input::Stalled { upstream });
                        }
                    }
                    opening::Action::Win(dial) => {
                        let Some(won) = upstreams.remove(&dial) else {
                            return Opened::Refused;
                        };
                        return self.hand_over(won, &first, place).await;
                    }
                }
            }
            let wake = opening.next_wake();
            let timer = async {
                match wake {
                    Some(tick) => sleep_until(self.clock.instant(tick)).await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                biased;
                how = &mut place.end => {
                    drop(how);
                    return Opened::Ordered;
                }
                Some((dial, address, result)) = dials.next() => {
                    Some(self.dialled(dial, address, result, &mut upstreams))
                }
                (dial, heard) = next_heard(&mut upstreams, &first) => match heard {
                    Heard::Spoke => Some(opening::Input::UpstreamSpoke(dial)),
                    Heard::Ended => {
                        upstreams.remove(&dial);
                        if let Some(upstream) = opening.address(dial) {
                            let failure = DialFailure::Ended;
                            self.tell(Input::DialFailed { upstream, failure });
                        }
                        Some(opening::Input::Failed(dial))
                    }
                },
                read = read_some(client), if client_open => {
                    let bytes = read.unwrap_or_default();
                    if bytes.is_empty() && first.is_empty() {
                        return Opened::ClientGone;
                    }
                    first.extend_from_slice(&bytes);
                    client_open = !bytes.is_empty() && first.len() < FIRST_BYTES;
                    opening.handle(self.clock.now(), opening::Input::ClientSpoke);
                    (!client_open).then_some(opening::Input::Committed)
                }
                () = timer => None,
            };
            let now = self.clock.now();
            match event {
                Some(event) => opening.handle(now, event),
                None => opening.wake(now),
            }
        }
    }

    fn dialled(
        &self,
        dial: DialId,
        address: SocketAddr,
        result: io::Result<TcpStream>,
        upstreams: &mut BTreeMap<DialId, Upstream>,
    ) -> opening::Input {
        match result {
            Ok(stream) => {
                let upstream = Upstream {
                    address,
                    stream,
                    sent: 0,
                    spoke: false,
                };
                upstreams.insert(dial, upstream);
                opening::Input::Connected(dial)
            }
            Err(error) => {
                let kind = dial::failure(&error);
                self.metrics.dial_failed(kind);
                let failure = match kind {
                    DialError::Refused => Some(DialFailure::Refused),
                    DialError::Unreachable => Some(DialFailure::Unreachable),
                    DialError::TimedOut => Some(DialFailure::TimedOut),
                    DialError::Local => {
                        tracing::error!(%error, upstream = %address, "dial failed on this side");
                        None
                    }
                };
                if let Some(failure) = failure {
                    let upstream = address;
                    self.tell(Input::DialFailed { upstream, failure });
                }
                opening::Input::Failed(dial)
            }
        }
    }

    /// Sends what is left of the client's first bytes; from here on the pump moves everything.
    async fn hand_over(&self, won: Upstream, first: &[u8], place: &Place) -> Opened {
        let rest = first.get(won.sent..).unwrap_or_default();
        if pump::write_all(&won.stream, rest).await.is_err() {
            return Opened::UpstreamLost(won.address);
        }
        let now = self.clock.now_ms();
        place.flow.sent(first.len() as u64, now);
        if won.spoke {
            place.flow.heard(now);
            let upstream = won.address;
            self.tell(Input::Spoke { upstream });
        }
        Opened::Upstream(won.address, won.stream)
    }
}

enum Opened {
    ClientGone,
    Ordered,
    Refused,
    Upstream(SocketAddr, TcpStream),
    UpstreamLost(SocketAddr),
}

/// A connected candidate that has not won yet.
struct Upstream {
    address: SocketAddr,
    stream: TcpStream,
    /// How many of the client's first bytes it has.
    sent: usize,
    spoke: bool,
}

enum Heard {
    Ended,
    Spoke,
}

/// What the client has sent; empty when it has closed its side.
async fn read_some(client: &TcpStream) -> io::Result<Vec<u8>> {
    loop {
        client.readable().await?;
        let mut chunk = vec![0; 4096];
        match client.try_read(&mut chunk) {
            Ok(n) => {
                chunk.truncate(n);
                return Ok(chunk);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends the client's first bytes to every candidate that has not got them all, and waits until one
/// of them speaks or ends. Never ready without candidates.
async fn next_heard(upstreams: &mut BTreeMap<DialId, Upstream>, first: &[u8]) -> (DialId, Heard) {
    poll_fn(|context| {
        for (dial, upstream) in upstreams.iter_mut() {
            while let Some(rest) = first.get(upstream.sent..).filter(|rest| !rest.is_empty()) {
                match Pin::new(&mut upstream.stream).poll_write(context, rest) {
                    Poll::Ready(Ok(n)) => upstream.sent += n,
                    Poll::Ready(Err(_)) => return Poll::Ready((*dial, Heard::Ended)),
                    Poll::Pending => break,
                }
            }
            let mut byte = [0; 1];
            let mut peeked = ReadBuf::new(&mut byte);
            match upstream.stream.poll_peek(context, &mut peeked) {
                Poll::Ready(Ok(n)) if n > 0 => {
                    upstream.spoke = true;
                    return Poll::Ready((*dial, Heard::Spoke));
                }
                Poll::Ready(_) => return Poll::Ready((*dial, Heard::Ended)),
                Poll::Pending => {}
            }
        }
        Poll::Pending
    })
    .await
}
