//! An actor's console: orders come in as lines, everything said goes out as one JSON object per line.

use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc as channel;

use crate::span::{self, Span};

/// Where an actor takes its orders from and where it speaks.
#[derive(Debug)]
pub struct Console {
    orders: channel::UnboundedReceiver<String>,
    voice: Voice,
}

/// The other end of a [`Console::pair`]: gives orders and hears what the actor says.
#[derive(Debug)]
pub struct Remote {
    orders: channel::UnboundedSender<String>,
    said: channel::UnboundedReceiver<String>,
}

/// An actor's voice: can be cloned into every task, never blocks.
#[derive(Debug, Clone)]
pub(crate) enum Voice {
    /// Into the task that holds the other end.
    Channel(channel::UnboundedSender<String>),
    /// To the thread that writes the process's standard output.
    Output(mpsc::Sender<String>),
}

impl Console {
    /// The standard input and output of this process.
    ///
    /// Two threads do the reading and writing, so that a slow reader never delays a time stamp.
    pub fn stdio() -> Self {
        let (give, orders) = channel::unbounded_channel();
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if give.send(line).is_err() {
                    break;
                }
            }
        });
        let (say, said) = mpsc::channel::<String>();
        thread::spawn(move || {
            let mut output = io::stdout().lock();
            for line in said {
                if writeln!(output, "{line}")
                    .and_then(|()| output.flush())
                    .is_err()
                {
                    break;
                }
            }
        });
        Self {
            orders,
            voice: Voice::Output(say),
        }
    }

    /// A console inside this process, and the remote that drives it.
    pub fn pair() -> (Self, Remote) {
        let (give, orders) = channel::unbounded_channel();
        let (say, said) = channel::unbounded_channel();
        let console = Self {
            orders,
            voice: Voice::Channel(say),
        };
        (console, Remote { orders: give, said })
    }

    /// A voice for another task.
    pub(crate) fn voice(&self) -> Voice {
        self.voice.clone()
    }

    /// Says that the actor is ready, with what the reader needs to reach it.
    pub(crate) fn ready(&self, facts: &Value) {
        self.voice.say(&merged("ready", facts));
    }

    /// The next order with its words, or `None` when the input has ended. Empty lines are skipped.
    pub(crate) async fn order(&mut self) -> Option<String> {
        loop {
            let line = self.orders.recv().await?;
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }

    /// Answers an order: with facts (`null` for none), or with what is wrong with it.
    pub(crate) fn answer(&self, outcome: Result<Value, String>) {
        let line = match outcome {
            Ok(facts) => merged("ok", &facts),
            Err(error) => serde_json::json!({"ok": false, "error": error}),
        };
        self.voice.say(&line);
    }
}

impl Remote {
    /// Gives one order.
    pub fn order(&self, line: &str) {
        // An actor that has ended hears nothing; the caller notices when it listens.
        drop(self.orders.send(line.to_owned()));
    }

    /// The next line that the actor says, or `None` when it has ended.
    pub async fn hear(&mut self) -> Option<Value> {
        let line = self.said.recv().await?;
        serde_json::from_str(&line).ok()
    }
}

impl Voice {
    /// Says one line.
    pub(crate) fn say(&self, what: &impl Serialize) {
        let Ok(line) = serde_json::to_string(what) else {
            return;
        };
        // A reader that has gone away is about to end this actor.
        match self {
            Self::Channel(to) => drop(to.send(line)),
            Self::Output(to) => drop(to.send(line)),
        }
    }
}

/// `{"HEAD": true}` followed by the facts, which are an object or null.
fn merged(head: &str, facts: &Value) -> Value {
    let mut line = Map::new();
    line.insert(head.to_owned(), Value::Bool(true));
    if let Some(facts) = facts.as_object() {
        line.extend(facts.clone());
    }
    Value::Object(line)
}

/// Reads a duration with its unit, such as `250ms` or `12s`; `0s` is allowed.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().map_err(|error| error.to_string())?;
    if span.is_negative() {
        return Err(format!("found {text:?}, accepted: {}", span::ACCEPTED));
    }
    Ok(span.duration())
}

/// Reads socket addresses separated by commas; an empty text is an empty list.
pub(crate) fn addresses(text: &str) -> Result<Vec<std::net::SocketAddr>, String> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.parse().map_err(|_| {
                format!("found {part:?}, accepted: ADDRESS:PORT, as in 10.99.1.1:6443")
            })
        })
        .collect()
}
