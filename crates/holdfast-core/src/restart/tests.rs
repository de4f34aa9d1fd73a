use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits {
    hold_down: Duration::from_mins(10),
    most: 3,
    window: Duration::from_hours(1),
};

fn at(seconds: u64) -> Tick {
    Tick::from_start(Duration::from_secs(seconds))
}

fn restart(restarts: &mut Restarts, now: Tick) -> Result<(), Reason> {
    restarts
        .may(now, "kubelet.service", Life::Running)
        .map_err(|refusal| refusal.reason)?;
    let _forgets = restarts.begin(now, "kubelet.service");
    Ok(())
}

#[test]
fn s8_a_unit_that_does_not_run_is_left_alone() {
    let mut restarts = Restarts::new(LIMITS);
    let mut refused = |life| {
        let refusal = restarts.may(at(0), "kubelet.service", life).unwrap_err();
        assert!(refusal.words.starts_with("kubelet.service "), "{refusal:?}");
        refusal.reason
    };
    assert_eq!(refused(Life::Stopped), Reason::UnitStopped);
    assert_eq!(refused(Life::Stopping), Reason::UnitStopped);
    assert_eq!(refused(Life::Starting), Reason::UnitStarting);
    assert_eq!(refused(Life::Failed), Reason::UnitFailed);
    assert_eq!(refused(Life::StartLimitHit), Reason::UnitFailed);
    assert_eq!(refused(Life::Absent), Reason::UnitAbsent);
    assert_eq!(
        restarts.may(at(0), "kubelet.service", Life::Running),
        Ok(())
    );
}

#[test]
fn s4_a_unit_is_not_restarted_twice_in_a_hold_down_and_units_do_not_count_for_one_another() {
    let mut restarts = Restarts::new(LIMITS);
    restart(&mut restarts, at(5)).unwrap();
    let refusal = restarts
        .may(at(604), "kubelet.service", Life::Running)
        .unwrap_err();
    assert_eq!(refusal.reason, Reason::HoldDown);
    assert_eq!(refusal.again, Some(at(605)));
    assert!(refusal.words.contains("599 s ago"), "{}", refusal.words);
    assert_eq!(
        restarts.may(at(6), "kube-proxy.service", Life::Running),
        Ok(())
    );
}

#[test]
fn a_hold_down_outlives_the_process_that_began_it() {
    let mut restarts = Restarts::new(LIMITS);
    restarts.remember("kubelet.service", Duration::from_mins(4));
    assert_eq!(restart(&mut restarts, at(359)), Err(Reason::HoldDown));
    let past = restarts.past(at(10));
    assert_eq!(past["kubelet.service"], Duration::from_secs(250));
    restart(&mut restarts, at(360)).unwrap();
    restart(&mut restarts, at(960)).unwrap();
    // The limit counts the first one too.
    assert_eq!(restart(&mut restarts, at(1560)), Err(Reason::RateLimited));
    restart(&mut restarts, at(3600)).unwrap();
}

#[test]
fn asking_costs_nothing() {
    let mut restarts = Restarts::new(LIMITS);
    for second in 0..100 {
        let may = restarts.may(at(second), "kubelet.service", Life::Running);
        assert_eq!(may, Ok(()));
    }
    assert!(restarts.past(at(100)).is_empty());
}

#[test]
fn failures_are_forgotten_once_per_window() {
    let mut restarts = Restarts::new(LIMITS);
    let mut begin = |seconds| restarts.begin(at(seconds), "kubelet.service");
    assert_eq!([begin(0), begin(600), begin(3599)], [true, false, false]);
    assert!(begin(3600));
}

#[test]
fn a_limit_of_none_restarts_nothing() {
    let limits = Limits { most: 0, ..LIMITS };
    let mut restarts = Restarts::new(limits);
    assert_eq!(restart(&mut restarts, at(0)), Err(Reason::RateLimited));
    assert_eq!(restart(&mut restarts, at(36_000)), Err(Reason::RateLimited));
}

#[test]
fn the_spread_leaves_each_node_time_to_be_heard_of() {
    let left = |grace, start, interval| {
        let seconds = Duration::from_secs;
        spread(
            seconds(grace),
            seconds(10),
            seconds(start),
            seconds(interval),
        )
        .as_secs()
    };
    assert_eq!(left(50, 10, 3), 27);
    assert_eq!(left(40, 10, 3), 17);
    assert_eq!(left(40, 30, 3), 0);
}

proptest! {
    /// S5: however the wish comes, no window sees more restarts than allowed, nor any hold-down two.
    #[test]
    fn s5_no_window_sees_more_restarts_than_allowed(
        gaps in prop::collection::vec(0u64..2000, 1..200),
        most in 1u32..6,
    ) {
        let limits = Limits { most, ..LIMITS };
        let mut restarts = Restarts::new(limits);
        let mut now = 0;
        let mut done: Vec<u64> = Vec::new();
        for gap in gaps {
            now += gap;
            if restart(&mut restarts, at(now)).is_ok() {
                done.push(now);
            }
        }
        for (place, start) in done.iter().enumerate() {
            let later = done.iter().skip(place + 1);
            prop_assert!(later.clone().all(|next| next - start >= 600));
            let window = later.take_while(|next| **next < start + 3600).count() + 1;
            prop_assert!(window <= most as usize, "{window} of {most}: {done:?}");
        }
    }
}
