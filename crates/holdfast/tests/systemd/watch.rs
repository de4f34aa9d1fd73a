//! `holdfast watch` as it ships, as a unit beside a kubelet's stand-in: what the script of kube-aws#598 got
//! wrong, on a real systemd.

use std::thread::sleep;
use std::time::Duration;

use holdfast_core::watch::WatchStatus;

use crate::guest::eventually;
use crate::node::{NAME, Node, stand_in};

/// The unit as it is shipped.
const SHIPPED: &str = include_str!("../../../../deploy/systemd/holdfast-watch.service");

const WATCH: &str = "holdfast-watch.service";

/// Longer than the watcher takes from a changed answer to its end: three answers and two lifetimes of
/// 1 s, a look, and a restart.
const LONG: Duration = Duration::from_secs(10);

/// Settings for a short test, and more of them.
fn settings(more: &str) -> String {
    format!(
        "[Service]\n\
         Environment=API_ENDPOINT_DNS_NAME={NAME} HOLDFAST_DNS_SERVERS=127.0.0.1:5300\n\
         Environment=WATCH_INTERVAL_SEC=1 HOLDFAST_WATCH_GRACE_PERIOD=20s\n\
         Environment=KUBELET_SYSTEMD_UNIT_NAME=kubelet.service\n{more}"
    )
}

const DROP_IN: &str = "-holdfast-watch.service.d/test.conf";

fn boot(more: &str) -> Option<Node> {
    Node::boot(&[
        ("-holdfast-watch.service", SHIPPED),
        (DROP_IN, &settings(more)),
    ])
}

fn start(node: &Node) {
    let started = node.guest.systemctl(&["start", WATCH]);
    assert_eq!(
        started.code,
        Some(0),
        "{started:?}: {}",
        node.guest.journal(WATCH)
    );
}

fn shown(node: &Node) -> WatchStatus {
    let state = "--state-file=/run/holdfast-watch/state.json";
    let shown = node
        .guest
        .run("holdfast", &["watch", "--show", "-o", "json", state]);
    serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{error}: {shown:?}"))
}

#[test]
fn a_kubelet_on_an_address_that_left_is_severed_and_goes_on_as_the_same_process() {
    let Some(node) = boot("") else { return };
    let mut dns = node.dns("127.0.0.11");
    let before = node.process("kubelet.service");
    let descriptors = node.descriptors("kubelet.service");
    start(&node);
    let status = node.guest.property(WATCH, "StatusText");
    assert!(status.contains("1 addresses, 0 left DNS"), "{status}");
    node.move_home("kubelet", "127.0.0.12");
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    let pid = node.until("kubelet", "connected 127.0.0.12");
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);
    assert_eq!(node.descriptors("kubelet.service"), descriptors);
    assert_eq!(pid, before.0);
    assert_eq!(
        node.log("kubelet").lines().count(),
        3,
        "{}",
        node.log("kubelet")
    );
    node.says(WATCH, "connections-severed");
    let shown = shown(&node);
    let severed = shown
        .actions
        .iter()
        .filter(|a| a.what.as_str() == "connections-severed");
    assert_eq!(severed.count(), 1, "{shown:#?}");
    let said = node.guest.run("holdfast", &["watch", "--show"]).out;
    assert!(
        said.contains("127.0.0.12") && said.contains("left DNS"),
        "{said}"
    );
}

#[test]
fn the_systemctl_strategy_restarts_once_and_a_stopped_kubelet_stays_stopped() {
    let Some(node) = boot("Environment=KUBELET_RESTART_STRATEGY=systemctl\n") else {
        return;
    };
    let mut dns = node.dns("127.0.0.11");
    let before = node.process("kubelet.service");
    start(&node);
    let watcher = node.process(WATCH);
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    // It comes back to the same old address, which must be no new cause.
    node.says(WATCH, "unit-restarted");
    sleep(LONG);
    let after = node.process("kubelet.service");
    assert_ne!(after.0, before.0);
    assert_eq!(node.log("kubelet").matches("connected").count(), 2);
    node.says(WATCH, "hold-down");

    node.guest.systemctl(&["stop", "kubelet.service"]);
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.11"));
    sleep(LONG);
    assert_eq!(node.process("kubelet.service").0, 0);
    // The script ended at a MainPID of 0.
    assert_eq!(node.process(WATCH), watcher);
}

#[test]
fn an_outage_of_dns_another_order_an_alias_and_a_rotating_name_touch_nothing() {
    let Some(node) = boot("Environment=KUBELET_RESTART_STRATEGY=systemctl\n") else {
        return;
    };
    let mut dns = node.dns("127.0.0.11");
    let before = node.process("kubelet.service");
    start(&node);
    for failure in ["servfail", "nxdomain", "empty", "refused"] {
        dns.order(&format!("fail {NAME} {failure}"));
        sleep(Duration::from_secs(5));
        dns.order(&format!("heal {NAME}"));
        sleep(Duration::from_secs(3));
    }
    dns.order(&format!("set lb.{NAME} ttl=1s A 127.0.0.12 127.0.0.11"));
    dns.order(&format!("cname {NAME} ttl=300s lb.{NAME}"));
    sleep(LONG);
    dns.order(&format!("rotate lb.{NAME} 1"));
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);
    assert_eq!(
        node.log("kubelet").lines().count(),
        1,
        "{}",
        node.log("kubelet")
    );
    let journal = node.guest.journal(WATCH);
    assert!(!journal.contains("upstream-removed"), "{journal}");
    assert!(journal.contains("source-failed"), "{journal}");
}

#[test]
fn the_watchdog_strategy_keeps_a_silent_kubelet_alive_and_does_restart_it_when_it_must() {
    let watched = stand_in("kubelet", "WatchdogSec=3\n");
    let more = settings(
        "Environment=KUBELET_RESTART_STRATEGY=watchdog\n\
         CapabilityBoundingSet=CAP_NET_ADMIN CAP_SYS_ADMIN\n",
    );
    let units: [(&str, &str); 3] = [
        ("-kubelet.service", &watched),
        ("-holdfast-watch.service", SHIPPED),
        (DROP_IN, &more),
    ];
    let Some(node) = Node::boot(&units) else {
        return;
    };
    let mut dns = node.dns("127.0.0.11");
    start(&node);
    sleep(Duration::from_secs(1));
    let before = node.process("kubelet.service");
    // Three times its watchdog: somebody speaks for it.
    sleep(Duration::from_secs(9));
    assert_eq!(node.process("kubelet.service"), before);
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    node.says(WATCH, "unit-restarted");
    let journal = node.guest.journal("kubelet.service");
    assert!(journal.contains("Watchdog"), "{journal}");
    let after = node.process("kubelet.service");
    assert!(after.0 != 0 && after.0 != before.0, "{after:?}");
    sleep(Duration::from_secs(6));
    assert_eq!(node.process("kubelet.service").0, after.0);
}

#[test]
fn without_the_capability_the_fallback_restarts_and_without_a_bus_systemctl_does() {
    let Some(node) = boot("CapabilityBoundingSet=\n") else {
        return;
    };
    let mut dns = node.dns("127.0.0.11");
    let before = node.process("kubelet.service");
    start(&node);
    node.guest
        .systemctl(&["stop", "dbus.socket", "dbus.service"]);
    let bus = || node.guest.systemctl(&["is-active", "dbus.service"]).out;
    eventually("the bus is gone", || {
        (bus().trim() == "inactive").then_some(())
    });
    node.move_home("kubelet", "127.0.0.12");
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    let pid = node.until("kubelet", "connected 127.0.0.12");
    assert_ne!(pid, before.0);
    let journal = node.says(WATCH, "unit-restarted");
    assert!(journal.contains("not-permitted"), "{journal}");
}

#[test]
fn a_state_file_of_the_script_is_accepted_and_a_hold_down_outlives_the_watcher() {
    let Some(node) = boot(
        "Environment=KUBELET_RESTART_STRATEGY=systemctl\n\
         Environment=ELB_BACKENDS_VERSION_FILE=/run/coreos/elb-backends-version\n\
         ReadWritePaths=/run/coreos\n",
    ) else {
        return;
    };
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let script = format!("mkdir /run/coreos; echo '{hash}  -' > /run/coreos/elb-backends-version");
    node.guest.run("bash", &["-c", &script]);
    let mut dns = node.dns("127.0.0.12");
    let before = node.process("kubelet.service");
    start(&node);
    node.says(WATCH, "state-unknown");
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);

    // Now a real change; and a second one, which another watcher sees.
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.11"));
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    node.says(WATCH, "unit-restarted");
    let after = node.process("kubelet.service");
    node.guest.systemctl(&["restart", WATCH]);
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), after);
    node.says(WATCH, "hold-down");
}
