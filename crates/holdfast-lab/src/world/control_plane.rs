//! The real control plane of a world, started in the order in which its parts need each other.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use super::part::{Call, Readiness};
use super::{DIRECTORY, World, WorldError, missing};
use crate::certificates::{CertificateError, Certificates};
use crate::kubernetes::command::{self, Machine};
use crate::kubernetes::pki::{Pair, Pki, User};
use crate::kubernetes::{Program, Real};
use crate::measure::PartKind;
use crate::peer;
use crate::scenario::{Credentials, ENDPOINT, Scenario};
use crate::subject::API_PORT;

/// The real components in a world.
#[derive(Debug)]
pub struct ControlPlane {
    real: Real,
    pki: Pki,
    machines: Vec<Machine>,
}

/// Where the observer looks from.
pub const OBSERVER: &str = "observer";

/// Runs its arguments again whenever they end, for as long as the world lasts.
const RESTARTED: &str = "while :; do \"$@\"; sleep 1; done";

/// The name of the etcd member beside a server; verbs reach it by this.
pub fn etcd_member(server: &str) -> String {
    format!("etcd-{server}")
}

impl ControlPlane {
    /// Makes the keys, in the world's directory.
    pub(super) fn prepare(real: &Real) -> Result<Self, WorldError> {
        Ok(Self {
            real: real.clone(),
            pki: Pki::make(Path::new(DIRECTORY))?,
            machines: Vec::new(),
        })
    }

    /// The certificates that the rest of a world knows.
    pub(super) fn certificates(&self, reachable: &[Ipv4Addr]) -> Result<Certificates, WorldError> {
        let pair = self.pki.serve(
            &[ENDPOINT, "localhost", "kubernetes.default.svc"],
            reachable,
        )?;
        Ok(Certificates {
            ca: self.pki.ca(),
            server: pair.certificate,
            key: pair.key,
        })
    }

    /// The path of one of the components.
    pub fn program(&self, program: Program) -> PathBuf {
        self.real.components.program(program)
    }

    /// The version of the components.
    pub fn version(&self) -> String {
        self.real.components.version()
    }

    /// A kubeconfig for a kubelet that finds the API at `server`.
    pub fn node_kubeconfig(&self, node: &str, server: &str) -> Result<PathBuf, WorldError> {
        let user = User {
            name: &format!("system:node:{node}"),
            group: Some("system:nodes"),
        };
        Ok(self.pki.kubeconfig(user, server, ENDPOINT)?)
    }

    /// A kubeconfig for an agent that finds the API at `server` and has a service account's token, in
    /// a file or from a program that prints it.
    pub fn agent_kubeconfig(
        &self,
        credentials: Credentials,
        server: &str,
        token: &str,
    ) -> Result<PathBuf, WorldError> {
        let folder = Path::new(DIRECTORY);
        let token_file = folder.join("agent.token");
        let path = folder.join("agent.kubeconfig");
        let credentials = match credentials {
            Credentials::Certificate => return self.node_kubeconfig("agent", server),
            Credentials::Token => {
                write(&token_file, token)?;
                serde_json::json!({"tokenFile": token_file})
            }
            Credentials::Exec => {
                let plugin = folder.join("agent-credentials");
                let printed = serde_json::json!({
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "kind": "ExecCredential",
                    "status": {"token": token},
                });
                write(&plugin, &format!("echo '{printed}'\n"))?;
                serde_json::json!({"exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "sh",
                    "args": [plugin],
                    "interactiveMode": "Never",
                }})
            }
        };
        self.pki
            .kubeconfig_with(&path, server, ENDPOINT, &credentials)?;
        Ok(path)
    }

    /// What nodes asked each server for, one JSON object per line.
    pub fn audit_logs(&self) -> Vec<PathBuf> {
        self.machines.iter().map(command::audit_log).collect()
    }

    fn admin_kubeconfig(&self, machine: &Machine) -> Result<PathBuf, WorldError> {
        let user = User {
            name: &format!("admin-{}", machine.name),
            group: Some("system:masters"),
        };
        let server = format!("https://{}:{API_PORT}", machine.address);
        Ok(self.pki.kubeconfig(user, &server, ENDPOINT)?)
    }
}

impl World {
    /// Starts an etcd member and an API server on each server's place, the balancers, and on the last
    /// server the controller manager.
    pub(super) fn start_control_plane(
        &mut self,
        scenario: &Scenario,
        plane: &mut ControlPlane,
    ) -> Result<(), WorldError> {
        for server in &scenario.servers {
            let place = self.places.get(server);
            let place = place.ok_or_else(|| missing("start", server))?;
            let folder = Path::new(DIRECTORY).join(server);
            std::fs::create_dir_all(&folder).map_err(|source| CertificateError::Write {
                path: folder.clone(),
                source,
            })?;
            plane.machines.push(Machine {
                name: server.clone(),
                address: place.address,
                folder,
            });
        }
        let policy = Path::new(DIRECTORY).join("audit-policy.yaml");
        write(&policy, command::AUDIT_POLICY)?;
        let serving = Pair {
            certificate: self.certificates.server.clone(),
            key: self.certificates.key.clone(),
        };
        for machine in &plane.machines {
            let call = Call {
                place: machine.name.clone(),
                program: plane.program(Program::Etcd),
                arguments: command::etcd(machine, &plane.machines),
                readiness: Readiness::Unasked,
            };
            self.start_part(&etcd_member(&machine.name), None, call)?;
        }
        for machine in &plane.machines {
            let call = Call {
                place: machine.name.clone(),
                program: plane.program(Program::ApiServer),
                arguments: command::api_server(
                    machine,
                    &plane.pki,
                    &serving,
                    &policy,
                    scenario.anonymous,
                ),
                readiness: Readiness::Accepts(SocketAddrV4::new(machine.address, API_PORT)),
            };
            self.start_part(&machine.name, Some(PartKind::Server), call)?;
        }
        self.start_balancers(scenario)?;
        if let Some(last) = plane.machines.last() {
            let user = User {
                name: "system:kube-controller-manager",
                group: None,
            };
            // Its own server's loopback, as kubeadm sets it up.
            let server = format!("https://127.0.0.1:{API_PORT}");
            let kubeconfig = plane.pki.kubeconfig(user, &server, ENDPOINT)?;
            // It gives up when its API server is not healthy after ten seconds, as may be on a busy
            // machine. In a cluster the kubelet would start it again.
            let mut arguments = vec!["-c".to_owned(), RESTARTED.to_owned(), "kcm".to_owned()];
            let program = plane.program(Program::ControllerManager);
            arguments.push(program.display().to_string());
            arguments.extend(command::controller_manager(
                &kubeconfig,
                &plane.pki,
                plane.real.grace_period_s,
            ));
            let call = Call {
                place: last.name.clone(),
                program: PathBuf::from("sh"),
                arguments,
                readiness: Readiness::Unasked,
            };
            self.start_part("kcm", None, call)?;
        }
        Ok(())
    }

    fn start_balancers(&mut self, scenario: &Scenario) -> Result<(), WorldError> {
        for (balancer, targets) in &scenario.balancers {
            let haproxy = peer::find("haproxy").ok_or(WorldError::Balancer)?;
            let listen = self
                .api_addresses(std::slice::from_ref(balancer))
                .first()
                .copied()
                .ok_or_else(|| missing("start", balancer))?;
            let file = Path::new(DIRECTORY).join(format!("{balancer}.cfg"));
            write(
                &file,
                &command::balancer(listen, &self.api_addresses(targets)),
            )?;
            let call = Call {
                place: balancer.clone(),
                program: haproxy,
                arguments: vec![
                    "-db".to_owned(),
                    "-f".to_owned(),
                    file.display().to_string(),
                ],
                readiness: Readiness::Accepts(listen),
            };
            self.start_part(balancer, Some(PartKind::Balancer), call)?;
        }
        Ok(())
    }

    /// Kubeconfigs with an administrator's rights, one for each server.
    pub fn admin_kubeconfigs(&self) -> Result<Vec<PathBuf>, WorldError> {
        let Some(plane) = &self.plane else {
            return Ok(Vec::new());
        };
        plane
            .machines
            .iter()
            .map(|machine| plane.admin_kubeconfig(machine))
            .collect()
    }
}

fn write(path: &Path, text: &str) -> Result<(), WorldError> {
    std::fs::write(path, text).map_err(|source| {
        CertificateError::Write {
            path: path.to_owned(),
            source,
        }
        .into()
    })
}
