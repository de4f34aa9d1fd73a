use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::agent::{Action, Identity, Input};
use crate::machine::Machine;
use crate::probing::Progress;
use crate::sim::settings;

/// First value of the retransmission timer, as on a LAN (RFC 6298 with Linux's lower bound).
const TIMER: u64 = 200;

/// The shell looks at the kernel this often.
const LOOK: u64 = 250;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

/// What a connection's kernel sees.
#[derive(Clone, Copy)]
enum Line {
    /// Nothing is under way, and the peer answers keepalive questions.
    Quiet,
    /// Bytes were sent then, and the peer answers nothing.
    Unacknowledged(u64),
    /// A keepalive question was sent then, and the peer answers nothing.
    Unasked(u64),
    /// Bytes wait since then for a peer that has stopped reading, and acknowledges nothing new.
    Closed(u64),
}

impl Line {
    fn wire(self, now: u64) -> Wire {
        let resting = Wire {
            unacknowledged: 0,
            retransmits: 0,
            questions: 0,
            window_closed: false,
            timer: Duration::from_millis(TIMER),
            last_sent: at(0),
            heard: at(0),
        };
        let resent = |from: u64| {
            let sends = (1..).take_while(|n| now >= from + TIMER * ((1 << n) - 1));
            let retransmits = sends.last().unwrap_or(0u8);
            Wire {
                unacknowledged: 1,
                retransmits,
                timer: Duration::from_millis(TIMER << retransmits),
                last_sent: at(from + TIMER * ((1 << retransmits) - 1)),
                ..resting
            }
        };
        match self {
            Self::Quiet => Wire {
                heard: at(now),
                ..resting
            },
            Self::Unacknowledged(from) => resent(from),
            Self::Unasked(from) => Wire {
                questions: u8::from(now >= from),
                ..resting
            },
            Self::Closed(from) => Wire {
                window_closed: true,
                ..resent(from)
            },
        }
    }
}

/// An agent with slow probes, its upstreams, and one line per connection.
struct Stage {
    agent: Agent,
    answers: BTreeSet<SocketAddr>,
    /// Answered by somebody else.
    foreign: BTreeSet<SocketAddr>,
    /// Connections that get bytes all the time.
    moving: BTreeSet<ConnectionId>,
    lines: BTreeMap<ConnectionId, Line>,
    cut: BTreeMap<ConnectionId, u64>,
    probes: u32,
    now: u64,
}

impl Stage {
    /// Connections 1, 2, … stand on these upstreams.
    fn new(upstreams: u8, connections: &[u8]) -> Self {
        let all: BTreeSet<_> = (1..=upstreams).map(address).collect();
        let mut given = settings(all.clone(), 1);
        given.probe_interval = Some(Duration::from_secs(5));
        let mut stage = Self {
            agent: Agent::new(given),
            answers: all,
            foreign: BTreeSet::new(),
            moving: BTreeSet::new(),
            lines: BTreeMap::new(),
            cut: BTreeMap::new(),
            probes: 0,
            now: 0,
        };
        for (connection, n) in (1..).zip(connections) {
            let upstream = address(*n);
            stage.lines.insert(connection, Line::Quiet);
            let attached = Input::Attached {
                connection,
                upstream,
            };
            stage.tell(attached);
        }
        stage.run(20_000);
        stage
    }

    fn tell(&mut self, input: Input) {
        self.agent.handle(at(self.now), input);
        self.obey();
    }

    fn run(&mut self, end: u64) {
        while self.now < end {
            self.now += 10;
            self.agent.wake(at(self.now));
            self.obey();
            if self.now.is_multiple_of(LOOK) {
                for (connection, line) in self.lines.clone() {
                    let wire = line.wire(self.now);
                    self.tell(Input::Wire { connection, wire });
                }
            }
        }
    }

    fn obey(&mut self) {
        self.agent.check();
        while let Some(action) = self.agent.poll() {
            match action {
                Action::Probe { upstream, id, .. } if self.foreign.contains(&upstream) => {
                    let why = "unknown issuer".to_owned();
                    let progress = Progress::Foreign { why };
                    let probed = Input::Probed {
                        upstream,
                        id,
                        progress,
                    };
                    self.agent.handle(at(self.now), probed);
                }
                Action::Probe { upstream, id, .. } if self.answers.contains(&upstream) => {
                    self.probes += 1;
                    for progress in [
                        Progress::Connected,
                        Progress::Secured,
                        Progress::Answered { status: 200 },
                    ] {
                        let probed = Input::Probed {
                            upstream,
                            id,
                            progress,
                        };
                        self.agent.handle(at(self.now), probed);
                    }
                }
                Action::Sample { upstream } => {
                    let traffic = self.lines.keys().map(|connection| crate::agent::Traffic {
                        connection: *connection,
                        heard: Some(at(if self.moving.contains(connection) {
                            self.now
                        } else {
                            0
                        })),
                        waiting: false,
                    });
                    let traffic = traffic.collect();
                    let sampled = Input::Sampled { upstream, traffic };
                    self.agent.handle(at(self.now), sampled);
                }
                Action::Cut { connection } => {
                    let twice = self.cut.insert(connection, self.now).is_some();
                    assert!(!twice, "S4: {connection} was cut twice");
                    self.lines.remove(&connection);
                }
                Action::AbortProbe { .. }
                | Action::Close { .. }
                | Action::Forget { .. }
                | Action::LookAtUnit { .. }
                | Action::RestartUnit { .. }
                | Action::Offer(_)
                | Action::Remember { .. }
                | Action::Probe { .. }
                | Action::Report(_)
                | Action::Resolve { .. } => {}
            }
        }
    }

    fn cut_reason(&self, connection: ConnectionId) -> Option<Reason> {
        let status = self.agent.status(at(self.now), &Identity::default());
        let cut = |a: &&crate::status::ActionStatus| {
            a.connection == Some(connection) && a.what == What::ConnectionCut
        };
        status.actions.iter().find(cut).map(|a| a.reason)
    }
}

#[test]
fn slow_probes_are_no_hindrance_when_a_writing_connection_is_not_acknowledged() {
    let mut stage = Stage::new(3, &[1, 1]);
    stage.answers.remove(&address(1));
    stage.lines.insert(1, Line::Unacknowledged(20_000));
    stage.run(25_000);
    let cut = stage.cut.get(&1).unwrap() - 20_000;
    assert!(cut < 2500, "cut after {cut} ms");
    assert_eq!(stage.cut.len(), 2, "the idle one has the same fate");
    assert_eq!(stage.cut_reason(1), Some(Reason::Silent));
}

#[test]
fn case_10_an_idle_connections_open_question_is_enough_with_slow_probes() {
    let mut stage = Stage::new(3, &[1]);
    stage.answers.remove(&address(1));
    stage.lines.insert(1, Line::Unasked(22_000));
    stage.run(25_000);
    let cut = stage.cut.get(&1).unwrap() - 20_000;
    assert!(cut < 4000, "cut after {cut} ms");
}

#[test]
fn a_dead_flow_on_an_address_that_answers_is_cut_alone() {
    let mut stage = Stage::new(1, &[1, 1]);
    stage.lines.insert(1, Line::Unacknowledged(20_000));
    stage.run(60_000);
    assert_eq!(stage.cut.keys().copied().collect::<Vec<_>>(), [1]);
    let cut = stage.cut.get(&1).unwrap() - 20_000;
    // The fourth retransmission, and two timers for its answer.
    assert!((3400..4500).contains(&cut), "cut after {cut} ms");
    assert_eq!(stage.cut_reason(1), Some(Reason::Unacknowledged));
}

#[test]
fn s3_with_everything_silent_no_number_of_retransmissions_cuts() {
    let mut stage = Stage::new(3, &[1, 2]);
    let all = std::mem::take(&mut stage.answers);
    for connection in [1, 2] {
        stage.lines.insert(connection, Line::Unacknowledged(20_000));
    }
    stage.run(31_000);
    assert!(stage.cut.is_empty());
    // The link is back; the next retransmission, at 12.6 s, will be answered.
    stage.answers = all;
    stage.run(32_500);
    assert!(stage.cut.is_empty(), "{:?}", stage.cut);
    for connection in [1, 2] {
        stage.lines.insert(connection, Line::Quiet);
    }
    stage.run(60_000);
    assert!(stage.cut.is_empty());
}

#[test]
fn s2_the_only_upstream_silent_keeps_its_connection() {
    let mut stage = Stage::new(1, &[1]);
    stage.answers.clear();
    stage.lines.insert(1, Line::Unacknowledged(20_000));
    stage.run(60_000);
    assert!(stage.cut.is_empty());
}

#[test]
fn s3_a_peer_that_has_stopped_reading_is_never_cut() {
    let mut stage = Stage::new(3, &[1]);
    stage.lines.insert(1, Line::Closed(20_000));
    stage.run(120_000);
    assert!(stage.cut.is_empty());
}

#[test]
fn one_retransmission_costs_nothing() {
    let mut stage = Stage::new(3, &[1]);
    let before = stage.probes;
    stage.run(40_000);
    let usual = stage.probes - before;
    let before = stage.probes;
    while stage.now < 60_000 {
        // Each packet is lost once, and acknowledged when it is sent again.
        stage.lines.insert(1, Line::Unacknowledged(stage.now));
        stage.run(stage.now + 500);
        stage.lines.insert(1, Line::Quiet);
        stage.run(stage.now + 500);
    }
    assert!(stage.probes - before <= usual + 3);
    assert!(stage.cut.is_empty());
}

#[test]
fn s5_the_limit_holds_a_convicted_connection_back_and_says_so() {
    let mut stage = Stage::new(1, &[1, 1]);
    while stage.agent.cuts.take(at(stage.now)) {}
    stage.lines.insert(1, Line::Unacknowledged(20_000));
    stage.run(26_000);
    assert!(stage.cut.is_empty());
    let status = stage.agent.status(at(stage.now), &Identity::default());
    let withheld = status.actions.iter().filter(|a| a.what == What::Withheld);
    assert_eq!(withheld.count(), 1);
    stage.run(60_000);
    assert_eq!(stage.cut.len(), 1);
}

#[test]
fn s3_a_link_that_comes_back_for_a_moment_convicts_nobody() {
    let mut stage = Stage::new(3, &[1]);
    let all = stage.answers.clone();
    stage.lines.insert(1, Line::Unacknowledged(20_000));
    // Retransmissions go out 0.2, 0.6, 1.4, 3.0 and 6.2 s after the first sending; the link is up
    // between them, and at the last is down again.
    for (until, up) in [
        (21_600, false),
        (22_900, true),
        (23_100, false),
        (25_500, true),
    ] {
        stage.answers = if up { all.clone() } else { BTreeSet::new() };
        stage.run(until);
    }
    assert!(stage.cut.is_empty(), "{:?}", stage.cut);
    stage.lines.insert(1, Line::Quiet);
    stage.run(60_000);
    assert!(stage.cut.is_empty(), "{:?}", stage.cut);
}

#[test]
fn a_strangers_connections_are_looked_at_again_while_one_moves() {
    let mut stage = Stage::new(2, &[1, 1]);
    stage.foreign.insert(address(1));
    stage.moving.insert(1);
    stage.run(60_000);
    assert!(stage.cut.is_empty());
    stage.moving.clear();
    stage.run(80_000);
    assert_eq!(stage.cut.len(), 2);
}

#[test]
fn case_44_silence_on_a_node_with_an_api_server_of_its_own_has_a_name() {
    let mut stage = Stage::new(2, &[1]);
    let (balancer, own) = (address(1), address(2));
    let located = Input::Located {
        upstream: own,
        here: true,
    };
    stage.tell(located);
    let first = |stage: &Stage| stage.agent.offered.as_ref().unwrap().order[0].address;
    assert_eq!(first(&stage), own);
    stage.answers.remove(&balancer);
    stage.run(40_000);
    let status = stage.agent.status(at(stage.now), &Identity::default());
    let seen = status
        .upstreams
        .iter()
        .find(|u| u.address == balancer)
        .unwrap();
    assert_eq!(seen.reason, Reason::Hairpin);
    assert!(status.upstreams.iter().any(|u| u.here && u.address == own));
    let told = |a: &crate::status::ActionStatus| {
        a.what == What::VerdictChanged && a.reason == Reason::Hairpin
    };
    assert!(status.actions.iter().any(told));
    assert_eq!(stage.cut.len(), 1, "what stood on it finds the own server");
}
