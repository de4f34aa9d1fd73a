//! A cluster in a guest: etcd, kube-apiserver and kube-controller-manager as units, and the hollow kubelet as
//! `kubelet.service`.

use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use holdfast_lab::kubernetes::command::{self, AUDIT_POLICY, Machine};
use holdfast_lab::kubernetes::pki::{Pki, User};
use holdfast_lab::kubernetes::{Components, Program};
use serde_json::{Value, json};

use crate::guest::{Done, Guest, PATIENCE, eventually};
use crate::node::{Actor, NAME};

/// The node's name.
pub(super) const NODE: &str = "node1";

/// The folder with the programs; the tests here are skipped without it.
const COMPONENTS: &str = "HOLDFAST_E2E_COMPONENTS";

/// The file to which each case adds its row of the suite's table, cells separated by tabs.
const ROWS: &str = "HOLDFAST_E2E_ROWS";

/// The control plane's own address, which no fault hits.
pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(10, 99, 2, 9);

/// Two more addresses of the API server, as a balancer's: the endpoint's name has one of them.
pub(super) const FRONTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 99, 1, 1), Ipv4Addr::new(10, 99, 1, 2)];

/// After how many seconds without a heartbeat the node is Unknown: two heartbeats, so that a test need not wait
/// for the stock 50 s.
const GRACE_PERIOD_S: u32 = 20;

/// An address that is taken away has gone silent: what is sent to it goes out of the link to a neighbour who does
/// not exist.
const NETWORK: &str = "set -e; \
    ip link add eth0 type veth peer name sink; ip link set sink up; \
    ip addr add 10.99.3.1/16 dev eth0; ip link set eth0 up; ip route add default dev eth0; \
    for own in 10.99.2.9 10.99.1.1 10.99.1.2; do ip addr add $own/32 dev eth0; \
    ip neigh replace $own lladdr 02:00:00:00:00:01 dev eth0 nud permanent; done; \
    rm -f /etc/resolv.conf /etc/hosts; \
    echo 'nameserver 127.0.0.1' > /etc/resolv.conf; \
    printf '127.0.0.1 localhost\\n10.99.3.1 node1\\n' > /etc/hosts";

/// The cluster.
pub(super) struct Cluster {
    pub(super) guest: Guest,
    pub(super) dns: Actor,
    admin: PathBuf,
    pki: Pki,
}

/// What a case came to, as the suite's table has it.
pub(super) struct Row<'a> {
    pub(super) case: &'a str,
    /// What the API said of the node meanwhile.
    pub(super) said: &'a str,
    /// What Holdfast did.
    pub(super) did: &'a str,
    /// What became of the kubelet's process.
    pub(super) kubelet: &'a str,
    /// From the fault until the node was Ready again, or its heartbeats went on.
    pub(super) mended_after: Option<Duration>,
}

impl Row<'_> {
    /// Adds it to the suite's table, if one is wanted.
    pub(super) fn write(&self) {
        let Some(path) = std::env::var_os(ROWS) else {
            return;
        };
        let mended = self.mended_after.map_or_else(
            || "-".to_owned(),
            |time| format!("{:.1} s", time.as_secs_f64()),
        );
        let row = [self.case, self.said, self.did, self.kubelet, &mended].join("\t");
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        writeln!(file, "{row}").unwrap();
    }
}

impl Cluster {
    /// Boots it and waits until the node is Ready. `units` are not started. `None`, and a loud word, where that
    /// can't be done.
    pub(super) fn boot(units: &[(&str, &str)]) -> Option<Self> {
        let Some(folder) = std::env::var_os(COMPONENTS) else {
            let hint = "make e2e builds them and runs this";
            let tell =
                format!("SKIPPED: the components of Kubernetes are not there\n  hint: {hint}");
            writeln!(std::io::stderr(), "{tell}").unwrap();
            return None;
        };
        Components::find(Some(Path::new(&folder))).unwrap();
        let guest = Guest::boot_beside(units, Some(Path::new(&folder)), |_| {})?;
        inside(&guest, NETWORK);
        let shared = guest.shared("");
        // What the keys' files are called outside, they are called inside.
        let link = format!(
            "mkdir -p {0}; rmdir {0}; ln -s /shared {0}",
            trimmed(&shared)
        );
        inside(&guest, &link);
        let dns = ["dns", "--listen", "127.0.0.1:53", "--zone-name", NAME];
        let mut dns = Actor::start(&guest, &dns);
        dns.order(&format!("set {NAME} ttl=1s A {}", FRONTS[0]));
        let pki = Pki::make(&shared).unwrap();
        let admin = User {
            name: "admin",
            group: Some("system:masters"),
        };
        let admin = pki.kubeconfig(admin, &own(), NAME).unwrap();
        let cluster = Self {
            guest,
            dns,
            admin,
            pki,
        };
        cluster.start();
        Some(cluster)
    }

    fn start(&self) {
        let shared = self.guest.shared("");
        let machine = Machine {
            name: "cp1".to_owned(),
            address: OWN,
            folder: shared.clone(),
        };
        let addresses = [OWN, FRONTS[0], FRONTS[1]];
        let serving = self.pki.serve(&[NAME, "localhost"], &addresses).unwrap();
        let policy = shared.join("audit-policy.yaml");
        fs::write(&policy, AUDIT_POLICY).unwrap();
        let manager = User {
            name: "system:kube-controller-manager",
            group: None,
        };
        let manager = self.pki.kubeconfig(manager, &own(), NAME).unwrap();
        let kubelet = self.kubelets_kubeconfig();
        let all = std::slice::from_ref(&machine);
        for (unit, program, arguments) in [
            ("etcd", Program::Etcd, command::etcd(&machine, all)),
            (
                "kube-apiserver",
                Program::ApiServer,
                command::api_server(&machine, &self.pki, &serving, &policy, true),
            ),
            (
                "kube-controller-manager",
                Program::ControllerManager,
                command::controller_manager(&manager, &self.pki, Some(GRACE_PERIOD_S)),
            ),
            (
                "kubelet",
                Program::HollowKubelet,
                command::hollow_kubelet(NODE, 0, &kubelet),
            ),
        ] {
            let text = unit_text(program, &arguments);
            fs::write(shared.join(format!("{unit}.service")), text).unwrap();
        }
        inside(&self.guest, "cp /shared/*.service /run/systemd/system/");
        self.systemctl(&["daemon-reload"]);
        self.systemctl(&["start", "etcd", "kube-apiserver"]);
        eventually("the API answers", || {
            let ready = self.kubectl(&["get", "--raw", "/readyz"]);
            (ready.code == Some(0)).then_some(())
        });
        self.systemctl(&["start", "kube-controller-manager", "kubelet"]);
        self.until_ready("True");
    }

    /// The kubeconfig of the kubelet, which finds the API by its name.
    pub(super) fn kubelets_kubeconfig(&self) -> PathBuf {
        let kubelet = User {
            name: &format!("system:node:{NODE}"),
            group: Some("system:nodes"),
        };
        let server = format!("https://{NAME}:6443");
        self.pki.kubeconfig(kubelet, &server, NAME).unwrap()
    }

    /// The account of the node check, as it ships, and a kubeconfig with its token at /shared/check.kubeconfig.
    pub(super) fn let_check(&self) {
        let shipped = include_str!("../../../../../deploy/kubernetes/node-check.yaml");
        fs::write(self.guest.shared("node-check.yaml"), shipped).unwrap();
        self.told(&["apply", "--filename=/shared/node-check.yaml"]);
        let token = [
            "create",
            "token",
            "holdfast-node-check",
            "--namespace=holdfast",
        ];
        let token = self.told(&token);
        let credentials = json!({"token": token.trim()});
        let path = self.guest.shared("check.kubeconfig");
        self.pki
            .kubeconfig_with(&path, &own(), NAME, &credentials)
            .unwrap();
    }

    pub(super) fn kubectl(&self, arguments: &[&str]) -> Done {
        let kubeconfig = format!("--kubeconfig={}", self.admin.display());
        let mut all = vec![kubeconfig.as_str(), "--cache-dir=/run/kubectl"];
        all.extend(arguments);
        self.guest.run("/opt/kubernetes/kubectl", &all)
    }

    /// What kubectl prints when it succeeds.
    pub(super) fn told(&self, arguments: &[&str]) -> String {
        let done = self.kubectl(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
        done.out
    }

    /// The node, as the API has it.
    pub(super) fn node(&self) -> Value {
        let done = self.kubectl(&["get", "node", NODE, "--output=json"]);
        serde_json::from_str(&done.out).unwrap_or_default()
    }

    /// When the kubelet last renewed its lease, as the API has it; nothing before the first time.
    pub(super) fn renewed(&self) -> String {
        let lease = ["get", "lease", NODE, "--namespace=kube-node-lease"];
        let output = "--output=jsonpath={.spec.renewTime}";
        self.kubectl(&[&lease[..], &[output]].concat()).out
    }

    /// Its condition `Ready`: status and reason.
    pub(super) fn ready(&self) -> (String, String) {
        let node = self.node();
        let conditions = node.pointer("/status/conditions");
        let conditions = conditions.and_then(Value::as_array);
        let mut all = conditions.into_iter().flatten();
        let ready = all.find(|one| one["type"] == "Ready");
        let text = |key: &str| {
            let value = ready.and_then(|one| one[key].as_str());
            value.unwrap_or_default().to_owned()
        };
        (text("status"), text("reason"))
    }

    /// Waits until its condition `Ready` has this status, and gives the reason.
    pub(super) fn until_ready(&self, status: &str) -> String {
        eventually(&format!("Ready is {status}"), || {
            let (is, reason) = self.ready();
            (is == status).then_some(reason)
        })
    }

    /// The kubelet hangs, and its last word was that it is not ready.
    pub(super) fn hang_unready(&self) {
        self.systemctl(&["kill", "--signal=STOP", "kubelet"]);
        let status = json!({"status": {"conditions": [{
            "type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "PLEG is not healthy",
        }]}});
        let patch = ["patch", "node", NODE, "--subresource=status", "--patch"];
        self.told(&[&patch[..], &[status.to_string().as_str()]].concat());
        assert_eq!(self.ready().0, "False");
    }

    /// Takes an address away, so that it is silent.
    pub(super) fn silence(&self, front: Ipv4Addr) {
        inside(&self.guest, &format!("ip addr del {front}/32 dev eth0"));
    }

    pub(super) fn systemctl(&self, arguments: &[&str]) {
        let done = self.guest.systemctl(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    }

    /// The kubelet's process.
    pub(super) fn kubelet(&self) -> String {
        self.guest.property("kubelet.service", "MainPID")
    }

    /// Waits until the journal of a unit has this text, and gives all of it.
    pub(super) fn says(&self, unit: &str, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let journal = self.guest.journal(unit);
            if journal.contains(text) {
                return journal;
            }
            assert!(
                Instant::now() < until,
                "{unit} never said {text:?}: {journal}"
            );
            thread::sleep(Duration::from_millis(200));
        }
    }
}

/// The API server as those find it who do not depend on the endpoint's name.
fn own() -> String {
    format!("https://{OWN}:6443")
}

fn inside(guest: &Guest, script: &str) {
    let done = guest.run("bash", &["-c", script]);
    assert_eq!(done.code, Some(0), "{script}: {done:?}");
}

/// A folder's path without the slash at its end, with which a link could not be made.
fn trimmed(folder: &Path) -> String {
    folder
        .display()
        .to_string()
        .trim_end_matches('/')
        .to_owned()
}

fn unit_text(program: Program, arguments: &[String]) -> String {
    let command: Vec<String> = arguments.iter().map(|one| format!("\"{one}\"")).collect();
    format!(
        "[Unit]\nDefaultDependencies=no\n[Service]\n\
         Environment=TMPDIR=/run HOME=/root\n\
         ExecStart=/opt/kubernetes/{} {}\n",
        program.file(),
        command.join(" ")
    )
}
