//! What the kernel says about other people's sockets, told as facts to the agent's machine.
//!
//! A fold over successive looks at the kernel's table: each look is a list of what is there now.
//! From two of them follows what happened in between: a connection is there, is gone, has been
//! written to without an answer. Nothing is lost by a look that comes late; whatever can't be dated
//! is dated late, so that a silence is never overstated.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::agent::{ConnectionId, Input, LITTLE, MOMENTS, Power, SILENT, Traffic, Wire};
use crate::machine::Tick;
use crate::status::GuardedStatus;

#[cfg(test)]
mod tests;

/// Sockets that are watched at once; more are left out, and counted. A node's clients of the API
/// have a handful.
pub const MOST: usize = 4096;

/// Bytes that were written so far apart are two moments, not one.
const APART: Duration = Duration::from_secs(1);

/// A silence that lasts is told this often.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A first answer that takes longer than this makes the address worth a look.
const FIRST_ANSWER: Duration = Duration::from_secs(1);

/// Names a socket for as long as it lives, and no other one ever after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The network namespace, numbered by the shell: before Linux 5.5 cookies repeat in another one.
    pub place: u32,
    /// The kernel's cookie.
    pub cookie: u64,
}

/// One socket at the moment of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The kernel's cookie.
    pub cookie: u64,
    /// Its near end.
    pub local: SocketAddr,
    /// Its far end.
    pub remote: SocketAddr,
    /// Whose it is, in words.
    pub client: String,
    /// What can be done to it.
    pub power: Power,
    /// It is established; else its first packet waits for an answer.
    pub established: bool,
    /// Bytes that its owner has written so far.
    pub written: u64,
    /// Bytes that came so far.
    pub received: u64,
    /// Time since its last bytes were sent, retransmissions included.
    pub sent_ago: Duration,
    /// Time since bytes last came.
    pub received_ago: Duration,
    /// Time since an acknowledgement last came.
    pub acked_ago: Duration,
    /// Segments that were sent and not acknowledged.
    pub unacknowledged: u32,
    /// How often the oldest of them, or its first packet, was sent again in vain.
    pub retransmits: u8,
    /// Keepalive or zero-window questions that are unanswered.
    pub questions: u8,
    /// The peer takes no more at the moment.
    pub window_closed: bool,
    /// The retransmission timer.
    pub timer: Duration,
}

/// Written and not answered.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Tick,
    last: Tick,
    moments: u64,
    /// What had been written before.
    before: u64,
    told: Option<Tick>,
}

#[derive(Clone, Debug)]
struct Watched {
    id: ConnectionId,
    seen: Seen,
    since: Tick,
    looked: Tick,
    /// When bytes last came.
    heard: Option<Tick>,
    waiting: Option<Waiting>,
    stalled: bool,
}

/// All sockets that are watched.
#[derive(Debug, Default)]
pub struct Guard {
    watched: BTreeMap<Key, Watched>,
    left_out: BTreeMap<u32, usize>,
}

impl Guard {
    /// Nothing is watched yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in all that is to be watched in `place` at `now`. `number` numbers connections.
    pub fn look(
        &mut self,
        now: Tick,
        place: u32,
        seen: Vec<Seen>,
        mut number: impl FnMut() -> ConnectionId,
    ) -> Vec<Input> {
        let mut facts = Vec::new();
        let mut present = BTreeMap::new();
        for one in seen {
            let cookie = one.cookie;
            present.insert(Key { place, cookie }, one);
        }
        self.watched.retain(|key, watched| {
            let stays = key.place != place || present.contains_key(key);
            if !stays {
                facts.push(Input::Closed {
                    connection: watched.id,
                });
            }
            stays
        });
        let mut left_out = 0;
        for (key, seen) in present {
            if let Some(watched) = self.watched.get_mut(&key) {
                let answered = watched.follow(now, seen);
                if answered && watched.seen.power != Power::Abort {
                    let connection = watched.id;
                    facts.push(Input::Answered { connection });
                }
            } else if self.watched.len() < MOST {
                let watched = Watched::new(now, number(), seen);
                facts.push(Input::Guarded {
                    connection: watched.id,
                    upstream: watched.seen.remote,
                    power: watched.seen.power.clone(),
                });
                self.watched.insert(key, watched);
            } else {
                left_out += 1;
            }
        }
        self.left_out.insert(place, left_out);
        for (_, watched) in self
            .watched
            .iter_mut()
            .filter(|(key, _)| key.place == place)
        {
            facts.extend(watched.wire(now));
            facts.extend(watched.trouble(now));
        }
        facts
    }

    /// A place can't be seen any more, for good.
    pub fn leave(&mut self, place: u32) -> Vec<Input> {
        let facts = self.look(Tick::ZERO, place, Vec::new(), || 0);
        self.left_out.remove(&place);
        facts
    }

    /// When each connection on `upstream` got bytes last.
    pub fn traffic(&self, upstream: SocketAddr) -> Vec<Traffic> {
        self.watched
            .values()
            .filter(|w| w.seen.remote == upstream)
            .map(|w| Traffic {
                connection: w.id,
                heard: w.heard,
                // Quiet ones move home in the proxy alone.
                waiting: true,
            })
            .collect()
    }

    /// The socket of a connection.
    pub fn key(&self, connection: ConnectionId) -> Option<Key> {
        let found = self.watched.iter().find(|(_, w)| w.id == connection);
        found.map(|(key, _)| *key)
    }

    /// Whether something is unanswered: the next look should come soon.
    pub fn is_tense(&self) -> bool {
        self.watched.values().any(|w| {
            let seen = &w.seen;
            !seen.established || seen.retransmits > 0 || seen.questions > 0
        })
    }

    /// How many are watched.
    pub fn len(&self) -> usize {
        self.watched.len()
    }

    /// Whether none is watched.
    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// How many were too many at the last look.
    pub fn left_out(&self) -> usize {
        self.left_out.values().sum()
    }

    /// Each socket for `status`.
    pub fn status(&self, now: Tick) -> Vec<GuardedStatus> {
        self.watched
            .values()
            .map(|watched| GuardedStatus {
                connection: watched.id,
                local: watched.seen.local,
                remote: watched.seen.remote,
                client: watched.seen.client.clone(),
                established: watched.seen.established,
                since_s: now.since(watched.since).as_secs_f64(),
                last_byte_s: watched.heard.map(|at| now.since(at).as_secs_f64()),
                retransmits: watched.seen.retransmits,
            })
            .collect()
    }
}

impl Watched {
    fn new(now: Tick, id: ConnectionId, seen: Seen) -> Self {
        let mut watched = Self {
            id,
            since: now,
            looked: now,
            heard: None,
            waiting: None,
            stalled: false,
            seen,
        };
        watched.hear(now);
        watched
    }

    fn hear(&mut self, now: Tick) {
        if self.seen.received > 0 {
            self.heard = Some(now - self.seen.received_ago);
        }
    }

    /// Takes in the next look, and says whether bytes came since the one before.
    fn follow(&mut self, now: Tick, seen: Seen) -> bool {
        let answered = seen.received > self.seen.received;
        let written = seen.written > self.seen.written;
        if answered {
            self.waiting = None;
        } else if written {
            // At some moment since the last look; of all that fit, the latest.
            let at = now - seen.sent_ago.min(now.since(self.looked));
            match &mut self.waiting {
                Some(waiting) if at >= waiting.last + APART => {
                    waiting.moments += 1;
                    waiting.last = at;
                }
                Some(_) => {}
                None => {
                    self.waiting = Some(Waiting {
                        since: at,
                        last: at,
                        moments: 1,
                        before: self.seen.written,
                        told: None,
                    });
                }
            }
        }
        self.seen = seen;
        self.looked = now;
        self.hear(now);
        answered
    }

    /// The kernel's word, at the last look; an attempt has none that says more than its address.
    fn wire(&self, now: Tick) -> Option<Input> {
        let seen = &self.seen;
        seen.established.then(|| Input::Wire {
            connection: self.id,
            wire: Wire {
                unacknowledged: seen.unacknowledged,
                retransmits: seen.retransmits,
                questions: seen.questions,
                window_closed: seen.window_closed,
                timer: seen.timer,
                last_sent: now - seen.sent_ago,
                heard: now - seen.received_ago.min(seen.acked_ago),
            },
        })
    }

    /// What the agent should know of it, if anything.
    fn trouble(&mut self, now: Tick) -> Option<Input> {
        let upstream = self.seen.remote;
        let late = if self.seen.established {
            let waits = self.waiting.is_some_and(|w| now >= w.since + FIRST_ANSWER);
            self.heard.is_none() && waits
        } else {
            self.seen.retransmits > 0
        };
        if late && !std::mem::replace(&mut self.stalled, true) {
            return Some(Input::Stalled { upstream });
        }
        let waiting = self.waiting.as_mut()?;
        let due = waiting.told.is_none_or(|at| now >= at + TELL_EVERY);
        let little = self.seen.written.saturating_sub(waiting.before) <= LITTLE;
        if !due || !little || now < waiting.since + SILENT {
            return None;
        }
        waiting.told = Some(now);
        Some(Input::Unanswered {
            connection: self.id,
            since: waiting.since,
            repeated: waiting.moments >= MOMENTS,
        })
    }
}
