//! Restarts over the system bus and through `systemctl`.

use holdfast_core::restart::Life;
use holdfast_linux::systemd::{Restarted, Systemd, SystemdError};

use crate::guest::Guest;

/// A service that runs until it is told to stop, and may be started seldom.
const STEADY: &str = "[Unit]\n\
    DefaultDependencies=no\n\
    StartLimitIntervalSec=1h\n\
    StartLimitBurst=3\n\
    [Service]\n\
    ExecStart=sleep infinity\n\
    Restart=always\n";

const STOPPED: &str = "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=sleep infinity\n";

const WATCHED: &str = "[Unit]\n\
    DefaultDependencies=no\n\
    [Service]\n\
    Type=notify\n\
    NotifyAccess=all\n\
    WatchdogSec=90\n\
    Restart=on-failure\n\
    ExecStart=bash -c 'systemd-notify --ready; exec sleep infinity'\n";

fn boot() -> Option<Guest> {
    Guest::boot(&[
        ("steady.service", STEADY),
        ("-stopped.service", STOPPED),
        ("watched.service", WATCHED),
    ])
}

fn asynchronously<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

#[test]
fn a_running_unit_is_restarted_and_a_stopped_one_is_left_alone() {
    let Some(guest) = boot() else { return };
    let systemd = Systemd::on_bus(&guest.bus());
    asynchronously(async {
        let before = systemd.unit("steady.service").await.unwrap();
        assert_eq!(before.life(), Life::Running, "{before:?}");
        let restarted = systemd.try_restart("steady.service").await.unwrap();
        assert_eq!(restarted, Restarted::Done);
        let after = systemd.unit("steady.service").await.unwrap();
        assert_eq!(after.life(), Life::Running, "{after:?}");
        assert_ne!(after.main_pid, before.main_pid);

        let stopped = systemd.try_restart("stopped.service").await.unwrap();
        assert_eq!(stopped, Restarted::NotRunning);
        let still = systemd.unit("stopped.service").await.unwrap();
        assert_eq!((still.life(), still.main_pid), (Life::Stopped, None));

        let nobody = systemd.unit("nobody.service").await.unwrap();
        assert_eq!(nobody.life(), Life::Absent);
        assert!(!systemd.is_shutting_down().await.unwrap());
    });
}

#[test]
fn what_is_told_of_a_unit_is_what_systemctl_shows() {
    let Some(guest) = boot() else { return };
    let systemd = Systemd::on_bus(&guest.bus());
    let unit = asynchronously(systemd.unit("watched.service")).unwrap();
    let shown = |property| guest.property("watched.service", property);
    assert_eq!(unit.active, "active");
    assert_eq!(unit.sub, shown("SubState"));
    assert_eq!(unit.main_pid.unwrap().to_string(), shown("MainPID"));
    assert_eq!(unit.restarts.to_string(), shown("NRestarts"));
    assert_eq!(unit.notify_access, "all");
    assert_eq!(unit.kind, "notify");
    assert_eq!(unit.watchdog.unwrap().as_secs(), 90);
    assert!(unit.restarts_on_watchdog());
    assert_eq!(unit.unit_file, shown("UnitFileState"));
    assert_eq!(unit.load, "loaded");
}

#[test]
fn a_job_that_meets_the_start_limit_is_told_as_failed_and_reset_failed_gives_new_starts() {
    let Some(guest) = boot() else { return };
    let systemd = Systemd::on_bus(&guest.bus());
    asynchronously(async {
        // The start with the machine was the first of three.
        for _ in 0..2 {
            let restarted = systemd.try_restart("steady.service").await.unwrap();
            assert_eq!(restarted, Restarted::Done);
        }
        systemd.reset_failed("steady.service").await.unwrap();
        for _ in 0..3 {
            let restarted = systemd.try_restart("steady.service").await.unwrap();
            assert_eq!(restarted, Restarted::Done);
        }
        let error = systemd.try_restart("steady.service").await.unwrap_err();
        assert!(
            matches!(&error, SystemdError::Job { result, .. } if result == "failed"),
            "{error}"
        );
        assert!(error.to_string().contains("start-limit-hit"), "{error}");
        let unit = systemd.unit("steady.service").await.unwrap();
        assert_eq!(unit.life(), Life::StartLimitHit, "{unit:?}");
    });
}

#[test]
fn restarts_of_two_units_at_once_each_wait_for_their_own_job() {
    let Some(guest) = boot() else { return };
    let systemd = Systemd::on_bus(&guest.bus());
    asynchronously(async {
        let (one, other) = tokio::join!(
            systemd.try_restart("steady.service"),
            systemd.try_restart("watched.service"),
        );
        assert_eq!(
            (one.unwrap(), other.unwrap()),
            (Restarted::Done, Restarted::Done)
        );
    });
}
