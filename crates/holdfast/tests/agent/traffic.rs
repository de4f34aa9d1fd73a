//! Clients behind the agent while servers die, hang, drain and change their identity.

use std::net::TcpListener;
use std::process::Command;
use std::time::Instant;

use holdfast_core::reason::Reason;
use holdfast_core::status::{Verdict, What};
use holdfast_lab::certificates::Certificates;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::client::{Client, End, fate_of_a_client};
use crate::stage::{Actor, Agent, Cluster, NAME, PATIENCE, holdfast, loopback, skipped};

#[test]
fn requests_pass_with_tls_from_end_to_end_and_one_connection_keeps_its_server() {
    let cluster = Cluster::start(3);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    let first = client.get("/version").unwrap();
    assert_eq!(first.status, 200);
    assert!(first.body.contains("gitVersion"), "{}", first.body);
    for _ in 0..3 {
        assert_eq!(client.server(), first.server);
    }
    // The agent holds no key of the cluster: a client that trusts another CA gets no further.
    let other = TempDir::new().unwrap();
    let stranger = Certificates::make(other.path(), NAME, &[]).unwrap();
    let error = Client::open(agent.listen, &stranger.ca).err().unwrap();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn both_loopback_addresses_serve() {
    if TcpListener::bind("[::1]:0").is_err() {
        return skipped("no IPv6 on the loopback interface");
    }
    let cluster = Cluster::start(1);
    let mut arguments = cluster.with_seeds();
    arguments.push("--listen=[::1]:0".to_owned());
    let agent = Agent::start(&arguments);
    agent.verdict(cluster.servers[0].listen, Verdict::Ready);
    assert_eq!(agent.listeners.len(), 2);
    for listener in &agent.listeners {
        let mut client = Client::open(*listener, &cluster.certificates.ca).unwrap();
        assert_eq!(client.server(), "cp1");
    }
}

#[test]
fn a_killed_server_is_dead_at_once_and_clients_go_to_the_others() {
    let mut cluster = Cluster::start(3);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    let name = client.server();
    let lost = cluster.server(&name).listen;
    cluster.server(&name).process.signal(Signal::KILL);
    client.end();
    let seen = agent.verdict(lost, Verdict::Dead);
    assert!(
        matches!(seen.reason, Reason::Refused | Reason::Reset),
        "{seen:?}"
    );
    for _ in 0..5 {
        assert_ne!(cluster.connect(&agent).server(), name);
    }
    // It comes back on its address, and is trusted again.
    let again = Actor::api_server(&name, lost, &cluster.certificates);
    agent.verdict(lost, Verdict::Ready);
    assert_eq!(cluster.connect(&agent).server(), name);
    drop(again);
}

#[test]
fn case_30_idle_connections_to_a_hung_server_are_reset_for_its_health_not_for_being_idle() {
    let mut cluster = Cluster::start(3);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    let mut bystander = cluster.connect(&agent);
    let name = client.server();
    let lost = cluster.server(&name).listen;
    assert_eq!(bystander.server(), name);
    cluster.server(&name).process.signal(Signal::STOP);
    // Its kernel still takes connections: only the silence tells.
    assert_eq!(client.end(), End::Reset);
    assert_eq!(bystander.end(), End::Reset);
    let seen = agent.verdict(lost, Verdict::Silent);
    assert_eq!(seen.reason, Reason::Hung);
    let status = agent.until("both are gone", |status| status.connections == 0);
    let cuts: Vec<_> = status
        .actions
        .iter()
        .filter(|a| a.what == What::ConnectionCut)
        .map(|a| (a.upstream, a.reason))
        .collect();
    assert_eq!(cuts, [(Some(lost), Reason::Hung); 2]);
    assert_ne!(cluster.connect(&agent).server(), name);
    cluster.server(&name).process.signal(Signal::CONT);
    agent.verdict(lost, Verdict::Ready);
}

#[test]
fn a_client_that_meets_a_server_which_has_just_hung_is_served_by_another() {
    let mut cluster = Cluster::start(2);
    let agent = cluster.agent();
    let name = cluster.connect(&agent).server();
    cluster.server(&name).process.signal(Signal::STOP);
    // Before any probe can tell.
    assert_ne!(cluster.connect(&agent).server(), name);
}

#[test]
fn a_server_that_is_not_ready_keeps_its_connections_and_gets_no_new_ones() {
    let mut cluster = Cluster::start(2);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    let name = client.server();
    let address = cluster.server(&name).listen;
    cluster.server(&name).order("not-ready");
    let seen = agent.verdict(address, Verdict::Draining);
    assert_eq!(seen.reason, Reason::ReadyzFailed);
    assert_eq!(seen.connections, 1);
    assert_ne!(cluster.connect(&agent).server(), name);
    assert_eq!(client.server(), name);
    cluster.server(&name).order("ready");
    agent.verdict(address, Verdict::Ready);
    assert_eq!(client.server(), name);
    assert_eq!(cluster.connect(&agent).server(), name);
}

#[test]
fn when_the_drain_time_is_over_connections_are_closed_in_order() {
    let mut cluster = Cluster::start(2);
    let mut arguments = cluster.with_seeds();
    arguments.push("--drain-timeout=1s".to_owned());
    let agent = Agent::start(&arguments);
    for server in &cluster.servers {
        agent.verdict(server.listen, Verdict::Ready);
    }
    let mut client = cluster.connect(&agent);
    let name = client.server();
    cluster.server(&name).order("not-ready");
    assert_eq!(client.end(), End::Closed);
    let status = agent.until("it is gone", |status| status.connections == 0);
    let drained = status
        .actions
        .iter()
        .find(|a| a.what == What::ConnectionDrained);
    assert_eq!(drained.unwrap().reason, Reason::DrainTimeOver);
}

#[test]
fn a_stranger_on_a_known_address_is_never_used() {
    let cluster = Cluster::start(1);
    let folder = TempDir::new().unwrap();
    let other = Certificates::make(folder.path(), NAME, &[]).unwrap();
    let strangers: Vec<_> = (3..=5)
        .map(|last| Actor::api_server("stranger", loopback(last, cluster.port), &other))
        .collect();
    let mut arguments = cluster.with_seeds();
    arguments.extend(strangers.iter().map(|s| format!("--seed={}", s.listen)));
    let agent = Agent::start(&arguments);
    agent.verdict(cluster.servers[0].listen, Verdict::Ready);
    for stranger in &strangers {
        let seen = agent.verdict(stranger.listen, Verdict::Foreign);
        assert_eq!(seen.reason, Reason::WrongCertificate);
    }
    for _ in 0..5 {
        assert_eq!(cluster.connect(&agent).server(), "cp1");
    }
}

#[test]
fn case_16_with_all_servers_down_clients_are_turned_away_quickly_and_served_when_one_is_back() {
    let mut cluster = Cluster::start(2);
    let agent = cluster.agent();
    for server in &cluster.servers {
        server.process.signal(Signal::KILL);
        agent.verdict(server.listen, Verdict::Dead);
    }
    let started = Instant::now();
    assert_eq!(fate_of_a_client(agent.listen), End::Reset);
    assert!(started.elapsed() < PATIENCE / 2);
    agent.until("it is written down", |status| {
        !status.ready
            && status
                .actions
                .iter()
                .any(|a| a.what == What::ConnectionRefused)
    });
    let address = cluster.servers[0].listen;
    cluster.servers[0] = Actor::api_server("cp1", address, &cluster.certificates);
    agent.until("serves again", |status| status.ready);
    assert_eq!(cluster.connect(&agent).server(), "cp1");
}

#[test]
fn an_agent_takes_all_the_descriptors_it_may_have() {
    let cluster = Cluster::start(1);
    let program = holdfast();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -Sn 256; exec \"$0\" agent \"$@\""])
        .arg(program.get_program())
        .args(cluster.with_seeds());
    let agent = Agent::launch(&mut command);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", agent.process.id())).unwrap();
    let files = limits
        .lines()
        .find(|l| l.starts_with("Max open files"))
        .unwrap();
    let mut bounds = files.split_whitespace().skip(3);
    let (soft, hard) = (bounds.next().unwrap(), bounds.next().unwrap());
    assert_eq!(soft, hard, "{files}");
}
