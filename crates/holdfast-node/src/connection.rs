//! One client connection: finds an upstream the way [`Opening`] says, then moves bytes.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use holdfast_core::agent::{DialFailure, Input, Shortage};
use holdfast_core::balance::Candidates;
use holdfast_core::machine::Machine;
use holdfast_core::opening::{self, DialId, Opening, Wait};
use holdfast_linux::descriptors::{self, Lease};
use holdfast_linux::dial::{self, DialError, reset_on_drop};
use holdfast_linux::pump::{self, End, pump};
use rustix::io::Errno;
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

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
    /// Milliseconds for a client's first byte; a reload may change it.
    first_byte_ms: Arc<AtomicU64>,
    /// When the agent was last told that the data path is full.
    full_told_ms: Arc<AtomicU64>,
}

/// While the data path is full the agent is told at most this often.
const FULL_TOLD_EVERY_MS: u64 = 1000;

/// Descriptors of a connection: the client's socket and one to an upstream.
const DESCRIPTORS: usize = 2;

/// Connections that the descriptor limit allows.
pub(crate) fn most_connections() -> usize {
    descriptors::most() / DESCRIPTORS
}

impl Doorway {
    pub(crate) fn new(
        clock: Clock,
        candidates: watch::Receiver<Arc<Candidates>>,
        facts: mpsc::UnboundedSender<Input>,
        table: Arc<Table>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            clock,
            candidates,
            facts,
            table,
            metrics,
            first_byte_ms: Arc::default(),
            full_told_ms: Arc::default(),
        }
    }

    pub(crate) fn set_first_byte(&self, within: Duration) {
        let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.first_byte_ms.store(ms, Relaxed);
    }

    pub(crate) fn tell(&self, fact: Input) {
        // Without a receiver the agent is stopping.
        drop(self.facts.send(fact));
    }

    /// Takes one client in: it is served by a task of its own, or reset at once when the data path
    /// has no descriptors left.
    pub(crate) fn admit(&self, client: TcpStream) {
        self.metrics.accepted.inc();
        if let Some(lease) = descriptors::take(DESCRIPTORS) {
            tokio::spawn(self.clone().serve(client, lease));
        } else {
            reset_on_drop(&client);
            drop(client);
            self.metrics.ended(EndedBy::Refusal);
            let now = self.clock.now_ms();
            let told = self.full_told_ms.load(Relaxed);
            if told == 0 || now >= told + FULL_TOLD_EVERY_MS {
                self.full_told_ms.store(now.max(1), Relaxed);
                self.tell(Input::FailedHere {
                    shortage: Shortage::Descriptors,
                    evidence: format!(
                        "{} connections are open, and the descriptor limit allows {}",
                        self.table.len(),
                        most_connections()
                    ),
                });
            }
        }
    }

    /// Serves one client until its connection ends.
    async fn serve(self, mut client: TcpStream, _descriptors: Lease) {
        let mut place = self.table.enter();
        let id = place.id;
        let by = match self.open(&mut client, &mut place).await {
            Opened::Upstream(won) => self.carry(&mut client, won, &mut place).await,
            Opened::ClientGone => EndedBy::Client,
            Opened::ClientSilent(evidence) => {
                self.tell(Input::Unused { evidence });
                EndedBy::Unused
            }
            Opened::Refused { by_upstreams } => {
                reset_on_drop(&client);
                if by_upstreams {
                    self.tell(Input::TurnedAway);
                }
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

    async fn carry(&self, client: &mut TcpStream, won: Won, place: &mut Place) -> EndedBy {
        let flow = Arc::clone(&place.flow);
        let Won {
            address,
            mut stream,
            said,
        } = won;
        let upstream = &mut stream;
        let moving = async {
            if pump::write_all(client, &said).await.is_err() {
                return End::ClientFailed;
            }
            flow.delivered(said.len() as u64);
            drop(said);
            pump(&mut *client, &mut *upstream, &flow, || self.clock.now_ms()).await
        };
        let by = tokio::select! {
            biased;
            end = moving => match end {
                End::ClientClosed => EndedBy::Client,
                End::ClientFailed => {
                    reset_on_drop(upstream);
                    EndedBy::Client
                }
                End::UpstreamClosed => EndedBy::Upstream,
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

    async fn open(&self, client: &mut TcpStream, place: &mut Place) -> Opened {
        let candidates = self.candidates.borrow().as_ref().clone();
        let first_byte = Duration::from_millis(self.first_byte_ms.load(Relaxed));
        let mut opening = Opening::new(self.clock.now(), candidates).with_first_byte(first_byte);
        // Whether every dial so far failed on this side: then nothing is known about upstreams.
        let mut only_here = false;
        let mut dials = FuturesUnordered::new();
        let mut upstreams: BTreeMap<DialId, Upstream> = BTreeMap::new();
        let mut first: Vec<u8> = Vec::new();
        let mut client_open = true;
        // Setting a timer costs more than being woken for nothing, which hardly ever happens: it is
        // only moved to an earlier time, or when it has gone off.
        let wake = |opening: &Opening| opening.next_wake().map(|tick| self.clock.instant(tick));
        let mut timer = pin!(sleep_until(wake(&opening).unwrap_or_else(Instant::now)));
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
                        dials
                            .push(async move { (dial, address, dial_within(dial, address).await) });
                    }
                    opening::Action::Drop(dial) => {
                        if let Some(lost) = upstreams.remove(&dial) {
                            reset_on_drop(&lost.stream);
                        }
                    }
                    opening::Action::Leave(Wait::Over) => {
                        return Opened::ClientSilent("the time for its first byte is over");
                    }
                    opening::Action::Leave(Wait::UpstreamClosed) => {
                        return Opened::ClientSilent("its upstream closed the connection");
                    }
                    opening::Action::Refuse => {
                        return Opened::Refused {
                            by_upstreams: !only_here,
                        };
                    }
                    opening::Action::Stalled(dial) => {
                        if let Some(upstream) = opening.address(dial) {
                            self.tell(Input::Stalled { upstream });
                        }
                    }
                    opening::Action::Win(dial) => {
                        let Some(won) = upstreams.remove(&dial) else {
                            return Opened::Refused { by_upstreams: true };
                        };
                        return self.hand_over(won, &first, place).await;
                    }
                }
            }
            let wake = wake(&opening);
            if let Some(wake) = wake
                && (timer.is_elapsed() || wake < timer.deadline())
            {
                timer.as_mut().reset(wake);
            }
            let event = tokio::select! {
                biased;
                how = &mut place.end => {
                    drop(how);
                    return Opened::Ordered;
                }
                Some((dial, address, result)) = dials.next() => {
                    let here = result.as_ref().is_err_and(is_local);
                    only_here = here && (only_here || dial == 0);
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
                read = poll_fn(|context| pump::poll_some(client, FIRST_BYTES, context)), if client_open => {
                    let bytes = read.unwrap_or_default();
                    if bytes.is_empty() && first.is_empty() {
                        return Opened::ClientGone;
                    }
                    first.extend_from_slice(&bytes);
                    client_open = !bytes.is_empty() && first.len() < FIRST_BYTES;
                    opening.handle(self.clock.now(), opening::Input::ClientSpoke);
                    (!client_open).then_some(opening::Input::Committed)
                }
                () = &mut timer, if wake.is_some() => None,
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
        result: io::Result<(TcpStream, Option<Lease>)>,
        upstreams: &mut BTreeMap<DialId, Upstream>,
    ) -> opening::Input {
        match result {
            Ok((stream, lease)) => {
                let upstream = Upstream {
                    address,
                    stream,
                    _descriptor: lease,
                    sent: 0,
                    said: Vec::new(),
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
                    DialError::Local(shortage) => {
                        self.tell(Input::FailedHere {
                            shortage: lacking(shortage),
                            evidence: format!("connect to {address}: {error}"),
                        });
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
        if let Ok(local) = won.stream.local_addr() {
            place.is_at(local);
        }
        let now = self.clock.now_ms();
        place.flow.sent(first.len() as u64, now);
        if !won.said.is_empty() {
            place.flow.heard(now);
            let upstream = won.address;
            self.tell(Input::Spoke { upstream });
        }
        Opened::Upstream(Won {
            address: won.address,
            stream: won.stream,
            said: won.said,
        })
    }
}

/// Dials with a descriptor of its own; that of the first dial came with the client.
async fn dial_within(dial: DialId, upstream: SocketAddr) -> io::Result<(TcpStream, Option<Lease>)> {
    let lease = if dial == 0 {
        None
    } else {
        Some(descriptors::take(1).ok_or(Errno::MFILE)?)
    };
    Ok((dial::dial_for_client(upstream).await?, lease))
}

fn is_local(error: &io::Error) -> bool {
    matches!(dial::failure(error), DialError::Local(_))
}

/// What a failed system call lacked, in the words of the agent.
pub(crate) const fn lacking(shortage: dial::Shortage) -> Shortage {
    match shortage {
        dial::Shortage::Descriptors => Shortage::Descriptors,
        dial::Shortage::Other => Shortage::Other,
        dial::Shortage::Ports => Shortage::Ports,
    }
}

enum Opened {
    ClientGone,
    /// It never said anything, and why it waits no longer.
    ClientSilent(&'static str),
    Ordered,
    /// By upstreams, or because this node could not even dial.
    Refused {
        by_upstreams: bool,
    },
    Upstream(Won),
    UpstreamLost(SocketAddr),
}

/// A connected candidate that has not won yet.
struct Upstream {
    address: SocketAddr,
    stream: TcpStream,
    _descriptor: Option<Lease>,
    /// How many of the client's first bytes it has.
    sent: usize,
    /// Its first bytes, which make it the one; empty until then.
    said: Vec<u8>,
}

/// The upstream that serves the client.
struct Won {
    address: SocketAddr,
    stream: TcpStream,
    /// What it has said and the client has not got yet.
    said: Vec<u8>,
}

enum Heard {
    Ended,
    Spoke,
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
            match pump::poll_some(&mut upstream.stream, usize::MAX, context) {
                Poll::Ready(Ok(said)) if !said.is_empty() => {
                    upstream.said = said;
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
