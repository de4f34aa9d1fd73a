use proptest::prelude::*;

use super::*;
use crate::balance::Candidate;

fn at(ms: u64) -> Tick {
    Tick::from_start(Duration::from_millis(ms))
}

fn address(n: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, u8::try_from(n).unwrap()], 6443))
}

fn candidates(n: usize, usable: bool) -> Candidates {
    Candidates {
        order: (1..=n)
            .map(|n| Candidate {
                address: address(n),
                patience: Duration::from_millis(100),
            })
            .collect(),
        usable,
    }
}

fn orders(opening: &mut Opening) -> Vec<Action> {
    let orders = std::iter::from_fn(|| opening.poll()).collect();
    opening.check();
    orders
}

/// An opening whose first dial has been given out.
fn opening(n: usize, usable: bool) -> Opening {
    let mut opening = Opening::new(at(0), candidates(n, usable));
    assert_eq!(orders(&mut opening), [Action::Dial(0, address(1))]);
    opening
}

#[test]
fn the_first_candidate_serves_when_it_answers() {
    let mut opening = opening(3, true);
    opening.handle(at(1), Input::Connected(0));
    assert_eq!(orders(&mut opening), [Action::Attach(0)]);
    opening.handle(at(2), Input::ClientSpoke);
    opening.handle(at(3), Input::UpstreamSpoke(0));
    assert_eq!(orders(&mut opening), [Action::Win(0)]);
    assert_eq!(opening.next_wake(), None);
}

#[test]
fn case_09_a_silent_candidate_is_hedged_inside_the_same_accept() {
    let mut opening = opening(3, true);
    assert_eq!(opening.next_wake(), Some(at(250)));
    opening.wake(at(250));
    assert_eq!(orders(&mut opening), [Action::Dial(1, address(2))]);
    opening.handle(at(251), Input::Connected(1));
    assert_eq!(orders(&mut opening), [Action::Attach(1)]);
    opening.handle(at(252), Input::ClientSpoke);
    opening.handle(at(253), Input::UpstreamSpoke(1));
    assert_eq!(orders(&mut opening), [Action::Drop(0), Action::Win(1)]);
}

#[test]
fn a_refused_candidate_costs_no_wait() {
    let mut opening = opening(2, true);
    opening.handle(at(1), Input::Failed(0));
    assert_eq!(orders(&mut opening), [Action::Dial(1, address(2))]);
}

#[test]
fn a_hung_candidate_loses_to_the_next_one_without_the_client_noticing() {
    let mut opening = opening(2, true);
    opening.handle(at(0), Input::ClientSpoke);
    opening.handle(at(1), Input::Connected(0));
    assert_eq!(orders(&mut opening), [Action::Attach(0)]);
    opening.wake(at(301));
    assert_eq!(
        orders(&mut opening),
        [Action::Stalled(0), Action::Dial(1, address(2))]
    );
    opening.handle(at(302), Input::Connected(1));
    opening.handle(at(303), Input::UpstreamSpoke(1));
    assert_eq!(
        orders(&mut opening),
        [Action::Attach(1), Action::Drop(0), Action::Win(1)]
    );
}

#[test]
fn a_slow_candidate_may_still_win() {
    let mut opening = opening(2, true);
    opening.handle(at(0), Input::ClientSpoke);
    opening.handle(at(1), Input::Connected(0));
    opening.wake(at(301));
    opening.handle(at(302), Input::Connected(1));
    orders(&mut opening);
    opening.handle(at(12_000), Input::UpstreamSpoke(0));
    assert_eq!(orders(&mut opening), [Action::Drop(1), Action::Win(0)]);
}

#[test]
fn a_hung_target_behind_the_only_balancer_loses_to_a_second_connection() {
    let mut opening = opening(1, true);
    opening.handle(at(0), Input::ClientSpoke);
    opening.handle(at(1), Input::Connected(0));
    orders(&mut opening);
    opening.wake(at(301));
    assert_eq!(
        orders(&mut opening),
        [Action::Stalled(0), Action::Dial(1, address(1))]
    );
    opening.handle(at(302), Input::Connected(1));
    opening.handle(at(303), Input::UpstreamSpoke(1));
    assert_eq!(
        orders(&mut opening),
        [Action::Attach(1), Action::Drop(0), Action::Win(1)]
    );
}

#[test]
fn a_slow_only_upstream_is_not_flooded_with_copies() {
    let mut opening = opening(1, true);
    opening.handle(at(0), Input::ClientSpoke);
    let mut dials = 1;
    for ms in 0..60_000 {
        opening.wake(at(ms));
        for action in orders(&mut opening) {
            if let Action::Dial(id, _) = action {
                dials += 1;
                opening.handle(at(ms), Input::Connected(id));
            }
        }
        if ms == 1 {
            opening.handle(at(ms), Input::Connected(0));
        }
    }
    assert_eq!(dials, 1 + SECOND_TRIES);
}

#[test]
fn a_client_that_says_nothing_waits_a_minute_and_is_closed_in_order() {
    let mut opening = opening(2, true);
    opening.handle(at(1), Input::Connected(0));
    orders(&mut opening);
    assert_eq!(opening.next_wake(), Some(at(60_000)));
    opening.wake(at(59_999));
    assert_eq!(orders(&mut opening), []);
    opening.wake(at(60_000));
    let left = [Action::Drop(0), Action::Leave(Wait::Over)];
    assert_eq!(orders(&mut opening), left);
    assert_eq!(opening.next_wake(), None);
}

#[test]
fn case_31_a_client_that_has_spoken_once_is_never_closed_for_being_idle() {
    let mut opening = opening(1, true);
    opening.handle(at(1), Input::Connected(0));
    opening.handle(at(2), Input::ClientSpoke);
    for hour in 1..48 {
        opening.wake(at(hour * 3_600_000));
        for action in orders(&mut opening) {
            assert!(!matches!(action, Action::Leave(_)), "{action:?}");
        }
    }
}

#[test]
fn a_server_that_loses_patience_with_a_silent_client_costs_no_further_dial() {
    let mut opening = opening(3, true);
    opening.handle(at(1), Input::Connected(0));
    orders(&mut opening);
    opening.handle(at(32_000), Input::Failed(0));
    let left = [Action::Leave(Wait::UpstreamClosed)];
    assert_eq!(orders(&mut opening), left);
}

#[test]
fn a_balancer_that_accepts_and_closes_at_once_is_left_for_the_next() {
    let mut opening = opening(3, true);
    opening.handle(at(1), Input::Connected(0));
    orders(&mut opening);
    opening.handle(at(20), Input::Failed(0));
    assert_eq!(orders(&mut opening), [Action::Dial(1, address(2))]);
}

#[test]
fn case_16_with_nothing_usable_the_client_is_reset_within_a_second() {
    let mut opening = opening(2, false);
    let mut refused_at = None;
    for ms in 0..1000 {
        opening.wake(at(ms));
        for action in orders(&mut opening) {
            match action {
                Action::Dial(id, _) => opening.handle(at(ms), Input::Failed(id)),
                Action::Refuse => refused_at = Some(ms),
                Action::Attach(_)
                | Action::Drop(_)
                | Action::Leave(_)
                | Action::Stalled(_)
                | Action::Win(_) => {}
            }
        }
    }
    let refused_at = refused_at.expect("refused within the second");
    assert!(
        refused_at > 500,
        "tried again before giving up: {refused_at}"
    );
}

#[test]
fn with_no_candidates_at_all_the_client_is_reset_at_once() {
    let mut opening = Opening::new(at(0), Candidates::default());
    assert_eq!(orders(&mut opening), [Action::Refuse]);
}

#[test]
fn a_lost_syn_to_the_only_upstream_is_waited_for() {
    let mut opening = opening(1, true);
    opening.wake(at(1100));
    assert_eq!(orders(&mut opening), []);
    opening.handle(at(1200), Input::Connected(0));
    assert_eq!(orders(&mut opening), [Action::Attach(0)]);
}

#[test]
fn what_was_sent_and_not_kept_is_never_sent_elsewhere() {
    let mut opening = opening(2, true);
    opening.handle(at(0), Input::ClientSpoke);
    opening.handle(at(1), Input::Connected(0));
    opening.handle(at(2), Input::Committed);
    assert_eq!(orders(&mut opening), [Action::Attach(0), Action::Win(0)]);
    opening.wake(at(5000));
    assert_eq!(orders(&mut opening), []);
}

/// What a candidate does in the test below.
#[derive(Clone, Copy, Debug)]
enum Candidacy {
    Good,
    Hung,
    Refused,
    Silent,
}

#[test]
fn s6_the_one_candidate_that_works_is_found_whatever_the_others_do() {
    use Candidacy::{Good, Hung, Refused, Silent};
    let bad = [Hung, Refused, Silent];
    for first in bad {
        for second in bad {
            let all = [first, second, Good];
            let mut opening = Opening::new(at(0), candidates(3, true));
            opening.handle(at(0), Input::ClientSpoke);
            let mut won_at = None;
            for ms in 0..3000 {
                opening.wake(at(ms));
                for action in orders(&mut opening) {
                    match action {
                        Action::Dial(id, address) => {
                            let n = all
                                .iter()
                                .enumerate()
                                .find(|(n, _)| self::address(n + 1) == address);
                            match n.unwrap().1 {
                                Good => {
                                    opening.handle(at(ms), Input::Connected(id));
                                    opening.handle(at(ms), Input::UpstreamSpoke(id));
                                }
                                Hung => opening.handle(at(ms), Input::Connected(id)),
                                Refused => opening.handle(at(ms), Input::Failed(id)),
                                Silent => {}
                            }
                        }
                        Action::Win(_) => won_at = Some(ms),
                        Action::Leave(_) | Action::Refuse => panic!("{all:?} was refused"),
                        Action::Attach(_) | Action::Drop(_) | Action::Stalled(_) => {}
                    }
                }
            }
            let won_at = won_at.unwrap_or_else(|| panic!("{all:?} never won"));
            assert!(won_at < 1000, "{all:?} won after {won_at} ms");
        }
    }
}

proptest! {
    /// Whatever dials do, there is one winner or one refusal, and it comes in bounded time unless
    /// something is connected.
    #[test]
    fn ends_once(
        n in 1usize..5,
        usable in any::<bool>(),
        fates in prop::collection::vec((0u8..4, 0u64..2000), 40),
    ) {
        let mut opening = Opening::new(at(0), candidates(n, usable));
        opening.handle(at(0), Input::ClientSpoke);
        let mut events: Vec<(u64, Input)> = Vec::new();
        let (mut ends, mut connected) = (0, false);
        for ms in 0..10_000u64 {
            let due: Vec<_> = events.iter().filter(|(t, _)| *t == ms).map(|(_, i)| *i).collect();
            for input in due {
                connected |= matches!(input, Input::Connected(_));
                opening.handle(at(ms), input);
            }
            opening.wake(at(ms));
            for action in orders(&mut opening) {
                match action {
                    Action::Dial(id, _) => {
                        let (fate, delay) = fates[id % fates.len()];
                        match fate {
                            0 => {}
                            1 => events.push((ms + delay + 1, Input::Failed(id))),
                            2 => events.push((ms + delay + 1, Input::Connected(id))),
                            _ => {
                                events.push((ms + delay + 1, Input::Connected(id)));
                                events.push((ms + delay + 2, Input::UpstreamSpoke(id)));
                            }
                        }
                    }
                    Action::Leave(_) | Action::Refuse | Action::Win(_) => ends += 1,
                    Action::Attach(_) | Action::Drop(_) | Action::Stalled(_) => {}
                }
            }
        }
        prop_assert!(ends <= 1);
        prop_assert!(ends == 1 || connected);
    }
}
