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
    ($($name:literal),+ $(,)?) => {
        [$(BuiltIn {
            name: $name,
            yaml: include_str!(concat!("../../scenarios/", $name, ".yaml")),
        }),+]
    };
}

/// All of them, in the order in which they are listed.
pub const BUILT_IN: [BuiltIn; 14] = carried![
    "address-change",
    "address-lost",
    "kill",
    "drop",
    "drop-idle",
    "drop-slow-probes",
    "hang",
    "hang-behind-balancer",
    "address-replaced",
    "address-left",
    "not-ready",
    "all-down",
    "slow-servers",
    "dns-servfail",
];

/// The scenario called `name`.
pub fn built_in(name: &str) -> Option<BuiltIn> {
    BUILT_IN.into_iter().find(|known| known.name == name)
}
