//! A real kubectl through the agent, with `tls-server-name`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_core::status::Verdict;
use rustix::process::Signal;

use crate::stage::{Cluster, NAME, run, skipped};

/// `KUBECTL`, else the one on the `PATH`, else the one that `make test` puts here.
fn kubectl() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("KUBECTL") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    std::env::split_paths(&path)
        .chain([own])
        .map(|folder| folder.join("kubectl"))
        .find(|program| program.is_file())
}

#[test]
fn a_real_kubectl_works_through_the_agent_and_goes_on_when_its_server_dies() {
    let Some(program) = kubectl() else {
        return skipped(
            "no kubectl in KUBECTL, PATH or target/tools/kubectl; `tools/kubectl` installs one",
        );
    };
    let cluster = Cluster::start(2);
    let agent = cluster.agent();
    let config = cluster.folder.path().join("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: lab\n\
         clusters:\n- name: lab\n  cluster:\n    server: https://{}\n    tls-server-name: {NAME}\n    \
         certificate-authority: {}\n\
         contexts:\n- name: lab\n  context: {{cluster: lab, user: lab}}\n\
         users:\n- name: lab\n  user: {{token: none}}\n",
        agent.listen,
        cluster.certificates.ca.display()
    );
    fs::write(&config, text).unwrap();
    let ask = |arguments: &str| {
        let done = run(Command::new(&program)
            .env("KUBECONFIG", &config)
            .env("HOME", cluster.folder.path())
            .args(arguments.split(' ')));
        assert_eq!(done.code, Some(0), "{arguments}: {}", done.err);
        done.out
    };
    assert_eq!(ask("get --raw /readyz"), "ok");
    assert!(ask("version").contains("Server Version: v1."));
    assert!(ask("get leases -A -o json").contains("\"items\": []"));
    let lost = agent.status().upstreams[0].address;
    let server = cluster.servers.iter().find(|s| s.listen == lost).unwrap();
    server.process.signal(Signal::KILL);
    assert_eq!(ask("get --raw /readyz"), "ok");
    agent.verdict(lost, Verdict::Dead);
    assert_eq!(ask("get --raw /readyz"), "ok");
}
