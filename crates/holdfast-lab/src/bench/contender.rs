//! Who is measured: what stands between the client and the API server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::backend;

/// `haproxy` as kubeadm's guide sets it up.
const HAPROXY: &str = include_str!("../../peers/haproxy.cfg");
/// The same, made to splice.
const HAPROXY_SPLICE: &str = include_str!("../../peers/haproxy-splice.cfg");
/// nginx as kubespray sets it up.
const NGINX: &str = include_str!("../../peers/nginx.conf");

/// Where Debian's nginx keeps its stream module.
const STREAM_MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";

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

/// What a peer needs and this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The program or file.
    pub what: String,
    /// The command that installs it on Debian.
    pub install: &'static str,
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
        let lacks = |what: &str, install| {
            Some(Missing {
                what: what.to_owned(),
                install,
            })
        };
        let peer = self.peer()?;
        if peer.find().is_none() {
            return lacks(peer.program, peer.install);
        }
        if self == Self::Nginx && !Path::new(STREAM_MODULE).exists() {
            return lacks(STREAM_MODULE, "apt-get install libnginx-mod-stream");
        }
        None
    }

    /// The peer's program and settings; none for the others.
    pub(super) const fn peer(self) -> Option<Peer> {
        const fn haproxy(file: &'static str, configuration: &'static str) -> Peer {
            Peer {
                program: "haproxy",
                file,
                configuration,
                arguments: &["-db", "-f"],
                install: "apt-get install haproxy",
            }
        }
        match self {
            Self::Direct | Self::Holdfast => None,
            Self::Haproxy => Some(haproxy("haproxy.cfg", HAPROXY)),
            Self::HaproxySplice => Some(haproxy("haproxy-splice.cfg", HAPROXY_SPLICE)),
            Self::Nginx => Some(Peer {
                program: "nginx",
                file: "nginx.conf",
                configuration: NGINX,
                arguments: &["-c"],
                install: "apt-get install nginx-light libnginx-mod-stream",
            }),
        }
    }
}

/// A peer's program and settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    program: &'static str,
    /// The name of its configuration.
    pub(super) file: &'static str,
    /// The text of its configuration.
    pub(super) configuration: &'static str,
    /// What comes before the path of its configuration.
    pub(super) arguments: &'static [&'static str],
    install: &'static str,
}

impl Peer {
    /// Its program, also where only root's path has it.
    pub(super) fn find(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/usr/sbin".into(), "/sbin".into()])
            .map(|directory| directory.join(self.program))
            .find(|file| file.is_file())
    }

    /// What it says about its version.
    pub(super) fn version(&self) -> Option<String> {
        let output = std::process::Command::new(self.find()?).arg("-v").output();
        let output = output.ok()?;
        // haproxy says it on its output, nginx on its standard error.
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Some(said.lines().next()?.trim().to_owned())
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
