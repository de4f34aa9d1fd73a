//! What is stored: documents by id, their etags, and whether they are being changed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json::{set, set_property};
use super::kind::{Kind, Provider};

/// An id in lower case: how documents are found.
pub(super) type Key = String;

/// The key of an id.
pub(super) fn key(id: &str) -> Key {
    id.trim_end_matches('/').to_ascii_lowercase()
}

/// A resource, whole: its parts stand in its body.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) id: String,
    pub(super) kind: &'static Kind,
    /// As ARM spells it, without what follows from other documents.
    pub(super) body: Value,
    pub(super) state: State,
}

/// Whether an operation holds a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// None does.
    Settled,
    /// It is being changed: what it was before, if it was, is what still counts on the wire.
    Changing(Option<Value>),
    /// It is being deleted.
    Deleting,
}

/// Everything that is stored.
#[derive(Debug, Default)]
pub(super) struct Store {
    documents: BTreeMap<Key, Document>,
    groups: BTreeMap<Key, Value>,
    minted: u64,
}

impl Document {
    /// The body that counts on the wire: an operation takes effect when it ends.
    pub(super) const fn in_effect(&self) -> Option<&Value> {
        match &self.state {
            State::Settled | State::Deleting => Some(&self.body),
            State::Changing(before) => before.as_ref(),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.state != State::Settled
    }

    pub(super) fn etag(&self) -> &str {
        self.body
            .get("etag")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub(super) fn provisioning_state(&self) -> &str {
        let state = self.body.pointer("/properties/provisioningState");
        state.and_then(Value::as_str).unwrap_or("Succeeded")
    }

    /// The elements of a part, such as the subnets of a network.
    pub(super) fn part(&self, name: &str) -> &[Value] {
        elements(&self.body, name)
    }
}

/// The elements of an array under `properties`.
pub(super) fn elements<'a>(body: &'a Value, name: &str) -> &'a [Value] {
    let properties = body.get("properties");
    let list = properties
        .and_then(|it| it.get(name))
        .and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// The same, to be changed.
pub(super) fn elements_mut<'a>(
    body: &'a mut Value,
    name: &str,
) -> impl Iterator<Item = &'a mut Value> {
    let properties = body.get_mut("properties");
    let list = properties
        .and_then(|it| it.get_mut(name))
        .and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// The id of a reference or a resource.
pub(super) fn id_of(value: &Value) -> &str {
    value.get("id").and_then(Value::as_str).unwrap_or_default()
}

impl Store {
    pub(super) fn find(&self, id: &str) -> Option<&Document> {
        self.documents.get(&key(id))
    }

    pub(super) fn find_mut(&mut self, id: &str) -> Option<&mut Document> {
        self.documents.get_mut(&key(id))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Document> {
        self.documents.values()
    }

    /// Documents of a kind behind a prefix, with their keys, in the order of these.
    pub(super) fn listed<'a>(
        &'a self,
        kind: &'static Kind,
        prefix: &str,
    ) -> impl Iterator<Item = (&'a Key, &'a Document)> + use<'a> {
        let prefix = prefix.to_owned();
        self.documents
            .range(prefix.clone()..)
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .filter(move |(_, document)| std::ptr::eq(document.kind, kind))
    }

    /// Stores a body under a new etag. With `busy` an operation has yet to settle it.
    pub(super) fn put(&mut self, id: &str, kind: &'static Kind, body: Value, busy: bool) {
        let old = self.documents.remove(&key(id));
        let state = match (&old, busy) {
            (_, false) => State::Settled,
            (Some(old), true) => State::Changing(old.in_effect().cloned()),
            (None, true) => State::Changing(None),
        };
        // The spelling of an id is its first writer's.
        let id = old
            .as_ref()
            .map_or_else(|| id.to_owned(), |old| old.id.clone());
        let mut document = Document {
            id: id.clone(),
            kind,
            body,
            state,
        };
        let etag = self.next_etag(kind, old.as_ref());
        stamp(&mut document, &etag);
        self.documents.insert(key(&id), document);
    }

    /// Marks a document as being deleted.
    pub(super) fn begin_delete(&mut self, id: &str) {
        if let Some(document) = self.find_mut(id) {
            document.state = State::Deleting;
            set_state(&mut document.body, "Deleting");
        }
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Document> {
        self.documents.remove(&key(id))
    }

    /// Ends the change of a document.
    pub(super) fn settle(&mut self, id: &str, state: &str) {
        let Some(document) = self.find_mut(id) else {
            return;
        };
        document.state = State::Settled;
        set_state(&mut document.body, state);
        let is_network = document.kind.provider == Provider::Network;
        if is_network {
            self.touch(id);
        }
    }

    /// Gives a document a new etag: something about it has changed.
    pub(super) fn touch(&mut self, id: &str) {
        let Some(document) = self.documents.get(&key(id)).cloned() else {
            return;
        };
        let etag = self.next_etag(document.kind, Some(&document));
        if let Some(document) = self.find_mut(id) {
            stamp(document, &etag);
        }
    }

    fn next_etag(&mut self, kind: &Kind, old: Option<&Document>) -> String {
        match kind.provider {
            Provider::Network | Provider::Authorization => format!("W/\"{}\"", self.guid()),
            Provider::Compute => {
                let old = old.map(Document::etag).unwrap_or_default();
                let last: u64 = old.trim_matches('"').parse().unwrap_or_default();
                format!("\"{}\"", last + 1)
            }
        }
    }

    /// A new GUID; the same for the same history.
    pub(super) fn guid(&mut self) -> String {
        self.minted += 1;
        let (one, two) = (mixed(self.minted * 2), mixed(self.minted * 2 + 1));
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            one >> 32,
            one >> 16 & 0xffff,
            one & 0xfff,
            two >> 52,
            two & 0xffff_ffff_ffff
        )
    }

    /// A resource group's id, and where it is.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.groups.iter()
    }

    pub(super) fn group(&self, id: &str) -> Option<&Value> {
        self.groups.get(&key(id))
    }

    pub(super) fn put_group(&mut self, id: &str, body: Value) {
        self.groups.insert(key(id), body);
    }

    pub(super) fn remove_group(&mut self, id: &str) {
        self.groups.remove(&key(id));
    }
}

/// Parts have their document's etag.
fn stamp(document: &mut Document, etag: &str) {
    set(&mut document.body, "etag", etag);
    for part in document.kind.parts {
        for element in elements_mut(&mut document.body, part.name).filter(|it| it.is_object()) {
            set(element, "etag", etag);
        }
    }
}

/// Sets `provisioningState`.
pub(super) fn set_state(body: &mut Value, state: &str) {
    set_property(body, "provisioningState", state);
}

/// `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
const fn mixed(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
