//! How an Azure NIC reaches the internet, and what an operation would do to that.
//!
//! On Azure, membership of a load balancer's backend pool also decides a NIC's way out. So before
//! anything changes, one question is asked: what is the egress before and after, per address family
//! and protocol? Everything here is a pure function of bare facts:
//!
//! ```text
//! Facts ──▶ path        ──▶ Egress before ┐
//!   │                                     ├─▶ decision ──▶ Verdict, Reason
//!   └─ operation ─▶ path ─▶ Egress after  ┘
//! ```
//!
//! The rules come from Microsoft's documents; each names its own. They are documents by short name:
//!
//! | name | document |
//! |---|---|
//! | SNAT | learn.microsoft.com/azure/load-balancer/load-balancer-outbound-connections |
//! | OBR | learn.microsoft.com/azure/load-balancer/outbound-rules |
//! | BPM | learn.microsoft.com/azure/load-balancer/backend-pool-management |
//! | DOA | learn.microsoft.com/azure/virtual-network/ip-services/default-outbound-access |
//! | NAT | learn.microsoft.com/azure/nat-gateway/nat-overview |
//! | UDR | learn.microsoft.com/azure/virtual-network/virtual-networks-udr-overview |
//! | PROBE | learn.microsoft.com/azure/load-balancer/load-balancer-custom-probe-overview |
//! | CPA | kubernetes-sigs/cloud-provider-azure |

pub mod case;
pub mod decision;
pub mod facts;
pub mod operation;
pub mod path;
pub mod protocols;
pub mod provider;
pub mod words;

pub use case::{BadValue, COLUMNS, Case};
pub use decision::{Answer, Reason, Verdict, answer};
pub use facts::Facts;
pub use operation::Operation;
pub use path::{Egress, Path, egress};
pub use protocols::Protocols;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
