//! The API servers' own list, the fleet's size, and what is remembered from an earlier life.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use holdfast_core::cache::{self, Entry};
use holdfast_core::status::{Source, Status, UpstreamStatus, What};
use rustix::process::Signal;

use crate::client::Client;
use crate::stage::{Agent, Cluster, NAME, eventually, loopback, upstream};

/// A token that no output may show.
const SECRET: &str = "hunter2hunter2";

fn kubeconfig(cluster: &Cluster, user: &str) -> String {
    let path = cluster.folder.path().join("kubeconfig");
    let ca = cluster.certificates.ca.display();
    // Nobody listens at its server: the agent goes its own way.
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         clusters: [{{name: k, cluster: {{server: 'https://{NAME}:1', certificate-authority: {ca}}}}}]\n\
         contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
         users: [{{name: u, user: {{{user}}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    format!("--kubeconfig={}", path.display())
}

/// Orders each server to name these.
fn list(cluster: &mut Cluster, addresses: &[SocketAddr]) {
    let named: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    for server in &mut cluster.servers {
        server.order(format!("endpoints {}", named.join(",")).trim_end());
    }
}

fn failure(status: &Status, source: Source) -> Option<String> {
    let found = status.sources.iter().find(|s| s.source == source);
    found.expect("it is asked").failure.clone()
}

fn origins(upstream: &UpstreamStatus) -> Vec<Source> {
    upstream
        .origins
        .iter()
        .map(|origin| origin.source)
        .collect()
}

/// With the first server as its only seed.
fn with_one_seed(cluster: &Cluster, more: &[String]) -> Vec<String> {
    let seed = format!("--seed={}", cluster.servers[0].listen);
    let mut arguments = cluster.basics();
    arguments.push(seed);
    arguments.extend_from_slice(more);
    arguments
}

#[test]
fn the_api_servers_own_list_is_a_source_and_they_count_the_nodes() {
    let mut cluster = Cluster::start(3);
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    list(&mut cluster, &all);
    for server in &mut cluster.servers {
        server.order("nodes 5000");
    }
    let plugin = cluster.folder.path().join("plugin");
    let prints = format!(
        "#!/bin/sh\necho '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\
         \"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{SECRET}\"}}}}'\n"
    );
    std::fs::write(&plugin, prints).unwrap();
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
    let user = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin}";
    let kubeconfig = kubeconfig(&cluster, user);
    let agent = Agent::start(&with_one_seed(&cluster, &[kubeconfig]));
    let status = agent.until("all are ready and the nodes are counted", |status| {
        status.fleet == Some(5000)
            && status.upstreams.len() == 3
            && status.upstreams.iter().all(|u| u.last_byte_s.is_some())
    });
    let first = upstream(&status, all[0]).unwrap();
    assert_eq!(origins(&first), [Source::Seed, Source::EndpointSlices]);
    let second = upstream(&status, all[1]).unwrap();
    assert_eq!(origins(&second), [Source::EndpointSlices]);
    let shown = agent.shown(&[]);
    assert!(shown.out.contains("endpoint-slices"), "{}", shown.out);
    assert!(!format!("{status:?}{}", shown.out).contains(SECRET));
}

#[test]
fn case_47_an_empty_list_or_a_refusal_changes_nothing_and_says_so() {
    let mut cluster = Cluster::start(2);
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    list(&mut cluster, &all);
    let kubeconfig = kubeconfig(&cluster, &format!("token: {SECRET}"));
    let agent = Agent::start(&with_one_seed(&cluster, &[kubeconfig]));
    agent.until("both are known", |status| status.upstreams.len() == 2);
    let mut client = cluster.connect(&agent);
    let name = client.server();
    let denied = |code: u16| format!("({code})");
    list(&mut cluster, &[]);
    let wrongs = [
        (None, "name no address that serves".to_owned()),
        (Some("deny 401"), denied(401)),
        (Some("deny 403"), "agent-rbac.yaml".to_owned()),
        (Some("deny 500"), denied(500)),
    ];
    for (order, words) in wrongs {
        for server in &mut cluster.servers {
            if let Some(order) = order {
                server.order(order);
            }
        }
        // Whoever has trouble with an upstream asks again; this one is asked by the clock.
        let status = agent.until(&words, |status| {
            failure(status, Source::EndpointSlices).is_some_and(|f| f.contains(&words))
        });
        let known: Vec<_> = status.upstreams.iter().map(|u| u.address).collect();
        assert_eq!(known, all, "{words}");
        assert!(status.ready);
    }
    assert_eq!(client.server(), name, "its connection is where it was");
    let status = agent.status();
    let mut actions = status.actions.iter();
    assert!(!actions.any(|a| matches!(a.what, What::ConnectionCut | What::UpstreamRemoved)));
    assert!(!format!("{status:?}").contains(SECRET));
}

#[test]
fn the_list_is_read_through_whichever_server_answers() {
    let mut cluster = Cluster::start(3);
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    list(&mut cluster, &all[..2]);
    let kubeconfig = kubeconfig(&cluster, "token: t");
    let agent = Agent::start(&with_one_seed(&cluster, &[kubeconfig]));
    agent.until("two are known", |status| status.upstreams.len() == 2);
    // The seed hangs: it accepts, and answers nothing. Only the other one tells of the third.
    cluster.servers[0].process.signal(Signal::STOP);
    let named = format!("endpoints {},{}", all[1], all[2]);
    cluster.servers[1].order(&named);
    agent.until("the third is known", |status| {
        upstream(status, all[2]).is_some()
    });
    cluster.servers[0].process.signal(Signal::CONT);
}

#[test]
fn a_kubeconfig_that_appears_later_is_taken_and_a_wrong_one_is_explained() {
    let mut cluster = Cluster::start(2);
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    list(&mut cluster, &all);
    let path = cluster.folder.path().join("kubeconfig");
    let argument = format!("--kubeconfig={}", path.display());
    let agent = Agent::start(&with_one_seed(&cluster, &[argument]));
    let says = |words: &str| {
        agent.until(words, |status| {
            failure(status, Source::EndpointSlices).is_some_and(|f| f.contains(words))
        });
    };
    says("kubeconfig: No such file or directory");
    kubeconfig(&cluster, &format!("token: {SECRET} x"));
    says("users[u].user.token: found more than one word; accepted: a bearer token on one line");
    kubeconfig(&cluster, "token: t");
    agent.until("the list is read", |status| {
        status.upstreams.len() == 2 && failure(status, Source::EndpointSlices).is_none()
    });
}

/// Writes a cache as an earlier life of the agent would have left it.
fn remember(cluster: &Cluster, addresses: &[SocketAddr]) -> String {
    let entries: Vec<_> = addresses
        .iter()
        .map(|address| Entry {
            address: *address,
            origins: vec![Source::DnsA],
            unanswered: Duration::ZERO,
        })
        .collect();
    let saved = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let endpoint = format!("https://{NAME}:{}", cluster.port);
    let path = cluster.folder.path().join("addresses");
    std::fs::write(&path, cache::encode(&endpoint, saved.as_secs(), &entries)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    format!("--cache={}", path.display())
}

/// Time from the agent's start to a client's first answer, with one remembered address dead.
fn first_connect(cluster: &Cluster, cache: &str) -> Duration {
    let mut arguments = cluster.basics();
    arguments.push(cache.to_owned());
    let agent = Agent::start(&arguments);
    let started = Instant::now();
    let mut client = Client::open(agent.listen, &cluster.certificates.ca)
        .unwrap_or_else(|error| panic!("{error}; {:#?}", agent.status()));
    let server = client.server();
    let took = started.elapsed();
    assert!(["cp2", "cp3"].contains(&server.as_str()), "{server}");
    let status = agent.status();
    let remembered = status
        .upstreams
        .iter()
        .filter(|u| origins(u) == [Source::Cache]);
    assert_eq!(remembered.count(), 3);
    took
}

#[test]
fn case_20_a_dead_address_in_the_cache_costs_no_time_while_every_source_is_down() {
    let mut cluster = Cluster::start(3);
    cluster.dns.order(&format!("set {NAME} ttl=1s A 127.0.0.9"));
    cluster.dns.order(&format!("fail {NAME} servfail"));
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    let cache = remember(&cluster, &all);
    // Hung, then gone. The best of three: this machine has other work too.
    for signal in [Signal::STOP, Signal::KILL] {
        cluster.servers[0].process.signal(signal);
        let tries = (0..3).map(|_| first_connect(&cluster, &cache));
        let best = tries.min().unwrap();
        assert!(best <= Duration::from_secs(1), "{signal:?}: {best:?}");
    }
}

#[test]
fn what_is_remembered_is_written_by_one_life_and_read_by_the_next() {
    let mut cluster = Cluster::start(2);
    let all: Vec<_> = cluster.servers.iter().map(|s| s.listen).collect();
    let record = format!("set {NAME} ttl=1s A {} {}", all[0].ip(), all[1].ip());
    cluster.dns.order(&record);
    let path = cluster.folder.path().join("addresses");
    let mut arguments = cluster.basics();
    arguments.push(format!("--cache={}", path.display()));
    let mut first = Agent::start(&arguments);
    // The set is looked at for the first time after 30 s.
    sleep(Duration::from_secs(15));
    eventually("it is written", || path.exists().then_some(()));
    first.process.signal(Signal::TERM);
    first.ends();
    cluster.dns.order(&format!("fail {NAME} servfail"));
    let second = Agent::start(&arguments);
    let status = second.until("it serves", |status| status.ready);
    assert_eq!(status.upstreams.len(), 2);
    assert!(
        status
            .upstreams
            .iter()
            .all(|u| origins(u) == [Source::Cache])
    );
    let shown = second.shown(&[]);
    assert!(shown.out.contains("cache"), "{}", shown.out);
}

#[test]
fn a_cache_that_is_torn_is_told_and_the_agent_serves_without_it() {
    let mut cluster = Cluster::start(1);
    let address = cluster.servers[0].listen;
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", address.ip()));
    let path = cluster.folder.path().join("addresses");
    std::fs::write(&path, "holdfast addresses 1\nendpoint h").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut arguments = cluster.basics();
    arguments.push(format!("--cache={}", path.display()));
    let mut agent = Agent::start(&arguments);
    let said = agent.says(|line| line["message"] == "source-changed");
    let evidence = said["evidence"].as_str().unwrap();
    assert!(
        evidence.starts_with("cache: read ") && evidence.contains("it is torn"),
        "{evidence}"
    );
    agent.until("ready", |status| status.ready);
}

/// Nine addresses, three of them in each answer; API servers behind three of the nine.
#[test]
fn case_38_and_39_a_rotating_name_cuts_nothing_and_names_each_address_once() {
    let mut cluster = Cluster::start(3);
    let addresses: Vec<_> = (2..=10).map(|n| loopback(n, cluster.port)).collect();
    let ips: Vec<_> = addresses.iter().map(|a| a.ip().to_string()).collect();
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", ips.join(" ")));
    cluster.dns.order(&format!("rotate {NAME} 3"));
    let agent = Agent::start(&cluster.basics());
    agent.until("all nine are known", |status| status.upstreams.len() == 9);
    let mut client = cluster.connect(&agent);
    let name = client.server();
    // Each address is missing from six answers in a row; the name is asked once a second.
    sleep(Duration::from_secs(15));
    assert_eq!(client.server(), name);
    let status = agent.status();
    assert_eq!(status.upstreams.len(), 9);
    let count = |what| status.actions.iter().filter(|a| a.what == what).count();
    assert_eq!(count(What::UpstreamAdded), 9);
    assert_eq!(count(What::UpstreamRemoved) + count(What::ConnectionCut), 0);
}

#[test]
fn an_answer_that_is_cut_off_is_asked_for_again_over_tcp() {
    let mut cluster = Cluster::start(1);
    let address = cluster.servers[0].listen;
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", address.ip()));
    cluster.dns.order(&format!("fail {NAME} truncated"));
    let agent = Agent::start(&cluster.basics());
    let status = agent.until("ready", |status| status.ready);
    assert_eq!(failure(&status, Source::DnsA), None);
}
