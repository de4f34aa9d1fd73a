//! Azure: its resources as Azure Resource Manager and `az … -o json` print them, and what they mean
//! for the egress of each node.
//!
//! ```text
//! folder, ARM ──▶ Inventory ──▶ Topology ──▶ facts of each node ──▶ holdfast_core::egress
//!                    │   ▲
//!                    └ edit (an operation, a Terraform plan)
//! ```
//!
//! [`resource`] reads both spellings: ARM nests most fields in `properties`, `az` flattens them, and
//! neither is consistent about capital letters. Unknown fields are skipped; who writes resources
//! keeps the JSON itself.

pub mod audit;
pub mod collect;
pub mod edit;
pub mod effect;
pub mod folder;
pub mod id;
pub mod inventory;
pub mod kubernetes;
pub mod resource;
#[cfg(test)]
mod sample;
pub mod terraform;
pub mod topology;

pub use edit::{Edit, apply};
pub use folder::{FolderError, read};
pub use id::Id;
pub use inventory::{Inventory, Listing};
pub use topology::Topology;
