//! The closed vocabulary of why: log line, metric label and status row all take their word from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why Holdfast judges an upstream as it does, or why it acted.
///
/// The text form is kebab-case and stable: it is a metric label and part of the JSON of
/// `holdfast status`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A source named the address for the first time.
    AddressAdded,
    /// Every source has dropped the address, for long enough to believe it.
    AddressRemoved,
    /// Another process listens on an address of this agent's own.
    AddressTaken,
    /// Every upstream looks bad, so all of them are tried: nothing is made worse.
    AllUpstreamsBad,
    /// The client connected and never sent a byte.
    ClientSilent,
    /// The configuration was changed, and the new one holds.
    ConfigChanged,
    /// The changed configuration is wrong, or can't hold without a restart; the old one holds.
    ConfigInvalid,
    /// Packets to the address are not answered, and this node runs an API server itself: a balancer
    /// there may send this node's connections back to this node, where they are lost.
    Hairpin,
    /// TCP connects, but TLS is never answered, and a connection there is silent too.
    Hung,
    /// This node itself could not do it (memory, permission, address family): nothing is concluded
    /// about any upstream.
    LocalFailure,
    /// The address looks bad, but so does every other: the fault is this node's own network.
    LocalFaultSuspected,
    /// The kernel does not let this process abort sockets, or can't.
    NotPermitted,
    /// The upstream that is this node's own choice is ready again, and the connection was quiet.
    MovedHome,
    /// Nothing has been heard from the address yet.
    NotYetProven,
    /// This process or the node has no free descriptor (`EMFILE`, `ENFILE`): nothing is concluded
    /// about any upstream.
    OutOfDescriptors,
    /// This node has no free local port or no source address for that family (`EADDRNOTAVAIL`):
    /// nothing is concluded about any upstream.
    OutOfPorts,
    /// Others answer, but the endpoint's name has none of them: a guarded client that is cut would
    /// come back to the same address.
    NowhereElse,
    /// The drain time is over and the connection is still open.
    DrainTimeOver,
    /// A source could not be asked, or its answer could not be used; what it said before stands.
    SourceFailed,
    /// A source that failed before answers again.
    SourceRecovered,
    /// Acting now would exceed the limit of cuts per window; it is done as soon as the limit allows.
    RateLimited,
    /// `/readyz` answered 401, 403, 404 or 429: alive, readiness unknown.
    ReadinessUnknown,
    /// `/readyz` answered 200.
    ReadyzOk,
    /// `/readyz` answered with a failure (HTTP 500 from an API server that is shutting down or not ready).
    ReadyzFailed,
    /// The upstream answers again after it was bad, and is being watched before it is trusted.
    Recovering,
    /// The connection was refused: nothing listens there.
    Refused,
    /// The connection was reset or closed before TLS was answered.
    Reset,
    /// Packets to the address are not answered at all.
    Silent,
    /// Answers come, but late; slowness never cuts.
    Slow,
    /// A connection's bytes were sent again and again and never acknowledged, while others answer.
    Unacknowledged,
    /// The network says that the address can't be reached (no route, host or network unreachable).
    Unreachable,
    /// The certificate is not from the cluster's CA or not for the expected name: somebody else has
    /// this address.
    WrongCertificate,
    /// The API server does not let the credential read what is needed (403).
    ApiForbids,
    /// The API can't be asked: no connection, or no answer.
    ApiUnreachable,
    /// The API answered with an error or with nonsense.
    ApiUnusable,
    /// What would have to be known can't be seen: sockets, or the state of a unit or of the machine.
    Blind,
    /// This machine's clock is far from the API server's: ages and certificates mean nothing then.
    ClockWrong,
    /// The API server does not accept the credential (401).
    CredentialRefused,
    /// As many nodes as may at once are restarting their units already.
    FleetBudget,
    /// Whether other nodes are restarting their units can't be agreed with them.
    FleetUnknown,
    /// The unit was restarted a short while ago, or for the same cause already.
    HoldDown,
    /// The cluster has no node of this name, or no condition of it yet.
    NodeMissing,
    /// The API server says that the node is not ready, several checks in a row.
    NodeNotReady,
    /// The node is ready again.
    NodeReady,
    /// Restarts are switched off.
    RestartOff,
    /// The machine is on its way down.
    ShuttingDown,
    /// What an earlier watcher wrote can't be used, or does not tell addresses.
    StateUnknown,
    /// There is no such unit on this machine.
    UnitAbsent,
    /// The unit has failed, or its restart did.
    UnitFailed,
    /// The unit is being started.
    UnitStarting,
    /// The unit does not run: somebody stopped it.
    UnitStopped,
}

impl Reason {
    /// Every reason, in declaration order; reference docs and metrics are built from it.
    pub const ALL: [Self; 51] = [
        Self::AddressAdded,
        Self::AddressRemoved,
        Self::AddressTaken,
        Self::AllUpstreamsBad,
        Self::ClientSilent,
        Self::ConfigChanged,
        Self::ConfigInvalid,
        Self::Hairpin,
        Self::Hung,
        Self::LocalFailure,
        Self::LocalFaultSuspected,
        Self::NotPermitted,
        Self::MovedHome,
        Self::NotYetProven,
        Self::OutOfDescriptors,
        Self::OutOfPorts,
        Self::NowhereElse,
        Self::DrainTimeOver,
        Self::SourceFailed,
        Self::SourceRecovered,
        Self::RateLimited,
        Self::ReadinessUnknown,
        Self::ReadyzOk,
        Self::ReadyzFailed,
        Self::Recovering,
        Self::Refused,
        Self::Reset,
        Self::Silent,
        Self::Slow,
        Self::Unacknowledged,
        Self::Unreachable,
        Self::WrongCertificate,
        Self::ApiForbids,
        Self::ApiUnreachable,
        Self::ApiUnusable,
        Self::Blind,
        Self::ClockWrong,
        Self::CredentialRefused,
        Self::FleetBudget,
        Self::FleetUnknown,
        Self::HoldDown,
        Self::NodeMissing,
        Self::NodeNotReady,
        Self::NodeReady,
        Self::RestartOff,
        Self::ShuttingDown,
        Self::StateUnknown,
        Self::UnitAbsent,
        Self::UnitFailed,
        Self::UnitStarting,
        Self::UnitStopped,
    ];

    /// The reason as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AddressAdded => "address-added",
            Self::AddressRemoved => "address-removed",
            Self::AddressTaken => "address-taken",
            Self::AllUpstreamsBad => "all-upstreams-bad",
            Self::ClientSilent => "client-silent",
            Self::ConfigChanged => "config-changed",
            Self::ConfigInvalid => "config-invalid",
            Self::Hairpin => "hairpin",
            Self::Hung => "hung",
            Self::LocalFailure => "local-failure",
            Self::LocalFaultSuspected => "local-fault-suspected",
            Self::NotPermitted => "not-permitted",
            Self::MovedHome => "moved-home",
            Self::NotYetProven => "not-yet-proven",
            Self::OutOfDescriptors => "out-of-descriptors",
            Self::OutOfPorts => "out-of-ports",
            Self::NowhereElse => "nowhere-else",
            Self::DrainTimeOver => "drain-time-over",
            Self::SourceFailed => "source-failed",
            Self::SourceRecovered => "source-recovered",
            Self::RateLimited => "rate-limited",
            Self::ReadinessUnknown => "readiness-unknown",
            Self::ReadyzOk => "readyz-ok",
            Self::ReadyzFailed => "readyz-failed",
            Self::Recovering => "recovering",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Silent => "silent",
            Self::Slow => "slow",
            Self::Unacknowledged => "unacknowledged",
            Self::Unreachable => "unreachable",
            Self::WrongCertificate => "wrong-certificate",
            Self::ApiForbids => "api-forbids",
            Self::ApiUnreachable => "api-unreachable",
            Self::ApiUnusable => "api-unusable",
            Self::Blind => "blind",
            Self::ClockWrong => "clock-wrong",
            Self::CredentialRefused => "credential-refused",
            Self::FleetBudget => "fleet-budget",
            Self::FleetUnknown => "fleet-unknown",
            Self::HoldDown => "hold-down",
            Self::NodeMissing => "node-missing",
            Self::NodeNotReady => "node-not-ready",
            Self::NodeReady => "node-ready",
            Self::RestartOff => "restart-off",
            Self::ShuttingDown => "shutting-down",
            Self::StateUnknown => "state-unknown",
            Self::UnitAbsent => "unit-absent",
            Self::UnitFailed => "unit-failed",
            Self::UnitStarting => "unit-starting",
            Self::UnitStopped => "unit-stopped",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
