//! An agent's end: it drains, and ends well.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::client::End;
use crate::stage::{Agent, Cluster, eventually};

fn refuses(agent: &Agent) -> bool {
    TcpStream::connect(agent.listen).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused)
}

#[test]
fn a_terminated_agent_takes_no_new_connections_and_lets_open_ones_end() {
    let cluster = Cluster::start(2);
    let mut arguments = cluster.with_seeds();
    arguments.push("--shutdown-timeout=10m".to_owned());
    let mut agent = Agent::start(&arguments);
    agent.until("ready", |status| status.ready);
    let mut client = cluster.connect(&agent);
    let name = client.server();
    agent.process.signal(Signal::TERM);
    eventually("no new connections", || refuses(&agent).then_some(()));
    assert_eq!(client.server(), name);
    assert_eq!(agent.process.has_ended(), None);
    drop(client);
    assert_eq!(agent.ends().code(), Some(0));
    agent.says(|line| line["message"] == "agent stopped");
}

#[test]
fn when_the_shutdown_timeout_is_over_the_rest_is_closed_and_the_agent_ends_well() {
    let cluster = Cluster::start(2);
    for signal in [Signal::TERM, Signal::INT] {
        let mut arguments = cluster.with_seeds();
        arguments.push("--shutdown-timeout=500ms".to_owned());
        let mut agent = Agent::start(&arguments);
        agent.until("ready", |status| status.ready);
        let mut client = cluster.connect(&agent);
        client.server();
        let told = Instant::now();
        agent.process.signal(signal);
        assert_eq!(client.end(), End::Closed);
        assert!(told.elapsed() >= Duration::from_millis(500));
        assert_eq!(agent.ends().code(), Some(0), "{signal:?}");
    }
}

#[test]
fn an_agent_without_connections_ends_at_once() {
    let cluster = Cluster::start(1);
    let mut arguments = cluster.with_seeds();
    arguments.push("--shutdown-timeout=10m".to_owned());
    let mut agent = Agent::start(&arguments);
    agent.process.signal(Signal::TERM);
    assert_eq!(agent.ends().code(), Some(0));
}

#[test]
fn a_hangup_is_told_and_ends_nothing() {
    let cluster = Cluster::start(1);
    let mut agent = Agent::start(&cluster.with_seeds());
    agent.until("ready", |status| status.ready);
    let mut client = cluster.connect(&agent);
    let name = client.server();
    agent.process.signal(Signal::HUP);
    agent.says(|line| {
        line["message"]
            .as_str()
            .is_some_and(|m| m.contains("SIGHUP"))
    });
    assert_eq!(client.server(), name);
    assert_eq!(agent.process.has_ended(), None);
}
