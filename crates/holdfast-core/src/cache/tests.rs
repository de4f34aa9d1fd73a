use proptest::prelude::*;

use super::*;

const ENDPOINT: &str = "https://api.example.test:6443";

fn entry_of(n: u8, unanswered: u64) -> Entry {
    Entry {
        address: SocketAddr::from(([10, 0, 0, n], 6443)),
        origins: vec![Source::DnsA, Source::EndpointSlices],
        unanswered: Duration::from_secs(unanswered),
    }
}

#[test]
fn the_format_is_the_same_for_ever() {
    let six = Entry {
        address: "[fd00::1]:6443".parse().unwrap(),
        origins: vec![Source::DnsAaaa],
        unanswered: Duration::from_millis(2900),
    };
    let text = encode(ENDPOINT, 1_764_565_200, &[entry_of(11, 0), six]);
    // Another text would make an upgraded agent forget everything.
    assert_eq!(
        text,
        "holdfast addresses 1\n\
         endpoint https://api.example.test:6443\n\
         saved 1764565200\n\
         10.0.0.11:6443 unanswered 0 named-by dns-a endpoint-slices\n\
         [fd00::1]:6443 unanswered 2 named-by dns-aaaa\n\
         checksum 82401765b0b4afa2\n"
    );
}

#[test]
fn what_is_not_ours_is_told_apart() {
    let good = encode(ENDPOINT, 7, &[entry_of(1, 0)]);
    let with_checksum = |body: &str| format!("{body}checksum {:016x}\n", hash_text(body));
    let head = format!("holdfast addresses 1\nendpoint {ENDPOINT}\nsaved 7\n");
    let cases = [
        (String::new(), CacheError::Alien),
        ("kind: Config\n".to_owned(), CacheError::Alien),
        ("holdfast addresses x\n".to_owned(), CacheError::Alien),
        (
            good.replace("addresses 1", "addresses 2"),
            CacheError::OtherVersion(2),
        ),
        (good.replace("10.0.0.1:", "10.0.0.2:"), CacheError::Torn),
        (good.replace("checksum ", "checksum 0"), CacheError::Torn),
        (
            with_checksum(&head.replace("saved 7", "saved yesterday")),
            CacheError::Line(3),
        ),
        (
            with_checksum(&format!("{head}10.0.0.1 unanswered 1 named-by dns-a\n")),
            CacheError::Line(4),
        ),
        (
            with_checksum(&format!("{head}10.0.0.1:1 unanswered -1 named-by dns-a\n")),
            CacheError::Line(4),
        ),
        (
            with_checksum(&format!("{head}10.0.0.1:1 unanswered 1\n")),
            CacheError::Line(4),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(decode(&text, ENDPOINT), Err(expected), "{text}");
    }
    assert_eq!(
        decode(&good, "https://other.test:6443"),
        Err(CacheError::OtherEndpoint(ENDPOINT.to_owned()))
    );
    let newer = with_checksum(&format!(
        "{head}10.0.0.1:1 unanswered 1 named-by dns-a smoke-signals\n"
    ));
    assert_eq!(
        decode(&newer, ENDPOINT).unwrap().entries[0].origins,
        [Source::DnsA]
    );
}

#[test]
fn what_never_answers_ages_out_but_not_while_nothing_answers() {
    let day = SILENT_FOR.as_secs();
    let kept = fresh(vec![entry_of(1, day), entry_of(2, 5), entry_of(3, day + 5)]);
    let left: Vec<_> = kept.iter().map(|entry| entry.address.to_string()).collect();
    assert_eq!(left, ["10.0.0.2:6443", "10.0.0.1:6443"]);
    // A month without a network: all of them are as silent.
    let kept = fresh(vec![entry_of(1, 30 * day), entry_of(2, 30 * day + 60)]);
    assert_eq!(kept.len(), 2);
    assert!(fresh(Vec::new()).is_empty());
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let origins = prop::collection::btree_set(
        prop_oneof![
            Just(Source::DnsA),
            Just(Source::DnsAaaa),
            Just(Source::EndpointSlices)
        ],
        0..3,
    );
    (
        any::<std::net::IpAddr>(),
        any::<u16>(),
        origins,
        0u64..10_000_000,
    )
        .prop_map(|(ip, port, origins, unanswered)| Entry {
            address: SocketAddr::new(ip, port),
            origins: origins.into_iter().collect(),
            unanswered: Duration::from_secs(unanswered),
        })
}

proptest! {
    #[test]
    fn reads_what_it_wrote(entries in prop::collection::vec(any_entry(), 0..20), saved in any::<u64>()) {
        let text = encode(ENDPOINT, saved, &entries);
        prop_assert!(text.len() <= MOST_BYTES);
        prop_assert_eq!(decode(&text, ENDPOINT), Ok(Cache { saved, entries }));
    }

    /// A file that was cut off anywhere, or in which one byte is another, is not believed in part.
    #[test]
    fn s1_a_torn_file_is_refused_as_a_whole(
        entries in prop::collection::vec(any_entry(), 1..5),
        cut in any::<prop::sample::Index>(),
        byte in 1u8..=127,
    ) {
        let text = encode(ENDPOINT, 7, &entries);
        let place = cut.index(text.len());
        let torn = text.get(..place).unwrap_or_default();
        prop_assert!(decode(torn, ENDPOINT).is_err());
        let mut changed = text.clone().into_bytes();
        changed[place] ^= byte;
        let changed = String::from_utf8_lossy(&changed);
        prop_assert!(decode(&changed, ENDPOINT).is_err());
    }

    /// Ageing never empties a set (S1).
    #[test]
    fn s1_ageing_keeps_the_freshest(entries in prop::collection::vec(any_entry(), 1..20)) {
        let freshest = entries.iter().map(|entry| entry.unanswered).min();
        let kept = fresh(entries);
        prop_assert_eq!(kept.first().map(|entry| entry.unanswered), freshest);
    }
}
