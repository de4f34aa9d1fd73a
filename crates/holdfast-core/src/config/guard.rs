//! The guard's part of the configuration, valid by construction.

use std::path::PathBuf;
use std::time::Duration;

use super::raw::RawGuard;
use super::{ConfigError, within, wrong};
use crate::restart::Cure;

/// The guard: see [`RawGuard`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whose connections are watched.
    pub clients: Clients,
    /// See [`RawGuard::namespaces`].
    pub namespaces: Vec<String>,
    /// See [`RawGuard::found_namespaces`].
    pub found_namespaces: bool,
    /// See [`RawGuard::dry_run`].
    pub dry_run: bool,
    /// See [`RawGuard::fallback`].
    pub fallback: Option<Cure>,
    /// See [`RawGuard::restarts`].
    pub restarts: PathBuf,
    /// See [`RawGuard::interval`].
    pub interval: Duration,
}

/// Whose connections are watched: whom any of these chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clients {
    /// See [`RawGuard::units`].
    pub units: Vec<Unit>,
    /// See [`RawGuard::users`].
    pub users: Vec<u32>,
    /// See [`RawGuard::everyone`].
    pub everyone: bool,
}

/// Processes that systemd or somebody else keeps together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A unit of systemd, wherever its slice is.
    Name(String),
    /// A cgroup, relative to the root of cgroup v2; starts with `/`.
    Path(String),
}

impl Unit {
    /// As it is written down.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Name(text) | Self::Path(text) => text,
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

const UNIT: &str = "a unit like kubelet.service, or a cgroup like /podruntime.slice/kubelet";
const SOMEBODY: &str = "at least one of units, users and everyone: true";
const FALLBACK: &str = "none, systemctl or watchdog";
const RESTARTS: &str = "an absolute path like /run/holdfast-guard/restarts.json";
const NAMESPACE: &str = "a name that ip netns shows, or a path like /proc/1234/ns/net";

/// The longest name of a unit (systemd.unit(5)).
const LONGEST_UNIT: usize = 255;

impl Guard {
    /// The guard, if it is enabled; what is written down must make sense in any case.
    pub(super) fn parse(raw: RawGuard) -> Result<Option<Self>, ConfigError> {
        let units = raw
            .units
            .iter()
            .map(|text| unit(text))
            .collect::<Result<Vec<_>, _>>()?;
        if raw.enabled && units.is_empty() && raw.users.is_empty() && !raw.everyone {
            return Err(wrong("guard", "no clients to watch", SOMEBODY));
        }
        let strange = |name: &&String| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-:@".contains(&b);
            let path = name.starts_with('/') && name.bytes().all(|b| plain(b) || b == b'/');
            let named = !name.is_empty() && name.bytes().all(plain);
            name.contains("..") || !(path || named)
        };
        if let Some(name) = raw.namespaces.iter().find(strange) {
            return Err(wrong("guard.namespaces", format!("{name:?}"), NAMESPACE));
        }
        if !raw.restarts.is_absolute() {
            let found = raw.restarts.display().to_string();
            return Err(wrong("guard.restarts", format!("{found:?}"), RESTARTS));
        }
        let guard = Self {
            fallback: fallback(&raw.fallback)?,
            restarts: raw.restarts,
            clients: Clients {
                units,
                users: raw.users,
                everyone: raw.everyone,
            },
            namespaces: raw.namespaces,
            found_namespaces: raw.found_namespaces,
            dry_run: raw.dry_run,
            interval: within(
                "guard.interval",
                raw.interval,
                (200, 10_000),
                "200ms to 10s",
            )?,
        };
        Ok(raw.enabled.then_some(guard))
    }
}

fn fallback(text: &str) -> Result<Option<Cure>, ConfigError> {
    let cures = [Cure::Systemctl, Cure::Watchdog];
    match text {
        "none" => Ok(None),
        _ => match cures.into_iter().find(|cure| cure.as_str() == text) {
            Some(cure) => Ok(Some(cure)),
            None => Err(wrong("guard.fallback", format!("{text:?}"), FALLBACK)),
        },
    }
}

fn unit(text: &str) -> Result<Unit, ConfigError> {
    let bad = || Err(wrong("guard.units", format!("{text:?}"), UNIT));
    if text.split('/').any(|part| part == "..") {
        return bad();
    }
    if let Some(path) = text.strip_prefix('/') {
        return if path.trim_matches('/').is_empty() {
            bad()
        } else {
            Ok(Unit::Path(text.trim_end_matches('/').to_owned()))
        };
    }
    let known = [".service", ".scope", ".slice"];
    let named = known
        .iter()
        .any(|kind| text.strip_suffix(kind).is_some_and(|stem| !stem.is_empty()));
    if !named || text.contains('/') || text.len() > LONGEST_UNIT {
        return bad();
    }
    Ok(Unit::Name(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> RawGuard {
        RawGuard {
            enabled: true,
            ..RawGuard::default()
        }
    }

    #[test]
    fn the_default_watches_the_nodes_two_clients() {
        let guard = Guard::parse(raw()).unwrap().unwrap();
        let names: Vec<_> = guard.clients.units.iter().map(Unit::as_str).collect();
        assert_eq!(names, ["kubelet.service", "kube-proxy.service"]);
        assert!(!guard.clients.everyone && !guard.dry_run);
    }

    #[test]
    fn each_wrong_field_is_named_with_what_is_accepted() {
        let units = |text: &str| RawGuard {
            units: vec![text.to_owned()],
            ..raw()
        };
        for text in [
            "kubelet",
            "a/b.service",
            "../x.service",
            "/",
            "/a/../b",
            ".service",
            "",
        ] {
            let error = Guard::parse(units(text)).unwrap_err();
            assert_eq!(error.field, "guard.units", "{text}");
            assert!(error.found.contains(text));
        }
        let cgroup = Guard::parse(units("/podruntime.slice/")).unwrap().unwrap();
        assert_eq!(
            cgroup.clients.units,
            [Unit::Path("/podruntime.slice".to_owned())]
        );
        let nobody = RawGuard {
            units: Vec::new(),
            ..raw()
        };
        assert_eq!(Guard::parse(nobody).unwrap_err().field, "guard");
        for name in ["", "a/b", "/proc/../x", "?"] {
            let namespaces = vec![name.to_owned()];
            let error = Guard::parse(RawGuard {
                namespaces,
                ..raw()
            })
            .unwrap_err();
            assert_eq!(error.field, "guard.namespaces", "{name}");
        }
        let fallback = |text: &str| {
            let fallback = text.to_owned();
            Guard::parse(RawGuard { fallback, ..raw() })
        };
        assert_eq!(fallback("sever").unwrap_err().field, "guard.fallback");
        let watchdog = fallback("watchdog").unwrap().unwrap();
        assert_eq!(watchdog.fallback, Some(Cure::Watchdog));
        let restarts = PathBuf::from("restarts.json");
        let error = Guard::parse(RawGuard { restarts, ..raw() }).unwrap_err();
        assert_eq!(error.field, "guard.restarts");
        let interval = Duration::from_millis(100);
        let error = Guard::parse(RawGuard { interval, ..raw() }).unwrap_err();
        assert_eq!(error.field, "guard.interval");
    }
}
