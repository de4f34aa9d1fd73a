//! The latest actions, kept for `status`: whatever was done can be explained from there alone (S12).

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::{ActionStatus, Verdict, What};

/// Actions that are kept; about an hour of a bad day.
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

/// A ring of actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    seq: u64,
    kept: VecDeque<ActionStatus>,
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
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(action.clone());
        action
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &ActionStatus> {
        self.kept.iter()
    }
}
