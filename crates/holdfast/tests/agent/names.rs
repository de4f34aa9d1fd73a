//! Upstreams that DNS names: found, followed, and kept while DNS fails.

use std::net::SocketAddr;

use holdfast_core::status::{Source, Status, Verdict, What};

use crate::client::{Client, End, fate_of_a_client};
use crate::stage::{Agent, Cluster, NAME, loopback};

fn ready(status: &Status) -> Vec<SocketAddr> {
    let ready = status
        .upstreams
        .iter()
        .filter(|u| u.verdict == Verdict::Ready);
    ready.map(|u| u.address).collect()
}

fn source(status: &Status, source: Source) -> (Vec<SocketAddr>, Option<String>) {
    let found = status.sources.iter().find(|s| s.source == source).unwrap();
    (found.addresses.clone(), found.failure.clone())
}

#[test]
fn an_address_that_dns_names_later_is_found_without_a_restart() {
    let mut cluster = Cluster::start(2);
    let (first, second) = (cluster.servers[0].listen, cluster.servers[1].listen);
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", first.ip()));
    let agent = Agent::start(&cluster.basics());
    agent.until("the first is ready", |status| ready(status) == [first]);
    assert_eq!(cluster.connect(&agent).server(), "cp1");
    cluster.dns.order(&format!(
        "set {NAME} ttl=1s A {} {}",
        first.ip(),
        second.ip()
    ));
    let status = agent.until("both are ready", |status| ready(status) == [first, second]);
    assert_eq!(source(&status, Source::DnsA), (vec![first, second], None));
    // A name without IPv6 addresses is no failure.
    assert_eq!(source(&status, Source::DnsAaaa), (vec![], None));
}

#[test]
fn an_address_that_dns_no_longer_names_leaves_after_some_answers_and_its_connection_stays() {
    let mut cluster = Cluster::start(2);
    let (first, second) = (cluster.servers[0].listen, cluster.servers[1].listen);
    cluster.dns.order(&format!(
        "set {NAME} ttl=1s A {} {}",
        first.ip(),
        second.ip()
    ));
    let agent = Agent::start(&cluster.basics());
    agent.until("both are ready", |status| ready(status) == [first, second]);
    let mut client = cluster.connect(&agent);
    let name = client.server();
    let gone = cluster.server(&name).listen;
    let stays = if gone == first { second } else { first };
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", stays.ip()));
    agent.verdict(gone, Verdict::Draining);
    assert_eq!(client.server(), name);
    assert_ne!(cluster.connect(&agent).server(), name);
    drop(client);
    agent.until("it is forgotten", |status| {
        let addresses = status.upstreams.iter().map(|u| u.address);
        addresses.collect::<Vec<_>>() == [stays]
    });
}

#[test]
fn a_dns_that_fails_takes_nothing_away_and_says_so_once() {
    let mut cluster = Cluster::start(1);
    let address = cluster.servers[0].listen;
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", address.ip()));
    let mut agent = Agent::start(&cluster.basics());
    agent.until("ready", |status| ready(status) == [address]);
    cluster.dns.order(&format!("fail {NAME} nxdomain"));
    let said = agent.says(|line| {
        line["message"] == "source-changed"
            && line["evidence"]
                .as_str()
                .is_some_and(|e| e.starts_with("dns-a:"))
    });
    assert_eq!(said["level"], "WARN");
    assert_eq!(said["reason"], "source-failed");
    let evidence = said["evidence"].as_str().unwrap();
    assert!(
        evidence.contains(NAME) && evidence.contains("NXDOMAIN"),
        "{evidence}"
    );
    let status = agent.status();
    assert_eq!(ready(&status), [address]);
    assert_eq!(cluster.connect(&agent).server(), "cp1");
    cluster.dns.order(&format!("heal {NAME}"));
    agent.says(|line| {
        line["reason"] == "source-recovered"
            && line["evidence"]
                .as_str()
                .is_some_and(|e| e.starts_with("dns-a "))
    });
}

#[test]
fn without_a_dns_answer_at_start_it_keeps_trying_says_so_and_serves_as_soon_as_there_is_one() {
    let mut cluster = Cluster::start(1);
    let address = cluster.servers[0].listen;
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", address.ip()));
    cluster.dns.order(&format!("fail {NAME} servfail"));
    let mut agent = Agent::start(&cluster.basics());
    let said = agent.says(|line| line["message"] == "source-changed");
    assert_eq!(said["level"], "WARN");
    assert!(
        said["evidence"].as_str().unwrap().contains(NAME)
            && said["next"].as_str().unwrap().contains("asked again"),
        "{said}"
    );
    assert_eq!(fate_of_a_client(agent.listen), End::Reset);
    let status = agent.until("it is written down", |status| {
        let mut actions = status.actions.iter();
        actions.any(|a| a.what == What::ConnectionRefused)
    });
    assert!(!status.ready && status.upstreams.is_empty());
    let shown = agent.shown(&[]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.out.contains("NO USABLE UPSTREAM"), "{}", shown.out);
    assert!(shown.out.contains("failing: "), "{}", shown.out);

    cluster.dns.order(&format!("heal {NAME}"));
    agent.until("ready", |status| status.ready);
    let mut client = Client::open(agent.listen, &cluster.certificates.ca).unwrap();
    assert_eq!(client.server(), "cp1");
}

#[test]
fn a_name_that_leads_to_the_agents_own_listener_is_a_warning_and_is_not_used() {
    let mut cluster = Cluster::start(0);
    let own = loopback(1, cluster.port);
    let record = format!("set {NAME} ttl=1s A {}", own.ip());
    cluster.dns.order(&record);
    let mut arguments = cluster.basics();
    arguments.retain(|argument| !argument.starts_with("--listen"));
    arguments.push(format!("--listen={own}"));
    let mut agent = Agent::start(&arguments);
    let said = agent.says(|line| line["message"] == "source-changed");
    assert_eq!(said["level"], "WARN");
    let warning = format!("names {own}, which is this agent's own listener: not used");
    assert_eq!(said["evidence"], format!("dns-a: {warning}"));
    // It would call itself again and again.
    assert_eq!(fate_of_a_client(own), End::Reset);
    let status = agent.status();
    assert!(status.upstreams.is_empty(), "{status:?}");
    assert_eq!(source(&status, Source::DnsA), (vec![], Some(warning)));
}
