//! The same through `systemctl`, which needs no bus where it runs as root.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::bus::slow;
use super::unit::PROPERTIES;
use super::{PATIENCE, RESTART_PATIENCE, SystemdError, Unit};

/// What `systemctl` wrote.
struct Said {
    success: bool,
    out: String,
    err: String,
}

pub(super) async fn unit(name: &str) -> Result<Unit, SystemdError> {
    let what = format!("read the state of {name}");
    let properties = format!("--property={}", PROPERTIES.join(","));
    let said = run(&what, &["show", &properties, "--", name], PATIENCE).await?;
    let said = said.ok_or_else(|| SystemdError::failed(&*what, no_answer(PATIENCE)))?;
    if !said.success {
        return Err(explain(what, name, &said));
    }
    let properties: BTreeMap<_, _> = said
        .out
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    Ok(Unit::read(name, &properties))
}

pub(super) async fn try_restart(name: &str) -> Result<(), SystemdError> {
    let what = format!("restart {name}");
    let order = ["--no-ask-password", "try-restart", "--", name];
    let said = run(&what, &order, RESTART_PATIENCE).await?;
    let said = said.ok_or_else(|| slow(name, RESTART_PATIENCE))?;
    if said.success {
        return Ok(());
    }
    let error = explain(what, name, &said);
    if matches!(error, SystemdError::Failed { .. }) {
        return Err(SystemdError::Job {
            unit: name.to_owned(),
            result: "failed".to_owned(),
            state: unit(name).await?.state(),
        });
    }
    Err(error)
}

pub(super) async fn reset_failed(name: &str) -> Result<(), SystemdError> {
    let what = format!("reset the failures of {name}");
    let order = ["--no-ask-password", "reset-failed", "--", name];
    let said = run(&what, &order, PATIENCE).await?;
    let said = said.ok_or_else(|| SystemdError::failed(&*what, no_answer(PATIENCE)))?;
    if said.success {
        Ok(())
    } else {
        Err(explain(what, name, &said))
    }
}

pub(super) async fn is_shutting_down() -> Result<bool, SystemdError> {
    let what = "ask whether the machine shuts down";
    // Its exit code is 0 for "running" alone: the word counts.
    let said = run(what, &["is-system-running"], PATIENCE).await?;
    let said = said.ok_or_else(|| SystemdError::failed(what, no_answer(PATIENCE)))?;
    match said.out.trim() {
        "" => Err(SystemdError::failed(what, said.err.trim())),
        state => Ok(state == "stopping"),
    }
}

/// Runs it; `None` when it is not done in time.
async fn run(
    what: &str,
    arguments: &[&str],
    patience: Duration,
) -> Result<Option<Said>, SystemdError> {
    let output = Command::new("systemctl")
        .arg("--no-pager")
        .args(arguments)
        // Without a bus to look for, and in words that can be compared.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let Ok(output) = timeout(patience, output).await else {
        return Ok(None);
    };
    let output =
        output.map_err(|error| SystemdError::failed(what, format!("run systemctl: {error}")))?;
    Ok(Some(Said {
        success: output.status.success(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }))
}

fn no_answer(after: Duration) -> String {
    format!("systemctl is not done after {} s", after.as_secs())
}

fn explain(what: String, unit: &str, said: &Said) -> SystemdError {
    let err = said.err.trim();
    if err.contains("not found") || err.contains("not loaded") {
        SystemdError::NoSuchUnit {
            unit: unit.to_owned(),
        }
    } else if err.contains("authentication required") || err.contains("Access denied") {
        SystemdError::Denied { what }
    } else {
        SystemdError::failed(what, err.lines().next().unwrap_or("no reason was given"))
    }
}
