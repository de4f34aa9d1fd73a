use super::*;
use crate::sim::{Event, Mood, Sim, settings};

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A world whose ten clients were driven from home by an outage that lasts on.
fn driven_out(move_home: bool) -> (Sim, SocketAddr) {
    let all: Vec<_> = (1..=3).map(address).collect();
    let mut given = settings(all.clone(), 7);
    given.move_home = move_home;
    let mut sim = Sim::new(given, Mood::Up, all.clone(), all);
    sim.run(s(1));
    for _ in 0..10 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(4));
    let home = sim.served.last().map(|(_, at)| *at).unwrap();
    assert_eq!(sim.connections_on(home), 10);
    sim.schedule(Duration::ZERO, Event::Turn(home, Mood::Silent));
    sim.run(s(10));
    assert_eq!(sim.connections_on(home), 0);
    (sim, home)
}

fn moves(sim: &Sim) -> Vec<Tick> {
    let closed = sim.cuts.iter().filter(|c| !c.reset);
    closed.map(|c| c.at).collect()
}

#[test]
fn quiet_connections_come_home_one_per_minute_and_busy_ones_stay() {
    let (mut sim, home) = driven_out(true);
    sim.schedule(Duration::ZERO, Event::Turn(home, Mood::Up));
    let back = sim.now();
    sim.run(s(15 * 60));
    let moves = moves(&sim);
    // Of ten, three get an answer each second.
    assert_eq!(moves.len(), 7);
    assert_eq!(sim.connections_on(home), 7);
    let first = moves[0].since(back);
    assert!(
        first >= SETTLED && first <= SETTLED + SPREAD + s(10),
        "{first:?}"
    );
    for pair in moves.windows(2) {
        assert!(pair[1].since(pair[0]) >= EVERY, "{pair:?}");
    }
    let status = sim.status();
    let told = status
        .actions
        .iter()
        .filter(|a| a.reason == Reason::MovedHome);
    assert_eq!(told.count(), 7);
}

#[test]
fn nothing_moves_when_that_is_turned_off() {
    let (mut sim, home) = driven_out(false);
    sim.schedule(Duration::ZERO, Event::Turn(home, Mood::Up));
    sim.run(s(600));
    assert_eq!(moves(&sim), []);
}

#[test]
fn nothing_moves_to_a_home_that_comes_and_goes() {
    let (mut sim, home) = driven_out(true);
    for _ in 0..30 {
        sim.schedule(Duration::ZERO, Event::Turn(home, Mood::Up));
        sim.run(s(8));
        sim.schedule(Duration::ZERO, Event::Turn(home, Mood::NotReady));
        sim.run(s(4));
    }
    assert_eq!(moves(&sim), []);
}
