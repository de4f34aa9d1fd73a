//! What a simulated client's bytes meet on their way: lost packets, retransmissions, open questions.

use std::net::SocketAddr;
use std::time::Duration;

use super::{Due, Event, Mood, ROUND_TRIP, Sim, Traffic};
use crate::agent::{ConnectionId, Input, Wire};
use crate::machine::Tick;

/// The retransmission timer of a LAN (RFC 6298 with Linux's lower bound).
const TIMER: Duration = Duration::from_millis(200);

/// The shell asks the kernel this often while something is wrong.
const LOOK: Duration = Duration::from_millis(250);

/// An idle connection's kernel asks its peer this often.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// The shell tells the agent of a connection that is unanswered for this long.
const SILENT: Duration = Duration::from_secs(6);

/// One client's connection to its upstream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Which of the address's targets it leads to.
    pub(super) target: usize,
    opened: Tick,
    /// Its packets vanish, whatever its target does.
    pub(super) dead: Option<Tick>,
    /// They vanished until then.
    pub(super) mended: Option<Tick>,
    /// Time between two requests of its client.
    period: Duration,
    heard: Tick,
    /// The first request that is unanswered, and how many there are.
    waiting: Option<(Tick, u32)>,
    unacknowledged: Option<Resent>,
}

#[derive(Clone, Copy, Debug)]
struct Resent {
    last_sent: Tick,
    retransmits: u8,
}

impl Resent {
    fn timer(self) -> Duration {
        TIMER * (1 << self.retransmits.min(10))
    }
}

impl Line {
    pub(super) const fn new(now: Tick, id: ConnectionId, target: usize) -> Self {
        // Clients that write each second, each heartbeat, and hardly ever.
        let period = match id % 3 {
            0 => Duration::from_secs(1),
            1 => Duration::from_secs(10),
            _ => Duration::from_mins(10),
        };
        Self {
            target,
            opened: now,
            dead: None,
            mended: None,
            period,
            heard: now,
            waiting: None,
            unacknowledged: None,
        }
    }
}

impl Sim {
    /// How the target at the end of this line behaves, as seen through it.
    fn behind(&self, upstream: SocketAddr, line: &Line) -> Mood {
        if line.dead.is_some() {
            return Mood::Silent;
        }
        self.mood_of(upstream, line.target)
    }

    /// A client sends a request, and goes on doing so.
    pub(super) fn write(&mut self, id: ConnectionId) {
        let now = self.now;
        let Some((upstream, line)) = self.line(id) else {
            return;
        };
        self.put(line.period, Due::Write(id));
        let mood = self.behind(upstream, &line);
        let acknowledged = self.reach(id, mood);
        let Some(line) = self.clients.get_mut(&id).and_then(|c| c.line.as_mut()) else {
            return;
        };
        if !answers(mood) {
            let (since, requests) = line.waiting.unwrap_or((now, 0));
            line.waiting = Some((since, requests + 1));
            if !acknowledged && line.unacknowledged.is_none() {
                let resent = Resent {
                    last_sent: now,
                    retransmits: 0,
                };
                line.unacknowledged = Some(resent);
                self.put(resent.timer(), Due::Resend(id));
            }
            self.look_soon();
        }
    }

    /// The kernel sends again what was not acknowledged.
    pub(super) fn resend(&mut self, id: ConnectionId) {
        let Some((upstream, line)) = self.line(id) else {
            return;
        };
        let Some(resent) = line.unacknowledged else {
            return;
        };
        let mood = self.behind(upstream, &line);
        if self.reach(id, mood) {
            return;
        }
        let resent = Resent {
            last_sent: self.now,
            retransmits: resent.retransmits.saturating_add(1),
        };
        if let Some(line) = self.clients.get_mut(&id).and_then(|c| c.line.as_mut()) {
            line.unacknowledged = Some(resent);
            self.put(resent.timer(), Due::Resend(id));
        }
    }

    /// A packet of this line reaches its end, or not; whether it is acknowledged.
    fn reach(&mut self, id: ConnectionId, mood: Mood) -> bool {
        match mood {
            Mood::Silent => return false,
            // A stranger knows the connections that were opened to him, and no others.
            Mood::Foreign if self.is_strangers_own(id) => return true,
            Mood::Refusing | Mood::Foreign => {
                self.clients.remove(&id);
                self.put(ROUND_TRIP, Due::Fact(Input::Closed { connection: id }));
                self.put(ROUND_TRIP, Due::World(Event::Connect));
                return true;
            }
            Mood::Up | Mood::NotReady | Mood::Slow(_) | Mood::Hung => {}
        }
        let now = self.now;
        if let Some(line) = self.clients.get_mut(&id).and_then(|c| c.line.as_mut()) {
            line.unacknowledged = None;
            if answers(mood) {
                line.heard = now;
                line.waiting = None;
            }
        }
        true
    }

    /// A server that works again answers the requests that had reached it.
    pub(super) fn answer_what_waits(&mut self, address: SocketAddr, target: usize) {
        if !answers(self.mood_of(address, target)) {
            return;
        }
        let now = self.now;
        for client in self
            .clients
            .values_mut()
            .filter(|c| c.upstream == Some(address))
        {
            if let Some(line) = &mut client.line
                && line.target == target
                && line.dead.is_none()
                && line.unacknowledged.is_none()
                && line.waiting.take().is_some()
            {
                line.heard = now;
            }
        }
    }

    fn is_strangers_own(&self, id: ConnectionId) -> bool {
        self.line(id).is_some_and(|(upstream, line)| {
            let place = self.places.get(&upstream);
            let target = place.and_then(|p| p.targets.get(line.target));
            target.is_some_and(|t| line.opened >= t.since)
        })
    }

    /// Starts the looks at the kernel, if none is due.
    pub(super) fn look_soon(&mut self) {
        if !std::mem::replace(&mut self.looking, true) {
            self.put(LOOK, Due::Look);
        }
    }

    /// The shell asks the kernel about what waits, and about one connection of each upstream.
    pub(super) fn look(&mut self) {
        let now = self.now;
        let mut scouted = std::collections::BTreeSet::new();
        let mut facts = Vec::new();
        let mut wrong = !self.link.0;
        for (id, client) in &self.clients {
            let (Some(upstream), Some(line)) = (client.upstream, client.line) else {
                continue;
            };
            let mood = self.behind(upstream, &line);
            wrong |= mood != Mood::Up || line.waiting.is_some();
            let scout = scouted.insert(upstream);
            if line.waiting.is_some() || scout {
                let wire = self.wire(*id, upstream, &line);
                let connection = *id;
                facts.push(Input::Wire { connection, wire });
            }
            if let Some((since, requests)) = line.waiting
                && now.since(since) >= SILENT
                && now.since_start().as_millis() % 1000 < LOOK.as_millis()
            {
                facts.push(Input::Unanswered {
                    connection: *id,
                    since,
                    repeated: requests > 1,
                });
            }
        }
        for fact in facts {
            self.put(Duration::ZERO, Due::Fact(fact));
        }
        self.looking = wrong;
        if wrong {
            self.put(LOOK, Due::Look);
        }
    }

    fn wire(&self, id: ConnectionId, upstream: SocketAddr, line: &Line) -> Wire {
        // The peer was heard until its line went silent.
        let silent_since = match (line.dead, self.behind(upstream, line)) {
            (Some(dead), _) => Some(dead),
            (None, Mood::Silent) => Some(self.silent_since(upstream, line.target)),
            (None, _) => None,
        };
        let phase = Duration::from_millis(id * 377 % 2000);
        let asked = silent_since.map(|since| since + phase + Duration::from_millis(1));
        let open = asked.is_some_and(|at| self.now >= at) && phase < KEEPALIVE;
        let resent = line.unacknowledged;
        Wire {
            unacknowledged: u32::from(resent.is_some()),
            retransmits: resent.map_or(0, |r| r.retransmits),
            questions: u8::from(open && resent.is_none()),
            window_closed: false,
            timer: resent.map_or(TIMER, Resent::timer),
            last_sent: resent.map_or(line.heard, |r| r.last_sent),
            heard: match (silent_since, resent) {
                (Some(since), _) => since,
                // Up again, and nothing was acknowledged so far.
                (None, Some(_)) => line.heard,
                (None, None) => self.now,
            },
        }
    }

    /// What the connections on `upstream` got from it.
    pub(super) fn traffic(&self, upstream: SocketAddr) -> Vec<Traffic> {
        let seen = |(id, client): (&ConnectionId, &super::Client)| {
            let line = client.line.filter(|_| client.upstream == Some(upstream))?;
            let alive = matches!(self.behind(upstream, &line), Mood::Up | Mood::NotReady);
            Some(Traffic {
                connection: *id,
                // A client that writes each second gets something as often, from a server that works.
                heard: Some(if alive && id % 3 == 0 {
                    self.now
                } else {
                    line.heard
                }),
                waiting: line.waiting.is_some(),
            })
        };
        self.clients.iter().filter_map(seen).collect()
    }

    fn line(&self, id: ConnectionId) -> Option<(SocketAddr, Line)> {
        let client = self.clients.get(&id)?;
        Some((client.upstream?, client.line?))
    }
}

/// Whether requests are answered in time.
const fn answers(mood: Mood) -> bool {
    matches!(mood, Mood::Up | Mood::NotReady)
}
