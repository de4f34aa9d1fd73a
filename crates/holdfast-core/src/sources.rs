//! Which addresses are known, from whom, and for how long a source's word stands.
//!
//! Sources are merged, never replaced by one another. A failed, empty or negative answer takes
//! nothing away (S1); an address leaves a source only after several usable answers *and* several
//! lifetimes without it, and later still where answers are a rotating part of the addresses.
//!
//! What the cache remembers counts as the word of the sources that said it, until these speak again.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::cache;
use crate::chance::Chance;
use crate::machine::Tick;
use crate::status::Source;

mod lane;
mod rotation;
#[cfg(test)]
mod tests;
mod view;

use lane::Lane;

/// The word of one source at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The source names these addresses.
    Addresses {
        /// The addresses; an empty set counts as [`NoRecords`](Self::NoRecords).
        addresses: BTreeSet<SocketAddr>,
        /// How long the answer may be kept: for DNS the smallest lifetime in the whole chain of
        /// records (RFC 1034, section 3.6; RFC 2181, section 5.2). `None`: the source does not say,
        /// and is asked at the agent's own pace.
        lifetime: Option<Duration>,
    },
    /// The source says that it has no such record.
    NoRecords {
        /// How long that stands (RFC 2308, section 5). It paces the next question, nothing else.
        lifetime: Option<Duration>,
    },
    /// The source could not be asked, or its answer could not be used.
    Failed {
        /// What went wrong, in words.
        why: String,
        /// How long that stands, where the source says so (a name that does not exist).
        lifetime: Option<Duration>,
    },
}

/// When a source's word is asked for again and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Usable answers without an address before it may leave.
    pub answers: u32,
    /// Lifetimes without an address before it may leave.
    pub lifetimes: u32,
    /// Shortest lifetime that is believed: 0 would mean asking all the time.
    pub shortest: Duration,
    /// Longest lifetime that is believed.
    pub longest: Duration,
    /// Addresses that are taken from one source at most.
    pub most: usize,
}

/// What an answer changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Addresses that no source had named before.
    pub added: Vec<SocketAddr>,
    /// Addresses that stand on no source any more.
    pub removed: Vec<SocketAddr>,
    /// The source began to fail (its failure in words) or came back (`None`).
    pub health: Option<Option<String>>,
}

/// Whose word it is, and whether it was heard in this life of the agent or is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    source: Source,
    remembered: bool,
}

#[derive(Clone, Debug)]
struct Origin {
    named_at: Tick,
    lifetime: Duration,
    missed: u32,
}

/// All sources and what they named.
#[derive(Clone, Debug)]
pub struct Sources {
    expiry: Expiry,
    own: BTreeSet<SocketAddr>,
    origins: BTreeMap<SocketAddr, BTreeMap<Word, Origin>>,
    lanes: BTreeMap<Source, Lane>,
    /// How old the cache was when the agent started.
    cache_age: Duration,
    chance: Chance,
}

impl Sources {
    /// Seeds that never expire and live sources that are to be asked. `own` are the agent's own
    /// listeners, which are never upstreams: the agent would call itself.
    pub fn new(
        seeds: impl IntoIterator<Item = SocketAddr>,
        live: impl IntoIterator<Item = Source>,
        own: impl IntoIterator<Item = SocketAddr>,
        expiry: Expiry,
        seed: u64,
    ) -> Self {
        let own: BTreeSet<_> = own.into_iter().collect();
        let word = Word {
            source: Source::Seed,
            remembered: false,
        };
        let origins = seeds
            .into_iter()
            .filter(|address| !is_own(&own, *address))
            .map(|address| {
                let origin = Origin {
                    named_at: Tick::ZERO,
                    lifetime: Duration::MAX,
                    missed: 0,
                };
                (address, BTreeMap::from([(word, origin)]))
            })
            .collect();
        let lanes = live.into_iter().map(|source| (source, Lane::new(source)));
        Self {
            expiry,
            own,
            origins,
            lanes: lanes.collect(),
            cache_age: Duration::ZERO,
            chance: Chance::new(seed),
        }
    }

    /// Takes in what an earlier life of the agent wrote down `age` ago. Each address stands on the
    /// sources that named it then, as far as they are still asked, until they speak for themselves.
    pub fn remember(&mut self, entries: &[cache::Entry], age: Duration) {
        self.cache_age = age;
        for entry in entries.iter().take(self.expiry.most) {
            let address = canonical(entry.address);
            if is_own(&self.own, address) {
                continue;
            }
            for source in &entry.origins {
                if !self.lanes.contains_key(source) {
                    continue;
                }
                let word = Word {
                    source: *source,
                    remembered: true,
                };
                let origin = Origin {
                    named_at: Tick::ZERO,
                    lifetime: Duration::ZERO,
                    missed: 0,
                };
                self.origins
                    .entry(address)
                    .or_default()
                    .insert(word, origin);
            }
        }
    }

    /// Drops what is only remembered of `address`; whether it stands on no source any more.
    pub fn forget_remembered(&mut self, address: SocketAddr) -> bool {
        let Some(origins) = self.origins.get_mut(&address) else {
            return false;
        };
        origins.retain(|word, _| !word.remembered);
        let gone = origins.is_empty();
        if gone {
            self.origins.remove(&address);
        }
        gone
    }

    /// Takes other settings. Seeds that are not named any more leave; what a live source has said
    /// stands until its own answers say otherwise, even where the name that is asked for is another
    /// one now. Every live source is asked at once.
    pub fn reconfigure(
        &mut self,
        now: Tick,
        seeds: &[SocketAddr],
        live: &[Source],
        own: &[SocketAddr],
        expiry: Expiry,
    ) -> Change {
        let mut change = Change::default();
        self.expiry = expiry;
        self.own = own.iter().copied().collect();
        let usable = |address: &SocketAddr| !is_own(&self.own, *address);
        let seeds: BTreeSet<_> = seeds.iter().copied().filter(usable).collect();
        for address in &seeds {
            let origins = self.origins.entry(*address).or_default();
            if origins.is_empty() {
                change.added.push(*address);
            }
            let seed = Origin {
                named_at: now,
                lifetime: Duration::MAX,
                missed: 0,
            };
            let word = Word {
                source: Source::Seed,
                remembered: false,
            };
            origins.insert(word, seed);
        }
        let ended: BTreeSet<_> = self.lanes.keys().copied().collect();
        let ended: BTreeSet<_> = ended.into_iter().filter(|s| !live.contains(s)).collect();
        self.lanes.retain(|source, _| live.contains(source));
        for source in live {
            let lane = self.lanes.entry(*source);
            lane.or_insert_with(|| Lane::new(*source)).ask_now(now);
        }
        self.origins.retain(|address, by| {
            by.retain(|word, _| {
                if word.source == Source::Seed {
                    seeds.contains(address)
                } else {
                    !ended.contains(&word.source) && !is_own(&self.own, *address)
                }
            });
            if by.is_empty() {
                change.removed.push(*address);
            }
            !by.is_empty()
        });
        change
    }

    /// Every address that stands on at least one source.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.origins.keys().copied()
    }

    /// Whether some source still names `address`.
    pub fn names(&self, address: SocketAddr) -> bool {
        self.origins.contains_key(&address)
    }

    /// Whether `address` is only remembered: no seed, and nobody has named it in this life.
    pub fn is_only_remembered(&self, address: SocketAddr) -> bool {
        self.origins
            .get(&address)
            .is_some_and(|origins| origins.keys().all(|word| word.remembered))
    }

    /// The sources, seeds aside, that name `address` or are remembered to have named it.
    pub fn named_by(&self, address: SocketAddr) -> BTreeSet<Source> {
        let words = self.origins.get(&address).into_iter().flatten();
        words
            .map(|(word, _)| word.source)
            .filter(|source| *source != Source::Seed)
            .collect()
    }

    /// How many nodes the fleet has: it paces what is asked of the API servers.
    pub fn count_fleet(&mut self, nodes: u64) {
        for lane in self.lanes.values_mut() {
            lane.count_fleet(nodes);
        }
    }

    /// Whether the endpoint has a name; else clients know its one address.
    pub fn has_name(&self) -> bool {
        self.lanes.keys().any(|source| source.is_name())
    }

    /// Whether the endpoint's name, as it was answered last, has `address`: that is where a client
    /// that asks the name may go.
    pub fn resolves_to(&self, address: SocketAddr) -> bool {
        self.origins.get(&address).is_some_and(|by| {
            by.iter().any(|(word, origin)| {
                word.source.is_name() && !word.remembered && origin.missed == 0
            })
        })
    }

    /// Takes in what `source` says.
    pub fn answer(&mut self, now: Tick, source: Source, answer: Answer) -> Change {
        let mut change = Change::default();
        let Some(lane) = self.lanes.get_mut(&source) else {
            return change;
        };
        match answer {
            Answer::Failed { why, lifetime } => {
                let stands = lifetime.map(|l| l.min(self.expiry.longest));
                lane.failed(now, stands, &mut self.chance);
                change.health = lane.set_failure(Some(&why)).then_some(Some(why));
            }
            Answer::NoRecords { lifetime } => {
                self.answer_without_records(now, source, lifetime, &mut change);
            }
            Answer::Addresses {
                addresses,
                lifetime,
            } => self.answer_with_addresses(now, source, addresses, lifetime, &mut change),
        }
        change
    }

    /// No records of this kind: usual for AAAA, a failure where there were some before.
    fn answer_without_records(
        &mut self,
        now: Tick,
        source: Source,
        lifetime: Option<Duration>,
        change: &mut Change,
    ) {
        let had_some = self.standing_on(source).next().is_some();
        let Some(lane) = self.lanes.get_mut(&source) else {
            return;
        };
        lane.empty(now, lifetime, &self.expiry, &mut self.chance);
        let why = "the answer holds no address; what was known before is kept";
        let failure = had_some.then(|| why.to_owned());
        change.health = lane.set_failure(failure.as_deref()).then_some(failure);
    }

    fn answer_with_addresses(
        &mut self,
        now: Tick,
        source: Source,
        addresses: BTreeSet<SocketAddr>,
        lifetime: Option<Duration>,
        change: &mut Change,
    ) {
        let (own, named): (BTreeSet<_>, BTreeSet<_>) = addresses
            .into_iter()
            .map(canonical)
            .partition(|address| is_own(&self.own, *address));
        if named.is_empty() && own.is_empty() {
            return self.answer_without_records(now, source, lifetime, change);
        }
        let count = named.len();
        let named = self.within_the_most(source, named);
        let failure = match own.first() {
            Some(own) => Some(format!(
                "names {own}, which is this agent's own listener: not used"
            )),
            None if named.len() < count => Some(format!(
                "names {count} addresses, {} of them are used: limits.addresses is {}",
                named.len(),
                self.expiry.most
            )),
            None => None,
        };
        let Some(lane) = self.lanes.get_mut(&source) else {
            return;
        };
        let lifetime = lane.answered(now, lifetime, &self.expiry, &mut self.chance);
        change.health = lane.set_failure(failure.as_deref()).then_some(failure);
        if named.is_empty() {
            return;
        }
        let mut returned = false;
        for address in &named {
            let origins = self.origins.entry(*address).or_default();
            if origins.is_empty() {
                change.added.push(*address);
            }
            let heard = Word {
                source,
                remembered: false,
            };
            origins.remove(&Word {
                remembered: true,
                ..heard
            });
            let origin = Origin {
                named_at: now,
                lifetime,
                missed: 0,
            };
            let before = origins.insert(heard, origin);
            returned |= before.is_some_and(|origin| origin.missed > 0);
        }
        self.expire(now, source, &named, returned, lifetime, change);
    }

    /// Counts what the answer does not name, and lets go what was missing for long enough.
    fn expire(
        &mut self,
        now: Tick,
        source: Source,
        named: &BTreeSet<SocketAddr>,
        returned: bool,
        lifetime: Duration,
        change: &mut Change,
    ) {
        let expiry = self.expiry;
        let standing = self.standing_on(source).count();
        let Some(lane) = self.lanes.get_mut(&source) else {
            return;
        };
        let rotation = &mut lane.rotation;
        rotation.answered(named, returned);
        let answers = rotation.answers_until_gone(expiry.answers, named.len(), standing);
        self.origins.retain(|address, origins| {
            if !named.contains(address) {
                origins.retain(|word, origin| {
                    if word.source != source {
                        return true;
                    }
                    origin.missed = origin.missed.saturating_add(1);
                    let lifetime = if word.remembered {
                        lifetime
                    } else {
                        origin.lifetime
                    };
                    let unnamed_for = now.since(origin.named_at);
                    origin.missed < answers
                        || unnamed_for < lifetime.saturating_mul(expiry.lifetimes)
                });
            }
            if origins.is_empty() {
                change.removed.push(*address);
            }
            !origins.is_empty()
        });
    }

    /// At most so many addresses of one source: those that it named before come first.
    fn within_the_most(&self, source: Source, named: BTreeSet<SocketAddr>) -> BTreeSet<SocketAddr> {
        let known: BTreeSet<_> = self.standing_on(source).collect();
        let room = self.expiry.most.saturating_sub(known.len());
        let (old, new): (BTreeSet<_>, BTreeSet<_>) = named
            .into_iter()
            .partition(|address| known.contains(address));
        old.into_iter().chain(new.into_iter().take(room)).collect()
    }

    fn standing_on(&self, source: Source) -> impl Iterator<Item = SocketAddr> + '_ {
        self.origins
            .iter()
            .filter(move |(_, by)| by.keys().any(|word| word.source == source))
            .map(|(address, _)| *address)
    }

    /// The sources that are due, each marked as being asked.
    pub fn ask_due(&mut self, now: Tick) -> Vec<Source> {
        let due = self
            .lanes
            .iter_mut()
            .filter_map(|(source, lane)| lane.ask(now).then_some(*source));
        due.collect()
    }

    /// Something did not work: the sources may know better by now. Rate-limited.
    pub fn ask_soon(&mut self, now: Tick) {
        for lane in self.lanes.values_mut() {
            lane.ask_soon(now, &mut self.chance);
        }
    }

    /// When [`ask_due`](Self::ask_due) has something to do next.
    pub fn next_wake(&self) -> Option<Tick> {
        self.lanes.values().filter_map(Lane::next).min()
    }
}

/// Whether `address` is one of the agent's own listeners, also by way of 0.0.0.0 or `[::]`, which
/// Linux connects to the local host.
pub fn is_own(own: &BTreeSet<SocketAddr>, address: SocketAddr) -> bool {
    let address = canonical(address);
    let local = address.ip().is_unspecified() || address.ip().is_loopback();
    own.contains(&address) || (local && own.iter().any(|o| o.port() == address.port()))
}

/// An IPv4 address that is written as an IPv6 one (RFC 4291, section 2.5.5.2) is the IPv4 address.
pub const fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
