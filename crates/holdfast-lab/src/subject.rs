//! The subjects: what may run on a node between its client and the API servers.

pub mod status;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::ENDPOINT;

/// The port of API servers, balancers and the endpoint.
pub const API_PORT: u16 = 6443;
/// Where Holdfast listens for the node's clients.
const HOLDFAST_PORT: u16 = 6445;
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
    /// The node's name; it decides which upstream the agent prefers.
    pub node_name: String,
}

impl Subject {
    /// Every subject, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Holdfast];

    /// The subject as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Holdfast => "holdfast",
        }
    }

    /// The name of its node.
    pub fn node(self) -> String {
        format!("node-{self}")
    }

    /// The server as the node's client is told.
    pub fn server(self) -> String {
        match self {
            Self::Direct => format!("https://{ENDPOINT}:{API_PORT}"),
            Self::Holdfast => format!("https://127.0.0.1:{HOLDFAST_PORT}"),
        }
    }

    /// The arguments of what runs on the node besides the client, if anything does.
    pub fn agent(self, around: &Surroundings) -> Option<Vec<String>> {
        match self {
            Self::Direct => None,
            Self::Holdfast => {
                let mut arguments: Vec<String> = [
                    "agent",
                    "--endpoint",
                    &format!("https://{ENDPOINT}:{API_PORT}"),
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
                Some(arguments)
            }
        }
    }

    /// Whether the client knows which address a connection leads to, since it dialled it itself.
    pub const fn dials_itself(self) -> bool {
        matches!(self, Self::Direct)
    }

    /// Every subject's label, for messages.
    pub fn accepted() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
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
