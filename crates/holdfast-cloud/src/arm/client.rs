//! The client: sends, waits, and does what the decisions say.

use std::time::Duration;

use azure_core::credentials::TokenCredential;
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::answer::{Effect, Refusal, Step, retry_after};
use super::budget::Budget;
use super::cloud::Cloud;
use super::credential::{Auth, CredentialError, Credentials, SignIn};
use super::operation::{self, Follow, Progress};
use super::transport::{self, causes};

/// Pages of one list, at the most: a list that goes on for longer goes in a circle.
const PAGES: usize = 2000;

/// How long a long operation is followed: writes of load balancers take up to minutes.
const OPERATION: Duration = Duration::from_mins(15);

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// Nobody could sign in.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The client can't be made.
    #[error("make an HTTPS client: {0}")]
    Client(String),
    /// The token was not given out.
    #[error("sign in as {auth}: {why}")]
    SignIn {
        /// How.
        auth: &'static str,
        /// What was said.
        why: String,
    },
    /// It was refused, and trying again does not help or did not.
    #[error("{method} {resource}: {}", refused(answer))]
    Refused {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
        /// What was answered.
        answer: Refusal,
    },
    /// It was changed since it was read.
    #[error("{method} {resource}: it was changed since it was read")]
    Changed {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
    },
    /// No answer came: it may have been carried out.
    #[error("{method} {resource}: {why}; whether it was done is not known")]
    Unknown {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
        /// What went wrong.
        why: String,
    },
    /// No answer came, however often it was asked.
    #[error("{method} {resource}: {why}")]
    Unreachable {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
        /// What went wrong.
        why: String,
    },
    /// The operation was begun and failed.
    #[error("{method} {resource}: {}", refused(answer))]
    Failed {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
        /// How it ended.
        answer: Refusal,
    },
    /// The operation was begun and did not end in time.
    #[error("{method} {resource}: not done after {} s; it goes on", waited.as_secs())]
    Late {
        /// What was tried.
        method: Method,
        /// On what.
        resource: String,
        /// For how long it was followed.
        waited: Duration,
    },
    /// An answer makes no sense.
    #[error("{resource}: {why}")]
    Nonsense {
        /// What was asked for.
        resource: String,
        /// What is wrong with the answer.
        why: String,
    },
}

fn refused(answer: &Refusal) -> String {
    let mut text = answer
        .status
        .map_or_else(String::new, |status| format!("HTTP {status}"));
    for part in answer.codes.first().into_iter().chain([&answer.message]) {
        if !part.is_empty() {
            let colon = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{colon}{part}");
        }
    }
    text
}

/// A client of one cloud's Resource Manager.
#[derive(Debug)]
pub struct Arm {
    cloud: Cloud,
    base: Url,
    http: reqwest::Client,
    sign_in: SignIn,
    credential: Mutex<std::sync::Arc<dyn TokenCredential>>,
    budget: Mutex<Budget>,
    /// How long a long operation is followed.
    deadline: Duration,
}

/// A success.
struct Answer {
    status: u16,
    operation: Option<String>,
    location: Option<String>,
    retry_after: Option<Duration>,
    body: Value,
}

/// One request, as often as it is sent.
#[derive(Clone, Copy)]
struct Ask<'a> {
    method: &'a Method,
    url: &'a Url,
    body: Option<&'a Value>,
    etag: Option<&'a str>,
}

impl Arm {
    /// A client. `ca` is trusted beside the machine's own CAs.
    pub fn new(
        cloud: Cloud,
        auth: Auth,
        given: Credentials,
        ca: Option<&std::path::Path>,
    ) -> Result<Self, ArmError> {
        let http = transport::client(ca).map_err(ArmError::Client)?;
        let base = Url::parse(&cloud.resource_manager).map_err(|error| ArmError::Nonsense {
            resource: cloud.resource_manager.clone(),
            why: error.to_string(),
        })?;
        let sign_in = SignIn::new(auth, given, cloud.clone(), http.clone());
        let credential = Mutex::new(sign_in.make()?);
        Ok(Self {
            cloud,
            base,
            http,
            sign_in,
            credential,
            budget: Mutex::default(),
            deadline: OPERATION,
        })
    }

    /// Follows long operations for this long instead of 15 minutes.
    #[must_use]
    pub const fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// One resource.
    pub async fn get(&self, path: &str, api_version: &str) -> Result<Value, ArmError> {
        let url = self.url(path, api_version)?;
        Ok(self.send(Ask::get(&url)).await?.body)
    }

    /// A whole list, page after page (`nextLink`). An error on any page is the list's.
    pub async fn list(&self, path: &str, api_version: &str) -> Result<Vec<Value>, ArmError> {
        let mut url = self.url(path, api_version)?;
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let mut body = self.send(Ask::get(&url)).await?.body;
            let Some(Value::Array(page)) = body.get_mut("value").map(Value::take) else {
                return Err(nonsense(path, "found no list in the answer".to_owned()));
            };
            all.extend(page);
            match body.get("nextLink").and_then(Value::as_str) {
                None | Some("") => return Ok(all),
                Some(next) => url = self.same_origin(next)?,
            }
        }
        Err(nonsense(path, format!("found more than {PAGES} pages")))
    }

    /// Writes a whole resource, if it is still as `etag` says, and waits until it is done. `body` must
    /// hold every field that was read, known or not: what a PUT leaves out is deleted.
    pub async fn put(
        &self,
        path: &str,
        api_version: &str,
        body: &Value,
        etag: Option<&str>,
    ) -> Result<Value, ArmError> {
        let url = self.url(path, api_version)?;
        let method = Method::PUT;
        let ask = Ask {
            method: &method,
            url: &url,
            body: Some(body),
            etag,
        };
        let answer = self.send(ask).await?;
        self.follow(ask, &answer).await?;
        // What the answer shows is from before the end.
        self.get(path, api_version).await
    }

    /// Deletes a resource and waits until it is gone; one that is gone already is no error.
    pub async fn delete(&self, path: &str, api_version: &str) -> Result<(), ArmError> {
        let url = self.url(path, api_version)?;
        let method = Method::DELETE;
        let ask = Ask {
            method: &method,
            ..Ask::get(&url)
        };
        match self.send(ask).await {
            Ok(answer) => self.follow(ask, &answer).await.map(drop),
            Err(ArmError::Refused { answer, .. }) if answer.status == Some(404) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Asks for something that takes long, as effective routes do, and gives what comes out.
    pub async fn post(&self, path: &str, api_version: &str) -> Result<Value, ArmError> {
        let url = self.url(path, api_version)?;
        let method = Method::POST;
        let ask = Ask {
            method: &method,
            ..Ask::get(&url)
        };
        let answer = self.send(ask).await?;
        self.follow(ask, &answer)
            .await
            .map(|body| body.unwrap_or(answer.body))
    }

    fn url(&self, path: &str, api_version: &str) -> Result<Url, ArmError> {
        let mut url = self
            .base
            .join(path)
            .map_err(|error| nonsense(path, error.to_string()))?;
        url.query_pairs_mut()
            .append_pair("api-version", api_version);
        Ok(url)
    }

    /// A link from an answer. One that leads elsewhere is not followed: the token would go with it.
    fn same_origin(&self, link: &str) -> Result<Url, ArmError> {
        let url = Url::parse(link).map_err(|error| nonsense("a link", error.to_string()))?;
        if url.origin() == self.base.origin() {
            Ok(url)
        } else {
            let host = url.host_str().unwrap_or_default().to_owned();
            Err(nonsense(
                "a link",
                format!(
                    "found one to {host}, accepted: {}",
                    self.cloud.resource_manager
                ),
            ))
        }
    }

    /// Follows a long operation to its end; gives the last body that was seen at `Location`.
    async fn follow(&self, ask: Ask<'_>, first: &Answer) -> Result<Option<Value>, ArmError> {
        let (operation, location) = (first.operation.as_deref(), first.location.as_deref());
        let follow = operation::begin(first.status, operation, location, &first.body);
        let begun = Instant::now();
        let mut wait = first.retry_after.unwrap_or(operation::INTERVAL);
        loop {
            let url = match &follow {
                Follow::Done => return Ok(None),
                Follow::Status(url) | Follow::Location(url) => self.same_origin(url)?,
                Follow::Resource => ask.url.clone(),
            };
            let late = || ArmError::Late {
                method: ask.method.clone(),
                resource: ask.resource(),
                waited: begun.elapsed(),
            };
            let left = self.deadline.saturating_sub(begun.elapsed());
            if wait > left {
                return Err(late());
            }
            sleep(wait).await;
            // A look that is throttled, or not answered, is sent again: within the same deadline.
            let look = timeout(left.saturating_sub(wait), self.send(Ask::get(&url))).await;
            let seen = match look.map_err(|_| late())? {
                Ok(seen) => seen,
                Err(ArmError::Unreachable { why, .. }) => return Err(lost_sight(ask, why)),
                // Where a deleted resource or its operation was, there is nothing to look at.
                Err(ArmError::Refused { answer, .. })
                    if ask.method == Method::DELETE && answer.status == Some(404) =>
                {
                    return Ok(None);
                }
                // What is answered at `Location` is how it ended, unless the server is in trouble.
                Err(ArmError::Refused { answer, .. })
                    if !matches!(follow, Follow::Location(_)) || answer.is_trouble() =>
                {
                    return Err(lost_sight(ask, refused(&answer)));
                }
                Err(error) => return Err(error),
            };
            wait = seen.retry_after.unwrap_or(operation::INTERVAL);
            let progress = match &follow {
                Follow::Status(_) => operation::status(&seen.body),
                Follow::Location(_) => operation::location(seen.status),
                Follow::Done | Follow::Resource => operation::resource(&seen.body),
            };
            match progress {
                Progress::Running => {}
                Progress::Succeeded => return self.outcome(&follow, location, seen).await,
                Progress::Failed(answer) => {
                    return Err(ArmError::Failed {
                        method: ask.method.clone(),
                        resource: ask.resource(),
                        answer,
                    });
                }
            }
        }
    }

    /// What an operation leaves: at `Location`, if it has one.
    async fn outcome(
        &self,
        follow: &Follow,
        location: Option<&str>,
        seen: Answer,
    ) -> Result<Option<Value>, ArmError> {
        match (follow, location) {
            (Follow::Status(_), Some(location)) => {
                let url = self.same_origin(location)?;
                match self.send(Ask::get(&url)).await {
                    Ok(answer) => Ok(Some(answer.body)),
                    // A deleted resource has no outcome to show.
                    Err(ArmError::Refused { answer, .. }) if answer.status == Some(404) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(Some(seen.body)),
        }
    }

    /// Sends a request as often as it takes and helps.
    async fn send(&self, ask: Ask<'_>) -> Result<Answer, ArmError> {
        let (method, resource) = (ask.method.clone(), ask.resource());
        let reads = ask.method == Method::GET;
        let effect = if reads { Effect::Reads } else { Effect::Writes };
        let (mut attempt, mut renewed) = (0, false);
        loop {
            attempt += 1;
            let pause = self.budget.lock().await.pause(effect);
            if !pause.is_zero() {
                tracing::debug!(?pause, "the request budget is nearly used up");
                sleep(pause).await;
            }
            let (refusal, why) = match self.send_once(ask).await? {
                Ok(answer) => return Ok(answer),
                Err(no) => no,
            };
            let step = refusal.follow(effect, attempt, renewed);
            tracing::debug!(%method, %resource, status = ?refusal.status, ?step, "refused");
            match step {
                Step::Again(wait) => sleep(wait).await,
                Step::Renew => {
                    renewed = true;
                    *self.credential.lock().await = self.sign_in.make()?;
                }
                Step::Changed => return Err(ArmError::Changed { method, resource }),
                Step::Unknown => {
                    let why = why.unwrap_or_else(|| refused(&refusal));
                    return Err(ArmError::Unknown {
                        method,
                        resource,
                        why,
                    });
                }
                Step::GiveUp => {
                    return Err(match why {
                        Some(why) => ArmError::Unreachable {
                            method,
                            resource,
                            why,
                        },
                        None => ArmError::Refused {
                            method,
                            resource,
                            answer: refusal,
                        },
                    });
                }
            }
        }
    }

    /// Sends it once. A refusal comes with what went wrong if there was no answer.
    async fn send_once(
        &self,
        ask: Ask<'_>,
    ) -> Result<Result<Answer, (Refusal, Option<String>)>, ArmError> {
        let scope = self.cloud.scope();
        let credential = self.credential.lock().await.clone();
        let token = credential
            .get_token(&[&scope], None)
            .await
            .map_err(|error| ArmError::SignIn {
                auth: self.sign_in.name(),
                why: causes(&error),
            })?;
        let mut request = self
            .http
            .request(ask.method.clone(), ask.url.clone())
            .bearer_auth(token.token.secret());
        if let Some(etag) = ask.etag {
            request = request.header(reqwest::header::IF_MATCH, etag);
        }
        request = match ask.body {
            Some(body) => request.json(body),
            None if *ask.method == Method::POST => {
                request.header(reqwest::header::CONTENT_LENGTH, 0)
            }
            None => request,
        };
        let lost = |error: reqwest::Error| (Refusal::default(), Some(causes(&error.without_url())));
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(lost(error))),
        };
        let status = answer.status();
        let headers = answer.headers().clone();
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
        {
            let mut budget = self.budget.lock().await;
            for (name, value) in &headers {
                if let Ok(value) = value.to_str() {
                    budget.note(name.as_str(), value);
                }
            }
        }
        let now = jiff::Timestamp::now();
        let retry_after = text("retry-after").and_then(|text| retry_after(&text, now));
        let bytes = match answer.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(lost(error))),
        };
        if !status.is_success() {
            let refusal = Refusal::read(status.as_u16(), retry_after, &bytes);
            return Ok(Err((refusal, None)));
        }
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes)
                .map_err(|error| nonsense(&ask.resource(), error.to_string()))?
        };
        Ok(Ok(Answer {
            status: status.as_u16(),
            operation: text("azure-asyncoperation"),
            location: text("location"),
            retry_after,
            body,
        }))
    }
}

impl<'a> Ask<'a> {
    const fn get(url: &'a Url) -> Self {
        Self {
            method: &Method::GET,
            url,
            body: None,
            etag: None,
        }
    }

    /// What it is about, without the query: that may hold what is not for logs.
    fn resource(&self) -> String {
        self.url.path().to_owned()
    }
}

/// It was begun, and how it goes can't be seen.
fn lost_sight(ask: Ask<'_>, why: String) -> ArmError {
    ArmError::Unknown {
        method: ask.method.clone(),
        resource: ask.resource(),
        why,
    }
}

fn nonsense(resource: &str, why: String) -> ArmError {
    ArmError::Nonsense {
        resource: resource.to_owned(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_a_token_goes_to_no_other_host() {
        let given = Credentials {
            tenant_id: Some("t".to_owned()),
            client_id: Some("c".to_owned()),
            client_secret: Some("s".to_owned()),
            ..Credentials::default()
        };
        let arm = Arm::new(Cloud::public(), Auth::ServicePrincipal, given, None).unwrap();
        let own = "https://management.azure.com/subscriptions/s?$skiptoken=a%2Bb";
        assert_eq!(arm.same_origin(own).unwrap().as_str(), own);
        for link in [
            "https://management.azure.com.example.org/",
            "https://management.azure.com@example.org/",
            "https://example.org/management.azure.com",
            "http://management.azure.com/",
            "https://management.azure.com:8443/",
            "/subscriptions/s",
        ] {
            arm.same_origin(link).unwrap_err();
        }
    }
}
