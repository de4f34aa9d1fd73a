//! From what was seen to figures. Pure: takes histories, returns numbers.
//!
//! All moments are in seconds of `CLOCK_MONOTONIC`; figures are in seconds from the fault on.

mod connection;
mod explained;
mod judge;
mod metric;
mod sight;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use holdfast_core::status::What as Deeds;

use crate::actor::client::{Ending, Event, Lane, What};
use crate::actor::observer::{Observation, Seen};

pub use connection::{Connection, connections};
pub use explained::{Testimony, unexplained};
pub use judge::{Verdict, judge, value};
pub use metric::{Kind, Metric};
pub use sight::{Deed, Load, ProcessSeen, Sight};

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
    /// Whom the steps at `0s` hit.
    pub faulted: Vec<String>,
    /// When the last step was done that mended something.
    pub mended: Option<f64>,
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
///
/// Reports of older versions lack some of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Figures {
    /// Longest time between two successful heartbeats, from the last one before the fault on. A gap
    /// that is still open at the end counts as far as it was seen.
    pub worst_gap_s: Option<f64>,
    /// From the fault until the client's connections on the faulted path had all seen their end.
    pub cut_s: Option<f64>,
    /// How many of the client's connections in `lanes` were on the faulted path.
    pub on_fault: u32,
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
    /// The longest of those that were answered: from the dial to the answer.
    pub new_slowest_s: Option<f64>,
    /// Those of them that began more than 1 s after the fault, and that a faulted server answered.
    pub new_on_faulted: u32,
    /// Longest time between two answers on an active connection, from the last one before the fault
    /// on. Without a fault it is about 1 s. A gap that is still open at the end counts.
    pub active_outage_s: Option<f64>,
    /// From the end of the last step that mended something until the first answer after it.
    pub recovery_s: Option<f64>,
    /// Idle connections that are open at the end, and whose watch was answered.
    pub idle_open: u32,
    /// Those of the wrong cuts that were a reset.
    pub resets: u32,
    /// Addresses that came into the agent's set, since it started; 0 without one.
    pub upstreams_added: u32,
    /// How many of the world's servers and balancers its agent knew at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<u32>,
    /// Whether the client was the same process from the beginning to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_kept: Option<bool>,
    /// Descriptors that the client's process had open at the end beyond those at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptors_added: Option<u32>,
    /// How often a real API said that a node was not Ready any more, after the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turned_not_ready: Option<u32>,
    /// How many pods a real controller took off the nodes after the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evictions: Option<u32>,
    /// How often real nodes asked for everything again after the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relists: Option<u32>,
    /// Whether the worst gap is longer than a grace period of so many stock seconds.
    pub not_ready: BTreeMap<String, bool>,
}

/// Seconds between two successes of one worker, as moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Whose.
    pub worker: u64,
    /// The last success before it.
    pub from: f64,
    /// The first success after it, or the end of the run.
    pub to: f64,
}

/// The figures of one subject; `lanes` are the connections that `cut_s` is about.
pub fn measure(course: &Course, sight: &Sight, lanes: &[Lane]) -> Figures {
    let connections = connections(course, sight);
    let gap = worst_gap(course, sight).map(|gap| gap.to - gap.from);
    let fresh: Vec<&Event> = fresh(course, sight).collect();
    let answered = || fresh.iter().filter(|event| event.what == What::Ok);
    let wrong_cuts = || connections.iter().filter(|one| is_wrong_cut(course, one));
    Figures {
        worst_gap_s: gap.map(rounded),
        cut_s: cut(course, &connections, lanes).map(rounded),
        on_fault: count(
            connections
                .iter()
                .filter(|one| one.faulted && lanes.contains(&one.lane)),
        ),
        first_success_s: first_success(course, sight, &connections).map(rounded),
        reconnects: count(
            connections
                .iter()
                .filter(|one| one.lane == Lane::Heartbeat && one.opened >= course.fault),
        ),
        wrong_cuts: count(wrong_cuts()),
        new_failed: count(fresh.iter().filter(|event| event.what == What::Failed)),
        new_total: count(fresh.iter()),
        new_slowest_s: answered()
            .filter_map(|event| event.took_s)
            .max_by(f64::total_cmp)
            .map(rounded),
        new_on_faulted: count(answered().filter(|event| {
            let server = event.server.as_ref();
            begun(event) > course.fault + 1.0
                && server.is_some_and(|server| course.faulted.contains(server))
        })),
        active_outage_s: longest_gap(course, sight, Lane::Active)
            .map(|gap| rounded(gap.to - gap.from)),
        recovery_s: recovery(course, sight).map(rounded),
        idle_open: count(
            connections
                .iter()
                .filter(|one| one.lane == Lane::Idle && one.end.is_none() && one.server.is_some()),
        ),
        upstreams_added: count(
            sight
                .deeds
                .iter()
                .filter(|deed| deed.action.what == Deeds::UpstreamAdded),
        ),
        resets: count(wrong_cuts().filter(|one| {
            one.end
                .is_some_and(|(_, ending)| matches!(ending, Ending::Aborted | Ending::Reset))
        })),
        known: sight
            .loads
            .last()
            .map(|load| count(load.connections.keys())),
        process_kept: sight
            .process
            .map(|(first, last)| (first.pid, first.started) == (last.pid, last.started)),
        descriptors_added: sight
            .process
            .map(|(first, last)| last.descriptors.saturating_sub(first.descriptors)),
        turned_not_ready: observed(course, sight, Seen::NotReady),
        evictions: observed(course, sight, Seen::Evicted),
        relists: sight.relists,
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

/// The moments at which a worker of a lane had success within the run.
pub fn successes(course: &Course, sight: &Sight, lane: Lane, worker: u64) -> Vec<f64> {
    let mut moments: Vec<f64> = sight
        .events
        .iter()
        .filter(|event| {
            event.lane == lane
                && event.id == worker
                && event.what == What::Ok
                && event.t <= course.end
        })
        .map(|event| event.t)
        .collect();
    moments.sort_by(f64::total_cmp);
    moments
}

/// The longest gap between heartbeats, from the last one before the fault on; none without heartbeats.
pub fn worst_gap(course: &Course, sight: &Sight) -> Option<Gap> {
    longest_gap(course, sight, Lane::Heartbeat)
}

/// The longest gap between two successes of one worker in a lane.
fn longest_gap(course: &Course, sight: &Sight, lane: Lane) -> Option<Gap> {
    let workers: BTreeSet<u64> = sight
        .events
        .iter()
        .filter(|event| event.lane == lane && event.what == What::Ok)
        .map(|event| event.id)
        .collect();
    workers
        .into_iter()
        .flat_map(|worker| {
            let moments = successes(course, sight, lane, worker);
            let before = moments
                .iter()
                .rposition(|moment| *moment <= course.fault)
                .unwrap_or(0);
            let from: Vec<f64> = moments.into_iter().skip(before).collect();
            let to: Vec<f64> = from.iter().copied().skip(1).chain([course.end]).collect();
            from.into_iter()
                .zip(to)
                .map(move |(from, to)| Gap { worker, from, to })
        })
        .max_by(|one, other| (one.to - one.from).total_cmp(&(other.to - other.from)))
}

/// How often a real API said that of a node after the fault; none where no real API is.
fn observed(course: &Course, sight: &Sight, what: Seen) -> Option<u32> {
    let told =
        |one: &&Observation| one.seen == what && one.t >= course.fault && one.t <= course.end;
    (!sight.nodes.is_empty()).then(|| count(sight.nodes.iter().filter(told)))
}

/// From the last mending until the first answer to anything that was still or newly asked then.
fn recovery(course: &Course, sight: &Sight) -> Option<f64> {
    let mended = course.mended?;
    sight
        .events
        .iter()
        .filter(|event| event.what == What::Ok && event.t >= mended && event.t <= course.end)
        .map(|event| event.t - mended)
        .min_by(f64::total_cmp)
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
            Lane::Reader | Lane::Watch => false,
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

/// Requests on new connections that began after the fault and ended within the run.
fn fresh<'a>(course: &'a Course, sight: &'a Sight) -> impl Iterator<Item = &'a Event> {
    sight.events.iter().filter(|event| {
        event.lane == Lane::Fresh
            && matches!(event.what, What::Failed | What::Ok)
            && begun(event) >= course.fault
            && event.t <= course.end
    })
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
