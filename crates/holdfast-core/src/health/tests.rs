use proptest::prelude::*;

use super::*;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

const OK: Evidence = Evidence::Answered {
    status: 200,
    late: false,
};

fn ready() -> Health {
    let mut health = Health::new(at(0));
    health.observe(at(0), OK, false);
    assert_eq!(health.verdict(), Verdict::Ready);
    health
}

fn no_connection(ms: u64) -> Evidence {
    Evidence::NoConnection {
        started: at(ms),
        witnessed: false,
    }
}

#[test]
fn s3_one_unanswered_attempt_convicts_nobody() {
    for soft in [
        no_connection(10),
        Evidence::NoAnswer { started: at(10) },
        Evidence::NoHandshake {
            started: at(10),
            witnessed: false,
        },
        Evidence::Late,
    ] {
        let mut health = ready();
        health.observe(at(600), soft, false);
        assert!(
            matches!(health.verdict(), Verdict::Ready | Verdict::Slow),
            "{soft:?}"
        );
    }
}

#[test]
fn two_unanswered_attempts_make_it_silent_and_say_how() {
    let mut dropped = ready();
    dropped.observe(at(600), Evidence::NoAnswer { started: at(100) }, false);
    let change = dropped
        .observe(at(1100), no_connection(600), false)
        .unwrap();
    assert_eq!(
        (change.to, change.reason),
        (Verdict::Silent, Reason::Silent)
    );

    let mut stopped = ready();
    stopped.observe(at(600), Evidence::NoAnswer { started: at(100) }, false);
    let change = stopped
        .observe(
            at(1100),
            Evidence::NoHandshake {
                started: at(600),
                witnessed: false,
            },
            false,
        )
        .unwrap();
    assert_eq!((change.to, change.reason), (Verdict::Silent, Reason::Hung));
}

#[test]
fn a_sign_of_life_after_the_attempt_began_clears_it() {
    let mut health = ready();
    health.observe(at(600), no_connection(100), false);
    health.observe(at(650), Evidence::Spoke, false);
    assert_eq!(health.suspicion(), None);
    assert_eq!(health.observe(at(700), no_connection(640), false), None);
    assert_eq!(health.verdict(), Verdict::Ready);
}

#[test]
fn slowness_never_becomes_silence() {
    let mut health = ready();
    for ms in (1000..100_000).step_by(1000) {
        health.observe(
            at(ms),
            Evidence::NoAnswer {
                started: at(ms - 500),
            },
            false,
        );
        health.observe(at(ms + 100), Evidence::Secured, false);
        health.observe(at(ms + 600), Evidence::Late, false);
        assert!(matches!(health.verdict(), Verdict::Ready | Verdict::Slow));
    }
    assert_eq!(health.verdict(), Verdict::Slow);
}

#[test]
fn a_failing_readyz_drains_and_a_good_one_ends_that() {
    let mut health = ready();
    let failed = Evidence::Answered {
        status: 500,
        late: false,
    };
    let change = health.observe(at(500), failed, false).unwrap();
    assert_eq!(
        (change.to, change.reason),
        (Verdict::Draining, Reason::ReadyzFailed)
    );
    assert_eq!(
        health.observe(at(1000), OK, false).unwrap().to,
        Verdict::Ready
    );
}

#[test]
fn statuses_that_hide_readiness_still_prove_life() {
    for status in [401, 403, 404, 429] {
        let mut health = Health::new(at(0));
        let answered = Evidence::Answered {
            status,
            late: false,
        };
        let change = health.observe(at(1), answered, false).unwrap();
        assert_eq!(change.to, Verdict::Ready);
        assert_eq!(change.reason, Reason::ReadinessUnknown);
    }
}

#[test]
fn comes_back_through_probation_unless_nothing_else_works() {
    let mut health = ready();
    health.observe(at(500), Evidence::Refused, false);
    assert_eq!(health.verdict(), Verdict::Dead);
    assert_eq!(
        health.observe(at(1000), OK, false).unwrap().to,
        Verdict::Probation
    );
    assert_eq!(
        health.observe(at(1500), OK, false).unwrap().to,
        Verdict::Ready
    );

    health.observe(at(2000), Evidence::Refused, false);
    assert_eq!(
        health.observe(at(2500), OK, true).unwrap().to,
        Verdict::Ready
    );
}

#[test]
fn a_strangers_certificate_is_believed_at_once_and_for_as_long_as_it_lasts() {
    let mut health = ready();
    assert_eq!(
        health.observe(at(1), Evidence::Foreign, false).unwrap().to,
        Verdict::Foreign
    );
    // TCP works and the stranger speaks: that proves nothing about the API server.
    health.observe(at(2), Evidence::Spoke, false);
    assert_eq!(health.verdict(), Verdict::Foreign);
    assert_eq!(
        health.observe(at(3), OK, false).unwrap().to,
        Verdict::Probation
    );
}

#[test]
fn an_address_that_left_its_sources_drains_and_returns() {
    let mut health = ready();
    assert_eq!(health.list(at(1), false).unwrap().to, Verdict::Draining);
    health.observe(at(2), OK, false);
    assert_eq!(health.verdict(), Verdict::Draining);
    assert_eq!(health.list(at(3), true).unwrap().to, Verdict::Ready);
}

#[test]
fn patience_follows_the_pace_of_the_upstream_within_bounds() {
    let mut patience = Patience::new(Duration::from_millis(500));
    assert_eq!(patience.limit(), Duration::from_millis(500));
    for _ in 0..100 {
        patience.learn(Duration::from_millis(400));
    }
    assert!(patience.limit() > Duration::from_millis(1500));
    for _ in 0..100 {
        patience.learn(Duration::from_secs(12));
    }
    assert_eq!(patience.limit(), Patience::CEILING);
}

fn any_evidence() -> impl Strategy<Value = Evidence> {
    prop_oneof![
        (
            prop_oneof![Just(200u16), Just(500), Just(401)],
            any::<bool>()
        )
            .prop_map(|(status, late)| Evidence::Answered { status, late }),
        Just(Evidence::Secured),
        Just(Evidence::Spoke),
        Just(Evidence::Late),
        Just(Evidence::Refused),
        Just(Evidence::Unreachable {
            started: at(0),
            witnessed: false
        }),
        Just(Evidence::Foreign),
        Just(Evidence::NoAnswer { started: at(0) }),
        Just(no_connection(0)),
    ]
}

proptest! {
    /// Whatever came before, two answers in time make a listed upstream ready.
    #[test]
    fn always_finds_back(history in prop::collection::vec(any_evidence(), 0..50)) {
        let mut health = Health::new(at(0));
        for (i, evidence) in history.into_iter().enumerate() {
            health.observe(at(i as u64), evidence, false);
        }
        health.observe(at(1000), OK, false);
        health.observe(at(1500), OK, false);
        prop_assert_eq!(health.verdict(), Verdict::Ready);
        prop_assert_eq!(health.suspicion(), None);
    }
}
