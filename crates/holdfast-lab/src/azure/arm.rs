//! The whole service as one machine: a request and the time in, an answer out.

mod action;
mod commit;
mod group;
mod read;
mod write;

use std::collections::{BTreeSet, VecDeque};
use std::path::Path as FilePath;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::control;
use super::egress::{self, Exit};
use super::fault::{Faults, Meets};
use super::folder::{self, LoadError, Others};
use super::identity::{Identity, Secrets};
use super::operation::{End, Operations};
use super::place::Path;
use super::store::{Key, Store};
use super::throttle::{Limits, Throttle};
use super::wire::{Answer, Refusal, Request};

/// How many requests the journal keeps.
const JOURNAL: usize = 10_000;

/// What the service is told at start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The subscription that is there without any resource.
    pub subscription: String,
    /// How long an operation goes on after its answer.
    pub latency: Duration,
    /// How many resources a page of a list has.
    pub page: usize,
    /// The request budget; none unless given.
    pub limits: Option<Limits>,
    /// What clients have to show.
    pub secrets: Secrets,
}

/// The service.
#[derive(Debug)]
pub struct Arm {
    pub(super) settings: Settings,
    pub(super) store: Store,
    pub(super) operations: Operations,
    pub(super) faults: Faults,
    pub(super) identity: Identity,
    throttle: Option<Throttle>,
    others: Others,
    /// VMs that don't run.
    pub(super) stopped: BTreeSet<Key>,
    pub(super) journal: VecDeque<Value>,
    /// Counts changes that took effect.
    generation: u64,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    now: Duration,
    request: &'a Request,
    /// How the operation that it begins ends, if not well.
    end: Option<&'a End>,
}

impl Arm {
    /// An empty service.
    pub fn new(settings: Settings) -> Self {
        Self {
            store: Store::default(),
            operations: Operations::default(),
            faults: Faults::default(),
            identity: Identity::new(settings.secrets.clone()),
            throttle: settings.limits.map(Throttle::new),
            others: Others::new(),
            stopped: BTreeSet::new(),
            journal: VecDeque::new(),
            generation: 0,
            settings,
        }
    }

    /// Fills it from a folder of `az … -o json` files.
    pub fn load(&mut self, folder: &FilePath) -> Result<(), LoadError> {
        self.others = folder::load(&mut self.store, folder)?;
        let first = self.store.groups().next().map(|(group, _)| group.clone());
        let subscription = first.as_deref().and_then(|it| it.split('/').nth(2));
        if let Some(subscription) = subscription {
            subscription.clone_into(&mut self.settings.subscription);
        }
        Ok(())
    }

    /// The subscription: the one that it was told, or the first of its folder.
    pub fn subscription(&self) -> &str {
        &self.settings.subscription
    }

    /// Its state as files of such a folder.
    pub fn files(&self) -> Vec<(&'static str, Value)> {
        folder::dumped(&self.store, &self.others)
    }

    /// Writes them.
    pub fn dump(&self, folder: &FilePath) -> Result<(), LoadError> {
        folder::write(folder, &self.files())
    }

    /// What gets out of each VM.
    pub fn exits(&self) -> Vec<Exit> {
        egress::exits(&self.store, &self.stopped)
    }

    /// Counts changes that took effect: exits may differ when it does.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// When the next operation ends by itself.
    pub fn next_wake(&self) -> Option<Duration> {
        self.operations.next()
    }

    /// Answers a request that comes at this time since the start.
    pub fn answer(&mut self, now: Duration, request: &Request) -> Answer {
        self.settle(now);
        if let Some(answer) = control::answer(self, now, request) {
            return answer;
        }
        let mut answer = match self.identity.answer(request) {
            Some(answer) => answer,
            None => self.managed(now, request),
        };
        let number = self.store.guid();
        answer.headers.push(("x-ms-request-id", number.clone()));
        answer.headers.push(("x-ms-correlation-request-id", number));
        self.note(request, &answer);
        answer
    }

    /// Answers a request to the management API.
    fn managed(&mut self, now: Duration, request: &Request) -> Answer {
        let admitted = self.admitted(now, request);
        let fault = match admitted {
            Ok(_) => self.faults.met(request),
            Err(refusal) => return refusal.into(),
        };
        if let Some(refusal) = fault.as_ref().and_then(|it| it.refusal(&request.path)) {
            return refusal.into();
        }
        let end = fault.as_ref().and_then(|fault| fault.meets.end());
        let call = Call {
            now,
            request,
            end: end.as_ref(),
        };
        let mut answer = match admitted.and_then(|path| self.dispatch(call, path)) {
            Ok(answer) => answer,
            Err(refusal) => refusal.into(),
        };
        answer.lost = fault.is_some_and(|fault| fault.meets == Meets::LostAnswer);
        match &mut self.throttle {
            Some(throttle) => throttle.told(&request.method, answer),
            None => answer,
        }
    }

    /// Whether a request may be asked at all, and where it leads.
    fn admitted(&mut self, now: Duration, request: &Request) -> Result<Path, Refusal> {
        let path = Path::parse(&request.path).ok_or_else(|| {
            Refusal::not_found(
                "InvalidResourceType",
                format!("The resource type could not be found: {}", request.path),
            )
        })?;
        self.identity.check(request)?;
        if request
            .parameter("api-version")
            .is_none_or(|it| it.is_empty())
        {
            return Err(Refusal::bad(
                "MissingApiVersionParameter",
                "The api-version query parameter (?api-version=) is required for all requests.",
            ));
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.take(now, &request.method)?;
        }
        Ok(path)
    }

    fn dispatch(&mut self, call: Call<'_>, path: Path) -> Result<Answer, Refusal> {
        match path {
            Path::Subscriptions => Ok(self.subscriptions()),
            Path::Subscription(id) => Ok(ok(subscription(&id))),
            Path::Providers(None) => Ok(ok(json!({"value": [
                provider("Microsoft.Network"), provider("Microsoft.Compute"),
                provider("Microsoft.Authorization")]}))),
            Path::Providers(Some(name)) => Ok(ok(provider(&name))),
            Path::Groups(subscription) => Ok(self.groups(&subscription)),
            Path::Group(subscription, group) => self.group(call, &subscription, &group),
            Path::Operation(id) => self.operation(&id),
            Path::OperationResult(id) => self.operation_result(&id),
            Path::Resource(place) => self.resource(call, &place),
        }
    }

    fn subscriptions(&self) -> Answer {
        let mut ids = BTreeSet::from([self.settings.subscription.as_str()]);
        let of_groups = self
            .store
            .groups()
            .filter_map(|(id, _)| id.split('/').nth(2));
        ids.extend(of_groups);
        let list: Vec<_> = ids.into_iter().map(subscription).collect();
        ok(json!({"value": list}))
    }

    fn operation(&self, id: &str) -> Result<Answer, Refusal> {
        let operation = self.operations.find(id).ok_or_else(|| no_operation(id))?;
        let answer = ok(operation.status(id));
        Ok(if operation.is_done() {
            answer
        } else {
            answer.with("retry-after", self.retry_after())
        })
    }

    /// 202 until it is done, then what came of it.
    fn operation_result(&self, id: &str) -> Result<Answer, Refusal> {
        let operation = self.operations.find(id).ok_or_else(|| no_operation(id))?;
        if !operation.is_done() {
            return Ok(Answer::empty(StatusCode::ACCEPTED).with("retry-after", self.retry_after()));
        }
        match (&operation.end, &operation.output) {
            (End::Succeeded, Some(output)) => Ok(ok(output.clone())),
            (End::Succeeded, None) | (End::Never, _) => Ok(Answer::empty(StatusCode::NO_CONTENT)),
            (End::Failed(_) | End::Canceled, _) => Err(Refusal::conflict(
                "OperationNotSucceeded",
                operation.status(id).to_string(),
            )),
        }
    }

    /// Whole seconds, at least one: clients take zero for none.
    fn retry_after(&self) -> String {
        self.settings.latency.as_secs().clamp(1, 10).to_string()
    }

    fn note(&mut self, request: &Request, answer: &Answer) {
        if self.journal.len() == JOURNAL {
            self.journal.pop_front();
        }
        let code = answer
            .body
            .as_ref()
            .and_then(|it| it.pointer("/error/code"));
        self.journal.push_back(json!({
            "method": request.method.as_str(), "path": request.path, "query": request.query,
            "status": answer.status.as_u16(), "code": code,
            "ifMatch": request.header("if-match"),
        }));
    }
}

fn ok(body: Value) -> Answer {
    Answer::json(StatusCode::OK, body)
}

fn subscription(id: &str) -> Value {
    json!({"id": format!("/subscriptions/{id}"), "subscriptionId": id, "displayName": "lab",
        "state": "Enabled"})
}

fn provider(name: &str) -> Value {
    json!({"namespace": name, "registrationState": "Registered", "resourceTypes": []})
}

fn no_operation(id: &str) -> Refusal {
    Refusal::not_found(
        "OperationNotFound",
        format!("The operation {id} was not found."),
    )
}

fn not_allowed(method: &Method, what: &str) -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "HttpMethodNotSupported",
        format!("The HTTP method '{method}' is not supported at {what}."),
    )
}

fn not_found(id: &str) -> Refusal {
    Refusal::not_found(
        "ResourceNotFound",
        format!("The Resource '{id}' was not found."),
    )
}
