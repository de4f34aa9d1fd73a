//! An agent's end: it drains, and ends well.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::client::{End, plain_get};
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
fn while_an_agent_drains_its_admin_port_says_so_and_a_second_signal_ends_it() {
    let cluster = Cluster::start(1);
    let mut arguments = cluster.with_seeds();
    arguments.push("--shutdown-timeout=10m".to_owned());
    let mut agent = Agent::start(&arguments);
    agent.until("ready", |status| status.ready);
    let mut client = cluster.connect(&agent);
    client.server();
    agent.process.signal(Signal::TERM);
    let status = agent.until("it drains", |status| status.draining_s.is_some());
    assert!(!status.ready);
    assert_eq!(status.connections, 1);
    let left = status.draining_s.unwrap();
    assert!((500.0..=600.0).contains(&left), "{left}");
    let ask = |path| plain_get(agent.admin, path).unwrap();
    assert_eq!(ask("/livez"), (200, "ok\n".to_owned()));
    let (code, body) = ask("/readyz");
    assert_eq!(code, 503);
    assert!(body.starts_with("stopping: "), "{body}");
    assert!(ask("/metrics").1.contains("holdfast_draining 1"));
    let shown = agent.shown(&[]);
    assert_eq!(shown.code, Some(1));
    assert!(
        shown.out.contains("STOPPING, open connections have 9m"),
        "{}",
        shown.out
    );
    assert_eq!(client.server(), "cp1");
    agent.process.signal(Signal::TERM);
    assert_eq!(client.end(), End::Closed);
    assert_eq!(agent.ends().code(), Some(0));
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
