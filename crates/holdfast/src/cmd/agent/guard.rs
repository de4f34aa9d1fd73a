//! The guard's flags: each has a field below `guard` in the configuration file.

use clap::Args;
use holdfast_core::config::RawGuard;

/// Whose connections are watched, and what is done about dead ones.
#[derive(Debug, Default, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "an option's id is the path of its field in the configuration"
)]
pub(super) struct GuardFlags {
    /// Watch API connections of other programs too, and abort the dead ones
    #[arg(long = "guard", env = "HOLDFAST_GUARD")]
    guard_enabled: bool,
    /// A systemd unit or a cgroup path to guard; may be repeated, implies --guard [default:
    /// kubelet.service, kube-proxy.service]
    #[arg(
        long = "guard-unit",
        value_name = "UNIT",
        env = "HOLDFAST_GUARD_UNITS",
        value_delimiter = ','
    )]
    guard_units: Vec<String>,
    /// A user to guard, by number; may be repeated, implies --guard
    #[arg(
        long = "guard-user",
        value_name = "UID",
        env = "HOLDFAST_GUARD_USERS",
        value_delimiter = ','
    )]
    guard_users: Vec<u32>,
    /// Guard every API connection in the network namespace; implies --guard
    #[arg(long, env = "HOLDFAST_GUARD_EVERYONE")]
    guard_everyone: bool,
    /// Only report what the guard would abort; implies --guard
    #[arg(long, env = "HOLDFAST_GUARD_DRY_RUN")]
    guard_dry_run: bool,
    /// What is done to a unit whose dead connections can't be aborted: none, systemctl or watchdog
    /// [default: none]
    #[arg(long, value_name = "HOW", env = "HOLDFAST_GUARD_FALLBACK")]
    guard_fallback: Option<String>,
}

impl GuardFlags {
    /// What file and flags make together; any of the flags calls for a guard.
    pub(super) fn over(&self, raw: &mut RawGuard) {
        let chosen = !self.guard_units.is_empty() || !self.guard_users.is_empty();
        if chosen {
            raw.units.clone_from(&self.guard_units);
            raw.users.clone_from(&self.guard_users);
        }
        raw.everyone |= self.guard_everyone;
        raw.dry_run |= self.guard_dry_run;
        if let Some(fallback) = &self.guard_fallback {
            raw.fallback.clone_from(fallback);
        }
        raw.enabled |= self.guard_enabled || chosen || self.guard_everyone || self.guard_dry_run;
    }

    pub(super) const fn names_fallback(&self) -> bool {
        self.guard_fallback.is_some()
    }

    pub(super) fn names_units(&self) -> bool {
        !self.guard_units.is_empty()
    }
}
