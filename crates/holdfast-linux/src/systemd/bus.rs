//! systemd and logind over the system bus (org.freedesktop.systemd1(5), org.freedesktop.login1(5)).

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::timeout;
use zbus::names::InterfaceName;
use zbus::{Connection, OwnedObjectPath, OwnedVariant, Variant, connection, proxy};

use super::unit::PROPERTIES;
use super::{PATIENCE, RESTART_PATIENCE, SystemdError, Unit};

#[proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1"
)]
trait Manager {
    fn subscribe(&self) -> zbus::Result<()>;
    fn load_unit(&self, name: &str) -> zbus::Result<OwnedObjectPath>;
    fn try_restart_unit(&self, name: &str, mode: &str) -> zbus::Result<OwnedObjectPath>;
    fn reset_failed_unit(&self, name: &str) -> zbus::Result<()>;
    #[zbus(signal)]
    fn job_removed(
        &self,
        id: u32,
        job: OwnedObjectPath,
        unit: String,
        result: String,
    ) -> zbus::Result<()>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn system_state(&self) -> zbus::Result<String>;
}

#[proxy(
    interface = "org.freedesktop.login1.Manager",
    default_service = "org.freedesktop.login1",
    default_path = "/org/freedesktop/login1"
)]
trait Logind {
    #[zbus(property(emits_changed_signal = "false"))]
    fn preparing_for_shutdown(&self) -> zbus::Result<bool>;
}

const INTERFACES: [&str; 2] = [
    "org.freedesktop.systemd1.Unit",
    "org.freedesktop.systemd1.Service",
];

/// A connection to the system bus.
pub(super) struct Bus(Connection);

impl Bus {
    /// Connects to the bus at `address`, or to the system's own.
    pub(super) async fn connect(address: Option<&str>) -> Result<Self, SystemdError> {
        let no_bus = |why: String| SystemdError::NoBus { why };
        let builder = match address {
            Some(address) => connection::Builder::address(address),
            None => connection::Builder::system(),
        };
        let built = timeout(PATIENCE, builder.method_timeout(PATIENCE).build()).await;
        match built {
            Ok(Ok(connection)) => Ok(Self(connection)),
            Ok(Err(error)) => Err(no_bus(error.to_string())),
            Err(_) => Err(no_bus(format!("no answer in {} s", PATIENCE.as_secs()))),
        }
    }

    pub(super) async fn unit(&self, name: &str) -> Result<Unit, SystemdError> {
        let what = || format!("read the state of {name}");
        let manager = self.manager(&what()).await?;
        // Loads it where it is not in use: systemd forgets units that do nothing.
        let path = manager
            .load_unit(name)
            .await
            .map_err(|error| explain(what(), name, error))?;
        let properties = zbus::fdo::PropertiesProxy::builder(&self.0)
            .destination("org.freedesktop.systemd1")
            .path(path)
            .build()
            .await
            .map_err(|error| SystemdError::failed(what(), error))?;
        let mut all = BTreeMap::new();
        for interface in INTERFACES {
            let interface = InterfaceName::try_from(interface)
                .map_err(|error| SystemdError::failed(what(), error))?;
            let values = properties
                .get_all(interface)
                .await
                .map_err(|error| explain(what(), name, error.into()))?;
            let wanted = values
                .iter()
                .filter(|(key, _)| PROPERTIES.contains(&key.as_str()))
                .filter_map(|(key, value)| Some((key.clone(), words(value)?)));
            all.extend(wanted);
        }
        Ok(Unit::read(name, &all))
    }

    /// Restarts a unit that runs, and waits for the end of exactly this job.
    pub(super) async fn try_restart(&self, name: &str) -> Result<(), SystemdError> {
        let what = || format!("restart {name}");
        let manager = self.manager(&what()).await?;
        // Ears first: a quick job would be over before its end could be heard.
        manager
            .subscribe()
            .await
            .map_err(|error| explain(what(), name, error))?;
        let mut removed = manager
            .receive_job_removed()
            .await
            .map_err(|error| SystemdError::failed(what(), error))?;
        let job = manager
            .try_restart_unit(name, "replace")
            .await
            .map_err(|error| explain(what(), name, error))?;
        let ended = async {
            while let Some(signal) = removed.next().await {
                let Ok(ended) = signal.args() else { continue };
                if *ended.job() == job {
                    return Ok(ended.result().clone());
                }
            }
            Err(SystemdError::failed(
                what(),
                "the bus closed the connection",
            ))
        };
        let result = timeout(RESTART_PATIENCE, ended)
            .await
            .map_err(|_| slow(name, RESTART_PATIENCE))??;
        if result == "done" {
            return Ok(());
        }
        Err(SystemdError::Job {
            unit: name.to_owned(),
            result,
            state: self.unit(name).await?.state(),
        })
    }

    pub(super) async fn reset_failed(&self, name: &str) -> Result<(), SystemdError> {
        let what = || format!("reset the failures of {name}");
        let manager = self.manager(&what()).await?;
        let reset = manager.reset_failed_unit(name).await;
        reset.map_err(|error| explain(what(), name, error))
    }

    pub(super) async fn is_shutting_down(&self) -> Result<bool, SystemdError> {
        let what = "ask whether the machine shuts down";
        let logind = LogindProxy::new(&self.0)
            .await
            .map_err(|error| SystemdError::failed(what, error))?;
        // A machine without logind is no failure.
        if logind.preparing_for_shutdown().await.unwrap_or(false) {
            return Ok(true);
        }
        let state = self.manager(what).await?.system_state().await;
        let state = state.map_err(|error| SystemdError::failed(what, error))?;
        Ok(state == "stopping")
    }

    async fn manager(&self, what: &str) -> Result<ManagerProxy<'_>, SystemdError> {
        let manager = ManagerProxy::new(&self.0).await;
        manager.map_err(|error| SystemdError::failed(what, error))
    }
}

pub(super) fn slow(unit: &str, after: Duration) -> SystemdError {
    SystemdError::Slow {
        unit: unit.to_owned(),
        after,
    }
}

/// The bus's error names in our words.
fn explain(what: String, unit: &str, error: zbus::Error) -> SystemdError {
    let zbus::Error::MethodError(name, said, _) = &error else {
        return SystemdError::failed(what, error);
    };
    match name.as_str() {
        "org.freedesktop.systemd1.NoSuchUnit" => SystemdError::NoSuchUnit {
            unit: unit.to_owned(),
        },
        "org.freedesktop.DBus.Error.AccessDenied"
        | "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired" => {
            SystemdError::Denied { what }
        }
        name => SystemdError::failed(what, said.as_deref().unwrap_or(name)),
    }
}

fn words(value: &OwnedVariant) -> Option<String> {
    let value: &Variant<'_> = value;
    if let Variant::Str(text) = value {
        Some(text.to_string())
    } else if let Variant::U32(number) = value {
        Some(number.to_string())
    } else if let Variant::U64(number) = value {
        Some(number.to_string())
    } else {
        None
    }
}
