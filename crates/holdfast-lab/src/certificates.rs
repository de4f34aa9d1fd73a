//! A world's certificates: a CA of its own, and one server certificate for the endpoint's name and
//! every address it may be reached at.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

/// The files of a world's certificates, all PEM.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The CA's certificate.
    pub ca: PathBuf,
    /// The servers' certificate.
    pub server: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// They could not be made.
    #[error("make the world's certificates")]
    Make(#[from] rcgen::Error),
    /// They could not be written.
    #[error("write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Certificates {
    /// A server's arguments with this certificate and key instead of those that it had.
    pub fn instead_of(&self, arguments: &[String]) -> Vec<String> {
        let mut arguments = arguments.to_vec();
        for (flag, file) in [("--cert", &self.server), ("--key", &self.key)] {
            let value = arguments.iter().position(|one| one == flag);
            if let Some(value) = value.and_then(|flag| arguments.get_mut(flag + 1)) {
                *value = file.display().to_string();
            }
        }
        arguments
    }

    /// Makes them for `name` and `addresses`, loopback included, and writes them into `directory`.
    pub fn make(
        directory: &Path,
        name: &str,
        addresses: &[Ipv4Addr],
    ) -> Result<Self, CertificateError> {
        let mut ca = CertificateParams::default();
        ca.distinguished_name.push(DnType::CommonName, "lab-ca");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca_key = KeyPair::generate()?;
        let ca_certificate = ca.self_signed(&ca_key)?;

        let mut server = CertificateParams::new([
            name.to_owned(),
            "kubernetes".to_owned(),
            "localhost".to_owned(),
        ])?;
        server
            .distinguished_name
            .push(DnType::CommonName, "lab-api-server");
        server.use_authority_key_identifier_extension = true;
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let reached_at = addresses.iter().chain([&Ipv4Addr::LOCALHOST]);
        server
            .subject_alt_names
            .extend(reached_at.map(|address| SanType::IpAddress(IpAddr::V4(*address))));
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &Issuer::new(ca, ca_key))?;

        let made = Self {
            ca: directory.join("ca.crt"),
            server: directory.join("server.crt"),
            key: directory.join("server.key"),
        };
        let write = |path: &Path, source| CertificateError::Write {
            path: path.to_owned(),
            source,
        };
        std::fs::create_dir_all(directory).map_err(|source| write(directory, source))?;
        for (path, pem) in [
            (&made.ca, ca_certificate.pem()),
            (&made.server, certificate.pem()),
            (&made.key, key.serialize_pem()),
        ] {
            std::fs::write(path, pem).map_err(|source| write(path, source))?;
        }
        Ok(made)
    }
}
