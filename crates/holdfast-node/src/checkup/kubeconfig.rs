//! One kubeconfig of a client on this node: whether it goes through the agent, and expects the right
//! name there.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use holdfast_core::checkup::{Finding, Subject};
use holdfast_core::config::Config;
use holdfast_core::kubeconfig::Kubeconfig;

use crate::tls::Identity;
use crate::trial::{Stranger, stranger};

pub(super) async fn look(path: &Path, config: &Config, answering: &[SocketAddr]) -> Finding {
    judge(path, config, answering).await.about(path.display())
}

async fn judge(path: &Path, config: &Config, answering: &[SocketAddr]) -> Finding {
    let advice = "give the kubeconfig that the client reads";
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Finding::fail(Subject::Kubeconfig, error.to_string(), advice),
    };
    let kubeconfig = match Kubeconfig::parse(&text) {
        Ok(kubeconfig) => kubeconfig,
        Err(error) => return Finding::fail(Subject::Kubeconfig, error.to_string(), advice),
    };
    let server = kubeconfig.target().server;
    let through = config
        .listen
        .iter()
        .any(|listener| kubeconfig.goes_to(*listener));
    let expected = kubeconfig.expected_name();
    if !through {
        return Finding::warn(
            Subject::Kubeconfig,
            format!("goes to {server}, not through this agent"),
            format!(
                "once the agent serves: holdfast adopt --kubeconfig {}",
                path.display()
            ),
        );
    }
    if kubeconfig.insecure {
        return Finding::warn(
            Subject::Kubeconfig,
            format!("goes through this agent to {server}, and verifies nobody"),
            "take insecure-skip-tls-verify out and set tls-server-name",
        );
    }
    if expected == config.server_name || is_accepted(&expected, config, answering).await {
        let evidence = format!("goes through this agent ({server}) and expects {expected} there");
        return Finding::ok(Subject::Kubeconfig, evidence);
    }
    Finding::fail(
        Subject::Kubeconfig,
        format!(
            "goes through this agent ({server}) and expects {expected}, which is not in the \
                 certificate"
        ),
        format!("set tls-server-name: {}", config.server_name),
    )
}

/// Whether an API server's certificate is for that name too.
async fn is_accepted(name: &str, config: &Config, answering: &[SocketAddr]) -> bool {
    let (Ok(identity), Some(address)) = (Identity::load(&config.ca, name), answering.first())
    else {
        return false;
    };
    !matches!(
        stranger(&identity, *address).await,
        Some(Stranger::OtherNames(_))
    )
}
