//! Who is measured: what stands between the client and the API server.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::backend;
use crate::peer::{Missing, Peer};

/// `haproxy` as kubeadm's guide sets it up.
const HAPROXY: &str = include_str!("../../peers/bench/haproxy.cfg");
/// The same, made to splice.
const HAPROXY_SPLICE: &str = include_str!("../../peers/bench/haproxy-splice.cfg");
/// nginx as kubespray sets it up.
const NGINX: &str = include_str!("../../peers/bench/nginx.conf");

/// One of those who are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// Nothing: the client dials the backend.
    Direct,
    /// `holdfast agent`.
    Holdfast,
    /// `haproxy` in TCP mode.
    Haproxy,
    /// The same, but it moves everything with splice(2).
    HaproxySplice,
    /// nginx with its stream module.
    Nginx,
}

impl Contender {
    /// Everybody, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Direct,
        Self::Holdfast,
        Self::Haproxy,
        Self::HaproxySplice,
        Self::Nginx,
    ];

    /// The contender as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Holdfast => "holdfast",
            Self::Haproxy => "haproxy",
            Self::HaproxySplice => "haproxy-splice",
            Self::Nginx => "nginx",
        }
    }

    /// The port of 127.0.0.1 where clients find it; that of a peer is in its configuration.
    pub const fn port(self) -> u16 {
        match self {
            Self::Direct => backend::ADDRESS.port(),
            Self::Holdfast => 6445,
            Self::Haproxy => 7001,
            Self::HaproxySplice => 7002,
            Self::Nginx => 7003,
        }
    }

    /// What this machine lacks for it.
    pub fn missing(self) -> Option<Missing> {
        self.peer()?.missing()
    }

    /// The peer's program and settings; none for the others.
    pub(super) const fn peer(self) -> Option<Peer> {
        match self {
            Self::Direct | Self::Holdfast => None,
            Self::Haproxy => Some(Peer::haproxy(HAPROXY)),
            Self::HaproxySplice => Some(Peer::haproxy(HAPROXY_SPLICE)),
            Self::Nginx => Some(Peer::nginx(NGINX)),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|contender| contender.as_str() == text)
            .ok_or_else(|| {
                let accepted = Self::ALL.map(Self::as_str).join(", ");
                format!("found {text:?}, accepted: {accepted}")
            })
    }
}
