use std::net::SocketAddr;
use std::time::Duration;

use super::*;
use crate::agent::{Action, Identity, Input};
use crate::balance::Candidates;
use crate::machine::Machine;
use crate::probing::Progress;
use crate::sim::settings;
use crate::status::Status;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

/// An agent whose servers answer, but for those from 10.0.0.100 on, which never do.
struct Stage {
    agent: Agent,
    now: u64,
    offer: Candidates,
    ended: usize,
}

impl Stage {
    fn new(seeds: impl IntoIterator<Item = u8>) -> Self {
        let agent = Agent::new(settings(seeds.into_iter().map(address), 1));
        Self {
            agent,
            now: 0,
            offer: Candidates::default(),
            ended: 0,
        }
    }

    fn run(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end {
            self.now += 10;
            self.agent.wake(at(self.now));
            self.obey();
        }
    }

    fn tell(&mut self, input: Input) {
        self.agent.handle(at(self.now), input);
        self.obey();
    }

    fn obey(&mut self) {
        while let Some(action) = self.agent.poll() {
            match action {
                Action::Probe { upstream, id, .. } if upstream < address(100) => {
                    let steps = [
                        Progress::Connected,
                        Progress::Secured,
                        Progress::Answered { status: 200 },
                    ];
                    for progress in steps {
                        self.agent.handle(
                            at(self.now),
                            Input::Probed {
                                upstream,
                                id,
                                progress,
                            },
                        );
                    }
                }
                Action::Offer(offer) => self.offer = offer,
                Action::Close { .. } | Action::Cut { .. } => self.ended += 1,
                Action::AbortProbe { .. }
                | Action::Forget { .. }
                | Action::LookAtUnit { .. }
                | Action::RestartUnit { .. }
                | Action::Probe { .. }
                | Action::Remember { .. }
                | Action::Report(_)
                | Action::Resolve { .. }
                | Action::Sample { .. } => {}
            }
        }
        self.agent.check();
    }

    fn reload(&mut self, seeds: impl IntoIterator<Item = u8>) {
        let settings = Box::new(settings(seeds.into_iter().map(address), 1));
        let changed = "seeds".to_owned();
        self.tell(Input::Reconfigured { settings, changed });
    }

    fn status(&self) -> Status {
        self.agent.status(at(self.now), &Identity::default())
    }

    fn first(&self) -> SocketAddr {
        self.offer.order[0].address
    }
}

#[test]
fn s2_the_only_server_that_works_stays_in_use_until_a_new_one_proves_itself() {
    let mut stage = Stage::new([1]);
    stage.run(3000);
    assert!(stage.offer.usable);
    // The new seed is a mistake: nobody answers there.
    stage.reload([100]);
    stage.run(1_000_000);
    assert_eq!(stage.first(), address(1));
    assert!(stage.status().ready);
    // Then a good one.
    stage.reload([2]);
    stage.run(3000);
    let known: Vec<_> = stage.status().upstreams.iter().map(|u| u.address).collect();
    assert_eq!(known, [address(2)]);
}

#[test]
fn connections_on_a_seed_that_is_gone_have_their_drain_time() {
    let mut stage = Stage::new([1]);
    stage.run(3000);
    let (connection, upstream) = (1, address(1));
    stage.tell(Input::Attached {
        connection,
        upstream,
    });
    stage.reload([2]);
    stage.run(50_000);
    assert_eq!(stage.first(), address(2));
    assert_eq!(stage.ended, 0);
    stage.run(20_000);
    assert_eq!(stage.ended, 1, "closed in order after a minute");
}

#[test]
fn what_proved_itself_needs_no_new_proof() {
    let mut stage = Stage::new([1, 2, 3]);
    stage.run(3000);
    stage.reload([1, 2, 3, 4]);
    assert!(stage.offer.usable);
    let status = stage.status();
    let since = |n| {
        let mut all = status.upstreams.iter();
        all.find(|u| u.address == address(n)).unwrap().since_s
    };
    assert!(since(1) > 2.0 && since(4) < 0.1);
}

#[test]
fn a_refused_configuration_is_told_with_the_time_since_the_first_refusal() {
    let mut stage = Stage::new([1]);
    stage.run(3000);
    for why in [
        "agent.yaml: seeds: found \"x\"",
        "agent.yaml: ca: found nothing",
    ] {
        let why = why.to_owned();
        stage.tell(Input::ReloadRefused { why });
        stage.run(1000);
    }
    let config = stage.status().config;
    assert_eq!(
        config.failure.as_deref(),
        Some("agent.yaml: ca: found nothing")
    );
    assert_eq!(config.failing_s, Some(2.0));
    assert!((4.9..5.1).contains(&config.age_s));
    let refusals = |stage: &Stage| {
        let actions = stage.status().actions;
        let refused = actions.iter().filter(|a| a.what == What::ReloadRefused);
        refused.map(|a| a.reason).collect::<Vec<_>>()
    };
    assert_eq!(refusals(&stage), [Reason::ConfigInvalid; 2]);
    assert!(stage.status().ready, "the old one holds");
    stage.reload([1]);
    let config = stage.status().config;
    assert_eq!((config.failure, config.failing_s), (None, None));
    assert!(config.age_s < 0.1);
}
