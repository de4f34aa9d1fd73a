//! The operations as people write them, and the edits of the lists that they mean.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::{Subcommand, ValueEnum};
use holdfast_cloud::azure::terraform::{Plan, Planned};
use holdfast_cloud::azure::topology::Side;
use holdfast_cloud::azure::{Edit, Id, Topology};
use holdfast_core::egress::facts::{Rule, Rules};

use super::some_of;
use crate::exit::{Failure, input, unable};

/// The operation. Resources are named by their whole id or by its last names, as in
/// `kubernetes/aksOutboundBackendPool`.
#[derive(Debug, Subcommand)]
pub enum Asked {
    /// Take a node's NIC out of a backend pool
    Remove {
        /// The node, or its NIC
        #[arg(value_name = "NODE|NIC")]
        who: String,
        /// The pool
        #[arg(long, value_name = "POOL")]
        pool: String,
    },
    /// Put a node's NIC into a backend pool
    Add {
        /// The node, or its NIC
        #[arg(value_name = "NODE|NIC")]
        who: String,
        /// The pool, or `internal` or `public` for one of a new Standard load balancer
        #[arg(long, value_name = "POOL|internal|public")]
        pool: String,
        /// The rules of a new public pool
        #[arg(long, value_enum, value_delimiter = ',', default_values_t = [NewRule::SnatTcp])]
        rules: Vec<NewRule>,
    },
    /// Delete the load-balancing rules of a pool
    DropRules {
        /// The pool
        pool: String,
    },
    /// Delete the outbound rules of a pool
    DropOutboundRule {
        /// The pool
        pool: String,
    },
    /// Set disableOutboundSnat on the load-balancing rules of a pool
    DisableSnat {
        /// The pool
        pool: String,
    },
    /// Take the NAT gateway off a subnet
    DetachNatGateway {
        /// The subnet
        subnet: String,
    },
    /// Take an address off a NAT gateway
    DetachNatAddress {
        /// The NAT gateway
        gateway: String,
        /// The address or prefix [default: all of them]
        address: Option<String>,
    },
    /// Take the public address off a node's NIC
    DetachAddress {
        /// The node, or its NIC
        #[arg(value_name = "NODE|NIC")]
        who: String,
    },
    /// Make a subnet private; the answer is about VMs that were deallocated since
    PrivateSubnet {
        /// The subnet
        subnet: String,
    },
    /// Give a subnet a default route with next hop None
    NoneRoute {
        /// The subnet
        subnet: String,
    },
    /// Delete the last public Service, and with it the public load balancer
    DeleteLastService {
        /// The load balancer [default: the one with a managed pool]
        balancer: Option<String>,
    },
    /// Apply a Terraform plan
    Terraform {
        /// What `terraform show -json PLAN` prints
        plan: PathBuf,
    },
}

/// A rule of a new pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NewRule {
    /// An outbound rule for all protocols
    Outbound,
    /// A TCP rule with SNAT
    SnatTcp,
    /// A UDP rule with SNAT
    SnatUdp,
    /// A rule without SNAT
    Nosnat,
}

impl From<NewRule> for Rule {
    fn from(rule: NewRule) -> Self {
        match rule {
            NewRule::Outbound => Self::OutboundAll,
            NewRule::SnatTcp => Self::SnatTcp,
            NewRule::SnatUdp => Self::SnatUdp,
            NewRule::Nosnat => Self::NoSnat,
        }
    }
}

impl Asked {
    /// What it does to the lists.
    pub(super) fn edits(&self, topology: &Topology<'_>) -> Result<Planned, Failure> {
        let edits = match self {
            Self::Remove { who, pool } => vec![Edit::Leave {
                nic: nic(topology, who)?,
                pool: pool_named(topology, pool)?,
            }],
            Self::Add { who, pool, rules } => join(topology, who, pool, rules)?,
            Self::DropRules { pool } => vec![Edit::DropRules(pool_named(topology, pool)?)],
            Self::DropOutboundRule { pool } => {
                vec![Edit::DropOutboundRules(pool_named(topology, pool)?)]
            }
            Self::DisableSnat { pool } => vec![Edit::DisableSnat(pool_named(topology, pool)?)],
            Self::DetachNatGateway { subnet } => vec![Edit::NatGateway {
                subnet: subnet_named(topology, subnet)?,
                gateway: None,
            }],
            Self::DetachNatAddress { gateway, address } => {
                vec![detach_nat_address(topology, gateway, address.as_deref())?]
            }
            Self::DetachAddress { who } => vec![Edit::DetachAddress(nic(topology, who)?)],
            Self::PrivateSubnet { subnet } => {
                vec![Edit::MakePrivate(subnet_named(topology, subnet)?)]
            }
            Self::NoneRoute { subnet } => vec![Edit::NoneRoute(subnet_named(topology, subnet)?)],
            Self::DeleteLastService { balancer } => {
                vec![Edit::DeleteBalancer(public_balancer(
                    topology,
                    balancer.as_deref(),
                )?)]
            }
            Self::Terraform { plan } => return terraform(topology, plan),
        };
        Ok(Planned {
            edits,
            unread: Vec::new(),
        })
    }
}

/// The one resource of this name.
fn one<'a>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = &'a Id> + Clone,
) -> Result<Id, Failure> {
    let mut fitting = all.clone().filter(|id| id.is_called(name));
    match (fitting.next(), fitting.next()) {
        (Some(id), None) => Ok(id.clone()),
        (None, _) => Err(input(anyhow!(
            "no {what} {name}; accepted: {}",
            some_of(all.map(Id::as_str))
        ))),
        (Some(_), Some(_)) => Err(input(anyhow!(
            "{what} {name} is not one but several; accepted: {}",
            some_of(all.filter(|id| id.is_called(name)).map(Id::as_str))
        ))),
    }
}

fn nic(topology: &Topology<'_>, who: &str) -> Result<Id, Failure> {
    let machines = topology.machines();
    let node = machines.iter().find(|it| it.name.eq_ignore_ascii_case(who));
    if let Some(node) = node {
        return node.nic.map(|nic| nic.id.clone()).ok_or_else(|| {
            input(anyhow!(
                "the NIC of node {who} is not in the folder; accepted: what {} prints",
                Topology::list_of_nic(node).command()
            ))
        });
    }
    let nics: Vec<_> = topology.inventory().all_nics().map(|nic| &nic.id).collect();
    one("node or NIC", who, nics.into_iter())
}

fn pool_named(topology: &Topology<'_>, name: &str) -> Result<Id, Failure> {
    let pools = topology.pools();
    one("pool", name, pools.keys().copied())
}

fn subnet_named(topology: &Topology<'_>, name: &str) -> Result<Id, Failure> {
    let networks = topology.inventory().networks.iter().flatten();
    let subnets: Vec<_> = networks
        .flat_map(|it| &it.subnets)
        .map(|it| &it.id)
        .collect();
    one("subnet", name, subnets.into_iter())
}

fn detach_nat_address(
    topology: &Topology<'_>,
    name: &str,
    address: Option<&str>,
) -> Result<Edit, Failure> {
    let gateways = topology.inventory().nat_gateways.iter().flatten();
    let gateway = one("NAT gateway", name, gateways.clone().map(|it| &it.id))?;
    let address = address
        .map(|address| {
            let own: Vec<_> = gateways
                .filter(|it| it.id == gateway)
                .flat_map(|it| {
                    [
                        &it.addresses,
                        &it.prefixes,
                        &it.addresses_v6,
                        &it.prefixes_v6,
                    ]
                })
                .flatten()
                .map(|it| &it.id)
                .collect();
            one("address of the NAT gateway", address, own.into_iter())
        })
        .transpose()?;
    Ok(Edit::DetachNatAddress { gateway, address })
}

fn public_balancer(topology: &Topology<'_>, name: Option<&str>) -> Result<Id, Failure> {
    let pools = topology.pools();
    let public = pools.values().filter(|view| view.side != Side::Internal);
    let mut balancers: Vec<_> = match name {
        Some(_) => public.map(|view| &view.balancer.id).collect(),
        None => public
            .filter(|view| view.side == Side::Managed)
            .map(|view| &view.balancer.id)
            .collect(),
    };
    balancers.sort();
    balancers.dedup();
    match (name, balancers.as_slice()) {
        (Some(name), _) => one("public load balancer", name, balancers.into_iter()),
        (None, [only]) => Ok((*only).clone()),
        (None, _) => Err(input(anyhow!(
            "which load balancer goes with the last public Service is not clear; accepted: {}",
            some_of(balancers.into_iter().map(Id::as_str))
        ))),
    }
}

fn join(
    topology: &Topology<'_>,
    who: &str,
    pool: &str,
    rules: &[NewRule],
) -> Result<Vec<Edit>, Failure> {
    let nic = nic(topology, who)?;
    let public = match pool {
        "internal" => false,
        "public" => true,
        named => {
            let pool = pool_named(topology, named)?;
            return Ok(vec![Edit::Join { nic, pool }]);
        }
    };
    let id = Id::from(format!(
        "/planned/loadBalancers/{pool}/backendAddressPools/{pool}"
    ));
    let rules = rules.iter().map(|rule| Rule::from(*rule));
    let balancer = Edit::NewBalancer {
        pool: id.clone(),
        public,
        rules: if public {
            rules.fold(Rules::NONE, Rules::with)
        } else {
            Rules::NONE
        },
    };
    Ok(vec![balancer, Edit::Join { nic, pool: id }])
}

fn terraform(topology: &Topology<'_>, path: &PathBuf) -> Result<Planned, Failure> {
    let text = fs::read(path)
        .with_context(|| format!("read {}", path.display()))
        .map_err(unable)?;
    let plan: Plan = serde_json::from_slice(&text).map_err(|error| {
        input(anyhow!(
            "{}: {error}; accepted: what `terraform show -json PLAN` prints",
            path.display()
        ))
    })?;
    Ok(plan.edits(topology.inventory()))
}
