//! Watching the subjects: what clients print and what agents tell, as one stream.

use std::net::SocketAddrV4;
use std::time::Duration;

use holdfast_core::status::Status;
use holdfast_linux::netns::Namespace;
use tokio::sync::mpsc;

use crate::actor::client::Event;
use crate::actor::monotonic_seconds;
use crate::actor::observer::Observation;
use crate::subject::{Subject, status};

/// How often an agent is asked for its status.
const POLL: Duration = Duration::from_millis(200);

/// Something that was seen of a subject.
#[derive(Debug)]
pub(super) enum Sighting {
    /// Its client told of an event.
    Event(Subject, Event),
    /// Its client has ended.
    Gone(Subject),
    /// A real API says something of a node.
    Node(Observation),
    /// Its agent told its status at that moment.
    Status(Subject, f64, Box<Status>),
}

/// Passes on what a client prints.
pub(super) async fn client(
    subject: Subject,
    mut lines: mpsc::UnboundedReceiver<String>,
    to: mpsc::UnboundedSender<Sighting>,
) {
    while let Some(line) = lines.recv().await {
        if let Ok(event) = serde_json::from_str::<Event>(&line)
            && to.send(Sighting::Event(subject, event)).is_err()
        {
            return;
        }
    }
    // Nobody listens any more when the run is over.
    drop(to.send(Sighting::Gone(subject)));
}

/// Passes on what an agent tells, for as long as it is polled. An agent that does not answer is not
/// an error here: whatever it did to its client is seen there.
pub(super) async fn agent(
    subject: Subject,
    namespace: Namespace,
    address: SocketAddrV4,
    to: mpsc::UnboundedSender<Sighting>,
) {
    loop {
        if let Ok(status) = status::ask(&namespace, address).await
            && to
                .send(Sighting::Status(
                    subject,
                    monotonic_seconds(),
                    Box::new(status),
                ))
                .is_err()
        {
            return;
        }
        tokio::time::sleep(POLL).await;
    }
}
