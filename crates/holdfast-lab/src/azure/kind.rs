//! The kinds of resources that are served, and which of their parts can be reached on their own.

/// A resource provider: it decides how etags look and how states are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// `Microsoft.Network`
    Network,
    /// `Microsoft.Compute`
    Compute,
    /// `Microsoft.Authorization`
    Authorization,
}

/// A kind of resource with a document of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) provider: Provider,
    /// Its type, from the outermost inwards.
    pub(super) types: &'static [&'static str],
    /// The parts that stand in its document and have ids.
    pub(super) parts: &'static [Part],
    /// Whether clients may write it.
    pub(super) writable: bool,
}

/// A part of a resource: a subnet of a network, a pool of a load balancer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The segment of its path, and the field under `properties`.
    pub(super) name: &'static str,
    /// Whether it can be written on its own.
    pub(super) writable: bool,
}

const fn part(name: &'static str) -> Part {
    Part {
        name,
        writable: true,
    }
}

const fn read_only(name: &'static str) -> Part {
    Part {
        name,
        writable: false,
    }
}

const fn kind(provider: Provider, types: &'static [&'static str], parts: &'static [Part]) -> Kind {
    Kind {
        provider,
        types,
        parts,
        writable: true,
    }
}

/// Every kind.
pub(super) static KINDS: [Kind; 14] = [
    kind(
        Provider::Network,
        &["virtualNetworks"],
        &[part("subnets"), part("virtualNetworkPeerings")],
    ),
    kind(
        Provider::Network,
        &["networkInterfaces"],
        &[read_only("ipConfigurations")],
    ),
    kind(
        Provider::Network,
        &["loadBalancers"],
        &[
            part("backendAddressPools"),
            part("inboundNatRules"),
            read_only("frontendIPConfigurations"),
            read_only("loadBalancingRules"),
            read_only("outboundRules"),
            read_only("probes"),
        ],
    ),
    kind(Provider::Network, &["publicIPAddresses"], &[]),
    kind(Provider::Network, &["publicIPPrefixes"], &[]),
    kind(Provider::Network, &["natGateways"], &[]),
    kind(Provider::Network, &["routeTables"], &[part("routes")]),
    kind(
        Provider::Network,
        &["networkSecurityGroups"],
        &[part("securityRules"), read_only("defaultSecurityRules")],
    ),
    kind(Provider::Compute, &["virtualMachines"], &[]),
    kind(Provider::Compute, &["availabilitySets"], &[]),
    kind(Provider::Compute, &["virtualMachineScaleSets"], &[]),
    kind(
        Provider::Compute,
        &["virtualMachineScaleSets", "virtualMachines"],
        &[],
    ),
    Kind {
        provider: Provider::Network,
        types: &[
            "virtualMachineScaleSets",
            "virtualMachines",
            "networkInterfaces",
        ],
        parts: &[read_only("ipConfigurations")],
        writable: false,
    },
    kind(Provider::Authorization, &["locks"], &[]),
];

/// A kind, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: &'static Kind,
    pub(super) part: Option<&'static Part>,
}

impl Kind {
    /// The innermost segment of its type.
    pub(super) fn name(&self) -> &'static str {
        self.types.last().copied().unwrap_or_default()
    }

    /// The kind with exactly this type.
    pub(super) fn of(types: &[&str]) -> Option<&'static Self> {
        KINDS.iter().find(|kind| same(kind.types, types))
    }

    /// How `type` reads: NICs of scale sets are of Compute by path and of Network by nature.
    pub(super) fn type_name(&self) -> String {
        let provider = if self.types.first() == Some(&"virtualMachineScaleSets") {
            Provider::Compute
        } else {
            self.provider
        };
        format!("{}/{}", provider.name(), self.types.join("/"))
    }
}

impl Provider {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Authorization => "Microsoft.Authorization",
            Self::Compute => "Microsoft.Compute",
            Self::Network => "Microsoft.Network",
        }
    }
}

impl Found {
    /// What a type as it stands in a path leads to.
    pub(super) fn by_types(types: &[String]) -> Option<Self> {
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        if let Some(kind) = Kind::of(&types) {
            return Some(Self { kind, part: None });
        }
        let (last, outer) = types.split_last()?;
        let kind = Kind::of(outer)?;
        let part = kind
            .parts
            .iter()
            .find(|part| part.name.eq_ignore_ascii_case(last))?;
        Some(Self {
            kind,
            part: Some(part),
        })
    }
}

fn same(one: &[&str], other: &[&str]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.eq_ignore_ascii_case(other))
}
