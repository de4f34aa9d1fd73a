//! What the tests share: a CA, the TLS settings of its servers, and its file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Longer than any single step takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The name that servers are expected to have.
pub(crate) const NAME: &str = "api.example.test";

/// A cluster's CA.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// The settings of a server with the expected name.
    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        self.server_with(NAME, |_| {})
    }

    pub(crate) fn server_with(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let (chain, key) = self.signed(&params, &KeyPair::generate().unwrap());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        Arc::new(config)
    }

    /// A certificate for `key`, and the key, as the TLS library wants them.
    pub(crate) fn signed(
        &self,
        params: &CertificateParams,
        key: &KeyPair,
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let leaf = params.signed_by(key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        (vec![leaf.der().clone()], key)
    }

    /// A certificate for `key`, as PEM.
    pub(crate) fn signed_pem(&self, params: &CertificateParams, key: &KeyPair) -> String {
        params.signed_by(key, &self.0).unwrap().pem()
    }

    /// The certificate of a server, as PEM.
    pub(crate) fn leaf_pem(&self) -> String {
        let params = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
        self.signed_pem(&params, &KeyPair::generate().unwrap())
    }
}

/// A CA file that is written again and again; each time its time of change is another one.
pub(crate) struct CaFile {
    folder: TempDir,
    written: SystemTime,
}

impl CaFile {
    pub(crate) fn with(text: &str) -> Self {
        let mut file = Self {
            folder: TempDir::new().unwrap(),
            written: SystemTime::now(),
        };
        file.write(text);
        file
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    pub(crate) fn write(&mut self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
        self.written += Duration::from_secs(1);
        let file = std::fs::File::options()
            .write(true)
            .open(self.path())
            .unwrap();
        file.set_modified(self.written).unwrap();
    }
}

/// A listener on a port of the loopback interface that the kernel chose.
pub(crate) async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}
