//! The command line: what can be asked of `holdfast`.

use clap::{Parser, Subcommand};

use crate::cmd;

/// Keeps Kubernetes nodes attached to their API servers while load balancers change
#[derive(Debug, Parser)]
#[command(
    name = "holdfast",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done or yes, 1 the answer is no, 2 wrong arguments or configuration, \
                  3 could not be done, 4 refused by a safety rule"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send the clients of kubeconfigs through the agent on this node, once that is proved to work
    Adopt(cmd::adopt::Adopt),
    /// Run the node-local load balancer in front of the API servers
    Agent(cmd::agent::Agent),
    /// Look at this node and its cluster, and say what must be mended
    Check(cmd::check::Check),
    /// Show the outage and the cure, in a world of network namespaces
    Demo(cmd::demo::Demo),
    /// Know, predict and audit how each node reaches the internet (Azure)
    Egress(cmd::egress::Egress),
    /// Meet real faults in worlds of network namespaces, and measure
    Lab(cmd::lab::Lab),
    /// Cure this node when the API server says that it is not ready
    NodeCheck(cmd::node_check::NodeChecker),
    /// Decide on given facts, and touch nothing
    Plan(cmd::plan::Plan),
    /// Send the clients of adopted kubeconfigs back to where they went before
    Release(cmd::adopt::Release),
    /// Show what the agent on this node knows, has done, and why
    Status(cmd::status::StatusOf),
    /// Keep units off addresses that have left DNS
    Watch(cmd::watch::Watcher),
}
