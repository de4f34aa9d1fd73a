//! Operations whose effect on a NIC's egress can be asked about, and the facts after them.

use super::facts::{Facts, InstanceAddress, Membership, NatGateway, Pool, Route};
use super::path::egress;
use super::words::words;

words! {
    /// A pool of the public load balancer.
    PublicPool {
        /// The one that a cloud provider manages.
        Managed = "pub1",
        /// Any other.
        Other = "pub2",
    }
}

words! {
    /// A pool that a NIC can be taken out of.
    AnyPool {
        /// The managed one of the public load balancer.
        Managed = "pub1",
        /// Any other of the public load balancer.
        Other = "pub2",
        /// The internal load balancer's.
        Internal = "int",
    }
}

words! {
    /// How a NIC is put into a pool.
    Joining {
        /// By its IP configuration.
        Nic = "nic",
        /// By its address.
        Ip = "ip",
    }
}

impl From<Joining> for Membership {
    fn from(joining: Joining) -> Self {
        match joining {
            Joining::Nic => Self::Nic,
            Joining::Ip => Self::Ip,
        }
    }
}

/// Something that somebody is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Take the NIC out of a pool.
    Remove(AnyPool),
    /// Put the NIC into the internal load balancer.
    AddToInternal(Joining),
    /// Put the NIC into the managed pool of the public load balancer.
    AddToPublic(Joining),
    /// Delete the load-balancing rules of a pool; membership stays.
    DropRules(PublicPool),
    /// Delete the outbound rules of a pool; membership stays.
    DropOutboundRule(PublicPool),
    /// Set `disableOutboundSnat` on the load-balancing rules of a pool.
    DisableSnat(PublicPool),
    /// Delete the public load balancer, as the provider does after the last public Service
    /// (CPA, `cleanOrphanedLoadBalancer`). Membership of the internal one stays.
    DeletePublic,
    /// Take the NAT gateway off the subnet.
    DetachNatGateway,
    /// Take the last public address off the NAT gateway.
    DetachNatAddress,
    /// Take the public address off the NIC.
    DetachInstanceAddress,
    /// Make the subnet private. VMs keep default outbound access until they are deallocated (DOA);
    /// the answer is about what holds then.
    MakeSubnetPrivate,
    /// Add a default route with next hop `None`.
    AddNoneRoute,
}

impl Operation {
    /// Everything that can take a way to the internet away.
    pub const TAKING: [Self; 11] = [
        Self::Remove(AnyPool::Managed),
        Self::Remove(AnyPool::Other),
        Self::DropRules(PublicPool::Managed),
        Self::DropRules(PublicPool::Other),
        Self::DropOutboundRule(PublicPool::Managed),
        Self::DropOutboundRule(PublicPool::Other),
        Self::AddToInternal(Joining::Nic),
        Self::DetachNatGateway,
        Self::DetachInstanceAddress,
        Self::MakeSubnetPrivate,
        Self::AddNoneRoute,
    ];

    /// What is done, in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Remove(AnyPool::Managed) => "leaving the managed pool",
            Self::Remove(AnyPool::Other) => "leaving the other public pool",
            Self::Remove(AnyPool::Internal) => "leaving the internal pool",
            Self::AddToInternal(_) => "joining an internal load balancer",
            Self::AddToPublic(_) => "joining a public load balancer",
            Self::DropRules(PublicPool::Managed) => "deleting the managed pool's rules",
            Self::DropRules(PublicPool::Other) => "deleting the other pool's rules",
            Self::DropOutboundRule(PublicPool::Managed) => {
                "deleting the managed pool's outbound rule"
            }
            Self::DropOutboundRule(PublicPool::Other) => "deleting the other pool's outbound rule",
            Self::DisableSnat(_) => "disabling outbound SNAT",
            Self::DeletePublic => "deleting the last public Service",
            Self::DetachNatGateway => "detaching the NAT gateway",
            Self::DetachNatAddress => "detaching the NAT gateway's address",
            Self::DetachInstanceAddress => "detaching the NIC's public address",
            Self::MakeSubnetPrivate => "making the subnet private",
            Self::AddNoneRoute => "a default route to nowhere",
        }
    }
}

/// The operations after which a protocol would no longer get out.
pub fn threats(facts: &Facts) -> Vec<Operation> {
    let now = egress(facts).protocols;
    let takes = |operation: &Operation| {
        let left = egress(&apply(*operation, facts)).protocols;
        !(now - left).is_empty()
    };
    Operation::TAKING.into_iter().filter(takes).collect()
}

/// The facts once it is done.
#[must_use]
pub fn apply(operation: Operation, facts: &Facts) -> Facts {
    let mut after = *facts;
    match operation {
        Operation::Remove(AnyPool::Managed) => after.managed_pool.membership = Membership::None,
        Operation::Remove(AnyPool::Other) => after.other_pool.membership = Membership::None,
        Operation::Remove(AnyPool::Internal) => after.internal = Membership::None,
        Operation::AddToInternal(joining) => after.internal = joining.into(),
        Operation::AddToPublic(joining) => after.managed_pool.membership = joining.into(),
        Operation::DropRules(pool) => {
            let pool = public(&mut after, pool);
            pool.rules = pool.rules.without_balancing();
        }
        Operation::DropOutboundRule(pool) => {
            let pool = public(&mut after, pool);
            pool.rules = pool.rules.without_outbound();
        }
        Operation::DisableSnat(pool) => {
            let pool = public(&mut after, pool);
            pool.rules = pool.rules.without_snat();
        }
        Operation::DeletePublic => {
            after.managed_pool = Pool::NONE;
            after.other_pool = Pool::NONE;
        }
        Operation::DetachNatGateway => after.nat_gateway = NatGateway::None,
        Operation::DetachNatAddress => {
            if after.nat_gateway != NatGateway::None {
                after.nat_gateway = NatGateway::NoAddress;
            }
        }
        Operation::DetachInstanceAddress => after.instance_address = InstanceAddress::None,
        Operation::MakeSubnetPrivate => after.default_outbound = false,
        Operation::AddNoneRoute => after.route = Route::Drop,
    }
    after
}

const fn public(facts: &mut Facts, pool: PublicPool) -> &mut Pool {
    match pool {
        PublicPool::Managed => &mut facts.managed_pool,
        PublicPool::Other => &mut facts.other_pool,
    }
}
