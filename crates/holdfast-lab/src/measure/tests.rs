use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::scenario::{Bound, Expectation};
use crate::subject::Subject;

mod explained;
mod histories;

use histories::{History, agent, course, outage};

#[test]
fn the_worst_gap_counts_from_the_last_success_before_the_fault() {
    let sight = History::default()
        .beats([50.0, 90.0, 95.0, 140.0, 180.0])
        .sight();
    let figures = measure(&course(), &sight, &[Lane::Heartbeat]);
    // 50 to 90 is before the fault at 100; 95 to 140 is the one.
    assert_eq!(figures.worst_gap_s, Some(45.0));
    assert_eq!(
        figures.not_ready,
        BTreeMap::from([("40".to_owned(), true), ("50".to_owned(), false)])
    );
}

#[test]
fn a_gap_that_is_still_open_counts_to_the_end() {
    let sight = History::default().beats([90.0, 98.0]).sight();
    let figures = measure(&course(), &sight, &[Lane::Heartbeat]);
    assert_eq!(figures.worst_gap_s, Some(102.0));
    assert_eq!(figures.first_success_s, None);
    assert_eq!(figures.not_ready.get("50"), Some(&true));
}

#[test]
fn without_any_heartbeat_there_is_no_gap_but_the_node_is_not_ready() {
    let figures = measure(&course(), &Sight::default(), &[Lane::Heartbeat]);
    assert_eq!(figures.worst_gap_s, None);
    assert_eq!(figures.not_ready.get("50"), Some(&true));
}

#[test]
fn grace_periods_are_scaled_with_the_clients_clocks() {
    let sight = History::default()
        .beats([99.0, 108.0, 200.0 - 1e-6])
        .sight();
    let mut course = course();
    course.end = 112.0;
    course.time_scale = 5.0;
    let figures = measure(&course, &sight, &[Lane::Heartbeat]);
    assert_eq!(figures.worst_gap_s, Some(9.0));
    assert_eq!(
        figures.not_ready,
        BTreeMap::from([("40".to_owned(), true), ("50".to_owned(), false)])
    );
}

#[test]
fn a_cut_is_counted_to_the_last_end_on_the_faulted_path() {
    let sight = History::default()
        .connection(Lane::Heartbeat, 1, 10.0, "10.99.1.1:6443", "cp1")
        .connection(Lane::Idle, 2, 10.0, "10.99.1.1:6443", "cp2")
        .closed(Lane::Heartbeat, 1, 103.0, "ping-timeout")
        .closed(Lane::Idle, 2, 145.0, "eof")
        .sight();
    let course = outage(course(), "lb1", PartKind::Balancer, 100.0, None);
    assert_eq!(
        measure(&course, &sight, &[Lane::Heartbeat]).cut_s,
        Some(3.0)
    );
    assert_eq!(
        measure(&course, &sight, &[Lane::Heartbeat, Lane::Idle]).cut_s,
        Some(45.0)
    );
    assert_eq!(measure(&course, &sight, &[Lane::Active]).cut_s, None);
    assert_eq!(measure(&course, &sight, &[Lane::Idle]).wrong_cuts, 0);
}

#[test]
fn one_connection_that_never_ends_means_never_cut() {
    let sight = History::default()
        .connection(Lane::Idle, 1, 10.0, "10.99.2.1:6443", "cp1")
        .connection(Lane::Idle, 2, 11.0, "10.99.2.1:6443", "cp1")
        .closed(Lane::Idle, 1, 101.0, "reset")
        .sight();
    let course = outage(course(), "cp1", PartKind::Server, 100.0, None);
    assert_eq!(measure(&course, &sight, &[Lane::Idle]).cut_s, None);
}

#[test]
fn an_end_without_a_fault_on_the_path_is_a_wrong_cut() {
    let history = |how| {
        History::default()
            .connection(Lane::Heartbeat, 1, 10.0, "10.99.2.2:6443", "cp2")
            .closed(Lane::Heartbeat, 1, 104.0, how)
            .sight()
    };
    let course = outage(course(), "cp1", PartKind::Server, 100.0, None);
    for (how, wrong) in [
        ("reset", 1),
        ("eof", 1),
        ("aborted", 1),
        ("lost", 1),
        ("own", 0),
        ("ping-timeout", 0),
    ] {
        let figures = measure(&course, &history(how), &[Lane::Heartbeat]);
        assert_eq!((figures.wrong_cuts, figures.cut_s), (wrong, None), "{how}");
    }
}

#[test]
fn an_end_before_the_path_breaks_is_a_wrong_cut() {
    // What happens when a draining server's connections are not left alone.
    let sight = History::default()
        .connection(Lane::Heartbeat, 1, 10.0, "127.0.0.1:6445", "cp1")
        .closed(Lane::Heartbeat, 1, 105.0, "reset")
        .sight();
    let course = outage(course(), "cp1", PartKind::Server, 120.0, None);
    assert_eq!(measure(&course, &sight, &[Lane::Heartbeat]).wrong_cuts, 1);
}

#[test]
fn behind_an_agent_the_status_says_how_many_were_on_the_balancer() {
    let history = || {
        History::default()
            .connection(Lane::Heartbeat, 1, 10.0, "127.0.0.1:6445", "cp1")
            .connection(Lane::Idle, 2, 10.0, "127.0.0.1:6445", "cp2")
            .closed(Lane::Heartbeat, 1, 101.5, "reset")
            .closed(Lane::Idle, 2, 130.0, "reset")
    };
    let course = outage(course(), "lb1", PartKind::Balancer, 100.0, None);
    let lanes = [Lane::Heartbeat, Lane::Idle];
    let both = agent(history().sight(), 99.9, &[("lb1", 2)]);
    assert_eq!(measure(&course, &both, &lanes).cut_s, Some(30.0));
    assert_eq!(measure(&course, &both, &lanes).wrong_cuts, 0);
    let one = agent(history().sight(), 99.9, &[("lb1", 1), ("cp2", 1)]);
    assert_eq!(measure(&course, &one, &lanes).cut_s, Some(1.5));
    assert_eq!(
        measure(&course, &one, &lanes).wrong_cuts,
        1,
        "the other one had no reason to end"
    );
    let none = agent(history().sight(), 99.9, &[("lb1", 0)]);
    assert_eq!(measure(&course, &none, &lanes).cut_s, None);
    assert_eq!(measure(&course, &none, &lanes).wrong_cuts, 2);
}

#[test]
fn only_a_connection_made_after_the_fault_is_a_first_success() {
    let sight = History::default()
        .connection(Lane::Heartbeat, 1, 10.0, "10.99.1.1:6443", "cp1")
        .beats([95.0, 105.0])
        .fresh(100.1, 0.2, true)
        .closed(Lane::Heartbeat, 1, 110.0, "reset")
        .connection(Lane::Heartbeat, 2, 110.1, "10.99.1.2:6443", "cp2")
        .fresh(111.0, 0.1, true)
        .sight();
    let course = course();
    // 105 was on the old connection, 100.1 was begun before the fault, 110.1 is the first on a new one.
    let figures = measure(&course, &sight, &[Lane::Heartbeat]);
    assert_eq!(figures.first_success_s, Some(10.11));
    assert_eq!(figures.reconnects, 1);
    assert_eq!((figures.new_failed, figures.new_total), (0, 1));
}

#[test]
fn new_connections_are_counted_from_the_fault_on() {
    let sight = History::default()
        .fresh(99.0, 0.1, false)
        .fresh(105.0, 5.0, false)
        .fresh(105.1, 5.05, true)
        .fresh(205.0, 1.0, false)
        .sight();
    let figures = measure(&course(), &sight, &[Lane::Heartbeat]);
    assert_eq!((figures.new_failed, figures.new_total), (1, 2));
}

#[test]
fn an_agents_actions_are_learned_once() {
    let mut sight = Sight::default();
    let parts = course().parts;
    let status = histories::status(20.0, &[(1, 3.0), (2, 19.0)]);
    let deeds = sight.learn(120.0, status.clone(), &parts);
    assert_eq!(
        deeds.iter().map(|deed| deed.t).collect::<Vec<_>>(),
        [103.0, 119.0]
    );
    assert!(sight.learn(120.2, status, &parts).is_empty());
    let deeds = sight.learn(
        121.0,
        histories::status(21.0, &[(2, 19.0), (3, 20.5)]),
        &parts,
    );
    assert_eq!(
        deeds.iter().map(|deed| deed.action.seq).collect::<Vec<_>>(),
        [3]
    );
    assert_eq!(sight.deeds.len(), 3);
    let on_lb1: Vec<_> = sight
        .loads
        .iter()
        .map(|load| load.connections.get("lb1").copied())
        .collect();
    assert_eq!(on_lb1, [Some(2); 3]);
}

fn expectation(metric: Metric, bound: Bound, scaled: f64) -> Expectation {
    Expectation {
        subject: Subject::Holdfast,
        metric,
        bound,
        scaled,
    }
}

#[test]
fn never_holds_at_least_but_not_at_most() {
    let figures = BTreeMap::from([(Subject::Holdfast, Figures::default())]);
    let expected = [
        expectation(Metric::Cut, Bound::AtMost(3.0), 0.0),
        expectation(Metric::Cut, Bound::AtLeast(3.0), 0.0),
        expectation(Metric::Cut, Bound::Equals(3.0), 0.0),
        expectation(Metric::WrongCuts, Bound::Equals(0.0), 0.0),
    ];
    let held: Vec<_> = judge(&expected, &figures, 1.0)
        .into_iter()
        .map(|verdict| verdict.held)
        .collect();
    assert_eq!(held, [false, true, false, true]);
    assert!(
        judge(&expected, &BTreeMap::new(), 1.0).is_empty(),
        "it did not take part"
    );
}

#[test]
fn a_bound_shrinks_only_by_its_scaled_part() {
    let gap = |seconds| {
        let figures = Figures {
            worst_gap_s: Some(seconds),
            ..Figures::default()
        };
        let expected = [expectation(Metric::WorstGap, Bound::AtMost(13.0), 10.0)];
        judge(
            &expected,
            &BTreeMap::from([(Subject::Holdfast, figures)]),
            5.0,
        )
        .remove(0)
    };
    assert_eq!(gap(4.9).text, "holdfast: worst_gap_s at most 5 s");
    assert!(gap(4.9).held);
    assert!(!gap(5.1).held);
    assert_eq!(gap(5.1).measured, serde_json::json!(5.1));
}

#[test]
fn of_several_heartbeats_the_one_that_fares_worst_counts() {
    let sight = History::default()
        .beats([
            90.0, 100.5, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0, 170.0, 180.0, 190.0,
        ])
        .answers(
            Lane::Heartbeat,
            1,
            [95.0, 140.0, 150.0, 160.0, 170.0, 180.0, 190.0],
        )
        .sight();
    assert_eq!(worst_gap(&course(), &sight).map(|gap| gap.worker), Some(1));
    let figures = measure(&course(), &sight, &[Lane::Heartbeat]);
    assert_eq!(figures.worst_gap_s, Some(45.0));
}

#[test]
fn an_active_connections_outage_is_its_longest_silence() {
    let answers = |from: u32, to: u32| (from..to).map(f64::from);
    let sight = History::default()
        .answers(Lane::Active, 0, answers(50, 200))
        .answers(Lane::Active, 1, answers(50, 101).chain(answers(104, 200)))
        .sight();
    let figures = measure(&course(), &sight, &[Lane::Heartbeat]);
    assert_eq!(figures.active_outage_s, Some(4.0));
    assert_eq!(
        measure(&course(), &History::default().sight(), &[]).active_outage_s,
        None
    );
}

#[test]
fn recovery_counts_from_the_end_of_the_last_mending() {
    let sight = History::default().beats([90.0, 119.0, 121.5]).sight();
    let mut course = course();
    assert_eq!(measure(&course, &sight, &[]).recovery_s, None);
    course.mended = Some(120.0);
    assert_eq!(measure(&course, &sight, &[]).recovery_s, Some(1.5));
}

#[test]
fn an_answer_belongs_to_the_connection_that_the_client_names() {
    let sight = History::default()
        .connected(Lane::Idle, 1, 10.0)
        .connected(Lane::Idle, 2, 10.1)
        .answered(Lane::Idle, 2, 10.2, "cp2")
        .answered(Lane::Idle, 1, 10.3, "cp1")
        .closed(Lane::Idle, 2, 101.0, "reset")
        .sight();
    let course = outage(course(), "cp2", PartKind::Server, 100.0, None);
    let figures = measure(&course, &sight, &[Lane::Idle]);
    assert_eq!((figures.on_fault, figures.cut_s), (1, Some(1.0)));
    assert_eq!((figures.idle_open, figures.wrong_cuts), (1, 0));
}

#[test]
fn resets_are_the_wrong_cuts_that_were_not_in_order() {
    let sight = History::default()
        .connection(Lane::Idle, 1, 10.0, "10.99.2.1:6443", "cp1")
        .connection(Lane::Idle, 2, 11.0, "10.99.2.1:6443", "cp1")
        .closed(Lane::Idle, 1, 101.0, "reset")
        .closed(Lane::Idle, 2, 102.0, "eof")
        .sight();
    let figures = measure(&course(), &sight, &[Lane::Idle]);
    assert_eq!((figures.wrong_cuts, figures.resets), (2, 1));
}

#[test]
fn new_connections_are_counted_on_the_faulted_server_once_a_second_is_over() {
    let sight = History::default()
        .fresh_by(101.0, 0.2, "cp1")
        .fresh_by(101.5, 0.3, "cp1")
        .fresh_by(102.0, 0.1, "cp2")
        .fresh(108.0, 5.0, false)
        .sight();
    let mut course = course();
    course.faulted = vec!["cp1".to_owned()];
    let figures = measure(&course, &sight, &[]);
    assert_eq!(figures.new_on_faulted, 1);
    assert_eq!(figures.new_slowest_s, Some(0.3), "a failure is not slow");
    assert_eq!((figures.new_failed, figures.new_total), (1, 4));
}

proptest! {
    /// Whatever happens, the figures agree with one another.
    #[test]
    fn figures_agree_with_one_another(history in histories::any()) {
        let course = outage(course(), "cp1", PartKind::Server, 100.0, None);
        let lanes = [Lane::Heartbeat, Lane::Idle];
        let figures = measure(&course, &history, &lanes);
        prop_assert!(figures.new_failed <= figures.new_total);
        if figures.not_ready.get("50") == Some(&true) {
            prop_assert_eq!(figures.not_ready.get("40"), Some(&true));
        }
        if let Some(gap) = figures.worst_gap_s {
            prop_assert!(gap >= 0.0);
            let beats = successes(&course, &history, Lane::Heartbeat, 0);
            let open = course.end - beats.last().unwrap();
            prop_assert!(gap + 0.001 >= open, "the open gap counts");
        }
        prop_assert!(figures.cut_s.is_none_or(|cut| (0.0..=100.001).contains(&cut)));
        prop_assert!(figures.first_success_s.is_none_or(|first| (0.0..=100.001).contains(&first)));
    }

    /// What is told does not depend on the order in which two processes were heard.
    #[test]
    fn heartbeats_may_be_heard_in_any_order(mut beats in prop::collection::vec(1.0..200.0_f64, 1..30), seed in any::<u64>()) {
        let figure = |beats: &[f64]| {
            let sight = History::default().beats(beats.iter().copied()).sight();
            measure(&course(), &sight, &[Lane::Heartbeat]).worst_gap_s
        };
        let before = figure(&beats);
        let middle = usize::try_from(seed % 30).unwrap() % beats.len();
        beats.rotate_left(middle);
        prop_assert_eq!(figure(&beats), before);
    }

    /// One more heartbeat never makes the worst gap longer, if it is not the new last one before the fault.
    #[test]
    fn one_more_heartbeat_never_lengthens_the_gap(
        beats in prop::collection::vec(1.0..200.0_f64, 1..30),
        more in 100.0..200.0_f64,
    ) {
        let figure = |beats: Vec<f64>| {
            let sight = History::default().beats(beats).sight();
            measure(&course(), &sight, &[Lane::Heartbeat]).worst_gap_s.unwrap()
        };
        prop_assume!(beats.iter().any(|beat| *beat <= 100.0));
        let before = figure(beats.clone());
        let after = figure(beats.into_iter().chain([more]).collect());
        prop_assert!(after <= before + 0.001);
    }

    /// Every end of a connection is on a faulted path, a wrong cut, or the client's own.
    #[test]
    fn every_end_has_one_explanation(history in histories::any()) {
        let course = outage(course(), "cp1", PartKind::Server, 100.0, None);
        let all = connections(&course, &history);
        let ended = all.iter().filter(|one| one.end.is_some()).count();
        let faulted = all.iter().filter(|one| one.end.is_some() && one.faulted).count();
        let own = all
            .iter()
            .filter(|one| !one.faulted && matches!(one.end, Some((_, Ending::Own | Ending::PingTimeout))))
            .count();
        let wrong = measure(&course, &history, &[Lane::Idle]).wrong_cuts;
        prop_assert_eq!(ended, faulted + own + usize::try_from(wrong).unwrap());
    }
}
