//! Operations that go on after their answer, and what becomes of the documents they hold.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::json::set;
use super::kind::Provider;
use super::store::Key;

/// How an operation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Succeeded,
    /// With this error object.
    Failed(Value),
    /// Given up for a newer one.
    Canceled,
    /// Never, within any patience.
    Never,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Documents that change, or are there, when it ends.
    pub(super) changes: Vec<Key>,
    /// Documents that are gone when it ends.
    pub(super) removes: Vec<Key>,
    /// When it ends, since the start.
    pub(super) due: Duration,
    pub(super) end: End,
    /// What it is asked for, where it isn't a change: effective routes.
    pub(super) output: Option<Value>,
    pub(super) provider: Provider,
    done: bool,
}

/// All operations, ended ones too: clients go on asking.
#[derive(Debug, Default)]
pub(super) struct Operations {
    by_id: BTreeMap<String, Operation>,
}

impl Operation {
    pub(super) const fn new(provider: Provider, due: Duration) -> Self {
        Self {
            changes: Vec::new(),
            removes: Vec::new(),
            due,
            end: End::Succeeded,
            output: None,
            provider,
            done: false,
        }
    }

    pub(super) const fn is_done(&self) -> bool {
        self.done
    }

    /// As ARM tells it at `Azure-AsyncOperation`.
    pub(super) fn status(&self, id: &str) -> Value {
        let word = match &self.end {
            _ if !self.done => "InProgress",
            End::Succeeded => "Succeeded",
            End::Failed(_) => "Failed",
            End::Canceled => "Canceled",
            End::Never => "InProgress",
        };
        let mut status = json!({"status": word});
        if self.provider == Provider::Compute {
            set(&mut status, "name", id);
        }
        if let (true, End::Failed(error)) = (self.done, &self.end) {
            set(&mut status, "error", error.clone());
        }
        if let (true, End::Canceled) = (self.done, &self.end) {
            let error = json!({
                "code": "OperationPreempted",
                "message": "The operation was preempted by a more recent operation.",
            });
            set(&mut status, "error", error);
        }
        if let (true, Some(output)) = (self.done, &self.output) {
            set(&mut status, "properties", json!({"output": output}));
        }
        status
    }
}

impl Operations {
    pub(super) fn add(&mut self, id: String, operation: Operation) {
        self.by_id.insert(id, operation);
    }

    pub(super) fn find(&self, id: &str) -> Option<&Operation> {
        self.by_id.get(id)
    }

    /// Those that have just ended.
    pub(super) fn ending(&mut self, now: Duration) -> Vec<Operation> {
        let due = self
            .by_id
            .values_mut()
            .filter(|one| !one.done && one.due <= now && one.end != End::Never);
        due.map(|one| {
            one.done = true;
            one.clone()
        })
        .collect()
    }

    /// When the next one ends.
    pub(super) fn next(&self) -> Option<Duration> {
        let waiting = self
            .by_id
            .values()
            .filter(|one| !one.done && one.end != End::Never);
        waiting.map(|one| one.due).min()
    }

    /// Ends those that no fault lets go on, as an order does.
    pub(super) fn release(&mut self, now: Duration) {
        for one in self.by_id.values_mut().filter(|one| one.end == End::Never) {
            one.end = End::Succeeded;
            one.due = now;
        }
    }
}
