//! How requests leave: one HTTPS client with time limits and no redirects, also for `azure_identity`.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use azure_core::Bytes;
use azure_core::error::{Error, ErrorKind};
use azure_core::http::headers::{HeaderName, HeaderValue, Headers};
use azure_core::http::{AsyncRawResponse, HttpClient, Request};

/// Time for a TCP and TLS connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Time for a whole request: Resource Manager answers or refuses within a minute.
const WHOLE: Duration = Duration::from_mins(1);

/// Where managed identities are asked for tokens.
const METADATA: &str = "169.254.169.254";

/// The client. A CA that is given is trusted beside the machine's own.
pub(super) fn client(ca: Option<&Path>) -> Result<reqwest::Client, String> {
    // Whoever chose one before chose the same: there is one in the whole program.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .timeout(WHOLE)
        // A token goes nowhere but to whom it was meant for.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("holdfast/", env!("CARGO_PKG_VERSION")));
    if let Some(path) = ca {
        let told = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let pem = std::fs::read(path).map_err(|error| told(&error))?;
        let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| told(&error))?;
        if found.is_empty() {
            return Err(told(
                &"found no certificate, accepted: CA certificates in PEM",
            ));
        }
        builder = builder.tls_certs_merge(found);
    }
    builder.build().map_err(|error| causes(&error))
}

/// An error with all that is behind it, without its URL: queries may hold what is not for logs.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        text = format!("{text}: {next}");
        source = next.source();
    }
    text
}

/// The client as `azure_identity` wants it.
#[derive(Debug)]
pub(super) struct Transport {
    client: reqwest::Client,
    /// Who answers in place of the metadata address, `http://HOST:PORT`.
    metadata: Option<reqwest::Url>,
}

impl Transport {
    pub(super) const fn new(client: reqwest::Client, metadata: Option<reqwest::Url>) -> Self {
        Self { client, metadata }
    }

    async fn send(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        let mut url = request.url().clone();
        if let Some(metadata) = &self.metadata
            && url.host_str() == Some(METADATA)
        {
            let mut there = metadata.clone();
            there.set_path(url.path());
            there.set_query(url.query());
            url = there;
        }
        let method = request.method().as_str().to_ascii_uppercase();
        let method = reqwest::Method::from_bytes(method.as_bytes())
            .map_err(|error| Error::new(ErrorKind::Other, error))?;
        let mut builder = self.client.request(method, url);
        for (name, value) in request.headers().iter() {
            builder = builder.header(name.as_str(), value.as_str());
        }
        builder = builder.body(Bytes::from(request.body()));
        let failed = |error: reqwest::Error| {
            Error::with_message(ErrorKind::Io, causes(&error.without_url()))
        };
        let answer = builder.send().await.map_err(failed)?;
        let status = answer.status().as_u16();
        let mut headers = Headers::new();
        for (name, value) in answer.headers() {
            if let Ok(value) = value.to_str() {
                let name = HeaderName::from(name.as_str().to_owned());
                headers.insert(name, HeaderValue::from(value.to_owned()));
            }
        }
        let body = answer.bytes().await.map_err(failed)?;
        Ok(AsyncRawResponse::from_bytes(status.into(), headers, body))
    }
}

impl HttpClient for Transport {
    fn execute_request<'life, 'request, 'out>(
        &'life self,
        request: &'request Request,
    ) -> Pin<Box<dyn Future<Output = azure_core::Result<AsyncRawResponse>> + Send + 'out>>
    where
        'life: 'out,
        'request: 'out,
        Self: 'out,
    {
        Box::pin(self.send(request))
    }
}
