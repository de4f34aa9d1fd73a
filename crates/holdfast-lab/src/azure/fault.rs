//! Faults on demand: what some of the next requests meet instead of an honest answer.

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::operation::End;
use super::throttle;
use super::wire::{Refusal, Request};

/// What a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Meets {
    /// 409: another operation holds the resource.
    AnotherOperation,
    /// 409, as compute tells it.
    Conflict,
    /// 500.
    Error,
    /// 403.
    Forbidden,
    /// It is carried out, and the connection breaks before the answer.
    LostAnswer,
    /// 404, as if it were gone.
    NotFound,
    /// The operation it begins is given up for a newer one.
    OperationCanceled,
    /// The operation it begins fails.
    OperationFails,
    /// The operation it begins goes on until faults are cleared.
    OperationHangs,
    /// 412, as if somebody had written in between.
    Precondition,
    /// 429 as a lock: what is referred to is not provisioned.
    ReferencedNotProvisioned,
    /// 429 as a lock: another operation.
    RetryableBusy,
    /// 409: a management lock.
    ScopeLocked,
    /// 429 as throttling.
    Throttled,
    /// 503.
    Unavailable,
}

/// A fault that waits for its requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fault {
    /// Which requests meet it: their method; any unless given.
    #[serde(default)]
    pub(super) method: Option<String>,
    /// And a text in their path, compared without case; any unless given.
    #[serde(default)]
    pub(super) path: String,
    /// How many of them pass before it.
    #[serde(default)]
    pub(super) after: u32,
    /// How many of them meet it.
    #[serde(default = "once")]
    pub(super) times: u32,
    pub(super) meets: Meets,
    /// Seconds in `Retry-After`; no such header unless given.
    #[serde(default)]
    pub(super) retry_after: Option<u64>,
}

const fn once() -> u32 {
    1
}

/// All that wait.
#[derive(Debug, Default)]
pub(super) struct Faults(pub(super) Vec<Fault>);

impl Faults {
    /// The fault that this request meets, which has then one request less to meet.
    pub(super) fn met(&mut self, request: &Request) -> Option<Fault> {
        let path = request.path.to_ascii_lowercase();
        let fault = self.0.iter_mut().find(|fault| {
            let method = fault.method.as_deref();
            method.is_none_or(|it| it.eq_ignore_ascii_case(request.method.as_str()))
                && path.contains(&fault.path.to_ascii_lowercase())
                // Only what begins an operation can meet the end of one.
                && (fault.meets.end().is_none() || request.method != Method::GET)
        })?;
        if let Some(left) = fault.after.checked_sub(1) {
            fault.after = left;
            return None;
        }
        fault.times = fault.times.saturating_sub(1);
        let met = fault.clone();
        self.0.retain(|fault| fault.times > 0);
        Some(met)
    }
}

impl Fault {
    /// What is answered instead.
    pub(super) fn refusal(&self, path: &str) -> Option<Refusal> {
        let mut refusal = match self.meets {
            Meets::AnotherOperation => another_operation(path),
            Meets::Conflict => Refusal::conflict(
                "Conflict",
                "The request failed due to conflict with a concurrent request.",
            ),
            Meets::Error => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalServerError",
                "An error occurred.",
            ),
            Meets::Forbidden => Refusal::new(
                StatusCode::FORBIDDEN,
                "AuthorizationFailed",
                format!(
                    "The client does not have authorization to perform action over scope '{path}'."
                ),
            ),
            Meets::NotFound => Refusal::new(
                StatusCode::NOT_FOUND,
                "ResourceNotFound",
                format!("The Resource '{path}' was not found."),
            ),
            Meets::Precondition => precondition(path),
            Meets::ReferencedNotProvisioned => Refusal::retryable(
                "ReferencedResourceNotProvisioned",
                format!(
                    "Cannot proceed with operation because a resource used by {path} is not in Succeeded state."
                ),
            ),
            Meets::RetryableBusy => Refusal::retryable(
                "RetryableErrorDueToAnotherOperation",
                format!("Operation on {path} can't proceed due to another operation."),
            ),
            Meets::ScopeLocked => scope_locked("write", path, path),
            Meets::Throttled => throttle::throttled(None),
            Meets::Unavailable => Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "The service is unavailable. Please try again later.",
            ),
            Meets::LostAnswer
            | Meets::OperationCanceled
            | Meets::OperationFails
            | Meets::OperationHangs => return None,
        };
        refusal.retry_after = self.retry_after;
        Some(refusal)
    }
}

impl Meets {
    /// How the operation ends that a request begins.
    pub(super) fn end(self) -> Option<End> {
        match self {
            Self::OperationFails => Some(End::Failed(json!({
                "code": "InternalServerError",
                "message": "An error occurred.",
                "details": [],
            }))),
            Self::OperationCanceled => Some(End::Canceled),
            Self::OperationHangs => Some(End::Never),
            Self::AnotherOperation
            | Self::Conflict
            | Self::Error
            | Self::Forbidden
            | Self::LostAnswer
            | Self::NotFound
            | Self::Precondition
            | Self::ReferencedNotProvisioned
            | Self::RetryableBusy
            | Self::ScopeLocked
            | Self::Throttled
            | Self::Unavailable => None,
        }
    }
}

/// 409: an operation holds the resource.
pub(super) fn another_operation(id: &str) -> Refusal {
    Refusal::conflict(
        "AnotherOperationInProgress",
        format!(
            "Another operation on this or dependent resource is in progress. To retrieve status of the operation use \
             uri of its Azure-AsyncOperation: {id}"
        ),
    )
}

/// 412.
pub(super) fn precondition(id: &str) -> Refusal {
    Refusal::new(
        StatusCode::PRECONDITION_FAILED,
        "PreconditionFailed",
        format!("Precondition failed: the etag in the request does not match that of {id}."),
    )
}

/// 409: a management lock.
pub(super) fn scope_locked(what: &str, id: &str, locked: &str) -> Refusal {
    Refusal::conflict(
        "ScopeLocked",
        format!(
            "The scope '{id}' cannot perform {what} operation because following scope(s) are locked: '{locked}'. \
             Please remove the lock and try again."
        ),
    )
}
