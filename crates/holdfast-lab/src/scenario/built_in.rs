//! The scenarios that every copy of the program carries.

/// A scenario inside the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub yaml: &'static str,
}

macro_rules! carried {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        [$(BuiltIn {
            name: $name,
            yaml: include_str!(concat!("../../scenarios/", $folder, $name, ".yaml")),
        }),+]
    };
}

/// All of them, in the order in which they are listed.
pub const BUILT_IN: [BuiltIn; 24] = carried!["":
    "address-change",
    "address-lost",
    "kill",
    "drop",
    "drop-idle",
    "drop-slow-probes",
    "drop-all",
    "hang",
    "hang-behind-balancer",
    "balancer-hangs",
    "address-replaced",
    "address-left",
    "stranger",
    "not-ready",
    "all-down",
    "link-down",
    "many-clients",
    "slow-servers",
    "stutter",
    "starved-agent",
    "loss",
    "zero-window",
    "rotating-name",
    "dns-servfail",
];

/// Those that need real components, in the order in which they are listed.
pub const REAL: [BuiltIn; 15] = carried!["kubernetes/":
    "k8s-address-change",
    "k8s-address-lost",
    "k8s-hang",
    "k8s-drop",
    "k8s-kill",
    "k8s-hang-behind-balancer",
    "k8s-rolling-restart",
    "k8s-quorum-lost",
    "k8s-all-down",
    "k8s-dns-down",
    "k8s-link-down",
    "k8s-discovery-certificate",
    "k8s-discovery-token",
    "k8s-discovery-exec",
    "k8s-discovery-members",
];

/// The scenario called `name`.
pub fn built_in(name: &str) -> Option<BuiltIn> {
    BUILT_IN
        .into_iter()
        .chain(REAL)
        .find(|known| known.name == name)
}
