//! A service principal's word by certificate: a JWT that says who it is, signed with its key
//! (`learn.microsoft.com/entra/identity-platform/certificate-credentials`).

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use azure_core::error::{Error, ErrorKind};
use azure_core::http::ClientMethodOptions;
use azure_identity::ClientAssertion;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

/// How long one assertion holds, in seconds: Entra takes 5 to 10 minutes.
const HOLDS: i64 = 600;

/// Makes assertions. The key never leaves it.
pub(super) struct Certificate {
    client: String,
    audience: String,
    thumbprint: String,
    key: RsaKeyPair,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// Why a certificate can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}, accepted: a certificate and its RSA key in PEM, without a password", path.display())]
pub struct CertificateError {
    path: PathBuf,
    what: String,
}

impl Certificate {
    /// Reads a PEM file with a certificate and its key.
    pub(super) fn read(
        path: &Path,
        client: &str,
        audience: String,
    ) -> Result<Self, CertificateError> {
        let told = |what: String| CertificateError {
            path: path.to_owned(),
            what,
        };
        let pem = std::fs::read(path).map_err(|error| told(error.to_string()))?;
        let certificate = CertificateDer::from_pem_slice(&pem)
            .map_err(|error| told(format!("found no certificate ({error})")))?;
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|error| told(format!("found no key ({error})")))?;
        let key = if let PrivateKeyDer::Pkcs1(key) = &key {
            RsaKeyPair::from_der(key.secret_pkcs1_der())
        } else if let PrivateKeyDer::Pkcs8(key) = &key {
            RsaKeyPair::from_pkcs8(key.secret_pkcs8_der())
        } else {
            return Err(told("found a key that is no RSA key".to_owned()));
        };
        let key = key.map_err(|error| told(format!("found a key that can't be used ({error})")))?;
        Ok(Self {
            client: client.to_owned(),
            audience,
            thumbprint: URL_SAFE_NO_PAD.encode(digest(&SHA256, &certificate)),
            key,
        })
    }

    /// An assertion that holds from `now`, in seconds since 1970.
    fn assert(&self, now: i64) -> Result<String, ring::error::Unspecified> {
        let random = SystemRandom::new();
        let mut id = [0; 16];
        random.fill(&mut id)?;
        let head = json!({"alg": "RS256", "typ": "JWT", "x5t#S256": self.thumbprint});
        let claims = json!({
            "aud": self.audience, "iss": self.client, "sub": self.client,
            "jti": URL_SAFE_NO_PAD.encode(id), "nbf": now, "iat": now, "exp": now + HOLDS,
        });
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&head), part(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key.sign(
            &RSA_PKCS1_SHA256,
            &random,
            signed.as_bytes(),
            &mut signature,
        )?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl ClientAssertion for Certificate {
    fn secret<'life, 'options, 'out>(
        &'life self,
        _: Option<ClientMethodOptions<'options>>,
    ) -> Pin<Box<dyn Future<Output = azure_core::Result<String>> + Send + 'out>>
    where
        'life: 'out,
        'options: 'out,
        Self: 'out,
    {
        let made = self.assert(jiff::Timestamp::now().as_second());
        Box::pin(std::future::ready(made.map_err(|_| {
            Error::with_message(ErrorKind::Credential, "the assertion can't be signed")
        })))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    /// An RSA key can't be made by ring; rcgen can't either with ring. This one is for tests alone.
    const PEM: &str = include_str!("assertion/service-principal.pem");

    #[test]
    fn an_assertion_says_who_it_is_and_is_signed_with_the_certificates_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sp.pem");
        std::fs::write(&path, PEM).unwrap();
        let certificate = Certificate::read(&path, "me", "https://there/token".to_owned()).unwrap();
        let word = certificate.assert(1000).unwrap();
        let parts: Vec<_> = word.split('.').collect();
        let [head, claims, signature] = parts[..] else {
            panic!("{word}")
        };
        let read = |part: &str| -> Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        assert_eq!(read(head)["alg"], "RS256");
        assert_eq!(read(head)["x5t#S256"].as_str().unwrap().len(), 43);
        let claims = read(claims);
        assert_eq!(
            (&claims["iss"], &claims["sub"]),
            (&json!("me"), &json!("me"))
        );
        assert_eq!(claims["aud"], "https://there/token");
        assert_eq!(
            (&claims["nbf"], &claims["exp"]),
            (&json!(1000), &json!(1600))
        );
        let key = UnparsedPublicKey::new(
            &RSA_PKCS1_2048_8192_SHA256,
            certificate.key.public().as_ref(),
        );
        let (signed, _) = word.rsplit_once('.').unwrap();
        key.verify(
            signed.as_bytes(),
            &URL_SAFE_NO_PAD.decode(signature).unwrap(),
        )
        .unwrap();
        assert_ne!(
            word,
            certificate.assert(1000).unwrap(),
            "each has its own id"
        );
        assert!(!format!("{certificate:?}").contains("key"));
    }

    #[test]
    fn a_file_that_is_no_certificate_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sp.pem");
        std::fs::write(&path, "nothing").unwrap();
        let error = Certificate::read(&path, "me", String::new()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("sp.pem") && error.contains("accepted"),
            "{error}"
        );
    }
}
