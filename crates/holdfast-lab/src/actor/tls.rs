//! TLS of both sides, from PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::StartError;

/// HTTP/2 over TLS (RFC 9113 §3.1).
pub(crate) const H2: &[u8] = b"h2";
/// HTTP/1.1 over TLS (RFC 7301 §6).
pub(crate) const HTTP1: &[u8] = b"http/1.1";

/// A server's side: HTTP/2 and HTTP/1.1, no client certificates.
pub(crate) fn server(cert: &Path, key: &Path) -> Result<ServerConfig, StartError> {
    let chain = certificates(cert)?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)?;
    config.alpn_protocols = vec![H2.to_vec(), HTTP1.to_vec()];
    Ok(config)
}

/// A client's side, which offers one protocol. Sessions are not resumed: a kubelet's Go client keeps no
/// session cache (crypto/tls `Config.ClientSessionCache`).
pub(crate) fn client(ca: &Path, protocol: &[u8]) -> Result<ClientConfig, StartError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca)? {
        roots.add(certificate)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let list = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(path, error))?;
    if list.is_empty() {
        return Err(unreadable(path, pem::Error::NoItemsFound));
    }
    Ok(list)
}

fn unreadable(path: &Path, source: pem::Error) -> StartError {
    StartError::Read {
        path: PathBuf::from(path),
        source,
    }
}
