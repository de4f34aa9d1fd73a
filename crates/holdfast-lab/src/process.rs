//! Processes of a world: started in a namespace, read line by line, given orders, signalled.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use holdfast_linux::netns::{self, Namespace};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long a process may take to say that it is ready or to carry out an order. Generous: it is
/// reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many of a process's last lines are kept to explain its end.
const LAST_WORDS: usize = 8;

/// A process in a namespace.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    pid: Option<Pid>,
    orders: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<String>,
    last_words: Arc<Mutex<VecDeque<String>>>,
}

/// Why a process does not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It has ended.
    #[error("{name} has ended: {last_words}")]
    Ended {
        /// The process.
        name: String,
        /// What it said last.
        last_words: String,
    },
    /// It said nothing for too long.
    #[error("{name} did not answer {what:?} within {} s", PATIENCE.as_secs())]
    Late {
        /// The process.
        name: String,
        /// What it was to answer.
        what: String,
    },
    /// Its namespace can't be entered.
    #[error("start {name}")]
    Namespace {
        /// The process.
        name: String,
        /// Why not.
        source: netns::NamespaceError,
    },
    /// It refused an order.
    #[error("{name} refused {order:?}: {problem}")]
    Refused {
        /// The process.
        name: String,
        /// The order.
        order: String,
        /// What it said.
        problem: String,
    },
    /// It could not be started or signalled.
    #[error("start or signal {name}")]
    System {
        /// The process.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Process {
    /// Starts `program` in `namespace`. It ends when it is dropped.
    pub fn start(
        name: &str,
        namespace: &Namespace,
        program: &Path,
        arguments: &[impl AsRef<OsStr>],
    ) -> Result<Self, ProcessError> {
        let system = |source| ProcessError::System {
            name: name.to_owned(),
            source,
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let runtime = tokio::runtime::Handle::current();
        let mut child = namespace
            .within(|| {
                let _inside_runtime = runtime.enter();
                command.spawn()
            })
            .map_err(|source| ProcessError::Namespace {
                name: name.to_owned(),
                source,
            })?
            .map_err(system)?;
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let (to, lines) = mpsc::unbounded_channel();
        if let Some(output) = child.stdout.take() {
            tokio::spawn(read(output, Arc::clone(&last_words), Some(to)));
        }
        if let Some(output) = child.stderr.take() {
            tokio::spawn(read(output, Arc::clone(&last_words), None));
        }
        Ok(Self {
            name: name.to_owned(),
            pid: child.id().and_then(|id| Pid::from_raw(id.cast_signed())),
            orders: child.stdin.take(),
            child,
            lines,
            last_words,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next line that it prints; none once it has ended.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Takes over its lines, for somebody who listens elsewhere.
    pub fn take_lines(&mut self) -> mpsc::UnboundedReceiver<String> {
        let (_, none) = mpsc::unbounded_channel();
        std::mem::replace(&mut self.lines, none)
    }

    /// Waits until it says that it is ready.
    pub async fn ready(&mut self) -> Result<(), ProcessError> {
        self.answer("ready", "ready").await.map(drop)
    }

    /// Gives it one order and waits until that is carried out.
    pub async fn order(&mut self, order: &str) -> Result<Value, ProcessError> {
        self.tell(order).await?;
        let answer = self.answer("ok", order).await?;
        if answer.get("ok").and_then(Value::as_bool) == Some(true) {
            return Ok(answer);
        }
        Err(ProcessError::Refused {
            name: self.name.clone(),
            order: order.to_owned(),
            problem: answer
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or("no reason given")
                .to_owned(),
        })
    }

    /// Gives it an order, and leaves its answer to whoever reads its lines.
    pub async fn tell(&mut self, order: &str) -> Result<(), ProcessError> {
        let line = format!("{order}\n");
        let written = match &mut self.orders {
            Some(orders) => orders.write_all(line.as_bytes()).await.is_ok(),
            None => false,
        };
        if written { Ok(()) } else { Err(self.ended()) }
    }

    /// Its number, while it may be signalled.
    pub fn pid(&self) -> Option<Pid> {
        self.pid
    }

    /// Whether it has not ended yet.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its process id, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until it ends by itself; an error unless it ended well.
    pub async fn finish(&mut self) -> Result<(), ProcessError> {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(_)) => Err(self.ended()),
            Ok(Err(source)) => Err(ProcessError::System {
                name: self.name.clone(),
                source,
            }),
            Err(_) => Err(ProcessError::Late {
                name: self.name.clone(),
                what: "its end".to_owned(),
            }),
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), ProcessError> {
        let pid = self.pid.ok_or_else(|| self.ended())?;
        kill_process(pid, signal).map_err(|errno| ProcessError::System {
            name: self.name.clone(),
            source: errno.into(),
        })
    }

    /// Kills it and waits until the kernel has taken it away.
    pub async fn kill(&mut self) -> Result<(), ProcessError> {
        self.pid = None;
        self.child
            .kill()
            .await
            .map_err(|source| ProcessError::System {
                name: self.name.clone(),
                source,
            })
    }

    /// The error that says that it has ended, with its last words.
    pub fn ended(&self) -> ProcessError {
        let words: Vec<String> = self.last_words.lock().iter().cloned().collect();
        let last_words = if words.is_empty() {
            "it said nothing".to_owned()
        } else {
            words.join(" | ")
        };
        ProcessError::Ended {
            name: self.name.clone(),
            last_words,
        }
    }

    /// The next line with such a key.
    async fn answer(&mut self, key: &str, what: &str) -> Result<Value, ProcessError> {
        let answered = async {
            while let Some(line) = self.lines.recv().await {
                let value: Value = serde_json::from_str(&line).unwrap_or_default();
                if value.get(key).is_some() {
                    return Some(value);
                }
            }
            None
        };
        match timeout(PATIENCE, answered).await {
            Ok(Some(value)) => Ok(value),
            Ok(None) => {
                // Its last words may come through the other pipe.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(self.ended())
            }
            Err(_) => Err(ProcessError::Late {
                name: self.name.clone(),
                what: what.to_owned(),
            }),
        }
    }
}

async fn read(
    output: impl AsyncRead + Unpin,
    last_words: Arc<Mutex<VecDeque<String>>>,
    to: Option<mpsc::UnboundedSender<String>>,
) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        {
            let mut last_words = last_words.lock();
            if last_words.len() == LAST_WORDS {
                last_words.pop_front();
            }
            last_words.push_back(line.clone());
        }
        if let Some(to) = &to {
            // Nobody listens to some processes: their lines are kept above.
            drop(to.send(line));
        }
    }
}
