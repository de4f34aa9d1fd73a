//! How each real component is called. Pure: takes places and files, returns arguments.
//!
//! Everything that is not named here is stock: leases of 40 s renewed every 10 s, HTTP/2 pings of
//! 30 s + 15 s, the version's own node monitor grace period.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use super::pki::{Pair, Pki, SERVICES};
use crate::subject::API_PORT;

/// Where etcd serves its clients and its peers (etcd.io, "Configuration options").
const ETCD: (u16, u16) = (2379, 2380);

/// Where the first kubelet of a machine listens (kubernetes, `pkg/cluster/ports`); kubelets that share a
/// machine each have the next number.
const KUBELET: (u16, u16) = (10250, 10350);

/// One machine of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its own folder, for data and logs.
    pub folder: PathBuf,
}

/// For how long a server that was told to stop goes on serving while `/readyz` fails. Stock is 0, which
/// leaves nobody time to notice; installers set it.
const SHUTDOWN_DELAY: &str = "10s";

/// etcd's arguments on `machine`, one of `all`.
///
/// It does not wait for the disk: a world does not outlive its machine, and shared disks are slow.
pub fn etcd(machine: &Machine, all: &[Machine]) -> Vec<String> {
    let (client, peer) = ETCD;
    let address = machine.address;
    let cluster: Vec<String> = all
        .iter()
        .map(|one| format!("{}=http://{}:{peer}", one.name, one.address))
        .collect();
    vec![
        format!("--name={}", machine.name),
        format!("--data-dir={}", machine.folder.join("etcd").display()),
        "--unsafe-no-fsync".to_owned(),
        format!("--listen-client-urls=http://127.0.0.1:{client}"),
        format!("--advertise-client-urls=http://127.0.0.1:{client}"),
        format!("--listen-peer-urls=http://{address}:{peer}"),
        format!("--initial-advertise-peer-urls=http://{address}:{peer}"),
        format!("--initial-cluster={}", cluster.join(",")),
    ]
}

/// kube-apiserver's arguments on `machine`; `anonymous`: it answers somebody without credentials, which
/// is stock. It uses the etcd member beside it, as kubeadm's stacked
/// control planes do, and writes what nodes ask for into [`audit_log`].
pub fn api_server(
    machine: &Machine,
    pki: &Pki,
    serving: &Pair,
    audit_policy: &Path,
    anonymous: bool,
) -> Vec<String> {
    let tokens = pki.token_key();
    let file = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    vec![
        format!("--etcd-servers=http://127.0.0.1:{}", ETCD.0),
        format!("--secure-port={API_PORT}"),
        "--bind-address=0.0.0.0".to_owned(),
        format!("--advertise-address={}", machine.address),
        format!("--service-cluster-ip-range={SERVICES}"),
        file("tls-cert-file", &serving.certificate),
        file("tls-private-key-file", &serving.key),
        file("client-ca-file", &pki.ca()),
        file("service-account-key-file", &tokens.certificate),
        file("service-account-signing-key-file", &tokens.key),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--authorization-mode=Node,RBAC".to_owned(),
        "--endpoint-reconciler-type=lease".to_owned(),
        format!("--anonymous-auth={anonymous}"),
        format!("--shutdown-delay-duration={SHUTDOWN_DELAY}"),
        file("audit-policy-file", audit_policy),
        file("audit-log-path", &audit_log(machine)),
    ]
}

/// The log of what nodes asked `machine` for, one JSON object per line (audit.k8s.io/v1, `Event`).
pub fn audit_log(machine: &Machine) -> PathBuf {
    machine.folder.join("audit.log")
}

/// A policy that logs the reads with which a node rebuilds its caches, and nothing else.
pub const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
  - level: Metadata
    userGroups: [\"system:nodes\"]
    verbs: [list, watch]
  - level: None
";

/// A line of an audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct Audited {
    /// The node that asked.
    pub node: String,
    /// When, in seconds of the wall clock.
    pub wall_s: f64,
    /// It asked for everything of a kind: by a list, or by a watch that begins with one
    /// (KEP-3157, `sendInitialEvents`).
    pub lists_all: bool,
}

/// Reads a line of an audit log; none if it is not about a node.
pub fn audited(line: &str) -> Option<Audited> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |path: &str| event.pointer(path)?.as_str();
    let at: jiff::Timestamp = text("/requestReceivedTimestamp")?.parse().ok()?;
    let lists_all = match text("/verb")? {
        "list" => true,
        _ => text("/requestURI")?.contains("sendInitialEvents=true"),
    };
    Some(Audited {
        node: text("/user/username")?
            .strip_prefix("system:node:")?
            .to_owned(),
        wall_s: at.as_duration().as_secs_f64(),
        lists_all,
    })
}

/// kube-controller-manager's arguments. It runs alone, so it need not win an election first.
pub fn controller_manager(
    kubeconfig: &Path,
    pki: &Pki,
    grace_period_s: Option<u32>,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--use-service-account-credentials=true".to_owned(),
        format!(
            "--service-account-private-key-file={}",
            pki.token_key().key.display()
        ),
        format!("--root-ca-file={}", pki.ca().display()),
    ];
    if let Some(seconds) = grace_period_s {
        arguments.push(format!("--node-monitor-grace-period={seconds}s"));
    }
    arguments
}

/// The hollow kubelet's arguments as `node`, the `number`th on its machine.
pub fn hollow_kubelet(node: &str, number: u16, kubeconfig: &Path) -> Vec<String> {
    let (port, read_only_port) = KUBELET;
    vec![
        format!("--kubelet-port={}", port + number),
        format!("--kubelet-read-only-port={}", read_only_port + number),
        "--morph=kubelet".to_owned(),
        format!("--name={node}"),
        format!("--kubeconfig={}", kubeconfig.display()),
        "--use-host-image-service=false".to_owned(),
    ]
}

/// `haproxy`'s configuration as a layer-4 balancer with an address of its own: it asks each server for a
/// TCP connection, as a cloud's balancer does by default, and so takes a hung server for a live one.
pub fn balancer(listen: SocketAddrV4, to: &[SocketAddrV4]) -> String {
    let servers: Vec<String> = to
        .iter()
        .enumerate()
        .map(|(index, address)| format!("    server s{index} {address} check\n"))
        .collect();
    let servers = servers.concat();
    format!(
        "defaults\n    mode tcp\n    timeout connect 5s\n    timeout client 1h\n    timeout server 1h\n\
         listen api\n    bind {listen}\n    balance roundrobin\n    default-server inter 2s fall 2 rise 2\n{servers}"
    )
}

#[cfg(test)]
mod tests;
