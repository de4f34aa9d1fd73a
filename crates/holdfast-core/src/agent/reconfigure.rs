//! Another configuration for an agent at work: connections stay, what proved itself stays proven, and
//! nothing that works is dropped before something else does (S1, S2).

use super::{Agent, Settings, cut_limit};
use crate::journal::Entry;
use crate::machine::Tick;
use crate::reason::Reason;
use crate::status::{ConfigStatus, What};

#[cfg(test)]
mod tests;

/// Since when the configuration holds, and what is wrong with its successor.
#[derive(Debug, Default)]
pub(super) struct Configured {
    since: Tick,
    refused: Option<(Tick, String)>,
}

impl Configured {
    pub(super) fn status(&self, now: Tick, file: Option<String>) -> ConfigStatus {
        let refused = self.refused.as_ref();
        ConfigStatus {
            file,
            age_s: now.since(self.since).as_secs_f64(),
            failure: refused.map(|(_, why)| why.clone()),
            failing_s: refused.map(|(since, _)| now.since(*since).as_secs_f64()),
        }
    }
}

impl Agent {
    pub(super) fn reconfigured(&mut self, now: Tick, settings: Settings, changed: &str) {
        self.configured = Configured {
            since: now,
            refused: None,
        };
        let entry = Entry::new(What::Reloaded, Reason::ConfigChanged)
            .because(changed)
            .then("holds from now on; open connections stay");
        self.write(now, entry);
        let seed = self.settings.seed;
        let limits = |s: &Settings| (s.cuts, s.cut_window);
        if limits(&settings) != limits(&self.settings) {
            self.cuts = cut_limit(&settings);
        }
        self.settings = Settings { seed, ..settings };
        self.fleet = self.settings.nodes.or(self.fleet);
        let interval = self.probe_interval();
        let settings = &self.settings;
        for upstream in self.upstreams.values_mut() {
            let probing = &mut upstream.probing;
            probing.repace(interval, settings.patience);
        }
        let change = self.sources.reconfigure(
            now,
            &settings.seeds,
            &settings.live,
            &settings.own,
            settings.expiry,
        );
        self.relist(now, change.added, change.removed);
    }

    pub(super) fn reload_refused(&mut self, now: Tick, why: String) {
        let entry = Entry::new(What::ReloadRefused, Reason::ConfigInvalid)
            .because(why.clone())
            .then("the configuration from before holds until the file is mended");
        self.write(now, entry);
        let since = self
            .configured
            .refused
            .take()
            .map_or(now, |(since, _)| since);
        self.configured.refused = Some((since, why));
    }
}
