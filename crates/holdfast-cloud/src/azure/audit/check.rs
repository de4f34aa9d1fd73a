//! The checks: what each is about, how bad it is, and what mends it.

use serde::Serialize;

use crate::azure::Id;

/// How bad a finding is; worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A node has no egress, or will lose it by something ordinary.
    Error,
    /// Egress rests on something that may change.
    Warning,
    /// Worth knowing.
    Note,
}

/// A check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Nothing gets out over IPv4.
    NoEgress,
    /// The NAT gateway has no address.
    NatGatewayWithoutAddress,
    /// Leaving the managed pool costs the node its egress.
    ManagedPoolOnly,
    /// Egress is default outbound access.
    DefaultOutbound,
    /// Egress is implicit SNAT of load-balancing rules.
    ImplicitSnat,
    /// TCP gets out and UDP doesn't, or the other way round.
    OneProtocol,
    /// Nothing gets out over IPv6, which the node has.
    NoV6Egress,
    /// Two pools with outbound rules: which one is used is not determined.
    TwoOutboundRules,
    /// A Basic load balancer.
    BasicBalancer,
    /// A rule without probe.
    RuleWithoutProbe,
    /// Implicit SNAT beside an outbound rule.
    SnatBesideOutboundRule,
    /// A list is missing.
    Undecided,
}

impl Check {
    /// Every check, worst first.
    pub const ALL: [Self; 12] = [
        Self::NoEgress,
        Self::NatGatewayWithoutAddress,
        Self::ManagedPoolOnly,
        Self::DefaultOutbound,
        Self::ImplicitSnat,
        Self::OneProtocol,
        Self::NoV6Egress,
        Self::TwoOutboundRules,
        Self::BasicBalancer,
        Self::RuleWithoutProbe,
        Self::SnatBesideOutboundRule,
        Self::Undecided,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoEgress => "no-egress",
            Self::NatGatewayWithoutAddress => "nat-gateway-without-address",
            Self::ManagedPoolOnly => "managed-pool-only",
            Self::DefaultOutbound => "default-outbound",
            Self::ImplicitSnat => "implicit-snat",
            Self::OneProtocol => "one-protocol",
            Self::NoV6Egress => "no-v6-egress",
            Self::TwoOutboundRules => "two-outbound-rules",
            Self::BasicBalancer => "basic-balancer",
            Self::RuleWithoutProbe => "rule-without-probe",
            Self::SnatBesideOutboundRule => "snat-beside-outbound-rule",
            Self::Undecided => "undecided",
        }
    }

    /// How bad a finding is.
    pub const fn severity(self) -> Severity {
        match self {
            Self::NoEgress | Self::NatGatewayWithoutAddress | Self::ManagedPoolOnly => {
                Severity::Error
            }
            Self::DefaultOutbound
            | Self::ImplicitSnat
            | Self::OneProtocol
            | Self::NoV6Egress
            | Self::TwoOutboundRules
            | Self::BasicBalancer
            | Self::RuleWithoutProbe
            | Self::Undecided => Severity::Warning,
            Self::SnatBesideOutboundRule => Severity::Note,
        }
    }

    /// What is so.
    pub const fn about(self) -> &'static str {
        match self {
            Self::NoEgress => "nothing gets out to the internet",
            Self::NatGatewayWithoutAddress => {
                "the NAT gateway takes every new connection and has no public address"
            }
            Self::ManagedPoolOnly => {
                "egress rests on a pool that the cloud provider manages: a node that leaves it loses its way out, and can't recover (cloud-provider-azure#3500)"
            }
            Self::DefaultOutbound => {
                "egress is default outbound access: its address may change at any time, and the first internal Standard load balancer ends it"
            }
            Self::ImplicitSnat => {
                "egress is implicit SNAT of load-balancing rules: it goes with the last public Service"
            }
            Self::OneProtocol => "only one of TCP and UDP gets out",
            Self::NoV6Egress => "the node has an IPv6 address, and nothing gets out over IPv6",
            Self::TwoOutboundRules => {
                "nodes are in two pools with outbound rules: which one carries them is not determined (AKS#5634)"
            }
            Self::BasicBalancer => "the Basic SKU was retired on 2025-09-30",
            Self::RuleWithoutProbe => {
                "the rule has no probe: it keeps sending to members that are dead, and admin state has no effect"
            }
            Self::SnatBesideOutboundRule => {
                "the rule's implicit SNAT is used beside the outbound rule, so addresses are not predictable (kubernetes#75281)"
            }
            Self::Undecided => "can't be decided",
        }
    }

    /// What to change.
    pub const fn change(self) -> &'static str {
        match self {
            Self::NoEgress | Self::DefaultOutbound | Self::ImplicitSnat => {
                "give the subnet a NAT gateway"
            }
            Self::NatGatewayWithoutAddress => "give the NAT gateway a public address",
            Self::ManagedPoolOnly => {
                "give the load balancer a pool and an outbound rule for egress alone, and put the nodes into it, or give their subnet a NAT gateway"
            }
            Self::OneProtocol => {
                "give the subnet a NAT gateway, or the pool a rule for the other protocol"
            }
            Self::NoV6Egress => {
                "give the subnet a NAT gateway of SKU StandardV2 with IPv6 addresses"
            }
            Self::TwoOutboundRules => "keep one outbound rule for these nodes",
            Self::BasicBalancer => "move to a Standard load balancer, with explicit egress first",
            Self::RuleWithoutProbe => {
                "give the rule a probe; in Kubernetes set clusterServiceLoadBalancerHealthProbeMode: shared"
            }
            Self::SnatBesideOutboundRule => "set disableOutboundSnat on the rule",
            Self::Undecided => "add what this command prints to the folder",
        }
    }

    /// The command that changes it.
    pub(super) fn command(self, resource: &Id) -> String {
        let group = resource.after("resourceGroups").unwrap_or("GROUP");
        let balancer = resource.after("loadBalancers").unwrap_or("BALANCER");
        let name = resource.name();
        match self {
            Self::NoEgress if resource.has("routes") => format!(
                "az network route-table route delete -g {group} --route-table-name {} -n {name}",
                resource.after("routeTables").unwrap_or("TABLE")
            ),
            Self::ImplicitSnat | Self::ManagedPoolOnly => format!(
                "az network lb address-pool create -g {group} --lb-name {balancer} -n egress && \
                 az network lb outbound-rule create -g {group} --lb-name {balancer} -n egress \
                 --protocol All --frontend-ip-configs FRONTEND --address-pool egress && \
                 az network nic ip-config address-pool add -g GROUP --nic-name NIC \
                 --ip-config-name CONFIG --lb-name {balancer} --address-pool egress"
            ),
            Self::NoEgress | Self::DefaultOutbound | Self::OneProtocol | Self::NoV6Egress => {
                format!("az network vnet subnet update --ids {resource} --nat-gateway GATEWAY")
            }
            Self::NatGatewayWithoutAddress => {
                format!(
                    "az network nat gateway update --ids {resource} --public-ip-addresses ADDRESS"
                )
            }
            Self::TwoOutboundRules => {
                format!(
                    "az network lb outbound-rule delete -g {group} --lb-name {balancer} -n RULE"
                )
            }
            Self::BasicBalancer => format!(
                "Start-AzBasicLoadBalancerUpgrade -ResourceGroupName {group} -BasicLoadBalancerName {name}"
            ),
            Self::RuleWithoutProbe => format!(
                "az network lb rule update -g {group} --lb-name {balancer} -n {name} --probe-name PROBE"
            ),
            Self::SnatBesideOutboundRule => format!(
                "az network lb rule update -g {group} --lb-name {balancer} -n {name} --disable-outbound-snat true"
            ),
            Self::Undecided => String::new(),
        }
    }
}
