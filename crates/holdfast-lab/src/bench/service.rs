//! A contender that runs: started, asked until it serves, watched, stopped.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::contender::Contender;
use super::load::Load;
use super::usage::{self, Memory};
use super::{BenchError, DIRECTORY, backend};
use crate::subject::ADMIN;

/// How long a contender may take until it serves, and until it has stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is asked meanwhile.
const TICK: Duration = Duration::from_millis(20);

/// What a contender does right after its start is not idleness yet.
const SETTLE: Duration = Duration::from_millis(300);

/// How much of a log explains an end, in bytes.
const LAST_WORDS: usize = 600;

/// A contender that runs. It is killed when it is dropped.
#[derive(Debug)]
pub(super) struct Service {
    contender: Contender,
    /// Its process; `direct` has none.
    child: Option<Child>,
    log: PathBuf,
}

impl Service {
    /// Starts it and waits until a request through it is answered.
    pub(super) fn start(
        contender: Contender,
        holdfast: &Path,
        ca: &Path,
    ) -> Result<Self, BenchError> {
        let log = Path::new(DIRECTORY).join(format!("{contender}.log"));
        let system = || BenchError::system(format!("start {contender}"));
        let child = command(contender, holdfast, ca)
            .map_err(system())?
            .map(|command| spawn(command, &log))
            .transpose()
            .map_err(system())?;
        let mut service = Self {
            contender,
            child,
            log,
        };
        let until = Instant::now() + PATIENCE;
        while !service.serves() {
            if !service.runs() || Instant::now() > until {
                return Err(service.last_words());
            }
            std::thread::sleep(TICK);
        }
        std::thread::sleep(SETTLE);
        Ok(service)
    }

    /// Processor time of its processes so far, in seconds.
    pub(super) fn cpu_seconds(&self) -> Result<f64, BenchError> {
        self.pids()
            .and_then(|pids| usage::cpu_seconds(&pids))
            .map_err(BenchError::system("read processor times"))
    }

    /// Memory of its processes now.
    pub(super) fn memory(&self) -> Result<Memory, BenchError> {
        self.pids()
            .and_then(|pids| usage::memory(&pids))
            .map_err(BenchError::system("read memory sizes"))
    }

    /// Stops it as its supervisor would.
    pub(super) fn stop(mut self) -> Result<(), BenchError> {
        if !self.runs() {
            return Err(self.last_words());
        }
        if let Some(pid) = self.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
            kill_process(pid, Signal::TERM)
                .map_err(io::Error::from)
                .map_err(BenchError::system(format!("stop {}", self.contender)))?;
        }
        let until = Instant::now() + PATIENCE;
        while self.child.is_some() && self.runs() && Instant::now() < until {
            std::thread::sleep(TICK);
        }
        // What does not end by then is killed.
        Ok(())
    }

    fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Its processes: none, one, or one with workers.
    fn pids(&self) -> io::Result<Vec<u32>> {
        self.pid().map_or_else(|| Ok(Vec::new()), usage::family)
    }

    fn runs(&mut self) -> bool {
        self.child
            .as_mut()
            .is_none_or(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Whether a request through it is answered, and Holdfast has proved its upstream.
    fn serves(&self) -> bool {
        let ready = self.contender != Contender::Holdfast || agent_is_ready();
        ready && Load::on(self.contender.port()).once().is_ok()
    }

    fn last_words(&self) -> BenchError {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let start = log.len().saturating_sub(LAST_WORDS);
        let end = log.get(log.ceil_char_boundary(start)..).unwrap_or_default();
        BenchError::Contender {
            contender: self.contender,
            last_words: end.trim().replace('\n', " | "),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.runs() {
            return;
        }
        // Its workers go first: nobody would know them without it.
        for pid in self.pids().unwrap_or_default().iter().rev() {
            if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
                // It may end by itself at this moment.
                kill_process(pid, Signal::KILL).ok();
            }
        }
        if let Some(child) = &mut self.child {
            drop(child.wait());
        }
    }
}

/// How the contender is started; `direct` is not.
fn command(contender: Contender, holdfast: &Path, ca: &Path) -> io::Result<Option<Command>> {
    if let Some(peer) = contender.peer() {
        let file = Path::new(DIRECTORY).join(format!("{contender}.conf"));
        std::fs::write(&file, peer.configuration)?;
        let program = peer
            .find()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut command = Command::new(program);
        command.args(peer.arguments).arg(file);
        return Ok(Some(command));
    }
    if contender == Contender::Direct {
        return Ok(None);
    }
    let mut command = Command::new(holdfast);
    // Settings of the user's own agent are not meant for this one.
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"HOLDFAST_") {
            command.env_remove(name);
        }
    }
    command
        .args(["agent", "--node-name", "bench", "--ca"])
        .arg(ca)
        .arg("--endpoint")
        .arg(format!("https://{}", backend::ADDRESS));
    Ok(Some(command))
}

fn spawn(mut command: Command, log: &Path) -> io::Result<Child> {
    let output = File::create(log)?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
}

/// Whether the agent says that it has a usable upstream.
fn agent_is_ready() -> bool {
    let asked = || -> io::Result<String> {
        let mut stream = TcpStream::connect(ADMIN)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    asked().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 "))
}
