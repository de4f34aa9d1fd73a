//! What follows from an answer: take it, ask again later, get another token, decide anew, or give up.
//!
//! 429 has two meanings. Requests are throttled: whoever goes on is throttled longer. Or something
//! that the request refers to is being changed by somebody else: it is free again after seconds. The
//! code tells which, and it is matched instead of the status, since reports have the second as 400, 409
//! and 429.

use std::time::Duration;

use serde_json::Value;

/// Codes that say: another operation is at it, ask again (`RetryableError` has them in its details).
const BUSY: [&str; 6] = [
    "AnotherOperationInProgress",
    "ReferencedResourceNotProvisioned",
    "RetryableError",
    "RetryableErrorDueToAnotherOperation",
    "CanceledAndSupersededDueToAnotherOperation",
    "ConflictingConcurrentWriteNotAllowed",
];

/// Codes of a token that was good once.
const EXPIRED: [&str; 3] = [
    "ExpiredAuthenticationToken",
    "InvalidAuthenticationToken",
    "AuthenticationFailed",
];

/// Without `Retry-After`, the first wait of throttled requests; doubled each time.
const THROTTLED: Duration = Duration::from_secs(5);

/// Without `Retry-After`, the wait for another operation and for a server that is down.
const BUSY_WAIT: Duration = Duration::from_secs(2);

/// The longest single wait: Azure's own are up to 5 minutes (cloud-provider-azure backs off as long).
const LONGEST: Duration = Duration::from_mins(5);

/// How often one request is sent, at the most.
pub const ATTEMPTS: u32 = 6;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing: whatever happens, it may be sent again.
    Reads,
    /// It changes something: it is sent again only if it was certainly not carried out.
    Writes,
}

/// An answer that is no success, or none at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status; none where no answer came.
    pub status: Option<u16>,
    /// `error.code`, then the codes of `error.details`.
    pub codes: Vec<String>,
    /// `error.message`.
    pub message: String,
    /// `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The same again after this time.
    Again(Duration),
    /// The same again, with another token.
    Renew,
    /// It was changed since it was read: read and decide again (RFC 9110, section 15.5.13).
    Changed,
    /// It may or may not have been carried out: read before anything else.
    Unknown,
    /// It can't be done.
    GiveUp,
}

impl Refusal {
    /// Reads an error's body: `{"error": {"code", "message", "details": [{"code"}]}}`.
    pub fn read(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let error = body.get("error").unwrap_or(&body);
        let code = |it: &Value| it.get("code").and_then(Value::as_str).map(str::to_owned);
        let details = error.get("details").and_then(Value::as_array);
        let codes = code(error).into_iter();
        let codes = codes.chain(details.into_iter().flatten().filter_map(code));
        let message = error.get("message").and_then(Value::as_str);
        Self {
            status: Some(status),
            codes: codes.collect(),
            message: message.unwrap_or_default().to_owned(),
            retry_after,
        }
    }

    /// What follows from this at the given attempt, the first of which is 1. `renewed`: the token was
    /// fetched anew for it already.
    pub fn follow(&self, effect: Effect, attempt: u32, renewed: bool) -> Step {
        let has = |codes: &[&str]| {
            let known = |code: &String| codes.iter().any(|it| it.eq_ignore_ascii_case(code));
            self.codes.iter().any(known)
        };
        match self.status {
            Some(401) if !renewed && (self.codes.is_empty() || has(&EXPIRED)) => Step::Renew,
            Some(412) => Step::Changed,
            _ if has(&BUSY) => self.again(attempt, BUSY_WAIT),
            Some(429) => self.again(attempt, doubled(THROTTLED, attempt)),
            None | Some(408 | 500 | 502 | 503 | 504) => match effect {
                Effect::Reads => self.again(attempt, doubled(BUSY_WAIT, attempt) / 4),
                Effect::Writes => Step::Unknown,
            },
            _ => Step::GiveUp,
        }
    }

    /// Whether it says nothing of what was asked for: the server is down, or throttles.
    pub fn is_trouble(&self) -> bool {
        matches!(self.status, None | Some(408 | 429 | 500 | 502..=504))
    }

    fn again(&self, attempt: u32, otherwise: Duration) -> Step {
        if attempt >= ATTEMPTS {
            return Step::GiveUp;
        }
        Step::Again(self.retry_after.unwrap_or(otherwise).min(LONGEST))
    }
}

fn doubled(first: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)))
}

/// `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3), from which the server's own `now` is
/// taken.
pub fn retry_after(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    Some(at.duration_since(now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: &str) -> Refusal {
        let body = format!(r#"{{"error": {{"code": "{code}", "message": "m"}}}}"#);
        Refusal::read(status, None, body.as_bytes())
    }

    #[test]
    fn each_kind_of_refusal_has_its_consequence() {
        use Effect::{Reads, Writes};
        let s = Duration::from_secs;
        for (status, code, effect, attempt, step) in [
            (
                429,
                "SubscriptionRequestsThrottled",
                Reads,
                1,
                Step::Again(s(5)),
            ),
            (
                429,
                "SubscriptionRequestsThrottled",
                Writes,
                3,
                Step::Again(s(20)),
            ),
            (429, "RetryableError", Writes, 3, Step::Again(s(2))),
            (
                409,
                "AnotherOperationInProgress",
                Writes,
                1,
                Step::Again(s(2)),
            ),
            (
                400,
                "AnotherOperationInProgress",
                Writes,
                1,
                Step::Again(s(2)),
            ),
            (409, "ScopeLocked", Writes, 1, Step::GiveUp),
            (412, "PreconditionFailed", Writes, 1, Step::Changed),
            (401, "ExpiredAuthenticationToken", Reads, 1, Step::Renew),
            (403, "AuthorizationFailed", Reads, 1, Step::GiveUp),
            (404, "ResourceNotFound", Reads, 1, Step::GiveUp),
            (
                503,
                "ServiceUnavailable",
                Reads,
                1,
                Step::Again(Duration::from_millis(500)),
            ),
            (503, "ServiceUnavailable", Writes, 1, Step::Unknown),
            (
                429,
                "SubscriptionRequestsThrottled",
                Reads,
                ATTEMPTS,
                Step::GiveUp,
            ),
        ] {
            let found = refusal(status, code).follow(effect, attempt, false);
            assert_eq!(found, step, "{status} {code} {effect:?} {attempt}");
        }
        assert_eq!(
            refusal(401, "ExpiredAuthenticationToken").follow(Reads, 1, true),
            Step::GiveUp
        );
        assert_eq!(Refusal::default().follow(Writes, 1, false), Step::Unknown);
    }

    #[test]
    fn a_lock_is_told_by_the_code_of_a_detail_too() {
        let body = br#"{"error": {"code": "Whatever", "details": [{"code": "ReferencedResourceNotProvisioned"}]}}"#;
        let found = Refusal::read(429, None, body);
        let step = found.follow(Effect::Writes, 4, false);
        assert_eq!(step, Step::Again(BUSY_WAIT));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_is_bounded() {
        let now = "2026-12-01T10:00:00Z".parse().unwrap();
        assert_eq!(retry_after("17", now), Some(Duration::from_secs(17)));
        let date = "Tue, 01 Dec 2026 10:01:00 GMT";
        assert_eq!(retry_after(date, now), Some(Duration::from_mins(1)));
        let past = "Tue, 01 Dec 2026 09:00:00 GMT";
        assert_eq!(retry_after(past, now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        let long = Refusal {
            status: Some(429),
            retry_after: Some(Duration::from_hours(24)),
            ..Refusal::default()
        };
        assert_eq!(long.follow(Effect::Reads, 1, false), Step::Again(LONGEST));
    }
}
