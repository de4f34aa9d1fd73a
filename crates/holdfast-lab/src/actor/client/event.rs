//! What a client tells: one [`Event`] per line.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::actor::control::Voice;
use crate::actor::monotonic_seconds;

/// One thing that happened to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in seconds of `CLOCK_MONOTONIC`.
    pub t: f64,
    /// The line of work that it happened in.
    pub lane: Lane,
    /// For `dialing`, `dial-failed`, `connected` and `closed`: the connection, counted from 0 through the
    /// whole client. For `ok` and `failed`: the worker, counted from 0 in its lane; in the fresh lane,
    /// the request.
    pub id: u64,
    /// What happened.
    pub what: What,
    /// For `ok` outside the fresh lane: the connection that the answer came on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
    /// The API server that answered; for `closed`, the one that had answered on the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How long it took, in seconds: the dial, the request, or the life of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_s: Option<f64>,
    /// For `closed` an [`Ending`]; for `failed` and `dial-failed` the error; for `connected` the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A client's lines of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// A connection with a request each second.
    Active,
    /// A new connection for each request.
    Fresh,
    /// The lease, renewed as a kubelet does. The connection that it shares with the watch is told of here.
    Heartbeat,
    /// A connection that holds a watch and never writes.
    Idle,
    /// A connection with an endless answer, which is read until reading stops.
    Reader,
    /// The watch on the heartbeat's connection.
    Watch,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A connection ended.
    Closed,
    /// A connection is up, TCP and TLS, and in use.
    Connected,
    /// A connection could not be made.
    DialFailed,
    /// A connection is being made.
    Dialing,
    /// A request failed, or a watch ended.
    Failed,
    /// A request was answered, or a watch got its first event.
    Ok,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The kernel was told to abort it (`ECONNABORTED`).
    Aborted,
    /// The peer closed it.
    Eof,
    /// The kernel gave up on the peer (`ETIMEDOUT`, unreachable).
    Lost,
    /// The client itself had no more use for it.
    Own,
    /// The HTTP/2 ping was not answered in time.
    PingTimeout,
    /// The peer reset it.
    Reset,
}

impl Ending {
    /// The word in an event's detail.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::Eof => "eof",
            Self::Lost => "lost",
            Self::Own => "own",
            Self::PingTimeout => "ping-timeout",
            Self::Reset => "reset",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Event {
    /// An event that happens now, without further facts.
    pub(super) fn now(lane: Lane, id: u64, what: What) -> Self {
        Self {
            t: monotonic_seconds(),
            lane,
            id,
            what,
            connection: None,
            server: None,
            took_s: None,
            detail: None,
        }
    }

    /// With the connection that the answer came on.
    pub(super) fn on(mut self, connection: u64) -> Self {
        self.connection = Some(connection);
        self
    }

    /// With the server that answered.
    pub(super) fn by(mut self, server: Option<String>) -> Self {
        self.server = server;
        self
    }

    /// With the time since a moment, in seconds of the same clock.
    pub(super) fn since(mut self, moment: f64) -> Self {
        self.took_s = Some(self.t - moment);
        self
    }

    /// With a detail.
    pub(super) fn because(mut self, detail: impl fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }
}

/// Tells the events of one lane and numbers the client's connections.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    lane: Lane,
    voice: Voice,
    connections: Arc<AtomicU64>,
}

impl Teller {
    /// A client's first teller; the others are made with [`Teller::of`].
    pub(super) fn new(lane: Lane, voice: Voice) -> Self {
        Self {
            lane,
            voice,
            connections: Arc::new(AtomicU64::new(0)),
        }
    }

    /// The same client's teller of another lane.
    pub(super) fn of(&self, lane: Lane) -> Self {
        Self {
            lane,
            ..self.clone()
        }
    }

    /// An event of this lane, that happens now.
    pub(super) fn now(&self, id: u64, what: What) -> Event {
        Event::now(self.lane, id, what)
    }

    pub(super) fn tell(&self, event: &Event) {
        self.voice.say(event);
    }

    /// The number of the next connection.
    pub(super) fn connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }
}
