//! What the agent writes down for its next life, and when.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::{Action, Agent, story};
use crate::cache::{self, Entry, Remembered};
use crate::machine::Tick;
use crate::status::{Source, Verdict};

#[cfg(test)]
mod tests;

/// The set is looked at this often, and so it is written at most this often.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// A set that stays the same is written again after this time, so that its ages stay right.
const WRITE_AGAIN: Duration = Duration::from_hours(1);

/// The addresses and who named them: a change of this is worth a write.
type Content = Vec<(SocketAddr, Vec<Source>)>;

/// The state of the cache. Nothing happens in an agent without one.
#[derive(Debug, Default)]
pub(super) struct Memory {
    enabled: bool,
    next: Tick,
    /// The file is being written.
    writing: bool,
    written: Content,
    written_at: Option<Tick>,
    /// How old the file was when the agent started, if there was one.
    found_age: Option<Duration>,
    /// How long each remembered address had not answered when the agent started.
    unanswered: BTreeMap<SocketAddr, Duration>,
    failure: Option<String>,
}

impl Memory {
    pub(super) fn new(remembered: Option<&Remembered>) -> Self {
        let Some(remembered) = remembered else {
            return Self::default();
        };
        let found = !remembered.entries.is_empty();
        let entries = remembered.entries.iter();
        Self {
            enabled: true,
            next: Tick::ZERO + LOOK_EVERY,
            found_age: found.then_some(remembered.age),
            unanswered: entries.map(|e| (e.address, e.unanswered)).collect(),
            failure: remembered.failure.clone(),
            ..Self::default()
        }
    }

    /// When the set is to be looked at.
    pub(super) fn next_look(&self) -> Option<Tick> {
        (self.enabled && !self.writing).then_some(self.next)
    }

    /// Why the file could not be read or written.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.clone()
    }

    /// For `status`.
    pub(super) fn state(&self, now: Tick) -> Option<cache::State> {
        self.enabled.then(|| cache::State {
            age: self
                .written_at
                .map(|at| now.since(at))
                .or_else(|| self.found_age.map(|age| age + now.since_start())),
            failure: self.failure.clone(),
        })
    }
}

impl Agent {
    /// Writes the set down if it is time and it is another one.
    pub(super) fn remember(&mut self, now: Tick) {
        if self.memory.next_look().is_none_or(|next| next > now) {
            return;
        }
        self.memory.next = now + LOOK_EVERY;
        let all = self.worth_remembering(now);
        let fresh = cache::fresh(all.clone());
        for entry in all.iter().filter(|entry| !fresh.contains(entry)) {
            if self.sources.forget_remembered(entry.address) {
                self.unlist(now, entry.address);
            }
        }
        let mut content: Content = fresh
            .iter()
            .map(|entry| (entry.address, entry.origins.clone()))
            .collect();
        content.sort();
        let old = self
            .memory
            .written_at
            .is_none_or(|at| now.since(at) >= WRITE_AGAIN);
        if content.is_empty() || (content == self.memory.written && !old) {
            return;
        }
        self.memory.written = content;
        self.memory.writing = true;
        self.actions.push_back(Action::Remember { entries: fresh });
    }

    /// Addresses that have proven themselves, now or in an earlier life, and that a live source named.
    fn worth_remembering(&self, now: Tick) -> Vec<Entry> {
        let entry = |(address, upstream): (&SocketAddr, &super::Upstream)| {
            let origins: Vec<_> = self.sources.named_by(*address).into_iter().collect();
            if origins.is_empty() || upstream.health.verdict() == Verdict::Foreign {
                return None;
            }
            let before = self.memory.unanswered.get(address);
            let unanswered = if upstream.health.verified() {
                now.since(upstream.health.heard()?)
            } else {
                *before? + now.since_start()
            };
            Some(Entry {
                address: *address,
                origins,
                unanswered,
            })
        };
        self.upstreams.iter().filter_map(entry).collect()
    }

    /// The file was written, or not.
    pub(super) fn remembered(&mut self, now: Tick, failure: Option<String>) {
        self.memory.writing = false;
        if failure.is_none() {
            self.memory.written_at = Some(now);
        } else {
            // Tried again at the next look.
            self.memory.written = Content::new();
        }
        if self.memory.failure.is_some() != failure.is_some() {
            self.write(now, story::source(Source::Cache, failure.clone()));
        }
        self.memory.failure = failure;
    }
}
