//! From two looks at a cluster to what changed between them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Seen};

/// What one look saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct View {
    /// The last renewal of each node's lease, in seconds of `CLOCK_MONOTONIC`.
    pub(super) renewed: BTreeMap<String, f64>,
    /// Whether each node's condition `Ready` is `True`.
    pub(super) ready: BTreeMap<String, bool>,
    /// The pods that are not on their way out, each as its unique id, with its node.
    pub(super) pods: BTreeMap<String, String>,
}

/// What is known from earlier looks.
#[derive(Debug, Default)]
pub(super) struct Known {
    renewed: BTreeMap<String, f64>,
    ready: BTreeMap<String, bool>,
    pods: BTreeMap<String, String>,
}

/// Renewals that are closer than this are one: the wall clock's distance to the monotonic one is
/// measured anew with each look, to within far less than a millisecond.
const SAME_S: f64 = 0.001;

impl Known {
    /// What the look at `now` saw that was not known.
    pub(super) fn changes(&mut self, now: f64, view: &View) -> Vec<Observation> {
        let mut changes = Vec::new();
        for (node, t) in &view.renewed {
            if self
                .renewed
                .get(node)
                .is_none_or(|known| t - known > SAME_S)
            {
                changes.push(observation(*t, node, Seen::Renewed));
                self.renewed.insert(node.clone(), *t);
            }
        }
        for (node, ready) in &view.ready {
            if self.ready.insert(node.clone(), *ready) != Some(*ready) {
                let seen = if *ready { Seen::Ready } else { Seen::NotReady };
                changes.push(observation(now, node, seen));
            }
        }
        let gone: BTreeSet<String> = self
            .pods
            .keys()
            .filter(|pod| !view.pods.contains_key(*pod))
            .cloned()
            .collect();
        for pod in gone {
            if let Some(node) = self.pods.remove(&pod) {
                changes.push(observation(now, &node, Seen::Evicted));
            }
        }
        self.pods.extend(view.pods.clone());
        changes
    }
}

fn observation(t: f64, node: &str, seen: Seen) -> Observation {
    Observation {
        t,
        node: node.to_owned(),
        seen,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Known, Seen, View};

    fn view(renewed: f64, ready: bool, pods: &[&str]) -> View {
        View {
            renewed: BTreeMap::from([("n".to_owned(), renewed)]),
            ready: BTreeMap::from([("n".to_owned(), ready)]),
            pods: pods
                .iter()
                .map(|pod| ((*pod).to_owned(), "n".to_owned()))
                .collect(),
        }
    }

    fn seen(known: &mut Known, view: &View) -> Vec<Seen> {
        known
            .changes(50.0, view)
            .iter()
            .map(|one| one.seen)
            .collect()
    }

    #[test]
    fn only_what_changed_is_told() {
        let mut known = Known::default();
        assert_eq!(
            seen(&mut known, &view(1.0, true, &["a"])),
            [Seen::Renewed, Seen::Ready]
        );
        assert_eq!(seen(&mut known, &view(1.000_1, true, &["a"])), []);
        assert_eq!(
            seen(&mut known, &view(11.0, false, &["b"])),
            [Seen::Renewed, Seen::NotReady, Seen::Evicted]
        );
        assert_eq!(seen(&mut known, &view(11.0, true, &["b"])), [Seen::Ready]);
    }

    #[test]
    fn a_renewal_is_told_at_its_own_moment() {
        let told = Known::default().changes(50.0, &view(41.5, true, &[]));
        assert_eq!(told.first().map(|one| one.t), Some(41.5));
    }
}
