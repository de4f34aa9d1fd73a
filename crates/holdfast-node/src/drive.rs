//! Runs a machine in real time: facts from a channel, one timer, orders to the shell.

use std::pin::pin;
use std::time::Duration;

use holdfast_core::machine::Machine;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;

#[cfg(test)]
mod tests;

/// With nothing to wait for, the machine is looked at this often.
const IDLE: Duration = Duration::from_secs(1);

/// Facts that are taken in before the timer gets its turn.
const BATCH: usize = 256;

/// Pause after facts were taken in. Facts come in threes for each connection; under load hundreds are
/// then taken in at once instead of waking this task for each, and no decision is so urgent.
const GATHER: Duration = Duration::from_millis(1);

/// What stands around a machine.
pub(crate) trait Shell<M: Machine> {
    /// A reader's question.
    type Query: Send;

    /// Carries one order out; must not block.
    fn obey(&mut self, action: M::Action);

    /// The next question; must be cancel safe.
    fn query(&mut self) -> impl Future<Output = Self::Query> + Send;

    /// Answers a question. Readers ask; nobody locks a machine.
    fn answer(&mut self, machine: &M, query: Self::Query);

    /// The machine has settled after facts or time.
    fn settled(&mut self, machine: &M);
}

/// Drives `machine` until `stop`.
pub(crate) async fn drive<M: Machine>(
    mut machine: M,
    mut facts: mpsc::UnboundedReceiver<M::Input>,
    mut shell: impl Shell<M>,
    clock: Clock,
    stop: CancellationToken,
) {
    settle(&mut machine, &mut shell);
    let mut batch = Vec::with_capacity(BATCH);
    let mut gathering = Instant::now();
    // Facts that come without end must not keep a reader waiting, nor readers the facts.
    let mut answered = false;
    loop {
        let wake = machine
            .next_wake()
            .map_or_else(|| Instant::now() + IDLE, |tick| clock.instant(tick));
        let now = Instant::now();
        let pausing = now < gathering;
        let next = if pausing {
            wake.min(gathering)
        } else {
            wake.min(now + IDLE)
        };
        let timer = pin!(sleep_until(next));
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            query = shell.query(), if !answered || facts.is_empty() => {
                shell.answer(&machine, query);
                answered = true;
            }
            // Facts first: what has happened already must be known before time is judged.
            count = facts.recv_many(&mut batch, BATCH), if !pausing => {
                if count == 0 {
                    return;
                }
                answered = false;
                // A full batch has more behind it.
                if count < BATCH {
                    gathering = Instant::now() + GATHER;
                }
                for fact in batch.drain(..) {
                    machine.handle(clock.now(), fact);
                    settle(&mut machine, &mut shell);
                }
            }
            () = timer => {
                answered = false;
                // Overdue and unknown at once: what has come meanwhile is taken in first.
                if wake <= Instant::now() && facts.is_empty() {
                    machine.wake(clock.now());
                    settle(&mut machine, &mut shell);
                } else if wake <= Instant::now() {
                    gathering = Instant::now();
                }
            }
        }
        shell.settled(&machine);
    }
}

fn settle<M: Machine>(machine: &mut M, shell: &mut impl Shell<M>) {
    if cfg!(debug_assertions) {
        machine.check();
    }
    while let Some(action) = machine.poll() {
        shell.obey(action);
    }
}
