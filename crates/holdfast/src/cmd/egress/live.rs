//! Facts from Azure itself: who asks which cloud about which subscriptions.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use holdfast_cloud::arm::{Arm, ArmError, Auth, Cloud, Credentials};
use holdfast_cloud::azure::Listing;
use holdfast_cloud::azure::collect::collect;
use serde_json::Value;

use crate::cmd::lab::runtime;
use crate::exit::{Failure, input, unable};

/// Where Azure is, and who asks. The variables are those of Azure's own tools.
#[derive(Debug, Args)]
pub(crate) struct Azure {
    /// Subscription to read; may be given several times
    #[arg(
        long = "subscription",
        global = true,
        value_name = "ID",
        env = "AZURE_SUBSCRIPTION_ID",
        value_delimiter = ','
    )]
    subscriptions: Vec<String>,
    /// Which of Azure's clouds
    #[arg(long, global = true, value_enum, default_value_t = CloudName::Public)]
    cloud: CloudName,
    /// How to sign in
    #[arg(long, global = true, value_enum, default_value_t = SignIn::Auto)]
    auth: SignIn,
    /// Tenant to sign in to
    #[arg(
        long = "tenant",
        global = true,
        value_name = "ID",
        env = "AZURE_TENANT_ID"
    )]
    tenant: Option<String>,
    /// Application, or user-assigned identity, to sign in as
    #[arg(long, global = true, value_name = "ID", env = "AZURE_CLIENT_ID")]
    client_id: Option<String>,
    /// The application's certificate and RSA key in PEM. Its secret is taken from the variable
    /// `AZURE_CLIENT_SECRET` alone
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "AZURE_CLIENT_CERTIFICATE_PATH"
    )]
    client_certificate: Option<PathBuf>,
    /// The pod's service account token, for workload identity
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "AZURE_FEDERATED_TOKEN_FILE"
    )]
    federated_token: Option<PathBuf>,
    /// Another Resource Manager [default: that of the cloud]
    #[arg(long, global = true, value_name = "URL")]
    arm_endpoint: Option<String>,
    /// Another authority to sign in at [default: that of the cloud]
    #[arg(long, global = true, value_name = "URL", env = "AZURE_AUTHORITY_HOST")]
    authority: Option<String>,
    /// CA certificates in PEM to trust beside the machine's own
    #[arg(long, global = true, value_name = "FILE")]
    arm_ca: Option<PathBuf>,
}

/// Azure's clouds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CloudName {
    /// management.azure.com
    Public,
    /// management.usgovcloudapi.net
    Usgov,
    /// management.chinacloudapi.cn
    China,
}

/// How to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SignIn {
    /// The first for which something is given: federated token, secret or certificate, `az`, else the
    /// managed identity
    Auto,
    /// The identity of this VM
    ManagedIdentity,
    /// A pod's service account token, exchanged
    WorkloadIdentity,
    /// An application's secret or certificate
    ServicePrincipal,
    /// Whoever is signed in with `az login`
    Cli,
}

impl Azure {
    /// Fetches every list that egress rests on.
    pub(super) fn lists(&self) -> Result<Vec<(Listing, Vec<Value>)>, Failure> {
        if self.subscriptions.is_empty() {
            return Err(input(anyhow!(
                "no subscription: give --subscription ID, or AZURE_SUBSCRIPTION_ID"
            )));
        }
        for subscription in &self.subscriptions {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if subscription.is_empty() || !subscription.chars().all(fits) {
                return Err(input(anyhow!(
                    "--subscription: found {subscription:?}, accepted: the id of a subscription"
                )));
            }
        }
        // One that is named twice would be read twice, and each resource in it would be there twice.
        let mut subscriptions: Vec<String> = Vec::new();
        for one in &self.subscriptions {
            if !subscriptions.iter().any(|it| it.eq_ignore_ascii_case(one)) {
                subscriptions.push(one.clone());
            }
        }
        let runtime = runtime()?;
        let arm = Arm::new(
            self.cloud()?,
            self.auth(),
            self.credentials(),
            self.arm_ca.as_deref(),
        )
        .map_err(failed)?;
        runtime
            .block_on(collect(&arm, &subscriptions))
            .map_err(|error| {
                let hint = hint(&error.source);
                Failure::Unable(error.into(), hint)
            })
    }

    fn cloud(&self) -> Result<Cloud, Failure> {
        let mut cloud = match self.cloud {
            CloudName::Public => Cloud::public(),
            CloudName::Usgov => Cloud::us_government(),
            CloudName::China => Cloud::china(),
        };
        let given = |flag: &str, url: &Option<String>| match url {
            None => Ok(None),
            Some(url) if url.starts_with("https://") => {
                Ok(Some(url.trim_end_matches('/').to_owned()))
            }
            Some(url) => Err(input(anyhow!(
                "{flag}: found {url:?}, accepted: https://HOST"
            ))),
        };
        if let Some(url) = given("--arm-endpoint", &self.arm_endpoint)? {
            cloud.resource_manager = url;
        }
        if let Some(url) = given("--authority", &self.authority)? {
            cloud.authority = url;
        }
        Ok(cloud)
    }

    const fn auth(&self) -> Auth {
        match self.auth {
            SignIn::Auto => Auth::Auto,
            SignIn::ManagedIdentity => Auth::ManagedIdentity,
            SignIn::WorkloadIdentity => Auth::WorkloadIdentity,
            SignIn::ServicePrincipal => Auth::ServicePrincipal,
            SignIn::Cli => Auth::Cli,
        }
    }

    fn credentials(&self) -> Credentials {
        let given = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let folders = std::env::var_os("PATH").unwrap_or_default();
        Credentials {
            tenant_id: self.tenant.clone(),
            client_id: self.client_id.clone(),
            client_secret: given("AZURE_CLIENT_SECRET"),
            client_certificate_path: self.client_certificate.clone(),
            federated_token_file: self.federated_token.clone(),
            metadata: given("AZURE_POD_IDENTITY_AUTHORITY_HOST"),
            has_cli: std::env::split_paths(&folders).any(|folder| folder.join("az").is_file()),
        }
    }
}

fn failed(error: ArmError) -> Failure {
    let wrong = matches!(
        error,
        ArmError::Credential(_) | ArmError::Client(_) | ArmError::Nonsense { .. }
    );
    if wrong { input(error) } else { unable(error) }
}

/// What would help.
fn hint(error: &ArmError) -> Option<String> {
    let ArmError::Refused { answer, .. } = error else {
        return None;
    };
    (answer.status == Some(403)).then(|| {
        "deploy/azure/holdfast-egress-reader.json is a role with all that is needed; docs/egress.md says how to assign it".to_owned()
    })
}
