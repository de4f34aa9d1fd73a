//! Which addresses are known, from whom, and for how long a source's word stands.
//!
//! Sources are merged, never replaced by one another. A failed, empty or negative answer takes
//! nothing away (S1); an address leaves a source only after several usable answers *and* several
//! record lifetimes without it, since balancers answer with a rotating subset of their addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::chance::Chance;
use crate::machine::Tick;
use crate::pace::{Backoff, TokenBucket};
use crate::status::{OriginStatus, Source, SourceStatus};

#[cfg(test)]
mod tests;

/// The word of one source at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The source names these addresses, and its word stands for `lifetime`: for DNS the smallest
    /// lifetime in the whole chain of records (RFC 1034, section 3.6; RFC 2181, section 5.2).
    Addresses {
        /// The addresses; an empty set counts as [`NoRecords`](Self::NoRecords).
        addresses: BTreeSet<SocketAddr>,
        /// How long the answer may be kept.
        lifetime: Duration,
    },
    /// The source says that it has no such record.
    NoRecords,
    /// The source could not be asked, or its answer could not be used.
    Failed {
        /// What went wrong, in words.
        why: String,
    },
}

/// When a source's word is asked for again and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Usable answers without an address before it may leave.
    pub answers: u32,
    /// Record lifetimes without an address before it may leave.
    pub lifetimes: u32,
    /// Shortest lifetime that is believed: 0 would mean asking all the time.
    pub shortest: Duration,
    /// Longest lifetime that is believed.
    pub longest: Duration,
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

#[derive(Clone, Debug)]
struct Origin {
    named_at: Tick,
    lifetime: Duration,
    missed: u32,
}

#[derive(Clone, Debug)]
struct Lane {
    asking: bool,
    next: Tick,
    backoff: Backoff,
    early: TokenBucket,
    answered_at: Option<Tick>,
    lifetime: Option<Duration>,
    failure: Option<String>,
}

/// First delay after a failed lookup, and the longest; a resolver that is down is asked often,
/// since its next answer may be the way out.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

/// An early question, prompted by a failed dial, is asked at most this often.
const EARLY_EVERY: Duration = Duration::from_secs(1);

/// Share by which the time to the next question is shortened at random, in percent, so that a fleet
/// that started together does not ask together.
const JITTER_PERCENT: u32 = 10;

/// All sources and what they named.
#[derive(Clone, Debug)]
pub struct Sources {
    expiry: Expiry,
    own: BTreeSet<SocketAddr>,
    origins: BTreeMap<SocketAddr, BTreeMap<Source, Origin>>,
    lanes: BTreeMap<Source, Lane>,
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
        let origins = seeds
            .into_iter()
            .filter(|address| !is_own(&own, *address))
            .map(|address| {
                let origin = Origin {
                    named_at: Tick::ZERO,
                    lifetime: Duration::MAX,
                    missed: 0,
                };
                (address, BTreeMap::from([(Source::Seed, origin)]))
            })
            .collect();
        let lanes = live
            .into_iter()
            .map(|source| {
                let lane = Lane {
                    asking: false,
                    next: Tick::ZERO,
                    backoff: Backoff::new(RETRY.0, RETRY.1),
                    early: TokenBucket::full(1, EARLY_EVERY),
                    answered_at: None,
                    lifetime: None,
                    failure: None,
                };
                (source, lane)
            })
            .collect();
        Self {
            expiry,
            own,
            origins,
            lanes,
            chance: Chance::new(seed),
        }
    }

    /// Every address that stands on at least one source.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.origins.keys().copied()
    }

    /// Whether some source still names `address`.
    pub fn names(&self, address: SocketAddr) -> bool {
        self.origins.contains_key(&address)
    }

    /// Takes in what `source` says.
    pub fn answer(&mut self, now: Tick, source: Source, answer: Answer) -> Change {
        let mut change = Change::default();
        let Some(lane) = self.lanes.get_mut(&source) else {
            return change;
        };
        lane.asking = false;
        match answer {
            Answer::Failed { why } => {
                lane.next = now + lane.backoff.fail();
                if lane.failure.is_none() {
                    change.health = Some(Some(why.clone()));
                }
                lane.failure = Some(why);
            }
            Answer::NoRecords => self.answer_without_records(now, source, &mut change),
            Answer::Addresses {
                addresses,
                lifetime,
            } => self.answer_with_addresses(now, source, addresses, lifetime, &mut change),
        }
        change
    }

    /// No records of this kind: usual for AAAA, a failure where there were some before.
    fn answer_without_records(&mut self, now: Tick, source: Source, change: &mut Change) {
        let had_some = self.origins.values().any(|by| by.contains_key(&source));
        let Some(lane) = self.lanes.get_mut(&source) else {
            return;
        };
        lane.next = now + self.expiry.longest.min(RETRY.1);
        if had_some {
            let why = "the answer holds no address; what was known before is kept";
            if lane.failure.is_none() {
                change.health = Some(Some(why.to_owned()));
            }
            lane.failure = Some(why.to_owned());
        } else if lane.failure.take().is_some() {
            change.health = Some(None);
        }
    }

    fn answer_with_addresses(
        &mut self,
        now: Tick,
        source: Source,
        addresses: BTreeSet<SocketAddr>,
        lifetime: Duration,
        change: &mut Change,
    ) {
        let (own, named): (BTreeSet<_>, BTreeSet<_>) = addresses
            .into_iter()
            .map(canonical)
            .partition(|address| is_own(&self.own, *address));
        if named.is_empty() && own.is_empty() {
            return self.answer_without_records(now, source, change);
        }
        let lifetime = lifetime.clamp(self.expiry.shortest, self.expiry.longest);
        if let Some(lane) = self.lanes.get_mut(&source) {
            lane.backoff.reset();
            lane.answered_at = Some(now);
            lane.lifetime = Some(lifetime);
            lane.next = now + self.chance.stretch(lifetime, JITTER_PERCENT);
            let own = own.first().map(|address| {
                format!("names {address}, which is this agent's own listener: not used")
            });
            if lane.failure.is_some() != own.is_some() {
                change.health = Some(own.clone());
            }
            lane.failure = own;
        }
        if named.is_empty() {
            return;
        }
        for address in &named {
            let origins = self.origins.entry(*address).or_default();
            if origins.is_empty() {
                change.added.push(*address);
            }
            origins.insert(
                source,
                Origin {
                    named_at: now,
                    lifetime,
                    missed: 0,
                },
            );
        }
        let expiry = self.expiry;
        self.origins.retain(|address, origins| {
            if let Some(origin) = origins.get_mut(&source)
                && !named.contains(address)
            {
                origin.missed = origin.missed.saturating_add(1);
                let unnamed_for = now.since(origin.named_at);
                if origin.missed >= expiry.answers
                    && unnamed_for >= origin.lifetime.saturating_mul(expiry.lifetimes)
                {
                    origins.remove(&source);
                }
            }
            if origins.is_empty() {
                change.removed.push(*address);
            }
            !origins.is_empty()
        });
    }

    /// The sources that are due, each marked as being asked.
    pub fn ask_due(&mut self, now: Tick) -> Vec<Source> {
        let mut due = Vec::new();
        for (source, lane) in &mut self.lanes {
            if !lane.asking && lane.next <= now {
                lane.asking = true;
                due.push(*source);
            }
        }
        due
    }

    /// Something did not work: the sources may know better by now. Rate-limited.
    pub fn ask_soon(&mut self, now: Tick) {
        for lane in self.lanes.values_mut() {
            if !lane.asking && lane.next > now && lane.early.take(now) {
                lane.next = now;
            }
        }
    }

    /// When [`ask_due`](Self::ask_due) has something to do next.
    pub fn next_wake(&self) -> Option<Tick> {
        self.lanes
            .values()
            .filter(|lane| !lane.asking)
            .map(|lane| lane.next)
            .min()
    }

    /// Each source for `status`.
    pub fn status(&self, now: Tick) -> Vec<SourceStatus> {
        let named_by = |source: Source| -> Vec<SocketAddr> {
            self.origins
                .iter()
                .filter(|(_, by)| by.contains_key(&source))
                .map(|(address, _)| *address)
                .collect()
        };
        let mut all = vec![SourceStatus {
            source: Source::Seed,
            addresses: named_by(Source::Seed),
            age_s: None,
            failure: None,
            lifetime_s: None,
            next_s: None,
        }];
        all.extend(self.lanes.iter().map(|(source, lane)| SourceStatus {
            source: *source,
            addresses: named_by(*source),
            age_s: lane.answered_at.map(|at| now.since(at).as_secs_f64()),
            failure: lane.failure.clone(),
            lifetime_s: lane.lifetime.map(|l| l.as_secs_f64()),
            next_s: (!lane.asking).then(|| lane.next.since(now).as_secs_f64()),
        }));
        all
    }

    /// The sources that name `address`, for `status`.
    pub fn origins(&self, now: Tick, address: SocketAddr) -> Vec<OriginStatus> {
        self.origins
            .get(&address)
            .into_iter()
            .flatten()
            .map(|(source, origin)| OriginStatus {
                source: *source,
                age_s: now.since(origin.named_at).as_secs_f64(),
                missed: origin.missed,
            })
            .collect()
    }

    /// The sources that name `address`, in words, for evidence.
    pub fn origin_names(&self, address: SocketAddr) -> String {
        let names: Vec<_> = self
            .origins
            .get(&address)
            .into_iter()
            .flatten()
            .map(|(source, _)| source.as_str())
            .collect();
        names.join(", ")
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
