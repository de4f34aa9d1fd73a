//! TLS towards API servers: verified against the cluster's CA and the expected name, nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

#[cfg(test)]
mod tests;

/// A CA file or name that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file could not be read.
    #[error("read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// The file holds no usable CA certificate.
    #[error(
        "ca: found {found} in {path}; accepted: PEM certificates of the cluster's CA \
         (-----BEGIN CERTIFICATE-----)"
    )]
    NoCa {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// The expected name is neither a DNS name nor an address.
    #[error("serverName: found {0:?}; accepted: a DNS name or an address")]
    BadName(String),
    /// The TLS library can't be set up.
    #[error("set up TLS: {0}")]
    Setup(rustls::Error),
}

/// The expected identity of API servers; the CA file is read again when it changes, since clusters
/// rotate their CA under running nodes.
pub(crate) struct Identity {
    path: PathBuf,
    name: ServerName<'static>,
    current: Mutex<(Option<SystemTime>, TlsConnector)>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("path", &self.path)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Identity {
    pub(crate) fn load(path: &Path, name: &str) -> Result<Self, TlsError> {
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| TlsError::BadName(name.to_owned()))?;
        let written = modified(path);
        let connector = connector(path)?;
        Ok(Self {
            path: path.to_owned(),
            name,
            current: Mutex::new((written, connector)),
        })
    }

    pub(crate) fn name(&self) -> ServerName<'static> {
        self.name.clone()
    }

    /// The same as text, for a Host header (RFC 9110, section 7.2).
    pub(crate) fn host(&self) -> String {
        let name = self.name.to_str();
        if name.contains(':') {
            format!("[{name}]")
        } else {
            name.into_owned()
        }
    }

    /// A connector with the CA as it is now. A file that has become unusable changes nothing.
    pub(crate) fn connector(&self) -> TlsConnector {
        let written = modified(&self.path);
        let mut current = self.current.lock();
        if current.0 != written {
            match connector(&self.path) {
                Ok(fresh) => {
                    tracing::info!(path = %self.path.display(), "CA file read again");
                    *current = (written, fresh);
                }
                Err(error) => {
                    tracing::warn!(%error, "CA file changed and can't be used, the old one stays");
                    current.0 = written;
                }
            }
        }
        current.1.clone()
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|m| m.modified()).ok()
}

fn connector(path: &Path) -> Result<TlsConnector, TlsError> {
    let bytes = fs::read(path).map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let no_ca = |found: String| TlsError::NoCa {
        path: path.to_owned(),
        found,
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|e| no_ca(format!("broken PEM ({e})")))?;
        if !is_ca(&certificate) {
            return Err(no_ca("a certificate that is no CA's".to_owned()));
        }
        roots
            .add(certificate)
            .map_err(|e| no_ca(format!("a broken certificate ({e})")))?;
    }
    if roots.is_empty() {
        return Err(no_ca("no certificate".to_owned()));
    }
    let mut config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_root_certificates(roots)
            .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The extension basicConstraints (RFC 5280, section 4.2.1.9) as DER: its object identifier
/// 2.5.29.19, and the flag for a critical one.
const BASIC_CONSTRAINTS: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x13];
const TRUE: [u8; 3] = [0x01, 0x01, 0xff];

/// Whether a certificate may sign others. The TLS library takes any certificate as a trust anchor;
/// a server's own one in place of the CA's would then fail at every API server but that one.
fn is_ca(certificate: &[u8]) -> bool {
    let constraints = certificate
        .windows(BASIC_CONSTRAINTS.len())
        .position(|bytes| bytes == BASIC_CONSTRAINTS)
        .and_then(|at| certificate.get(at + BASIC_CONSTRAINTS.len()..));
    let Some(constraints) = constraints else {
        return false;
    };
    let value = constraints.strip_prefix(&TRUE).unwrap_or(constraints);
    // An octet string with a sequence that begins with `cA`; each header has two bytes.
    value
        .get(4..)
        .is_some_and(|fields| fields.starts_with(&TRUE))
}

/// What a failed handshake says about the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeError {
    /// Whoever answers is not the expected API server, in words.
    Stranger(String),
    /// The connection ended before it was done.
    Ended,
}

/// Sorts an error of a handshake. What does not speak TLS is a stranger too.
pub(crate) fn handshake_error(error: &io::Error) -> HandshakeError {
    match error
        .get_ref()
        .and_then(|e| e.downcast_ref::<rustls::Error>())
    {
        // An alert is the server's own trouble with the handshake, and says nothing of who it is.
        None | Some(rustls::Error::AlertReceived(_)) => HandshakeError::Ended,
        Some(tls) => HandshakeError::Stranger(tls.to_string()),
    }
}
