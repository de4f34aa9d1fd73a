//! One unit as systemd describes it.

use std::collections::BTreeMap;
use std::time::Duration;

use holdfast_core::restart::Life;

/// The properties that are asked for (org.freedesktop.systemd1(5)).
pub(super) const PROPERTIES: [&str; 12] = [
    "ActiveState",
    "ControlGroup",
    "LoadState",
    "MainPID",
    "NRestarts",
    "NotifyAccess",
    "Restart",
    "Result",
    "SubState",
    "Type",
    "UnitFileState",
    "WatchdogUSec",
];

/// A service unit at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Whether it was found: `loaded`, `not-found`, `masked`, …
    pub load: String,
    /// `active`, `activating`, `deactivating`, `inactive`, `failed`, `reloading` or `maintenance`.
    pub active: String,
    /// The same in more detail: `running`, `auto-restart`, `dead`, …
    pub sub: String,
    /// How it ended last: `success`, `watchdog`, `start-limit-hit`, `exit-code`, …
    pub result: String,
    /// Its main process, while there is one.
    pub main_pid: Option<u32>,
    /// How often systemd restarted it by itself since it was started or its failures were reset.
    pub restarts: u32,
    /// Whether it starts with the machine: `enabled`, `disabled`, `static`, `masked`, …
    pub unit_file: String,
    /// `simple`, `notify`, …
    pub kind: String,
    /// When systemd starts it again by itself: `no`, `always`, `on-failure`, …
    pub restart: String,
    /// Who may report for it: `none`, `main`, `exec` or `all`.
    pub notify_access: String,
    /// Its cgroup, below the root of the tree; empty while it has none.
    pub control_group: String,
    /// Its watchdog's interval, if it has one.
    pub watchdog: Option<Duration>,
}

impl Unit {
    /// Where in its life it is.
    pub fn life(&self) -> Life {
        if !matches!(self.load.as_str(), "loaded" | "merged") && self.main_pid.is_none() {
            return Life::Absent;
        }
        match self.active.as_str() {
            "active" | "reloading" | "refreshing" => {
                // "active (exited)" is a unit without a process.
                if self.main_pid.is_some() {
                    Life::Running
                } else {
                    Life::Stopped
                }
            }
            "activating" => Life::Starting,
            "deactivating" => Life::Stopping,
            "failed" if self.result == "start-limit-hit" => Life::StartLimitHit,
            "failed" => Life::Failed,
            _ => Life::Stopped,
        }
    }

    /// Whether systemd starts the unit again when its watchdog says that it hangs
    /// (systemd.service(5), `Restart=`).
    pub fn restarts_on_watchdog(&self) -> bool {
        matches!(
            self.restart.as_str(),
            "always" | "on-failure" | "on-abnormal" | "on-watchdog"
        )
    }

    /// Its state in words: `active (running)`.
    pub fn state(&self) -> String {
        let mut state = format!("{} ({})", self.active, self.sub);
        if self.active == "failed" {
            state.push_str(", ");
            state.push_str(&self.result);
        }
        state
    }

    pub(super) fn read(name: &str, properties: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| properties.get(key).cloned().unwrap_or_default();
        let number = |key: &str| properties.get(key).and_then(|value| value.parse().ok());
        Self {
            name: name.to_owned(),
            load: text("LoadState"),
            active: text("ActiveState"),
            sub: text("SubState"),
            result: text("Result"),
            main_pid: number("MainPID").filter(|pid| *pid > 0),
            restarts: number("NRestarts").unwrap_or(0),
            unit_file: text("UnitFileState"),
            kind: text("Type"),
            restart: text("Restart"),
            notify_access: text("NotifyAccess"),
            control_group: text("ControlGroup"),
            watchdog: properties.get("WatchdogUSec").and_then(|v| span(v)),
        }
    }
}

/// Reads a time span: plain microseconds as on the bus, or systemd.time(7)'s words as `systemctl show`
/// prints them (`1min 30s`). `None` for none at all: 0, or `infinity`.
fn span(text: &str) -> Option<Duration> {
    if let Ok(micros) = text.parse::<u64>() {
        let none = micros == 0 || micros == u64::MAX;
        return (!none).then(|| Duration::from_micros(micros));
    }
    let mut sum = Duration::ZERO;
    for part in text.split_whitespace() {
        let digits = part.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = part.split_at(digits);
        let seconds = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            _ => return None,
        };
        let number: f64 = number.parse().ok()?;
        sum += Duration::try_from_secs_f64(number * seconds).ok()?;
    }
    (!sum.is_zero()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(properties: &[(&str, &str)]) -> Unit {
        let properties = properties
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        Unit::read("kubelet.service", &properties)
    }

    #[test]
    fn a_life_is_read_from_state_process_and_result() {
        let life = |active, pid, result| {
            unit(&[
                ("LoadState", "loaded"),
                ("ActiveState", active),
                ("MainPID", pid),
                ("Result", result),
            ])
            .life()
        };
        assert_eq!(life("active", "12", "success"), Life::Running);
        assert_eq!(life("reloading", "12", "success"), Life::Running);
        assert_eq!(life("active", "0", "success"), Life::Stopped);
        assert_eq!(life("activating", "0", "exit-code"), Life::Starting);
        assert_eq!(life("deactivating", "12", "success"), Life::Stopping);
        assert_eq!(life("inactive", "0", "success"), Life::Stopped);
        assert_eq!(life("failed", "0", "exit-code"), Life::Failed);
        assert_eq!(life("failed", "0", "start-limit-hit"), Life::StartLimitHit);
        let masked = unit(&[("LoadState", "masked"), ("ActiveState", "inactive")]);
        assert_eq!(masked.life(), Life::Absent);
        assert_eq!(unit(&[]).life(), Life::Absent);
    }

    #[test]
    fn a_span_is_read_from_the_bus_and_from_systemctl() {
        let read = |text| span(text);
        assert_eq!(read("30000000"), Some(Duration::from_secs(30)));
        assert_eq!(read("0"), None);
        assert_eq!(read("18446744073709551615"), None);
        assert_eq!(read("infinity"), None);
        assert_eq!(read("2s"), Some(Duration::from_secs(2)));
        assert_eq!(read("1min 30s"), Some(Duration::from_secs(90)));
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(read("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(read("2 parsecs"), None);
    }
}
