//! The DNS server, asked by a resolver that other programs use.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RecordType;

use crate::stage::{Actor, NAME};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Tcp,
    Udp,
    UdpThenTcp,
}

/// A resolver without a cache that asks the actor only.
fn resolver(server: SocketAddr, over: Over) -> TokioResolver {
    let (mut udp, mut tcp) = (ConnectionConfig::udp(), ConnectionConfig::tcp());
    udp.port = server.port();
    tcp.port = server.port();
    let connections = match over {
        Over::Tcp => vec![tcp],
        Over::Udp => vec![udp],
        Over::UdpThenTcp => vec![udp, tcp],
    };
    let server = NameServerConfig::new(server.ip(), true, connections);
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
    let mut options = ResolverOpts::default();
    options.timeout = Duration::from_millis(500);
    options.attempts = 1;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        .with_options(options)
        .build()
        .unwrap()
}

async fn ask(dns: &Actor, kind: RecordType, over: Over) -> Result<Lookup, NetError> {
    resolver(dns.listen, over)
        .lookup(format!("{NAME}."), kind)
        .await
}

/// The data of the answer's records of one type.
fn data(lookup: &Lookup, kind: RecordType) -> Vec<String> {
    let records = lookup.answers().iter();
    let records = records.filter(|record| record.record_type() == kind);
    records.map(|record| record.data.to_string()).collect()
}

async fn addresses(dns: &Actor, over: Over) -> Vec<String> {
    data(&ask(dns, RecordType::A, over).await.unwrap(), RecordType::A)
}

/// The response code of a failure, or `None` when there was no response.
fn code(outcome: Result<Lookup, NetError>) -> Option<ResponseCode> {
    let error = outcome.unwrap_err();
    if let NetError::Dns(DnsError::NoRecordsFound(none)) = &error {
        return Some(none.response_code);
    }
    if let NetError::Dns(DnsError::ResponseCode(code)) = &error {
        return Some(*code);
    }
    let silent = matches!(error, NetError::Timeout);
    assert!(silent, "neither an answer nor silence: {error:?}");
    None
}

#[tokio::test]
async fn answers_with_what_was_set_last_for_each_type_over_udp_and_tcp() {
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 10.0.0.1 10.0.0.2"))
        .await;
    dns.must(&format!("set {NAME} ttl=7s AAAA fd00::1")).await;
    dns.must(&format!("set {NAME} ttl=4500ms A 10.0.0.3 10.0.0.4"))
        .await;
    for over in [Over::Udp, Over::Tcp] {
        let v4 = ask(&dns, RecordType::A, over).await.unwrap();
        assert_eq!(data(&v4, RecordType::A), ["10.0.0.3", "10.0.0.4"]);
        assert_eq!(v4.answers()[0].ttl, 5);
        let v6 = ask(&dns, RecordType::AAAA, over).await.unwrap();
        assert_eq!(data(&v6, RecordType::AAAA), ["fd00::1"]);
        assert_eq!(v6.answers()[0].ttl, 7);
    }
    dns.must(&format!("set {NAME} ttl=5s AAAA")).await;
    let outcome = ask(&dns, RecordType::AAAA, Over::Udp).await;
    assert_eq!(code(outcome), Some(ResponseCode::NoError));
    assert!(dns.order("count").await["questions"].as_u64().unwrap() >= 5);
}

#[tokio::test]
async fn answers_a_chain_of_aliases_in_full_with_each_lifetime() {
    let mut dns = Actor::dns().await;
    dns.must(&format!("cname {NAME} ttl=300s lb.example.net"))
        .await;
    dns.must("cname LB.example.net ttl=60s pool.example.net")
        .await;
    dns.must("set pool.example.net ttl=5s A 10.0.0.1").await;
    let lookup = ask(&dns, RecordType::A, Over::Udp).await.unwrap();
    let lifetimes: Vec<_> = lookup.answers().iter().map(|record| record.ttl).collect();
    assert_eq!(lifetimes, [300, 60, 5]);
    assert_eq!(
        data(&lookup, RecordType::CNAME),
        ["lb.example.net.", "pool.example.net."]
    );
    assert_eq!(data(&lookup, RecordType::A), ["10.0.0.1"]);

    dns.must("fail pool.example.net servfail").await;
    let outcome = ask(&dns, RecordType::A, Over::Udp).await;
    assert_eq!(code(outcome), Some(ResponseCode::ServFail));
    dns.must(&format!("cname pool.example.net ttl=5s {NAME}"))
        .await;
    dns.must("heal pool.example.net").await;
    let outcome = ask(&dns, RecordType::A, Over::Udp).await;
    assert_eq!(code(outcome), Some(ResponseCode::ServFail), "a loop");
}

#[tokio::test]
async fn rotates_through_all_addresses_a_few_at_a_time() {
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 10.0.0.1 10.0.0.2 10.0.0.3"))
        .await;
    dns.must(&format!("rotate {NAME} 2")).await;
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let shown = addresses(&dns, Over::Udp).await;
        assert_eq!(shown.len(), 2);
        seen.extend(shown);
    }
    assert_eq!(seen.len(), 3);
}

#[tokio::test]
async fn fails_in_every_way_that_was_ordered_and_heals() {
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 10.0.0.1")).await;
    for (kind, expected) in [
        ("empty", Some(ResponseCode::NoError)),
        ("nxdomain", Some(ResponseCode::NXDomain)),
        ("refused", Some(ResponseCode::Refused)),
        ("servfail", Some(ResponseCode::ServFail)),
        ("silent", None),
    ] {
        dns.must(&format!("fail {NAME} {kind}")).await;
        for over in [Over::Udp, Over::Tcp] {
            let outcome = ask(&dns, RecordType::A, over).await;
            assert_eq!(code(outcome), expected, "{kind} {over:?}");
        }
        dns.must(&format!("heal {NAME}")).await;
        assert_eq!(addresses(&dns, Over::Udp).await, ["10.0.0.1"], "{kind}");
    }
}

#[tokio::test]
async fn a_truncated_answer_is_whole_over_tcp() {
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 10.0.0.1")).await;
    dns.must(&format!("fail {NAME} truncated")).await;
    let cut = ask(&dns, RecordType::A, Over::Udp).await;
    assert!(cut.is_err() || cut.unwrap().answers().is_empty());
    assert_eq!(addresses(&dns, Over::Tcp).await, ["10.0.0.1"]);
    assert_eq!(addresses(&dns, Over::UdpThenTcp).await, ["10.0.0.1"]);
}

#[tokio::test]
async fn an_answer_too_long_for_udp_is_truncated() {
    let mut dns = Actor::dns().await;
    let many: Vec<_> = (1..=200).map(|last| format!("10.0.0.{last}")).collect();
    dns.must(&format!("set {NAME} ttl=5s A {}", many.join(" ")))
        .await;
    let cut = ask(&dns, RecordType::A, Over::Udp).await;
    assert!(cut.is_err() || cut.unwrap().answers().is_empty());
    assert_eq!(addresses(&dns, Over::UdpThenTcp).await, many);
}

#[tokio::test]
async fn names_without_records_carry_the_zone_and_its_negative_lifetime() {
    let dns = Actor::dns().await;
    let resolver = resolver(dns.listen, Over::Udp);
    let below = resolver
        .lookup(format!("nobody.{NAME}."), RecordType::A)
        .await;
    let Err(NetError::Dns(DnsError::NoRecordsFound(none))) = below else {
        panic!("{below:?}");
    };
    assert_eq!(none.response_code, ResponseCode::NXDomain);
    assert_eq!(none.soa.unwrap().name.to_string(), format!("{NAME}."));
    assert_eq!(none.negative_ttl, Some(5));
    let outside = resolver.lookup("elsewhere.test.", RecordType::A).await;
    assert_eq!(code(outside), Some(ResponseCode::Refused));
}

#[tokio::test]
async fn says_what_is_wrong_with_an_order() {
    let mut dns = Actor::dns().await;
    for (order, found) in [
        (format!("set {NAME} ttl=5 A 10.0.0.1"), "\"5\""),
        (format!("set {NAME} 5s A 10.0.0.1"), "\"5s\""),
        (format!("set {NAME} ttl=5s MX 10.0.0.1"), "\"MX\""),
        (format!("set {NAME} ttl=5s AAAA 10.0.0.1"), "\"10.0.0.1\""),
        (format!("rotate {NAME} 0"), "\"0\""),
        (format!("fail {NAME} badly"), "\"badly\""),
        ("vanish".to_owned(), "\"vanish\""),
    ] {
        let answer = dns.order(&order).await;
        assert_eq!(answer["ok"], false, "{order}");
        let error = answer["error"].as_str().unwrap();
        assert!(
            error.contains(found) && error.contains("accepted"),
            "{error}"
        );
    }
}
