//! When sources are asked, and how much is taken from one.

use super::*;

fn next(sources: &Sources) -> Duration {
    sources.next_wake().unwrap().since_start()
}

#[test]
fn an_answer_is_never_kept_for_longer_than_its_lifetime() {
    let mut delays = BTreeSet::new();
    for seed in 0..200 {
        let mut sources = Sources::new([], [Source::DnsA], [], EXPIRY, seed);
        sources.answer(at(0), Source::DnsA, named(&[1], 20));
        assert!(next(&sources) <= Duration::from_secs(20), "{seed}");
        assert!(next(&sources) >= Duration::from_secs(18), "{seed}");
        delays.insert(next(&sources));
    }
    assert!(delays.len() > 50, "a fleet does not ask together");
}

#[test]
fn retries_back_off_and_a_fleet_does_not_retry_together() {
    let mut first = BTreeSet::new();
    for seed in 0..100 {
        let mut sources = Sources::new([], [Source::DnsA], [], EXPIRY, seed);
        let mut delays = Vec::new();
        for _ in 0..6 {
            let now = sources.next_wake().unwrap();
            sources.answer(now, Source::DnsA, failed());
            delays.push(sources.next_wake().unwrap().since(now));
        }
        for (delay, most) in delays.iter().zip([1, 2, 4, 5, 5, 5]) {
            let most = Duration::from_secs(most);
            assert!(*delay <= most && *delay >= most / 2, "{delays:?}");
        }
        first.insert(delays[0]);
    }
    assert!(first.len() > 30);
}

#[test]
fn a_negative_answer_is_not_asked_for_again_while_it_stands() {
    let mut sources = Sources::new([], [Source::DnsA], [], EXPIRY, 1);
    let denied = |seconds| Answer::Failed {
        why: "NXDOMAIN".to_owned(),
        lifetime: Some(Duration::from_secs(seconds)),
    };
    sources.answer(at(0), Source::DnsA, named(&[1], 5));
    sources.answer(at(10), Source::DnsA, denied(30));
    assert_eq!(next(&sources), Duration::from_secs(40));
    // No longer than the longest lifetime that is believed, and no more often than failures are.
    sources.answer(at(40), Source::DnsA, denied(86_400));
    assert_eq!(next(&sources), Duration::from_secs(100));
    sources.answer(at(100), Source::DnsA, denied(0));
    assert!(next(&sources) >= Duration::from_millis(100_500));
    // Trouble with an upstream is a reason to ask early all the same.
    sources.ask_soon(at(100));
    assert_eq!(next(&sources), Duration::from_secs(100));
    assert!(
        sources.names(address(1)),
        "nothing of this takes an address away"
    );

    let mut sources = Sources::new([], [Source::DnsAaaa], [], EXPIRY, 1);
    let none = Answer::NoRecords {
        lifetime: Some(Duration::from_secs(30)),
    };
    sources.answer(at(0), Source::DnsAaaa, none);
    assert!(next(&sources) <= Duration::from_secs(30) && next(&sources) >= Duration::from_secs(27));
}

#[test]
fn api_servers_are_asked_at_the_pace_that_the_fleet_affords() {
    for (nodes, period) in [(3, 10), (2000, 20), (5000, 50), (100_000, 60)] {
        let mut sources = Sources::new([], [Source::EndpointSlices], [], EXPIRY, 1);
        sources.count_fleet(nodes);
        sources.answer(at(0), Source::EndpointSlices, listed(&[1]));
        let period = Duration::from_secs(period);
        assert!(
            next(&sources) <= period && next(&sources) >= period * 9 / 10,
            "{nodes}"
        );
        let status = &sources.status(at(0), None)[1];
        assert_eq!(status.lifetime_s, Some(period.as_secs_f64()));
    }
}

#[test]
fn a_small_fleet_does_not_wait_for_the_long_period_that_held_before_the_count() {
    let mut sources = Sources::new([], [Source::EndpointSlices], [], EXPIRY, 1);
    sources.answer(at(0), Source::EndpointSlices, listed(&[1]));
    assert!(next(&sources) > Duration::from_secs(20));
    sources.count_fleet(3);
    assert_eq!(next(&sources), Duration::from_secs(10));
}

#[test]
fn a_fleet_that_loses_an_api_server_does_not_ask_the_others_in_the_same_moment() {
    let mut moments = BTreeSet::new();
    for seed in 0..100 {
        let mut sources = Sources::new([], [Source::EndpointSlices], [], EXPIRY, seed);
        sources.count_fleet(5000);
        sources.ask_due(at(0));
        sources.answer(at(0), Source::EndpointSlices, listed(&[1]));
        sources.ask_soon(at(20));
        assert!(
            next(&sources) <= Duration::from_secs(25),
            "{:?}",
            next(&sources)
        );
        moments.insert(next(&sources));
        let early = sources.next_wake().unwrap();
        assert_eq!(sources.ask_due(early), [Source::EndpointSlices]);
        sources.answer(early, Source::EndpointSlices, listed(&[1]));
        // Not again within ten seconds, whatever happens.
        let before = sources.next_wake();
        sources.ask_soon(early);
        assert_eq!(sources.next_wake(), before);
    }
    assert!(moments.len() > 50);
}

#[test]
fn a_source_that_names_too_many_is_heard_in_part_and_said_so_once() {
    let mut sources = dns_only();
    sources.answer(at(0), Source::DnsA, named(&[200, 201], 5));
    let crowd: Vec<u8> = (1..=202).collect();
    let change = sources.answer(at(5), Source::DnsA, named(&crowd, 5));
    let why = change.health.flatten().expect("said so");
    assert_eq!(
        why,
        "names 202 addresses, 16 of them are used: limits.addresses is 16"
    );
    assert!(
        sources.names(address(200)) && sources.names(address(201)),
        "known ones come first"
    );
    assert_eq!(sources.addresses().count(), 16);
    for s in 2..50 {
        let change = sources.answer(at(s * 5), Source::DnsA, named(&crowd, 5));
        assert_eq!(change, Change::default(), "once");
    }
    assert_eq!(sources.addresses().count(), 16);
}

#[test]
fn rotation_among_more_than_the_most_does_not_grow_beyond_it() {
    let mut sources = dns_only();
    let mut chance = Chance::new(1);
    for s in 0..500 {
        let pick: Vec<u8> = (0..4)
            .map(|_| u8::try_from(chance.below(250)).unwrap())
            .collect();
        sources.answer(at(s * 5), Source::DnsA, named(&pick, 5));
        assert!(sources.addresses().count() <= EXPIRY.most);
    }
}
