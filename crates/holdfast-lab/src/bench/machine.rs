//! What the figures were measured on.

use serde::{Deserialize, Serialize};

use super::contender::Contender;

/// The machine and the versions of the programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors that this process may use.
    pub cores: usize,
    /// The processor's name.
    pub processor: String,
    /// The kernel's release.
    pub kernel: String,
    /// The TCP congestion control, which also paces what goes over loopback.
    pub congestion_control: String,
    /// What the peers say about their versions, each once.
    pub peers: Vec<String>,
    /// Whether Holdfast was built without optimisation, so that its figures mean nothing.
    pub debug_build: bool,
}

impl Machine {
    /// Looks at this machine and asks the programs.
    pub(super) fn look(contenders: &[Contender]) -> Self {
        let mut peers: Vec<String> = contenders
            .iter()
            .filter_map(|contender| contender.peer()?.version())
            .collect();
        peers.dedup();
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let processor = text("/proc/cpuinfo")
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map_or_else(
                || std::env::consts::ARCH.to_owned(),
                |(_, name)| name.to_owned(),
            );
        let setting = |path: &str| text(path).trim().to_owned();
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor,
            kernel: setting("/proc/sys/kernel/osrelease"),
            congestion_control: setting("/proc/sys/net/ipv4/tcp_congestion_control"),
            peers,
            debug_build: cfg!(debug_assertions),
        }
    }
}
