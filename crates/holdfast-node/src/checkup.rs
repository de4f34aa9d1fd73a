//! Looks at this node and its cluster, and says what must be mended before an agent can do its work.
//!
//! Each part asks one thing and gives findings. The live questions go out side by side and end
//! within a bounded time, whatever is silent.

mod authority;
mod endpoint;
mod guard;
mod kubeconfig;
mod ports;

use std::path::PathBuf;

use holdfast_core::budget::{Budget, ClusterTimers};
use holdfast_core::checkup::{Checkup, Finding, Subject};
use holdfast_core::config::Config;

/// What a checkup needs to know beyond the agent's configuration.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// Kubeconfigs of the clients on this node.
    pub kubeconfigs: Vec<PathBuf>,
    /// The cluster's own timers.
    pub timers: ClusterTimers,
}

/// Looks at everything. Must be called within a runtime.
pub async fn look(config: &Config, questions: &Questions) -> Checkup {
    let mut findings = vec![Finding::ok(
        Subject::Configuration,
        format!("valid, for {}", config.endpoint),
    )];
    findings.extend(authority::look(config));
    let seen = endpoint::look(config).await;
    findings.extend(seen.findings);
    findings.extend(ports::look(config));
    findings.extend(guard::look(config));
    for path in &questions.kubeconfigs {
        findings.push(kubeconfig::look(path, config, &seen.answering).await);
    }
    let budget = Budget::of(config, questions.timers);
    findings.push(judge(&budget));
    Checkup::of(findings, Some(budget))
}

fn judge(budget: &Budget) -> Finding {
    let grace = budget.grace_s;
    let Some(worst) = budget.worst() else {
        return Finding::ok(Subject::Budget, "nothing to add up");
    };
    let total = worst.total_s;
    if budget.within {
        return Finding::ok(
            Subject::Budget,
            format!("a lost path keeps heartbeats away for {total:.1} s at most, of {grace:.0} s"),
        );
    }
    let largest = worst
        .terms
        .iter()
        .max_by(|one, other| one.time_s.total_cmp(&other.time_s));
    let largest = largest.map_or_else(String::new, |term| {
        format!(
            "; its largest part is {:.1} s {} ({})",
            term.time_s, term.what, term.from
        )
    });
    Finding::fail(
        Subject::Budget,
        format!(
            "when {}, the next heartbeat may take {total:.1} s, and nodes are NotReady after \
             {grace:.0} s{largest}",
            worst.fault
        ),
        "shorten what is configured, usually probe.interval; a cluster whose \
         kube-controller-manager waits longer is told with --node-monitor-grace-period (50s is the \
         default since Kubernetes 1.32)",
    )
}
