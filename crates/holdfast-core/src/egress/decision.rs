//! May it be done? The verdict on an operation, from the egress before and after it.

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::{Exclusion, Facts, Node, NodeObject, Ready, VmState};
use super::operation::{AnyPool, Operation, apply};
use super::path::{Egress, Path, egress};
use super::protocols::Protocols;
use super::words::words;

words! {
    /// What to do about a removal (`keep…`, `remove…`), or what to say to another operation
    /// (`allow…`, `deny`).
    Verdict {
        /// Leave the NIC in the pool; the health probe keeps new inbound connections away, and
        /// "outbound connectivity isn't affected" by that (PROBE).
        Keep = "keep",
        /// Leave it in the pool, but set its member's admin state to `Down`: inbound ends, egress
        /// stays.
        KeepAdminDown = "keep_admin_down",
        /// Taking it out costs nothing.
        Remove = "remove",
        /// Taking it out is allowed and changes something that somebody may rely on.
        RemoveWarn = "remove_warn",
        /// Nothing changes.
        Allow = "allow",
        /// Something changes that somebody may rely on.
        AllowWarn = "allow_warn",
        /// A protocol would no longer get out.
        Deny = "deny",
    }
}

words! {
    /// Why.
    Reason {
        /// The VM has not registered as a node yet, and needs its egress for that.
        Bootstrapping = "BOOTSTRAPPING",
        /// The autoscaler is draining the node: kube-proxy's health check answers 503, which keeps
        /// new connections away while the open ones end.
        DrainInPool = "DRAIN_IN_POOL",
        /// The path to the internet changes, and with it the address that others see, or a protocol
        /// gets out that didn't.
        EgressPathChanges = "EGRESS_PATH_CHANGES",
        /// The node is healthy and belongs into the pool.
        Eligible = "ELIGIBLE",
        /// What remains is default outbound access, whose address may change at any time.
        FallsBackToDefault = "FALLS_BACK_TO_DEFAULT",
        /// An internal pool carries no egress, so leaving it costs none.
        InternalPoolNoEgressLoss = "INTERNAL_POOL_NO_EGRESS_LOSS",
        /// It is the last member; an empty pool helps nobody.
        LastMember = "LAST_MEMBER",
        /// Path and protocols stay as they are.
        NoEgressChange = "NO_EGRESS_CHANGE",
        /// Nothing gets out now, and nothing will.
        NoOutboundBeforeOrAfter = "NO_OUTBOUND_BEFORE_OR_AFTER",
        /// Nothing gets out now, so nothing is lost.
        NoOutboundToLose = "NO_OUTBOUND_TO_LOSE",
        /// Nothing gets out now; afterwards something does.
        RestoresOutbound = "RESTORES_OUTBOUND",
        /// A Basic load balancer's SNAT remains.
        SafeBasicSnat = "SAFE_BASIC_LB_SNAT",
        /// The NIC's own public address remains.
        SafeInstanceAddress = "SAFE_NIC_PIP",
        /// The NAT gateway remains.
        SafeNatGateway = "SAFE_NATGW",
        /// An outbound rule of another pool remains.
        SafeOutboundRule = "SAFE_LB_OUTBOUND_RULE",
        /// Outbound rules and implicit SNAT of other pools remain.
        SafeOutboundRuleAndSnat = "SAFE_LB_OUTBOUND_RULE+LB_SNAT",
        /// Implicit SNAT of another pool remains.
        SafeSnat = "SAFE_LB_SNAT",
        /// The route to the appliance remains.
        SafeUdrAppliance = "SAFE_UDR_APPLIANCE",
        /// The route learned by BGP remains.
        SafeUdrBgp = "SAFE_UDR_BGP",
        /// The route to the virtual network gateway remains.
        SafeUdrVpnGateway = "SAFE_UDR_VPNGW",
        /// The VM no longer exists, or is being deleted.
        VmGone = "VM_GONE",
        /// Nothing would get out any more.
        WouldCutAllOutbound = "WOULD_CUT_ALL_OUTBOUND",
        /// TCP would no longer get out.
        WouldCutTcp = "WOULD_CUT_TCP",
        /// UDP would no longer get out: DNS, NTP, QUIC.
        WouldCutUdp = "WOULD_CUT_UDP",
        /// The node would lose its way to the internet, which it needs to become ready again.
        WouldLoseOutbound = "WOULD_LOSE_OUTBOUND",
        /// The node would lose TCP.
        WouldLoseTcp = "WOULD_LOSE_TCP",
        /// The node would lose UDP: DNS, NTP, QUIC.
        WouldLoseUdp = "WOULD_LOSE_UDP",
    }
}

/// What an operation does to one NIC in one address family, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Answer {
    /// The egress before.
    pub before: Egress,
    /// The egress after.
    pub after: Egress,
    /// What got out before and no longer does.
    pub lost: Protocols,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

/// Answers for this operation on a NIC with these facts, of this node.
pub fn answer(operation: Operation, facts: &Facts, node: Node) -> Answer {
    let before = egress(facts);
    let after = egress(&apply(operation, facts));
    match operation {
        Operation::Remove(pool) => removal(pool, before, after, node),
        Operation::AddToInternal(_)
        | Operation::AddToPublic(_)
        | Operation::DropRules(_)
        | Operation::DropOutboundRule(_)
        | Operation::DisableSnat(_)
        | Operation::DeletePublic
        | Operation::DetachNatGateway
        | Operation::DetachNatAddress
        | Operation::DetachInstanceAddress
        | Operation::MakeSubnetPrivate
        | Operation::AddNoneRoute => change(before, after),
    }
}

/// The verdict on any change but a removal.
pub fn change(before: Egress, after: Egress) -> Answer {
    let lost = before.protocols - after.protocols;
    let (verdict, reason) = if !lost.is_empty() {
        (Verdict::Deny, cut(after.protocols))
    } else if after.protocols.is_empty() {
        (Verdict::AllowWarn, Reason::NoOutboundBeforeOrAfter)
    } else if before.protocols.is_empty() {
        (Verdict::AllowWarn, Reason::RestoresOutbound)
    } else if before != after {
        (Verdict::AllowWarn, Reason::EgressPathChanges)
    } else {
        (Verdict::Allow, Reason::NoEgressChange)
    };
    Answer {
        before,
        after,
        lost,
        verdict,
        reason,
    }
}

/// The verdict on taking a node out of a pool.
pub fn removal(pool: AnyPool, before: Egress, after: Egress, node: Node) -> Answer {
    let lost = before.protocols - after.protocols;
    let (verdict, reason) = judge_removal(pool, before, after, lost, node);
    Answer {
        before,
        after,
        lost,
        verdict,
        reason,
    }
}

fn judge_removal(
    pool: AnyPool,
    before: Egress,
    after: Egress,
    lost: Protocols,
    node: Node,
) -> (Verdict, Reason) {
    let Some(cause) = Cause::of(node) else {
        return (Verdict::Keep, Reason::Eligible);
    };
    match cause {
        Cause::VmGone => (Verdict::Remove, Reason::VmGone),
        Cause::Bootstrapping => (Verdict::Keep, Reason::Bootstrapping),
        Cause::Draining => (Verdict::Keep, Reason::DrainInPool),
        Cause::Unhealthy if node.last_member => (Verdict::Keep, Reason::LastMember),
        Cause::Withdrawn if !lost.is_empty() => (Verdict::KeepAdminDown, lose(after.protocols)),
        Cause::Unhealthy if !lost.is_empty() => (Verdict::Keep, lose(after.protocols)),
        Cause::Unmanaged if !lost.is_empty() => (Verdict::RemoveWarn, lose(after.protocols)),
        Cause::Withdrawn | Cause::Unhealthy | Cause::Unmanaged => harmless(pool, before, after),
    }
}

/// Nothing is lost: taking the node out is allowed, and worth a warning where the way changes for
/// better or worse.
fn harmless(pool: AnyPool, before: Egress, after: Egress) -> (Verdict, Reason) {
    if before.protocols.is_empty() && !after.protocols.is_empty() {
        (Verdict::RemoveWarn, Reason::RestoresOutbound)
    } else if pool == AnyPool::Internal {
        (Verdict::Remove, Reason::InternalPoolNoEgressLoss)
    } else {
        match safe(after.path) {
            Some(reason) => (Verdict::Remove, reason),
            None if after.protocols.is_empty() => (Verdict::Remove, Reason::NoOutboundToLose),
            None => (Verdict::RemoveWarn, Reason::FallsBackToDefault),
        }
    }
}

/// Why a node might have to leave a pool. The first that holds decides: what people asked for
/// outranks what the node's health says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// There is no VM any more.
    VmGone,
    /// There is no node yet.
    Bootstrapping,
    /// The autoscaler drains it.
    Draining,
    /// The operator excluded it, or the Node object is being or was deleted, while the VM runs on.
    Withdrawn,
    /// It is not ready, or its VM is stopped.
    Unhealthy,
    /// The provider shall not manage it.
    Unmanaged,
}

impl Cause {
    const fn of(node: Node) -> Option<Self> {
        let cause = match (node.vm, node.object) {
            (VmState::Gone | VmState::Deleting, _) => Self::VmGone,
            (_, NodeObject::NeverRegistered) => Self::Bootstrapping,
            _ if node.draining => Self::Draining,
            (_, NodeObject::Deleted | NodeObject::Deleting) => Self::Withdrawn,
            _ if matches!(node.exclusion, Exclusion::Excluded) => Self::Withdrawn,
            (VmState::Stopped, _) => Self::Unhealthy,
            _ if !matches!(node.ready, Ready::Yes) => Self::Unhealthy,
            _ if !node.managed => Self::Unmanaged,
            (VmState::Running, NodeObject::Present) => return None,
        };
        Some(cause)
    }
}

/// The reason that names the egress that remains, where one does that can be relied on.
const fn safe(path: Path) -> Option<Reason> {
    Some(match path {
        Path::UdrAppliance => Reason::SafeUdrAppliance,
        Path::UdrBgp => Reason::SafeUdrBgp,
        Path::UdrVpnGateway => Reason::SafeUdrVpnGateway,
        Path::NatGateway => Reason::SafeNatGateway,
        Path::InstanceAddress => Reason::SafeInstanceAddress,
        Path::OutboundRule => Reason::SafeOutboundRule,
        Path::OutboundRuleAndSnat => Reason::SafeOutboundRuleAndSnat,
        Path::Snat => Reason::SafeSnat,
        Path::BasicSnat => Reason::SafeBasicSnat,
        Path::UdrDrop
        | Path::DefaultOutbound
        | Path::NoneNatGatewayWithoutAddress
        | Path::NoneNoV6Default
        | Path::NonePrivateSubnet
        | Path::NoneVmssFlex
        | Path::NoneStandardMember
        | Path::NoneGroupIsStandard => return None,
    })
}

/// Something is lost and `left` remains; if anything, it is the other protocol.
fn lose(left: Protocols) -> Reason {
    if left.is_empty() {
        Reason::WouldLoseOutbound
    } else if left.contains(Protocols::UDP) {
        Reason::WouldLoseTcp
    } else {
        Reason::WouldLoseUdp
    }
}

/// The same for operations that are no removals.
fn cut(left: Protocols) -> Reason {
    if left.is_empty() {
        Reason::WouldCutAllOutbound
    } else if left.contains(Protocols::UDP) {
        Reason::WouldCutTcp
    } else {
        Reason::WouldCutUdp
    }
}
