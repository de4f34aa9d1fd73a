//! A cluster, an agent before it, and kubeconfigs of its clients.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use holdfast_lab::certificates::Certificates;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rcgen::{CertificateParams, KeyPair};
use tempfile::TempDir;

use crate::stage::{Actor, Agent, Cluster, Done, NAME, free_port, holdfast, loopback, run};

/// Longer than any request takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Two API servers, one certificate for the addresses of both, and an agent that knows both.
pub(crate) struct Desk {
    pub(crate) cluster: Cluster,
    pub(crate) agent: Agent,
    kubeconfigs: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let addresses = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
        let certificates = Certificates::make(folder.path(), NAME, &addresses).unwrap();
        let port = free_port();
        let servers = (1..=2)
            .map(|n| Actor::api_server(&format!("cp{n}"), loopback(1 + n, port), &certificates))
            .collect();
        let dns = Actor::start(&["dns", "--listen", "127.0.0.1:0", "--zone-name", NAME]);
        let cluster = Cluster {
            folder,
            certificates,
            servers,
            dns,
            port,
        };
        Self {
            agent: cluster.agent(),
            cluster,
            kubeconfigs: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.kubeconfigs.path()
    }

    /// The server that kubeconfigs name at first.
    pub(crate) fn server(&self) -> String {
        format!("https://{}", self.cluster.servers[0].listen)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A kubeconfig with these lines about its user.
    pub(crate) fn kubeconfig(&self, name: &str, user: &str) -> PathBuf {
        let user = user.replace('\n', "\n    ");
        let text = format!(
            "# node1's own\napiVersion: v1\nkind: Config\ncurrent-context: lab\n\
             contexts:\n- name: lab\n  context: {{cluster: lab, user: lab}}\n\
             clusters:\n- name: lab\n  cluster:\n    certificate-authority: {}\n    server: {} # cp1\n\
             users:\n- name: lab\n  user:\n    {user}\n",
            self.cluster.certificates.ca.display(),
            self.server()
        );
        self.file(name, &text)
    }

    /// A user whose token comes from a program, which first does what `script` says.
    pub(crate) fn plugin(&self, name: &str, script: &str) -> String {
        let program = self.file(
            &format!("{name}.sh"),
            &format!(
                "#!/bin/sh\n{script}\necho '{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \
                 \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"none\"}}}}'\n"
            ),
        );
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        format!(
            "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: {}\n  \
             interactiveMode: Never",
            program.display()
        )
    }

    /// One kubeconfig of each kind that is found on nodes and desks.
    pub(crate) fn kinds(&self) -> Vec<PathBuf> {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["node1".to_owned()]).unwrap();
        let certificate = certificate.self_signed(&key).unwrap().pem();
        let pem = self.file(
            "client-2026.pem",
            &format!("{certificate}{}", key.serialize_pem()),
        );
        let current = self.folder().join("client-current.pem");
        symlink(&pem, &current).unwrap();
        let current = current.display();
        let data = |text: &str| base64(text.as_bytes());
        let token = self.kubeconfig("token", "token: none");
        let text = fs::read_to_string(&token).unwrap();
        let ca = self.cluster.certificates.ca.display().to_string();
        let ca_pem = fs::read_to_string(&ca).unwrap();
        let several = text
            .replace(
                "contexts:\n",
                "contexts:\n- name: other\n  context: {cluster: other, user: lab}\n",
            )
            .replace(
                "clusters:\n",
                "clusters:\n- name: other\n  cluster: {server: 'https://192.0.2.9:6443'}\n",
            );
        let json = format!(
            "{{\"kind\": \"Config\", \"current-context\": \"c\", \"contexts\": [{{\"name\": \"c\", \
             \"context\": {{\"cluster\": \"c\", \"user\": \"u\"}}}}], \"clusters\": [{{\"name\": \"c\", \
             \"cluster\": {{\"server\": \"{}\", \"certificate-authority-data\": \"{}\"}}}}], \"users\": \
             [{{\"name\": \"u\", \"user\": {{\"token\": \"none\"}}}}]}}",
            self.server(),
            data(&ca_pem)
        );
        vec![
            self.kubeconfig(
                "kubelet.conf",
                &format!("client-certificate: {current}\nclient-key: {current}"),
            ),
            self.kubeconfig(
                "inline",
                &format!(
                    "client-certificate-data: {}\nclient-key-data: {}",
                    data(&certificate),
                    data(&key.serialize_pem())
                ),
            ),
            self.kubeconfig("exec", &self.plugin("exec", "true")),
            self.file("several", &several),
            self.file("json", &json),
            self.file("crlf", &text.replace('\n', "\r\n")),
            token,
        ]
    }

    /// The CA of another cluster.
    pub(crate) fn other_ca(&self) -> String {
        let folder = self.folder().join("other");
        fs::create_dir(&folder).unwrap();
        let other = Certificates::make(&folder, NAME, &[]).unwrap();
        other.ca.display().to_string()
    }

    pub(crate) fn command(&self, command: &str, paths: &[&PathBuf]) -> Command {
        let mut holdfast = holdfast();
        holdfast.arg(command);
        if command == "adopt" {
            holdfast.arg(format!("--admin={}", self.agent.admin));
        }
        for path in paths {
            holdfast.arg(format!("--kubeconfig={}", path.display()));
        }
        holdfast
    }

    pub(crate) fn adopt(&self, paths: &[&PathBuf]) -> Done {
        run(self.command("adopt", paths).args(["-o", "json"]))
    }

    pub(crate) fn release(&self, paths: &[&PathBuf]) -> Done {
        run(self.command("release", paths).args(["-o", "json"]))
    }

    /// How many files stand beside a kubeconfig that its adoption or an attempt left there.
    pub(crate) fn companions(&self, path: &Path) -> usize {
        let name = format!("{}.", path.file_name().unwrap().display());
        let all = fs::read_dir(self.folder()).unwrap();
        all.filter(|entry| {
            let found = entry.as_ref().unwrap().file_name();
            found.to_string_lossy().starts_with(&name)
        })
        .count()
    }

    /// What a heartbeat is: a PUT of the node's lease, by a client that reads the kubeconfig anew.
    pub(crate) fn put(path: &Path) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let text = |error: &dyn std::fmt::Display| error.to_string();
            let kubeconfig = Kubeconfig::read_from(path).map_err(|e| text(&e))?;
            let options = KubeConfigOptions::default();
            let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
            let client = kube::Client::try_from(config.await.map_err(|e| text(&e))?);
            let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node1";
            let body = br#"{"metadata": {"name": "node1"}, "spec": {"holderIdentity": "node1"}}"#;
            let request = http::Request::put(lease)
                .header("content-type", "application/json")
                .body(body.to_vec())
                .unwrap();
            let client = client.map_err(|e| text(&e))?;
            let asked = tokio::time::timeout(PATIENCE, client.request_text(request)).await;
            asked.map_err(|e| text(&e))?.map(drop).map_err(|e| text(&e))
        })
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
