//! The subjects: what may run on a node between its client and the API servers.

mod guard;
mod rendering;
pub mod status;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::peer::{Missing, Peer};
use crate::scenario::ENDPOINT;

/// The port of API servers, balancers and the endpoint.
pub const API_PORT: u16 = 6443;
/// Where Holdfast listens for the node's clients.
const HOLDFAST_PORT: u16 = 6445;
/// Where other people's proxies listen for the node's clients.
const PEER_PORT: u16 = 7443;
/// Where Holdfast tells its status.
pub const ADMIN: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6446);

/// What runs on a node.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Nothing: the client dials the endpoint's name itself.
    Direct,
    /// `holdfast agent`: the client dials it on loopback.
    Holdfast,
    /// `holdfast agent` as guard alone: the client dials the endpoint's name itself.
    Guard,
    /// `holdfast agent` as proxy and guard in one: the client dials it on loopback.
    HoldfastGuard,
    /// `HAProxy` as kubeadm's guide sets it up.
    Haproxy,
    /// `HAProxy`, set to notice failures as fast as it reasonably can.
    HaproxyTuned,
    /// nginx with its stream module and its own defaults.
    Nginx,
    /// nginx as kubespray sets it up.
    KubesprayNginx,
}

/// What runs on a node besides its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// A file that it reads, with its text.
    pub file: Option<(PathBuf, String)>,
}

/// What an agent on a node is told about its world.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The DNS server.
    pub dns: SocketAddrV4,
    /// The PEM file with the cluster's CA.
    pub ca: String,
    /// Addresses known without DNS.
    pub seeds: Vec<SocketAddrV4>,
    /// Whom a proxy with a fixed list is told: the seeds, or without any what the endpoint's name
    /// resolves to at the start.
    pub servers: Vec<(String, SocketAddrV4)>,
    /// The node's name; it decides which upstream the agent prefers.
    pub node_name: String,
    /// Further flags of `holdfast agent`.
    pub flags: Vec<String>,
}

impl Surroundings {
    /// The endpoint as `NAME:PORT`.
    pub fn endpoint(&self) -> String {
        format!("{ENDPOINT}:{API_PORT}")
    }
}

impl Subject {
    /// Every subject, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Direct,
        Self::Holdfast,
        Self::Guard,
        Self::HoldfastGuard,
        Self::Haproxy,
        Self::HaproxyTuned,
        Self::Nginx,
        Self::KubesprayNginx,
    ];

    /// The subject as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Holdfast => "holdfast",
            Self::Guard => "guard",
            Self::HoldfastGuard => "holdfast-guard",
            Self::Haproxy => "haproxy",
            Self::HaproxyTuned => "haproxy-tuned",
            Self::Nginx => "nginx",
            Self::KubesprayNginx => "kubespray-nginx",
        }
    }

    /// Somebody else's program that it is, with the settings that it gets here.
    pub const fn peer(self) -> Option<Peer> {
        match self {
            Self::Direct | Self::Holdfast | Self::Guard | Self::HoldfastGuard => None,
            Self::Haproxy => Some(Peer::haproxy(include_str!("../peers/haproxy.cfg"))),
            Self::HaproxyTuned => Some(Peer::haproxy(include_str!("../peers/haproxy-tuned.cfg"))),
            Self::Nginx => Some(Peer::nginx(include_str!("../peers/nginx.conf"))),
            Self::KubesprayNginx => {
                Some(Peer::nginx(include_str!("../peers/kubespray-nginx.conf")))
            }
        }
    }

    /// What this machine lacks for it.
    pub fn missing(self) -> Option<Missing> {
        self.peer()?.missing()
    }

    /// The name of its node; links have 15 letters, one of which is the lab's (IFNAMSIZ).
    pub const fn node(self) -> &'static str {
        match self {
            Self::Direct => "node-direct",
            Self::Holdfast => "node-holdfast",
            Self::Guard => "node-guard",
            Self::HoldfastGuard => "node-hf-guard",
            Self::Haproxy => "node-haproxy",
            Self::HaproxyTuned => "node-haproxy-t",
            Self::Nginx => "node-nginx",
            Self::KubesprayNginx => "node-kubespray",
        }
    }

    /// The server as the node's client is told.
    pub fn server(self) -> String {
        match self.port() {
            None => format!("https://{ENDPOINT}:{API_PORT}"),
            Some(port) => format!("https://127.0.0.1:{port}"),
        }
    }

    /// The port that its client's connections lead to.
    pub fn api_port(self) -> u16 {
        self.port().unwrap_or(API_PORT)
    }

    /// The port of 127.0.0.1 where its client finds it; none if the client dials the endpoint itself.
    const fn port(self) -> Option<u16> {
        match self {
            Self::Direct | Self::Guard => None,
            Self::Holdfast | Self::HoldfastGuard => Some(HOLDFAST_PORT),
            Self::Haproxy | Self::HaproxyTuned | Self::Nginx | Self::KubesprayNginx => {
                Some(PEER_PORT)
            }
        }
    }

    /// What runs on the node besides the client, if anything does; `holdfast` is that program, and
    /// `directory` is where files may be written.
    pub fn agent(self, holdfast: &Path, directory: &Path, around: &Surroundings) -> Option<Agent> {
        if let Some(peer) = self.peer() {
            let run = directory.join(self.as_str());
            let file = run.with_extension("conf");
            let listen = format!("127.0.0.1:{PEER_PORT}");
            let text = rendering::render(
                peer.configuration,
                &listen,
                &run.display().to_string(),
                around,
            );
            let mut arguments: Vec<String> =
                peer.arguments.iter().map(|one| (*one).to_owned()).collect();
            arguments.push(file.display().to_string());
            return Some(Agent {
                program: peer.find()?,
                arguments,
                file: Some((file, text)),
            });
        }
        let mut arguments = agent_arguments(around);
        match self {
            Self::Holdfast => {}
            Self::Guard => arguments.extend(guard::ALONE.map(str::to_owned)),
            Self::HoldfastGuard => arguments.push(guard::EVERYONE.to_owned()),
            Self::Direct
            | Self::Haproxy
            | Self::HaproxyTuned
            | Self::Nginx
            | Self::KubesprayNginx => return None,
        }
        Some(Agent {
            program: holdfast.to_owned(),
            arguments,
            file: None,
        })
    }

    /// Where its agent tells its status, if it does.
    pub const fn admin(self) -> Option<SocketAddrV4> {
        match self {
            Self::Holdfast | Self::Guard | Self::HoldfastGuard => Some(ADMIN),
            Self::Direct
            | Self::Haproxy
            | Self::HaproxyTuned
            | Self::Nginx
            | Self::KubesprayNginx => None,
        }
    }

    /// Whether the client knows which address a connection leads to, since it dialled it itself.
    pub const fn dials_itself(self) -> bool {
        self.port().is_none()
    }

    /// Every subject's label, for messages.
    pub fn accepted() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

fn agent_arguments(around: &Surroundings) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "agent",
        "--endpoint",
        &format!("https://{}", around.endpoint()),
        "--ca",
        &around.ca,
        "--dns-server",
        &around.dns.to_string(),
        "--node-name",
        &around.node_name,
        "--log-format",
        "json",
    ]
    .map(str::to_owned)
    .to_vec();
    for seed in &around.seeds {
        arguments.extend(["--seed".to_owned(), seed.to_string()]);
    }
    arguments.extend(around.flags.iter().cloned());
    arguments
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|subject| subject.as_str() == text)
            .ok_or_else(|| format!("found {text:?}, accepted: {}", Self::accepted()))
    }
}
