//! Azure's own Python clients, unmodified, against the service.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::stage::{Azure, sdk, skipped};

#[test]
fn azure_mgmt_network_and_azure_mgmt_compute_work_unmodified() {
    let Some(site) = sdk() else {
        return skipped(
            "no azure-mgmt-network in target/tools/azure-sdk; `tools/azure-sdk` installs it",
        );
    };
    let azure = Azure::start(&[
        "--page-size",
        "3",
        "--latency",
        "100ms",
        "--metadata",
        "127.0.0.1:0",
    ]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/azure/sdk.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(azure.told.to_string())
        .env("PYTHONPATH", site)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("REQUESTS_CA_BUNDLE", azure.told("ca"))
        .env("AZURE_POD_IDENTITY_AUTHORITY_HOST", azure.told("metadata"))
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{error}");
    assert!(said.ends_with("done\n"), "{said}");
}
