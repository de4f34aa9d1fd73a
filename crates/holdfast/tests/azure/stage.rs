//! What the tests share: a service in a process of its own, and requests to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use holdfast_lab::launch::{LaunchError, Means};
use serde_json::{Value, json};
use tempfile::TempDir;

const GROUP: &str = "/subscriptions/s1/resourceGroups/g/providers";

/// Says that a test did not happen, where nobody overlooks it: this is not captured, as the print
/// macros are.
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
}

/// The binary, with nothing of the environment that would configure it.
pub(crate) fn holdfast() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    for (name, _) in std::env::vars() {
        if name.starts_with("HOLDFAST_") {
            command.env_remove(name);
        }
    }
    command.env("NO_COLOR", "1");
    command
}

/// The service. It ends with its test, since its input does.
pub(crate) struct Azure {
    child: Child,
    /// What its first line says.
    pub(crate) told: Value,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
}

impl Azure {
    /// Starts it; `good` is a token that it takes.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = holdfast()
            .args(["lab", "azure", "--until-input-ends", "--token", "good"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        // Another test of this process may have chosen it already.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let ca = std::fs::read(told["ca"].as_str().unwrap()).unwrap();
        let client = reqwest::Client::builder()
            .tls_certs_only([reqwest::Certificate::from_pem(&ca).unwrap()])
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            child,
            told,
            runtime,
            client,
        }
    }

    pub(crate) fn told(&self, what: &str) -> &str {
        self.told[what].as_str().unwrap()
    }

    /// Asks, and expects success.
    pub(crate) fn ask(&self, method: http::Method, path: &str, body: Option<&Value>) -> Value {
        self.runtime.block_on(self.asked(method, path, body))
    }

    /// The same for who is in a runtime.
    pub(crate) async fn asked(
        &self,
        method: http::Method,
        path: &str,
        body: Option<&Value>,
    ) -> Value {
        let url = format!("{}{path}?api-version=2024-05-01", self.told("endpoint"));
        let mut request = self.client.request(method, url).bearer_auth("good");
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Lets it end.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Azure {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // One that has ended already is none the worse.
        self.child.wait().ok();
    }
}

/// Azure's own clients, if they are there.
pub(crate) fn sdk() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/azure-sdk");
    folder.join("done").is_file().then(|| folder.join("site"))
}

/// The id of the only NIC in [`written`].
pub(crate) fn nic() -> String {
    format!("{GROUP}/Microsoft.Network/networkInterfaces/n")
}

/// A folder as `az` writes it: one VM in a private subnet, whose NIC is in a public pool with a rule
/// for TCP.
pub(crate) fn written() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let nic = nic();
    let balancer = format!("{GROUP}/Microsoft.Network/loadBalancers/kubernetes");
    let pool = json!({"id": format!("{balancer}/backendAddressPools/kubernetes")});
    let files = [
        (
            "nic.json",
            json!([{"id": nic, "location": "westeurope", "ipConfigurations": [{
            "id": format!("{nic}/ipConfigurations/c"), "primary": true, "privateIPAddress": "10.0.0.4",
            "subnet": {"id": format!("{GROUP}/Microsoft.Network/virtualNetworks/v/subnets/s")},
            "loadBalancerBackendAddressPools": [pool]}],
            "virtualMachine": {"id": format!("{GROUP}/Microsoft.Compute/virtualMachines/vm")}}]),
        ),
        (
            "lb.json",
            json!([{"id": balancer, "location": "westeurope", "sku": {"name": "Standard"}, "backendAddressPools": [pool],
            "loadBalancingRules": [{"id": format!("{balancer}/loadBalancingRules/r"), "name": "r", "protocol": "Tcp", "backendAddressPool": pool}]}]),
        ),
        (
            "vnet.json",
            json!([{"id": format!("{GROUP}/Microsoft.Network/virtualNetworks/v"), "location": "westeurope",
            "subnets": [{"id": format!("{GROUP}/Microsoft.Network/virtualNetworks/v/subnets/s"), "name": "s", "addressPrefix": "10.0.0.0/24", "defaultOutboundAccess": false}]}]),
        ),
        (
            "vm.json",
            json!([{"id": format!("{GROUP}/Microsoft.Compute/virtualMachines/vm"), "location": "westeurope"}]),
        ),
        ("vmss.json", json!([])),
        ("vmss-nic.json", json!([])),
        ("nat-gateway.json", json!([])),
        ("public-ip.json", json!([])),
        ("route-table.json", json!([])),
    ];
    for (name, list) in files {
        std::fs::write(folder.path().join(name), list.to_string()).unwrap();
    }
    folder
}

/// Whether network namespaces can be made here. If not, says so where nobody overlooks it.
pub(crate) fn can_make_namespaces() -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match runtime.block_on(Means::find()) {
        Ok(_) => true,
        Err(LaunchError::Missing { what, hint }) => {
            skipped(&format!("{what}\n  hint: {hint}"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}
