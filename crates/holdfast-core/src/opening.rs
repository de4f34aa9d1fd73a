//! How one new connection finds its upstream: dial, hedge, replay, or turn the client away.
//!
//! The client's first bytes are kept and sent to every upstream that connects, until one of them
//! answers; that one wins. A TLS client speaks first and its first message may be sent twice
//! without harm, so a hung server costs a client a fraction of a second and nothing else.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use crate::balance::Candidates;
use crate::machine::{Machine, Tick};

#[cfg(test)]
mod tests;

/// Time without a connection after which the next candidate is dialled as well.
pub const DIAL_HEDGE: Duration = Duration::from_millis(250);

/// Shortest time that a connected upstream may leave the client's first bytes unanswered before the
/// next candidate gets them as well. From the third candidate on it doubles each time: lateness may
/// mean overload, and copies of a request make that worse.
pub const FIRST_BYTE_HEDGE: Duration = Duration::from_millis(300);

/// Candidates that are dialled once more when all of them left the first bytes unanswered.
const SECOND_TRIES: usize = 4;

/// With no usable upstream a client is turned away within this time; it is never queued
/// (kubernetes/kubernetes#99602).
pub const PATIENCE_HOPELESS: Duration = Duration::from_millis(800);

/// With a usable upstream that does not connect, the client waits this long: a lost SYN is sent again
/// after 1 s and after 3 s (RFC 6298, section 2).
pub const PATIENCE_HOPEFUL: Duration = Duration::from_secs(5);

/// A client that has sent nothing for this long is closed unless another time is set. API servers do
/// the same after 32 s (the time for a request's header, which bounds the TLS handshake too:
/// `ReadHeaderTimeout` in kube-apiserver's `secure_serving.go`), so nobody loses a connection that a
/// server would have kept. A connection that was ever used has no such bound.
pub const FIRST_BYTE_WITHIN: Duration = Duration::from_mins(1);

/// An upstream that ends a connection whose client has said nothing is left for the next candidate
/// only if it does so within this time of connecting: a balancer without targets accepts and closes
/// at once. Later it is the server that lost patience, and every other server would too.
const ENDED_AT_ONCE: Duration = Duration::from_secs(5);

/// Pause before all candidates are tried once more.
const REDIAL: Duration = Duration::from_millis(150);

/// Names a dial within one opening.
pub type DialId = usize;

/// What happened to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The client sent its first bytes.
    ClientSpoke,
    /// What the client sent can't be kept whole any more, or it has closed its side: no copies.
    Committed,
    /// A dial is connected.
    Connected(DialId),
    /// A dial failed, or its connection ended before it answered.
    Failed(DialId),
    /// An upstream sent its first bytes.
    UpstreamSpoke(DialId),
}

/// What to do for the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// This connection serves the client until another one wins; tell the agent.
    Attach(DialId),
    /// Dial, and once connected pass on what the client has sent so far.
    Dial(DialId, SocketAddr),
    /// Drop a dial or its connection.
    Drop(DialId),
    /// Close the client's connection in order: it never said anything, and this ended the wait.
    Leave(Wait),
    /// Reset the client: nothing could serve it.
    Refuse,
    /// An upstream is late with its first bytes; tell the agent.
    Stalled(DialId),
    /// From now on bytes pass between the client and this connection alone.
    Win(DialId),
}

/// What ended the wait for a client that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The time for its first byte is over.
    Over,
    /// Its upstream has closed the connection.
    UpstreamClosed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Dialing,
    Connected,
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Dial {
    address: SocketAddr,
    patience: Duration,
    started: Tick,
    state: State,
    connected_at: Option<Tick>,
    /// When it is late: some time after it was connected and given the client's first bytes.
    late_at: Option<Tick>,
    stalled: bool,
}

/// One connection on its way to an upstream.
#[derive(Debug)]
pub struct Opening {
    candidates: Candidates,
    next: usize,
    started: Tick,
    first_byte: Duration,
    dials: Vec<Dial>,
    redial_at: Option<Tick>,
    client_spoke: bool,
    committed: bool,
    attached: Option<DialId>,
    done: bool,
    actions: VecDeque<Action>,
}

impl Opening {
    /// A connection that was accepted now.
    pub fn new(now: Tick, candidates: Candidates) -> Self {
        let mut opening = Self {
            candidates,
            next: 0,
            started: now,
            first_byte: FIRST_BYTE_WITHIN,
            dials: Vec::new(),
            redial_at: None,
            client_spoke: false,
            committed: false,
            attached: None,
            done: false,
            actions: VecDeque::new(),
        };
        opening.dial_next(now);
        opening
    }

    /// The same with another time for the client's first byte.
    #[must_use]
    pub const fn with_first_byte(mut self, within: Duration) -> Self {
        self.first_byte = within;
        self
    }

    /// The address of a dial.
    pub fn address(&self, id: DialId) -> Option<SocketAddr> {
        self.dials.get(id).map(|d| d.address)
    }

    fn dial_next(&mut self, now: Tick) {
        let Some(candidate) = self.candidates.order.get(self.next) else {
            return self.out_of_candidates(now);
        };
        self.next += 1;
        let id = self.dials.len();
        self.dials.push(Dial {
            address: candidate.address,
            patience: candidate.patience,
            started: now,
            state: State::Dialing,
            connected_at: None,
            late_at: None,
            stalled: false,
        });
        self.actions.push_back(Action::Dial(id, candidate.address));
    }

    fn out_of_candidates(&mut self, now: Tick) {
        let alive = self.dials.iter().any(|d| d.state != State::Gone);
        if alive || self.redial_at.is_some() || self.done {
            return;
        }
        if now + REDIAL >= self.deadline() || self.candidates.order.is_empty() {
            self.refuse();
        } else {
            self.redial_at = Some(now + REDIAL);
        }
    }

    fn refuse(&mut self) {
        self.give_up(Action::Refuse);
    }

    fn give_up(&mut self, how: Action) {
        for (id, dial) in self.dials.iter_mut().enumerate() {
            if dial.state != State::Gone {
                dial.state = State::Gone;
                self.actions.push_back(Action::Drop(id));
            }
        }
        self.attached = None;
        self.done = true;
        self.actions.push_back(how);
    }

    /// When a client that says nothing is closed.
    fn wait_over(&self) -> Option<Tick> {
        (!self.client_spoke && self.attached.is_some()).then(|| self.started + self.first_byte)
    }

    /// Turned away at this time unless something has connected by then.
    fn deadline(&self) -> Tick {
        // A refusal is an answer: when all dials were refused there is no lost SYN to wait for.
        let waiting = self.dials.iter().any(|d| d.state == State::Dialing);
        if self.candidates.usable && waiting {
            self.started + PATIENCE_HOPEFUL
        } else {
            self.started + PATIENCE_HOPELESS
        }
    }

    fn connected(&self) -> impl Iterator<Item = (DialId, &Dial)> {
        self.dials
            .iter()
            .enumerate()
            .filter(|(_, d)| d.state == State::Connected)
    }

    fn attach(&mut self, id: DialId) {
        self.attached = Some(id);
        self.actions.push_back(Action::Attach(id));
        if self.committed {
            self.win(id);
        }
    }

    fn win(&mut self, id: DialId) {
        if self.attached != Some(id) {
            self.attached = Some(id);
            self.actions.push_back(Action::Attach(id));
        }
        for (other, dial) in self.dials.iter_mut().enumerate() {
            if other != id && dial.state != State::Gone {
                dial.state = State::Gone;
                self.actions.push_back(Action::Drop(other));
            }
        }
        self.done = true;
        self.actions.push_back(Action::Win(id));
    }

    fn ask_connected(&mut self, now: Tick) {
        let mut asked = 0;
        for dial in &mut self.dials {
            if dial.state == State::Connected && dial.late_at.is_none() {
                let patience = dial.patience.max(FIRST_BYTE_HEDGE);
                dial.late_at =
                    Some(now + patience.saturating_mul(1 << u32::saturating_sub(asked, 1)));
            }
            asked = (asked + u32::from(dial.late_at.is_some())).min(8);
        }
    }

    /// When the newest dial makes room for the next one.
    fn dial_hedge(&self) -> Option<Tick> {
        let served = self.connected().any(|(_, d)| !d.stalled);
        let newest = self.dials.last()?;
        (!served && self.next < self.candidates.order.len()).then(|| newest.started + DIAL_HEDGE)
    }

    /// When the newest connection that was asked is late.
    fn first_byte_hedge(&self) -> Option<Tick> {
        self.connected()
            .filter(|(_, d)| !d.stalled)
            .filter_map(|(_, d)| d.late_at)
            .min()
    }
}

impl Machine for Opening {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Tick, input: Input) {
        if self.done {
            return;
        }
        match input {
            Input::ClientSpoke => {
                self.client_spoke = true;
                self.ask_connected(now);
            }
            Input::Committed => {
                self.committed = true;
                if let Some(id) = self.attached {
                    self.win(id);
                }
            }
            Input::Connected(id) => {
                let Some(dial) = self.dials.get_mut(id) else {
                    return;
                };
                if dial.state != State::Dialing {
                    return;
                }
                dial.state = State::Connected;
                dial.connected_at = Some(now);
                if self.client_spoke {
                    self.ask_connected(now);
                }
                if self.attached.is_none() {
                    self.attach(id);
                }
            }
            Input::Failed(id) => {
                let Some(dial) = self.dials.get_mut(id) else {
                    return;
                };
                if dial.state == State::Gone {
                    return;
                }
                dial.state = State::Gone;
                let stood = dial.connected_at.map(|at| now.since(at));
                if !self.client_spoke && stood >= Some(ENDED_AT_ONCE) {
                    return self.give_up(Action::Leave(Wait::UpstreamClosed));
                }
                if self.attached == Some(id) {
                    self.attached = None;
                    let other = self.connected().map(|(id, _)| id).next();
                    if let Some(other) = other {
                        self.attach(other);
                    }
                }
                // Unless something is on its way that is not late, the next one gets its turn.
                let hopeful = self.dials.iter().any(|d| match d.state {
                    State::Connected => !d.stalled,
                    State::Dialing => now < d.started + DIAL_HEDGE,
                    State::Gone => false,
                });
                if !hopeful {
                    self.dial_next(now);
                }
            }
            Input::UpstreamSpoke(id) => {
                if self
                    .dials
                    .get(id)
                    .is_some_and(|d| d.state == State::Connected)
                {
                    self.win(id);
                }
            }
        }
    }

    fn wake(&mut self, now: Tick) {
        if self.done {
            return;
        }
        if self.connected().next().is_none() && now >= self.deadline() {
            return self.refuse();
        }
        if self.wait_over().is_some_and(|at| now >= at) {
            return self.give_up(Action::Leave(Wait::Over));
        }
        if self.redial_at.is_some_and(|at| now >= at) {
            self.redial_at = None;
            self.next = 0;
            self.dial_next(now);
        }
        if self.dial_hedge().is_some_and(|at| now >= at) {
            self.dial_next(now);
        }
        if self.first_byte_hedge().is_some_and(|at| now >= at) {
            for (id, dial) in self.dials.iter_mut().enumerate() {
                let late = dial.late_at.is_some_and(|at| now >= at);
                if late && dial.state == State::Connected && !dial.stalled {
                    dial.stalled = true;
                    self.actions.push_back(Action::Stalled(id));
                }
            }
            let dialing = self.dials.iter().any(|d| d.state == State::Dialing);
            let known = self.candidates.order.len();
            if self.next >= known && self.dials.len() < known + SECOND_TRIES {
                // Behind a balancer a second connection may reach another target.
                self.next = 0;
            }
            if !dialing && self.next < known {
                self.dial_next(now);
            }
        }
    }

    fn next_wake(&self) -> Option<Tick> {
        if self.done {
            return None;
        }
        let deadline = self.connected().next().is_none().then(|| self.deadline());
        [
            deadline,
            self.redial_at,
            self.dial_hedge(),
            self.first_byte_hedge(),
            self.wait_over(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn check(&self) {
        if self.done {
            let alive = self.dials.iter().filter(|d| d.state != State::Gone).count();
            assert!(
                alive <= 1,
                "a connection that is decided has one upstream at most"
            );
        }
        assert!(
            self.attached
                .and_then(|id| self.dials.get(id))
                .is_none_or(|d| d.state == State::Connected),
            "the attached upstream is connected"
        );
    }
}
