//! What cloud-provider-azure itself does with a member, by version: who is cut by an upgrade or
//! by staying.
//!
//! Read in its source at commit 7b31c76c (`updateNodeCaches`, `EnsureHostsInPool`,
//! `ReconcileBackendPools`, `getBackendIPConfigurationsToBeDeleted`), and as it was before PR 4234.

use super::case::Role;
use super::facts::{Exclusion, Facts, Membership, Node, NodeObject, Ready, VmState};
use super::operation::AnyPool;
use super::words::words;

words! {
    /// A range of versions that behave alike.
    Version {
        /// Before v1.28.0, v1.27.6, v1.26.12, v1.25.16 and v1.24.22: a node that is not ready leaves
        /// its pools (PR 1195), unless none would remain (PR 3212).
        BeforeReadinessFix = "before-1.28.0-1.27.6-1.26.12-1.25.16-1.24.22",
        /// Since then (PR 4234): readiness removes nobody.
        Current = "current",
    }
}

words! {
    /// What the provider does at its next reconciliation.
    Deed {
        /// It leaves the member where it is.
        Keep = "keep",
        /// It would take it out, but spares the last one.
        KeepLastMember = "keep_last_member",
        /// It takes it out.
        Remove = "remove",
        /// The pool isn't its own: it never looks.
        Untouched = "untouched",
    }
}

/// What that version does with this node as a member of a pool, whatever becomes of its egress.
pub fn deed(version: Version, pool: AnyPool, facts: &Facts, node: Node, role: Role) -> Deed {
    let membership = match pool {
        // Pools of other names are "unmanaged" (`ReconcileBackendPools`).
        AnyPool::Other => return Deed::Untouched,
        AnyPool::Managed => facts.managed_pool.membership,
        AnyPool::Internal => facts.internal,
    };
    if node.vm == VmState::Gone {
        Deed::Remove
    } else if !is_unwanted(version, membership, node, role) {
        Deed::Keep
    } else if node.last_member {
        Deed::KeepLastMember
    } else {
        Deed::Remove
    }
}

fn is_unwanted(version: Version, membership: Membership, node: Node, role: Role) -> bool {
    // `updateNodeCaches`: the label's presence counts, not its value.
    let excluded =
        node.exclusion != Exclusion::Absent || !node.managed || node.object == NodeObject::Deleted;
    // `EnsureHostsInPool` makes a pool by address equal to the list that it is given, which has
    // neither control-plane nodes nor those that the autoscaler is about to delete.
    let unlisted = membership == Membership::Ip && (role == Role::ControlPlane || node.draining);
    let unready = version == Version::BeforeReadinessFix
        && node.object == NodeObject::Present
        && node.ready != Ready::Yes;
    excluded || unlisted || unready
}

words! {
    /// What may happen to a node.
    Event {
        /// It is not ready for a while.
        NotReady = "not-ready",
        /// It gets the exclude label, of any value.
        Excluded = "exclude-label",
        /// Its Node object is deleted while the VM runs.
        NodeDeleted = "node-deleted",
        /// The autoscaler is about to delete it.
        AutoscalerTaint = "autoscaler-taint",
        /// It gets the label `kubernetes.azure.com/managed: false`.
        Unmanaged = "unmanaged",
        /// Nothing: it is removed as it is.
        Nothing = "nothing",
    }
}

impl Event {
    /// A node that was healthy before.
    const fn node(self) -> Node {
        let mut node = Node::HEALTHY;
        match self {
            Self::NotReady => node.ready = Ready::No,
            Self::Excluded => node.exclusion = Exclusion::Excluded,
            Self::NodeDeleted => node.object = NodeObject::Deleted,
            Self::AutoscalerTaint => node.draining = true,
            Self::Unmanaged => node.managed = false,
            Self::Nothing => {}
        }
        node
    }
}

/// The events upon which that version takes a member out of its pool.
pub fn removes_upon(version: Version, pool: AnyPool, facts: &Facts, role: Role) -> Vec<Event> {
    let removes = |event: &Event| deed(version, pool, facts, event.node(), role) == Deed::Remove;
    Event::ALL.iter().copied().filter(removes).collect()
}
