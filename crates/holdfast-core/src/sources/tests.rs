use proptest::prelude::*;

use super::*;

mod memory;
mod pace;
mod rotation;

const EXPIRY: Expiry = Expiry {
    answers: 3,
    lifetimes: 3,
    shortest: Duration::from_secs(1),
    longest: Duration::from_mins(1),
    most: 16,
};

fn at(s: u64) -> Tick {
    Tick::from_start(Duration::from_secs(s))
}

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

fn named(addresses: &[u8], lifetime: u64) -> Answer {
    Answer::Addresses {
        addresses: addresses.iter().map(|n| address(*n)).collect(),
        lifetime: Some(Duration::from_secs(lifetime)),
    }
}

fn listed(addresses: &[u8]) -> Answer {
    Answer::Addresses {
        addresses: addresses.iter().map(|n| address(*n)).collect(),
        lifetime: None,
    }
}

fn failed() -> Answer {
    Answer::Failed {
        why: "SERVFAIL".to_owned(),
        lifetime: None,
    }
}

fn dns_only() -> Sources {
    Sources::new([], [Source::DnsA, Source::DnsAaaa], [], EXPIRY, 1)
}

#[test]
fn an_address_leaves_after_answers_and_lifetimes_not_before() {
    let mut sources = dns_only();
    sources.answer(at(0), Source::DnsA, named(&[1], 10));
    // Three answers at once are not enough: three lifetimes must pass as well.
    for s in [1, 2, 3, 4] {
        assert_eq!(
            sources.answer(at(s), Source::DnsA, named(&[2], 10)).removed,
            []
        );
    }
    assert_eq!(
        sources
            .answer(at(29), Source::DnsA, named(&[2], 10))
            .removed,
        []
    );
    let change = sources.answer(at(30), Source::DnsA, named(&[2], 10));
    assert_eq!(change.removed, [address(1)]);
    assert!(sources.names(address(2)));
}

#[test]
fn time_alone_takes_nothing_away() {
    let mut sources = dns_only();
    sources.answer(at(0), Source::DnsA, named(&[1], 1));
    for s in 1..600 {
        sources.answer(at(s), Source::DnsA, failed());
    }
    assert_eq!(
        sources
            .answer(at(600), Source::DnsA, named(&[2], 1))
            .removed,
        []
    );
    assert!(sources.names(address(1)));
}

#[test]
fn no_aaaa_records_is_no_failure_unless_there_were_some() {
    let mut sources = dns_only();
    assert_eq!(
        sources.answer(at(0), Source::DnsAaaa, Answer::NoRecords { lifetime: None }),
        Change::default()
    );
    let six: SocketAddr = "[fd00::1]:6443".parse().unwrap();
    sources.answer(
        at(1),
        Source::DnsAaaa,
        Answer::Addresses {
            addresses: BTreeSet::from([six]),
            lifetime: Some(Duration::from_secs(5)),
        },
    );
    let change = sources.answer(
        at(60),
        Source::DnsAaaa,
        Answer::NoRecords { lifetime: None },
    );
    assert!(matches!(change.health, Some(Some(_))));
    assert!(sources.names(six));
}

#[test]
fn its_own_listener_is_no_upstream() {
    let own: SocketAddr = "127.0.0.1:6445".parse().unwrap();
    let mut sources = Sources::new([own], [Source::DnsA], [own], EXPIRY, 1);
    for loopback in [
        "127.0.0.1:6445",
        "[::ffff:127.0.0.1]:6445",
        "127.0.0.9:6445",
        "0.0.0.0:6445",
        "[::1]:6445",
    ] {
        sources.answer(at(0), Source::DnsA, failed());
        let change = sources.answer(
            at(0),
            Source::DnsA,
            Answer::Addresses {
                addresses: BTreeSet::from([loopback.parse().unwrap()]),
                lifetime: Some(Duration::from_secs(5)),
            },
        );
        assert_eq!(sources.addresses().count(), 0, "{loopback}");
        assert_eq!(change.health, None, "it fails, as before");
        let failure = sources.status(at(0), None)[1].failure.clone();
        assert!(failure.is_some_and(|f| f.contains("own listener")));
    }
    let change = sources.answer(at(9), Source::DnsA, named(&[1], 5));
    assert_eq!(change.health, Some(None), "it recovers");
}

#[test]
fn a_failed_dial_asks_again_at_once_but_not_twice_a_second() {
    let mut sources = dns_only();
    sources.ask_due(at(0));
    sources.answer(at(0), Source::DnsA, named(&[1], 60));
    sources.answer(at(0), Source::DnsAaaa, Answer::NoRecords { lifetime: None });
    assert_eq!(sources.ask_due(at(1)), []);
    sources.ask_soon(at(1));
    assert_eq!(sources.ask_due(at(1)), [Source::DnsA, Source::DnsAaaa]);
    sources.answer(at(1), Source::DnsA, named(&[1], 60));
    sources.ask_soon(at(1));
    assert_eq!(sources.ask_due(at(1)), []);
}

fn any_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        (prop::collection::btree_set(1u8..6, 0..4), 0u64..100)
            .prop_map(|(set, lifetime)| { named(&set.into_iter().collect::<Vec<_>>(), lifetime) }),
        Just(Answer::NoRecords { lifetime: None }),
        Just(failed()),
    ]
}

proptest! {
    /// S1: whatever the sources say, a set that was not empty never becomes empty, and only a
    /// usable answer takes anything away.
    #[test]
    fn s1_no_answer_empties_the_set(
        seeds in prop::collection::btree_set(1u8..6, 0..3),
        answers in prop::collection::vec((any_answer(), any::<bool>(), 0u64..90), 1..80),
    ) {
        let live = [Source::DnsA, Source::DnsAaaa];
        let mut sources = Sources::new(seeds.iter().map(|n| address(*n)), live, [], EXPIRY, 1);
        let mut now = 0;
        for (answer, six, gap) in answers {
            now += gap;
            let before = sources.addresses().count();
            let usable = matches!(&answer, Answer::Addresses { addresses, .. } if !addresses.is_empty());
            let source = if six { Source::DnsAaaa } else { Source::DnsA };
            let change = sources.answer(at(now), source, answer);
            prop_assert!(usable || change.removed.is_empty());
            prop_assert!(before == 0 || sources.addresses().count() > 0);
            prop_assert!(seeds.iter().all(|n| sources.names(address(*n))));
        }
    }

    /// The order in which independent sources speak does not change what is known.
    #[test]
    fn order_of_sources_does_not_matter(
        a in prop::collection::btree_set(1u8..6, 1..4),
        b in prop::collection::btree_set(1u8..6, 1..4),
    ) {
        let a: Vec<_> = a.into_iter().collect();
        let b: Vec<_> = b.into_iter().collect();
        let mut one = dns_only();
        one.answer(at(0), Source::DnsA, named(&a, 5));
        one.answer(at(0), Source::DnsAaaa, named(&b, 5));
        let mut other = dns_only();
        other.answer(at(0), Source::DnsAaaa, named(&b, 5));
        other.answer(at(0), Source::DnsA, named(&a, 5));
        prop_assert!(one.addresses().eq(other.addresses()));
    }
}
