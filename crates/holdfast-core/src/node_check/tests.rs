use proptest::prelude::*;

use super::*;
use crate::restart::{Life, Limits};

mod histories;

const KUBELET: &str = "kubelet.service";
const PROXY: &str = "kube-proxy.service";

fn at(seconds: u64) -> Tick {
    Tick::from_start(Duration::from_secs(seconds))
}

fn settings() -> Settings {
    Settings {
        node: "node1".to_owned(),
        units: vec![KUBELET.to_owned(), PROXY.to_owned()],
        interval: Duration::from_secs(20),
        failures: 3,
        sever: true,
        restart: true,
        settle: Duration::from_secs(30),
        limits: Limits::default(),
        spread: Duration::from_secs(20),
        clock_tolerance: Duration::from_secs(30),
        seed: 1,
    }
}

fn node(ready: Ready) -> Reply {
    Reply::Node {
        ready,
        why: "NodeStatusUnknown".to_owned(),
        clock: Some(0),
    }
}

/// A check and the world around it, second by second.
struct World {
    check: NodeCheck,
    now: u64,
    reply: Reply,
    life: Life,
    shutting_down: bool,
    blind: Option<String>,
    /// Connections that there are to sever; an error where that is not possible.
    sever: Result<u32, String>,
    /// The node is ready after it was severed, or after the kubelet was restarted.
    cured_by: Option<&'static str>,
    place: Result<u32, (Reason, String)>,
    places: i32,
    claims: usize,
    severed: Vec<(u64, String)>,
    restarted: Vec<(u64, String)>,
    told: Vec<(What, Reason, String)>,
}

impl World {
    fn new(settings: Settings) -> Self {
        Self {
            check: NodeCheck::new(settings, &BTreeMap::new()),
            now: 0,
            reply: node(Ready::Unknown),
            life: Life::Running,
            shutting_down: false,
            blind: None,
            sever: Ok(2),
            cured_by: None,
            place: Ok(0),
            places: 0,
            claims: 0,
            severed: Vec::new(),
            restarted: Vec::new(),
            told: Vec::new(),
        }
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += 1;
            self.check.wake(at(self.now));
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.check.check();
        for _ in 0..1000 {
            let Some(action) = self.check.poll() else {
                return;
            };
            if let Some(fact) = self.obey(action) {
                self.check.handle(at(self.now), fact);
                self.check.check();
            }
        }
        panic!("it gives orders without end");
    }

    fn obey(&mut self, action: Action) -> Option<Input> {
        match action {
            Action::Ask => Some(Input::Asked {
                reply: self.reply.clone(),
            }),
            Action::Claim => {
                self.claims += 1;
                if self.place.is_ok() {
                    self.places = 1;
                }
                Some(Input::Claimed {
                    claim: self.place.clone(),
                })
            }
            Action::Look { .. } => Some(Input::Looked { look: self.look() }),
            Action::Release => {
                self.places = 0;
                None
            }
            Action::Remember => None,
            Action::Report(action) => {
                self.told
                    .push((action.what, action.reason, action.evidence));
                None
            }
            Action::Restart { unit, .. } => {
                self.restarted.push((self.now, unit.clone()));
                if self.cured_by == Some("restart") {
                    self.reply = node(Ready::True);
                }
                Some(Input::Restarted {
                    unit,
                    result: Ok(()),
                })
            }
            Action::Sever { unit } => {
                if self.sever.is_ok() {
                    self.severed.push((self.now, unit.clone()));
                }
                if self.cured_by == Some("sever") {
                    self.reply = node(Ready::True);
                }
                Some(Input::Severed {
                    unit,
                    result: self.sever.clone(),
                })
            }
        }
    }

    fn look(&self) -> Result<Look, String> {
        if let Some(why) = &self.blind {
            return Err(why.clone());
        }
        let place = Place {
            life: self.life,
            state: "active (running)".to_owned(),
        };
        let units = [KUBELET, PROXY];
        Ok(Look {
            shutting_down: self.shutting_down,
            units: units.map(|unit| (unit.to_owned(), place.clone())).into(),
        })
    }

    fn told(&self, what: What, reason: Reason) -> usize {
        let told = self.told.iter();
        told.filter(|(w, r, _)| (*w, *r) == (what, reason)).count()
    }

    fn units(&self) -> Vec<&str> {
        self.restarted
            .iter()
            .map(|(_, unit)| unit.as_str())
            .collect()
    }

    fn did_nothing(&self) {
        assert_eq!(
            (&self.severed, &self.restarted),
            (&vec![], &vec![]),
            "{:?}",
            self.told
        );
        assert_eq!(self.places, 0);
    }
}

#[test]
fn a_ready_node_is_left_alone() {
    let mut world = World::new(settings());
    world.reply = node(Ready::True);
    world.run(3600);
    world.did_nothing();
    assert_eq!(world.told, []);
    assert_eq!(world.check.status(at(3600)).state, State::Ready);
}

#[test]
fn severing_comes_first_and_when_it_helps_nothing_is_restarted() {
    let mut world = World::new(settings());
    world.cured_by = Some("sever");
    world.run(3600);
    assert_eq!(world.severed.len(), 2);
    assert_eq!(world.restarted, []);
    assert_eq!(world.claims, 0);
    assert_eq!(
        world.told(What::ConnectionsSevered, Reason::NodeNotReady),
        1
    );
    assert_eq!(world.told(What::NodeChanged, Reason::NodeReady), 1);
}

#[test]
fn fewer_failures_than_set_are_no_cause() {
    let mut world = World::new(settings());
    for _ in 0..20 {
        world.reply = node(Ready::Unknown);
        world.run(40);
        world.reply = node(Ready::True);
        world.run(25);
    }
    world.did_nothing();
}

#[test]
fn when_severing_does_not_help_kubelet_and_then_proxy_are_restarted_once() {
    let mut world = World::new(settings());
    world.cured_by = Some("restart");
    world.run(3600);
    assert_eq!(world.units(), [KUBELET, PROXY]);
    assert!(world.severed[0].0 + 30 <= world.restarted[0].0);
    assert_eq!((world.claims, world.places), (1, 0));
    assert_eq!(world.told(What::UnitRestarted, Reason::NodeNotReady), 2);
}

#[test]
fn s4_s5_a_restart_that_does_not_help_is_not_repeated_before_its_hold_down_nor_beyond_its_limit() {
    let mut world = World::new(settings());
    world.run(3 * 3600);
    let times: Vec<u64> = world
        .restarted
        .iter()
        .filter(|(_, unit)| unit == KUBELET)
        .map(|(now, _)| *now)
        .collect();
    assert!((3..=9).contains(&times.len()), "{times:?}");
    assert!(
        times.windows(2).all(|pair| pair[1] - pair[0] >= 600),
        "{times:?}"
    );
    assert!(
        times.windows(4).all(|window| window[3] - window[0] >= 3600),
        "{times:?}"
    );
    assert!(world.told(What::Withheld, Reason::HoldDown) >= 1);
    // Severed before each restart, and not more often.
    assert!(world.severed.len() <= 2 * (times.len() + 1));
}

#[test]
fn what_is_not_known_for_sure_restarts_nothing_and_each_is_said_once() {
    let why = || "connection refused".to_owned();
    let late = Reply::Node {
        ready: Ready::Unknown,
        why: "NodeStatusUnknown".to_owned(),
        clock: Some(-3600),
    };
    for (reply, reason) in [
        (Reply::Missing, Reason::NodeMissing),
        (Reply::Unauthorized, Reason::CredentialRefused),
        (Reply::Forbidden, Reason::ApiForbids),
        (Reply::Unreachable { why: why() }, Reason::ApiUnreachable),
        (Reply::Unusable { why: why() }, Reason::ApiUnusable),
        (late, Reason::ClockWrong),
    ] {
        let mut world = World::new(settings());
        world.reply = reply;
        world.run(3600);
        world.did_nothing();
        assert_eq!(world.told(What::Withheld, reason), 1, "{:?}", world.told);
        assert_eq!(world.told.len(), 1, "{:?}", world.told);
    }
}

#[test]
fn an_outage_of_the_api_stops_what_was_planned_and_counts_for_nothing() {
    let mut world = World::new(settings());
    world.run(65);
    assert_eq!(world.severed.len(), 2, "{:?}", world.told);
    world.reply = Reply::Unreachable {
        why: "timed out".to_owned(),
    };
    world.run(1000);
    world.reply = node(Ready::Unknown);
    world.run(41);
    assert_eq!(world.restarted, []);
}

#[test]
fn s8_no_restart_while_the_machine_shuts_down_or_when_the_kubelet_does_not_run() {
    type Spoil = fn(&mut World);
    let cases: [(Spoil, Reason); 5] = [
        (|world| world.shutting_down = true, Reason::ShuttingDown),
        (|world| world.life = Life::Stopped, Reason::UnitStopped),
        (|world| world.life = Life::StartLimitHit, Reason::UnitFailed),
        (|world| world.life = Life::Absent, Reason::UnitAbsent),
        (
            |world| world.blind = Some("no bus".to_owned()),
            Reason::Blind,
        ),
    ];
    for (spoil, reason) in cases {
        let mut world = World::new(settings());
        spoil(&mut world);
        world.run(3600);
        world.did_nothing();
        assert_eq!(world.told(What::Withheld, reason), 1, "{:?}", world.told);
        // The same between severing and restarting, after the place was claimed.
        let mut world = World::new(settings());
        world.run(75);
        spoil(&mut world);
        world.run(3600);
        assert_eq!(
            (world.units(), world.places),
            (vec![], 0),
            "{:?}",
            world.told
        );
    }
}

#[test]
fn s9_without_a_place_in_the_budget_nothing_is_restarted() {
    for reason in [Reason::FleetBudget, Reason::FleetUnknown] {
        let mut world = World::new(settings());
        world.place = Err((reason, "2 of 2 places are held".to_owned()));
        world.run(3600);
        assert_eq!(world.restarted, []);
        assert_eq!(world.told(What::Withheld, reason), 1, "{:?}", world.told);
        assert!(world.claims > 10);
        world.place = Ok(1);
        world.run(30);
        assert_eq!(world.units(), [KUBELET, PROXY]);
    }
}

#[test]
fn where_nothing_can_be_severed_the_restart_follows_at_once() {
    for sever in [Ok(0), Err("Operation not permitted".to_owned())] {
        let mut world = World::new(settings());
        world.sever = sever;
        world.run(130);
        assert_eq!(world.units(), [KUBELET, PROXY], "{:?}", world.told);
    }
}

#[test]
fn restarts_can_be_switched_off() {
    let mut world = World::new(Settings {
        restart: false,
        ..settings()
    });
    world.run(3600);
    assert_eq!(world.restarted, []);
    assert_eq!(world.severed.len(), 2);
    assert_eq!(world.told(What::Withheld, Reason::RestartOff), 1);
}

#[test]
fn a_hold_down_of_an_earlier_process_holds() {
    let past = BTreeMap::from([(KUBELET.to_owned(), Duration::from_mins(1))]);
    let mut world = World::new(settings());
    world.check = NodeCheck::new(settings(), &past);
    world.run(530);
    assert_eq!(world.restarted, []);
    world.run(120);
    assert_eq!(world.units(), [KUBELET, PROXY]);
}
