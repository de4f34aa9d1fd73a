//! What the answers of one upstream are worth: from evidence to a verdict.
//!
//! Hard evidence (refused, unreachable, a stranger's certificate) changes the verdict at once. Soft
//! evidence (something was not answered in time) must come twice, from different attempts, before it
//! does; and anything that proves life clears it. A verdict steers new connections only; whether
//! open connections are cut as well is decided in [`crate::agent`], with a view of all upstreams.

use std::time::Duration;

use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::Verdict;

#[cfg(test)]
mod tests;

/// One observation about an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// `/readyz` was answered with this HTTP status, in time or late.
    Answered {
        /// The HTTP status.
        status: u16,
        /// Later than remarkable: the upstream is slow.
        late: bool,
    },
    /// A TLS handshake was completed and the certificate verified.
    Secured,
    /// An upstream's bytes reached a client.
    Spoke,
    /// The certificate is not the cluster's, or not for the expected name.
    Foreign,
    /// The connection was refused.
    Refused,
    /// Reset or closed before TLS was answered.
    Reset,
    /// The network says that there is no way.
    Unreachable {
        /// When the attempt was started.
        started: Tick,
        /// Another upstream had answered just before.
        witnessed: bool,
    },
    /// A request on a connection that had worked was not answered in time.
    NoAnswer {
        /// When the request was sent.
        started: Tick,
    },
    /// A connection attempt was not answered in time.
    NoConnection {
        /// When the attempt was started.
        started: Tick,
        /// Another upstream had answered just before, so this node's own network works.
        witnessed: bool,
    },
    /// TCP connected, but the TLS handshake was not answered in time.
    NoHandshake {
        /// When the attempt was started.
        started: Tick,
        /// Another upstream had answered just before, so this node's own network works.
        witnessed: bool,
    },
    /// Bytes of a client's connection were sent again and again and not acknowledged. It makes the
    /// address suspect and never convicts it: the fault may be that one connection's.
    Unacknowledged {
        /// When the first of them were sent.
        started: Tick,
    },
    /// TLS was completed, but the answer to the request is late: slow, alive.
    Late,
}

/// Unanswered attempts, since the last sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// Start of the first unanswered attempt: what was heard before that says nothing.
    pub since: Tick,
    /// Start of the latest one: what happened after that is not known yet.
    pub latest: Tick,
    /// When an attempt proved to be unanswered that was started after another upstream had answered.
    /// If that one answers afterwards as well, the fault is not this node's own network.
    pub witnessed: Option<Tick>,
    /// How many attempts stayed unanswered.
    pub unanswered: u32,
    /// How many of them were connection attempts, the rest were requests or handshakes.
    pub unconnected: u32,
}

/// A change of verdict or of its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The verdict before.
    pub from: Verdict,
    /// The verdict now.
    pub to: Verdict,
    /// Why.
    pub reason: Reason,
}

/// Unanswered attempts that make an upstream silent; one alone never does (S3).
const ATTEMPTS_TO_CONVICT: u32 = 2;

/// Answers in time that make an upstream ready again after it was bad.
const ANSWERS_TO_TRUST: u32 = 2;

/// The health of one upstream.
#[derive(Clone, Debug)]
pub struct Health {
    verdict: Verdict,
    reason: Reason,
    since: Tick,
    heard: Option<Tick>,
    verified: bool,
    suspicion: Option<Suspicion>,
    good_answers: u32,
    listed: bool,
}

impl Health {
    /// An upstream of which nothing is known yet.
    pub const fn new(now: Tick) -> Self {
        Self {
            verdict: Verdict::Probation,
            reason: Reason::NotYetProven,
            since: now,
            heard: None,
            verified: false,
            suspicion: None,
            good_answers: 0,
            listed: true,
        }
    }

    /// How good it is.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Why.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// When verdict or reason changed last.
    pub const fn since(&self) -> Tick {
        self.since
    }

    /// The last sign of life.
    pub const fn heard(&self) -> Option<Tick> {
        self.heard
    }

    /// Whether its certificate was ever verified.
    pub const fn verified(&self) -> bool {
        self.verified
    }

    /// What is unanswered since the last sign of life.
    pub const fn suspicion(&self) -> Option<Suspicion> {
        self.suspicion
    }

    /// Says whether some source still names the address.
    pub fn list(&mut self, now: Tick, listed: bool) -> Option<Change> {
        self.listed = listed;
        match self.verdict {
            Verdict::Ready | Verdict::Slow if !listed => {
                self.turn(now, Verdict::Draining, Reason::AddressRemoved)
            }
            Verdict::Draining if listed && self.reason == Reason::AddressRemoved => {
                self.turn(now, Verdict::Ready, Reason::AddressAdded)
            }
            Verdict::Ready
            | Verdict::Slow
            | Verdict::Draining
            | Verdict::Probation
            | Verdict::Silent
            | Verdict::Dead
            | Verdict::Foreign => None,
        }
    }

    /// Takes in one observation. `alone` says that no other upstream is usable, so that one that
    /// comes back is trusted at its first answer instead of after a probation.
    pub fn observe(&mut self, now: Tick, evidence: Evidence, alone: bool) -> Option<Change> {
        match evidence {
            Evidence::Answered { status, late } => self.answered(now, status, late, alone),
            Evidence::Secured => {
                self.verified = true;
                if self.verdict == Verdict::Foreign {
                    // Its certificate is the cluster's again, however late its answer will be.
                    self.heard_at(now);
                    return self.turn(now, Verdict::Probation, Reason::Recovering);
                }
                self.alive(now)
            }
            Evidence::Spoke => self.alive(now),
            Evidence::Foreign => {
                self.good_answers = 0;
                self.suspicion = None;
                self.turn(now, Verdict::Foreign, Reason::WrongCertificate)
            }
            Evidence::Refused => self.hard(now, Reason::Refused),
            Evidence::Reset => self.hard(now, Reason::Reset),
            Evidence::Unreachable { started, witnessed } => {
                self.suspect(now, started, true, witnessed);
                self.hard(now, Reason::Unreachable)
            }
            Evidence::NoAnswer { started } => self.unanswered(now, started, false, false),
            Evidence::NoHandshake { started, witnessed } => {
                self.unanswered(now, started, false, witnessed)
            }
            Evidence::NoConnection { started, witnessed } => {
                self.unanswered(now, started, true, witnessed)
            }
            Evidence::Unacknowledged { started } => {
                if self.heard <= Some(started) && self.suspicion.is_none() {
                    self.suspect(now, started, true, false);
                }
                None
            }
            // Time has passed and nothing new was heard: the handshake before it was the sign of life.
            Evidence::Late if matches!(self.verdict, Verdict::Ready | Verdict::Probation) => {
                self.good_answers = 0;
                self.turn(now, Verdict::Slow, Reason::Slow)
            }
            Evidence::Late => None,
        }
    }

    fn answered(&mut self, now: Tick, status: u16, late: bool, alone: bool) -> Option<Change> {
        self.verified = true;
        self.heard_at(now);
        let (ready, reason) = match status {
            200 => (true, Reason::ReadyzOk),
            // Alive, and it does not tell us more: anonymous access is off, forbidden, throttled,
            // or the path is unknown to a server of another time.
            401 | 403 | 404 | 429 => (true, Reason::ReadinessUnknown),
            // kube-apiserver writes 500 (staging/src/k8s.io/apiserver/pkg/server/healthz).
            _ => (false, Reason::ReadyzFailed),
        };
        if !ready {
            self.good_answers = 0;
            return self.turn(now, Verdict::Draining, reason);
        }
        self.good_answers = if late { 0 } else { self.good_answers + 1 };
        let trusted = self.good_answers >= ANSWERS_TO_TRUST;
        let good = if late {
            (Verdict::Slow, Reason::Slow)
        } else {
            (Verdict::Ready, reason)
        };
        let (verdict, reason) = match (self.verdict, self.reason) {
            (_, _) if !self.listed => (Verdict::Draining, Reason::AddressRemoved),
            (Verdict::Probation, Reason::NotYetProven)
            | (Verdict::Ready | Verdict::Draining, _) => good,
            (Verdict::Slow, _) if trusted => good,
            (Verdict::Slow, _) => (Verdict::Slow, Reason::Slow),
            (Verdict::Probation | Verdict::Silent | Verdict::Dead | Verdict::Foreign, _)
                if trusted || alone =>
            {
                good
            }
            (Verdict::Probation | Verdict::Silent | Verdict::Dead | Verdict::Foreign, _) => {
                (Verdict::Probation, Reason::Recovering)
            }
        };
        self.turn(now, verdict, reason)
    }

    /// Gives the reason a better name; the verdict stays.
    pub const fn call(&mut self, reason: Reason) {
        self.reason = reason;
    }

    /// Drops what is unanswered: this process itself was held up.
    pub const fn forgive(&mut self) {
        self.suspicion = None;
    }

    /// A sign of life that says nothing about readiness.
    fn alive(&mut self, now: Tick) -> Option<Change> {
        self.heard_at(now);
        match self.verdict {
            Verdict::Silent | Verdict::Dead => {
                self.good_answers = 0;
                self.turn(now, Verdict::Probation, Reason::Recovering)
            }
            Verdict::Ready
            | Verdict::Slow
            | Verdict::Draining
            | Verdict::Probation
            | Verdict::Foreign => None,
        }
    }

    fn heard_at(&mut self, now: Tick) {
        self.heard = Some(now);
        self.suspicion = None;
    }

    /// A refusal or an unreachable network is an answer of somebody: no second one is needed.
    fn hard(&mut self, now: Tick, reason: Reason) -> Option<Change> {
        self.good_answers = 0;
        let unreachable = reason == Reason::Unreachable;
        if !unreachable {
            // Somebody's kernel is there: whatever was unanswered before is over.
            self.suspicion = None;
        }
        match self.verdict {
            // One story per outage: refused and reset alternate while a server restarts, and an
            // address that is silent becomes unreachable when its neighbours forget it.
            Verdict::Dead => None,
            Verdict::Silent if unreachable => None,
            Verdict::Silent
            | Verdict::Ready
            | Verdict::Slow
            | Verdict::Draining
            | Verdict::Probation
            | Verdict::Foreign => self.turn(now, Verdict::Dead, reason),
        }
    }

    fn unanswered(
        &mut self,
        now: Tick,
        started: Tick,
        unconnected: bool,
        witnessed: bool,
    ) -> Option<Change> {
        if self.heard.is_some_and(|heard| heard > started) {
            // It spoke after that attempt began: one lost packet, or a slow answer.
            return None;
        }
        self.suspect(now, started, unconnected, witnessed);
        let suspicion = self.suspicion?;
        let convicted = suspicion.unanswered >= ATTEMPTS_TO_CONVICT;
        match (self.verdict, self.reason) {
            (Verdict::Ready | Verdict::Slow | Verdict::Draining | Verdict::Probation, _)
            | (Verdict::Dead, Reason::Refused | Reason::Reset)
                if convicted =>
            {
                self.good_answers = 0;
                let reason = if suspicion.unconnected > 0 {
                    Reason::Silent
                } else {
                    Reason::Hung
                };
                self.turn(now, Verdict::Silent, reason)
            }
            _ => None,
        }
    }

    fn suspect(&mut self, now: Tick, started: Tick, unconnected: bool, witnessed: bool) {
        let mut suspicion = self.suspicion.unwrap_or(Suspicion {
            since: started,
            latest: started,
            witnessed: None,
            unanswered: 0,
            unconnected: 0,
        });
        suspicion.since = suspicion.since.min(started);
        suspicion.latest = suspicion.latest.max(started);
        if witnessed {
            suspicion.witnessed.get_or_insert(now);
        }
        suspicion.unanswered = suspicion.unanswered.saturating_add(1);
        suspicion.unconnected = suspicion.unconnected.saturating_add(u32::from(unconnected));
        self.suspicion = Some(suspicion);
    }

    fn turn(&mut self, now: Tick, to: Verdict, reason: Reason) -> Option<Change> {
        if self.verdict == to && self.reason == reason {
            return None;
        }
        let from = self.verdict;
        self.since = now;
        self.verdict = to;
        self.reason = reason;
        Some(Change { from, to, reason })
    }
}

/// How long an upstream may take to answer before that is remarkable: four times what it usually
/// takes, at least `floor`, at most [`Patience::CEILING`].
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    floor: Duration,
    usual: Duration,
}

impl Patience {
    /// Whatever takes longer than this is remarkable on any network.
    pub const CEILING: Duration = Duration::from_secs(5);

    /// Patience with an upstream whose pace is not known yet.
    pub const fn new(floor: Duration) -> Self {
        Self {
            floor,
            usual: Duration::ZERO,
        }
    }

    /// What was learnt, over another floor.
    #[must_use]
    pub const fn with_floor(self, floor: Duration) -> Self {
        Self { floor, ..self }
    }

    /// Takes in how long an answer took (weight 1/8, as RFC 6298 smooths round-trip times).
    pub fn learn(&mut self, took: Duration) {
        self.usual = (self.usual * 7 + took) / 8;
    }

    /// The limit now.
    pub fn limit(self) -> Duration {
        (self.usual * 4)
            .max(self.floor)
            .min(Self::CEILING.max(self.floor))
    }
}
