//! PUT, PATCH and DELETE, under preconditions, locks and rules.

use http::StatusCode;
use serde_json::Value;

use super::read::{no_group, owner};
use super::{Arm, Call, not_allowed, not_found};
use crate::azure::fault::{another_operation, precondition, scope_locked};
use crate::azure::json::{set, set_property};
use crate::azure::kind::{Found, Kind, Part, Provider};
use crate::azure::link::Links;
use crate::azure::place::Place;
use crate::azure::rule;
use crate::azure::scale_set::{self, Change};
use crate::azure::shape;
use crate::azure::store::{Document, elements, id_of, key};
use crate::azure::wire::{Answer, Refusal, Request};

impl Arm {
    pub(super) fn put(
        &mut self,
        call: Call<'_>,
        place: &Place,
        found: Found,
    ) -> Result<Answer, Refusal> {
        let body = call.request.json()?;
        match found.part {
            None => self.put_whole(call, place, found.kind, body),
            Some(part) => self.put_part(call, place, found.kind, part, body),
        }
    }

    /// Merges a change into what is there; of network resources tags alone can be changed so.
    pub(super) fn patch(
        &mut self,
        call: Call<'_>,
        place: &Place,
        found: Found,
    ) -> Result<Answer, Refusal> {
        let id = place.id();
        let document = self.store.find(&id).filter(|_| found.part.is_none());
        let mut body = document.ok_or_else(|| not_found(&id))?.body.clone();
        let mut change = call.request.json()?;
        if let (Provider::Network, Some(change)) = (found.kind.provider, change.as_object_mut()) {
            change.retain(|field, _| field == "tags");
        }
        shape::merge(&mut body, change);
        self.put_whole(call, place, found.kind, body)
    }

    fn put_whole(
        &mut self,
        call: Call<'_>,
        place: &Place,
        kind: &'static Kind,
        mut body: Value,
    ) -> Result<Answer, Refusal> {
        let id = place.id();
        if !kind.writable {
            return Err(not_allowed(&call.request.method, &id));
        }
        self.check_place(place, kind)?;
        let old = self.store.find(&id).cloned();
        self.check_write(call.request, &id, old.as_ref(), "write")?;
        let before = old.as_ref().map(|old| &old.body);
        check_location(kind, &mut body, before)?;
        let id = old.as_ref().map_or(id, |old| old.id.clone());
        let mut body = shape::stored(kind, &id, body)?;
        keep_own(kind, &mut body, before);
        rule::check(&self.store, kind, &id, &body, before)?;
        let mut change = Change::default();
        if kind.types == ["virtualMachineScaleSets"] {
            change = scale_set::follow(&mut self.store, &id, &body);
        } else if kind.types == ["virtualMachineScaleSets", "virtualMachines"] {
            self.follow_instance(&id, &body, &mut change)?;
        }
        change.put.push((id.clone(), kind, body));
        let operation = self.commit(call, change, kind.provider);
        let status = if old.is_some() {
            StatusCode::OK
        } else {
            StatusCode::CREATED
        };
        self.written(call, &id, None, status, operation)
    }

    /// An instance's body decides its NICs.
    fn follow_instance(&self, id: &str, body: &Value, change: &mut Change) -> Result<(), Refusal> {
        let nic_kind = Kind::of(&[
            "virtualMachineScaleSets",
            "virtualMachines",
            "networkInterfaces",
        ]);
        let Some(nic_kind) = nic_kind else {
            return Ok(());
        };
        for (nic, nic_body) in scale_set::nics_of(id, body, Some(&self.store)) {
            let before = self.store.find(&nic).map(|it| &it.body);
            let nic_body = shape::stored(nic_kind, &nic, nic_body)?;
            rule::check(&self.store, nic_kind, &nic, &nic_body, before)?;
            change.put.push((nic, nic_kind, nic_body));
        }
        Ok(())
    }

    fn put_part(
        &mut self,
        call: Call<'_>,
        place: &Place,
        kind: &'static Kind,
        part: &'static Part,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let id = place.id();
        if !part.writable {
            return Err(not_allowed(&call.request.method, &id));
        }
        let outer = place.outer().id();
        let Some(old) = self.store.find(&outer).cloned() else {
            return Err(Refusal::not_found(
                "ParentResourceNotFound",
                format!(
                    "Can not perform requested operation on nested resource. Parent resource '{outer}' not found."
                ),
            ));
        };
        let known = shape::find_part(&old.body, part.name, &id).is_some();
        let against = known.then_some(&old);
        self.check_write(call.request, &id, against, "write")?;
        if old.is_busy() {
            return Err(another_operation(&outer));
        }
        let mut whole = old.body.clone();
        set_part(&mut whole, part.name, &id, body);
        let whole = self.stored_again(kind, &old, whole)?;
        let mut change = Change::default();
        change.put.push((old.id.clone(), kind, whole));
        let operation = self.commit(call, change, kind.provider);
        let status = if known {
            StatusCode::OK
        } else {
            StatusCode::CREATED
        };
        self.written(call, &old.id, Some((part.name, &id)), status, operation)
    }

    /// A changed body of a document that is there, checked.
    fn stored_again(
        &self,
        kind: &'static Kind,
        old: &Document,
        body: Value,
    ) -> Result<Value, Refusal> {
        let body = shape::stored(kind, &old.id, body)?;
        rule::check(&self.store, kind, &old.id, &body, Some(&old.body))?;
        Ok(body)
    }

    pub(super) fn delete(
        &mut self,
        call: Call<'_>,
        place: &Place,
        found: Found,
    ) -> Result<Answer, Refusal> {
        let id = place.id();
        let old = self.store.find(&owner(place, found)).cloned();
        let is_there = |old: &Document| {
            found
                .part
                .is_none_or(|part| shape::find_part(&old.body, part.name, &id).is_some())
        };
        let Some(old) = old.filter(is_there) else {
            return Ok(Answer::empty(StatusCode::NO_CONTENT));
        };
        let writable = found.part.map_or(found.kind.writable, |part| part.writable);
        if !writable {
            return Err(not_allowed(&call.request.method, &id));
        }
        self.check_write(call.request, &id, Some(&old), "delete")?;
        let name = match found.part {
            Some(part) => part.name,
            None => found.kind.name(),
        };
        rule::check_delete(&self.store, &Links::now(&self.store), name, &id)?;
        let mut change = Change::default();
        match found.part {
            Some(part) => {
                let mut whole = old.body.clone();
                remove_part(&mut whole, part.name, &id);
                let whole = self.stored_again(found.kind, &old, whole)?;
                change.put.push((old.id.clone(), found.kind, whole));
            }
            None => change.remove = self.with_what_belongs(&old),
        }
        let operation = self.commit(call, change, found.kind.provider);
        Ok(self.accepted(call, operation, &old.body, found.kind.provider))
    }

    /// A document, with the instances and NICs that go when it goes.
    fn with_what_belongs(&mut self, old: &Document) -> Vec<String> {
        let mut ids = Vec::new();
        if old.kind.types == ["virtualMachineScaleSets"] {
            let instances = scale_set::instances(&self.store, &old.id, &old.body);
            for instance in instances {
                ids.extend(scale_set::whole(&self.store, instance));
            }
            ids.extend(scale_set::below(&self.store, &old.id));
        } else if old.kind.types == ["virtualMachineScaleSets", "virtualMachines"] {
            ids.extend(scale_set::whole(&self.store, old));
            self.count_down(&old.id, 1);
        }
        ids.push(old.id.clone());
        ids
    }

    /// Takes instances off a scale set's capacity.
    pub(super) fn count_down(&mut self, instance: &str, by: u64) {
        let set = instance
            .split("/virtualMachines/")
            .next()
            .unwrap_or_default();
        let capacity = self
            .store
            .find_mut(set)
            .and_then(|it| it.body.pointer_mut("/sku/capacity"));
        if let Some(capacity) = capacity {
            let left = capacity.as_u64().unwrap_or_default().saturating_sub(by);
            *capacity = left.into();
        }
    }

    fn check_place(&self, place: &Place, kind: &Kind) -> Result<(), Refusal> {
        if kind.provider == Provider::Authorization {
            return Ok(());
        }
        if self.store.group(&place.scope).is_none() {
            return Err(no_group(place));
        }
        if kind.types.len() > 1 {
            let mut outer = place.outer();
            outer.names.truncate(outer.types.len());
            if self.store.find(&outer.id()).is_none() {
                return Err(not_found(&outer.id()));
            }
        }
        Ok(())
    }

    /// Locks, preconditions, and operations that hold the document.
    fn check_write(
        &self,
        request: &Request,
        id: &str,
        old: Option<&Document>,
        what: &str,
    ) -> Result<(), Refusal> {
        self.check_locks(id, what)?;
        let etag = old.map(Document::etag);
        if let Some(wanted) = request.header("if-match") {
            let fits = match (wanted.trim(), etag) {
                (_, None) => false,
                ("*", Some(_)) => true,
                (wanted, Some(etag)) => weak(wanted) == weak(etag),
            };
            if !fits {
                return Err(precondition(id));
            }
        }
        if request.header("if-none-match").map(str::trim) == Some("*") && old.is_some() {
            return Err(precondition(id));
        }
        match old {
            Some(old) if old.is_busy() => Err(busy(old, id)),
            _ => Ok(()),
        }
    }

    pub(super) fn check_locks(&self, id: &str, what: &str) -> Result<(), Refusal> {
        const OWN: &str = "/providers/microsoft.authorization/locks/";
        let wanted = key(id);
        if wanted.contains(OWN) {
            return Ok(());
        }
        let locks = self.store.all();
        let locks = locks.filter(|it| it.kind.provider == Provider::Authorization);
        for lock in locks {
            let own = key(&lock.id);
            let scope = own.split(OWN).next().unwrap_or_default();
            let level = lock
                .body
                .pointer("/properties/level")
                .and_then(Value::as_str);
            let forbids =
                what == "delete" || level.is_some_and(|it| it.eq_ignore_ascii_case("readonly"));
            let inside = wanted == scope || wanted.starts_with(&format!("{scope}/"));
            if inside && forbids {
                return Err(scope_locked(what, id, scope));
            }
        }
        Ok(())
    }

    /// The answer to a PUT, with the operation that goes on.
    fn written(
        &self,
        call: Call<'_>,
        id: &str,
        part: Option<(&str, &str)>,
        status: StatusCode,
        operation: Option<String>,
    ) -> Result<Answer, Refusal> {
        let document = self.store.find(id).ok_or_else(|| not_found(id))?;
        let mut body = self.shown(document, &Links::now(&self.store));
        if let Some((name, part_id)) = part {
            let shown = shape::find_part(&body, name, part_id).cloned();
            let mut shown = shown.ok_or_else(|| not_found(part_id))?;
            if operation.is_some() {
                crate::azure::store::set_state(&mut shown, "Updating");
            }
            body = shown;
        }
        let answer = Answer::json(status, body).with("etag", document.etag());
        Ok(match operation {
            None => answer,
            Some(operation) => {
                let url = self.operation_url(
                    call,
                    "operations",
                    &operation,
                    &document.body,
                    document.kind.provider,
                );
                answer
                    .with("azure-asyncoperation", url)
                    .with("retry-after", self.retry_after())
            }
        })
    }

    /// The answer to a DELETE or an action.
    pub(super) fn accepted(
        &self,
        call: Call<'_>,
        operation: Option<String>,
        body: &Value,
        provider: Provider,
    ) -> Answer {
        match operation {
            None => Answer::empty(StatusCode::OK),
            Some(operation) => {
                let url = |what| self.operation_url(call, what, &operation, body, provider);
                Answer::empty(StatusCode::ACCEPTED)
                    .with("azure-asyncoperation", url("operations"))
                    .with("location", url("operationResults"))
                    .with("retry-after", self.retry_after())
            }
        }
    }
}

/// Which operation holds a document is told as its provider tells it.
fn busy(old: &Document, id: &str) -> Refusal {
    if old.kind.provider == Provider::Compute {
        return Refusal::conflict(
            "Conflict",
            "The request failed due to conflict with a concurrent request. To resolve it, please refer to \
             https://aka.ms/activitylog to get more details on the conflicting requests.",
        );
    }
    another_operation(id)
}

/// Etags are compared without the mark of weakness, which some clients lose.
fn weak(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')
}

/// Where a resource is, it stays.
fn check_location(kind: &Kind, body: &mut Value, before: Option<&Value>) -> Result<(), Refusal> {
    if kind.provider == Provider::Authorization || kind.types.len() > 1 {
        return Ok(());
    }
    let place = |text: &str| text.replace(' ', "").to_ascii_lowercase();
    let of = |value: &Value| value.get("location").and_then(Value::as_str).map(place);
    let (wanted, known) = (of(body), before.and_then(of));
    match (wanted, known) {
        (None, None) if before.is_none() => Err(Refusal::bad(
            "LocationRequired",
            "The location property is required for this definition.",
        )),
        (None, Some(known)) => {
            set(body, "location", known);
            Ok(())
        }
        (Some(wanted), Some(known)) if wanted != known => Err(Refusal::conflict(
            "InvalidResourceLocation",
            format!(
                "The resource already exists in location '{known}' and can't be created in '{wanted}'."
            ),
        )),
        _ => Ok(()),
    }
}

/// What a client may leave out of a PUT and the service keeps.
fn keep_own(kind: &Kind, body: &mut Value, before: Option<&Value>) {
    let Some(before) = before else { return };
    for field in ["resourceGuid", "vmId", "macAddress"] {
        let kept = before.pointer(&format!("/properties/{field}")).cloned();
        if let (Some(kept), Some(properties)) = (kept, body.get_mut("properties")) {
            set(properties, field, kept);
        }
    }
    // An address that was given once stays, unless the client says otherwise.
    for part in kind.parts {
        for element in crate::azure::store::elements_mut(body, part.name) {
            let id = id_of(element).to_owned();
            let old = shape::find_part(before, part.name, &id);
            let old = old.and_then(|it| it.get("properties"));
            keep_address(element.get_mut("properties"), old);
        }
    }
    if kind.name() == "publicIPAddresses" {
        let old = before.pointer("/properties/ipAddress").cloned();
        if let (Some(old), Some(own)) = (old, body.get_mut("properties"))
            && own.get("ipAddress").is_none()
        {
            set(own, "ipAddress", old);
        }
    }
}

fn keep_address(own: Option<&mut Value>, old: Option<&Value>) {
    let (Some(own), Some(old)) = (own, old) else {
        return;
    };
    let subnet = |it: &Value| it.pointer("/subnet").map(|it| key(id_of(it)));
    let known = old.get("privateIPAddress").cloned();
    if let Some(known) = known
        && own.get("privateIPAddress").is_none_or(Value::is_null)
        && subnet(own) == subnet(old)
    {
        set(own, "privateIPAddress", known);
    }
}

fn set_part(whole: &mut Value, part: &str, id: &str, mut body: Value) {
    set(&mut body, "id", id);
    let name = id.rsplit('/').next().unwrap_or_default();
    set(&mut body, "name", name);
    let mut list = elements(whole, part).to_vec();
    match list
        .iter_mut()
        .find(|it| id_of(it).eq_ignore_ascii_case(id))
    {
        // The spelling of a name is its first writer's.
        Some(old) => {
            set(
                &mut body,
                "name",
                old.get("name").cloned().unwrap_or_default(),
            );
            *old = body;
        }
        None => list.push(body),
    }
    set_property(whole, part, list);
}

fn remove_part(whole: &mut Value, part: &str, id: &str) {
    let mut list = elements(whole, part).to_vec();
    list.retain(|it| !id_of(it).eq_ignore_ascii_case(id));
    set_property(whole, part, list);
}
