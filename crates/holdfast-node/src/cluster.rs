//! A Kubernetes client made from a kubeconfig, on a transport that notices when the other end is gone.
//!
//! The typed calls are the `kube` crate's. The transport below them is our own, since the stock one
//! sets no socket option and follows the kubeconfig's server alone: this one can send requests
//! through any of the addresses that a [`Route`] names, while TLS still verifies the name that the
//! kubeconfig expects. Credentials are our own too: files are read again when they change, a plug-in
//! has a bounded time, and no error repeats what a file or a plug-in said, since that may be a secret.
//!
//! It speaks HTTP/1.1. A request that is given up then ends its connection, and the next one starts
//! anew with the best address; on HTTP/2 it would meet the same silent connection again.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

mod connect;
mod kubeconfig;
mod material;
mod plugin;
mod session;
#[cfg(test)]
mod tests;
mod transport;

pub use connect::{ConnectError, Failure};
pub use kubeconfig::KubeconfigError;
pub use plugin::PluginError;
pub use transport::TransportError;

use kubeconfig::Access;
use transport::Transport;

/// Yields addresses, best first, for each new connection.
pub type Addresses = Arc<dyn Fn() -> Vec<SocketAddr> + Send + Sync>;

/// Which way requests go.
#[derive(Clone)]
pub enum Route {
    /// To the kubeconfig's own server, found as any program finds it (getaddrinfo(3), so `/etc/hosts`
    /// counts).
    Server,
    /// To one of these addresses, whatever host the kubeconfig names.
    Through(Addresses),
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "Server",
            Self::Through(_) => "Through",
        })
    }
}

/// A client for the kubeconfig at `path`. Must be called within a tokio runtime.
///
/// The file, and the files that it names, are read again when they change. A credential plug-in runs
/// at the first request. Bound each call in time: a server's first answer is waited for 10 s, but the
/// body has no limit, since a watch has none.
///
/// # Errors
/// The kubeconfig can't be used: the file, the field, what was found and what is accepted.
pub fn client(path: &Path, route: Route) -> Result<kube::Client, KubeconfigError> {
    let access = Access::read(path)?;
    let namespace = access.namespace.clone();
    let transport = Transport::with(access, route);
    Ok(kube::Client::new(transport, namespace))
}

/// The same for a kubeconfig that may not be there yet: a node's own appears only after the node has
/// joined its cluster. Until it can be used each request fails with the words of [`KubeconfigError`].
/// Must be called within a tokio runtime.
pub fn client_in_time(path: &Path, route: Route) -> kube::Client {
    kube::Client::new(Transport::at(path, route), "default")
}
