//! Who asks: where tokens come from.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use azure_core::cloud::CustomConfiguration;
use azure_core::credentials::{Secret, TokenCredential};
use azure_core::http::{ClientOptions, Transport as Given};
use azure_identity::{
    AzureCliCredential, ClientAssertionCredential, ClientAssertionCredentialOptions,
    ClientSecretCredential, ClientSecretCredentialOptions, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
    WorkloadIdentityCredentialOptions,
};

use super::assertion::{Certificate, CertificateError};
use super::cloud::Cloud;
use super::transport::{Transport, causes};

/// How somebody signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// The first of these for which something is given: workload identity, service principal, Azure CLI,
    /// managed identity.
    Auto,
    /// The identity of the VM, from its metadata service.
    ManagedIdentity,
    /// A pod's service account token, exchanged.
    WorkloadIdentity,
    /// A secret or a certificate.
    ServicePrincipal,
    /// Whoever is signed in with `az login`.
    Cli,
}

/// What is given to sign in with; each has its usual variable (`AZURE_…`).
#[derive(Clone, Default)]
#[expect(missing_docs, reason = "each is named as its variable is")]
pub struct Credentials {
    pub tenant_id: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    pub client_certificate_path: Option<PathBuf>,
    pub federated_token_file: Option<PathBuf>,
    /// Who answers in place of the metadata service (`AZURE_POD_IDENTITY_AUTHORITY_HOST`).
    pub metadata: Option<String>,
    /// Whether `az` is there to be asked.
    pub has_cli: bool,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("tenant_id", &self.tenant_id)
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .finish_non_exhaustive()
    }
}

/// Why nobody can sign in.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// Something is not given.
    #[error("sign in as {auth}: no {missing}")]
    Missing {
        /// How.
        auth: &'static str,
        /// The variable that is missing.
        missing: &'static str,
    },
    /// The certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The address of the metadata service.
    #[error("AZURE_POD_IDENTITY_AUTHORITY_HOST: found \"{0}\", accepted: http://HOST:PORT")]
    Metadata(String),
    /// What is given makes no sense, or nobody takes it.
    #[error("sign in as {auth}: {why}")]
    Refused {
        /// How.
        auth: &'static str,
        /// What was said.
        why: String,
    },
}

impl Auth {
    /// What `Auto` comes to.
    #[must_use]
    pub fn resolve(self, given: &Credentials) -> Self {
        if self != Self::Auto {
            self
        } else if given.federated_token_file.is_some() {
            Self::WorkloadIdentity
        } else if given.client_secret.is_some() || given.client_certificate_path.is_some() {
            Self::ServicePrincipal
        } else if given.has_cli {
            Self::Cli
        } else {
            Self::ManagedIdentity
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Auto => "whoever is known",
            Self::ManagedIdentity => "managed identity",
            Self::WorkloadIdentity => "workload identity",
            Self::ServicePrincipal => "service principal",
            Self::Cli => "the user of Azure CLI",
        }
    }
}

/// Makes a credential; one that is made anew has forgotten its tokens.
#[derive(Debug)]
pub(super) struct SignIn {
    auth: Auth,
    given: Credentials,
    cloud: Cloud,
    client: reqwest::Client,
}

impl SignIn {
    pub(super) fn new(
        auth: Auth,
        given: Credentials,
        cloud: Cloud,
        client: reqwest::Client,
    ) -> Self {
        Self {
            auth: auth.resolve(&given),
            given,
            cloud,
            client,
        }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.auth.name()
    }

    fn need(
        &self,
        value: Option<&String>,
        missing: &'static str,
    ) -> Result<String, CredentialError> {
        let auth = self.auth.name();
        value
            .filter(|text| !text.is_empty())
            .cloned()
            .ok_or(CredentialError::Missing { auth, missing })
    }

    fn options(&self) -> Result<ClientOptions, CredentialError> {
        let metadata = match &self.given.metadata {
            None => None,
            Some(text) => Some(
                text.parse()
                    .map_err(|_| CredentialError::Metadata(text.clone()))?,
            ),
        };
        let transport = Arc::new(Transport::new(self.client.clone(), metadata));
        let mut cloud = CustomConfiguration::default();
        cloud.authority_host.clone_from(&self.cloud.authority);
        Ok(ClientOptions {
            transport: Some(Given::new(transport)),
            cloud: Some(Arc::new(cloud.into())),
            ..ClientOptions::default()
        })
    }

    pub(super) fn make(&self) -> Result<Arc<dyn TokenCredential>, CredentialError> {
        let auth = self.auth.name();
        let refused = |error: azure_core::Error| CredentialError::Refused {
            auth,
            why: causes(&error),
        };
        let given = &self.given;
        let tenant = || self.need(given.tenant_id.as_ref(), "AZURE_TENANT_ID");
        let client = || self.need(given.client_id.as_ref(), "AZURE_CLIENT_ID");
        let client_options = self.options()?;
        Ok(match self.auth {
            Auth::Auto | Auth::ManagedIdentity => {
                let id = given.client_id.clone().map(UserAssignedId::ClientId);
                let options = ManagedIdentityCredentialOptions {
                    user_assigned_id: id,
                    client_options,
                };
                ManagedIdentityCredential::new(Some(options)).map_err(refused)?
            }
            Auth::WorkloadIdentity => {
                let options = WorkloadIdentityCredentialOptions {
                    credential_options: ClientAssertionCredentialOptions { client_options },
                    client_id: Some(client()?),
                    tenant_id: Some(tenant()?),
                    token_file_path: given.federated_token_file.clone(),
                };
                WorkloadIdentityCredential::new(Some(options)).map_err(refused)?
            }
            Auth::ServicePrincipal => {
                let (tenant, client) = (tenant()?, client()?);
                if let Some(path) = &given.client_certificate_path {
                    let authority = self.cloud.authority.trim_end_matches('/');
                    let audience = format!("{authority}/{tenant}/oauth2/v2.0/token");
                    let word = Certificate::read(path, &client, audience)?;
                    let options = ClientAssertionCredentialOptions { client_options };
                    ClientAssertionCredential::new(tenant, client, word, Some(options))
                        .map_err(refused)?
                } else {
                    let secret = given.client_secret.as_ref();
                    let missing = "AZURE_CLIENT_SECRET or AZURE_CLIENT_CERTIFICATE_PATH";
                    let secret = Secret::new(self.need(secret, missing)?);
                    let options = ClientSecretCredentialOptions { client_options };
                    ClientSecretCredential::new(&tenant, client, secret, Some(options))
                        .map_err(refused)?
                }
            }
            Auth::Cli => AzureCliCredential::new(None).map_err(refused)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_the_first_for_which_something_is_given() {
        let mut given = Credentials::default();
        assert_eq!(Auth::Auto.resolve(&given), Auth::ManagedIdentity);
        given.has_cli = true;
        assert_eq!(Auth::Auto.resolve(&given), Auth::Cli);
        given.client_certificate_path = Some("sp.pem".into());
        assert_eq!(Auth::Auto.resolve(&given), Auth::ServicePrincipal);
        given.federated_token_file = Some("token".into());
        assert_eq!(Auth::Auto.resolve(&given), Auth::WorkloadIdentity);
        assert_eq!(Auth::Cli.resolve(&given), Auth::Cli);
    }

    #[test]
    fn s11_a_secret_is_in_no_debug_output() {
        let given = Credentials {
            client_secret: Some("hunter2".to_owned()),
            ..Credentials::default()
        };
        assert!(!format!("{given:?}").contains("hunter2"));
    }
}
