//! From what was seen on a stage to its story.

use std::collections::BTreeMap;

use super::{Lane, Sight, Stage, Subject, What};
use crate::actor::client::Ending;
use crate::measure::{self, Course};
use crate::report::{Happening, Mark, Run, Story, Stretch, SubjectRun, Track};
use crate::world::ControlPlane;

impl Stage {
    /// What was seen, as figures and pictures.
    pub(in crate::run) fn story(self) -> Story {
        let course = &self.course;
        let from_fault = |t: f64| measure::rounded(t - course.fault);
        let mut figures = BTreeMap::new();
        let mut subjects = BTreeMap::new();
        let mut tracks = BTreeMap::new();
        for (subject, sight) in &self.sights {
            let found = measure::measure(course, sight, &self.scenario.lanes);
            figures.insert(*subject, found.clone());
            subjects.insert(
                *subject,
                SubjectRun {
                    figures: found,
                    events: happenings(course, *subject, sight),
                    unexplained: unexplained(course, sight),
                },
            );
            tracks.insert(*subject, track(course, sight));
        }
        Story {
            run: Run {
                scenario: self.scenario.name.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                time_scale: course.time_scale,
                began: self.began.to_string(),
                kubernetes: self.world.plane().map(ControlPlane::version),
                goals: if (course.time_scale - 1.0).abs() < f64::EPSILON {
                    measure::judge(&self.scenario.goals, &figures, course.time_scale)
                } else {
                    Vec::new()
                },
                expectations: measure::judge(&self.scenario.expect, &figures, course.time_scale),
                subjects,
            },
            summary: self.scenario.summary.clone(),
            start_s: from_fault(course.start),
            end_s: from_fault(course.end),
            marks: self
                .marks
                .iter()
                .map(|(t, text)| Mark {
                    t_s: from_fault(*t),
                    text: text.clone(),
                })
                .collect(),
            tracks,
        }
    }
}

/// What an agent did; without an agent, what became of the client's connections.
fn happenings(course: &Course, subject: Subject, sight: &Sight) -> Vec<Happening> {
    let within = |t: f64| t >= course.start && t <= course.end;
    let happening = |t: f64, what: &str, reason: String| Happening {
        t_s: measure::rounded(t - course.fault),
        what: what.to_owned(),
        reason,
    };
    if subject.admin().is_some() {
        let deeds = sight.deeds.iter().filter(|deed| within(deed.t));
        return deeds
            .map(|deed| {
                happening(
                    deed.t,
                    deed.action.what.as_str(),
                    deed.action.reason.to_string(),
                )
            })
            .collect();
    }
    sight
        .events
        .iter()
        .filter(|event| within(event.t))
        .filter_map(|event| {
            let what = match (event.lane, event.what) {
                (Lane::Fresh | Lane::Reader | Lane::Watch, _)
                | (_, What::Dialing | What::Ok)
                | (Lane::Active | Lane::Idle, What::Failed | What::DialFailed) => return None,
                (_, What::Closed) => "connection-closed",
                (_, What::Connected) => "connected",
                (Lane::Heartbeat, What::DialFailed) => "dial-failed",
                (Lane::Heartbeat, What::Failed) => "heartbeat-failed",
            };
            Some(happening(
                event.t,
                what,
                event.detail.clone().unwrap_or_default(),
            ))
        })
        .collect()
}

/// What the agent's last status leaves unexplained.
fn unexplained(course: &Course, sight: &Sight) -> Vec<String> {
    let Some(testimony) = &sight.testimony else {
        return Vec::new();
    };
    let connections = measure::connections(course, sight);
    // What a guard ends is aborted; any other end is the peer's doing, and none of its business.
    let by_others =
        connections
            .iter()
            .filter_map(|one| one.end)
            .filter(|(_, ending)| match ending {
                Ending::Aborted => true,
                Ending::Eof | Ending::Reset => !testimony.is_guard(),
                Ending::Lost | Ending::Own | Ending::PingTimeout => false,
            });
    let ended = u32::try_from(by_others.count()).unwrap_or(u32::MAX);
    measure::unexplained(testimony, ended)
}

fn track(course: &Course, sight: &Sight) -> Track {
    let from_fault = |t: f64| measure::rounded(t - course.fault);
    let within = |t: f64| t >= course.start && t <= course.end;
    // Of several heartbeats the one that fared worst is drawn.
    let gap = measure::worst_gap(course, sight);
    let worker = gap.map_or(0, |gap| gap.worker);
    let misses = sight.events.iter().filter(|event| {
        event.lane == Lane::Heartbeat
            && event.what == What::Failed
            && event.id == worker
            && within(event.t)
    });
    Track {
        beats: measure::successes(course, sight, Lane::Heartbeat, worker)
            .into_iter()
            .filter(|t| within(*t))
            .map(from_fault)
            .collect(),
        misses: misses.map(|event| from_fault(event.t)).collect(),
        gap: gap.map(|gap| (from_fault(gap.from), from_fault(gap.to))),
        connections: measure::connections(course, sight)
            .iter()
            .filter(|one| one.lane == Lane::Heartbeat)
            .map(|one| Stretch::of(one, course.fault))
            .collect(),
    }
}
