//! A watch: a response that stays open and says something only when there is something to say.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::document::{self, ENDPOINT_SLICE, Kind};
use super::route::Body;
use super::state::{Slices, State};

/// One open watch.
#[derive(Debug)]
pub(super) struct Watch {
    kind: Kind,
    namespace: Option<String>,
    revision: u64,
    /// Events that are due.
    due: VecDeque<Value>,
    /// The slices, for their watchers, and what of them was told last.
    slices: Option<(watch::Receiver<Slices>, Slices)>,
    bookmark_every: Option<Duration>,
    /// When the client wanted it to end (`timeoutSeconds`).
    until: Option<Instant>,
}

impl Watch {
    /// Begins a watch with what the client does not know yet, and a bookmark.
    ///
    /// Only endpoint slices ever change for a watcher: an idle watch is what the lab is about.
    pub(super) fn begin(kind: Kind, namespace: Option<&str>, query: &str, state: &State) -> Self {
        let known = parameter(query, "resourceVersion").and_then(|text| text.parse().ok());
        let known = known.unwrap_or(0);
        let mut due = VecDeque::new();
        let mut slices = None;
        if kind == ENDPOINT_SLICE {
            let receiver = state.slices();
            let told = receiver.borrow().clone();
            if known < told.revision {
                let what = if known == 0 { "ADDED" } else { "MODIFIED" };
                let current = slices_in(namespace, &told);
                due.extend(current.iter().map(|slice| document::event(what, slice)));
            }
            slices = Some((receiver, told));
        }
        let revision = state.revision();
        due.push_back(document::bookmark(kind, revision));
        let until = parameter(query, "timeoutSeconds")
            .and_then(|text| text.parse().ok())
            .map(|seconds| Instant::now() + Duration::from_secs(seconds));
        Self {
            kind,
            namespace: namespace.map(str::to_owned),
            revision,
            due,
            slices,
            bookmark_every: state.bookmark_every,
            until,
        }
    }

    /// The watch as a body, one event per line.
    pub(super) fn into_body(self) -> Body {
        let lines = stream::unfold(self, |mut watch| async move {
            let event = watch.next().await?;
            let line = Bytes::from(format!("{event}\n"));
            Some((Ok(Frame::data(line)), watch))
        });
        BodyExt::boxed_unsync(StreamBody::new(Box::pin(lines)))
    }

    /// The next event, or `None` when the client's time is over.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Some(event);
            }
            let bookmark = self.bookmark_every.map(|pause| Instant::now() + pause);
            tokio::select! {
                () = at(self.until) => return None,
                () = at(bookmark) => self.due.push_back(document::bookmark(self.kind, self.revision)),
                () = changed(&mut self.slices) => self.tell_slices(),
            }
        }
    }

    /// Queues what has changed between the slices told last and the current ones.
    fn tell_slices(&mut self) {
        let Some((receiver, told)) = &mut self.slices else {
            return;
        };
        let current = receiver.borrow_and_update().clone();
        if self
            .namespace
            .as_deref()
            .is_none_or(|name| name == "default")
        {
            let gone = told.by_name.iter();
            let gone = gone.filter(|(name, _)| !current.by_name.contains_key(*name));
            self.due
                .extend(gone.map(|(_, slice)| document::event("DELETED", slice)));
            for (name, slice) in &current.by_name {
                let known = told.by_name.contains_key(name);
                let what = if known { "MODIFIED" } else { "ADDED" };
                self.due.push_back(document::event(what, slice));
            }
        }
        self.revision = current.revision;
        *told = current;
    }
}

/// The slices that a namespace, or all of them, can show.
pub(super) fn slices_in(namespace: Option<&str>, slices: &Slices) -> Vec<Value> {
    if namespace.is_none_or(|name| name == "default") {
        slices.by_name.values().cloned().collect()
    } else {
        Vec::new()
    }
}

/// The value of a query parameter, decoded; empty when it stands alone. What has to be encoded is the
/// client's choice: kube's encodes the `/` of a label's key.
pub(super) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(key, value)| (key == name).then_some(value))
}

/// Waits for a moment; for ever if there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Waits until the slices change; for ever if they are not watched.
async fn changed(slices: &mut Option<(watch::Receiver<Slices>, Slices)>) {
    if let Some((receiver, _)) = slices
        && receiver.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
