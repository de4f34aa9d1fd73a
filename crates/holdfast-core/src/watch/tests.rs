use std::collections::BTreeMap;

use super::*;
use crate::restart::{Cure, Life, Limits};
use crate::sources::Expiry;

mod histories;

const KUBELET: &str = "kubelet.service";
const PROXY: &str = "kube-proxy.service";

fn at(seconds: u64) -> Tick {
    Tick::from_start(Duration::from_secs(seconds))
}

fn ip(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

fn settings(strategy: Strategy, fallback: Option<Cure>) -> Settings {
    Settings {
        units: vec![KUBELET.to_owned(), PROXY.to_owned()],
        strategy,
        fallback,
        expiry: Expiry {
            answers: 3,
            lifetimes: 2,
            shortest: Duration::from_secs(1),
            longest: Duration::from_mins(1),
            most: 64,
        },
        interval: Duration::from_secs(3),
        limits: Limits::default(),
        spread: Duration::ZERO,
        seed: 1,
    }
}

fn addresses(last: &[u8], lifetime: u64) -> Answer {
    Answer::Addresses {
        addresses: last.iter().map(|l| SocketAddr::new(ip(*l), 0)).collect(),
        lifetime: Some(Duration::from_secs(lifetime)),
    }
}

fn failed() -> Answer {
    Answer::Failed {
        why: "SERVFAIL".to_owned(),
        lifetime: None,
    }
}

/// A watcher and the world around it, second by second.
struct World {
    watch: Watch,
    now: u64,
    /// What the name has.
    answer: Box<dyn FnMut(u64) -> Answer>,
    /// Who is connected where.
    connected: BTreeMap<&'static str, BTreeSet<u8>>,
    life: Life,
    shutting_down: Result<bool, String>,
    blind: Option<String>,
    /// What becomes of an attempt to sever.
    sever: Result<(), String>,
    /// Where a unit connects after it was severed or restarted.
    home: u8,
    severed: Vec<(u64, String)>,
    restarted: Vec<(u64, String, Cure)>,
    told: Vec<(What, Reason, String)>,
}

impl World {
    fn new(settings: Settings, answer: impl FnMut(u64) -> Answer + 'static) -> Self {
        Self::recalling(settings, &Memory::default(), answer)
    }

    fn recalling(
        settings: Settings,
        memory: &Memory,
        answer: impl FnMut(u64) -> Answer + 'static,
    ) -> Self {
        let mut world = Self {
            watch: Watch::new(settings, memory),
            now: 0,
            answer: Box::new(answer),
            connected: BTreeMap::new(),
            life: Life::Running,
            shutting_down: Ok(false),
            blind: None,
            sever: Ok(()),
            home: 2,
            severed: Vec::new(),
            restarted: Vec::new(),
            told: Vec::new(),
        };
        world.settle();
        world
    }

    fn with(mut self, unit: &'static str, last: u8) -> Self {
        self.connected.entry(unit).or_default().insert(last);
        self
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += 1;
            self.watch.wake(at(self.now));
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.watch.check();
        for _ in 0..1000 {
            let Some(action) = self.watch.poll() else {
                return;
            };
            let fact = self.obey(action);
            if let Some(fact) = fact {
                self.watch.handle(at(self.now), fact);
                self.watch.check();
            }
        }
        panic!("it gives orders without end");
    }

    fn obey(&mut self, action: Action) -> Option<Input> {
        match action {
            Action::Look { addresses } => Some(Input::Looked {
                look: self.look(&addresses),
            }),
            Action::Remember => None,
            Action::Report(action) => {
                self.told
                    .push((action.what, action.reason, action.evidence));
                None
            }
            Action::Resolve { source } => {
                let answer = if source == Source::DnsA {
                    (self.answer)(self.now)
                } else {
                    Answer::NoRecords { lifetime: None }
                };
                Some(Input::Resolved { source, answer })
            }
            Action::Restart { unit, cure, .. } => {
                self.restarted.push((self.now, unit.clone(), cure));
                self.move_home(&unit);
                Some(Input::Restarted {
                    unit,
                    result: Ok(()),
                })
            }
            Action::Sever { unit, addresses } => {
                let result = self.sever.clone().map(|()| {
                    self.severed.push((self.now, unit.clone()));
                    self.move_home(&unit);
                    u32::try_from(addresses.len()).unwrap()
                });
                Some(Input::Severed { unit, result })
            }
        }
    }

    fn move_home(&mut self, unit: &str) {
        let home = self.home;
        if let Some(connected) = self.connected.get_mut(unit) {
            *connected = BTreeSet::from([home]);
        }
    }

    fn look(&self, addresses: &BTreeSet<IpAddr>) -> Result<Look, String> {
        if let Some(why) = &self.blind {
            return Err(why.clone());
        }
        let units = self.connected.iter().map(|(unit, connected)| {
            let connections = connected.iter().map(|last| (ip(*last), 1));
            let seen = Seen {
                life: self.life,
                state: "active (running)".to_owned(),
                main_pid: Some(7),
                connections: connections
                    .filter(|(ip, _)| addresses.contains(ip))
                    .collect(),
            };
            ((*unit).to_owned(), seen)
        });
        Ok(Look {
            shutting_down: self.shutting_down.clone(),
            units: units.collect(),
        })
    }

    fn did_nothing(&self) {
        assert_eq!(
            (&self.severed, &self.restarted),
            (&vec![], &vec![]),
            "{:?}",
            self.told
        );
    }

    fn told(&self, what: What, reason: Reason) -> usize {
        let told = self.told.iter();
        told.filter(|(w, r, _)| (*w, *r) == (what, reason)).count()
    }
}

const SEVER: Strategy = Strategy::Sever;
const RESTART: Strategy = Strategy::Restart(Cure::Systemctl);

/// The name moves from 10.0.0.1 to 10.0.0.2 after 30 s.
fn moves(now: u64) -> Answer {
    addresses(if now < 30 { &[1] } else { &[2] }, 5)
}

#[test]
fn a_unit_on_an_address_that_left_is_severed_and_never_restarted() {
    let mut world = World::new(settings(SEVER, Some(Cure::Systemctl)), moves)
        .with(KUBELET, 1)
        .with(PROXY, 1);
    world.run(300);
    let units: Vec<_> = world
        .severed
        .iter()
        .map(|(_, unit)| unit.as_str())
        .collect();
    assert_eq!(units, [PROXY, KUBELET]);
    assert_eq!(world.restarted, []);
    assert_eq!(
        world.told(What::ConnectionsSevered, Reason::AddressRemoved),
        2
    );
}

#[test]
fn a_unit_that_is_not_connected_there_is_left_alone() {
    let mut world = World::new(settings(SEVER, Some(Cure::Systemctl)), moves).with(KUBELET, 2);
    world.run(300);
    world.did_nothing();
    assert_eq!(world.told(What::UpstreamRemoved, Reason::AddressRemoved), 1);
}

#[test]
fn s4_one_cause_restarts_a_unit_once_even_when_it_dials_the_old_address_again() {
    let mut world = World::new(settings(RESTART, None), moves).with(KUBELET, 1);
    world.home = 1;
    world.run(4000);
    assert_eq!(world.restarted.len(), 1, "{:?}", world.restarted);
    assert_eq!(world.told(What::Withheld, Reason::HoldDown), 1);
}

#[test]
fn another_order_of_the_same_answer_is_no_change() {
    let answer = |now: u64| {
        addresses(
            if now.is_multiple_of(2) {
                &[1, 2, 3]
            } else {
                &[3, 1, 2]
            },
            1,
        )
    };
    let mut world = World::new(settings(RESTART, None), answer).with(KUBELET, 1);
    world.run(600);
    world.did_nothing();
    assert_eq!(world.told(What::UpstreamRemoved, Reason::AddressRemoved), 0);
}

#[test]
fn a_rotating_subset_is_no_change() {
    // Eight of nine, another one left out each time.
    let answer = |now: u64| {
        let out = u8::try_from(now % 9).unwrap();
        let shown: Vec<u8> = (0..9).filter(|last| *last != out).collect();
        addresses(&shown, 1)
    };
    let mut world = World::new(settings(RESTART, None), answer).with(KUBELET, 4);
    world.run(600);
    world.did_nothing();
}

#[test]
fn s1_failed_and_empty_lookups_are_no_change_and_an_outage_restarts_nothing() {
    let answer = |now: u64| match now {
        60..120 => failed(),
        180..240 => Answer::NoRecords { lifetime: None },
        300..360 => addresses(&[], 5),
        _ => addresses(&[1], 5),
    };
    let mut world = World::new(settings(RESTART, None), answer).with(KUBELET, 1);
    world.run(600);
    world.did_nothing();
    assert_eq!(world.told(What::UpstreamRemoved, Reason::AddressRemoved), 0);
    assert!(world.told(What::SourceChanged, Reason::SourceFailed) >= 1);
}

#[test]
fn an_outage_in_the_middle_of_a_change_ends_in_one_restart() {
    let answer = |now: u64| match now {
        0..30 => addresses(&[1], 5),
        35..300 => failed(),
        _ => addresses(&[2], 5),
    };
    let mut world = World::new(settings(RESTART, None), answer).with(KUBELET, 1);
    world.run(290);
    world.did_nothing();
    world.run(300);
    assert_eq!(world.restarted.len(), 1);
}

#[test]
fn s8_nothing_is_restarted_while_the_machine_shuts_down_or_when_that_cannot_be_told() {
    for (state, reason) in [
        (Ok(true), Reason::ShuttingDown),
        (Err("no answer".to_owned()), Reason::Blind),
    ] {
        for strategy in [SEVER, RESTART] {
            let mut world = World::new(settings(strategy, None), moves).with(KUBELET, 1);
            world.shutting_down = state.clone();
            world.run(300);
            world.did_nothing();
            assert_eq!(world.told(What::Withheld, reason), 1, "{:?}", world.told);
        }
    }
}

#[test]
fn s8_a_unit_that_does_not_run_is_not_restarted_and_that_is_said_once() {
    for (life, reason) in [
        (Life::Stopped, Reason::UnitStopped),
        (Life::Starting, Reason::UnitStarting),
        (Life::StartLimitHit, Reason::UnitFailed),
        (Life::Absent, Reason::UnitAbsent),
    ] {
        let mut world = World::new(settings(RESTART, None), moves).with(KUBELET, 1);
        world.life = life;
        world.run(600);
        world.did_nothing();
        assert_eq!(
            world.told(What::Withheld, reason),
            1,
            "{life:?}: {:?}",
            world.told
        );
    }
}

#[test]
fn where_severing_is_not_possible_the_fallback_restarts_and_without_one_nothing_is_done() {
    let refused = Err("Operation not permitted".to_owned());
    for (fallback, restarts) in [(Some(Cure::Watchdog), 1), (None, 0)] {
        let mut world = World::new(settings(SEVER, fallback), moves).with(KUBELET, 1);
        world.sever = refused.clone();
        world.run(600);
        assert_eq!(world.severed, []);
        assert_eq!(world.restarted.len(), restarts, "{:?}", world.told);
        assert!(world.told(What::Withheld, Reason::NotPermitted) >= 1);
    }
}

#[test]
fn a_unit_that_dials_an_address_that_left_again_and_again_is_not_severed_without_end() {
    let mut world = World::new(settings(SEVER, None), moves).with(KUBELET, 1);
    world.home = 1;
    world.run(30 + 3600);
    assert!(world.severed.len() >= 3, "{:?}", world.severed);
    assert!(world.severed.len() <= 3 + 3600 / 300, "{:?}", world.severed);
}

#[test]
fn what_cannot_be_seen_is_not_acted_on() {
    let mut world = World::new(settings(RESTART, None), moves).with(KUBELET, 1);
    world.blind = Some("list TCP sockets: Permission denied".to_owned());
    world.run(300);
    world.did_nothing();
    assert_eq!(world.told(What::Withheld, Reason::Blind), 1);
    world.blind = None;
    world.run(10);
    assert_eq!(world.restarted.len(), 1);
}

#[test]
fn an_address_that_comes_back_before_this_nodes_turn_is_no_cause() {
    let answer = |now: u64| {
        addresses(
            if (30..70).contains(&now) {
                &[2]
            } else {
                &[1, 2]
            },
            5,
        )
    };
    let mut late = settings(RESTART, None);
    late.spread = Duration::from_hours(10);
    let mut world = World::new(late, answer).with(KUBELET, 1);
    world.run(40_000);
    world.did_nothing();
    assert_eq!(world.told(What::UpstreamRemoved, Reason::AddressRemoved), 1);
}

#[test]
fn a_fleet_spreads_over_the_time_it_is_given() {
    let mut moments = Vec::new();
    for seed in 0..50 {
        let mut own = settings(SEVER, None);
        own.spread = Duration::from_secs(20);
        own.seed = seed;
        let mut world = World::new(own, moves).with(KUBELET, 1);
        world.run(120);
        moments.push(world.severed[0].0);
    }
    moments.sort_unstable();
    let span = moments[49] - moments[0];
    assert!((14..=24).contains(&span), "{moments:?}");
    let most = moments.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
    assert!(most <= Some(10), "{moments:?}");
}

#[test]
fn a_change_while_no_watcher_ran_is_noticed_from_what_the_last_one_wrote() {
    let memory = Memory {
        addresses: vec![Known {
            address: ip(1),
            age: Duration::from_secs(30),
        }],
        ..Memory::default()
    };
    let answer = |_| addresses(&[2], 5);
    let mut world = World::recalling(settings(SEVER, None), &memory, answer).with(KUBELET, 1);
    world.run(300);
    assert_eq!(world.severed.len(), 1);
}

#[test]
fn an_address_that_had_left_is_looked_for_by_the_next_watcher() {
    let memory = Memory {
        left: BTreeMap::from([(ip(1), Duration::from_secs(3))]),
        restarts: BTreeMap::from([(KUBELET.to_owned(), Duration::from_secs(5))]),
        ..Memory::default()
    };
    let answer = |_| addresses(&[2], 5);
    let mut world = World::recalling(settings(RESTART, None), &memory, answer).with(KUBELET, 1);
    world.run(500);
    // The hold-down that the last watcher began holds.
    world.did_nothing();
    world.run(200);
    assert_eq!(world.restarted.len(), 1);
}

#[test]
fn a_scripts_hash_is_no_cause() {
    let memory = Memory {
        opaque: true,
        ..Memory::default()
    };
    let answer = |_| addresses(&[2], 5);
    let mut world = World::recalling(settings(RESTART, None), &memory, answer).with(KUBELET, 1);
    world.run(600);
    world.did_nothing();
    assert_eq!(world.told(What::SourceChanged, Reason::StateUnknown), 1);
}
