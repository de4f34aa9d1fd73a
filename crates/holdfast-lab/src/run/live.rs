//! What is worth telling while a run goes on: the few lines that make its story.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::status::{ActionStatus, Verdict, What as Deed};
use serde::{Deserialize, Serialize};

use crate::actor::client::{Event, Lane, What};
use crate::actor::observer::Seen;
use crate::measure::GRACE_PERIODS_S;
use crate::subject::Subject;

/// Something that has just happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// When, in seconds from the fault on.
    pub t_s: f64,
    /// Where: a node, or the world.
    pub node: String,
    /// What.
    pub what: String,
    /// Why, where that is known.
    pub reason: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How something is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Somebody suffers.
    Bad,
    /// The world was changed.
    Fault,
    /// Somebody recovers.
    Good,
    /// Just so.
    Plain,
}

/// How long an event is held back, in seconds: longer than an agent takes to tell what it did.
const HELD_S: f64 = 0.45;

/// Puts events in the order in which they happened: a client tells at once, an agent when it is asked.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    held: Vec<(f64, Live)>,
}

impl Sequence {
    /// Takes an event that happened at the moment `t`.
    pub(super) fn hold(&mut self, t: f64, event: Live) {
        let after = self.held.partition_point(|(held, _)| *held <= t);
        self.held.insert(after, (t, event));
    }

    /// The events that nothing can come before any more, at the moment `now`.
    pub(super) fn ripe(&mut self, now: f64) -> Vec<Live> {
        let ripe = self.held.partition_point(|(t, _)| *t <= now - HELD_S);
        self.held.drain(..ripe).map(|(_, event)| event).collect()
    }
}

/// What the API says of a node, if it is worth telling.
pub(super) fn seen(what: Seen) -> Option<(String, String, Tone)> {
    let (what, tone) = match what {
        Seen::Evicted => ("a pod is evicted", Tone::Bad),
        Seen::NotReady => ("a node is NotReady", Tone::Bad),
        Seen::Ready => ("a node is Ready", Tone::Good),
        Seen::Renewed => return None,
    };
    Some((what.to_owned(), String::new(), tone))
}

/// What is told next about one subject depends on what was told before.
#[derive(Debug, Default)]
pub(super) struct Teller {
    /// When each heartbeat had success last.
    last_beats: BTreeMap<u64, f64>,
    /// Which heartbeat was answered on a connection.
    workers: BTreeMap<u64, u64>,
    missing: BTreeSet<u64>,
    grace_over: BTreeSet<u32>,
}

impl Teller {
    /// What to tell of an event of the client, as (what, reason, tone); `part` names what it dialled.
    pub(super) fn event(
        &mut self,
        event: &Event,
        part: Option<&str>,
    ) -> Option<(String, String, Tone)> {
        let detail = event.detail.clone().unwrap_or_default();
        match (event.lane, event.what) {
            (Lane::Heartbeat, What::Ok) => {
                let since = self.last_beats.insert(event.id, event.t);
                if let Some(connection) = event.connection {
                    self.workers.insert(connection, event.id);
                }
                let missed = self.missing.remove(&event.id);
                if self.missing.is_empty() {
                    self.grace_over.clear();
                }
                let after = event.t - since.filter(|_| missed)?;
                let server = event.server.as_deref().unwrap_or("the API server");
                Some((
                    format!("heartbeat again after {after:.1} s"),
                    format!("{server} answered"),
                    Tone::Good,
                ))
            }
            (Lane::Heartbeat, What::Failed) => {
                // The first failure tells it; the retries only repeat it.
                let first = self.missing.insert(event.id);
                first.then(|| ("heartbeat failed".to_owned(), detail, Tone::Bad))
            }
            (Lane::Heartbeat, What::Connected) => {
                let again = !self.last_beats.is_empty();
                let to = part.map(|part| format!(" to {part}")).unwrap_or_default();
                again.then(|| (format!("connected again{to}"), String::new(), Tone::Plain))
            }
            (Lane::Active | Lane::Heartbeat | Lane::Idle, What::Closed) => {
                let lane = match event.lane {
                    Lane::Active => "active",
                    Lane::Idle => "idle",
                    Lane::Fresh | Lane::Heartbeat | Lane::Reader | Lane::Watch => "heartbeat",
                };
                let tone = if event.lane == Lane::Heartbeat {
                    Tone::Bad
                } else {
                    Tone::Plain
                };
                if event.lane == Lane::Heartbeat {
                    let worker = self.workers.get(&event.id).copied().unwrap_or_default();
                    self.missing.insert(worker);
                }
                Some((format!("{lane} connection ended"), detail, tone))
            }
            // A dial that failed is told by the request that waited for it, unless none does any more.
            (Lane::Active | Lane::Fresh | Lane::Idle | Lane::Reader | Lane::Watch, _)
            | (Lane::Heartbeat, What::Dialing | What::DialFailed) => None,
        }
    }

    /// What to tell when no heartbeat came for longer than a grace period.
    pub(super) fn silence(&mut self, now: f64, time_scale: f64) -> Option<(String, String, Tone)> {
        let last = self.last_beats.iter();
        let (worker, last) = last.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let since = now - last;
        let over = GRACE_PERIODS_S.into_iter().find(|grace| {
            since > f64::from(*grace) / time_scale && !self.grace_over.contains(grace)
        })?;
        self.missing.insert(*worker);
        self.grace_over.insert(over);
        let reason = format!("no heartbeat for {since:.1} s, grace period {over} s");
        let reason = if time_scale > 1.0 {
            format!("{reason} / {time_scale}")
        } else {
            reason
        };
        Some(("node is NotReady".to_owned(), reason, Tone::Bad))
    }
}

/// What to tell of an agent's action; `part` names its upstream.
pub(super) fn deed(action: &ActionStatus, part: Option<&str>) -> (String, String, Tone) {
    let whom = part.map_or_else(
        || {
            action
                .upstream
                .map(|address| format!(" {address}"))
                .unwrap_or_default()
        },
        |part| format!(" {part}"),
    );
    let (what, tone) = match action.what {
        Deed::VerdictChanged => {
            let verdict = action.verdict.map(Verdict::as_str).unwrap_or_default();
            (format!("upstream{whom} is {verdict}"), Tone::Plain)
        }
        Deed::ConnectionCut => (format!("cut the connection to{whom}"), Tone::Good),
        Deed::ConnectionDrained
        | Deed::ConnectionMoved
        | Deed::ConnectionRefused
        | Deed::ConnectionUnused
        | Deed::FailedHere
        | Deed::Reloaded
        | Deed::ReloadRefused
        | Deed::ConnectionsSevered
        | Deed::NodeChanged
        | Deed::SourceChanged
        | Deed::UnitRestarted
        | Deed::UpstreamAdded
        | Deed::UpstreamRemoved
        | Deed::Withheld
        | Deed::WouldCut => (format!("{}{whom}", action.what.as_str()), Tone::Plain),
    };
    let reason = if action.evidence.is_empty() {
        action.reason.to_string()
    } else {
        format!("{}: {}", action.reason, action.evidence)
    };
    (what, reason, tone)
}

/// The name of a subject's node as it is told.
pub(super) fn node(subject: Subject) -> String {
    subject.to_string()
}

#[cfg(test)]
mod tests;
