use super::*;
use crate::chance::Chance;
use crate::reason::Reason;
use crate::status::{Verdict, What};

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A world of `n` servers, all of them seeds and in DNS, that has run for five seconds with ten
/// connections; gives also the server that they chose.
fn settled(n: u8) -> (Sim, SocketAddr) {
    let all: Vec<_> = (1..=n).map(address).collect();
    let mut sim = Sim::new(settings(all.clone(), 7), Mood::Up, all.clone(), all.clone());
    sim.run(s(1));
    for _ in 0..10 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(4));
    let home = *all.iter().max_by_key(|a| sim.connections_on(**a)).unwrap();
    assert_eq!(sim.connections_on(home), 10);
    (sim, home)
}

fn verdict(sim: &Sim, address: SocketAddr) -> (Verdict, Reason) {
    let status = sim.status();
    let upstream = status.upstreams.iter().find(|u| u.address == address);
    upstream.map(|u| (u.verdict, u.reason)).unwrap()
}

fn turn(sim: &mut Sim, address: SocketAddr, mood: Mood) {
    sim.schedule(Duration::ZERO, Event::Turn(address, mood));
}

#[test]
fn a_silent_upstreams_connections_are_cut_within_two_seconds() {
    let (mut sim, home) = settled(3);
    turn(&mut sim, home, Mood::Silent);
    let fault = sim.now();
    sim.run(s(3));
    assert_eq!(sim.cuts.len(), 10);
    assert!(
        sim.cuts.iter().all(|c| c.at.since(fault) < s(2)),
        "{:?}",
        sim.cuts
    );
    assert_eq!(verdict(&sim, home), (Verdict::Silent, Reason::Silent));
    assert_eq!(sim.connections_on(home), 0);
}

#[test]
fn a_hung_upstreams_connections_are_cut_within_two_seconds() {
    let (mut sim, home) = settled(3);
    turn(&mut sim, home, Mood::Hung);
    let fault = sim.now();
    sim.run(s(3));
    assert_eq!(sim.cuts.len(), 10);
    assert!(
        sim.cuts.iter().all(|c| c.at.since(fault) < s(2)),
        "{:?}",
        sim.cuts
    );
    assert_eq!(verdict(&sim, home), (Verdict::Silent, Reason::Hung));
}

#[test]
fn s3_slow_upstreams_are_never_cut() {
    let (mut sim, _) = settled(3);
    for n in 1..=3 {
        turn(&mut sim, address(n), Mood::Slow(s(12)));
    }
    sim.run(s(300));
    assert_eq!(sim.cuts, []);
}

#[test]
fn s3_when_every_address_is_silent_nothing_is_cut() {
    let (mut sim, home) = settled(3);
    sim.schedule(Duration::ZERO, Event::Link(false));
    sim.run(s(60));
    assert_eq!(sim.cuts, []);
    let status = sim.status();
    assert!(status.actions.iter().any(|a| a.what == What::Withheld
        && matches!(
            a.reason,
            Reason::AllUpstreamsBad | Reason::LocalFaultSuspected
        )));
    sim.schedule(Duration::ZERO, Event::Link(true));
    sim.run(s(10));
    assert_eq!(sim.cuts, []);
    assert_eq!(verdict(&sim, home).0, Verdict::Ready);
}

#[test]
fn s2_the_only_upstream_keeps_its_connections() {
    let (mut sim, home) = settled(1);
    turn(&mut sim, home, Mood::Silent);
    sim.run(s(60));
    assert_eq!(sim.cuts, []);
}

#[test]
fn a_new_address_is_the_way_out_for_the_only_upstreams_connections() {
    let old = address(1);
    let new = address(2);
    let mut sim = Sim::new(settings([], 7), Mood::Up, [old, new], [old]);
    sim.run(s(1));
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(s(10));
    turn(&mut sim, old, Mood::Silent);
    sim.run(s(30));
    assert_eq!(sim.cuts, []);
    sim.schedule(Duration::ZERO, Event::Rename(BTreeSet::from([new])));
    let renamed = sim.now();
    sim.run(s(10));
    assert_eq!(sim.cuts.len(), 1);
    assert!(
        sim.cuts[0].at.since(renamed) < s(6 + 2),
        "one lifetime, and the proof"
    );
    assert_eq!(sim.connections_on(new), 1);
}

#[test]
fn s1_failing_lookups_change_nothing() {
    let (mut sim, home) = settled(3);
    for resolver in [Resolver::Failing, Resolver::Denying] {
        sim.schedule(Duration::ZERO, Event::Resolve(resolver));
        sim.run(s(600));
    }
    assert_eq!(sim.cuts, []);
    assert_eq!(sim.connections_on(home), 10);
    assert_eq!(sim.status().upstreams.len(), 3);
}

#[test]
fn s6_with_all_refusing_the_first_one_back_is_used() {
    let (mut sim, _) = settled(3);
    for n in 1..=3 {
        turn(&mut sim, address(n), Mood::Refusing);
    }
    sim.schedule(s(1), Event::Connect);
    sim.run(s(30));
    assert!(sim.turned_away > 0);
    assert_eq!(sim.offer.order.len(), 3);
    turn(&mut sim, address(2), Mood::Up);
    sim.run(s(3));
    assert_eq!(sim.connections_on(address(2)), 1);
    assert_eq!(verdict(&sim, address(2)).0, Verdict::Ready);
}

#[test]
fn a_stranger_is_never_used_and_its_connections_are_cut() {
    let (mut sim, home) = settled(2);
    turn(&mut sim, home, Mood::Foreign);
    sim.run(s(3));
    assert_eq!(
        verdict(&sim, home),
        (Verdict::Foreign, Reason::WrongCertificate)
    );
    assert_eq!(sim.connections_on(home), 0);
    assert!(sim.offer.order.iter().all(|c| c.address != home));
}

#[test]
fn s6_with_strangers_alone_clients_are_served_and_judge_for_themselves() {
    let (mut sim, _) = settled(2);
    for n in 1..=2 {
        turn(&mut sim, address(n), Mood::Foreign);
    }
    sim.run(s(3));
    let served = sim.served.len();
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(s(1));
    assert_eq!(sim.served.len(), served + 1);
}

#[test]
fn slow_from_the_start_is_proven_and_lets_a_silent_one_be_cut() {
    let all: Vec<_> = (1..=3).map(address).collect();
    let given = settings(all.clone(), 7);
    let mut sim = Sim::new(given, Mood::Slow(s(1)), all.clone(), all.clone());
    sim.run(s(10));
    for _ in 0..10 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(1));
    let home = *all.iter().max_by_key(|a| sim.connections_on(**a)).unwrap();
    assert!(
        sim.status()
            .upstreams
            .iter()
            .all(|u| u.last_probe.is_some()),
        "answers come through"
    );
    turn(&mut sim, home, Mood::Silent);
    // Patience has grown to four times what they take.
    sim.run(s(60));
    assert_eq!(sim.cuts.len(), 10);
}

#[test]
fn s4_and_s5_what_the_limit_withholds_is_cut_later_and_once() {
    let all: Vec<_> = (1..=3).map(address).collect();
    let mut given = settings(all.clone(), 7);
    given.cuts = 1;
    let mut sim = Sim::new(given, Mood::Up, all.clone(), all.clone());
    sim.run(s(1));
    for _ in 0..4 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(1));
    for n in 1..=2 {
        let home = *all.iter().max_by_key(|a| sim.connections_on(**a)).unwrap();
        turn(&mut sim, home, Mood::Silent);
        sim.run(s(5));
        assert_eq!(sim.cuts.len(), 4, "outage {n}: one is within the limit");
    }
    let withheld = |a: &crate::status::ActionStatus| {
        a.what == What::Withheld && a.reason == Reason::RateLimited
    };
    assert!(sim.status().actions.iter().any(withheld));
    // The simulator fails a machine that wakes without end.
    sim.run(s(120));
    assert_eq!(sim.cuts.len(), 8);
}

#[test]
fn with_a_wrong_ca_clients_are_still_served() {
    let all = [address(1), address(2)];
    let mut sim = Sim::new(settings(all, 7), Mood::Foreign, all, all);
    sim.run(s(5));
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(s(5));
    assert_eq!(sim.served.len(), 1);
    assert_eq!(sim.cuts, []);
}

#[test]
fn case_43_a_failing_readyz_drains_and_cuts_nothing() {
    let (mut sim, home) = settled(3);
    turn(&mut sim, home, Mood::NotReady);
    sim.run(s(50));
    assert_eq!(sim.cuts, []);
    assert_eq!(sim.connections_on(home), 10);
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(s(1));
    assert_eq!(sim.connections_on(home), 10, "new ones go elsewhere");
}

#[test]
fn an_address_that_left_dns_is_drained_not_reset() {
    let (old, new) = (address(1), address(2));
    let mut sim = Sim::new(settings([], 7), Mood::Up, [old, new], [old]);
    sim.run(s(1));
    sim.schedule(Duration::ZERO, Event::Connect);
    sim.run(s(5));
    sim.schedule(Duration::ZERO, Event::Rename(BTreeSet::from([new])));
    sim.run(s(60));
    assert_eq!(
        verdict(&sim, old),
        (Verdict::Draining, Reason::AddressRemoved)
    );
    assert_eq!(sim.cuts, []);
    sim.run(s(60));
    assert_eq!(sim.cuts.len(), 1);
    assert!(!sim.cuts[0].reset);
    assert_eq!(
        sim.status().upstreams.len(),
        1,
        "forgotten once nothing stands on it"
    );
}

#[test]
fn case_21_a_starved_agent_blames_nobody() {
    let (mut sim, _) = settled(3);
    for i in 0..200 {
        sim.schedule(
            Duration::from_millis(i * 700),
            Event::Starve(Duration::from_millis(650)),
        );
    }
    sim.run(s(150));
    assert_eq!(sim.cuts, []);
}

#[test]
fn case_35_fifty_restarts_and_always_back() {
    let (mut sim, home) = settled(3);
    for round in 0..50 {
        turn(&mut sim, home, Mood::Refusing);
        sim.run(s(2));
        turn(&mut sim, home, Mood::Up);
        sim.run(s(3));
        assert_eq!(verdict(&sim, home).0, Verdict::Ready, "round {round}");
    }
}

#[test]
fn s5_a_flapping_upstream_costs_no_more_cuts_than_the_limit() {
    let (mut sim, _) = settled(3);
    for _ in 0..60 {
        for n in 1..=3 {
            turn(&mut sim, address(n), Mood::Silent);
            sim.run(Duration::from_millis(3500));
            turn(&mut sim, address(n), Mood::Up);
            sim.run(Duration::from_millis(3500));
        }
    }
    let minutes = sim.now().since_start().as_secs() / 60 + 1;
    // Ten connections hang on one upstream at the most.
    let episodes: BTreeSet<_> = sim.cuts.iter().map(|c| (c.at, c.upstream)).collect();
    assert!(
        episodes.len() as u64 <= 6 * (minutes + 1),
        "{} episodes",
        episodes.len()
    );
    assert!(!episodes.is_empty());
}

#[test]
fn s12_every_cut_stands_in_the_status_with_its_evidence() {
    let (mut sim, home) = settled(3);
    turn(&mut sim, home, Mood::Silent);
    sim.run(s(3));
    let status = sim.status();
    let told: Vec<_> = status
        .actions
        .iter()
        .filter(|a| a.what == What::ConnectionCut)
        .collect();
    assert_eq!(told.len(), sim.cuts.len());
    for action in told {
        assert_eq!(action.upstream, Some(home));
        assert!(action.connection.is_some());
        assert_eq!(action.reason, Reason::Silent);
        assert!(action.evidence.contains("no byte"), "{}", action.evidence);
        assert!(!action.next.is_empty());
    }
}

#[test]
fn case_22_a_thousand_addresses_come_and_go_under_traffic_and_nobody_waits() {
    let all: Vec<_> = (1..=3).map(address).collect();
    let mut given = settings([], 7);
    given.expiry.answers = 1;
    given.expiry.lifetimes = 1;
    given.drain = s(1);
    let mut sim = Sim::new(given, Mood::Up, all.clone(), all.clone());
    sim.run(s(2));
    for _ in 0..5 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    for cycle in 0..1000 {
        let left = if cycle % 2 == 0 { 3 } else { 2 };
        sim.schedule(
            Duration::ZERO,
            Event::Rename(all.iter().take(left).copied().collect()),
        );
        sim.schedule(Duration::ZERO, Event::Leave);
        let served = sim.served.len();
        sim.schedule(Duration::ZERO, Event::Connect);
        sim.run(Duration::from_millis(100));
        assert!(sim.served.len() > served, "cycle {cycle}: a client waits");
        sim.run(s(14));
        assert_eq!(sim.status().upstreams.len(), left, "cycle {cycle}");
    }
    assert_eq!(sim.turned_away, 0);
    assert!(sim.cuts.iter().all(|c| !c.reset));
}

#[test]
fn drained_connections_are_closed_one_by_one() {
    let (old, new) = (address(1), address(2));
    let mut sim = Sim::new(settings([], 7), Mood::Up, [old, new], [old]);
    sim.run(s(1));
    for _ in 0..10 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(5));
    sim.schedule(Duration::ZERO, Event::Rename(BTreeSet::from([new])));
    sim.run(s(120));
    let moments: BTreeSet<_> = sim.cuts.iter().map(|c| c.at).collect();
    assert_eq!(sim.cuts.len(), 10);
    assert!(moments.len() >= 8, "{moments:?}");
    let (first, last) = (moments.first().unwrap(), moments.last().unwrap());
    assert!(last.since(*first) <= s(6), "a tenth of the drain time");
}

#[test]
fn s5_a_flapping_readyz_does_not_flood_the_journal() {
    let (mut sim, home) = settled(3);
    let before = sim.status().actions.last().unwrap().seq;
    for _ in 0..300 {
        turn(&mut sim, home, Mood::NotReady);
        sim.run(s(1));
        turn(&mut sim, home, Mood::Up);
        sim.run(s(1));
    }
    let told = sim.status().actions.last().unwrap().seq - before;
    // Ten at once, and one each 10 s of ten minutes.
    assert!((60..=75).contains(&told), "{told} were told");
    sim.run(s(20));
    let status = sim.status();
    let last = status.actions.last().unwrap();
    assert_eq!(
        last.verdict,
        Some(verdict(&sim, home).0),
        "the last word is told"
    );
    let counted = |a: &crate::status::ActionStatus| a.evidence.contains("were not told");
    assert!(status.actions.iter().any(counted));
}

#[test]
fn a_machine_that_slept_asks_again_before_it_cuts() {
    let cut_after = |slept: bool| {
        let (mut sim, home) = settled(3);
        turn(&mut sim, home, Mood::Silent);
        sim.run(Duration::from_millis(900));
        let woken = sim.now();
        if slept {
            sim.schedule(Duration::ZERO, Event::Suspend);
        }
        sim.run(s(10));
        assert_eq!(sim.cuts.len(), 10);
        sim.cuts[0].at.since(woken)
    };
    let (usual, slept) = (cut_after(false), cut_after(true));
    assert!(
        slept > usual && slept >= Duration::from_secs(1),
        "{usual:?} {slept:?}"
    );
}

#[test]
fn a_fleet_shares_its_budget_of_probes_and_keeps_its_handshakes() {
    let all: Vec<_> = (1..=3).map(address).collect();
    let mut given = settings(all.clone(), 7);
    given.probe_interval = None;
    let mut sim = Sim::new(given, Mood::Up, all.clone(), all);
    sim.run(s(60));
    let (few, fresh) = sim.probes;
    assert!(
        (300..=370).contains(&few),
        "{few} probes of three servers each 500 ms"
    );
    sim.schedule(Duration::ZERO, Event::CountFleet(5000));
    sim.run(s(60));
    let slower = sim.probes.0 - few;
    assert!(
        (30..=45).contains(&slower),
        "{slower} probes of three servers each 5 s"
    );
    sim.run(s(3600));
    assert_eq!(sim.probes.1, fresh, "an hour without a fresh handshake");
    // Suspicion makes this one agent as fast as ever.
    for _ in 0..10 {
        sim.schedule(Duration::ZERO, Event::Connect);
    }
    sim.run(s(1));
    let home = sim.served.last().unwrap().1;
    turn(&mut sim, home, Mood::Silent);
    sim.run(s(15));
    assert_eq!(sim.cuts.len(), 10);
}

/// A world with a random future; the events are told in words as well.
fn random_world(seed: u64) -> (Sim, Vec<String>) {
    let mut chance = Chance::new(seed);
    let all: Vec<_> = (1..=3).map(address).collect();
    let known = usize::try_from(chance.below(4)).unwrap();
    let seeds = all.iter().take(known).copied();
    let mut given = settings(seeds, seed);
    given.cuts = 1 + u32::try_from(chance.below(6)).unwrap();
    given.probe_interval = match chance.below(3) {
        0 => Some(Duration::from_millis(500)),
        1 => Some(s(2)),
        _ => {
            given.nodes = Some(2000);
            None
        }
    };
    given.move_home = chance.below(2) == 0;
    let balanced = chance.below(3) == 0;
    let mut told = vec![format!(
        "seeds: {known}, cuts: {}, interval: {:?}, move home: {}, 10.0.0.3 is a balancer: {balanced}",
        given.cuts, given.probe_interval, given.move_home
    )];
    let mut sim = Sim::new(given, Mood::Up, all.clone(), all.clone());
    if balanced {
        sim.balance(address(3), 3);
    }
    for n in 0..12 {
        let event = if n < 2 {
            Event::Connect
        } else {
            random_event(&all, &mut chance)
        };
        let after = Duration::from_millis(chance.below(15_000));
        told.push(format!("event at {after:?}: {event:?}"));
        sim.schedule(after, event);
    }
    (sim, told)
}

/// One random history; the invariants are asserted inside the simulator at every step.
fn history(sim: &mut Sim) {
    sim.run(s(20));
    // Everything heals; the agent must find that out, come to rest and forget nothing.
    let all: Vec<_> = (1..=3).map(address).collect();
    for a in &all {
        turn(sim, *a, Mood::Up);
    }
    sim.mend_lines();
    sim.schedule(Duration::ZERO, Event::Link(true));
    sim.schedule(Duration::ZERO, Event::Resolve(Resolver::Truthful));
    sim.schedule(Duration::ZERO, Event::Rename(all.iter().copied().collect()));
    sim.run(s(40));
    for a in &all {
        assert_eq!(verdict(sim, *a).0, Verdict::Ready, "{a} did not find back");
    }
    let resets = |sim: &Sim| sim.cuts.iter().filter(|c| c.reset).count();
    let news = |sim: &Sim| {
        let actions = sim.status().actions;
        let told = actions.iter().rfind(|a| a.what != What::ConnectionMoved);
        told.map_or(0, |a| a.seq)
    };
    let before = (resets(sim), news(sim));
    sim.run(s(15));
    assert_eq!((resets(sim), news(sim)), before, "it came to rest");
}

/// Histories per run of the tests, and the first seed; `make test` and `make sim` set others.
fn histories() -> std::ops::Range<u64> {
    let number =
        |text: Option<&str>, otherwise: u64| text.and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let first = number(option_env!("HOLDFAST_SIM_SEED"), 0);
    first..first + number(option_env!("HOLDFAST_SIM_HISTORIES"), 10_000)
}

/// The history with this seed; if it fails, what happened in it.
fn tell(seed: u64) -> Result<(), String> {
    let (mut sim, mut told) = random_world(seed);
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| history(&mut sim)));
    if run.is_ok() {
        return Ok(());
    }
    told.extend(sim.status().actions.iter().map(|a| {
        let verdict = a.verdict.map_or("", Verdict::as_str);
        let upstream = a.upstream.map(|u| u.to_string()).unwrap_or_default();
        let (what, reason) = (a.what.as_str(), a.reason);
        format!(
            "{:.3} {what} {upstream} {verdict} {reason}: {}",
            a.at_s, a.evidence
        )
    }));
    Err(told.join("\n"))
}

#[test]
fn s1_s2_s3_s4_s6_hold_in_random_histories() {
    let all = histories();
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let work = |worker: u64| {
        let mine = all.clone().skip(usize::try_from(worker).unwrap());
        let mut mine = mine.step_by(usize::try_from(workers).unwrap());
        mine.find_map(|seed| tell(seed).err().map(|told| (seed, told)))
    };
    let failure = std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..workers).map(|n| scope.spawn(move || work(n))).collect();
        running
            .into_iter()
            .find_map(|worker| worker.join().unwrap())
    });
    if let Some((seed, told)) = failure {
        panic!("the history with seed {seed} failed:\n{told}");
    }
}

/// Nodes of the simulated fleet.
const FLEET: u64 = 5000;

/// All nodes meet the same failure: what was seen after it, and after the recovery.
fn fleet(mood: Mood) -> (fleet::Census, fleet::Census) {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let work = |worker: u64| {
        let mut all = (fleet::Census::default(), fleet::Census::default());
        for n in (worker..FLEET).step_by(usize::try_from(workers).unwrap()) {
            let (failure, recovery) = fleet::node(n, FLEET, mood);
            all.0.add(failure);
            all.1.add(recovery);
        }
        all
    };
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..workers).map(|n| scope.spawn(move || work(n))).collect();
        let mut all = (fleet::Census::default(), fleet::Census::default());
        for worker in running {
            let (failure, recovery) = worker.join().unwrap();
            all.0.add(failure);
            all.1.add(recovery);
        }
        all
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "make fleet shows the figures")]
fn a_fleet_of_5000_nodes_spreads_evenly_and_does_not_come_in_one_moment() {
    for mood in [Mood::Silent, Mood::Hung, Mood::Refusing] {
        let (failure, recovery) = fleet(mood);
        let (uneven, uneven_again) = (failure.max_over_mean(2), recovery.max_over_mean(3));
        let moved: u32 = recovery.came.values().sum();
        let (peak, peak_again) = (failure.peak(), recovery.peak());
        let lost = failure.lost;
        println!(
            "{mood:?}: {lost} connections lost, {peak} came in the busiest second, \
             max/mean {uneven:.3} after one minute; recovery: {moved} moved, {peak_again} in the \
             busiest second, max/mean {uneven_again:.3}"
        );
        assert!((1500..1850).contains(&lost));
        assert!(
            !failure.servers.contains_key(&address(1)),
            "somebody stayed"
        );
        assert!(uneven <= 1.10 && uneven_again <= 1.10);
        assert!(f64::from(peak_again) <= 2.0 * f64::from(moved) / 10.0);
        // A server that is killed resets its connections itself, all at once.
        if mood != Mood::Refusing {
            assert!(f64::from(peak) <= 2.0 * f64::from(lost) / 10.0);
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let (mut sim, _) = random_world(seed);
        sim.run(s(30));
        format!("{:?}", sim.status())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}
