//! Hand-written and random histories. The timeline runs from 0 to 200, the fault is at 100.

use holdfast_core::reason::Reason;
use holdfast_core::status::{ActionStatus, Status, UpstreamStatus, Verdict, What as Act};
use proptest::prelude::*;

use super::*;

/// A client's history in the making.
#[derive(Debug, Default)]
pub(super) struct History {
    events: Vec<Event>,
}

impl History {
    fn tell(mut self, t: f64, lane: Lane, id: u64, what: What, more: serde_json::Value) -> Self {
        let mut line = serde_json::json!({"t": t, "lane": lane, "id": id, "what": what});
        if let (Some(line), serde_json::Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        self.events.push(serde_json::from_value(line).unwrap());
        self
    }

    pub(super) fn beats(self, moments: impl IntoIterator<Item = f64>) -> Self {
        moments.into_iter().fold(self, |history, t| {
            history.tell(
                t,
                Lane::Heartbeat,
                0,
                What::Ok,
                serde_json::json!({"server": "cp1", "took_s": 0.01}),
            )
        })
    }

    /// Answers to one worker of a lane.
    pub(super) fn answers(
        self,
        lane: Lane,
        worker: u64,
        moments: impl IntoIterator<Item = f64>,
    ) -> Self {
        moments.into_iter().fold(self, |history, t| {
            history.tell(t, lane, worker, What::Ok, serde_json::json!({}))
        })
    }

    /// A connection that is up.
    pub(super) fn connected(self, lane: Lane, id: u64, t: f64) -> Self {
        self.tell(t, lane, id, What::Connected, serde_json::json!({}))
    }

    /// An answer on that connection.
    pub(super) fn answered(self, lane: Lane, id: u64, t: f64, server: &str) -> Self {
        let more = serde_json::json!({"connection": id, "server": server});
        self.tell(t, lane, 0, What::Ok, more)
    }

    /// A connection to `address` that `server` answers on, 10 ms after it is up.
    pub(super) fn connection(
        self,
        lane: Lane,
        id: u64,
        t: f64,
        address: &str,
        server: &str,
    ) -> Self {
        self.tell(
            t,
            lane,
            id,
            What::Connected,
            serde_json::json!({"detail": address}),
        )
        .tell(
            t + 0.01,
            lane,
            0,
            What::Ok,
            serde_json::json!({"server": server, "took_s": 0.01}),
        )
    }

    pub(super) fn closed(self, lane: Lane, id: u64, t: f64, how: &str) -> Self {
        self.tell(
            t,
            lane,
            id,
            What::Closed,
            serde_json::json!({"detail": how}),
        )
    }

    /// A request on a connection of its own that ended at `t`.
    pub(super) fn fresh(self, t: f64, took: f64, fine: bool) -> Self {
        let what = if fine { What::Ok } else { What::Failed };
        self.tell(t, Lane::Fresh, 0, what, serde_json::json!({"took_s": took}))
    }

    /// The same, answered by that server.
    pub(super) fn fresh_by(self, t: f64, took: f64, server: &str) -> Self {
        let more = serde_json::json!({"took_s": took, "server": server});
        self.tell(t, Lane::Fresh, 0, What::Ok, more)
    }

    pub(super) fn sight(mut self) -> Sight {
        self.events.sort_by(|one, other| one.t.total_cmp(&other.t));
        Sight {
            events: self.events,
            ..Sight::default()
        }
    }
}

pub(super) fn course() -> Course {
    let parts = [
        ("10.99.1.1:6443", "lb1"),
        ("10.99.1.2:6443", "lb2"),
        ("10.99.2.1:6443", "cp1"),
        ("10.99.2.2:6443", "cp2"),
    ];
    Course {
        start: 0.0,
        fault: 100.0,
        end: 200.0,
        time_scale: 1.0,
        outages: Vec::new(),
        faulted: Vec::new(),
        mended: None,
        parts: parts
            .into_iter()
            .map(|(address, name)| (address.to_owned(), name.to_owned()))
            .collect(),
    }
}

pub(super) fn outage(
    mut course: Course,
    name: &str,
    kind: PartKind,
    from: f64,
    to: Option<f64>,
) -> Course {
    course.outages.push(Outage {
        part: Part {
            name: name.to_owned(),
            kind,
        },
        from,
        to,
    });
    course
}

/// The same with an agent that told its load once.
pub(super) fn agent(mut sight: Sight, t: f64, load: &[(&str, usize)]) -> Sight {
    let connections = load
        .iter()
        .map(|(part, count)| ((*part).to_owned(), *count))
        .collect();
    sight.loads.push(Load { t, connections });
    sight
}

/// A status with two connections on lb1 and such actions, as (number, time).
pub(super) fn status(uptime_s: f64, actions: &[(u64, f64)]) -> Status {
    Status {
        guard: None,
        version: "0.1.0".to_owned(),
        node: "node-holdfast".to_owned(),
        endpoint: "https://api.lab.test:6443".to_owned(),
        uptime_s,
        ready: true,
        listeners: Vec::new(),
        connections: 2,
        fleet: None,
        config: holdfast_core::status::ConfigStatus::default(),
        connections_most: 1000,
        draining_s: None,
        sources: Vec::new(),
        upstreams: vec![UpstreamStatus {
            address: "10.99.1.1:6443".parse().unwrap(),
            verdict: Verdict::Ready,
            reason: Reason::ReadyzOk,
            since_s: 1.0,
            origins: Vec::new(),
            here: false,
            connections: 2,
            last_probe: None,
            last_byte_s: None,
            next_probe_s: None,
        }],
        actions: actions
            .iter()
            .map(|(seq, at_s)| ActionStatus {
                seq: *seq,
                at_s: *at_s,
                what: Act::ConnectionCut,
                upstream: None,
                connection: None,
                verdict: None,
                reason: Reason::Silent,
                evidence: String::new(),
                next: String::new(),
            })
            .collect(),
    }
}

/// A random history: connections that come and go, heartbeats, fresh requests.
pub(super) fn any() -> impl Strategy<Value = Sight> {
    let lane = prop::sample::select(vec![Lane::Heartbeat, Lane::Idle, Lane::Active]);
    let how = prop::sample::select(vec![
        "reset",
        "eof",
        "own",
        "ping-timeout",
        "lost",
        "aborted",
    ]);
    let server = prop::sample::select(vec!["cp1", "cp2"]);
    let connection = (
        lane,
        0.0..150.0_f64,
        prop::option::of(0.1..100.0_f64),
        how,
        server,
    );
    let connections = prop::collection::vec(connection, 0..12);
    let beats = prop::collection::vec(0.0..200.0_f64, 0..20);
    let fresh = prop::collection::vec((0.0..210.0_f64, 0.0..5.0_f64, any_bool()), 0..20);
    (connections, beats, fresh).prop_map(|(connections, beats, fresh)| {
        let mut history = History::default().beats(beats);
        for (id, (lane, t, life, how, server)) in (0..).zip(connections) {
            history = history.connection(lane, id, t, "127.0.0.1:6445", server);
            if let Some(life) = life {
                history = history.closed(lane, id, t + 0.02 + life, how);
            }
        }
        for (t, took, fine) in fresh {
            history = history.fresh(t, took, fine);
        }
        history.sight()
    })
}

fn any_bool() -> impl Strategy<Value = bool> {
    prop::bool::ANY
}
