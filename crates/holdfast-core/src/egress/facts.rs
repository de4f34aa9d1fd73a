//! The bare facts that decide how one NIC reaches the internet in one address family, and the
//! state of the node behind it.

use std::fmt;

use super::protocols::Protocols;
use super::words::words;

words! {
    /// The address family that is asked about.
    Family {
        /// IPv4.
        V4 = "v4",
        /// IPv6.
        V6 = "v6",
    }
}

words! {
    /// How a NIC belongs to a backend pool.
    Membership {
        /// It doesn't.
        None = "none",
        /// By its IP configuration (pool type `nodeIPConfiguration`).
        Nic = "nic",
        /// By its address (pool type `nodeIP`). Such a pool behaves "as a Basic LB with default
        /// outbound enabled": it never takes default outbound access away (BPM, limitations).
        Ip = "ip",
    }
}

words! {
    /// The SKU of the load balancers that the NIC belongs to; a VM can't mix them.
    Sku {
        /// Basic: open, knows no outbound rules, never takes default outbound away.
        Basic = "basic",
        /// Standard: closed; a NIC in it has no default outbound (DOA).
        Standard = "standard",
    }
}

words! {
    /// A NAT gateway on the subnet, or on its virtual network.
    NatGateway {
        /// There is none.
        None = "none",
        /// SKU Standard with an IPv4 address: IPv4 only.
        StandardV4 = "std_v4",
        /// SKU `StandardV2` with addresses of both families.
        V2Both = "v2_v6",
        /// It has no public address.
        NoAddress = "no_pip",
    }
}

words! {
    /// A public address of the NIC's own, on its IP configuration.
    InstanceAddress {
        /// There is none.
        None = "none",
        /// An IPv4 address.
        Standard = "standard",
        /// An IPv6 address only.
        V6 = "v6",
    }
}

words! {
    /// The effective route of everything (`0.0.0.0/0` or `::/0`).
    Route {
        /// The system's own route to the internet.
        None = "none",
        /// A user's route with next hop `Internet`: the same as the system's own (UDR).
        Internet = "internet",
        /// To a virtual appliance.
        Appliance = "appliance",
        /// A user's route to the virtual network gateway: forced tunnelling.
        VpnGateway = "vpngw",
        /// Learned by BGP through the virtual network gateway.
        Bgp = "bgp",
        /// Next hop `None`: dropped.
        Drop = "drop",
    }
}

words! {
    /// What kind of VM the NIC belongs to.
    VmKind {
        /// A VM of its own.
        Standalone = "standalone",
        /// In an availability set.
        AvailabilitySet = "avset",
        /// In a scale set of orchestration mode Uniform.
        VmssUniform = "vmss_uniform",
        /// In a scale set of orchestration mode Flexible: never default outbound access (DOA).
        VmssFlex = "vmss_flex",
    }
}

words! {
    /// Who else makes this VM one of a Standard load balancer or a Standard public address.
    ///
    /// If one VM of a group is associated with the Standard SKU, all of them behave by its rules
    /// (CPA, docs/topics/loadbalancer.md).
    Peer {
        /// Nobody.
        None = "no",
        /// Another VM of the availability set, or another instance of the scale set.
        Group = "group",
        /// The model of the scale set (kubernetes/kubernetes#72813).
        Model = "model",
        /// Another NIC of the same VM.
        OtherNic = "other_nic",
    }
}

words! {
    /// A rule of a load balancer that names the pool.
    Rule {
        /// An outbound rule with protocol `All`.
        OutboundAll = "ob_all",
        /// An outbound rule with protocol `Tcp`.
        OutboundTcp = "ob_tcp",
        /// An outbound rule with protocol `Udp`.
        OutboundUdp = "ob_udp",
        /// A TCP load-balancing rule whose `disableOutboundSnat` is not true.
        SnatTcp = "snat_tcp",
        /// A UDP load-balancing rule whose `disableOutboundSnat` is not true.
        SnatUdp = "snat_udp",
        /// A load-balancing rule with `disableOutboundSnat: true`.
        NoSnat = "nosnat",
        /// An inbound NAT rule.
        InboundNat = "natrule",
    }
}

/// The rules of a pool, as a set: neither order nor repetition matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rules(u8);

impl Rules {
    /// No rule names the pool.
    pub const NONE: Self = Self(0);

    const OUTBOUND: Self = Self(
        1 << Rule::OutboundAll as u8 | 1 << Rule::OutboundTcp as u8 | 1 << Rule::OutboundUdp as u8,
    );
    const BALANCING: Self =
        Self(1 << Rule::SnatTcp as u8 | 1 << Rule::SnatUdp as u8 | 1 << Rule::NoSnat as u8);

    /// Whether such a rule is among them.
    pub const fn contains(self, rule: Rule) -> bool {
        self.0 & 1 << rule as u8 != 0
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self(self.0 | 1 << rule as u8)
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Without outbound rules.
    #[must_use]
    pub const fn without_outbound(self) -> Self {
        Self(self.0 & !Self::OUTBOUND.0)
    }

    /// Without load-balancing rules; inbound NAT rules stay.
    #[must_use]
    pub const fn without_balancing(self) -> Self {
        Self(self.0 & !Self::BALANCING.0)
    }

    /// With `disableOutboundSnat: true` on every load-balancing rule.
    #[must_use]
    pub const fn without_snat(self) -> Self {
        if self.0 & Self::BALANCING.0 == 0 {
            self
        } else {
            self.without_balancing().with(Rule::NoSnat)
        }
    }

    /// What outbound rules carry: each its own protocol (OBR).
    pub fn outbound(self) -> Protocols {
        self.carried(&[
            (Rule::OutboundAll, Protocols::BOTH),
            (Rule::OutboundTcp, Protocols::TCP),
            (Rule::OutboundUdp, Protocols::UDP),
        ])
    }

    /// What load-balancing rules carry implicitly: "the same protocol as the rule", so a load
    /// balancer with TCP rules only gives no UDP (SNAT). `disableOutboundSnat` rules and inbound NAT
    /// rules carry nothing.
    pub fn implicit_snat(self) -> Protocols {
        self.carried(&[
            (Rule::SnatTcp, Protocols::TCP),
            (Rule::SnatUdp, Protocols::UDP),
        ])
    }

    fn carried(self, by: &[(Rule, Protocols)]) -> Protocols {
        by.iter()
            .filter(|(rule, _)| self.contains(*rule))
            .fold(Protocols::NONE, |all, (_, protocols)| all | *protocols)
    }
}

/// Written `ob_all+nosnat`, and `-` without rules.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = Rule::ALL
            .iter()
            .filter(|rule| self.contains(**rule))
            .map(|rule| rule.as_str())
            .collect();
        f.pad(&if words.is_empty() {
            "-".to_owned()
        } else {
            words.join("+")
        })
    }
}

/// A backend pool of a public load balancer, as this NIC meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pool {
    /// How the NIC belongs to it.
    pub membership: Membership,
    /// What the load balancer does with it; also while the NIC is not in it.
    pub rules: Rules,
}

impl Pool {
    /// A pool that doesn't exist.
    pub const NONE: Self = Self {
        membership: Membership::None,
        rules: Rules::NONE,
    };
}

/// What decides how one NIC reaches the internet in one address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facts {
    /// The family that is asked about.
    pub family: Family,
    /// The kind of VM.
    pub vm_kind: VmKind,
    /// The SKU of its load balancers.
    pub sku: Sku,
    /// `pub1`: the pool that a cloud provider manages on the public load balancer.
    pub managed_pool: Pool,
    /// `pub2`: all other pools of the same public load balancer together. A NIC can be in at most
    /// one public load balancer (CPA, `azure_loadbalancer_repo.go`, `isBackendPoolOnSameLB`).
    pub other_pool: Pool,
    /// `int`: its membership of the internal load balancer, which can't carry egress.
    pub internal: Membership,
    /// The NAT gateway of its subnet.
    pub nat_gateway: NatGateway,
    /// Its own public address.
    pub instance_address: InstanceAddress,
    /// The effective default route.
    pub route: Route,
    /// Whether the subnet lets VMs use default outbound access: `defaultOutboundAccess` is not false.
    pub default_outbound: bool,
    /// Who else ends default outbound access for this VM.
    pub peer: Peer,
}

impl Facts {
    /// A VM of its own in an old subnet, in no pool: what unlisted facts are.
    pub const BARE: Self = Self {
        family: Family::V4,
        vm_kind: VmKind::Standalone,
        sku: Sku::Standard,
        managed_pool: Pool::NONE,
        other_pool: Pool::NONE,
        internal: Membership::None,
        nat_gateway: NatGateway::None,
        instance_address: InstanceAddress::None,
        route: Route::None,
        default_outbound: true,
        peer: Peer::None,
    };
}

words! {
    /// The Node object of a VM.
    NodeObject {
        /// It exists.
        Present = "present",
        /// It was deleted; the VM may still run.
        Deleted = "deleted",
        /// It has a deletion timestamp and finalizers.
        Deleting = "deleting",
        /// The kubelet has never registered: the VM is still bootstrapping.
        NeverRegistered = "never_registered",
    }
}

words! {
    /// The node's Ready condition.
    Ready {
        /// `True`.
        Yes = "yes",
        /// `False`.
        No = "no",
        /// `Unknown`, or there is none; counts as not ready.
        Unknown = "unknown",
    }
}

words! {
    /// The state of the VM.
    VmState {
        /// It runs.
        Running = "running",
        /// It is stopped or deallocated, and may be started again.
        Stopped = "stopped",
        /// It no longer exists.
        Gone = "gone",
        /// It is being deleted.
        Deleting = "deleting",
    }
}

words! {
    /// What the label `node.kubernetes.io/exclude-from-external-load-balancers` says.
    Exclusion {
        /// There is no such label.
        Absent = "absent",
        /// The node belongs into pools.
        Included = "false",
        /// It doesn't.
        Excluded = "true",
    }
}

impl Exclusion {
    /// Reads the label's value as Go's `strconv.ParseBool` does; what that can't read excludes
    /// (k8s.io/cloud-provider v0.34, `controllers/service/controller.go`). The Azure provider itself
    /// ignores the value (CPA#1643).
    pub fn of(label: Option<&str>) -> Self {
        match label {
            None => Self::Absent,
            Some("0" | "f" | "F" | "false" | "False" | "FALSE") => Self::Included,
            Some(_) => Self::Excluded,
        }
    }
}

/// The node behind the NIC, as far as it matters for its membership.
///
/// Its role doesn't: whether control-plane nodes belong into a pool is the operator's choice
/// (CPA#5849).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Its Node object.
    pub object: NodeObject,
    /// Its readiness.
    pub ready: Ready,
    /// Its VM.
    pub vm: VmState,
    /// Its label `node.kubernetes.io/exclude-from-external-load-balancers`.
    pub exclusion: Exclusion,
    /// Whether the provider manages it: label `kubernetes.azure.com/managed` is not `false`.
    pub managed: bool,
    /// Whether the autoscaler is about to delete it: taint `ToBeDeletedByClusterAutoscaler`.
    pub draining: bool,
    /// Whether it is the pool's last member.
    pub last_member: bool,
}

impl Node {
    /// A healthy node among others.
    pub const HEALTHY: Self = Self {
        object: NodeObject::Present,
        ready: Ready::Yes,
        vm: VmState::Running,
        exclusion: Exclusion::Absent,
        managed: true,
        draining: false,
        last_member: false,
    };
}
