//! What lives behind an HTTPS or DNS API: Azure Resource Manager.

pub mod azure;
