//! Another configuration for an agent at work: all of it holds, or nothing of it does.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

use holdfast_core::status::{Status, Verdict, What};
use rustix::process::Signal;

use crate::client::{Client, plain_get};
use crate::stage::{Agent, Cluster, NAME, eventually, free_port, holdfast, loopback};

/// A cluster, and an agent that has its configuration from a file.
struct Stage {
    cluster: Cluster,
    file: PathBuf,
    listen: String,
    admin: SocketAddr,
    agent: Agent,
}

impl Stage {
    fn start(servers: u8) -> Self {
        let cluster = Cluster::start(servers);
        let file = cluster.folder.path().join("agent.yaml");
        let admin = loopback(1, free_port());
        let listen = loopback(1, free_port()).to_string();
        let text = text(&cluster, &listen, admin, 1);
        fs::write(&file, text).unwrap();
        let mut command = holdfast();
        command.arg("agent").arg("--config").arg(&file);
        let agent = Agent::launch(&mut command);
        agent.verdict(cluster.servers[0].listen, Verdict::Ready);
        Self {
            cluster,
            file,
            listen,
            admin,
            agent,
        }
    }

    /// A configuration with the first so many servers as seeds.
    fn text(&self, seeds: usize) -> String {
        text(&self.cluster, &self.listen, self.admin, seeds)
    }

    fn write(&self, text: &str) {
        fs::write(&self.file, text).unwrap();
    }

    fn hang_up(&self) {
        self.agent.process.signal(Signal::HUP);
    }

    fn refused(&self, times: usize) -> Status {
        self.agent.until("it is refused", |status| {
            let refused = status.actions.iter();
            refused.filter(|a| a.what == What::ReloadRefused).count() == times
        })
    }

    fn reloaded(&self, changed: &str) -> Status {
        self.agent.until("it holds", |status| {
            let mut actions = status.actions.iter();
            actions.any(|a| a.what == What::Reloaded && a.evidence == changed)
        })
    }

    fn client(&self) -> Client {
        let listen = self.listen.parse().unwrap();
        Client::open(listen, &self.cluster.certificates.ca).unwrap()
    }
}

fn text(cluster: &Cluster, listen: &str, admin: SocketAddr, seeds: usize) -> String {
    let seeds: Vec<_> = cluster.servers[..seeds]
        .iter()
        .map(|s| format!("{:?}", s.listen.to_string()))
        .collect();
    format!(
        "endpoint: https://{NAME}:{}\nca: {}\ndns: {{servers: [\"{}\"]}}\nlisten: [{listen:?}]\n\
         admin: {admin}\nnodeName: node1\nlog: {{format: json}}\nseeds: [{}]\n",
        cluster.port,
        cluster.certificates.ca.display(),
        cluster.dns.listen,
        seeds.join(", ")
    )
}

fn listens(address: &str) -> bool {
    TcpStream::connect(address.parse::<SocketAddr>().unwrap()).is_ok()
}

#[test]
fn a_changed_file_holds_without_a_signal_and_open_connections_stay() {
    let stage = Stage::start(2);
    let mut client = stage.client();
    assert_eq!(client.server(), "cp1");
    stage.write(&stage.text(2));
    let status = stage.reloaded("seeds");
    assert_eq!(status.config.failure, None);
    assert_eq!(
        status.config.file.as_deref(),
        Some(stage.file.to_str().unwrap())
    );
    let second = stage.cluster.servers[1].listen;
    stage.agent.verdict(second, Verdict::Ready);
    assert_eq!(client.server(), "cp1");
    // A seed that is gone again leaves.
    stage.write(&stage.text(1));
    let only = [stage.cluster.servers[0].listen];
    stage.agent.until("the second has left", |status| {
        status.upstreams.iter().map(|u| u.address).eq(only)
    });
    assert_eq!(client.server(), "cp1");
    let shown = stage.agent.shown(&[]);
    let line = format!("configuration: {}, read ", stage.file.display());
    assert!(shown.out.contains(&line), "{}", shown.out);
}

#[test]
fn a_wrong_configuration_changes_nothing_and_says_what_is_wrong_and_since_when() {
    let mut stage = Stage::start(2);
    // One field is right and new, one is wrong: nothing of it holds.
    let wrong = format!("{}probe: {{interval: 1ms}}\n", stage.text(2));
    stage.write(&wrong);
    stage.hang_up();
    let status = stage.refused(1);
    let file = stage.file.display();
    let why = format!("{file}: probe.interval: found 1ms; accepted: 100ms to 1m");
    assert_eq!(status.config.failure.as_deref(), Some(why.as_str()));
    assert!(status.config.failing_s.is_some());
    assert!(status.ready);
    assert_eq!(status.upstreams.len(), 1);
    let said = stage.agent.says(|line| line["message"] == "reload-refused");
    assert_eq!(said["level"], "WARN");
    assert_eq!(said["evidence"], why.as_str());
    assert!(said.get("upstream").is_none(), "{said}");
    let (_, metrics) = plain_get(stage.admin, "/metrics").unwrap();
    assert!(metrics.contains("holdfast_config_failing 1"), "{metrics}");
    let shown = stage.agent.shown(&[]);
    assert!(
        shown.out.contains("CONFIGURATION CAN'T BE USED for "),
        "{}",
        shown.out
    );
    assert!(shown.out.contains(&why), "{}", shown.out);
    assert_eq!(stage.client().server(), "cp1");
    // Mended, it holds.
    stage.write(&stage.text(2));
    let status = stage.reloaded("seeds");
    assert_eq!(status.config.failure, None);
}

#[test]
fn what_needs_a_restart_is_refused_by_name() {
    let stage = Stage::start(1);
    stage.write(&stage.text(1).replace("format: json", "format: text"));
    stage.hang_up();
    let why = stage.refused(1).config.failure.unwrap();
    assert!(
        why.ends_with("log.format: can't change while the agent runs; restart it"),
        "{why}"
    );
    fs::remove_file(&stage.file).unwrap();
    stage.hang_up();
    let why = stage.refused(2).config.failure.unwrap();
    assert!(why.contains("No such file"), "{why}");
    assert_eq!(stage.client().server(), "cp1");
}

#[test]
fn listeners_move_without_a_gap_and_a_taken_address_changes_nothing() {
    let mut stage = Stage::start(1);
    let mut client = stage.client();
    client.server();
    let old = (stage.listen.clone(), stage.admin);
    // The new listener is free, the new admin address is not: neither moves.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    stage.listen = loopback(1, free_port()).to_string();
    stage.admin = taken.local_addr().unwrap();
    stage.write(&stage.text(1));
    stage.hang_up();
    let why = stage.refused(1).config.failure.unwrap();
    let me = format!("taken by process {} (", std::process::id());
    assert!(
        why.contains("admin: listen on ") && why.contains(&me),
        "{why}"
    );
    assert!(listens(&old.0));
    assert!(!listens(&stage.listen));
    // Now both are.
    stage.admin = loopback(1, free_port());
    stage.agent.admin = stage.admin;
    stage.write(&stage.text(1));
    stage.hang_up();
    eventually("the admin port has moved", || {
        plain_get(stage.admin, "/livez").ok()
    });
    let status = stage.reloaded("admin, listen");
    assert_eq!(status.listeners, [stage.listen.parse().unwrap()]);
    eventually("the old ones are closed", || {
        (!listens(&old.0) && !listens(&old.1.to_string())).then_some(())
    });
    assert_eq!(stage.client().server(), "cp1");
    assert_eq!(client.server(), "cp1");
}
