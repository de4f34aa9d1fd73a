//! A node for a test: a guest with stand-ins for the kubelet, addresses to connect to, and actors of the lab.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use holdfast_lab::certificates::Certificates;
use serde_json::Value;

use crate::guest::{Guest, eventually};

/// The stand-in's script.
const SCRIPT: &str = include_str!("kubelet.sh");

/// The endpoint's name.
pub(crate) const NAME: &str = "api.lab.test";

/// The port of API servers.
pub(crate) const PORT: u16 = 6443;

/// A guest in which a kubelet runs.
pub(crate) struct Node {
    pub(crate) guest: Guest,
    /// What the kubelet connects to: accepts, and never answers.
    servers: Vec<TcpListener>,
}

/// A unit for the stand-in called `name`, with more lines for its service.
pub(crate) fn stand_in(name: &str, more: &str) -> String {
    format!(
        "[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=1h\nStartLimitBurst=20\n[Service]\n\
         Type=notify\nNotifyAccess=all\nRestart=always\nRestartSec=100ms\n\
         ExecStart=bash /run/systemd/system/kubelet.sh {name}\n{more}"
    )
}

impl Node {
    /// Boots it, and waits until the kubelet has its connection to 127.0.0.11.
    pub(crate) fn boot(units: &[(&str, &str)]) -> Option<Self> {
        let mut node = Self::prepare(units)?;
        node.servers = node.guest.in_its_network(|| {
            let listen = |last| TcpListener::bind((format!("127.0.0.{last}"), PORT)).unwrap();
            vec![listen(11), listen(12)]
        });
        node.start_kubelet();
        // It is ready once it has its connection, which takes a server.
        node.until("kubelet", "connected 127.0.0.11");
        Some(node)
    }

    /// Boots it without anybody for the kubelet to connect to, and so without a kubelet.
    pub(crate) fn prepare(units: &[(&str, &str)]) -> Option<Self> {
        let kubelet = stand_in("kubelet", "");
        let mut all = vec![("-kubelet.sh", SCRIPT)];
        if !units.iter().any(|(name, _)| *name == "-kubelet.service") {
            all.push(("-kubelet.service", &kubelet));
        }
        all.extend(units);
        let guest = Guest::boot_with(&all, |shared| {
            fs::write(
                shared.join("kubelet.target"),
                format!("127.0.0.11 {PORT}\n"),
            )
            .unwrap();
        })?;
        Some(Self {
            guest,
            servers: Vec::new(),
        })
    }

    pub(crate) fn start_kubelet(&self) {
        let started = self.guest.systemctl(&["start", "kubelet.service"]);
        assert_eq!(started.code, Some(0), "{started:?}");
    }

    /// API servers inside, on 127.0.0.11, 127.0.0.12 and so on; all have one certificate, and
    /// `/shared/ca.crt` is its CA's.
    pub(crate) fn api_servers(&self, count: u8) -> Vec<Actor> {
        Certificates::make(&self.guest.shared(""), NAME, &[]).unwrap();
        (1..=count)
            .map(|number| {
                self.actor(&[
                    "api-server",
                    &format!("--name=cp{number}"),
                    &format!("--listen=127.0.0.{}:{PORT}", 10 + number),
                    "--cert=/shared/server.crt",
                    "--key=/shared/server.key",
                ])
            })
            .collect()
    }

    /// Stops the API server of that number where it is: its kernel goes on accepting.
    pub(crate) fn hang_server(&self, number: u8) {
        let script = format!(
            "for process in /proc/[0-9]*; do
                grep -qzx -- --name=cp{number} $process/cmdline && kill -STOP ${{process#/proc/}}
            done 2> /dev/null; true"
        );
        let done = self.guest.run("bash", &["-c", &script]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }

    /// Where the stand-in connects from now on.
    pub(crate) fn move_home(&self, name: &str, address: &str) {
        let target = self.guest.shared(&format!("{name}.target"));
        fs::write(target, format!("{address} {PORT}\n")).unwrap();
    }

    /// What the stand-in has told.
    pub(crate) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.guest.shared(&format!("{name}.log"))).unwrap_or_default()
    }

    /// Waits until the stand-in's last line says this, and gives its process.
    pub(crate) fn until(&self, name: &str, what: &str) -> u32 {
        eventually(&format!("{name}: {what}"), || {
            let log = self.log(name);
            let (pid, said) = log.lines().last()?.split_once(' ')?;
            (said == what).then(|| pid.parse().unwrap())
        })
    }

    /// The main process of a unit, and how often systemd restarted it by itself.
    pub(crate) fn process(&self, unit: &str) -> (u32, u32) {
        let number = |property| self.guest.property(unit, property).parse().unwrap();
        (number("MainPID"), number("NRestarts"))
    }

    /// How many descriptors its main process has open.
    pub(crate) fn descriptors(&self, unit: &str) -> usize {
        let folder = format!("/proc/{}/fd", self.process(unit).0);
        let listed = self.guest.run("ls", &[&folder]);
        assert_eq!(listed.code, Some(0), "{listed:?}");
        listed.out.lines().count()
    }

    /// Waits until the journal of a unit has this text.
    pub(crate) fn says(&self, unit: &str, text: &str) -> String {
        eventually(
            &format!("{unit} says {text:?}: {}", self.guest.journal(unit)),
            || {
                let journal = self.guest.journal(unit);
                journal.contains(text).then_some(journal)
            },
        )
    }

    /// Starts an actor of the lab inside.
    pub(crate) fn actor(&self, arguments: &[&str]) -> Actor {
        Actor::start(&self.guest, arguments)
    }

    /// A DNS server inside, which has `address` for the name.
    pub(crate) fn dns(&self, address: &str) -> Actor {
        let mut dns = self.actor(&["dns", "--listen", "127.0.0.1:5300", "--zone-name", NAME]);
        dns.order(&format!("set {NAME} ttl=1s A {address}"));
        dns
    }
}

/// An actor of the lab.
pub(crate) struct Actor {
    process: Child,
    orders: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Actor {
    /// Starts one inside `guest`.
    pub(crate) fn start(guest: &Guest, arguments: &[&str]) -> Self {
        let mut process = guest
            .inside("holdfast")
            .args(["lab", "actor"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = process.stdin.take().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut actor = Self {
            process,
            orders,
            said,
        };
        let ready = actor.line();
        assert_eq!(ready["ready"], true, "{arguments:?}: {ready}");
        actor
    }

    /// Gives an order that must be taken.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        let answer = self.line();
        assert_eq!(answer["ok"], true, "{order}: {answer}");
    }

    fn line(&mut self) -> Value {
        let mut text = String::new();
        self.said.read_line(&mut text).unwrap();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        // The process inside ends with its input; the one outside waits for it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
