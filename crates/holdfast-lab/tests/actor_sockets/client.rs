//! The client against a real server: it must fail, and recover, exactly when a kubelet does.

use std::time::Duration;

use holdfast_lab::actor::Console;
use holdfast_lab::actor::client::{self, Client, Event, Lane, What};
use socket2::SockRef;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::stage::{Actor, Certificates, NAME, Wire, client_options, loopback};

/// The two addresses of the name, before and after.
const OLD: u8 = 2;
const NEW: u8 = 3;

/// A world with one server behind two addresses of one name. The old one goes silent right after a
/// heartbeat, and the name follows `follows_after` later. Returns the gap between heartbeats.
async fn gap_of_a_silent_drop(time_scale: f64, follows_after: Duration) -> f64 {
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let mut old = Wire::to(server.listen, loopback(OLD, 0));
    let _new = Wire::to(server.listen, loopback(NEW, old.listen.port()));
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 127.0.0.{OLD}"))
        .await;

    let url = format!("https://{NAME}:{}", old.listen.port());
    let mut client = Actor::client(url, &certificates, time_scale, |options| {
        options.resolve_with = Some(dns.listen);
    })
    .await;
    client.heartbeat().await;
    let last = client.heartbeat().await;
    old.cut().await;
    let follow = async {
        sleep(follows_after).await;
        dns.must(&format!("set {NAME} ttl=5s A 127.0.0.{NEW}"))
            .await;
    };
    let (next, ()) = tokio::join!(client.heartbeat(), follow);
    next.t - last.t
}

#[tokio::test]
async fn loses_45_seconds_to_a_silent_drop_as_a_kubelet_does() {
    let gap = gap_of_a_silent_drop(10.0, Duration::ZERO).await * 10.0;
    // Measured on a real kubelet: 45.0 s.
    assert!((44.5..48.0).contains(&gap), "{gap}");
}

#[tokio::test]
async fn loses_65_seconds_when_the_name_follows_after_60_as_a_kubelet_does() {
    let gap = gap_of_a_silent_drop(10.0, Duration::from_secs(6)).await * 10.0;
    // Measured on a real kubelet: 65.2 s.
    assert!((64.5..69.0).contains(&gap), "{gap}");
}

#[tokio::test]
async fn pings_after_30_seconds_of_silence_and_gives_up_after_15_more() {
    const SCALE: f64 = 30.0;
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let mut wire = Wire::to(server.listen, loopback(OLD, 0));
    let url = format!("https://{}", wire.listen);
    let mut client = Actor::client(url, &certificates, SCALE, |_| {}).await;
    let last = client.heartbeat().await;
    wire.cut().await;
    let closed = client.event(|event| event.what == What::Closed).await;
    assert_eq!(closed.detail.as_deref(), Some("ping-timeout"));
    assert_eq!(closed.server.as_deref(), Some("cp1"));
    assert_eq!(Some(closed.id), last.connection);
    let stock = (closed.t - last.t) * SCALE;
    assert!((44.0..55.0).contains(&stock), "{stock}");
}

#[tokio::test]
async fn keeps_a_quiet_connection_whose_pings_are_answered() {
    const SCALE: f64 = 60.0;
    let certificates = Certificates::new();
    let mut server = Actor::api_server("cp1", &certificates).await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url, &certificates, SCALE, |_| {}).await;
    let first = client.heartbeat().await;
    // Every answer comes too late for its request, while pings are answered at once.
    server.must("delay 60s").await;
    sleep(Duration::from_secs_f64(150.0 / SCALE)).await;
    server.must("delay 0s").await;
    let next = client.heartbeat().await;
    assert!(next.t - first.t > 100.0 / SCALE);
    assert_eq!(next.connection, first.connection);
}

#[tokio::test]
async fn tries_five_times_at_once_and_then_ever_more_slowly() {
    const SCALE: f64 = 20.0;
    let certificates = Certificates::new();
    let mut server = Actor::api_server("cp1", &certificates).await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url, &certificates, SCALE, |_| {}).await;
    client.heartbeat().await;
    server.must("delay 60s").await;

    let failure = |event: &Event| event.lane == Lane::Heartbeat && event.what == What::Failed;
    let mut failures = Vec::new();
    for _ in 0..9 {
        failures.push(client.event(failure).await);
    }
    let verbs: Vec<_> = failures.iter().map(verb).collect();
    assert_eq!(verbs[..5], ["put"; 5]);
    assert_eq!(verbs[5..], ["get"; 4]);
    for event in &failures {
        let took = event.took_s.unwrap() * SCALE;
        assert!(
            (9.9..14.0).contains(&took),
            "a request took {took} stock seconds"
        );
    }
    let begun = |event: &Event| event.t - event.took_s.unwrap();
    let pauses = failures
        .windows(2)
        .map(|pair| (begun(&pair[1]) - pair[0].t) * SCALE);
    for (pause, wanted) in pauses.zip([0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.4, 0.8]) {
        assert!(
            (wanted - 0.01..wanted + 0.5).contains(&pause),
            "{pause} instead of {wanted}"
        );
    }

    server.must("delay 0s").await;
    let renewed = client.heartbeat().await;
    assert_eq!(renewed.detail.as_deref(), Some("put"));
}

#[tokio::test]
async fn beats_every_ten_seconds_and_up_to_four_percent_more() {
    const SCALE: f64 = 20.0;
    let certificates = Certificates::new();
    let mut server = Actor::api_server("cp1", &certificates).await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url, &certificates, SCALE, |_| {}).await;
    let created = client.heartbeat().await;
    assert_eq!(created.detail.as_deref(), Some("post"));
    assert_eq!(created.server.as_deref(), Some("cp1"));
    let mut before = created;
    for _ in 0..4 {
        let next = client.heartbeat().await;
        let period = (next.t - before.t) * SCALE;
        assert!((9.99..12.0).contains(&period), "{period}");
        assert_eq!(next.connection, before.connection);
        before = next;
    }
    let counts = server.order("count").await;
    // One connection for the heartbeat and the watch: GET, POST, four PUTs and the watch.
    assert_eq!(counts["connections_open"], 1);
    assert_eq!(counts["handshakes"], 1);
    assert_eq!(counts["requests"], 7);
}

#[tokio::test]
async fn spends_its_share_on_a_silent_address_and_goes_to_the_next() {
    const SCALE: f64 = 30.0;
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let mut silent = Wire::to(server.listen, loopback(OLD, 0));
    silent.cut().await;
    let _sound = Wire::to(server.listen, loopback(NEW, silent.listen.port()));
    let mut dns = Actor::dns().await;
    dns.must(&format!("set {NAME} ttl=5s A 127.0.0.{OLD} 127.0.0.{NEW}"))
        .await;
    let url = format!("https://{NAME}:{}", silent.listen.port());
    let mut client = Actor::client(url, &certificates, SCALE, |options| {
        options.resolve_with = Some(dns.listen);
    })
    .await;
    let connected = client.event(|event| event.what == What::Connected).await;
    assert_eq!(
        connected.detail,
        Some(format!("127.0.0.{NEW}:{}", silent.listen.port()))
    );
    // Half of the dial's 30 s.
    let stock = connected.took_s.unwrap() * SCALE;
    assert!((14.9..20.0).contains(&stock), "{stock}");
    client.heartbeat().await;
}

#[tokio::test]
async fn idle_active_and_fresh_connections_are_told_apart_and_told_cut() {
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url, &certificates, 1.0, |options| {
        options.idle = 1;
        options.active = 1;
        options.fresh = Some(Duration::from_millis(100));
    })
    .await;
    let mut held = Vec::new();
    let mut wanted = vec![
        Lane::Active,
        Lane::Fresh,
        Lane::Heartbeat,
        Lane::Idle,
        Lane::Watch,
    ];
    while !wanted.is_empty() {
        let ok = client.event(|event| event.what == What::Ok).await;
        assert_eq!(ok.server.as_deref(), Some("cp1"));
        wanted.retain(|lane| *lane != ok.lane);
        held.extend(ok.connection);
    }
    held.sort_unstable();
    held.dedup();
    assert_eq!(held.len(), 3, "the heartbeat and its watch share one");

    drop(server);
    while !held.is_empty() {
        let closed = client.event(|event| event.what == What::Closed).await;
        let how = closed.detail.unwrap();
        assert!(how == "eof" || how == "reset", "{how}");
        held.retain(|id| *id != closed.id);
    }
    client
        .event(|event| event.lane == Lane::Fresh && event.what == What::Failed)
        .await;
}

#[tokio::test]
async fn refuses_a_server_whose_certificate_another_authority_signed() {
    let certificates = Certificates::new();
    let strangers = Certificates::new();
    let server = Actor::api_server("stranger", &strangers).await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url, &certificates, 20.0, |_| {}).await;
    let failed = client.event(|event| event.what == What::DialFailed).await;
    let detail = failed.detail.unwrap();
    assert!(
        detail.contains("TLS") && detail.contains("certificate"),
        "{detail}"
    );
}

/// The request that failed: `put` of `put: timed out`.
fn verb(event: &Event) -> &str {
    event
        .detail
        .as_deref()
        .and_then(|detail| detail.split(':').next())
        .unwrap()
}

/// Starts a client with one option spoilt and returns its complaint.
async fn complaint(spoil: impl FnOnce(&mut Client)) -> String {
    let certificates = Certificates::new();
    let mut options = client_options("https://127.0.0.1:6443".to_owned(), &certificates, 1.0);
    spoil(&mut options);
    let outcome = client::serve(options, Console::pair().0).await;
    outcome.unwrap_err().to_string()
}

#[tokio::test]
async fn says_which_option_is_wrong_instead_of_starting() {
    for server in ["http://api:6443", "https://api", "api"] {
        let said = complaint(|options| options.server = server.to_owned()).await;
        let wanted = format!("--server: found {server:?}, accepted: https://HOST:PORT");
        assert_eq!(said, wanted);
    }
    let said = complaint(|options| options.time_scale = 0.0).await;
    assert_eq!(
        said,
        "--time-scale: found \"0\", accepted: a number above 0"
    );
    let said = complaint(|options| options.tls_name = "-".to_owned()).await;
    assert!(said.contains("\"-\""), "{said}");
    let said = complaint(|options| options.ca.set_file_name("key.pem")).await;
    assert!(said.contains("key.pem"), "{said}");
}

#[tokio::test]
async fn tells_a_reset_from_an_end() {
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let mut balancer = Actor::balancer(vec![server.listen]).await;
    let url = format!("https://{}", balancer.listen);
    let mut client = Actor::client(url, &certificates, 20.0, |_| {}).await;
    client.heartbeat().await;
    balancer.must("to").await;
    drop(server);
    let closed = client.event(|event| event.what == What::Closed).await;
    assert_eq!(closed.detail.as_deref(), Some("eof"));
    // Without a target the balancer resets whoever comes.
    let failed = client.event(|event| event.what == What::DialFailed).await;
    assert!(failed.detail.unwrap().contains("reset"));
}

#[tokio::test]
async fn a_reader_that_stopped_reading_stays_until_it_is_reset_and_tells_it() {
    let certificates = Certificates::new();
    let server = Actor::api_server("cp1", &certificates).await;
    let listener = TcpListener::bind(loopback(OLD, 0)).await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let (cut, mut is_cut) = watch::channel(false);
    let target = server.listen;
    let relay = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        // The heartbeat's connection, and the reader's.
        for _ in 0..2 {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut is_cut = is_cut.clone();
            connections.spawn(async move {
                let mut far = TcpStream::connect(target).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => {}
                    _ = is_cut.wait_for(|cut| *cut) => {}
                }
                SockRef::from(&near)
                    .set_linger(Some(Duration::ZERO))
                    .unwrap();
            });
        }
        is_cut.wait_for(|cut| *cut).await.unwrap();
        connections.join_all().await;
    });
    let mut client = Actor::client(url, &certificates, 1.0, |options| options.readers = 1).await;
    let reader = |event: &Event| event.lane == Lane::Reader;
    client
        .event(|event| reader(event) && event.what == What::Ok)
        .await;
    client.tell("stop-reading");
    let early = client.event(|event| reader(event) && event.what == What::Closed);
    assert!(timeout(Duration::from_millis(700), early).await.is_err());
    cut.send_replace(true);
    let closed = client
        .event(|event| reader(event) && event.what == What::Closed)
        .await;
    assert_eq!(closed.detail.as_deref(), Some("reset"));
    relay.await.unwrap();
}
