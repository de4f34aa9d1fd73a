//! GET: one resource, a part of one, or a list, page by page.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Arm, Call, not_allowed, not_found, ok};
use crate::azure::json::{set, set_property};
use crate::azure::kind::{Found, Kind};
use crate::azure::link::Links;
use crate::azure::place::Place;
use crate::azure::scale_set;
use crate::azure::shape;
use crate::azure::store::{Document, Key, elements, id_of, key};
use crate::azure::wire::{Answer, Refusal, Request};

impl Arm {
    pub(super) fn resource(&mut self, call: Call<'_>, place: &Place) -> Result<Answer, Refusal> {
        let method = &call.request.method;
        if !place.is_named() {
            return match *method {
                Method::GET => self.list(call.request, place),
                Method::POST => self.act(call, place),
                _ => Err(not_allowed(method, &call.request.path)),
            };
        }
        let found = found(place)?;
        match *method {
            Method::GET | Method::HEAD => self.get(call.request, place, found),
            Method::PUT => self.put(call, place, found),
            Method::PATCH => self.patch(call, place, found),
            Method::DELETE => self.delete(call, place, found),
            _ => Err(not_allowed(method, &call.request.path)),
        }
    }

    fn get(&self, request: &Request, place: &Place, found: Found) -> Result<Answer, Refusal> {
        let id = place.id();
        let owner = owner(place, found);
        let document = self.store.find(&owner).ok_or_else(|| not_found(&id))?;
        let mut body = self.shown(document, &Links::now(&self.store));
        let expand = request.parameter("$expand").unwrap_or_default();
        if expand.eq_ignore_ascii_case("instanceView") && document.kind.name() == "virtualMachines"
        {
            set_property(&mut body, "instanceView", self.instance_view(document));
        }
        let body = match found.part {
            None => body,
            Some(part) => shape::find_part(&body, part.name, &id)
                .cloned()
                .ok_or_else(|| not_found(&id))?,
        };
        Ok(ok(body).with("etag", document.etag()))
    }

    /// A document as it is answered.
    pub(super) fn shown(&self, document: &Document, links: &Links) -> Value {
        let mut body = links.rendered(document, &document.body);
        if document.kind.types == ["virtualMachineScaleSets", "virtualMachines"] {
            let is_latest = scale_set::is_latest(&self.store, document);
            set_property(&mut body, "latestModelApplied", is_latest);
        }
        body
    }

    pub(super) fn instance_view(&self, document: &Document) -> Value {
        let (code, text) = if self.stopped.contains(&key(&document.id)) {
            ("PowerState/deallocated", "VM deallocated")
        } else {
            ("PowerState/running", "VM running")
        };
        let state = document.provisioning_state().to_ascii_lowercase();
        json!({"statuses": [
            {"code": format!("ProvisioningState/{state}"), "level": "Info"},
            {"code": code, "level": "Info", "displayStatus": text}]})
    }

    fn list(&self, request: &Request, place: &Place) -> Result<Answer, Refusal> {
        let outer = place.outer();
        let last = place.last().to_ascii_lowercase();
        let of = outer.types.last().map(|it| it.to_ascii_lowercase());
        match (of.as_deref(), last.as_str()) {
            (Some("loadbalancers"), "networkinterfaces") => {
                return Ok(self.page(request, self.nics_of_balancer(&outer.id())));
            }
            (Some("networkinterfaces"), "loadbalancers") => {
                return Ok(self.page(request, self.balancers_of_nic(&outer.id())?));
            }
            (Some("virtualmachinescalesets"), "networkinterfaces") => {
                return Ok(self.page(request, self.nics_of_set(&outer.id())));
            }
            (Some("virtualmachines" | "virtualmachinescalesets"), "instanceview") => {
                let document = self.store.find(&outer.id());
                let document = document.ok_or_else(|| not_found(&outer.id()))?;
                return Ok(ok(self.instance_view(document)));
            }
            _ => {}
        }
        let found = found(place)?;
        match found.part {
            Some(part) => self.list_parts(request, &outer.id(), part.name),
            None => self.list_kind(request, place, found.kind),
        }
    }

    fn list_kind(
        &self,
        request: &Request,
        place: &Place,
        kind: &'static Kind,
    ) -> Result<Answer, Refusal> {
        let prefix = if place.names.is_empty() {
            if place.group().is_some() && self.store.group(&place.scope).is_none() {
                return Err(no_group(place));
            }
            format!("{}/", key(&place.scope))
        } else {
            let outer = place.outer().id();
            if self.store.find(&outer).is_none() {
                return Err(not_found(&outer));
            }
            format!("{}/", key(&outer))
        };
        let documents = self.store.listed(kind, &prefix).map(|(_, it)| it).collect();
        Ok(self.page(request, documents))
    }

    fn list_parts(&self, request: &Request, owner: &str, part: &str) -> Result<Answer, Refusal> {
        let document = self.store.find(owner).ok_or_else(|| not_found(owner))?;
        let body = self.shown(document, &Links::now(&self.store));
        let parts = elements(&body, part).iter();
        let parts = parts.map(|it| (key(id_of(it)), it.clone())).collect();
        let (list, next) = self.cut(request, parts, |(id, _)| id.clone());
        let list: Vec<Value> = list.into_iter().map(|(_, it)| it).collect();
        Ok(paged(&list, next))
    }

    fn nics_of_balancer(&self, id: &str) -> Vec<&Document> {
        let inside = format!("{}/", key(id));
        let is_member = |nic: &&Document| {
            let pools = nic.part("ipConfigurations").iter();
            let mut pools = pools.flat_map(|it| elements(it, "loadBalancerBackendAddressPools"));
            pools.any(|pool| key(id_of(pool)).starts_with(&inside))
        };
        let nics = self.store.all();
        nics.filter(|it| it.kind.name() == "networkInterfaces")
            .filter(is_member)
            .collect()
    }

    fn balancers_of_nic(&self, id: &str) -> Result<Vec<&Document>, Refusal> {
        let nic = self.store.find(id).ok_or_else(|| not_found(id))?;
        let pools = nic.part("ipConfigurations").iter();
        let pools = pools.flat_map(|it| elements(it, "loadBalancerBackendAddressPools"));
        let mut found: Vec<&Document> = pools
            .filter_map(|pool| shape::place_of(id_of(pool)))
            .filter_map(|pool| self.store.find(&pool.outer().id()))
            .collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found.dedup_by(|one, other| one.id == other.id);
        Ok(found)
    }

    fn nics_of_set(&self, id: &str) -> Vec<&Document> {
        let inside = format!("{}/", key(id));
        let below = self.store.all();
        below
            .filter(|it| it.kind.name() == "networkInterfaces")
            .filter(|it| key(&it.id).starts_with(&inside))
            .collect()
    }

    /// One page of documents, of which only these are rendered.
    fn page(&self, request: &Request, documents: Vec<&Document>) -> Answer {
        let (list, next) = self.cut(request, documents, |it| key(&it.id));
        let links = Links::now(&self.store);
        let shown = list.into_iter().map(|it| self.shown(it, &links));
        paged(&shown.collect::<Vec<_>>(), next)
    }

    /// What of a list is on the page that is asked for, and where the next one is.
    fn cut<T>(
        &self,
        request: &Request,
        list: Vec<T>,
        key_of: impl Fn(&T) -> Key,
    ) -> (Vec<T>, Option<String>) {
        let after = request.parameter("$skipToken").map(|it| unhex(&it));
        let mut list: Vec<T> = list
            .into_iter()
            .filter(|one| after.as_ref().is_none_or(|after| key_of(one) > *after))
            .collect();
        list.sort_by_key(|one| key_of(one));
        let size = self.settings.page.max(1);
        if list.len() <= size {
            return (list, None);
        }
        list.truncate(size);
        let version = request.parameter("api-version").unwrap_or_default();
        let next = list.last().map(|last| {
            format!(
                "{}{}?api-version={version}&%24skipToken={}",
                request.base,
                request.path,
                hex(&key_of(last))
            )
        });
        (list, next)
    }
}

fn paged(list: &[Value], next: Option<String>) -> Answer {
    let mut body = json!({"value": list});
    if let Some(next) = next {
        set(&mut body, "nextLink", next);
    }
    Answer::json(StatusCode::OK, body)
}

/// What a place's types lead to, asked at the right provider.
pub(super) fn found(place: &Place) -> Result<Found, Refusal> {
    let found = Found::by_types(&place.types);
    let fits = |found: &Found| {
        let name = found.kind.type_name();
        let provider = name.split('/').next().unwrap_or_default();
        provider.eq_ignore_ascii_case(&place.provider)
    };
    found.filter(fits).ok_or_else(|| {
        Refusal::not_found(
            "InvalidResourceType",
            format!(
                "The resource type '{}' could not be found in the namespace '{}'.",
                place.types.join("/"),
                place.provider
            ),
        )
    })
}

/// The id of the document that a place is in.
pub(super) fn owner(place: &Place, found: Found) -> String {
    match found.part {
        Some(_) => place.outer().id(),
        None => place.id(),
    }
}

pub(super) fn no_group(place: &Place) -> Refusal {
    let group = place.group().unwrap_or_default();
    Refusal::not_found(
        "ResourceGroupNotFound",
        format!("Resource group '{group}' could not be found."),
    )
}

/// Where a list goes on: opaque to clients, and still good when what it names is gone.
fn hex(text: &str) -> String {
    let half = |it: u8| char::from_digit(u32::from(it), 16).unwrap_or_default();
    let digits = text
        .bytes()
        .flat_map(|byte| [half(byte >> 4), half(byte & 0xf)]);
    digits.collect()
}

fn unhex(text: &str) -> String {
    let digits: Vec<u8> = text.bytes().collect();
    let bytes = digits.chunks(2).filter_map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}
