//! Reads a kubeconfig and everything that it names, and says what is wrong with it.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::HeaderValue;
use kube::config::{AuthInfo, Cluster, Kubeconfig};
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use secrecy::ExposeSecret as _;

use super::material::{self, Identity, Stamp};
use super::plugin::Plugin;

/// Why a kubeconfig can't be used. Never holds a secret: what stands in a file is described, not
/// repeated.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// The kubeconfig could not be read.
    #[error("read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// It is no kubeconfig.
    #[error("{path}: found {found}; accepted: a kubeconfig in YAML or JSON (kind: Config)")]
    NotYaml {
        /// The file.
        path: PathBuf,
        /// What was found where.
        found: String,
    },
    /// One field is wrong.
    #[error("{path}: {field}: found {found}; accepted: {accepted}")]
    Field {
        /// The file.
        path: PathBuf,
        /// The field's path within the file.
        field: String,
        /// What was found there, in words.
        found: String,
        /// What is accepted there.
        accepted: &'static str,
    },
}

/// A kubeconfig that can be used, with the contents of the files that it names.
pub(super) struct Access {
    /// The file itself.
    pub(super) path: PathBuf,
    /// The server's host, without brackets.
    pub(super) host: String,
    /// The server's port.
    pub(super) port: u16,
    /// What stands between the host and a request's own path: empty for most servers.
    pub(super) prefix: String,
    /// The name that the server's certificate must be for.
    pub(super) server_name: ServerName<'static>,
    /// The context's namespace.
    pub(super) namespace: String,
    /// Who may have signed the server's certificate.
    pub(super) roots: RootCertStore,
    /// The client certificate.
    pub(super) identity: Option<Identity>,
    /// `Authorization`, marked as sensitive.
    pub(super) authorization: Option<HeaderValue>,
    /// The credential plug-in.
    pub(super) plugin: Option<Plugin>,
    /// The files that all this was read from, as they were then.
    pub(super) files: Vec<Stamp>,
}

const SERVER: &str = "https://NAME:PORT or https://ADDRESS:PORT";
const CA: &str = "certificate-authority-data (base64 of PEM) or certificate-authority (a PEM file): \
    the certificates of the cluster's CA";
const CREDENTIAL: &str =
    "client-certificate(-data) with client-key(-data), token, tokenFile, or exec";
const PEM_CERTIFICATE: &str = "PEM, for example -----BEGIN CERTIFICATE-----";
const PEM_KEY: &str = "a private key as PEM, for example -----BEGIN PRIVATE KEY-----";

impl Access {
    /// Reads the kubeconfig at `path`, in its current context.
    pub(super) fn read(path: &Path) -> Result<Self, KubeconfigError> {
        let mut files = vec![Stamp::of(path)];
        let raw = parse(path)?;
        let at = Place { path };
        let context_name = raw
            .current_context
            .clone()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| at.wrong("current-context", "nothing", "the name of a context"))?;
        let context = raw
            .contexts
            .iter()
            .find(|named| named.name == context_name)
            .and_then(|named| named.context.clone())
            .ok_or_else(|| {
                let found = format!("{context_name:?}, which is not in contexts");
                at.wrong("current-context", found, "the name of a context")
            })?;
        let cluster = raw
            .clusters
            .iter()
            .find(|named| named.name == context.cluster)
            .and_then(|named| named.cluster.clone())
            .ok_or_else(|| {
                at.wrong(
                    format!("contexts[{context_name}].context.cluster"),
                    format!("{:?}, which is not in clusters", context.cluster),
                    "the name of a cluster",
                )
            })?;
        let user_name = context.user.clone().unwrap_or_default();
        let user = raw
            .auth_infos
            .iter()
            .find(|named| named.name == user_name)
            .and_then(|named| named.auth_info.clone())
            .ok_or_else(|| {
                at.wrong(
                    format!("contexts[{context_name}].context.user"),
                    format!("{user_name:?}, which is not in users"),
                    "the name of a user",
                )
            })?;

        let at_cluster = at.within(format!("clusters[{}].cluster", context.cluster));
        let at_user = at.within(format!("users[{user_name}].user"));
        at_cluster.refuse_what_is_not_supported(&cluster)?;
        at_user.refuse_other_credentials(&user)?;
        let (host, port, prefix) = at_cluster.server(&cluster)?;
        let server_name = at_cluster.server_name(&cluster, &host)?;
        let (roots, authority) = at_cluster.roots(&cluster, &mut files)?;
        let identity = at_user.identity(&user, &mut files)?;
        let authorization = at_user.authorization(&user, &mut files)?;
        let plugin = match user.exec {
            Some(exec) => Some(at_user.plugin(exec, &cluster, &authority)?),
            None => None,
        };
        if identity.is_none() && authorization.is_none() && plugin.is_none() {
            return Err(at_user.all_wrong("no credential", CREDENTIAL));
        }
        Ok(Self {
            path: path.to_owned(),
            host,
            port,
            prefix,
            server_name,
            namespace: context.namespace.unwrap_or_else(|| "default".to_owned()),
            roots,
            identity,
            authorization,
            plugin,
            files,
        })
    }

    /// Whether a file has changed since it was read.
    pub(super) fn is_outdated(&self) -> bool {
        self.files.iter().any(Stamp::is_outdated)
    }
}

/// The file's YAML. The YAML reader shows the lines around an error, and a kubeconfig's lines are
/// secrets: only the place is told.
fn parse(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    use kube::config::KubeconfigError as Kube;
    Kubeconfig::read_from(path).map_err(|error| {
        let found = match error {
            Kube::ReadConfig(source, path) => return KubeconfigError::Unreadable { path, source },
            Kube::Parse(error) => error.location().map(|at| {
                let (line, column) = (at.line(), at.column());
                format!("something else at line {line}, column {column}")
            }),
            Kube::KindMismatch | Kube::ApiVersionMismatch => {
                Some("documents of different kinds".to_owned())
            }
            Kube::CurrentContextNotSet
            | Kube::LoadContext(_)
            | Kube::LoadClusterOfContext(_)
            | Kube::FindPath
            | Kube::MissingClusterUrl
            | Kube::ParseClusterUrl(_)
            | Kube::ParseProxyUrl(_)
            | Kube::LoadCertificateAuthority(_)
            | Kube::LoadClientCertificate(_)
            | Kube::LoadClientKey(_)
            | Kube::ParseCertificates(_) => None,
        };
        KubeconfigError::NotYaml {
            path: path.to_owned(),
            found: found.unwrap_or_else(|| "something else".to_owned()),
        }
    })
}

/// A place in the file.
struct Place<'a> {
    path: &'a Path,
}

impl<'a> Place<'a> {
    fn within(&self, field: String) -> Part<'a> {
        Part {
            path: self.path,
            field,
        }
    }

    fn wrong(
        &self,
        field: impl Into<String>,
        found: impl Into<String>,
        accepted: &'static str,
    ) -> KubeconfigError {
        KubeconfigError::Field {
            path: self.path.to_owned(),
            field: field.into(),
            found: found.into(),
            accepted,
        }
    }
}

/// One cluster or user of the file.
pub(super) struct Part<'a> {
    path: &'a Path,
    field: String,
}

impl Part<'_> {
    pub(super) fn wrong(
        &self,
        field: &str,
        found: impl Into<String>,
        accepted: &'static str,
    ) -> KubeconfigError {
        let field = format!("{}.{field}", self.field);
        Place { path: self.path }.wrong(field, found, accepted)
    }

    pub(super) fn file(&self) -> &Path {
        self.path
    }

    fn all_wrong(&self, found: &str, accepted: &'static str) -> KubeconfigError {
        Place { path: self.path }.wrong(self.field.clone(), found, accepted)
    }

    fn refuse_what_is_not_supported(&self, cluster: &Cluster) -> Result<(), KubeconfigError> {
        if cluster.insecure_skip_tls_verify == Some(true) {
            return Err(self.wrong(
                "insecure-skip-tls-verify",
                "true",
                "false: servers are verified against the cluster's CA",
            ));
        }
        if cluster
            .proxy_url
            .as_deref()
            .is_some_and(|url| !url.is_empty())
        {
            // Its text may hold a password.
            return Err(self.wrong(
                "proxy-url",
                "an address",
                "nothing: API servers are dialled directly",
            ));
        }
        Ok(())
    }

    fn refuse_other_credentials(&self, user: &AuthInfo) -> Result<(), KubeconfigError> {
        let given = [
            ("auth-provider", user.auth_provider.is_some()),
            ("username", user.username.is_some()),
            ("password", user.password.is_some()),
            ("as", user.impersonate.is_some()),
            ("as-uid", user.impersonate_uid.is_some()),
            ("as-groups", user.impersonate_groups.is_some()),
            ("as-user-extra", user.impersonate_user_extra.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((field, _)) => Err(self.wrong(field, "a value", CREDENTIAL)),
            None => Ok(()),
        }
    }

    fn server(&self, cluster: &Cluster) -> Result<(String, u16, String), KubeconfigError> {
        let Some(written) = cluster.server.as_deref() else {
            return Err(self.wrong("server", "nothing", SERVER));
        };
        // A user and a password may stand in it.
        let shown = if written.contains('@') {
            "an address with a user".to_owned()
        } else {
            format!("{written:?}")
        };
        let wrong = || self.wrong("server", shown.clone(), SERVER);
        let uri: http::Uri = written.parse().map_err(|_| wrong())?;
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(wrong)?;
        if uri.scheme_str() != Some("https") || uri.query().is_some() || written.contains('@') {
            return Err(wrong());
        }
        // RFC 3986, section 3.2.2: an IPv6 address stands in brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Ok((
            host.to_owned(),
            uri.port_u16().unwrap_or(443),
            uri.path().trim_end_matches('/').to_owned(),
        ))
    }

    fn server_name(
        &self,
        cluster: &Cluster,
        host: &str,
    ) -> Result<ServerName<'static>, KubeconfigError> {
        let given = cluster
            .tls_server_name
            .as_deref()
            .filter(|name| !name.is_empty());
        let (field, name) = given.map_or(("server", host), |name| ("tls-server-name", name));
        ServerName::try_from(name.to_owned())
            .map_err(|_| self.wrong(field, format!("{name:?}"), "a DNS name or an address"))
    }

    /// The CA's certificates, and their PEM for a plug-in.
    fn roots(
        &self,
        cluster: &Cluster,
        files: &mut Vec<Stamp>,
    ) -> Result<(RootCertStore, Vec<u8>), KubeconfigError> {
        let data = cluster.certificate_authority_data.as_deref();
        let file = cluster.certificate_authority.as_deref();
        let field = "certificate-authority";
        let pem = self.pem(field, data, file, CA, files)?;
        let pem = pem.ok_or_else(|| self.wrong(field, "nothing", CA))?;
        let roots =
            material::roots(&pem.bytes).map_err(|found| self.wrong(&pem.field, found, CA))?;
        Ok((roots, pem.bytes))
    }

    fn identity(
        &self,
        user: &AuthInfo,
        files: &mut Vec<Stamp>,
    ) -> Result<Option<Identity>, KubeconfigError> {
        let certificate = self.pem(
            "client-certificate",
            user.client_certificate_data.as_deref(),
            user.client_certificate.as_deref(),
            PEM_CERTIFICATE,
            files,
        )?;
        let key_data = user
            .client_key_data
            .as_ref()
            .map(secrecy::ExposeSecret::expose_secret);
        let key = self.pem(
            "client-key",
            key_data,
            user.client_key.as_deref(),
            PEM_KEY,
            files,
        )?;
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.wrong(
                "client-key",
                "nothing beside client-certificate",
                "client-key-data or client-key",
            )),
            (None, Some(_)) => Err(self.wrong(
                "client-certificate",
                "nothing beside client-key",
                "client-certificate-data or client-certificate",
            )),
            (Some(certificate), Some(key)) => {
                let chain = material::chain(&certificate.bytes)
                    .map_err(|found| self.wrong(&certificate.field, found, PEM_CERTIFICATE))?;
                let secret = material::key(&key.bytes)
                    .map_err(|found| self.wrong(&key.field, found, PEM_KEY))?;
                let identity = Identity::new(chain, secret).map_err(|found| {
                    self.wrong(
                        &key.field,
                        found,
                        "the private key of the client certificate",
                    )
                })?;
                Ok(Some(identity))
            }
        }
    }

    /// A file comes before a token that is written down: files are rotated (client-go
    /// `rest.Config.BearerTokenFile`).
    fn authorization(
        &self,
        user: &AuthInfo,
        files: &mut Vec<Stamp>,
    ) -> Result<Option<HeaderValue>, KubeconfigError> {
        let accepted = "a bearer token on one line";
        let (field, token) = if let Some(file) = user.token_file.as_deref() {
            let bytes = self.bytes_of("tokenFile", file, "a file with a bearer token", files)?;
            let text = String::from_utf8(bytes).map_err(|_| {
                self.wrong(
                    "tokenFile",
                    format!("{file} with bytes that are no text"),
                    accepted,
                )
            })?;
            ("tokenFile", text)
        } else if let Some(token) = &user.token {
            ("token", token.expose_secret().to_owned())
        } else {
            return Ok(None);
        };
        let header =
            material::bearer(&token).map_err(|found| self.wrong(field, found, accepted))?;
        Ok(Some(header))
    }

    /// PEM from a `-data` field or from a file; the field wins (client-go `clientcmd`).
    fn pem(
        &self,
        field: &str,
        data: Option<&str>,
        file: Option<&str>,
        accepted: &'static str,
        files: &mut Vec<Stamp>,
    ) -> Result<Option<Pem>, KubeconfigError> {
        let given = |text: &&str| !text.is_empty();
        if let Some(data) = data.filter(given) {
            let field = format!("{field}-data");
            let bytes = BASE64
                .decode(data.split_ascii_whitespace().collect::<String>())
                .map_err(|_| self.wrong(&field, "text that is not base64", accepted))?;
            return Ok(Some(Pem { field, bytes }));
        }
        let Some(file) = file.filter(given) else {
            return Ok(None);
        };
        let bytes = self.bytes_of(field, file, accepted, files)?;
        let field = field.to_owned();
        Ok(Some(Pem { field, bytes }))
    }

    fn bytes_of(
        &self,
        field: &str,
        file: &str,
        accepted: &'static str,
        files: &mut Vec<Stamp>,
    ) -> Result<Vec<u8>, KubeconfigError> {
        files.push(Stamp::of(Path::new(file)));
        std::fs::read(file).map_err(|error| {
            self.wrong(
                field,
                format!("{file}, which can't be read ({error})"),
                accepted,
            )
        })
    }
}

/// PEM, and the field that it came from.
struct Pem {
    field: String,
    bytes: Vec<u8>,
}
