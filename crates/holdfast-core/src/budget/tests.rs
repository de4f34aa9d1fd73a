use std::net::SocketAddr;

use proptest::prelude::*;

use super::*;
use crate::agent::Settings;
use crate::config::RawConfig;
use crate::sim::{Event, Mood, Sim, settings};

fn config(interval: Duration) -> Config {
    let mut raw = RawConfig {
        endpoint: Some("https://api.example.com:6443".to_owned()),
        ca: Some("ca.crt".into()),
        ..RawConfig::default()
    };
    raw.probe.interval = Some(interval);
    Config::parse(raw).unwrap()
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_stock_configuration_stays_far_below_the_grace_period_of_every_version() {
    let budget = Budget::of(
        &config(Duration::from_millis(500)),
        ClusterTimers::default(),
    );
    assert!(budget.within);
    assert_eq!(budget.sums.len(), 2);
    for sum in &budget.sums {
        // A period of 10.4 s comes first, and something must be left for the network.
        assert!(sum.total_s > 12.0 && sum.total_s < 27.0, "{sum:?}");
        let added: f64 = sum.terms.iter().map(|t| t.time_s).sum();
        assert!((added - sum.total_s).abs() < 1e-9);
    }
}

#[test]
fn case_13_slow_probes_exceed_the_budget_and_a_longer_grace_period_bears_them() {
    let slow = config(s(12));
    let strict = Budget::of(&slow, ClusterTimers::default());
    assert!(!strict.within);
    let worst = strict.worst().unwrap();
    assert!(worst.total_s > 40.0 && worst.total_s < 50.0, "{worst:?}");
    assert!(
        worst
            .terms
            .iter()
            .any(|t| t.from.starts_with("probe.interval"))
    );
    let since_1_32 = ClusterTimers {
        grace: s(50),
        ..ClusterTimers::default()
    };
    assert!(Budget::of(&slow, since_1_32).within);
    assert!(!Budget::of(&config(s(30)), since_1_32).within);
}

#[test]
fn the_clusters_own_timers_count() {
    let usual = config(Duration::from_millis(500));
    for (timers, why) in [
        (
            ClusterTimers {
                grace: s(20),
                ..ClusterTimers::default()
            },
            "grace",
        ),
        (
            ClusterTimers {
                lease: s(160),
                ..ClusterTimers::default()
            },
            "lease",
        ),
        (
            ClusterTimers {
                status_update: s(30),
                ..ClusterTimers::default()
            },
            "request timeout",
        ),
    ] {
        assert!(!Budget::of(&usual, timers).within, "{why}");
    }
}

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The sum is a promise: whatever the interval, and whenever in it the fault comes, the agent's
    /// own machine cuts in less time.
    #[test]
    fn the_machine_cuts_within_the_sum_of_the_terms(
        interval_ms in 200u64..12_000,
        phase_ms in 0u64..20_000,
        hung in any::<bool>(),
        servers in 2u8..5,
        seed in any::<u64>(),
    ) {
        let interval = Duration::from_millis(interval_ms);
        let all: Vec<_> = (1..=servers).map(address).collect();
        let told = Settings { probe_interval: Some(interval), ..settings(all.clone(), seed) };
        let patience = told.patience;
        let mut sim = Sim::new(told, Mood::Up, all.clone(), all.clone());
        sim.run(interval * 3);
        sim.schedule(Duration::ZERO, Event::Connect);
        sim.run(interval * 2 + Duration::from_millis(phase_ms));
        let home = *all.iter().max_by_key(|a| sim.connections_on(**a)).unwrap();
        prop_assert_eq!(sim.connections_on(home), 1);
        let mood = if hung { Mood::Hung } else { Mood::Silent };
        sim.schedule(Duration::ZERO, Event::Turn(home, mood));
        let fault = sim.now();
        sim.run(interval * 8 + s(10));
        let promised: f64 = silence(interval, patience).iter().map(|t| t.time_s).sum();
        let promised = promised + LOOP.as_secs_f64();
        let cut = sim.cuts.first().map(|c| c.at.since(fault).as_secs_f64());
        prop_assert!(cut.is_some_and(|took| took <= promised), "{cut:?} of {promised}");
    }
}
