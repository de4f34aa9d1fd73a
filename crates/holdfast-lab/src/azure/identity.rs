//! Who may ask: tokens for client credentials, for federated ones and for managed identities.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::wire::{Answer, Refusal, Request, parameter};

/// How long a token says that it lives, in seconds.
const LIFETIME: u32 = 3599;

/// What clients have to show.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The secret of client credentials; any unless given.
    pub client_secret: Option<String>,
    /// A token that is always good, beside those that are given out.
    pub token: Option<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

/// Gives tokens out and knows them again.
#[derive(Debug)]
pub(super) struct Identity {
    secrets: Secrets,
    given: u64,
    /// Tokens up to this number have expired.
    expired: u64,
}

impl Identity {
    pub(super) const fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            given: 0,
            expired: 0,
        }
    }

    /// Lets every token that was given out expire.
    pub(super) const fn expire(&mut self) {
        self.expired = self.given;
    }

    /// Answers what is no request to ARM but to a token endpoint.
    pub(super) fn answer(&mut self, request: &Request) -> Option<Answer> {
        let words: Vec<&str> = request.path.split('/').skip(1).collect();
        match words.as_slice() {
            ["metadata", "identity", "oauth2", "token"] => Some(self.managed(request)),
            [_, "oauth2", "v2.0", "token"] if request.method == Method::POST => {
                Some(self.credentials(request))
            }
            [tenant, "v2.0", ".well-known", "openid-configuration"] => Some(Answer::json(
                StatusCode::OK,
                discovery(&request.base, tenant),
            )),
            [_, "discovery", "instance"] => Some(Answer::json(
                StatusCode::OK,
                json!({"tenant_discovery_endpoint":
                    format!("{}/common/v2.0/.well-known/openid-configuration", request.base),
                    "api-version": "1.1", "metadata": []}),
            )),
            _ => None,
        }
    }

    fn credentials(&mut self, request: &Request) -> Answer {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let given = |name: &str| parameter(&form, name).filter(|it| !it.is_empty());
        if given("grant_type").as_deref() != Some("client_credentials") {
            return denied(
                "unsupported_grant_type",
                "AADSTS70003: accepted: client_credentials",
            );
        }
        if given("scope").is_none() {
            return denied(
                "invalid_request",
                "AADSTS900144: the body must contain 'scope'",
            );
        }
        let secret = given("client_secret").or_else(|| given("client_assertion"));
        let wanted = self.secrets.client_secret.as_ref();
        let fits = secret.is_some_and(|it| {
            wanted.is_none_or(|wanted| *wanted == it) || given("client_assertion").is_some()
        });
        if !fits {
            return denied(
                "invalid_client",
                "AADSTS7000215: invalid client secret provided",
            );
        }
        let token = self.token();
        Answer::json(
            StatusCode::OK,
            json!({"token_type": "Bearer", "expires_in": LIFETIME, "ext_expires_in": LIFETIME,
                "access_token": token}),
        )
    }

    /// The Instance Metadata Service refuses who doesn't say that he means it.
    fn managed(&mut self, request: &Request) -> Answer {
        let bad = |what: &str| {
            Answer::json(
                StatusCode::BAD_REQUEST,
                json!({"error": "invalid_request", "error_description": what}),
            )
        };
        if !request
            .header("metadata")
            .is_some_and(|it| it.eq_ignore_ascii_case("true"))
        {
            return bad("Required metadata header not specified");
        }
        let Some(resource) = request.parameter("resource") else {
            return bad("Required query variable 'resource' is missing");
        };
        let token = self.token();
        let expires = "4102444800";
        Answer::json(
            StatusCode::OK,
            json!({"access_token": token, "client_id": "lab", "expires_in": LIFETIME.to_string(),
                "expires_on": expires, "not_before": "0", "resource": resource, "token_type": "Bearer"}),
        )
    }

    fn token(&mut self) -> String {
        self.given += 1;
        format!("lab-token-{}", self.given)
    }

    /// Whether a request may be asked.
    pub(super) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let Some(token) = request
            .header("authorization")
            .and_then(|it| it.strip_prefix("Bearer "))
        else {
            return Err(unauthorized(
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.",
            ));
        };
        if self.secrets.token.as_deref() == Some(token) {
            return Ok(());
        }
        let number = token
            .strip_prefix("lab-token-")
            .and_then(|it| it.parse::<u64>().ok());
        match number {
            Some(number) if number > self.expired && number <= self.given => Ok(()),
            Some(number) if number <= self.expired => Err(unauthorized(
                "ExpiredAuthenticationToken",
                "The access token expiry is in the past.",
            )),
            _ => Err(unauthorized(
                "InvalidAuthenticationToken",
                "The access token is invalid.",
            )),
        }
    }
}

fn unauthorized(code: &str, message: &str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, code, message)
}

fn denied(error: &str, description: &str) -> Answer {
    Answer::json(
        StatusCode::UNAUTHORIZED,
        json!({"error": error, "error_description": description}),
    )
}

fn discovery(base: &str, tenant: &str) -> Value {
    json!({
        "issuer": format!("{base}/{tenant}/v2.0"),
        "authorization_endpoint": format!("{base}/{tenant}/oauth2/v2.0/authorize"),
        "token_endpoint": format!("{base}/{tenant}/oauth2/v2.0/token"),
        "device_authorization_endpoint": format!("{base}/{tenant}/oauth2/v2.0/devicecode"),
        "jwks_uri": format!("{base}/{tenant}/discovery/v2.0/keys"),
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    })
}
