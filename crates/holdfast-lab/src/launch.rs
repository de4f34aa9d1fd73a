//! Starting a run in namespaces of its own: another copy of this program, through `unshare`.
//!
//! The copy is the first process of a PID namespace and has its own mount and network namespaces, so
//! that everything a run makes goes away with it, however it ends. Root needs nothing else; other users
//! get a user namespace in which they are root (`unshare(1)`, `user_namespaces(7)`).

use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::geteuid;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};

use crate::report::Story;
use crate::run::{self, Order, Word};

/// The arguments with which the program runs what it reads from its input; see [`inside`].
pub const INSIDE: [&str; 2] = ["lab", "world"];

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The run failed; the error and its causes.
    #[error("{}", .0.join(": "))]
    Failed(Vec<String>),
    /// The copy of the program ended without a word.
    #[error("the lab's process ended early: {0}")]
    Lost(String),
    /// This system can't do it as it is.
    #[error("{what}")]
    Missing {
        /// What is missing.
        what: String,
        /// What would help.
        hint: String,
    },
    /// A program could not be started or spoken to.
    #[error("run {program}")]
    System {
        /// The program.
        program: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// How a run gets its namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// As root.
    Root,
    /// As root of a user namespace.
    User,
}

impl Means {
    /// The means that this process has, tried out.
    pub async fn find() -> Result<Self, LaunchError> {
        let root = geteuid().is_root();
        let means = if root {
            vec![Self::Root, Self::User]
        } else {
            vec![Self::User]
        };
        let mut problem = String::new();
        for means in means {
            // An address on a link in the new namespace: what a run does first and cannot do without.
            match output(means.unshare().args(["ip", "link", "set", "lo", "up"])).await? {
                Ok(()) => return Ok(means),
                Err(said) => problem = said,
            }
        }
        if problem.contains("failed to execute ip") || problem.contains("No such file or directory")
        {
            return Err(LaunchError::Missing {
                what: "the lab needs ip (iproute2), and it is not installed".to_owned(),
                hint: "apt-get install iproute2".to_owned(),
            });
        }
        Err(LaunchError::Missing {
            what: format!(
                "the lab needs network namespaces, and they can't be made here: {problem}"
            ),
            hint: if root {
                "run it with CAP_SYS_ADMIN, in a container for example with `--privileged`"
                    .to_owned()
            } else {
                "run it as root, or allow user namespaces: `sysctl -w user.max_user_namespaces=10000 \
                 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0` \
                 (those of them that the system has)"
                    .to_owned()
            },
        })
    }

    pub(crate) fn unshare(self) -> Command {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child=KILL",
            "--mount-proc",
        ]);
        match self {
            Self::Root => {}
            Self::User => {
                command.args(["--user", "--map-root-user"]);
            }
        }
        command.arg("--").kill_on_drop(true);
        command
    }
}

/// Runs the order in namespaces made by `means` with copies of `program`; `hear` gets every word but
/// the last.
pub async fn launch(
    means: Means,
    program: &Path,
    order: &Order,
    mut hear: impl FnMut(Word),
) -> Result<Story, LaunchError> {
    let mut last_word = None;
    let said = converse(means, program, &INSIDE, order, |word| match word {
        Word::Story(story) => last_word = Some(Ok(*story)),
        Word::Failed(chain) => last_word = Some(Err(LaunchError::Failed(chain))),
        Word::Live(_) | Word::Progress(_) => hear(word),
    })
    .await?;
    last_word.unwrap_or(Err(LaunchError::Lost(said)))
}

/// Starts a copy of `program` with these arguments in namespaces made by `means`, gives it the order,
/// and hears its words until it ends. What it said besides them, or its exit status.
pub(crate) async fn converse<W: DeserializeOwned>(
    means: Means,
    program: &Path,
    arguments: &[&str],
    order: &impl Serialize,
    mut hear: impl FnMut(W),
) -> Result<String, LaunchError> {
    let system = |source| LaunchError::System {
        program: "unshare",
        source,
    };
    let mut child = means
        .unshare()
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(system)?;
    let mut line = serde_json::to_string(order).map_err(|error| system(error.into()))?;
    line.push('\n');
    // The input stays open until the run is over: its end would end the run.
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        input.write_all(line.as_bytes()).await.map_err(system)?;
    }
    let mut stray = None;
    if let Some(output) = child.stdout.take() {
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await.map_err(system)? {
            match serde_json::from_str(&line) {
                Ok(word) => hear(word),
                Err(_) => stray = Some(line),
            }
        }
    }
    let output = child.wait_with_output().await.map_err(system)?;
    drop(input);
    Ok(stray.unwrap_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if said.is_empty() {
            output.status.to_string()
        } else {
            said
        }
    }))
}

/// What the copy of the program does: reads an order from its input, runs it, and says its words as
/// lines of JSON. Ends early when the input does.
pub async fn inside() -> Result<(), LaunchError> {
    let program = own_program()?;
    let perform = async |order: Order, words: mpsc::UnboundedSender<Word>| {
        let last_word = match run::run(&order, &program, &words).await {
            Ok(story) => Word::Story(Box::new(story)),
            Err(error) => Word::Failed(chain(&error)),
        };
        // The reader goes on until the last word.
        drop(words.send(last_word));
    };
    let is_last = |word: &Word| matches!(word, Word::Story(_) | Word::Failed(_));
    answer(perform, is_last).await
}

/// The inner end of [`converse`]: prepares the namespaces, performs the order that is read from the
/// input, and prints its words up to the last.
pub(crate) async fn answer<O: DeserializeOwned, W: Serialize>(
    perform: impl AsyncFnOnce(O, mpsc::UnboundedSender<W>),
    is_last: impl Fn(&W) -> bool,
) -> Result<(), LaunchError> {
    let (order, gone) = listen().await?;
    prepare().await?;
    let (words, mut said) = mpsc::unbounded_channel();
    let speak = async {
        while let Some(word) = said.recv().await {
            let line = serde_json::to_string(&word).map_err(io::Error::from)?;
            let mut output = io::stdout().lock();
            writeln!(output, "{line}").and_then(|()| output.flush())?;
            if is_last(&word) {
                break;
            }
        }
        Ok(())
    };
    let both = async { tokio::join!(perform(order, words), speak).1 };
    tokio::select! {
        spoken = both => spoken.map_err(inner),
        _ = gone => Ok(()),
    }
}

/// This program's own file, of which every process of a run is another copy.
pub(crate) fn own_program() -> Result<PathBuf, LaunchError> {
    std::env::current_exe().map_err(inner)
}

fn inner(source: io::Error) -> LaunchError {
    LaunchError::System {
        program: "the lab's inner process",
        source,
    }
}

/// Reads the order, and goes on listening for the end of the input.
async fn listen<O: DeserializeOwned>() -> Result<(O, oneshot::Receiver<()>), LaunchError> {
    let (give, line) = oneshot::channel();
    let (end, gone) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut line = String::new();
        drop(give.send(input.read_line(&mut line).map(|_| line)));
        drop(io::copy(&mut input, &mut io::sink()));
        drop(end);
    });
    let lost = |error: String| LaunchError::Lost(error);
    let line = line
        .await
        .map_err(|error| lost(error.to_string()))?
        .map_err(|error| lost(error.to_string()))?;
    let order =
        serde_json::from_str(&line).map_err(|error| lost(format!("read the order: {error}")))?;
    Ok((order, gone))
}

/// Gives `ip netns` and the run a directory that nobody else sees.
pub(crate) async fn prepare() -> Result<(), LaunchError> {
    if let Err(said) =
        output(Command::new("mount").args(["-t", "tmpfs", "holdfast-lab", "/run"])).await?
    {
        return Err(LaunchError::Lost(format!("mount a private /run: {said}")));
    }
    std::fs::create_dir_all(holdfast_linux::netns::DIRECTORY).map_err(inner)
}

/// Runs a command; what it said on its standard error if it failed.
async fn output(command: &mut Command) -> Result<Result<(), String>, LaunchError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                return LaunchError::Missing {
                    what:
                        "the lab needs unshare and mount (util-linux), and they are not installed"
                            .to_owned(),
                    hint: "apt-get install util-linux".to_owned(),
                };
            }
            LaunchError::System {
                program: "util-linux",
                source,
            }
        })?;
    Ok(if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    })
}

pub(crate) fn chain(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect()
}
