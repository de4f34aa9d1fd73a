//! Names that answer with a part of their addresses, and lists that flap.

use super::*;

/// Counts what a name of nine addresses adds and removes in ten minutes, with three per answer.
fn ten_minutes(mut pick: impl FnMut(u64) -> Vec<u8>) -> (usize, usize) {
    let mut sources = dns_only();
    let (mut added, mut removed) = (0, 0);
    for answer in 0..120 {
        let now = at(answer * 5);
        let change = sources.answer(now, Source::DnsA, named(&pick(answer), 5));
        added += change.added.len();
        removed += change.removed.len();
    }
    (added, removed)
}

/// Three different numbers below nine, in some order.
fn three_of_nine(chance: &mut Chance) -> Vec<u8> {
    let mut left: Vec<u8> = (1..=9).collect();
    (0..3)
        .map(|_| {
            let place = chance.below(left.len() as u64);
            left.swap_remove(usize::try_from(place).unwrap())
        })
        .collect()
}

#[test]
fn case_38_and_39_a_rotating_subset_is_membership() {
    for seed in 0..2000 {
        let mut chance = Chance::new(seed);
        let counts = ten_minutes(|_| three_of_nine(&mut chance));
        assert_eq!(counts, (9, 0), "seed {seed}");
    }
    // One later each time: no address comes back before all the others have been named.
    let wheel = |answer: u64| {
        (0..3)
            .map(|n| u8::try_from((answer + n) % 9).unwrap())
            .collect()
    };
    assert_eq!(ten_minutes(wheel), (9, 0));
}

#[test]
fn an_address_that_left_a_rotating_name_is_let_go_in_the_end() {
    let mut sources = dns_only();
    let mut chance = Chance::new(5);
    for answer in 0..40 {
        sources.answer(
            at(answer * 5),
            Source::DnsA,
            named(&three_of_nine(&mut chance), 5),
        );
    }
    let mut gone_at = None;
    for answer in 40..400 {
        let mut pick = three_of_nine(&mut chance);
        pick.retain(|n| *n != 1);
        let change = sources.answer(at(answer * 5), Source::DnsA, named(&pick, 5));
        for address in change.removed {
            assert_eq!(address, self::address(1));
            gone_at = Some(answer - 40);
        }
    }
    let answers = gone_at.expect("it leaves");
    assert!((40..120).contains(&answers), "after {answers} answers");
}

#[test]
fn a_list_that_flaps_while_servers_join_shrinks_late() {
    let mut sources = Sources::new([], [Source::EndpointSlices], [], EXPIRY, 1);
    let mut removed = 0;
    // A server that starts again takes itself out of the list, and comes back.
    for (answer, set) in [
        &[1, 2, 3][..],
        &[1, 2],
        &[1, 2, 3],
        &[1, 2],
        &[1, 2],
        &[1, 2],
        &[1, 2, 3],
    ]
    .iter()
    .enumerate()
    {
        let now = at(30 * answer as u64);
        removed += sources
            .answer(now, Source::EndpointSlices, listed(set))
            .removed
            .len();
    }
    assert_eq!(removed, 0);
    let mut answers = 0;
    while removed == 0 {
        answers += 1;
        let now = at(1000 + 30 * answers);
        removed += sources
            .answer(now, Source::EndpointSlices, listed(&[1, 2]))
            .removed
            .len();
        assert!(answers < 25, "one that is gone for good leaves");
    }
    assert!(answers > u64::from(EXPIRY.answers));
}

#[test]
fn a_set_that_changes_once_is_followed_after_the_set_number_of_answers() {
    let mut sources = dns_only();
    sources.answer(at(0), Source::DnsA, named(&[1, 2, 3], 5));
    for answer in 1..=2 {
        let change = sources.answer(at(answer * 20), Source::DnsA, named(&[2, 3, 4], 5));
        assert_eq!(change.removed, [], "answer {answer}");
    }
    let change = sources.answer(at(60), Source::DnsA, named(&[2, 3, 4], 5));
    assert_eq!(change.removed, [address(1)]);
}
