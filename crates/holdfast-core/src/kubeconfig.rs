//! A kubeconfig as text: what its current cluster says, and the least change of it.
//!
//! A kubeconfig is edited where its two fields stand, never written anew: comments, order, unknown
//! fields and the form (YAML in blocks, YAML in braces, JSON) stay as they are. Each change is
//! checked by reading the result: it must differ in those two fields and in nothing else.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_saphyr::{Location, Options, Spanned};

mod edit;
#[cfg(test)]
mod tests;

/// Why a kubeconfig can't be used or changed. Says where, and never repeats what may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}; accepted: {accepted}")]
pub struct KubeconfigError {
    /// The field's path within the file, or the line.
    pub field: String,
    /// What was found there, in words.
    pub found: String,
    /// What is accepted there.
    pub accepted: &'static str,
}

/// The two fields by which a client finds and verifies its API servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// `server`.
    pub server: String,
    /// `tls-server-name`.
    pub tls_server_name: Option<String>,
}

/// Where the CA's certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// `certificate-authority-data`: PEM in base64.
    Data,
    /// `certificate-authority`: a PEM file, relative to the kubeconfig's folder.
    File(String),
    /// Neither: the system's own, or none at all.
    None,
}

/// One kubeconfig, in its current context.
#[derive(Clone, Debug)]
pub struct Kubeconfig<'t> {
    text: &'t str,
    /// The current context.
    pub context: String,
    /// That context's cluster.
    pub cluster: String,
    /// Who may have signed the server's certificate.
    pub authority: Authority,
    /// `insecure-skip-tls-verify`: the server is not verified at all.
    pub insecure: bool,
    /// `proxy-url`: the server is reached through another proxy.
    pub proxied: bool,
    place: usize,
    braces: bool,
    indentation: Range<usize>,
    server: Field,
    tls_server_name: Option<Field>,
}

/// A value, and the bytes of the text that it is written in.
#[derive(Clone, Debug)]
struct Field {
    value: String,
    span: Range<usize>,
}

/// `server`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// What follows, for servers that are reached below a path.
    pub path: String,
}

const SERVER: &str = "https://NAME:PORT or https://ADDRESS:PORT";
const FORM: &str = "a kubeconfig in YAML or JSON (kind: Config), one document";

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RawKubeconfig {
    #[serde(default)]
    clusters: Option<Vec<RawNamedCluster>>,
    #[serde(default)]
    contexts: Option<Vec<RawNamedContext>>,
    current_context: Option<String>,
}

#[derive(Deserialize)]
struct RawNamedCluster {
    name: String,
    cluster: Option<Spanned<RawCluster>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RawCluster {
    server: Option<Spanned<Option<String>>>,
    tls_server_name: Option<Spanned<Option<String>>>,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: Option<bool>,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct RawNamedContext {
    name: String,
    context: Option<RawContext>,
}

#[derive(Deserialize)]
struct RawContext {
    cluster: String,
}

impl<'t> Kubeconfig<'t> {
    /// Reads a kubeconfig.
    ///
    /// # Errors
    /// It is none, or what its current context needs is not there.
    pub fn parse(text: &'t str) -> Result<Self, KubeconfigError> {
        let raw: RawKubeconfig = read(text)?;
        let context = raw
            .current_context
            .filter(|name| !name.is_empty())
            .ok_or_else(|| wrong("current-context", "nothing", "the name of a context"))?;
        let cluster = raw
            .contexts
            .unwrap_or_default()
            .into_iter()
            .find(|named| named.name == context)
            .and_then(|named| named.context)
            .ok_or_else(|| {
                let found = format!("{context:?}, which is not in contexts");
                wrong("current-context", found, "the name of a context")
            })?
            .cluster;
        let (place, found) = raw
            .clusters
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .find(|(_, named)| named.name == cluster)
            .and_then(|(place, named)| Some((place, named.cluster?)))
            .ok_or_else(|| {
                wrong(
                    format!("contexts[{context}].context.cluster"),
                    format!("{cluster:?}, which is not in clusters"),
                    "the name of a cluster",
                )
            })?;
        let start = bytes(&found.referenced).map_or(0, |span| span.start);
        let line = text.get(..start).and_then(|before| before.rfind('\n'));
        let raw = found.value;
        let at = |field: &str| format!("clusters[{cluster}].cluster.{field}");
        let server = field(raw.server).ok_or_else(|| wrong(at("server"), "nothing", SERVER))?;
        Server::parse(&server.value).map_err(|found| wrong(at("server"), found, SERVER))?;
        Ok(Self {
            text,
            authority: match (raw.certificate_authority_data, raw.certificate_authority) {
                (Some(data), _) if !data.is_empty() => Authority::Data,
                (_, Some(file)) if !file.is_empty() => Authority::File(file),
                _ => Authority::None,
            },
            insecure: raw.insecure_skip_tls_verify.unwrap_or(false),
            proxied: raw.proxy_url.is_some_and(|url| !url.is_empty()),
            place,
            braces: text.get(start..).is_some_and(|rest| rest.starts_with('{')),
            indentation: line.map_or(0, |at| at + 1)..start,
            server,
            tls_server_name: field(raw.tls_server_name),
            context,
            cluster,
        })
    }

    /// Where clients are sent now.
    pub fn target(&self) -> Target {
        Target {
            server: self.server.value.clone(),
            tls_server_name: self.tls_server_name.as_ref().map(|name| name.value.clone()),
        }
    }

    /// `server`, taken apart.
    pub fn server(&self) -> Server {
        // It was read before.
        Server::parse(&self.server.value).unwrap_or(Server {
            host: String::new(),
            port: 0,
            path: String::new(),
        })
    }

    /// The name that the server's certificate must be for: `tls-server-name`, else the server's host.
    pub fn expected_name(&self) -> String {
        self.tls_server_name
            .as_ref()
            .filter(|name| !name.value.is_empty())
            .map_or_else(|| self.server().host, |name| name.value.clone())
    }

    /// Whether clients are sent to `listener`.
    pub fn goes_to(&self, listener: SocketAddr) -> bool {
        let server = self.server();
        server.port == listener.port()
            && server
                .host
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip.to_canonical() == listener.ip())
    }

    /// What sends clients through `listener`, while they still expect the same server there.
    pub fn through(&self, listener: SocketAddr) -> Target {
        Target {
            server: format!("https://{listener}{}", self.server().path),
            tls_server_name: Some(self.expected_name()),
        }
    }

    /// The text with these two fields, and nothing else changed.
    ///
    /// # Errors
    /// The fields are written in a way that can't be changed without changing something else.
    pub fn with(&self, target: &Target) -> Result<String, KubeconfigError> {
        edit::edited(self, target)
    }
}

impl Server {
    /// Takes `server` apart; without a port it is HTTPS's own, as for client-go.
    fn parse(written: &str) -> Result<Self, String> {
        // It may hold a password, or be one that stands in the wrong place.
        let shown = written.starts_with("http") && !written.contains('@');
        let bad = |what: &str| {
            let written = if shown {
                format!("{written:?}, ")
            } else {
                String::new()
            };
            Err(format!("{written}{what}"))
        };
        let rest = match written.split_once("://") {
            Some(("https", rest)) => rest,
            Some((scheme, _)) => return bad(&format!("scheme {scheme:.8}")),
            None => return bad("what has no scheme"),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains(['@', '?', '#']) || path.contains(['?', '#']) {
            return bad("what has more than a host, a port and a path");
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => match port.parse() {
                Ok(port) if port > 0 => (host, port),
                _ => return bad("a port that is not a number from 1 to 65535"),
            },
            _ => (authority, HTTPS),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return bad("no host");
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            path: path.trim_end_matches('/').to_owned(),
        })
    }
}

/// RFC 9110, section 4.2.2.
const HTTPS: u16 = 443;

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, KubeconfigError> {
    let options: Options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        // What the reader says may hold what stands in the file.
        let place = error.location();
        let field = place.map_or_else(
            || "the file".to_owned(),
            |at| format!("line {}, column {}", at.line(), at.column()),
        );
        let found = if error.to_string().contains("multiple YAML documents") {
            "a second document"
        } else {
            "what does not fit"
        };
        wrong(field, found, FORM)
    })
}

fn field(raw: Option<Spanned<Option<String>>>) -> Option<Field> {
    let raw = raw?;
    let span = bytes(&raw.referenced)?;
    Some(Field {
        value: raw.value?,
        span,
    })
}

fn bytes(at: &Location) -> Option<Range<usize>> {
    let span = at.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    Some(start..start + length)
}

fn wrong(
    field: impl Into<String>,
    found: impl Into<String>,
    accepted: &'static str,
) -> KubeconfigError {
    KubeconfigError {
        field: field.into(),
        found: found.into(),
        accepted,
    }
}
