//! The guard as a subject: it watches the client's own connections from the client's own network
//! namespace, and is nowhere between the client and the servers.

/// A world has no units, and a network namespace per node, so whatever is not Holdfast's own there is
/// the client's.
pub(super) const EVERYONE: &str = "--guard-everyone";

/// What makes nothing but a guard of `holdfast agent`.
pub(super) const ALONE: [&str; 2] = ["--listen=none", EVERYONE];
