//! A client's lasting connections: when they lived, how they ended, and whether their path broke.
//!
//! A connection's path leads through the balancer it was dialled to, if any, to the API server that
//! answers on it. The client tells the server (`x-lab-server`), and the address it dialled. Behind an
//! agent that address is the agent's own, so that a balancer on the path is not seen by the client.
//! There the agent's status says how many of its connections were on the balancer when it broke, and
//! so many of the connections open at that moment are taken to be on it, those that ended first.

use super::{Course, Outage, PartKind, Sight};
use crate::actor::client::{Ending, Event, Lane, What};

/// One lasting connection of a client: not one that was made for a single request.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The work it does.
    pub lane: Lane,
    /// Its number in that lane.
    pub id: u64,
    /// When it was up.
    pub opened: f64,
    /// When and how it ended, if it did within the run.
    pub end: Option<(f64, Ending)>,
    /// The server or balancer that was dialled, where the client dialled one.
    pub dialled: Option<String>,
    /// The API server that answered on it.
    pub server: Option<String>,
    /// Whether its path broke while it was open.
    pub faulted: bool,
}

impl Connection {
    /// Whether it was open at the moment `t`.
    pub fn is_open_at(&self, t: f64) -> bool {
        self.opened <= t && self.end.is_none_or(|(end, _)| end >= t)
    }

    /// Whether it was open at some moment of an outage.
    fn met(&self, outage: &Outage) -> bool {
        self.end.is_none_or(|(end, _)| end >= outage.from)
            && outage.to.is_none_or(|to| self.opened < to)
    }

    fn leads_through(&self, part: &str) -> bool {
        self.server.as_deref() == Some(part) || self.dialled.as_deref() == Some(part)
    }
}

/// The lasting connections that a client told of, in the order in which they were made.
pub fn connections(course: &Course, sight: &Sight) -> Vec<Connection> {
    let mut connections = told(course, &sight.events);
    for outage in &course.outages {
        for connection in &mut connections {
            connection.faulted |=
                connection.met(outage) && connection.leads_through(&outage.part.name);
        }
        mark_unseen(sight, outage, &mut connections);
    }
    connections
}

/// The connections as the client told of them.
fn told(course: &Course, events: &[Event]) -> Vec<Connection> {
    let mut connections: Vec<Connection> = Vec::new();
    for event in events.iter().filter(|event| event.t <= course.end) {
        match (event.lane, event.what) {
            (Lane::Fresh | Lane::Watch, _)
            | (_, What::Dialing | What::DialFailed | What::Failed) => {}
            (lane, What::Connected) => connections.push(Connection {
                lane,
                id: event.id,
                opened: event.t,
                end: None,
                dialled: event
                    .detail
                    .as_ref()
                    .and_then(|address| course.parts.get(address).cloned()),
                server: event.server.clone(),
                faulted: false,
            }),
            (lane, What::Closed) => {
                let ended = connections
                    .iter_mut()
                    .rfind(|one| one.lane == lane && one.id == event.id && one.end.is_none());
                if let Some(connection) = ended {
                    connection.end = Some((event.t, ending(event)));
                    connection.server = connection.server.take().or_else(|| event.server.clone());
                }
            }
            (lane, What::Ok) => {
                // The client tells on which connection an answer came.
                let fresh = connections.iter_mut().find(|one| {
                    one.lane == lane
                        && one.end.is_none()
                        && one.server.is_none()
                        && event.connection.is_none_or(|id| one.id == id)
                });
                if let Some(connection) = fresh {
                    connection.server.clone_from(&event.server);
                }
            }
        }
    }
    connections
}

/// Marks the connections behind an agent that were on a balancer when it broke, or on a server that does not tell
/// its name, as real ones do not.
fn mark_unseen(sight: &Sight, outage: &Outage, connections: &mut [Connection]) {
    let last = sight.loads.iter().rfind(|load| load.t <= outage.from);
    let on_it = last.and_then(|load| load.connections.get(&outage.part.name));
    let mut unseen: Vec<&mut Connection> = connections
        .iter_mut()
        .filter(|one| one.dialled.is_none() && one.is_open_at(outage.from))
        .filter(|one| outage.part.kind == PartKind::Balancer || one.server.is_none())
        .collect();
    let end = |one: &Connection| one.end.map_or(f64::INFINITY, |(t, _)| t);
    unseen.sort_by(|one, other| end(one).total_cmp(&end(other)));
    for connection in unseen.into_iter().take(on_it.copied().unwrap_or(0)) {
        connection.faulted = true;
    }
}

fn ending(event: &Event) -> Ending {
    [
        Ending::Aborted,
        Ending::Eof,
        Ending::Lost,
        Ending::Own,
        Ending::PingTimeout,
        Ending::Reset,
    ]
    .into_iter()
    .find(|ending| event.detail.as_deref() == Some(ending.as_str()))
    .unwrap_or(Ending::Reset)
}
