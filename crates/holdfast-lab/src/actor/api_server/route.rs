//! From a request to its answer.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::StreamExt as _;
use http::header::{CONTENT_TYPE, DATE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use serde_json::Value;

use super::document::{self, ENDPOINT_SLICE, KINDS, Kind, LEASE, NODE};
use super::state::State;
use super::watch::{self, Watch};

/// An answer's body.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The header that tells which server answered.
const SERVER: &str = "x-lab-server";

/// Where a path leads within a kind of object.
#[derive(Debug)]
struct Place<'a> {
    kind: Kind,
    namespace: Option<&'a str>,
    name: Option<&'a str>,
}

/// Answers one request, as late as ordered.
pub(super) async fn answer(request: Request<Incoming>, state: Arc<State>) -> Response<Body> {
    state.asked();
    let delay = state.delay();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let mut response = dispatch(request, &state).await;
    if let Ok(name) = HeaderValue::from_str(&state.name) {
        response.headers_mut().insert(SERVER, name);
    }
    let ahead = state.clock();
    if ahead != 0 {
        let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(ahead);
        let date = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        if let Ok(date) = HeaderValue::from_str(&date) {
            response.headers_mut().insert(DATE, date);
        }
    }
    response
}

async fn dispatch(request: Request<Incoming>, state: &State) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        ["livez" | "healthz"] => text(StatusCode::OK, "ok"),
        ["readyz"] if state.is_ready() => text(StatusCode::OK, "ok"),
        // What kube-apiserver writes after SIGTERM (apiserver pkg/server/healthz).
        ["readyz"] => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "[-]shutdown failed: reason withheld\nreadyz check failed\n",
        ),
        ["lab", "flood"] => with_type(StatusCode::OK, "application/octet-stream", flood()),
        ["version"] => json(StatusCode::OK, &document::version()),
        ["api"] => json(StatusCode::OK, &document::core_versions()),
        ["apis"] => json(StatusCode::OK, &document::groups()),
        ["api", "v1", rest @ ..] => object(&head, body, "", rest, state).await,
        ["apis", group, "v1", rest @ ..] => object(&head, body, group, rest, state).await,
        _ => not_found(path),
    }
}

/// Answers for the objects of one group.
async fn object(
    head: &http::request::Parts,
    body: Incoming,
    group: &str,
    rest: &[&str],
    state: &State,
) -> Response<Body> {
    if let Some(status) = state.denial() {
        return refused(status, "Denied", "denied by order");
    }
    if rest.is_empty() {
        return document::resources(group)
            .map_or_else(|| not_found(group), |found| json(StatusCode::OK, &found));
    }
    let Some(place) = Place::find(group, rest) else {
        return not_found(head.uri.path());
    };
    let query = head.uri.query().unwrap_or_default();
    match (&head.method, place.name) {
        (&Method::GET, None) if asks_to_watch(query) => {
            watching(Watch::begin(place.kind, place.namespace, query, state))
        }
        (&Method::GET, None) => json(StatusCode::OK, &place.list(query, state)),
        (&Method::GET, Some(name)) => place
            .read(name, state)
            .map_or_else(|| not_found(name), |found| json(StatusCode::OK, &found)),
        (&Method::POST | &Method::PUT, _) if place.kind == LEASE => {
            let Ok(body) = body.collect().await else {
                return refused(StatusCode::BAD_REQUEST, "BadRequest", "the body broke off");
            };
            write_lease(&place, &body.to_bytes(), state)
        }
        _ => refused(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
    }
}

/// Stores a lease. POST goes to the collection, PUT to the name; an existing lease is no conflict for a
/// PUT that names its version or none, and a missing one is created (coordination strategy `AllowCreateOnUpdate`).
fn write_lease(place: &Place<'_>, body: &[u8], state: &State) -> Response<Body> {
    let lease: Value = match serde_json::from_slice(body) {
        Ok(lease) => lease,
        Err(error) => {
            return refused(StatusCode::BAD_REQUEST, "BadRequest", &error.to_string());
        }
    };
    let named = lease.pointer("/metadata/name").and_then(Value::as_str);
    let (Some(namespace), Some(name)) = (place.namespace, place.name.or(named)) else {
        return refused(
            StatusCode::BAD_REQUEST,
            "BadRequest",
            "a lease needs a namespace and a name",
        );
    };
    let create = place.name.is_none();
    if create && state.lease(namespace, name).is_some() {
        return refused(StatusCode::CONFLICT, "AlreadyExists", name);
    }
    let status = if create {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    match state.store_lease(namespace, name, &lease) {
        Some(stored) => json(status, &stored),
        None => refused(
            StatusCode::CONFLICT,
            "Conflict",
            "the object has been modified; please apply your changes to the latest version",
        ),
    }
}

impl<'a> Place<'a> {
    /// Reads the path behind `/api/v1` or `/apis/GROUP/v1`.
    fn find(group: &str, rest: &[&'a str]) -> Option<Self> {
        let (namespace, plural, name) = match *rest {
            ["namespaces", namespace, plural] => (Some(namespace), plural, None),
            ["namespaces", namespace, plural, name] => (Some(namespace), plural, Some(name)),
            [plural] => (None, plural, None),
            [plural, name] => (None, plural, Some(name)),
            _ => return None,
        };
        let kind = KINDS
            .into_iter()
            .find(|kind| kind.group == group && kind.plural == plural)?;
        let complete = namespace.is_some() || name.is_none();
        let fits = if kind.namespaced {
            complete
        } else {
            namespace.is_none()
        };
        fits.then_some(Self {
            kind,
            namespace,
            name,
        })
    }

    /// A list; of nodes no more than `limit`, with the count of those that are left
    /// (meta/v1 `ListMeta.remainingItemCount`).
    fn list(&self, query: &str, state: &State) -> Value {
        let mut items: Vec<_> = if self.kind == NODE {
            let revision = state.revision();
            let nodes = state.nodes();
            nodes
                .iter()
                .map(|(name, created)| {
                    document::node(name, created, revision, state.condition(name).as_deref())
                })
                .collect()
        } else if self.kind == LEASE {
            state.leases(self.namespace)
        } else {
            watch::slices_in(self.namespace, &state.slices().borrow())
        };
        if let Some(wanted) = watch::parameter(query, "labelSelector") {
            items.retain(|item| has_label(item, &wanted));
        }
        let mut left = 0;
        if self.kind == NODE {
            let limit = watch::parameter(query, "limit").and_then(|text| text.parse().ok());
            let shown = limit.unwrap_or(items.len()).min(items.len());
            left = state.more_nodes() + (items.len() - shown) as u64;
            items.truncate(shown);
        }
        let mut list = document::list(self.kind, state.revision(), &items);
        if let Some(Value::Object(metadata)) = list.get_mut("metadata")
            && left > 0
        {
            metadata.insert("remainingItemCount".to_owned(), left.into());
            metadata.insert("continue".to_owned(), "more".into());
        }
        list
    }

    fn read(&self, name: &str, state: &State) -> Option<Value> {
        if self.kind == NODE {
            let nodes = state.nodes();
            let (name, created) = nodes.iter().find(|(known, _)| known == name)?;
            Some(document::node(
                name,
                created,
                state.revision(),
                state.condition(name).as_deref(),
            ))
        } else if self.kind == LEASE {
            state.lease(self.namespace?, name)
        } else if self.kind == ENDPOINT_SLICE && self.namespace == Some("default") {
            state.slices().borrow().by_name.get(name).cloned()
        } else {
            None
        }
    }
}

/// Whether the object has the label `KEY=VALUE`.
fn has_label(object: &Value, wanted: &str) -> bool {
    let (key, value) = wanted.split_once('=').unwrap_or((wanted, ""));
    let labels = object.pointer("/metadata/labels");
    labels
        .and_then(|labels| labels.get(key))
        .and_then(Value::as_str)
        == Some(value)
}

fn asks_to_watch(query: &str) -> bool {
    watch::parameter(query, "watch").is_some_and(|value| matches!(&*value, "" | "1" | "true"))
}

fn watching(watch: Watch) -> Response<Body> {
    with_type(StatusCode::OK, "application/json", watch.into_body())
}

fn json(status: StatusCode, value: &Value) -> Response<Body> {
    with_type(status, "application/json", full(value.to_string()))
}

fn text(status: StatusCode, words: &'static str) -> Response<Body> {
    with_type(status, "text/plain; charset=utf-8", full(words))
}

fn not_found(what: &str) -> Response<Body> {
    let message = format!("{what:?} not found");
    refused(StatusCode::NOT_FOUND, "NotFound", &message)
}

fn refused(status: StatusCode, reason: &str, message: &str) -> Response<Body> {
    let body = document::failure(status.as_u16(), reason, message);
    json(status, &body)
}

/// Bytes without end, made as fast as they are taken.
fn flood() -> Body {
    let pieces = futures_util::stream::repeat(Bytes::from_static(&[0; 16 * 1024]));
    StreamBody::new(pieces.map(|piece| Ok(Frame::data(piece)))).boxed_unsync()
}

fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
