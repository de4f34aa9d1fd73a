//! The processes that belong to a world: how each is started, known to be up, and started again.

use std::net::{SocketAddrV4, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use holdfast_linux::netns::Namespace;
use tokio::time::{Instant, sleep};

use super::{World, WorldError, missing};
use crate::measure::PartKind;
use crate::process::Process;

/// How long a part may take to come up, or to stop once it was told to. A real API server starts in
/// seconds and stops after its shutdown delay; machines are shared.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often it is looked whether it has.
const TICK: Duration = Duration::from_millis(100);

/// A process that belongs to the world, not to a subject.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) kind: Option<PartKind>,
    pub(super) call: Call,
    pub(super) process: Process,
}

/// How a part is started.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Where.
    pub(super) place: String,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) readiness: Readiness,
}

/// How it is known that a part is up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Readiness {
    /// It accepts connections there.
    Accepts(SocketAddrV4),
    /// It says so, as the lab's own actors do.
    Said,
    /// Nobody waits for it: others try until it serves them.
    Unasked,
}

/// Why a part is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// It accepts no connection.
    #[error("{name} accepts no connection on {address} within {} s: {last_words}", PATIENCE.as_secs())]
    Deaf {
        /// The part.
        name: String,
        /// Where it should.
        address: SocketAddrV4,
        /// What it said last.
        last_words: String,
    },
    /// It was told to stop and goes on.
    #[error("{name} still runs {} s after it was told to stop", PATIENCE.as_secs())]
    Runs {
        /// The part.
        name: String,
    },
}

impl World {
    /// Starts a part without waiting for it.
    pub(super) fn start_part(
        &mut self,
        name: &str,
        kind: Option<PartKind>,
        call: Call,
    ) -> Result<(), WorldError> {
        let process = self.start_other(name, &call.place, &call.program, &call.arguments)?;
        let actor = Actor {
            kind,
            call,
            process,
        };
        self.actors.insert(name.to_owned(), actor);
        Ok(())
    }

    /// Starts a part again that has ended, or was told to.
    pub(super) async fn restart_part(&mut self, name: &str) -> Result<(), WorldError> {
        let actor = self.actor("start", name)?;
        let begun = Instant::now();
        while actor.process.runs() {
            if begun.elapsed() > PATIENCE {
                return Err(PartError::Runs {
                    name: name.to_owned(),
                }
                .into());
            }
            sleep(TICK).await;
        }
        let (kind, call) = (actor.kind, actor.call.clone());
        self.start_part(name, kind, call)?;
        let actor = self.actors.get_mut(name);
        let actor = actor.ok_or_else(|| missing("start", name))?;
        let place = self.places.get(&actor.call.place);
        let place = place.ok_or_else(|| missing("start", name))?;
        await_readiness(name, actor, &place.namespace).await
    }
}

/// Waits until a part is up.
pub(super) async fn await_readiness(
    name: &str,
    actor: &mut Actor,
    namespace: &Namespace,
) -> Result<(), WorldError> {
    match actor.call.readiness {
        Readiness::Unasked => Ok(()),
        Readiness::Said => Ok(actor.process.ready().await?),
        Readiness::Accepts(address) => {
            let begun = Instant::now();
            loop {
                let connected =
                    namespace.within(|| TcpStream::connect_timeout(&address.into(), TICK))?;
                if connected.is_ok() {
                    return Ok(());
                }
                if !actor.process.runs() || begun.elapsed() > PATIENCE {
                    return Err(PartError::Deaf {
                        name: name.to_owned(),
                        address,
                        last_words: actor.process.ended().to_string(),
                    }
                    .into());
                }
                sleep(TICK).await;
            }
        }
    }
}
