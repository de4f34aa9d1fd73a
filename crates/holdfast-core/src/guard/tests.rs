use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

fn remote(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

/// A connection that was just made, and over which nothing has passed.
fn fresh(cookie: u64) -> Seen {
    Seen {
        cookie,
        local: SocketAddr::from(([10, 9, 9, 9], 40_000)),
        remote: remote(1),
        client: "kubelet.service".to_owned(),
        power: Power::Abort,
        established: true,
        written: 0,
        received: 0,
        sent_ago: Duration::ZERO,
        received_ago: Duration::ZERO,
        acked_ago: Duration::ZERO,
        unacknowledged: 0,
        retransmits: 0,
        questions: 0,
        window_closed: false,
        timer: Duration::from_millis(200),
    }
}

fn powerless(seen: Seen) -> Seen {
    Seen {
        power: Power::Report,
        ..seen
    }
}

/// Looks once; gives the facts but for the kernel's word, which is told at every look.
fn look(guard: &mut Guard, ms: u64, seen: Vec<Seen>) -> Vec<Input> {
    let first = 100 + ms;
    let mut next = first;
    let facts = guard.look(at(ms), 0, seen, || {
        next += 1;
        next
    });
    facts
        .into_iter()
        .filter(|fact| !matches!(fact, Input::Wire { .. }))
        .collect()
}

fn unanswered(facts: &[Input]) -> Option<(Tick, bool)> {
    facts.iter().find_map(|fact| {
        let Input::Unanswered {
            since, repeated, ..
        } = fact
        else {
            return None;
        };
        Some((*since, *repeated))
    })
}

#[test]
fn a_socket_is_told_when_it_comes_and_when_it_goes() {
    let mut guard = Guard::new();
    let facts = look(&mut guard, 0, vec![fresh(7)]);
    let told = Input::Guarded {
        connection: 101,
        upstream: remote(1),
        power: Power::Abort,
    };
    assert_eq!(facts, [told]);
    assert_eq!(look(&mut guard, 1000, vec![fresh(7)]), []);
    let key = Key {
        place: 0,
        cookie: 7,
    };
    assert_eq!(guard.key(101), Some(key));
    // Another socket with the same ends is another connection.
    let facts = look(&mut guard, 2000, vec![fresh(8)]);
    assert_eq!(facts[0], Input::Closed { connection: 101 });
    assert!(matches!(facts[1], Input::Guarded { .. }));
    assert_eq!(guard.key(101), None);
}

#[test]
fn an_answer_is_told_where_nothing_can_be_aborted() {
    let answered = |seen: Seen| Seen {
        received: 10,
        ..seen
    };
    let mut guard = Guard::new();
    look(&mut guard, 0, vec![fresh(7), powerless(fresh(8))]);
    let facts = look(
        &mut guard,
        1000,
        vec![answered(fresh(7)), answered(powerless(fresh(8)))],
    );
    assert_eq!(facts, [Input::Answered { connection: 102 }]);
}

#[test]
fn places_do_not_mix() {
    let mut guard = Guard::new();
    look(&mut guard, 0, vec![fresh(7)]);
    let mut number = 500;
    let mut next = || {
        number += 1;
        number
    };
    let facts = guard.look(at(0), 1, vec![powerless(fresh(7))], &mut next);
    assert!(facts.contains(&Input::Guarded {
        connection: 501,
        upstream: remote(1),
        power: Power::Report
    }));
    assert_eq!(guard.len(), 2);
    assert_eq!(guard.leave(0), [Input::Closed { connection: 101 }]);
    assert_eq!(
        guard.key(501),
        Some(Key {
            place: 1,
            cookie: 7
        })
    );
}

#[test]
fn what_is_written_twice_and_not_answered_is_told_with_its_first_moment() {
    let mut guard = Guard::new();
    let mut seen = fresh(7);
    look(&mut guard, 0, vec![seen.clone()]);
    (seen.written, seen.received) = (100, 100);
    look(&mut guard, 1000, vec![seen.clone()]);
    // A request at 4.5 s, another at 14.5 s; no byte comes back.
    let mut told = Vec::new();
    for ms in (2000..20_000).step_by(1000) {
        if ms == 5000 || ms == 15_000 {
            seen.written += 100;
            seen.sent_ago = Duration::from_millis(500);
        } else {
            seen.sent_ago += Duration::from_secs(1);
        }
        seen.received_ago += Duration::from_secs(1);
        let facts = look(&mut guard, ms, vec![seen.clone()]);
        told.extend(unanswered(&facts).map(|t| (ms, t)));
    }
    let first = told.first().copied();
    assert_eq!(first, Some((11_000, (at(4500), false))), "{told:?}");
    let repeated = told.iter().find(|(_, (_, repeated))| *repeated);
    assert_eq!(repeated, Some(&(15_000, (at(4500), true))));
    // A byte answers all of it.
    (seen.received, seen.received_ago) = (101, Duration::ZERO);
    assert_eq!(look(&mut guard, 20_000, vec![seen.clone()]), []);
    assert_eq!(look(&mut guard, 40_000, vec![seen]), []);
}

#[test]
fn case_15_an_upload_is_no_silence() {
    let mut guard = Guard::new();
    let mut seen = fresh(7);
    look(&mut guard, 0, vec![seen.clone()]);
    for ms in (1000..30_000).step_by(1000) {
        seen.written += 100_000;
        let facts = look(&mut guard, ms, vec![seen.clone()]);
        assert_eq!(unanswered(&facts), None);
    }
}

#[test]
fn case_21_a_guard_that_was_not_run_for_long_does_not_overstate_a_silence() {
    let mut guard = Guard::new();
    let mut seen = fresh(7);
    look(&mut guard, 0, vec![seen.clone()]);
    // The look comes 20 s late; the kernel has retransmitted just before it.
    seen.written = 100;
    (seen.sent_ago, seen.retransmits) = (Duration::from_millis(100), 3);
    let facts = look(&mut guard, 20_000, vec![seen.clone()]);
    assert_eq!(unanswered(&facts), None);
    let facts = look(&mut guard, 25_800, vec![seen]);
    assert_eq!(
        unanswered(&facts),
        None,
        "silent since 19.9 s at the latest"
    );
}

#[test]
fn case_42_a_dial_or_a_first_answer_that_takes_long_makes_the_address_looked_at_once() {
    let mut guard = Guard::new();
    let mut attempt = fresh(7);
    attempt.established = false;
    assert_eq!(look(&mut guard, 0, vec![attempt.clone()]).len(), 1);
    assert!(guard.is_tense());
    attempt.retransmits = 1;
    let upstream = remote(1);
    let facts = look(&mut guard, 1000, vec![attempt.clone()]);
    assert_eq!(facts, [Input::Stalled { upstream }]);
    assert_eq!(look(&mut guard, 2000, vec![attempt]), []);

    let mut hung = fresh(8);
    look(&mut guard, 3000, vec![hung.clone()]);
    hung.written = 300;
    look(&mut guard, 3250, vec![hung.clone()]);
    hung.sent_ago = Duration::from_secs(2);
    let facts = look(&mut guard, 5250, vec![hung]);
    assert_eq!(facts, [Input::Stalled { upstream }]);
}

#[test]
fn the_kernels_word_is_told_in_ticks() {
    let mut guard = Guard::new();
    let mut seen = fresh(7);
    seen.sent_ago = Duration::from_millis(300);
    seen.received_ago = Duration::from_secs(9);
    seen.acked_ago = Duration::from_secs(8);
    (seen.unacknowledged, seen.retransmits) = (2, 3);
    let facts = guard.look(at(10_000), 0, vec![seen], || 1);
    let wire = facts.iter().find_map(|fact| {
        let Input::Wire { wire, .. } = fact else {
            return None;
        };
        Some(*wire)
    });
    let wire = wire.unwrap();
    assert_eq!((wire.last_sent, wire.heard), (at(9700), at(2000)));
    assert_eq!((wire.unacknowledged, wire.retransmits), (2, 3));
}

#[test]
fn the_status_shows_each_socket_and_traffic_its_last_byte() {
    let mut guard = Guard::new();
    let mut seen = fresh(7);
    look(&mut guard, 0, vec![seen.clone(), fresh(9)]);
    (seen.received, seen.received_ago) = (10, Duration::from_millis(400));
    look(&mut guard, 2000, vec![seen, fresh(9)]);
    let heard: Vec<_> = guard.traffic(remote(1)).iter().map(|t| t.heard).collect();
    assert_eq!(heard, [Some(at(1600)), None]);
    assert!(guard.traffic(remote(2)).is_empty());
    let status = guard.status(at(3000));
    assert_eq!(status[0].last_byte_s, Some(1.4));
    assert!((status[0].since_s - 3.0).abs() < 1e-9);
    assert_eq!(status[0].client, "kubelet.service");
    assert_eq!(status[1].last_byte_s, None);
}

#[test]
fn more_sockets_than_are_reasonable_are_left_out_and_counted() {
    let mut guard = Guard::new();
    let crowd = (0..5000).map(fresh).collect();
    look(&mut guard, 0, crowd);
    assert_eq!((guard.len(), guard.left_out()), (MOST, 5000 - MOST));
}

/// A socket at some look: absent, or with so much written and received since the last.
fn any_step() -> impl Strategy<Value = Option<(u16, u16, u16)>> {
    prop_oneof![
        1 => Just(None),
        6 => (0u16..3, 0u16..3, 0u16..3000).prop_map(Some),
    ]
}

proptest! {
    /// Whatever comes and goes: every socket is told once as it comes and once as it goes, under a
    /// number of its own; and a silence is told only of one that is there, after six seconds
    /// without a byte.
    #[test]
    fn what_is_told_fits_what_was_seen(
        looks in prop::collection::vec((prop::collection::vec(any_step(), 3), 1u64..9000), 1..60),
    ) {
        let mut guard = Guard::new();
        let mut now = 0;
        let mut ids = 0;
        let mut open = BTreeSet::new();
        let mut sockets: BTreeMap<usize, (Seen, u64)> = BTreeMap::new();
        let mut quiet_since: BTreeMap<u64, u64> = BTreeMap::new();
        let mut cookies = 0;
        for (steps, gap) in looks {
            now += gap;
            for (slot, step) in steps.into_iter().enumerate() {
                let Some((written, received, ago)) = step else {
                    sockets.remove(&slot);
                    continue;
                };
                let (seen, cookie) = sockets.entry(slot).or_insert_with(|| {
                    cookies += 1;
                    (fresh(cookies), cookies)
                });
                seen.written += u64::from(written);
                seen.received += u64::from(received);
                seen.sent_ago = Duration::from_millis(ago.into());
                seen.received_ago = Duration::ZERO;
                if received > 0 {
                    quiet_since.insert(*cookie, now);
                }
                quiet_since.entry(*cookie).or_insert(now);
            }
            let seen: Vec<_> = sockets.values().map(|(seen, _)| seen.clone()).collect();
            let present: BTreeSet<_> = seen.iter().map(|s| s.cookie).collect();
            let facts = guard.look(at(now), 0, seen, || { ids += 1; ids });
            for fact in facts {
                if let Input::Guarded { connection, .. } = fact {
                    prop_assert!(open.insert(connection));
                } else if let Input::Closed { connection } = fact {
                    prop_assert!(open.remove(&connection));
                } else if let Input::Unanswered { connection, since, .. } = fact {
                    prop_assert!(open.contains(&connection));
                    let cookie = guard.key(connection).unwrap().cookie;
                    prop_assert!(at(now).since(since) >= SILENT);
                    prop_assert!(since >= at(quiet_since[&cookie]));
                }
            }
            let watched: BTreeSet<_> = open.iter().map(|id| guard.key(*id).unwrap().cookie).collect();
            prop_assert_eq!(watched, present);
        }
    }
}
