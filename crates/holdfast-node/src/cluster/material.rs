//! Certificates, keys and tokens as the TLS and HTTP libraries want them. Errors are descriptions:
//! they never repeat what they describe.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use http::HeaderValue;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore};

/// A file as it was when it was read. A file that is replaced by renaming has another time or length.
pub(super) struct Stamp {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
}

impl Stamp {
    /// Taken before the file is read, so that a change in between is seen later.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            seen: look(path),
        }
    }

    pub(super) fn is_outdated(&self) -> bool {
        look(&self.path) != self.seen
    }
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// A client certificate with its key.
#[derive(Clone)]
pub(super) struct Identity(Arc<CertifiedKey>);

impl Identity {
    pub(super) fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, &'static str> {
        CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider())
            .map(|pair| Self(Arc::new(pair)))
            .map_err(|error| {
                if matches!(error, rustls::Error::InconsistentKeys(_)) {
                    "the key of another certificate"
                } else {
                    "a key of a kind that TLS can't use"
                }
            })
    }
}

pub(super) fn roots(pem: &[u8]) -> Result<RootCertStore, &'static str> {
    let mut roots = RootCertStore::empty();
    for certificate in chain(pem)? {
        roots.add(certificate).map_err(|_| "a broken certificate")?;
    }
    Ok(roots)
}

pub(super) fn chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err("no certificate"),
        Ok(chain) => Ok(chain),
        Err(_) => Err("broken PEM"),
    }
}

pub(super) fn key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, &'static str> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| {
        if matches!(error, rustls::pki_types::pem::Error::NoItemsFound) {
            "no private key"
        } else {
            "broken PEM"
        }
    })
}

/// `Authorization` with a bearer token (RFC 6750, section 2.1), hidden from whoever prints headers.
/// Files end with a newline that is no part of the token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, &'static str> {
    let token = token.trim();
    if token.is_empty() {
        return Err("an empty token");
    }
    if token.contains(char::is_whitespace) {
        return Err("more than one word");
    }
    let mut header = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "characters that a header can't hold")?;
    header.set_sensitive(true);
    Ok(header)
}

/// TLS towards the cluster: its CA, and the client's certificate where there is one.
pub(super) fn tls(
    roots: RootCertStore,
    identity: Option<Identity>,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = match identity {
        Some(Identity(pair)) => {
            let resolver = rustls::sign::SingleCertAndKey::from(pair);
            builder.with_client_cert_resolver(Arc::new(resolver))
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
