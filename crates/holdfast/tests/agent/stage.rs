//! What the tests share: a cluster of the lab's actors on the loopback interface, and an agent before it,
//! each in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use holdfast_core::status::{Status, UpstreamStatus, Verdict};
use holdfast_lab::certificates::Certificates;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Client, plain_get};

/// Longer than any single step takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The endpoint's name: in the servers' certificate, and in the cluster's DNS.
pub(crate) const NAME: &str = "api.lab.test";

/// Says that a test did not happen, where nobody overlooks it: this is not captured, as the print
/// macros are.
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
}

/// Looks until there is something to see, for a bounded time.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The binary, with nothing of the environment that would configure it.
pub(crate) fn holdfast() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    for (name, _) in std::env::vars() {
        if name.starts_with("HOLDFAST_") {
            command.env_remove(name);
        }
    }
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// A child that does not outlive its test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is none the worse.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What a command did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command that must end by itself.
pub(crate) fn run(command: &mut Command) -> Done {
    let folder = TempDir::new().unwrap();
    let file = |name| std::fs::File::create(folder.path().join(name)).unwrap();
    let mut process = Process::spawn(command.stdout(file("out")).stderr(file("err")));
    let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = process.has_ended() {
            break status;
        }
        assert!(Instant::now() < until, "still runs: {}", read("err"));
        thread::sleep(Duration::from_millis(5));
    };
    Done {
        code: status.code(),
        out: read("out"),
        err: read("err"),
    }
}

/// An actor of the lab.
pub(crate) struct Actor {
    pub(crate) process: Process,
    pub(crate) listen: SocketAddr,
    orders: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Actor {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = holdfast();
        command.args(["lab", "actor"]).args(arguments);
        let mut process = Process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let orders = process.0.stdin.take().unwrap();
        let mut said = BufReader::new(process.0.stdout.take().unwrap());
        let ready = line(&mut said);
        assert_eq!(ready["ready"], true, "{arguments:?}: {ready}");
        Self {
            process,
            listen: serde_json::from_value(ready["listen"].clone()).unwrap(),
            orders,
            said,
        }
    }

    pub(crate) fn api_server(name: &str, listen: SocketAddr, certificates: &Certificates) -> Self {
        let path = |path: &Path| path.display().to_string();
        Self::start(&[
            "api-server",
            "--name",
            name,
            "--listen",
            &listen.to_string(),
            "--cert",
            &path(&certificates.server),
            "--key",
            &path(&certificates.key),
        ])
    }

    /// Gives an order that must be taken.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        let answer = line(&mut self.said);
        assert_eq!(answer["ok"], true, "{order}: {answer}");
    }
}

fn line(from: &mut impl BufRead) -> Value {
    let mut text = String::new();
    from.read_line(&mut text).unwrap();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A port that is free on every loopback address, outside of what the kernel gives to anybody who
/// asks for any (`ip_local_port_range`), and that no other test gets.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 12_000 + u16::try_from(std::process::id() % 160).unwrap() * 100;
    loop {
        let port = base + NEXT.fetch_add(1, Ordering::Relaxed) % 100;
        let free = (1..=5).all(|last| TcpListener::bind(loopback(last, port)).is_ok());
        if free {
            return port;
        }
    }
}

/// 127.0.0.LAST, all of which belong to every host.
pub(crate) fn loopback(last: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(127, 0, 0, last), port).into()
}

/// API servers on 127.0.0.2, 127.0.0.3, … with the same port, and a DNS server that knows no name
/// yet.
pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
    pub(crate) certificates: Certificates,
    pub(crate) servers: Vec<Actor>,
    pub(crate) dns: Actor,
    pub(crate) port: u16,
}

impl Cluster {
    pub(crate) fn start(servers: u8) -> Self {
        let folder = TempDir::new().unwrap();
        let certificates = Certificates::make(folder.path(), NAME, &[]).unwrap();
        let port = free_port();
        let servers = (1..=servers)
            .map(|n| Actor::api_server(&format!("cp{n}"), loopback(1 + n, port), &certificates))
            .collect();
        let dns = Actor::start(&["dns", "--listen", "127.0.0.1:0", "--zone-name", NAME]);
        Self {
            folder,
            certificates,
            servers,
            dns,
            port,
        }
    }

    /// What every agent of this cluster is told.
    pub(crate) fn basics(&self) -> Vec<String> {
        vec![
            format!("--endpoint=https://{NAME}:{}", self.port),
            format!("--ca={}", self.certificates.ca.display()),
            format!("--dns-server={}", self.dns.listen),
            "--listen=127.0.0.1:0".to_owned(),
            "--admin=127.0.0.1:0".to_owned(),
            "--node-name=node1".to_owned(),
            "--log-format=json".to_owned(),
        ]
    }

    /// The same, with all servers as seeds.
    pub(crate) fn with_seeds(&self) -> Vec<String> {
        let seeds = self.servers.iter().map(|s| format!("--seed={}", s.listen));
        self.basics().into_iter().chain(seeds).collect()
    }

    /// An agent that knows all servers and finds them ready.
    pub(crate) fn agent(&self) -> Agent {
        self.agent_with(&[])
    }

    /// The same with more arguments.
    pub(crate) fn agent_with(&self, more: &[String]) -> Agent {
        let agent = Agent::start(&[&self.with_seeds(), more].concat());
        agent.until("all servers are ready", |status| {
            status.upstreams.len() == self.servers.len()
                && status.upstreams.iter().all(|u| u.verdict == Verdict::Ready)
        });
        agent
    }

    /// A new connection through that agent, with TLS from end to end.
    pub(crate) fn connect(&self, agent: &Agent) -> Client {
        Client::open(agent.listen, &self.certificates.ca).unwrap()
    }

    /// The server with that name.
    pub(crate) fn server(&mut self, name: &str) -> &mut Actor {
        let place: usize = name.strip_prefix("cp").unwrap().parse().unwrap();
        &mut self.servers[place - 1]
    }
}

/// An agent in a process of its own.
pub(crate) struct Agent {
    pub(crate) process: Process,
    pub(crate) listen: SocketAddr,
    pub(crate) listeners: Vec<SocketAddr>,
    pub(crate) admin: SocketAddr,
    log: Receiver<String>,
    heard: Vec<String>,
}

impl Agent {
    pub(crate) fn start(arguments: &[String]) -> Self {
        Self::launch(holdfast().arg("agent").args(arguments))
    }

    /// Starts an agent whose log is JSON.
    pub(crate) fn launch(command: &mut Command) -> Self {
        let mut process = Process::spawn(command.stderr(Stdio::piped()));
        let errors = BufReader::new(process.0.stderr.take().unwrap());
        let (tell, log) = channel();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        let mut agent = Self {
            process,
            listen: loopback(1, 0),
            listeners: Vec::new(),
            admin: loopback(1, 0),
            log,
            heard: Vec::new(),
        };
        let started = agent.says(|line| line["message"] == "agent started");
        let listeners = started["listeners"].as_str().unwrap();
        agent.listeners = listeners
            .trim_matches(['[', ']'])
            .split(", ")
            .filter(|one| !one.is_empty())
            .map(|one| one.parse().unwrap())
            .collect();
        agent.listen = agent.listeners.first().copied().unwrap_or(agent.listen);
        agent.admin = started["admin"].as_str().unwrap().parse().unwrap();
        agent
    }

    /// The next line of its log that fits.
    pub(crate) fn says(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.log.recv_timeout(until - Instant::now().min(until)) {
                Ok(line) => {
                    let value: Value = serde_json::from_str(&line).unwrap_or_default();
                    self.heard.push(line);
                    if fits(&value) {
                        return value;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("never said; its log: {:#?}", self.heard)
                }
            }
        }
    }

    pub(crate) fn status(&self) -> Status {
        let (code, body) = plain_get(self.admin, "/status").unwrap();
        assert_eq!(code, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The first status that fits.
    pub(crate) fn until(&self, what: &str, fits: impl Fn(&Status) -> bool) -> Status {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.status();
            if fits(&status) {
                return status;
            }
            assert!(Instant::now() < until, "never: {what}; last: {status:#?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for a verdict.
    pub(crate) fn verdict(&self, address: SocketAddr, verdict: Verdict) -> UpstreamStatus {
        let status = self.until(&format!("{address} is {}", verdict.as_str()), |status| {
            upstream(status, address).is_some_and(|u| u.verdict == verdict)
        });
        upstream(&status, address).unwrap()
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        eventually("the agent ends", || self.process.has_ended())
    }

    /// What `holdfast status` shows of it.
    pub(crate) fn shown(&self, arguments: &[&str]) -> Done {
        let admin = format!("--admin={}", self.admin);
        run(holdfast().arg("status").arg(admin).args(arguments))
    }
}

pub(crate) fn upstream(status: &Status, address: SocketAddr) -> Option<UpstreamStatus> {
    let mut all = status.upstreams.iter();
    all.find(|u| u.address == address).cloned()
}
