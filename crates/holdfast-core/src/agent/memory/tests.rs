//! The whole agent with a cache: what it writes down, and what it does with what it finds.

use std::collections::BTreeSet;

use super::*;
use crate::agent::{Input, Settings};
use crate::machine::Machine as _;
use crate::probing::Progress;
use crate::reason::Reason;
use crate::sim;
use crate::sources::Answer;
use crate::status::Status;

fn at(s: u64) -> Tick {
    Tick::from_start(Duration::from_secs(s))
}

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

fn found(n: u8, hours: u64) -> Entry {
    Entry {
        address: address(n),
        origins: vec![Source::DnsA],
        unanswered: Duration::from_hours(hours),
    }
}

/// An agent whose probes are answered by the addresses in `alive`, and whose name has `named`.
struct Life {
    agent: Agent,
    alive: BTreeSet<u8>,
    named: Option<BTreeSet<u8>>,
    written: Vec<Vec<Entry>>,
    write_failure: Option<String>,
}

impl Life {
    fn new(remembered: Option<Remembered>) -> Self {
        let settings = Settings {
            remembered,
            ..sim::settings([], 1)
        };
        Self {
            agent: Agent::new(settings),
            alive: BTreeSet::new(),
            named: None,
            written: Vec::new(),
            write_failure: None,
        }
    }

    fn with(entries: &[Entry]) -> Self {
        Self::new(Some(Remembered {
            entries: entries.to_vec(),
            ..Remembered::default()
        }))
    }

    /// Lives from one second to another, in steps of `step` seconds.
    fn live(&mut self, seconds: std::ops::Range<u64>, step: usize) {
        for s in seconds.step_by(step) {
            self.agent.wake(at(s));
            self.obey(at(s));
        }
    }

    fn obey(&mut self, now: Tick) {
        while let Some(action) = self.agent.poll() {
            let fact = if let Action::Probe { upstream, id, .. } = action {
                let alive = self.alive.iter().any(|n| address(*n) == upstream);
                let progress = if alive {
                    Progress::Answered { status: 200 }
                } else {
                    Progress::Refused
                };
                Input::Probed {
                    upstream,
                    id,
                    progress,
                }
            } else if let Action::Resolve { source } = action {
                let answer = match &self.named {
                    Some(named) => Answer::Addresses {
                        addresses: named.iter().map(|n| address(*n)).collect(),
                        lifetime: Some(Duration::from_secs(5)),
                    },
                    None => Answer::Failed {
                        why: "SERVFAIL".to_owned(),
                        lifetime: None,
                    },
                };
                Input::Resolved { source, answer }
            } else if let Action::Remember { entries } = action {
                self.written.push(entries);
                Input::Remembered {
                    failure: self.write_failure.clone(),
                }
            } else {
                continue;
            };
            self.agent.handle(now, fact);
            self.agent.check();
        }
    }

    fn status(&self, s: u64) -> Status {
        self.agent.status(at(s), &crate::agent::Identity::default())
    }

    fn last_written(&self) -> Vec<(SocketAddr, u64)> {
        let entries = self.written.last().expect("something was written");
        let mut all: Vec<_> = entries
            .iter()
            .map(|entry| (entry.address, entry.unanswered.as_secs()))
            .collect();
        all.sort();
        all
    }
}

#[test]
fn without_a_cache_nothing_is_written_down() {
    let mut life = Life::new(None);
    life.alive = BTreeSet::from([1]);
    life.named = Some(BTreeSet::from([1]));
    life.live(0..7300, 5);
    assert!(life.written.is_empty());
    assert!(
        life.status(7300)
            .sources
            .iter()
            .all(|s| s.source != Source::Cache)
    );
}

#[test]
fn what_proved_itself_is_written_down_and_the_same_set_once_an_hour() {
    let mut life = Life::with(&[]);
    life.alive = BTreeSet::from([1, 2]);
    life.named = Some(BTreeSet::from([1, 2, 3]));
    life.live(0..3000, 1);
    assert_eq!(life.written.len(), 1, "it stays the same");
    let written: Vec<_> = life.last_written().into_iter().map(|(a, _)| a).collect();
    assert_eq!(written, [address(1), address(2)], "one has never answered");
    life.live(3000..3700, 1);
    assert_eq!(life.written.len(), 2, "its ages are brought up to date");
    life.alive.insert(3);
    life.live(3700..3900, 1);
    assert_eq!(life.written.len(), 3, "another set");
    assert_eq!(life.last_written().len(), 3);
    let cache = life.status(3900).sources.pop().unwrap();
    assert_eq!(cache.source, Source::Cache);
    assert!(cache.age_s.is_some_and(|age| age < 200.0));
}

#[test]
fn s5_a_set_that_flaps_is_written_at_most_twice_a_minute() {
    let mut life = Life::with(&[]);
    life.named = Some(BTreeSet::from([1, 2]));
    for minute in 0..10 {
        for n in [1, 2] {
            life.alive = BTreeSet::from([n]);
            // A name that loses and wins an address in each answer is another set each time.
            life.named = Some((1..=n + minute).collect());
            life.live(
                u64::from(minute) * 60 + u64::from(n) * 30 - 30
                    ..u64::from(minute) * 60 + u64::from(n) * 30,
                1,
            );
        }
    }
    assert!(
        life.written.len() <= 20,
        "{} writes in ten minutes",
        life.written.len()
    );
}

#[test]
fn s1_an_empty_set_is_never_written() {
    let mut life = Life::with(&[]);
    life.live(0..7300, 5);
    assert!(life.written.is_empty());
}

#[test]
fn what_is_remembered_serves_while_every_source_is_down_and_comes_after_what_is_named() {
    let mut life = Life::with(&[found(1, 0), found(2, 0)]);
    life.alive = BTreeSet::from([1, 2, 3]);
    life.live(0..30, 1);
    let status = life.status(30);
    assert!(status.ready);
    assert_eq!(status.upstreams.len(), 2);
    life.named = Some(BTreeSet::from([3]));
    life.live(30..40, 1);
    let first = life.agent.offered.as_ref().unwrap().order[0].address;
    assert_eq!(first, address(3), "the cache never outranks a source");
}

#[test]
fn what_did_not_answer_for_a_day_of_running_time_is_dropped_and_not_written_again() {
    let mut life = Life::with(&[found(1, 0), found(2, 23)]);
    life.alive = BTreeSet::from([1]);
    life.live(0..1800, 1);
    let unanswered: Vec<_> = life.last_written();
    assert_eq!(unanswered[0].0, address(1));
    assert!(
        unanswered[1].1 >= 23 * 3600,
        "its age goes on from the last life"
    );
    life.live(1800..4000, 1);
    let known: Vec<_> = life
        .status(4000)
        .upstreams
        .iter()
        .map(|u| u.address)
        .collect();
    assert_eq!(known, [address(1)]);
    assert_eq!(life.last_written().len(), 1);
}

#[test]
fn s1_nothing_ages_out_while_nothing_answers() {
    let mut life = Life::with(&[found(1, 20), found(2, 23)]);
    life.live(0..48 * 3600, 60);
    assert_eq!(life.status(48 * 3600).upstreams.len(), 2);
}

#[test]
fn a_failed_write_is_told_once_and_tried_again() {
    let mut life = Life::with(&[]);
    life.alive = BTreeSet::from([1]);
    life.named = Some(BTreeSet::from([1]));
    life.write_failure = Some("write /x: No space left on device".to_owned());
    life.live(0..200, 1);
    let told = |status: &Status, reason| {
        let actions = status.actions.iter();
        actions
            .filter(|a| a.reason == reason && a.evidence.starts_with("cache"))
            .count()
    };
    let status = life.status(200);
    assert_eq!(told(&status, Reason::SourceFailed), 1);
    assert!(
        status
            .sources
            .last()
            .unwrap()
            .failure
            .as_ref()
            .unwrap()
            .contains("No space left")
    );
    assert!(life.written.len() >= 4, "tried again");
    life.write_failure = None;
    life.live(200..300, 1);
    let status = life.status(300);
    assert_eq!(told(&status, Reason::SourceRecovered), 1);
    assert_eq!(status.sources.last().unwrap().failure, None);
}

#[test]
fn a_file_that_can_not_be_used_is_told_and_replaced() {
    let mut life = Life::new(Some(Remembered {
        failure: Some("read /x: it is torn".to_owned()),
        ..Remembered::default()
    }));
    let status = life.status(0);
    assert_eq!(status.actions[0].reason, Reason::SourceFailed);
    assert_eq!(status.actions[0].evidence, "cache: read /x: it is torn");
    life.alive = BTreeSet::from([1]);
    life.named = Some(BTreeSet::from([1]));
    life.live(0..60, 1);
    assert_eq!(life.written.len(), 1);
    assert_eq!(life.status(60).sources.last().unwrap().failure, None);
}
