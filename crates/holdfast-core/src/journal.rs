//! The latest actions, kept for `status`: whatever was done can be explained from there alone (S12).

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::{ActionStatus, Verdict, What};

/// Actions that are kept of each kind.
const KEPT: usize = 200;

/// What is to be written down; `seq` and time are added.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) what: What,
    pub(crate) upstream: Option<SocketAddr>,
    pub(crate) connection: Option<u64>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) reason: Reason,
    pub(crate) evidence: String,
    pub(crate) next: String,
}

impl Entry {
    pub(crate) const fn new(what: What, reason: Reason) -> Self {
        Self {
            what,
            upstream: None,
            connection: None,
            verdict: None,
            reason,
            evidence: String::new(),
            next: String::new(),
        }
    }

    pub(crate) const fn on(mut self, upstream: SocketAddr) -> Self {
        self.upstream = Some(upstream);
        self
    }

    pub(crate) fn because(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = evidence.into();
        self
    }

    pub(crate) fn then(mut self, next: impl Into<String>) -> Self {
        self.next = next.into();
        self
    }
}

/// Two rings of actions, so that the many about single connections do not push out what caused them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    seq: u64,
    about_connections: VecDeque<ActionStatus>,
    about_others: VecDeque<ActionStatus>,
}

impl Journal {
    /// Writes an entry down and gives it back as readers see it.
    pub(crate) fn write(&mut self, now: Tick, entry: Entry) -> ActionStatus {
        self.seq += 1;
        let action = ActionStatus {
            seq: self.seq,
            at_s: now.since_start().as_secs_f64(),
            what: entry.what,
            upstream: entry.upstream,
            connection: entry.connection,
            verdict: entry.verdict,
            reason: entry.reason,
            evidence: entry.evidence,
            next: entry.next,
        };
        let ring = if action.connection.is_some() {
            &mut self.about_connections
        } else {
            &mut self.about_others
        };
        if ring.len() == KEPT {
            ring.pop_front();
        }
        ring.push_back(action.clone());
        action
    }

    /// What is kept, oldest first.
    pub(crate) fn entries(&self) -> Vec<ActionStatus> {
        let both = self.about_connections.iter().chain(&self.about_others);
        let mut all: Vec<_> = both.cloned().collect();
        all.sort_by_key(|a| a.seq);
        all
    }
}
