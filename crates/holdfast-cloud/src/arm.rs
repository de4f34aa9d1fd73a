//! A small client of Azure Resource Manager: lists, reads, conditional writes, long operations.
//!
//! What follows from an answer is decided in [`answer`], [`budget`] and [`operation`], which know no
//! socket and no clock; [`client`] sends and waits, [`credential`] gets tokens.
//!
//! Sources: `learn.microsoft.com/azure/azure-resource-manager/management/{async-operations,
//! request-limits-and-throttling}` and the `azure-rest-api-specs` repository.

pub mod answer;
mod assertion;
pub mod budget;
pub mod client;
pub mod cloud;
pub mod credential;
pub mod operation;
mod transport;

pub use assertion::CertificateError;
pub use client::{Arm, ArmError};
pub use cloud::Cloud;
pub use credential::{Auth, CredentialError, Credentials};
