//! The agent under systemd: its sockets outlive it, and it reloads where it stands.

use std::fs;

use holdfast_core::status::Status;
use holdfast_lab::certificates::Certificates;

use crate::guest::{Guest, eventually};

/// The socket unit as it ships, but for the dependencies of a whole system.
const SOCKET: &str = include_str!("../../../../deploy/systemd/holdfast-agent.socket");

/// What matters here of the service; the binary lies where both sides see it.
const SERVICE: &str = "[Unit]\n\
    DefaultDependencies=no\n\
    After=holdfast-agent.socket\n\
    ConditionPathExists=/shared/ready\n\
    [Service]\n\
    Type=notify\n\
    ExecStart=/shared/holdfast agent --config /shared/agent.yaml\n\
    ExecReload=/bin/kill -HUP $MAINPID\n";

fn status(guest: &Guest) -> Option<Status> {
    let shown = guest.run("/shared/holdfast", &["status", "-o", "json"]);
    serde_json::from_str(&shown.out).ok()
}

fn connects(guest: &Guest) -> bool {
    let script = "exec 3<>/dev/tcp/127.0.0.1/6445";
    guest.run("bash", &["-c", script]).code == Some(0)
}

#[test]
fn s7_sockets_outlive_the_service_and_a_reload_takes_place_where_it_stands() {
    let socket = SOCKET.replace("[Unit]", "[Unit]\nDefaultDependencies=no");
    let Some(guest) = Guest::boot(&[
        ("holdfast-agent.socket", &socket),
        ("-holdfast-agent.service", SERVICE),
    ]) else {
        return;
    };
    let folder = guest.shared("pki");
    fs::create_dir(&folder).unwrap();
    Certificates::make(&folder, "api.lab.test", &[]).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_holdfast"), guest.shared("holdfast")).unwrap();
    let good = "endpoint: https://127.0.0.1:1\nca: /shared/pki/ca.crt\n";
    fs::write(guest.shared("agent.yaml"), good).unwrap();
    fs::write(guest.shared("ready"), "").unwrap();
    // The first client starts it; until it serves, the client waits.
    assert!(connects(&guest));
    let listeners = eventually("the agent answers", || status(&guest)).listeners;
    assert_eq!(
        listeners,
        [
            "127.0.0.1:6445".parse().unwrap(),
            "[::1]:6445".parse().unwrap()
        ]
    );
    // A wrong configuration is told, and ends nothing.
    let pid = guest.property("holdfast-agent.service", "MainPID");
    fs::write(guest.shared("agent.yaml"), format!("{good}listen: x\n")).unwrap();
    let reload = guest.systemctl(&["reload", "holdfast-agent.service"]);
    assert_eq!(reload.code, Some(0), "{}", reload.err);
    eventually("it is refused", || status(&guest)?.config.failure);
    fs::write(guest.shared("agent.yaml"), good).unwrap();
    guest.systemctl(&["reload", "holdfast-agent.service"]);
    eventually("it holds again", || {
        status(&guest)?.config.failure.is_none().then_some(())
    });
    assert_eq!(guest.property("holdfast-agent.service", "MainPID"), pid);
    // Restarted, and nobody is refused meanwhile.
    let many = "for n in {1..100}; do exec 3<>/dev/tcp/127.0.0.1/6445 || exit 1; sleep 0.02; done";
    let mut clients = guest.inside("bash").args(["-c", many]).spawn().unwrap();
    let restart = guest.systemctl(&["restart", "holdfast-agent.service"]);
    assert_eq!(restart.code, Some(0), "{}", restart.err);
    assert!(clients.wait().unwrap().success(), "somebody was refused");
    assert_ne!(guest.property("holdfast-agent.service", "MainPID"), pid);
    // Stopped, the next client starts it again.
    guest.systemctl(&["stop", "holdfast-agent.service"]);
    assert!(connects(&guest));
    eventually("it is there again", || status(&guest));
}
