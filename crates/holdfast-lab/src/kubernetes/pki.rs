//! The keys of a real control plane: a CA, one certificate per component, and the key that signs
//! service accounts' tokens.
//!
//! Whose a client certificate is follows from its subject: the common name is the user, the
//! organizations are the groups (kubernetes.io, "Authenticating", X.509 client certificates).

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

use crate::certificates::CertificateError;

/// The service network of every world (`--service-cluster-ip-range`).
pub const SERVICES: &str = "10.96.0.0/16";
/// The address that `default/kubernetes` gets in it: its first.
const KUBERNETES_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);

/// A CA with the folder into which it writes what it makes. All files are PEM.
pub struct Pki {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

/// Somebody whom the API server knows by a client certificate.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its group, if it is in one.
    pub group: Option<&'a str>,
}

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl std::fmt::Debug for Pki {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pki")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Pki {
    /// Makes `folder`, and in it a CA and the key for service accounts' tokens.
    pub fn make(folder: &Path) -> Result<Self, CertificateError> {
        std::fs::create_dir_all(folder).map_err(|source| CertificateError::Write {
            path: folder.to_owned(),
            source,
        })?;
        let mut ca = CertificateParams::default();
        ca.distinguished_name.push(DnType::CommonName, "lab-ca");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = ca.self_signed(&key)?;
        let pki = Self {
            folder: folder.to_owned(),
            issuer: Issuer::new(ca, key),
        };
        write(&pki.ca(), &certificate.pem())?;
        let tokens = KeyPair::generate()?;
        write(&pki.token_key().key, &tokens.serialize_pem())?;
        write(&pki.token_key().certificate, &tokens.public_key_pem())?;
        Ok(pki)
    }

    /// The CA's certificate.
    pub fn ca(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }

    /// The key that signs service accounts' tokens, with its public half in place of a certificate.
    pub fn token_key(&self) -> Pair {
        Pair {
            certificate: self.folder.join("sa.pub"),
            key: self.folder.join("sa.key"),
        }
    }

    /// A certificate for the API servers, under these names and addresses.
    pub fn serve(&self, names: &[&str], addresses: &[Ipv4Addr]) -> Result<Pair, CertificateError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut server = CertificateParams::new(names)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "kube-apiserver");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let own = [Ipv4Addr::LOCALHOST, KUBERNETES_SERVICE];
        server.subject_alt_names.extend(
            addresses
                .iter()
                .chain(&own)
                .map(|address| SanType::IpAddress(IpAddr::V4(*address))),
        );
        self.sign("kube-apiserver", server)
    }

    /// A client certificate.
    pub fn identify(&self, user: User<'_>) -> Result<Pair, CertificateError> {
        let mut client = CertificateParams::default();
        client
            .distinguished_name
            .push(DnType::CommonName, user.name);
        if let Some(group) = user.group {
            client
                .distinguished_name
                .push(DnType::OrganizationName, group);
        }
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&user.name.replace(':', "-"), client)
    }

    /// A kubeconfig that leads to `server`, expects `server_name` there, and has these credentials
    /// (client-go, `tools/clientcmd/api/v1`, `AuthInfo`).
    pub fn kubeconfig_with(
        &self,
        path: &Path,
        server: &str,
        server_name: &str,
        credentials: &serde_json::Value,
    ) -> Result<(), CertificateError> {
        // JSON is YAML, and quotes for us.
        let text = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": {
                "server": server,
                "tls-server-name": server_name,
                "certificate-authority": self.ca(),
            }}],
            "users": [{"name": "user", "user": credentials}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "user"}}],
            "current-context": "lab",
        });
        write(path, &text.to_string())
    }

    /// A kubeconfig for `user` that leads to `server` and expects `server_name` there.
    pub fn kubeconfig(
        &self,
        user: User<'_>,
        server: &str,
        server_name: &str,
    ) -> Result<PathBuf, CertificateError> {
        let pair = self.identify(user)?;
        let path = pair.key.with_extension("kubeconfig");
        let credentials = serde_json::json!({
            "client-certificate": pair.certificate,
            "client-key": pair.key,
        });
        self.kubeconfig_with(&path, server, server_name, &credentials)?;
        Ok(path)
    }

    fn sign(&self, file: &str, mut wanted: CertificateParams) -> Result<Pair, CertificateError> {
        wanted.use_authority_key_identifier_extension = true;
        wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = wanted.signed_by(&key, &self.issuer)?;
        let pair = Pair {
            certificate: self.folder.join(format!("{file}.crt")),
            key: self.folder.join(format!("{file}.key")),
        };
        write(&pair.certificate, &certificate.pem())?;
        write(&pair.key, &key.serialize_pem())?;
        Ok(pair)
    }
}

fn write(path: &Path, pem: &str) -> Result<(), CertificateError> {
    std::fs::write(path, pem).map_err(|source| CertificateError::Write {
        path: path.to_owned(),
        source,
    })
}
