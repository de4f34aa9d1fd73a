//! Storing what was decided, as an operation that ends later, and ending it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{Arm, Call};
use crate::azure::address;
use crate::azure::kind::{Kind, Provider};
use crate::azure::link;
use crate::azure::operation::{End, Operation};
use crate::azure::scale_set::Change;
use crate::azure::shape;
use crate::azure::store::{Document, Key, elements, elements_mut, id_of, key, set_state};

/// As long as Microsoft says that these URLs may be: at least so many bytes are to be accepted.
const LONG_URL: usize = 4096;

impl Arm {
    /// Stores a change. The operation's id, if it goes on.
    pub(super) fn commit(
        &mut self,
        call: Call<'_>,
        change: Change,
        provider: Provider,
    ) -> Option<String> {
        let waits = !self.settings.latency.is_zero() || call.end.is_some();
        let goes_on = waits && provider != Provider::Authorization;
        let mut operation = self.operation_of(call, provider);
        for (id, kind, body) in change.put {
            operation.changes.push(key(&id));
            self.store_one(&id, kind, body, goes_on);
        }
        for id in change.remove {
            operation.removes.push(key(&id));
            self.store.begin_delete(&id);
        }
        self.begin(call, operation, goes_on)
    }

    /// An operation that begins now and ends as the call meets it.
    pub(super) fn operation_of(&self, call: Call<'_>, provider: Provider) -> Operation {
        let mut operation = Operation::new(provider, call.now + self.settings.latency);
        if let Some(end) = call.end {
            operation.end = end.clone();
        }
        operation
    }

    pub(super) fn begin(
        &mut self,
        call: Call<'_>,
        mut operation: Operation,
        goes_on: bool,
    ) -> Option<String> {
        let id = self.store.guid();
        if !goes_on {
            operation.due = call.now;
        }
        self.operations.add(id.clone(), operation);
        if goes_on {
            return Some(id);
        }
        self.settle(call.now);
        None
    }

    fn store_one(&mut self, id: &str, kind: &'static Kind, mut body: Value, busy: bool) {
        let old = self.store.find(id).cloned();
        // What the service itself makes comes without ids and names.
        if body.get("id").is_none() {
            body = shape::stored(kind, id, body).unwrap_or_default();
        }
        address::give(&self.store, kind, &mut body);
        let before = old.as_ref().map(|old| &old.body);
        let touched = link::moved(kind, id, before, &body);
        let state = match (busy, kind.provider, &old) {
            (false, _, _) => "Succeeded",
            (true, Provider::Compute, None) => "Creating",
            (true, _, _) => "Updating",
        };
        set_state(&mut body, state);
        let gone = gone_pools(old.as_ref(), &body);
        self.store.put(id, kind, body, busy);
        self.touch(&touched, id);
        for pool in gone {
            self.detach(&pool);
        }
    }

    /// The other end of a reference changes too, and its etag with it.
    fn touch(&mut self, targets: &BTreeSet<Key>, but: &str) {
        let mut owners = BTreeSet::new();
        for target in targets {
            if let shape::Target::There(document) = shape::target(&self.store, target) {
                owners.insert(key(&document.id));
            }
        }
        owners.remove(&key(but));
        for owner in owners {
            self.store.touch(&owner);
        }
    }

    /// Ends the operations that are due.
    pub fn settle(&mut self, now: Duration) {
        for operation in self.operations.ending(now) {
            self.generation += 1;
            let state = match operation.end {
                End::Succeeded | End::Never => "Succeeded",
                End::Failed(_) | End::Canceled => "Failed",
            };
            for id in &operation.changes {
                self.store.settle(id, state);
            }
            for id in &operation.removes {
                if state == "Succeeded" {
                    self.take_away(id);
                } else {
                    self.store.settle(id, state);
                }
            }
        }
    }

    /// Removes a document, and what others say of it.
    pub(super) fn take_away(&mut self, id: &str) {
        let Some(old) = self.store.remove(id) else {
            return;
        };
        self.stopped.remove(&key(id));
        let targets = link::outgoing(old.kind, &old.id, &old.body);
        let targets = targets.into_iter().map(|(target, ..)| target).collect();
        self.touch(&targets, id);
        for pool in old.part("backendAddressPools") {
            self.detach(&key(id_of(pool)));
        }
    }

    /// Takes every NIC out of a pool that is gone.
    fn detach(&mut self, pool: &str) {
        let members: Vec<Key> = self
            .store
            .all()
            .filter(|it| it.kind.name() == "networkInterfaces")
            .map(|it| key(&it.id))
            .collect();
        for nic in members {
            let Some(document) = self.store.find_mut(&nic) else {
                continue;
            };
            let mut changed = false;
            for configuration in elements_mut(&mut document.body, "ipConfigurations") {
                let pools =
                    configuration.pointer_mut("/properties/loadBalancerBackendAddressPools");
                if let Some(pools) = pools.and_then(Value::as_array_mut) {
                    let all = pools.len();
                    pools.retain(|it| key(id_of(it)) != pool);
                    changed |= pools.len() != all;
                }
            }
            if changed {
                self.store.touch(&nic);
            }
        }
    }

    /// Where an operation can be asked after.
    pub(super) fn operation_url(
        &self,
        call: Call<'_>,
        what: &str,
        id: &str,
        body: &Value,
        provider: Provider,
    ) -> String {
        let location = body.get("location").and_then(Value::as_str);
        let location = location
            .unwrap_or("westeurope")
            .replace(' ', "")
            .to_ascii_lowercase();
        let subscription = id_of(body)
            .split('/')
            .nth(2)
            .unwrap_or(&self.settings.subscription);
        let version = call.request.parameter("api-version").unwrap_or_default();
        let url = format!(
            "{}/subscriptions/{subscription}/providers/{}/locations/{location}/{what}/{id}?api-version={version}&c=",
            call.request.base,
            provider.name()
        );
        let rest = LONG_URL.saturating_sub(url.len());
        url + &"x".repeat(rest)
    }
}

/// Pools that were there and are not any more.
fn gone_pools(old: Option<&Document>, body: &Value) -> Vec<Key> {
    let pools = |body: &Value| {
        let list = elements(body, "backendAddressPools").iter();
        list.map(|it| key(id_of(it))).collect::<BTreeSet<Key>>()
    };
    let before = old.map(|old| pools(&old.body)).unwrap_or_default();
    before.difference(&pools(body)).cloned().collect()
}
