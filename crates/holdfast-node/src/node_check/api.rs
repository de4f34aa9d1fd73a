//! What the node check asks of the API server: this node's condition, and a place in the fleet's budget.

use std::time::Duration;

use holdfast_core::chance::hash_text;
use holdfast_core::node_check::budget::{self, Claim, Slot};
use holdfast_core::node_check::{Ready, Reply};
use holdfast_core::reason::Reason;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Time for one request.
const PATIENCE: Duration = Duration::from_secs(10);

/// No answer that is used is longer: a Node with many images has some hundred KiB.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A place that somebody else took in between is looked for again so often; then the next check does.
const TRIES: u32 = 5;

/// The label of the leases that are the fleet's places.
const LABEL: (&str, &str) = ("app.kubernetes.io/component", "holdfast-restart-budget");

/// What begins the name of each of them.
const PREFIX: &str = "holdfast-restart-";

/// The API server, as this node's check uses it.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) client: Client,
    pub(super) node: String,
    /// Where the leases are.
    pub(super) namespace: String,
    /// How many nodes in a hundred may restart their units at once.
    pub(super) share: u32,
    /// How long a place is held by a node that does not come back.
    pub(super) hold: Duration,
}

/// An answer that is neither nonsense nor an error of the transport.
struct Answer {
    status: StatusCode,
    /// The server's clock, in seconds since 1970.
    date: Option<i64>,
    body: Value,
}

/// Why there is no answer.
enum Trouble {
    Unreachable(String),
    Unusable(String),
}

impl Trouble {
    fn words(self) -> String {
        match self {
            Self::Unreachable(why) | Self::Unusable(why) => why,
        }
    }
}

type NoPlace = (Reason, String);

impl Api {
    /// This node's condition.
    pub(super) async fn ask(&self) -> Reply {
        let path = format!("/api/v1/nodes/{}", self.node);
        let answer = match self.send(Method::GET, &path, None).await {
            Ok(answer) => answer,
            Err(Trouble::Unreachable(why)) => return Reply::Unreachable { why },
            Err(Trouble::Unusable(why)) => return Reply::Unusable { why },
        };
        match answer.status {
            StatusCode::OK => read_node(&answer),
            StatusCode::NOT_FOUND => Reply::Missing,
            StatusCode::UNAUTHORIZED => Reply::Unauthorized,
            StatusCode::FORBIDDEN => Reply::Forbidden,
            _ => Reply::Unusable {
                why: answer.words(),
            },
        }
    }

    /// Claims a place, and gives its number. Whatever is not known for sure is no place.
    pub(super) async fn claim(&self) -> Result<u32, NoPlace> {
        let unknown = |why: String| (Reason::FleetUnknown, why);
        let nodes = self.count_nodes().await.map_err(unknown)?;
        let places = budget::places(nodes, self.share);
        for _ in 0..TRIES {
            let (slots, now) = self.slots().await.map_err(unknown)?;
            let now_seconds = u64::try_from(now).unwrap_or(0);
            let start = hash_text(&self.node);
            let written = match budget::claim(&self.node, places, &slots, now_seconds, start) {
                Claim::Full { held } => {
                    return Err((
                        Reason::FleetBudget,
                        format!(
                            "{held} of {places} places are held ({} % of {nodes} nodes)",
                            self.share
                        ),
                    ));
                }
                Claim::Create(number) => self.create(number, now).await,
                Claim::Take { number, version } => {
                    self.replace(number, &version, Some(&self.node), now).await
                }
            };
            if let Some(number) = written.map_err(unknown)? {
                return Ok(number);
            }
            // Somebody was quicker: read again, decide again.
        }
        Err(unknown(format!(
            "{TRIES} times in a row another node was quicker"
        )))
    }

    /// Gives the place back, if this node still holds one.
    pub(super) async fn release(&self) -> Result<(), String> {
        let (slots, now) = self.slots().await?;
        let mine = |slot: &&Slot| slot.holder.as_deref() == Some(self.node.as_str());
        for slot in slots.iter().filter(mine) {
            self.replace(slot.number, &slot.version, None, now).await?;
        }
        Ok(())
    }

    /// How many nodes the fleet has: one of them, and how many remain.
    async fn count_nodes(&self) -> Result<u64, String> {
        let list = self
            .expect_ok("/api/v1/nodes?limit=1", "count nodes")
            .await?;
        let items = list.body.pointer("/items").and_then(Value::as_array);
        let items = items.ok_or("count nodes: the answer is no list")?.len() as u64;
        let more = list.body.pointer("/metadata/remainingItemCount");
        let more = more.and_then(Value::as_u64).unwrap_or(0);
        Ok(items + more)
    }

    /// The places, and the server's clock.
    async fn slots(&self) -> Result<(Vec<Slot>, i64), String> {
        let (key, value) = LABEL;
        let path = format!("{}?labelSelector={key}%3D{value}", self.leases());
        let what = format!("read the leases in {}", self.namespace);
        let list = self.expect_ok(&path, &what).await?;
        let items = list.body.pointer("/items").and_then(Value::as_array);
        let items = items.ok_or_else(|| format!("{what}: the answer is no list"))?;
        let date = list.date;
        let now = date.ok_or_else(|| format!("{what}: the server does not tell its clock"))?;
        Ok((items.iter().filter_map(read_slot).collect(), now))
    }

    async fn create(&self, number: u32, now: i64) -> Result<Option<u32>, String> {
        let lease = self.lease(number, None, Some(&self.node), now);
        self.write(Method::POST, &self.leases(), &lease, number)
            .await
    }

    async fn replace(
        &self,
        number: u32,
        version: &str,
        holder: Option<&str>,
        now: i64,
    ) -> Result<Option<u32>, String> {
        let lease = self.lease(number, Some(version), holder, now);
        let path = format!("{}/{PREFIX}{number}", self.leases());
        self.write(Method::PUT, &path, &lease, number).await
    }

    /// Writes a lease; `None` when it is not as it was read any more.
    async fn write(
        &self,
        method: Method,
        path: &str,
        lease: &Value,
        number: u32,
    ) -> Result<Option<u32>, String> {
        let answer = self.send(method, path, Some(lease)).await;
        let answer = answer.map_err(|trouble| format!("write a lease: {}", trouble.words()))?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED => Ok(Some(number)),
            StatusCode::CONFLICT | StatusCode::NOT_FOUND => Ok(None),
            _ => Err(format!(
                "write the lease {PREFIX}{number}: {}",
                answer.words()
            )),
        }
    }

    fn leases(&self) -> String {
        let namespace = &self.namespace;
        format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
    }

    fn lease(&self, number: u32, version: Option<&str>, holder: Option<&str>, now: i64) -> Value {
        let (key, value) = LABEL;
        let mut lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": format!("{PREFIX}{number}"),
                "namespace": self.namespace,
                "labels": {key: value},
            },
            "spec": {
                "leaseDurationSeconds": self.hold.as_secs(),
                "renewTime": micro_time(now),
            },
        });
        let mut set = |at: &str, key: &str, value: &str| {
            if let Some(object) = lease.pointer_mut(at).and_then(Value::as_object_mut) {
                object.insert(key.to_owned(), json!(value));
            }
        };
        if let Some(version) = version {
            set("/metadata", "resourceVersion", version);
        }
        if let Some(holder) = holder {
            set("/spec", "holderIdentity", holder);
        }
        lease
    }

    async fn expect_ok(&self, path: &str, what: &str) -> Result<Answer, String> {
        let answer = self.send(Method::GET, path, None).await;
        let answer = answer.map_err(|trouble| format!("{what}: {}", trouble.words()))?;
        if answer.status == StatusCode::OK {
            Ok(answer)
        } else {
            Err(format!("{what}: {}", answer.words()))
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Trouble> {
        let unusable = |why: String| Trouble::Unusable(why);
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("accept", "application/json");
        let request = match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(Body::from(body.to_string().into_bytes())),
            None => request.body(Body::empty()),
        };
        let request = request.map_err(|error| unusable(error.to_string()))?;
        let exchange = async {
            let response = self
                .client
                .send(request)
                .await
                .map_err(|error| Trouble::Unreachable(words(&error)))?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MOST_BYTES).collect().await;
            let body = body.map_err(|error| Trouble::Unreachable(error.to_string()))?;
            Ok(Answer {
                status: head.status,
                date: date(&head.headers),
                body: serde_json::from_slice(&body.to_bytes()).unwrap_or_default(),
            })
        };
        timeout(PATIENCE, exchange).await.unwrap_or_else(|_| {
            let seconds = PATIENCE.as_secs();
            Err(Trouble::Unreachable(format!("no answer in {seconds} s")))
        })
    }
}

impl Answer {
    /// The status, and what a Kubernetes `Status` says about it.
    fn words(&self) -> String {
        let said = self.body.pointer("/message").and_then(Value::as_str);
        match said {
            Some(said) => format!("{} ({said})", self.status),
            None => self.status.to_string(),
        }
    }
}

/// The error that says something: the library wraps the transport's.
fn words(error: &kube::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// The server's clock: `Date`, RFC 9110, section 6.6.1.
fn date(headers: &HeaderMap) -> Option<i64> {
    let text = headers.get(http::header::DATE)?.to_str().ok()?;
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(date.timestamp().as_second())
}

fn read_node(answer: &Answer) -> Reply {
    let conditions = answer.body.pointer("/status/conditions");
    let Some(conditions) = conditions.and_then(Value::as_array) else {
        return Reply::Missing;
    };
    let text = |condition: &Value, key: &str| {
        let value = condition.get(key).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let ready = conditions.iter().find(|c| text(c, "type") == "Ready");
    let Some(condition) = ready else {
        return Reply::Missing;
    };
    let why = [text(condition, "reason"), text(condition, "message")];
    let why = why.iter().filter(|word| !word.is_empty());
    Reply::Node {
        ready: match text(condition, "status").as_str() {
            "True" => Ready::True,
            "False" => Ready::False,
            _ => Ready::Unknown,
        },
        why: why.cloned().collect::<Vec<_>>().join(": "),
        clock: answer
            .date
            .map(|server| server - Timestamp::now().as_second()),
    }
}

fn read_slot(lease: &Value) -> Option<Slot> {
    let text = |at: &str| lease.pointer(at).and_then(Value::as_str);
    let number = text("/metadata/name")?.strip_prefix(PREFIX)?.parse().ok()?;
    let renewed: Option<Timestamp> = text("/spec/renewTime").and_then(|time| time.parse().ok());
    let seconds = lease.pointer("/spec/leaseDurationSeconds");
    let seconds = seconds.and_then(Value::as_i64).unwrap_or(0);
    let until = renewed.map_or(0, |renewed| renewed.as_second() + seconds);
    Some(Slot {
        number,
        holder: text("/spec/holderIdentity")
            .filter(|holder| !holder.is_empty())
            .map(str::to_owned),
        until: u64::try_from(until).unwrap_or(0),
        version: text("/metadata/resourceVersion")?.to_owned(),
    })
}

/// As `MicroTime` is written (apimachinery `pkg/apis/meta/v1/micro_time.go`).
fn micro_time(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()
}
