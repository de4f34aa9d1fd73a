//! Units in the place of sockets: what happens where nothing can be aborted.

use super::*;

const KUBELET: &str = "kubelet.service";

fn unit_with(spread: Duration, past: &[(&str, u64)]) -> World {
    let mut world = World::new(2, &[1, 2], &[], Power::Restart(KUBELET.to_owned()));
    let ago = |(unit, seconds): &(&str, u64)| ((*unit).to_owned(), Duration::from_secs(*seconds));
    world.agent = Agent::new(Settings {
        fallback: Some(Fallback {
            cure: Cure::Systemctl,
            limits: Limits::default(),
            spread,
            past: past.iter().map(ago).collect(),
        }),
        ..world.agent.settings.clone()
    });
    world
}

/// A kubelet with a connection to a server that has just gone silent.
fn hung(mut world: World) -> World {
    world.dial(1);
    world.run(5000);
    world.turn(1, false);
    world.name = BTreeSet::from([address(2)]);
    world
}

#[test]
fn a_unit_whose_dead_connection_cannot_be_aborted_is_restarted_once() {
    let mut world = hung(unit_with(Duration::ZERO, &[]));
    world.run(60_000);
    assert!(world.aborted.is_empty());
    assert_eq!(world.restarted.len(), 1);
    assert!(world.restarted[0] < 10_000, "{:?}", world.restarted);
    let restarted = world.told(What::UnitRestarted);
    assert_eq!(restarted.len(), 1);
    assert_eq!(restarted[0].reason, Reason::Silent);
    assert!(restarted[0].evidence.starts_with(KUBELET));
    let would = world.told(What::WouldCut);
    assert!(
        would[0]
            .next
            .contains("kubelet.service is restarted in 0.0 s"),
        "{would:?}"
    );
}

#[test]
fn without_a_fallback_nothing_but_a_report_comes_of_it() {
    let mut world = hung(World::new(
        2,
        &[1, 2],
        &[],
        Power::Restart(KUBELET.to_owned()),
    ));
    world.run(60_000);
    assert_eq!((world.looked.len(), world.restarted.len()), (0, 0));
    assert_eq!(world.told(What::WouldCut).len(), 1);
}

#[test]
fn nodes_of_a_fleet_do_not_restart_as_one_and_one_that_lives_again_is_left_alone() {
    let mut times = BTreeSet::new();
    for seed in 0..20 {
        let mut world = unit_with(Duration::from_secs(19), &[]);
        let settings = Settings {
            seed,
            ..world.agent.settings.clone()
        };
        world.agent = Agent::new(settings);
        let mut world = hung(world);
        world.run(30_000);
        times.extend(world.restarted);
    }
    assert!(times.len() > 15, "{times:?}");
    assert!(
        times.last().unwrap() - times.first().unwrap() > 8000,
        "{times:?}"
    );

    let mut world = hung(unit_with(Duration::from_mins(1), &[]));
    world.run(4000);
    assert_eq!(world.told(What::WouldCut).len(), 1);
    world.turn(1, true);
    world.run(120_000);
    assert_eq!((world.looked.len(), world.restarted.len()), (0, 0));
}

#[test]
fn s8_a_unit_that_is_not_running_or_a_machine_that_shuts_down_is_left_alone_and_that_is_said_once()
{
    let seen = |life, shutting_down| {
        Ok(UnitSeen {
            life,
            shutting_down,
        })
    };
    for (unit, reason) in [
        (seen(Life::Stopped, false), Reason::UnitStopped),
        (seen(Life::StartLimitHit, false), Reason::UnitFailed),
        (seen(Life::Absent, false), Reason::UnitAbsent),
        (seen(Life::Running, true), Reason::ShuttingDown),
        (Err("no bus".to_owned()), Reason::Blind),
    ] {
        let mut world = hung(unit_with(Duration::ZERO, &[]));
        world.unit = unit;
        world.run(40_000);
        assert!(world.restarted.is_empty());
        assert!((2..=5).contains(&world.looked.len()), "{:?}", world.looked);
        let withheld = world.told(What::Withheld);
        let reasons: Vec<_> = withheld.iter().map(|a| a.reason).collect();
        assert_eq!(reasons, [reason]);
    }
}

#[test]
fn s4_a_hold_down_holds_over_the_life_of_an_agent() {
    let mut world = hung(unit_with(Duration::ZERO, &[(KUBELET, 60)]));
    world.run(40_000);
    assert!(world.restarted.is_empty());
    assert_eq!(world.told(What::Withheld)[0].reason, Reason::HoldDown);
}

#[test]
fn a_dial_that_waits_and_a_connection_that_drains_restart_nothing() {
    let mut world = unit_with(Duration::ZERO, &[]);
    world.run(5000);
    world.turn(1, false);
    world.run(5000);
    world.dial(1);
    world.run(20_000);
    assert!(world.restarted.is_empty());
    assert!(!world.told(What::WouldCut).is_empty());

    let mut world = unit_with(Duration::ZERO, &[]);
    world.dial(1);
    world.run(5000);
    world.name = BTreeSet::from([address(2)]);
    world.run(90_000);
    assert!(world.restarted.is_empty());
    assert_eq!(world.told(What::WouldCut)[0].reason, Reason::DrainTimeOver);
}
