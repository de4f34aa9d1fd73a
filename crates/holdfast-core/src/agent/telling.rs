//! How often one upstream's changes of verdict are told: one that flaps must not flood log and
//! journal. What is held back is counted, and told with the next.

use std::net::SocketAddr;
use std::time::Duration;

use super::Agent;
use crate::journal::Entry;
use crate::machine::Tick;
use crate::pace::TokenBucket;

/// Changes of one upstream that are told at once.
const AT_ONCE: u32 = 10;

/// After those, one is told each time this has passed.
const EVERY: Duration = Duration::from_secs(10);

/// What was told about one upstream, and what was not.
#[derive(Debug)]
pub(super) struct Telling {
    limit: TokenBucket,
    /// The latest change that was held back, and how many there were.
    held_back: Option<(Entry, u32)>,
}

impl Telling {
    pub(super) const fn new() -> Self {
        Self {
            limit: TokenBucket::full(AT_ONCE, EVERY),
            held_back: None,
        }
    }

    /// Takes in a change; gives back what is to be told now.
    fn tell(&mut self, now: Tick, entry: Option<Entry>) -> Option<Entry> {
        let before = self.held_back.as_ref().map_or(0, |(_, n)| *n);
        if let Some(entry) = entry {
            self.held_back = Some((entry, before + 1));
        }
        if self.held_back.is_none() || !self.limit.take(now) {
            return None;
        }
        let (mut entry, n) = self.held_back.take()?;
        if n > 1 {
            entry.evidence = format!(
                "{}; {} earlier changes were not told",
                entry.evidence,
                n - 1
            );
        }
        Some(entry)
    }
}

impl Agent {
    /// Writes an upstream's change down, or holds it back for a while if there are too many.
    pub(super) fn tell(&mut self, now: Tick, address: SocketAddr, entry: Entry) {
        let telling = self.upstreams.get_mut(&address).map(|u| &mut u.telling);
        if let Some(entry) = telling.and_then(|t| t.tell(now, Some(entry))) {
            self.write(now, entry);
        }
    }

    pub(super) fn tell_what_was_held_back(&mut self, now: Tick) {
        let due: Vec<_> = self
            .upstreams
            .values_mut()
            .filter_map(|u| u.telling.tell(now, None))
            .collect();
        for entry in due {
            self.write(now, entry);
        }
    }

    pub(super) fn next_telling(&self) -> Option<Tick> {
        let held_back = |t: &&Telling| t.held_back.is_some();
        let tellings = self.upstreams.values().map(|u| &u.telling);
        tellings.filter(held_back).map(|t| t.limit.next()).min()
    }
}
