//! What tells this machine from others.

use std::time::{SystemTime, UNIX_EPOCH};

use holdfast_core::chance::hash_text;

/// The name of this host, as `uname -n` prints it.
pub fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// A seed that differs between nodes and between starts: machines that start together must not keep
/// step.
pub fn seed(node: &str) -> u64 {
    let started = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    hash_text(node) ^ u64::from(started)
}
