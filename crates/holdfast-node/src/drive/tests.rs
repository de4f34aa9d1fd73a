use holdfast_core::machine::Tick;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

/// Counts facts, and never has anything to do.
#[derive(Debug, Default)]
struct Counter(u64);

impl Machine for Counter {
    type Input = ();
    type Action = ();

    fn handle(&mut self, _: Tick, (): ()) {
        self.0 += 1;
    }

    fn wake(&mut self, _: Tick) {}

    fn next_wake(&self) -> Option<Tick> {
        None
    }

    fn poll(&mut self) -> Option<()> {
        None
    }

    fn check(&self) {}
}

/// Answers each question with the count.
struct Desk {
    questions: UnboundedReceiver<()>,
    answers: mpsc::UnboundedSender<u64>,
}

impl Shell<Counter> for Desk {
    type Query = ();

    fn obey(&mut self, (): ()) {}

    async fn query(&mut self) {
        if self.questions.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    fn answer(&mut self, machine: &Counter, (): ()) {
        self.answers.send(machine.0).unwrap();
    }

    fn settled(&mut self, _: &Counter) {}
}

/// Everything waits already when the loop begins: one batch of facts at the most passes between a reader
/// and the next, and the last fact waits for no more readers than there are batches.
#[tokio::test]
async fn facts_and_readers_take_turns() {
    let batches = 20;
    let (fact, facts) = unbounded_channel();
    let (question, questions) = unbounded_channel();
    let (answers, mut answered) = unbounded_channel();
    for () in std::iter::repeat_n((), BATCH * batches) {
        fact.send(()).unwrap();
    }
    for () in std::iter::repeat_n((), batches / 2) {
        question.send(()).unwrap();
    }
    let stop = CancellationToken::new();
    let desk = Desk { questions, answers };
    let driven = tokio::spawn(drive(
        Counter::default(),
        facts,
        desk,
        Clock::start(),
        stop.clone(),
    ));
    let mut counts = Vec::new();
    for () in std::iter::repeat_n((), batches / 2) {
        counts.push(answered.recv().await.unwrap());
    }
    stop.cancel();
    driven.await.unwrap();
    let step = u64::try_from(BATCH).unwrap();
    for (turn, count) in (0..).zip(counts) {
        assert_eq!(count, turn * step, "facts before answer {turn}");
    }
}
