//! Requests and answers as plain data, and the errors that ARM answers with.

use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

/// A request, whole.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its path, not decoded.
    pub path: String,
    /// What stands behind the question mark.
    pub query: String,
    /// Where the client reached us, as in `https://127.0.0.1:8443`.
    pub base: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
}

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Headers beyond the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The body, if there is one.
    pub body: Option<Value>,
    /// The connection breaks instead, though everything was done.
    pub lost: bool,
}

/// Why a request is not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) code: String,
    pub(super) message: String,
    /// What stands under `details`: a code and a message.
    pub(super) detail: Option<(&'static str, String)>,
    /// Seconds.
    pub(super) retry_after: Option<u64>,
}

impl Request {
    /// A parameter of the query, decoded; its name is compared without case.
    pub fn parameter(&self, name: &str) -> Option<String> {
        parameter(&self.query, name)
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn json(&self) -> Result<Value, Refusal> {
        let value: Value = serde_json::from_slice(&self.body).map_err(|error| {
            Refusal::bad(
                "InvalidRequestContent",
                format!(
                    "The request content was invalid and could not be deserialized: '{error}'."
                ),
            )
        })?;
        if value.is_object() {
            Ok(value)
        } else {
            Err(Refusal::bad(
                "InvalidRequestContent",
                "The request content was invalid: it has to be a JSON object.",
            ))
        }
    }
}

/// A parameter of a query or of a form.
pub(super) fn parameter(text: &str, name: &str) -> Option<String> {
    text.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        decoded(key)
            .eq_ignore_ascii_case(name)
            .then(|| decoded(value))
    })
}

/// Percent-decoded, with `+` as a space.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.extend(u8::from_str_radix(&digits, 16).ok());
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Answer {
    /// An answer with a body.
    pub(super) fn json(status: StatusCode, body: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Some(body),
            lost: false,
        }
    }

    /// An answer without one.
    pub(super) const fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: None,
            lost: false,
        }
    }

    pub(super) fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((header, value.into()));
        self
    }
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code: code.into(),
            message: message.into(),
            detail: None,
            retry_after: None,
        }
    }

    pub(super) fn bad(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(super) fn not_found(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// 429 as a lock, not as throttling.
    pub(super) fn retryable(detail: &'static str, message: impl Into<String>) -> Self {
        let mut refusal = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RetryableError",
            "A retryable error occurred.",
        );
        refusal.detail = Some((detail, message.into()));
        refusal
    }

    /// The error object, as it stands in answers and in failed operations.
    pub(super) fn error(&self) -> Value {
        let details: Vec<_> = self
            .detail
            .iter()
            .map(|(code, message)| json!({"code": code, "message": message}))
            .collect();
        json!({"code": self.code, "message": self.message, "details": details})
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let body = json!({"error": refusal.error()});
        let answer = Self::json(refusal.status, body);
        match refusal.retry_after {
            Some(seconds) => answer.with("retry-after", seconds.to_string()),
            None => answer,
        }
    }
}
