//! `holdfast egress`: how each node reaches the internet, what would take that away, and where it is
//! set up so that something will.

pub mod audit;
pub mod collect;
pub mod explain;
mod junit;
mod live;
mod sarif;
mod table;
pub mod what_if;

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use holdfast_cloud::azure::folder::from_lists;
use holdfast_cloud::azure::{FolderError, Inventory, read, topology::Cluster};

use crate::exit::{Failure, Outcome, input, unable};

/// Arguments of `holdfast egress`.
#[derive(Debug, Args)]
pub struct Egress {
    /// What to ask.
    #[command(subcommand)]
    command: EgressCommand,
}

/// What can be asked about egress.
#[derive(Debug, Subcommand)]
enum EgressCommand {
    /// Find nodes whose way to the internet may be taken away, and say what to change
    Audit(audit::Audit),
    /// Fetch from Azure what the other commands read with `--from`
    Collect(collect::Collect),
    /// Show how each node reaches the internet, on what that rests, and what would take it away
    Explain(explain::Explain),
    /// Show what an operation would do to each node's way to the internet
    WhatIf(what_if::WhatIf),
}

/// Where facts come from.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A folder with what `az network lb list -o json` and its like print: lb.json, nic.json,
    /// vmss-nic.json, vnet.json, nat-gateway.json, public-ip.json, route-table.json, vm.json,
    /// vmss.json, nodes.json, services.json
    #[arg(long, global = true, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Ask Azure Resource Manager instead
    #[arg(long, global = true, conflicts_with = "from")]
    live: bool,
    #[command(flatten)]
    azure: live::Azure,
    /// The cluster's name, after which the cloud provider names the pools that it manages
    /// [default: that of each pool's load balancer]
    #[arg(long, global = true, value_name = "NAME")]
    cluster_name: Option<String>,
}

impl Source {
    fn inventory(&self) -> Result<Inventory, Failure> {
        let inventory = match &self.from {
            _ if self.live => from_lists(&self.azure.lists()?),
            Some(folder) => read(folder),
            None => {
                return Err(input(anyhow!(
                    "no --from DIR and no --live: either a folder with what `az … -o json` prints (docs/egress.md names the commands), or Azure itself"
                )));
            }
        };
        inventory.map_err(|error| match error {
            FolderError::Read { .. } => unable(error),
            FolderError::Content { .. }
            | FolderError::Unknown { .. }
            | FolderError::Empty { .. } => input(error),
        })
    }

    fn cluster(&self) -> Cluster {
        match &self.cluster_name {
            Some(name) => Cluster::Named(name.clone()),
            None => Cluster::ByBalancer,
        }
    }
}

/// Answers.
pub(crate) fn run(arguments: &Egress, out: &mut impl Write) -> Result<Outcome, Failure> {
    match &arguments.command {
        EgressCommand::Audit(arguments) => audit::run(arguments, out),
        EgressCommand::Collect(arguments) => collect::run(arguments, out),
        EgressCommand::Explain(arguments) => explain::run(arguments, out),
        EgressCommand::WhatIf(arguments) => what_if::run(arguments, out),
    }
}
