//! Sockets that outlive the agent: passed as systemd passes them (`sd_listen_fds(3)`).

use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use holdfast_core::status::Verdict;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;

use crate::client::{Client, dial, plain_get, tls};
use crate::stage::{Agent, Cluster, holdfast, run};

/// Sockets of a unit: the proxy's, and one for the admin port. Children inherit them.
fn sockets() -> (Vec<OwnedFd>, Vec<SocketAddr>) {
    let listeners: Vec<_> = (0..3)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let addresses = listeners.iter().map(|l| l.local_addr().unwrap()).collect();
    let descriptors: Vec<OwnedFd> = listeners.into_iter().map(Into::into).collect();
    for descriptor in &descriptors {
        fcntl_setfd(descriptor, FdFlags::empty()).unwrap();
    }
    (descriptors, addresses)
}

/// A program with these descriptors from 3 on, as systemd starts it.
fn with_descriptors(descriptors: &[OwnedFd], names: &str, arguments: &[String]) -> Command {
    let program = holdfast();
    let mut command = program_of_shell(descriptors, names);
    command
        .arg(program.get_program())
        .arg("agent")
        .args(arguments);
    command.env("NO_COLOR", "1");
    command
}

fn program_of_shell(descriptors: &[OwnedFd], names: &str) -> Command {
    // Out of the way first: one of them may have a number that another is to get.
    let moves: Vec<_> = (0..)
        .zip(descriptors)
        .map(|(n, d)| format!("exec {}<&{}", 90 + n, d.as_raw_fd()))
        .chain((0..descriptors.len()).map(|n| format!("exec {}<&{}", 3 + n, 90 + n)))
        .chain((0..descriptors.len()).map(|n| format!("exec {}<&-", 90 + n)))
        .collect();
    let script = format!(
        "{}; export LISTEN_FDS={} LISTEN_FDNAMES={names}; export LISTEN_PID=$$; exec \"$@\"",
        moves.join("; "),
        descriptors.len()
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash"]);
    command
}

#[test]
fn s7_listeners_survive_a_restart_and_a_client_in_between_waits_instead_of_being_refused() {
    let cluster = Cluster::start(1);
    let (descriptors, addresses) = sockets();
    let start = || {
        let command =
            &mut with_descriptors(&descriptors, "proxy:proxy:admin", &cluster.with_seeds());
        let agent = Agent::launch(command);
        agent.verdict(cluster.servers[0].listen, Verdict::Ready);
        agent
    };
    let mut agent = start();
    assert_eq!(agent.listeners, addresses[..2], "in place of --listen");
    assert_eq!(agent.admin, addresses[2], "in place of --admin");
    for listener in &addresses[..2] {
        let mut client = Client::open(*listener, &cluster.certificates.ca).unwrap();
        assert_eq!(client.server(), "cp1");
    }
    agent.process.signal(Signal::TERM);
    assert_eq!(agent.ends().code(), Some(0));
    // Nobody is there, and yet nobody is refused.
    let early = dial(addresses[0]).unwrap();
    let _again = start();
    let mut early = Client::over(early, &tls(&cluster.certificates.ca)).unwrap();
    assert_eq!(early.server(), "cp1");
}

#[test]
fn passed_sockets_do_not_follow_the_listen_field_and_say_so() {
    let cluster = Cluster::start(1);
    let file = cluster.folder.path().join("agent.yaml");
    std::fs::write(&file, "drain: {timeout: 5m}\n").unwrap();
    let (descriptors, addresses) = sockets();
    let mut arguments = cluster.with_seeds();
    arguments.retain(|a| !a.starts_with("--listen"));
    arguments.push(format!("--config={}", file.display()));
    let command = &mut with_descriptors(&descriptors, "proxy:proxy:admin", &arguments);
    let agent = Agent::launch(command);
    std::fs::write(&file, "listen: [\"127.0.0.1:6999\"]\n").unwrap();
    agent.process.signal(Signal::HUP);
    let status = agent.until("it is refused", |status| status.config.failure.is_some());
    let why = status.config.failure.unwrap();
    assert!(why.contains("listen: the socket unit decides"), "{why}");
    assert_eq!(status.listeners, addresses[..2]);
}

#[test]
fn no_child_believes_that_the_sockets_are_meant_for_it() {
    let cluster = Cluster::start(1);
    let (descriptors, addresses) = sockets();
    let agent = Agent::launch(&mut with_descriptors(
        &descriptors,
        "proxy:proxy:admin",
        &cluster.with_seeds(),
    ));
    assert_eq!(plain_get(addresses[2], "/livez").unwrap().0, 200);
    // What a child inherits: descriptors without close-on-exec (proc(5), O_CLOEXEC is 02000000).
    for n in 3..6 {
        let about = std::fs::read_to_string(format!("/proc/{}/fdinfo/{n}", agent.process.id()));
        let about = about.unwrap();
        let flags = about
            .lines()
            .find_map(|l| l.strip_prefix("flags:"))
            .unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        assert_ne!(flags & 0o2_000_000, 0, "descriptor {n}: {about}");
    }
}

#[test]
fn a_descriptor_that_is_no_listening_tcp_socket_is_an_error_that_names_it() {
    let cluster = Cluster::start(0);
    let file = std::fs::File::open("/dev/null").unwrap();
    let descriptor = OwnedFd::from(file);
    fcntl_setfd(&descriptor, FdFlags::empty()).unwrap();
    let done = run(&mut with_descriptors(
        &[descriptor],
        "proxy",
        &cluster.basics(),
    ));
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(
        done.err
            .starts_with("error: descriptor 1 from the socket unit (proxy): found "),
        "{}",
        done.err
    );
    assert!(done.err.contains("accepted: ListenStream="), "{}", done.err);
}
