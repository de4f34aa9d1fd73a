//! An agent at its limits: out of descriptors, unable to dial, and with clients that say nothing.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use holdfast_core::reason::Reason;
use holdfast_core::status::{Status, Verdict, What};

use crate::client::{Client, End, fate_of_a_client, plain_get};
use crate::stage::{Agent, Cluster, NAME, Process, eventually, holdfast, loopback, run, skipped};

/// An agent that may have so many descriptors and no more.
fn agent_with(descriptors: u64, arguments: &[String]) -> Agent {
    let program = holdfast();
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--nofile={descriptors}:{descriptors}"))
        .arg(program.get_program())
        .arg("agent")
        .args(arguments);
    Agent::launch(&mut command)
}

fn reasons(status: &Status, what: What) -> Vec<Reason> {
    let of_kind = status.actions.iter().filter(|a| a.what == what);
    of_kind.map(|a| a.reason).collect()
}

/// Processor time of a process so far, in ticks of 10 ms (proc(5), `utime` and `stime`).
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<_> = fields.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn out_of_descriptors_clients_are_reset_while_admin_probes_and_dns_go_on() {
    let mut cluster = Cluster::start(2);
    let agent = agent_with(100, &cluster.with_seeds());
    for server in &cluster.servers {
        agent.verdict(server.listen, Verdict::Ready);
    }
    let most = agent.status().connections_most;
    assert_eq!(most, 25, "half of the descriptors, two for each");
    let mut clients: Vec<_> = (0..most).map(|_| cluster.connect(&agent)).collect();
    agent.until("all are open", |status| status.connections == most);
    for _ in 0..50 {
        assert_eq!(fate_of_a_client(agent.listen), End::Reset);
    }
    // It says so once, not fifty times, and blames no upstream.
    let status = agent.status();
    assert_eq!(
        reasons(&status, What::FailedHere),
        [Reason::OutOfDescriptors]
    );
    assert_eq!(reasons(&status, What::ConnectionRefused), []);
    assert!(status.ready);
    // Whoever is in stays in.
    for client in &mut clients {
        client.server();
    }
    // Probes and DNS still learn what is new.
    cluster.server("cp1").order("not-ready");
    agent.verdict(cluster.servers[0].listen, Verdict::Draining);
    cluster.dns.order(&format!("set {NAME} ttl=1s A 127.0.0.9"));
    let new = loopback(9, cluster.port);
    agent.until("the new address is known", |status| {
        status.upstreams.iter().any(|u| u.address == new)
    });
    assert_eq!(plain_get(agent.admin, "/livez").unwrap().0, 200);
    // Nobody spins.
    let before = ticks(agent.process.id());
    thread::sleep(Duration::from_secs(1));
    let used = ticks(agent.process.id()) - before;
    assert!(used < 60, "{used} ticks in a second with nothing to do");
    // The place of one that leaves is taken by the next.
    drop(clients.pop());
    agent.until("one has left", |status| status.connections == most - 1);
    cluster.connect(&agent).server();
}

#[test]
fn readers_who_stay_take_nothing_from_clients_and_are_shown_out() {
    let cluster = Cluster::start(1);
    let agent = agent_with(100, &cluster.with_seeds());
    agent.verdict(cluster.servers[0].listen, Verdict::Ready);
    let visits: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(agent.admin).unwrap())
        .collect();
    let most = 25;
    let mut clients: Vec<_> = (0..most).map(|_| cluster.connect(&agent)).collect();
    assert!(clients.iter_mut().all(|c| c.server() == "cp1"));
    drop(visits);
    // Those who were first are gone after ten seconds at most.
    let status = eventually("the admin port answers", || {
        let (code, _) = plain_get(agent.admin, "/livez").ok()?;
        (code == 200).then(|| agent.status())
    });
    assert_eq!(status.connections, most);
}

/// Runs a command in the network of that process.
fn inside(process: &Process, program: &Path, arguments: &[&str]) -> crate::stage::Done {
    let mut command = Command::new("nsenter");
    command
        .args(["--user", "--net", "--preserve-credentials", "--target"])
        .arg(process.id().to_string())
        .arg(program)
        .args(arguments);
    run(&mut command)
}

#[test]
fn a_dial_that_this_node_forbids_is_its_own_trouble_and_blames_no_upstream() {
    if !run(Command::new("unshare").args(["-rn", "true"]))
        .code
        .eq(&Some(0))
    {
        return skipped(
            "no user namespaces: run as root, or allow kernel.unprivileged_userns_clone",
        );
    }
    let cluster = Cluster::start(0);
    let program = holdfast().get_program().to_owned();
    let mut command = Command::new("unshare");
    // A prohibited route fails at connect(2) with EACCES.
    let script =
        "ip link set lo up && ip route add prohibit 192.0.2.1/32 && exec \"$0\" agent \"$@\"";
    command
        .args(["-rn", "sh", "-c", script])
        .arg(&program)
        .args(cluster.basics())
        .arg("--seed=192.0.2.1:6443");
    let agent = Agent::launch(&mut command);
    let program = Path::new(&program);
    let listen = agent.listen;
    let client = format!(
        "exec 3<>/dev/tcp/{}/{}; cat <&3",
        listen.ip(),
        listen.port()
    );
    for _ in 0..5 {
        inside(&agent.process, Path::new("bash"), &["-c", &client]);
    }
    let admin = format!("--admin={}", agent.admin);
    let shown = inside(&agent.process, program, &["status", "-o", "json", &admin]);
    let status: Status = serde_json::from_str(&shown.out).expect(&shown.err);
    let failed: Vec<_> = status
        .actions
        .iter()
        .filter(|a| a.what == What::FailedHere)
        .collect();
    assert_eq!(failed.len(), 1, "{:#?}", status.actions);
    assert_eq!(failed[0].reason, Reason::LocalFailure);
    assert!(
        failed[0].evidence.contains("192.0.2.1:6443")
            && failed[0].evidence.contains("Permission denied"),
        "{}",
        failed[0].evidence
    );
    assert_eq!(reasons(&status, What::ConnectionRefused), []);
    assert_eq!(status.upstreams[0].verdict, Verdict::Probation);
    assert_eq!(status.upstreams[0].reason, Reason::NotYetProven);
}

#[test]
fn case_31_a_client_that_never_speaks_is_closed_and_one_that_idles_is_not() {
    let cluster = Cluster::start(1);
    let file = cluster.folder.path().join("agent.yaml");
    std::fs::write(&file, "limits:\n  firstByte: 1s\n").unwrap();
    let mut arguments = cluster.with_seeds();
    arguments.push(format!("--config={}", file.display()));
    let agent = Agent::start(&arguments);
    agent.verdict(cluster.servers[0].listen, Verdict::Ready);
    let mut idle = Client::open(agent.listen, &cluster.certificates.ca).unwrap();
    idle.server();
    let started = Instant::now();
    assert_eq!(fate_of_a_client(agent.listen), End::Closed);
    assert!(started.elapsed() >= Duration::from_secs(1));
    let status = agent.until("the silent one is gone", |status| status.connections == 1);
    assert_eq!(
        reasons(&status, What::ConnectionUnused),
        [Reason::ClientSilent]
    );
    let (_, metrics) = plain_get(agent.admin, "/metrics").unwrap();
    assert!(
        metrics.contains("holdfast_connections_ended_total{by=\"unused\"} 1"),
        "{metrics}"
    );
    thread::sleep(Duration::from_secs(2));
    assert_eq!(idle.server(), "cp1");
}
