//! What lives behind an HTTPS or DNS API: Azure Resource Manager.

pub mod arm;
pub mod azure;
