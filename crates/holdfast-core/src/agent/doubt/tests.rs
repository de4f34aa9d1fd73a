use std::collections::BTreeSet;

use super::*;
use crate::agent::Input;
use crate::machine::Machine;
use crate::probing::Progress;
use crate::sim::settings;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

/// An agent with one balancer as its only upstream and one connection on it, and the balancer's
/// targets: each handshake meets the next of them.
struct Stage {
    agent: Agent,
    balancer: SocketAddr,
    targets_hang: Vec<bool>,
    next_target: usize,
    heard: Option<Tick>,
    cut: BTreeSet<ConnectionId>,
    tries_again_after: u64,
    now: u64,
}

impl Stage {
    fn new(targets_hang: &[bool]) -> Self {
        let balancer: SocketAddr = "10.0.0.1:6443".parse().unwrap();
        let mut agent = Agent::new(settings([balancer], 1));
        let connection = 1;
        let upstream = balancer;
        agent.handle(
            at(0),
            Input::Attached {
                connection,
                upstream,
            },
        );
        Self {
            agent,
            balancer,
            targets_hang: targets_hang.to_vec(),
            next_target: 0,
            heard: Some(at(0)),
            cut: BTreeSet::new(),
            tries_again_after: 10_000,
            now: 0,
        }
    }

    /// Runs until `end`; from `silent_from` on the connection is told to be unanswered each second.
    fn run(&mut self, end: u64, silent_from: u64) {
        while self.now < end {
            let now = at(self.now);
            self.agent.wake(now);
            if self.now >= silent_from + 6000 && self.now.is_multiple_of(1000) {
                let input = Input::Unanswered {
                    connection: 1,
                    since: at(silent_from),
                    repeated: self.now >= silent_from + self.tries_again_after,
                };
                self.agent.handle(now, input);
            }
            self.obey();
            self.now += 10;
        }
    }

    fn obey(&mut self) {
        let now = at(self.now);
        while let Some(action) = self.agent.poll() {
            match action {
                Action::Probe { id, reuse, .. } => self.answer_probe(id, reuse),
                Action::Sample { upstream } => {
                    let traffic = vec![Traffic {
                        connection: 1,
                        heard: self.heard,
                        waiting: false,
                    }];
                    self.agent.handle(now, Input::Sampled { upstream, traffic });
                }
                Action::Cut { connection } => {
                    assert!(self.cut.insert(connection), "S4: cut twice");
                }
                Action::AbortProbe { .. }
                | Action::Close { .. }
                | Action::Forget { .. }
                | Action::LookAtUnit { .. }
                | Action::RestartUnit { .. }
                | Action::Offer(_)
                | Action::Remember { .. }
                | Action::Report(_)
                | Action::Resolve { .. } => {}
            }
        }
        self.agent.check();
    }

    fn answer_probe(&mut self, id: u64, reuse: bool) {
        let hangs = self.targets_hang[self.next_target % self.targets_hang.len()];
        let steps = if reuse {
            vec![Progress::Answered { status: 200 }]
        } else {
            self.next_target += 1;
            let mut steps = vec![Progress::Connected];
            if !hangs {
                steps.push(Progress::Secured);
                steps.push(Progress::Answered { status: 200 });
            }
            steps
        };
        for progress in steps {
            let upstream = self.balancer;
            let input = Input::Probed {
                upstream,
                id,
                progress,
            };
            self.agent.handle(at(self.now), input);
        }
    }
}

#[test]
fn case_42_a_hung_target_behind_a_balancer_costs_its_connections_alone() {
    let mut stage = Stage::new(&[false, false, true]);
    stage.run(20_000, 3000);
    assert_eq!(stage.cut, BTreeSet::from([1]));
    let told = stage
        .agent
        .status(at(20_000), &crate::agent::Identity::default());
    let cut = told
        .actions
        .iter()
        .find(|a| a.connection == Some(1))
        .unwrap();
    assert_eq!(cut.reason, Reason::Hung);
    assert!(
        cut.evidence.contains("fresh handshakes there hang"),
        "{}",
        cut.evidence
    );
    // The sample was taken while the client waited: its second try is enough.
    assert!(cut.at_s >= 13.0 && cut.at_s < 14.5, "cut at {}", cut.at_s);
}

#[test]
fn s3_one_request_that_takes_long_is_no_silence() {
    let mut stage = Stage::new(&[false, false, true]);
    stage.tries_again_after = u64::MAX / 2;
    stage.run(120_000, 3000);
    assert!(stage.cut.is_empty());
    assert!(
        stage.next_target < 20,
        "one sample is enough for one request"
    );
}

#[test]
fn s3_a_slow_connection_whose_address_answers_every_handshake_stays() {
    let mut stage = Stage::new(&[false, false, false]);
    stage.run(120_000, 3000);
    assert!(stage.cut.is_empty());
}

#[test]
fn s2_with_every_target_hung_nothing_is_won_by_cutting() {
    let mut stage = Stage::new(&[true]);
    stage.run(60_000, 3000);
    assert!(stage.cut.is_empty());
}

#[test]
fn a_connection_that_got_a_byte_meanwhile_stays() {
    let mut stage = Stage::new(&[false, false, true]);
    stage.heard = Some(at(60_000));
    stage.run(30_000, 3000);
    assert!(stage.cut.is_empty());
}
