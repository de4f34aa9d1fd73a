//! From what was seen to figures. Pure: takes histories, returns numbers.
//!
//! All moments are in seconds of `CLOCK_MONOTONIC`; figures are in seconds from the fault on.

mod connection;
mod judge;
mod metric;
mod sight;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::client::{Ending, Event, Lane, What};

pub use connection::{Connection, connections};
pub use judge::{Verdict, judge};
pub use metric::{Kind, Metric};
pub use sight::{Deed, Load, Sight};

/// Grace periods of the node monitor, in stock seconds: `--node-monitor-grace-period` is 40 s up to
/// Kubernetes 1.31 and 50 s from 1.32 on (kubernetes#121793).
pub const GRACE_PERIODS_S: [u32; 2] = [40, 50];

/// What happened to the world.
#[derive(Clone, Debug)]
pub struct Course {
    /// When the timeline began.
    pub start: f64,
    /// When the fault was made.
    pub fault: f64,
    /// When nothing was looked at any more.
    pub end: f64,
    /// How many stock seconds passed in one second.
    pub time_scale: f64,
    /// When servers and balancers let nothing pass.
    pub outages: Vec<Outage>,
    /// The name of the server or balancer behind each address, as `10.99.1.1:6443`.
    pub parts: BTreeMap<String, String>,
}

/// A time in which a server or balancer let nothing pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The server or balancer.
    pub part: Part,
    /// When it broke.
    pub from: f64,
    /// When it was mended.
    pub to: Option<f64>,
}

/// A part of a world that connections lead through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: PartKind,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A layer-4 balancer.
    Balancer,
    /// An API server.
    Server,
}

/// A subject's figures. Times are in seconds as they were measured, null where it never happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Longest time between two successful heartbeats, from the last one before the fault on. A gap
    /// that is still open at the end counts as far as it was seen.
    pub worst_gap_s: Option<f64>,
    /// From the fault until the client's connections on the faulted path had all seen their end.
    pub cut_s: Option<f64>,
    /// From the fault until the first answer on a connection that was made after it.
    pub first_success_s: Option<f64>,
    /// Connections that the heartbeat needed after the fault.
    pub reconnects: u32,
    /// Connections that ended although nothing was wrong with their path and the client did not
    /// close them.
    pub wrong_cuts: u32,
    /// Requests on new connections of their own after the fault that failed.
    pub new_failed: u32,
    /// Requests on new connections of their own after the fault.
    pub new_total: u32,
    /// Whether the worst gap is longer than a grace period of so many stock seconds.
    pub not_ready: BTreeMap<String, bool>,
}

/// Seconds between two successful heartbeats, as moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The last success before it.
    pub from: f64,
    /// The first success after it, or the end of the run.
    pub to: f64,
}

/// The figures of one subject; `lanes` are the connections that `cut_s` is about.
pub fn measure(course: &Course, sight: &Sight, lanes: &[Lane]) -> Figures {
    let connections = connections(course, sight);
    let gap = worst_gap(course, sight).map(|gap| gap.to - gap.from);
    let (new_failed, new_total) = fresh(course, sight);
    Figures {
        worst_gap_s: gap.map(rounded),
        cut_s: cut(course, &connections, lanes).map(rounded),
        first_success_s: first_success(course, sight, &connections).map(rounded),
        reconnects: count(
            connections
                .iter()
                .filter(|one| one.lane == Lane::Heartbeat && one.opened >= course.fault),
        ),
        wrong_cuts: count(connections.iter().filter(|one| is_wrong_cut(course, one))),
        new_failed,
        new_total,
        not_ready: GRACE_PERIODS_S
            .into_iter()
            .map(|grace| {
                let gap = gap.unwrap_or(course.end - course.start);
                (
                    grace.to_string(),
                    gap > f64::from(grace) / course.time_scale,
                )
            })
            .collect(),
    }
}

/// The moments of successful heartbeats within the run.
pub fn beats(course: &Course, sight: &Sight) -> Vec<f64> {
    let mut beats: Vec<f64> = sight
        .events
        .iter()
        .filter(|event| {
            event.lane == Lane::Heartbeat && event.what == What::Ok && event.t <= course.end
        })
        .map(|event| event.t)
        .collect();
    beats.sort_by(f64::total_cmp);
    beats
}

/// The longest gap between heartbeats, from the last one before the fault on; none without heartbeats.
pub fn worst_gap(course: &Course, sight: &Sight) -> Option<Gap> {
    let beats = beats(course, sight);
    let before = beats
        .iter()
        .rposition(|beat| *beat <= course.fault)
        .unwrap_or(0);
    let from: Vec<f64> = beats.into_iter().skip(before).collect();
    let to = from.iter().copied().skip(1).chain([course.end]);
    from.iter()
        .zip(to)
        .map(|(from, to)| Gap { from: *from, to })
        .max_by(|one, other| (one.to - one.from).total_cmp(&(other.to - other.from)))
}

/// The last end of the connections on a faulted path; none if one of them never ended.
fn cut(course: &Course, connections: &[Connection], lanes: &[Lane]) -> Option<f64> {
    connections
        .iter()
        .filter(|one| one.faulted && lanes.contains(&one.lane))
        .map(|one| one.end.map_or(f64::INFINITY, |(t, _)| t - course.fault))
        .max_by(f64::total_cmp)
        .filter(|seconds| seconds.is_finite())
}

fn is_wrong_cut(course: &Course, connection: &Connection) -> bool {
    let cut_by_others = |ending| match ending {
        Ending::Aborted | Ending::Eof | Ending::Lost | Ending::Reset => true,
        Ending::Own | Ending::PingTimeout => false,
    };
    connection
        .end
        .is_some_and(|(t, ending)| t >= course.start && cut_by_others(ending))
        && !connection.faulted
}

fn first_success(course: &Course, sight: &Sight, connections: &[Connection]) -> Option<f64> {
    sight
        .events
        .iter()
        .filter(|event| event.what == What::Ok && event.t >= course.fault && event.t <= course.end)
        .filter(|event| match event.lane {
            Lane::Fresh => begun(event) >= course.fault,
            Lane::Watch => false,
            Lane::Active | Lane::Heartbeat | Lane::Idle => {
                // Which of a lane's connections answered is not told; it was a new one for certain
                // when all that are open are new.
                let mut open = connections
                    .iter()
                    .filter(|one| one.lane == event.lane && one.is_open_at(event.t))
                    .peekable();
                open.peek().is_some() && open.all(|one| one.opened >= course.fault)
            }
        })
        .map(|event| event.t - course.fault)
        .min_by(f64::total_cmp)
}

/// Requests on new connections that began after the fault and ended within the run: failed, all.
fn fresh(course: &Course, sight: &Sight) -> (u32, u32) {
    let ended = |what| {
        count(sight.events.iter().filter(|event| {
            event.lane == Lane::Fresh
                && event.what == what
                && begun(event) >= course.fault
                && event.t <= course.end
        }))
    };
    let failed = ended(What::Failed);
    (failed, failed + ended(What::Ok))
}

/// When the request that an event tells of began.
fn begun(event: &Event) -> f64 {
    event.t - event.took_s.unwrap_or_default()
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// To the millisecond: finer than anything here is measured.
pub fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests;
