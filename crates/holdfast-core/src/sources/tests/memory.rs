//! What is remembered from an earlier life counts as the word of the sources that said it.

use super::*;

fn remembered(n: u8, origins: &[Source]) -> cache::Entry {
    cache::Entry {
        address: address(n),
        origins: origins.to_vec(),
        unanswered: Duration::ZERO,
    }
}

fn with_memory(entries: &[cache::Entry]) -> Sources {
    let live = [Source::DnsA, Source::EndpointSlices];
    let mut sources = Sources::new([address(9)], live, [], EXPIRY, 1);
    sources.remember(entries, Duration::from_mins(1));
    sources
}

fn origins(sources: &Sources, n: u8) -> Vec<Source> {
    let found = sources.origins(at(0), address(n));
    found.into_iter().map(|origin| origin.source).collect()
}

#[test]
fn what_is_remembered_is_known_at_once_and_shown_as_such() {
    let sources = with_memory(&[remembered(1, &[Source::DnsA, Source::EndpointSlices])]);
    assert_eq!(origins(&sources, 1), [Source::Cache]);
    assert!(sources.is_only_remembered(address(1)));
    assert!(
        !sources.is_only_remembered(address(9)),
        "a seed is no memory"
    );
    let origin = &sources.origins(at(5), address(1))[0];
    assert!((origin.age_s - 65.0).abs() < 0.1);
    let state = cache::State {
        age: Some(Duration::from_secs(65)),
        failure: None,
    };
    let status = sources.status(at(5), Some(state));
    let shown = status.last().unwrap();
    assert_eq!(
        (shown.source, shown.addresses.as_slice(), shown.age_s),
        (Source::Cache, [address(1)].as_slice(), Some(65.0))
    );
}

#[test]
fn a_source_that_speaks_again_replaces_what_is_remembered_of_it() {
    let mut sources = with_memory(&[
        remembered(1, &[Source::DnsA]),
        remembered(2, &[Source::DnsA, Source::EndpointSlices]),
        remembered(3, &[Source::EndpointSlices]),
    ]);
    let change = sources.answer(at(0), Source::DnsA, named(&[1, 2], 5));
    assert_eq!(change.added, [], "they were known");
    assert_eq!(origins(&sources, 1), [Source::DnsA]);
    assert_eq!(origins(&sources, 2), [Source::DnsA, Source::Cache]);
    assert_eq!(origins(&sources, 3), [Source::Cache]);
}

#[test]
fn what_its_own_source_does_not_name_any_more_leaves_as_any_other_address() {
    let mut sources = with_memory(&[
        remembered(1, &[Source::DnsA]),
        remembered(2, &[Source::EndpointSlices]),
    ]);
    let mut removed = Vec::new();
    for answer in 0..4 {
        removed.push(
            sources
                .answer(at(5 * answer), Source::DnsA, named(&[3], 5))
                .removed,
        );
    }
    // Three answers, three lifetimes; the other source has not spoken, so its word stands.
    assert_eq!(removed, [vec![], vec![], vec![], vec![address(1)]]);
    assert!(sources.is_only_remembered(address(2)));
}

#[test]
fn s1_failures_and_empty_answers_take_nothing_from_memory() {
    let mut sources = with_memory(&[remembered(1, &[Source::DnsA])]);
    for s in 0..300 {
        let change = if s % 2 == 0 {
            sources.answer(at(s), Source::DnsA, failed())
        } else {
            sources.answer(at(s), Source::DnsA, Answer::NoRecords { lifetime: None })
        };
        assert_eq!(change.removed, []);
    }
    assert!(sources.names(address(1)));
}

#[test]
fn memory_of_a_source_that_is_not_asked_any_more_is_not_used() {
    let own: SocketAddr = "127.0.0.1:6445".parse().unwrap();
    let mut sources = Sources::new([], [Source::DnsA], [own], EXPIRY, 1);
    let itself = cache::Entry {
        address: own,
        ..remembered(1, &[Source::DnsA])
    };
    sources.remember(
        &[
            remembered(1, &[Source::EndpointSlices]),
            remembered(2, &[Source::Seed]),
            remembered(3, &[]),
            itself,
        ],
        Duration::ZERO,
    );
    assert_eq!(sources.addresses().count(), 0);
}

#[test]
fn what_ages_out_stays_where_a_live_source_names_it() {
    let mut sources = with_memory(&[
        remembered(1, &[Source::DnsA, Source::EndpointSlices]),
        remembered(2, &[Source::DnsA]),
    ]);
    sources.answer(at(0), Source::DnsA, named(&[1], 5));
    assert!(!sources.forget_remembered(address(1)));
    assert_eq!(origins(&sources, 1), [Source::DnsA]);
    assert!(
        sources.forget_remembered(address(2)),
        "it stands on nothing now"
    );
    assert!(!sources.names(address(2)));
}
