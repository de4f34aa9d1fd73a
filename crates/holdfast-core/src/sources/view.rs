//! The sources as readers see them.

use std::net::SocketAddr;

use super::{Sources, Word};
use crate::cache;
use crate::machine::Tick;
use crate::status::{OriginStatus, Source, SourceStatus};

impl Sources {
    /// Each source for `status`; `cache` is the state of the cache, where there is one.
    pub fn status(&self, now: Tick, cache: Option<cache::State>) -> Vec<SourceStatus> {
        let named_by = |says: &dyn Fn(&Word) -> bool| -> Vec<SocketAddr> {
            self.origins
                .iter()
                .filter(|(_, by)| by.keys().any(says))
                .map(|(address, _)| *address)
                .collect()
        };
        let heard = |source| named_by(&|word: &Word| word.source == source && !word.remembered);
        let still = |source, addresses| SourceStatus {
            source,
            addresses,
            age_s: None,
            failure: None,
            lifetime_s: None,
            next_s: None,
        };
        let mut all = vec![still(Source::Seed, heard(Source::Seed))];
        all.extend(self.lanes.iter().map(|(source, lane)| SourceStatus {
            age_s: lane.answered_at().map(|at| now.since(at).as_secs_f64()),
            failure: lane.failure().map(ToOwned::to_owned),
            lifetime_s: lane.lifetime().map(|l| l.as_secs_f64()),
            next_s: lane.next().map(|next| next.since(now).as_secs_f64()),
            ..still(*source, heard(*source))
        }));
        all.extend(cache.map(|state| SourceStatus {
            age_s: state.age.map(|age| age.as_secs_f64()),
            failure: state.failure,
            ..still(Source::Cache, named_by(&|word: &Word| word.remembered))
        }));
        all
    }

    /// The sources that name `address`, for `status`.
    pub fn origins(&self, now: Tick, address: SocketAddr) -> Vec<OriginStatus> {
        let mut remembered: Option<OriginStatus> = None;
        let mut all = Vec::new();
        for (word, origin) in self.origins.get(&address).into_iter().flatten() {
            let mut status = OriginStatus {
                source: word.source,
                age_s: now.since(origin.named_at).as_secs_f64(),
                missed: origin.missed,
            };
            if word.remembered {
                status.source = Source::Cache;
                status.age_s += self.cache_age.as_secs_f64();
                // Several sources may be remembered: the one that stands longest counts.
                status.missed = remembered.map_or(status.missed, |r| r.missed.min(status.missed));
                remembered = Some(status);
            } else {
                all.push(status);
            }
        }
        all.extend(remembered);
        all
    }

    /// The sources that name `address`, in words, for evidence.
    pub fn origin_names(&self, address: SocketAddr) -> String {
        let origins = self.origins(Tick::ZERO, address);
        let names: Vec<_> = origins
            .iter()
            .map(|origin| origin.source.as_str())
            .collect();
        names.join(", ")
    }
}
