//! A real kubectl against the API server. It needs one: `KUBECTL=/path/to/kubectl`, or on the `PATH`.

use std::fmt::Write as _;
use std::process::Stdio;

use tokio::process::Command;

use crate::stage::{Actor, Certificates, NAME};

/// Runs kubectl with nothing of the user's own configuration; what it printed, or its complaint.
async fn kubectl(kubeconfig: &std::path::Path, arguments: &str) -> Result<String, String> {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let output = Command::new(program)
        .env("KUBECONFIG", kubeconfig)
        .env("HOME", kubeconfig.parent().unwrap())
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(said)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn a_real_kubectl_sees_a_cluster() {
    let certificates = Certificates::new();
    let server = Actor::api_server_with("cp1", &certificates, |options| {
        options.endpoints = vec!["10.99.2.1:6443".parse().unwrap()];
    })
    .await;
    let url = format!("https://{}", server.listen);
    let mut client = Actor::client(url.clone(), &certificates, 1.0, |_| {}).await;
    client.heartbeat().await;

    let mut config = String::from("apiVersion: v1\nkind: Config\ncurrent-context: lab\n");
    let ca = certificates.path("ca.pem");
    write!(
        config,
        "clusters:\n- name: lab\n  cluster:\n    server: {url}\n    tls-server-name: {NAME}\n    \
         certificate-authority: {}\ncontexts:\n- name: lab\n  context: {{cluster: lab, user: lab}}\n\
         users:\n- name: lab\n  user: {{token: none}}\n",
        ca.display()
    )
    .unwrap();
    let file = certificates.path("kubeconfig");
    std::fs::write(&file, config).unwrap();

    let version = kubectl(&file, "version").await.unwrap();
    assert!(version.contains("Server Version: v1.33.0"), "{version}");
    assert_eq!(kubectl(&file, "get --raw /readyz").await.unwrap(), "ok");
    let nodes = kubectl(&file, "get nodes").await.unwrap();
    assert!(nodes.contains("node1"), "{nodes}");
    let leases = kubectl(&file, "get leases -n kube-node-lease -o name")
        .await
        .unwrap();
    assert_eq!(leases.trim(), "lease.coordination.k8s.io/node1");
    let slices = kubectl(&file, "get endpointslices -o yaml").await.unwrap();
    assert!(slices.contains("10.99.2.1"), "{slices}");
    let missing = kubectl(&file, "get node nobody").await.unwrap_err();
    assert!(missing.contains("NotFound"), "{missing}");
}
