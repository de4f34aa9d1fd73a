use super::*;

const INTERVAL: Duration = Duration::from_millis(500);

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

fn probing() -> Probing {
    Probing::new(at(0), INTERVAL, INTERVAL, 1)
}

/// Probes that have an open connection which answered at 10 ms.
fn answered() -> Probing {
    let mut probing = probing();
    probing.start_due(at(0), false, false, 1);
    for progress in [
        Progress::Connected,
        Progress::Secured,
        Progress::Answered { status: 200 },
    ] {
        probing.progress(at(10), 1, &progress);
    }
    probing
}

#[test]
fn begins_with_a_fresh_connection_and_then_keeps_it() {
    let mut probing = probing();
    assert_eq!(
        probing.start_due(at(0), false, false, 1),
        [Order::Start {
            id: 1,
            reuse: false
        }]
    );
    assert_eq!(probing.start_due(at(0), false, false, 2), []);
    let mut probing = answered();
    let orders = probing.start_due(at(600), false, false, 2);
    assert_eq!(orders, [Order::Start { id: 2, reuse: true }]);
}

#[test]
fn an_unanswered_request_is_followed_by_fresh_connections_twice_per_interval() {
    let mut probing = answered();
    probing.start_due(at(600), false, false, 2);
    assert_eq!(probing.overdue(at(1099)), []);
    assert_eq!(
        probing.overdue(at(1100)),
        [Evidence::NoAnswer { started: at(600) }]
    );
    probing.hurry(at(1100));
    assert_eq!(
        probing.start_due(at(1100), true, false, 3),
        [Order::Start {
            id: 3,
            reuse: false
        }]
    );
    assert_eq!(probing.start_due(at(1349), true, true, 4), []);
    assert_eq!(
        probing.start_due(at(1350), true, true, 4),
        [Order::Start {
            id: 4,
            reuse: false
        }]
    );
    assert_eq!(
        probing.overdue(at(1850)),
        [
            Evidence::NoConnection {
                started: at(1100),
                witnessed: false
            },
            Evidence::NoConnection {
                started: at(1350),
                witnessed: true
            },
        ]
    );
}

#[test]
fn a_fresh_handshake_replaces_the_kept_connection_that_is_silent() {
    let mut probing = answered();
    probing.start_due(at(600), false, false, 2);
    probing.overdue(at(1100));
    probing.hurry(at(1100));
    probing.start_due(at(1100), true, false, 3);
    probing.progress(at(1101), 3, &Progress::Connected);
    let (evidence, orders) = probing.progress(at(1102), 3, &Progress::Secured);
    assert_eq!(evidence, Some(Evidence::Secured));
    assert_eq!(orders, [Order::Abort { id: 2 }]);
}

#[test]
fn a_server_that_is_gone_is_asked_again_at_once() {
    let mut probing = answered();
    probing.start_due(at(600), false, false, 2);
    probing.progress(at(601), 2, &Progress::Broken);
    assert_eq!(
        probing.start_due(at(601), false, false, 3),
        [Order::Start {
            id: 3,
            reuse: false
        }]
    );
}

#[test]
fn never_has_more_than_four_attempts_under_way() {
    let mut probing = answered();
    let mut open = std::collections::BTreeSet::new();
    for (id, ms) in (600..60_000).step_by(50).enumerate() {
        for order in probing.start_due(at(ms), true, false, id as u64 + 2) {
            match order {
                Order::Start { id, .. } => open.insert(id),
                Order::Abort { id } => open.remove(&id),
            };
        }
        assert!(open.len() <= MOST_ATTEMPTS);
        probing.overdue(at(ms));
    }
    assert_eq!(open.len(), MOST_ATTEMPTS);
}

#[test]
fn a_process_that_was_held_up_blames_nobody() {
    let mut probing = answered();
    probing.start_due(at(600), false, false, 2);
    probing.forgive(Duration::from_secs(10));
    assert_eq!(probing.overdue(at(10_700)), []);
    assert_eq!(probing.overdue(at(11_100)).len(), 1);
}
