//! How a node's own programs resolve names: with files that name the lab's DNS server, put over the
//! host's for this world alone. The world has a mount namespace of its own.

use std::path::Path;

use tokio::process::Command;

use super::{DIRECTORY, DNS, World, WorldError};

impl World {
    /// Makes every program in this world ask the lab's DNS server.
    pub(super) async fn resolve_as_nodes(&self) -> Result<(), WorldError> {
        let resolvers = format!("nameserver {}\noptions timeout:1 attempts:2\n", DNS.ip());
        cover("/etc/resolv.conf", &resolvers).await?;
        // A kubelet looks its own name up, to learn its address.
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for (name, place) in &self.places {
            let mut names = vec![place.address.to_string(), name.clone()];
            names.extend((0..u8::MAX).map(|number| format!("{name}-{number}")));
            hosts.push_str(&names.join(" "));
            hosts.push('\n');
        }
        cover("/etc/hosts", &hosts).await
    }
}

/// Puts a file with that text over the one at `path`.
async fn cover(path: &str, text: &str) -> Result<(), WorldError> {
    let name = Path::new(path).file_name().unwrap_or_default();
    let own = Path::new(DIRECTORY).join(name);
    std::fs::write(&own, text).map_err(|error| WorldError::Resolving(error.to_string()))?;
    // Where /etc/resolv.conf is a link, what it leads to is covered.
    let below = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let output = Command::new("mount")
        .arg("--bind")
        .arg(&own)
        .arg(&below)
        .output()
        .await
        .map_err(|error| WorldError::Resolving(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(WorldError::Resolving(said.trim().to_owned()))
}
