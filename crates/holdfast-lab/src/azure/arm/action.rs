//! POST: what is done to a resource without writing it.

use http::StatusCode;
use serde_json::Value;

use super::{Arm, Call, not_found, ok};
use crate::azure::effective;
use crate::azure::egress::is_vm;
use crate::azure::kind::Provider;
use crate::azure::link::Links;
use crate::azure::place::Place;
use crate::azure::scale_set::{self, Change};
use crate::azure::store::{Document, key};
use crate::azure::wire::{Answer, Refusal};

impl Arm {
    pub(super) fn act(&mut self, call: Call<'_>, place: &Place) -> Result<Answer, Refusal> {
        let id = place.outer().id();
        let document = self.store.find(&id).cloned();
        let document = document.ok_or_else(|| not_found(&id))?;
        let action = place.last().to_ascii_lowercase();
        match (document.kind.name(), action.as_str()) {
            ("networkInterfaces", "effectiveroutetable") => self.effective_routes(call, &document),
            ("virtualMachines", "start" | "restart") => Ok(self.power(call, &document, true)),
            ("virtualMachines", "deallocate" | "poweroff") => {
                Ok(self.power(call, &document, false))
            }
            ("virtualMachineScaleSets", "manualupgrade") => self.upgrade(call, &document),
            ("virtualMachineScaleSets", "delete") => self.delete_instances(call, &document),
            _ => Err(Refusal::not_found(
                "InvalidResourceType",
                format!("{id} has no action {action:?}."),
            )),
        }
    }

    /// Azure tells effective routes of NICs on running VMs only.
    fn effective_routes(&mut self, call: Call<'_>, nic: &Document) -> Result<Answer, Refusal> {
        let links = Links::now(&self.store);
        let vm = links.to(&nic.id, "virtualMachine").first().copied();
        let runs = vm.is_some_and(|vm| !self.stopped.contains(&key(vm)));
        if !runs {
            return Err(Refusal::bad(
                "NetworkInterfaceNotAttachedToRunningVm",
                format!(
                    "Network interface {} has to be attached to a running virtual machine.",
                    nic.id
                ),
            ));
        }
        let routes = effective::routes(&self.store, nic);
        if self.settings.latency.is_zero() && call.end.is_none() {
            return Ok(ok(routes));
        }
        let mut operation = self.operation_of(call, Provider::Network);
        operation.output = Some(routes);
        let id = self.begin(call, operation, true).unwrap_or_default();
        let url = self.operation_url(call, "operationResults", &id, &nic.body, Provider::Network);
        Ok(Answer::empty(StatusCode::ACCEPTED)
            .with("location", url)
            .with("retry-after", self.retry_after()))
    }

    fn power(&mut self, call: Call<'_>, vm: &Document, on: bool) -> Answer {
        debug_assert!(is_vm(&vm.id));
        if on {
            self.stopped.remove(&key(&vm.id));
        } else {
            self.stopped.insert(key(&vm.id));
        }
        let waits = !self.settings.latency.is_zero() || call.end.is_some();
        let operation = self.operation_of(call, Provider::Compute);
        let operation = self.begin(call, operation, waits);
        self.accepted(call, operation, &vm.body, Provider::Compute)
    }

    /// The instances that a request names; `*` is all of them.
    fn named(&self, call: Call<'_>, set: &Document) -> Result<Vec<Document>, Refusal> {
        let body = call.request.json()?;
        let ids = body.get("instanceIds").and_then(Value::as_array);
        let ids: Vec<&str> = ids
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let instances = scale_set::instances(&self.store, &set.id, &set.body);
        let is_named = |one: &&Document| {
            let name = one.id.rsplit('/').next().unwrap_or_default();
            ids.contains(&"*") || ids.iter().any(|id| id.eq_ignore_ascii_case(name))
        };
        Ok(instances.into_iter().filter(is_named).cloned().collect())
    }

    fn upgrade(&mut self, call: Call<'_>, set: &Document) -> Result<Answer, Refusal> {
        self.check_locks(&set.id, "write")?;
        let mut change = Change::default();
        for instance in self.named(call, set)? {
            scale_set::upgrade(&self.store, &set.body, &instance, &mut change);
        }
        let operation = self.commit(call, change, Provider::Compute);
        Ok(self.accepted(call, operation, &set.body, Provider::Compute))
    }

    fn delete_instances(&mut self, call: Call<'_>, set: &Document) -> Result<Answer, Refusal> {
        self.check_locks(&set.id, "delete")?;
        let mut change = Change::default();
        for instance in self.named(call, set)? {
            change
                .remove
                .extend(scale_set::whole(&self.store, &instance));
            self.count_down(&format!("{}/virtualMachines/", set.id), 1);
        }
        let operation = self.commit(call, change, Provider::Compute);
        Ok(self.accepted(call, operation, &set.body, Provider::Compute))
    }
}
