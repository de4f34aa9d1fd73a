//! Clients that the guard watches: they dial the API servers themselves, and the agent is nowhere
//! between.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use holdfast_core::reason::Reason;
use holdfast_core::status::{Status, Verdict, What};
use holdfast_linux::cgroup::Tree;
use holdfast_linux::sock_diag::try_destroy;
use rustix::process::Signal;

use crate::client::{Client, End};
use crate::stage::{Agent, Cluster, NAME, Process, eventually, holdfast, skipped};

/// Whether sockets can be aborted here at all.
fn can_abort() -> bool {
    match try_destroy() {
        Ok(()) => true,
        Err(error) => {
            skipped(&format!("{error}\n  hint: run the tests as root"));
            false
        }
    }
}

/// Servers whose name has all of them, and what a guard of them is told.
fn cluster(servers: u8) -> (Cluster, Vec<String>) {
    let mut cluster = Cluster::start(servers);
    let all: Vec<_> = (0..usize::from(servers)).collect();
    name(&mut cluster, &all);
    let mut arguments = cluster.basics();
    arguments.retain(|argument| !argument.starts_with("--listen"));
    arguments.push("--listen=none".to_owned());
    (cluster, arguments)
}

/// Gives the name to these servers.
fn name(cluster: &mut Cluster, servers: &[usize]) {
    let addresses: Vec<_> = servers
        .iter()
        .map(|n| cluster.servers[*n].listen.ip().to_string())
        .collect();
    let order = format!("set {NAME} ttl=1s A {}", addresses.join(" "));
    cluster.dns.order(&order);
}

fn everyone(arguments: &[String]) -> Vec<String> {
    let more = ["--guard-everyone".to_owned()];
    arguments.iter().cloned().chain(more).collect()
}

fn ready(agent: &Agent, servers: usize) {
    agent.until("all servers are ready", |status| {
        let mut all = status.upstreams.iter();
        status.upstreams.len() == servers && all.all(|u| u.verdict == Verdict::Ready)
    });
}

/// A client of the first server, which the guard sees.
fn guarded_client(cluster: &Cluster, agent: &Agent) -> Client {
    let mut client = connect(cluster, 0);
    assert_eq!(client.server(), "cp1");
    let local = client.local();
    agent.until("the guard sees the client", |status| {
        locals(status).contains(&local)
    });
    client
}

fn connect(cluster: &Cluster, server: usize) -> Client {
    Client::open(cluster.servers[server].listen, &cluster.certificates.ca).unwrap()
}

fn locals(status: &Status) -> BTreeSet<SocketAddr> {
    let guard = status.guard.as_ref().unwrap();
    guard.sockets.iter().map(|s| s.local).collect()
}

fn told(status: &Status, what: What) -> usize {
    status.actions.iter().filter(|a| a.what == what).count()
}

#[test]
fn a_connection_to_a_hung_server_is_aborted_and_explained() {
    if !can_abort() {
        return;
    }
    let (mut cluster, arguments) = cluster(2);
    let agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let client = guarded_client(&cluster, &agent);
    let local = client.local();
    let mut other = connect(&cluster, 1);
    assert_eq!(other.server(), "cp2");

    let status = agent.status();
    let guard = status.guard.unwrap();
    let socket = guard.sockets.iter().find(|s| s.local == local).unwrap();
    assert_eq!(socket.remote, cluster.servers[0].listen);
    assert!(socket.established && socket.last_byte_s.is_some());
    assert_eq!((guard.dry_run, guard.missing), (false, None));
    let shown = agent.shown(&[]).out;
    assert!(shown.contains("guard: aborts dead connections"), "{shown}");
    assert!(shown.contains(&local.to_string()), "{shown}");

    cluster.server("cp1").process.signal(Signal::STOP);
    assert_eq!(client.end(), End::Aborted);
    let status = agent.until("it is written down", |s| told(s, What::ConnectionCut) > 0);
    let mut actions = status.actions.iter();
    let cut = actions.find(|a| a.what == What::ConnectionCut).unwrap();
    assert_eq!(cut.reason, Reason::Hung);
    assert_eq!(cut.next, "the client reconnects, by the endpoint's name");
    assert_eq!(other.server(), "cp2");
    agent.until("the guard sees it go", |s| !locals(s).contains(&local));
}

#[test]
fn s2_nothing_is_aborted_while_the_name_leads_nowhere_else() {
    if !can_abort() {
        return;
    }
    let (mut cluster, arguments) = cluster(2);
    name(&mut cluster, &[0]);
    let mut arguments = everyone(&arguments);
    arguments.push(format!("--seed={}", cluster.servers[1].listen));
    let agent = Agent::start(&arguments);
    ready(&agent, 2);
    let mut client = guarded_client(&cluster, &agent);
    cluster.server("cp1").process.signal(Signal::STOP);
    let status = agent.until("it is withheld", |s| told(s, What::Withheld) > 0);
    let mut actions = status.actions.iter();
    let withheld = actions.find(|a| a.what == What::Withheld).unwrap();
    assert_eq!(withheld.reason, Reason::NowhereElse);
    cluster.server("cp1").process.signal(Signal::CONT);
    assert_eq!(client.server(), "cp1", "the connection was better kept");
    assert_eq!(told(&agent.status(), What::ConnectionCut), 0);
}

#[test]
fn a_dry_run_reports_and_touches_nothing() {
    let (mut cluster, mut arguments) = cluster(2);
    arguments.push("--guard-dry-run".to_owned());
    let mut agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let mut client = guarded_client(&cluster, &agent);
    cluster.server("cp1").process.signal(Signal::STOP);
    let said = agent.says(|line| line["message"] == "would-cut");
    assert_eq!(said["level"], "WARN");
    assert_eq!(said["reason"], "hung");
    cluster.server("cp1").process.signal(Signal::CONT);
    assert_eq!(client.server(), "cp1");
    let status = agent.status();
    assert_eq!(told(&status, What::ConnectionCut), 0);
    assert!(agent.shown(&[]).out.contains("only reports (dry run)"));
}

#[test]
fn holdfasts_own_connections_are_never_guarded() {
    let (cluster, arguments) = cluster(2);
    let agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let client = guarded_client(&cluster, &agent);
    // Its probes keep connections to both servers, and more than one look was taken at them.
    let first = agent.status().guard.unwrap().looked_at_s;
    agent.until("some more looks", |status| {
        status.guard.as_ref().unwrap().looked_at_s > first + 1.5
    });
    assert_eq!(locals(&agent.status()), BTreeSet::from([client.local()]));
}

#[test]
fn s7_a_guard_that_is_killed_leaves_no_trace() {
    let (cluster, arguments) = cluster(2);
    let mut agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let mut client = guarded_client(&cluster, &agent);
    agent.process.signal(Signal::KILL);
    agent.ends();
    for _ in 0..3 {
        assert_eq!(client.server(), "cp1");
    }
}

#[test]
fn case_21_a_guard_that_is_held_up_again_and_again_aborts_nothing() {
    let (cluster, arguments) = cluster(2);
    let agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let mut client = guarded_client(&cluster, &agent);
    let until = Instant::now() + Duration::from_secs(8);
    while Instant::now() < until {
        agent.process.signal(Signal::STOP);
        thread::sleep(Duration::from_millis(1900));
        agent.process.signal(Signal::CONT);
        thread::sleep(Duration::from_millis(100));
        assert_eq!(client.server(), "cp1");
    }
    let status = agent.status();
    assert_eq!(told(&status, What::ConnectionCut), 0);
}

/// The agent as nobody, with these capabilities and no other.
fn as_nobody(capabilities: &str, arguments: &[String]) -> Command {
    let mut command = holdfast();
    let program = command.get_program().to_owned();
    let mut wrapped = Command::new("setpriv");
    wrapped
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(format!("--inh-caps=-all{capabilities}"))
        .arg(format!("--ambient-caps=-all{capabilities}"))
        .arg(format!("--bounding-set=-all{capabilities}"))
        .arg(program)
        .arg("agent")
        .args(arguments)
        .stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    command = wrapped;
    command
}

/// Lets everybody read the CA and run the program where they lie.
fn open_to_all(cluster: &Cluster) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let open = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let opened = open(cluster.folder.path().to_owned(), 0o755)
        .and_then(|()| open(cluster.certificates.ca.clone(), 0o644));
    let program = env!("CARGO_BIN_EXE_holdfast");
    let can = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            program,
            "--version",
        ])
        .output();
    opened.is_ok() && can.is_ok_and(|done| done.status.success())
}

#[test]
fn an_ordinary_user_needs_one_capability_and_no_more() {
    if !can_abort() {
        return;
    }
    let (mut cluster, arguments) = cluster(2);
    if !open_to_all(&cluster) {
        return skipped("nobody can't run the program where it was built");
    }
    let agent = Agent::launch(&mut as_nobody(",+net_admin", &everyone(&arguments)));
    ready(&agent, 2);
    let client = guarded_client(&cluster, &agent);
    let state = fs::read_to_string(format!("/proc/{}/status", agent.process.id())).unwrap();
    let field = |name: &str| {
        let line = state.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().to_owned()
    };
    // CAP_NET_ADMIN is number 12 (linux/capability.h).
    assert_eq!(field("CapEff:"), format!("{:016x}", 1 << 12));
    assert_eq!(field("NoNewPrivs:"), "1");
    cluster.server("cp1").process.signal(Signal::STOP);
    assert_eq!(client.end(), End::Aborted);
}

#[test]
fn without_the_capability_it_says_so_and_only_reports() {
    if !can_abort() {
        return;
    }
    let (mut cluster, arguments) = cluster(2);
    if !open_to_all(&cluster) {
        return skipped("nobody can't run the program where it was built");
    }
    let mut agent = Agent::launch(&mut as_nobody("", &everyone(&arguments)));
    ready(&agent, 2);
    let mut client = guarded_client(&cluster, &agent);
    cluster.server("cp1").process.signal(Signal::STOP);
    agent.says(|line| line["message"] == "would-cut");
    cluster.server("cp1").process.signal(Signal::CONT);
    assert_eq!(client.server(), "cp1");
    let missing = agent.status().guard.unwrap().missing;
    assert!(missing.unwrap().contains("CAP_NET_ADMIN"));
}

/// A cgroup of the test's own; removed at its end.
struct Cgroup(PathBuf);

impl Drop for Cgroup {
    fn drop(&mut self) {
        drop(fs::remove_dir(&self.0));
    }
}

/// A client of another program, in a cgroup: it connects, and waits for its input to end.
fn client_in(cgroup: &Cgroup, to: SocketAddr) -> Process {
    let script = format!(
        "echo $$ > {}/cgroup.procs && exec 3<>/dev/tcp/{}/{} && exec cat <&3",
        cgroup.0.display(),
        to.ip(),
        to.port()
    );
    Process::spawn(
        Command::new("bash")
            .args(["-c", &script])
            .stderr(Stdio::null()),
    )
}

#[test]
fn a_unit_is_known_by_its_cgroup_also_after_a_restart() {
    let unit = format!("hf-guard-{}.service", std::process::id());
    let Ok(tree) = Tree::find() else {
        return skipped("cgroup v2 is not mounted");
    };
    let cgroup = Cgroup(tree.path(&unit));
    if let Err(error) = fs::create_dir(&cgroup.0) {
        return skipped(&format!(
            "no cgroup can be made: {error}\n  hint: run as root"
        ));
    }
    let (cluster, mut arguments) = cluster(2);
    arguments.push(format!("--guard-unit={unit}"));
    arguments.push("--guard-unit=absent.service".to_owned());
    let agent = Agent::start(&arguments);
    ready(&agent, 2);
    let bystander = connect(&cluster, 0);
    for _ in 0..2 {
        let client = client_in(&cgroup, cluster.servers[0].listen);
        let status = agent.until("the unit's connection is seen", |s| locals(s).len() == 1);
        let guard = status.guard.unwrap();
        assert_eq!(guard.sockets[0].client, unit);
        assert_ne!(guard.sockets[0].local, bystander.local());
        assert_eq!(guard.unseen, ["absent.service does not run"]);
        drop(client);
        agent.until("it is gone", |s| locals(s).is_empty());
        // As systemd does when a unit restarts: another directory at the same path.
        eventually("the cgroup is empty", || fs::remove_dir(&cgroup.0).ok());
        fs::create_dir(&cgroup.0).unwrap();
    }
}

#[test]
fn s6_a_dial_to_a_silent_address_is_aborted_so_that_the_client_tries_the_next() {
    if !can_abort() {
        return;
    }
    // A full accept queue lets SYNs go unanswered, without a word, on loopback too.
    let (cluster, arguments) = cluster(1);
    let silent = SocketAddr::from(([127, 0, 0, 9], cluster.port));
    let Some((listener, _fill)) = full_listener(silent) else {
        return skipped("no accept queue can be filled here");
    };
    let mut cluster = cluster;
    let addresses = format!("{} {}", cluster.servers[0].listen.ip(), silent.ip());
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {addresses}"));
    let agent = Agent::start(&everyone(&arguments));
    agent.verdict(cluster.servers[0].listen, Verdict::Ready);
    let begun = Instant::now();
    let error = std::net::TcpStream::connect_timeout(&silent, Duration::from_mins(1));
    assert_eq!(
        error.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionAborted
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
    drop(listener);
}

/// A listener that accepts nobody and whose queue is full.
fn full_listener(address: SocketAddr) -> Option<(TcpListener, Vec<std::net::TcpStream>)> {
    let listener = rustix_listener(address)?;
    let mut fill = Vec::new();
    for _ in 0..64 {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
            Ok(stream) => fill.push(stream),
            Err(_) => return Some((listener, fill)),
        }
    }
    None
}

fn rustix_listener(address: SocketAddr) -> Option<TcpListener> {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    let file = socket(AddressFamily::INET, SocketType::STREAM, None).ok()?;
    bind(&file, &address).ok()?;
    listen(&file, 1).ok()?;
    Some(TcpListener::from(file))
}

#[test]
fn the_guard_may_stand_beside_the_proxy() {
    if !can_abort() {
        return;
    }
    let (mut cluster, mut arguments) = cluster(2);
    arguments.retain(|argument| argument != "--listen=none");
    arguments.push("--listen=127.0.0.1:0".to_owned());
    let agent = Agent::start(&everyone(&arguments));
    ready(&agent, 2);
    let mut proxied = cluster.connect(&agent);
    let home = proxied.server();
    let n = usize::from(home == "cp2");
    let direct = connect(&cluster, n);
    let local = direct.local();
    agent.until("the guard sees the client alone", |status| {
        locals(status) == BTreeSet::from([local])
    });
    cluster.server(&home).process.signal(Signal::STOP);
    assert_eq!(direct.end(), End::Aborted);
    assert_eq!(proxied.end(), End::Reset);
}
