//! `holdfast node-check` beside a kubelet's stand-in and the lab's API server, on a real systemd.

use std::thread::sleep;
use std::time::Duration;

use holdfast_lab::certificates::Certificates;

use crate::guest::eventually;
use crate::node::{Actor, NAME, Node};

/// The unit as it is shipped.
const SHIPPED: &str = include_str!("../../../../deploy/systemd/holdfast-node-check.service");

const CHECK: &str = "holdfast-node-check.service";

const SECOND: &str = "second.service";

/// Longer than a check takes from the third answer to a restart.
const LONG: Duration = Duration::from_secs(12);

const KUBECONFIG: &str = "apiVersion: v1
kind: Config
current-context: lab
clusters:
- {name: lab, cluster: {server: 'https://127.0.0.20:6443', tls-server-name: api.lab.test, certificate-authority: /shared/ca.pem}}
users:
- {name: node, user: {token: secret}}
contexts:
- {name: lab, context: {cluster: lab, user: node}}
";

/// The check of one node, every second, with as little waiting as is accepted.
fn settings(node: &str) -> String {
    format!(
        "[Service]\n\
         Environment=HOLDFAST_KUBECONFIG=/shared/kubeconfig HOLDFAST_NODE_NAME={node}\n\
         Environment=HOLDFAST_NODE_CHECK_INTERVAL=1s HOLDFAST_NODE_CHECK_SETTLE=3s\n\
         Environment=HOLDFAST_NODE_CHECK_SPREAD=0s\n"
    )
}

fn boot() -> Option<(Node, Actor)> {
    let node = Node::boot(&[
        ("-holdfast-node-check.service", SHIPPED),
        (
            "-holdfast-node-check.service.d/test.conf",
            &settings("node1"),
        ),
    ])?;
    let api = api(&node);
    Some((node, api))
}

/// The API server; it knows node1 as ready.
fn api(node: &Node) -> Actor {
    let made = Certificates::make(&node.guest.shared(""), NAME, &[]).unwrap();
    std::fs::copy(&made.ca, node.guest.shared("ca.pem")).unwrap_or_default();
    std::fs::write(node.guest.shared("kubeconfig"), KUBECONFIG).unwrap();
    let inside = |path: &std::path::Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        format!("/shared/{name}")
    };
    let (cert, key) = (inside(&made.server), inside(&made.key));
    let mut api = node.actor(&[
        "api-server",
        "--name=cp1",
        "--listen=127.0.0.20:6443",
        "--cert",
        &cert,
        "--key",
        &key,
    ]);
    api.order("node node1 True");
    api
}

fn start(node: &Node, unit: &str) {
    let started = node.guest.systemctl(&["start", unit]);
    assert_eq!(
        started.code,
        Some(0),
        "{started:?}: {}",
        node.guest.journal(unit)
    );
}

#[test]
fn an_unready_node_is_severed_first_and_when_that_helps_never_restarted() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    let before = (
        node.process("kubelet.service"),
        node.descriptors("kubelet.service"),
    );
    start(&node, CHECK);
    node.move_home("kubelet", "127.0.0.12");
    api.order("node node1 Unknown");
    // Severing helps: it is connected anew, and the node is heard of.
    node.until("kubelet", "connected 127.0.0.12");
    api.order("node node1 True");
    node.says(CHECK, "node-ready");
    sleep(LONG);
    let after = (
        node.process("kubelet.service"),
        node.descriptors("kubelet.service"),
    );
    assert_eq!(after, before);
    let journal = node.guest.journal(CHECK);
    assert!(journal.contains("connections-severed"), "{journal}");
    assert!(!journal.contains("unit-restarted"), "{journal}");
}

#[test]
fn when_severing_does_not_help_it_is_restarted_once_and_the_place_is_given_back() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    let before = node.process("kubelet.service");
    start(&node, CHECK);
    api.order("node node1 Unknown");
    node.says(CHECK, "unit-restarted");
    sleep(LONG);
    let after = node.process("kubelet.service");
    assert!(after.0 != 0 && after.0 != before.0, "{after:?}");
    let journal = node.says(CHECK, "hold-down");
    assert_eq!(journal.matches("unit-restarted").count(), 1, "{journal}");
    let severed = journal.find("connections-severed");
    assert!(severed < journal.find("unit-restarted"), "{journal}");
    api.order("node node1 True");
    node.says(CHECK, "node-ready");
}

#[test]
fn what_is_not_known_for_sure_touches_nothing_and_is_said() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    let before = node.process("kubelet.service");
    api.order("node node1 Unknown");
    for (order, heal, reason) in [
        ("deny 401", "deny 0", "credential-refused"),
        ("deny 403", "deny 0", "api-forbids"),
        ("deny 500", "deny 0", "api-unusable"),
        ("node node1 gone", "node node1 Unknown", "node-missing"),
        ("clock -60m", "clock 0s", "clock-wrong"),
    ] {
        api.order(order);
        start(&node, CHECK);
        node.says(CHECK, reason);
        sleep(Duration::from_secs(5));
        let journal = node.guest.journal(CHECK);
        let lines = journal.lines().filter(|line| line.contains(reason));
        assert_eq!(lines.count(), 1, "{journal}");
        node.guest.systemctl(&["stop", CHECK]);
        api.order(heal);
    }
    drop(api);
    start(&node, CHECK);
    node.says(CHECK, "api-unreachable");
    sleep(Duration::from_secs(5));
    assert_eq!(node.process("kubelet.service"), before);
    assert_eq!(
        node.log("kubelet").lines().count(),
        1,
        "{}",
        node.log("kubelet")
    );
}

#[test]
fn s8_a_kubelet_that_was_stopped_by_hand_stays_stopped() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    api.order("node node1 Unknown");
    node.guest.systemctl(&["stop", "kubelet.service"]);
    start(&node, CHECK);
    node.says(CHECK, "unit-stopped");
    sleep(LONG);
    assert_eq!(node.process("kubelet.service").0, 0);
}

#[test]
fn s8_nothing_is_restarted_while_logind_prepares_for_a_shutdown() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    let hold = "mkdir -p /run/systemd/logind.conf.d
        printf '[Login]\\nInhibitDelayMaxSec=50\\n' > /run/systemd/logind.conf.d/test.conf
        systemctl start systemd-logind.service
        systemd-run --quiet --property=DefaultDependencies=no systemd-inhibit --what=shutdown --mode=delay sleep 100
        until systemd-inhibit --list --no-legend | grep -q delay; do sleep 0.1; done
        busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b false";
    let held = node.guest.run("bash", &["-c", hold]);
    assert_eq!(held.code, Some(0), "{held:?}");
    let before = node.process("kubelet.service");
    api.order("node node1 Unknown");
    start(&node, CHECK);
    node.says(CHECK, "shutting-down");
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);
    assert_eq!(
        node.log("kubelet").lines().count(),
        1,
        "{}",
        node.log("kubelet")
    );
}

#[test]
fn s9_of_two_nodes_with_one_place_one_restarts_and_the_other_waits() {
    let second = settings("node2")
        + "RuntimeDirectory=second\n\
           Environment=HOLDFAST_NODE_CHECK_STATE_FILE=/run/second/restarts.json\n";
    let units = [
        ("-holdfast-node-check.service", SHIPPED),
        (
            "-holdfast-node-check.service.d/test.conf",
            &settings("node1"),
        ),
        ("-second.service", SHIPPED),
        ("-second.service.d/test.conf", &second),
    ];
    let Some(node) = Node::boot(&units) else {
        return;
    };
    let mut api = api(&node);
    api.order("nodes 12");
    for name in ["node1", "node2"] {
        api.order(&format!("node {name} Unknown"));
    }
    start(&node, CHECK);
    start(&node, SECOND);
    let restarted = |unit| node.guest.journal(unit).contains("unit-restarted");
    eventually("one has restarted", || {
        (restarted(CHECK) || restarted(SECOND)).then_some(())
    });
    sleep(LONG);
    let (one, other) = (restarted(CHECK), restarted(SECOND));
    assert!(one != other, "{one} {other}");
    let waits = if one { SECOND } else { CHECK };
    node.says(waits, "fleet-budget");
    // The one that was restarted is ready: its place is free.
    let ready = if one { "node1" } else { "node2" };
    api.order(&format!("node {ready} True"));
    node.says(waits, "unit-restarted");
}

#[test]
fn asking_once_tells_the_condition_and_the_exit_code() {
    let Some((node, mut api)) = boot() else {
        return;
    };
    let once = |more: &[&str]| {
        let mut all = vec!["node-check", "--once", "--kubeconfig=/shared/kubeconfig"];
        all.push("--node-name=node1");
        all.extend(more);
        node.guest.run("holdfast", &all)
    };
    let ready = once(&[]);
    assert_eq!(ready.code, Some(0), "{ready:?}");
    assert!(ready.out.starts_with("node1: Ready is True"), "{ready:?}");
    api.order("node node1 False");
    let unready = once(&["-o", "json"]);
    assert_eq!(unready.code, Some(1), "{unready:?}");
    let said: serde_json::Value = serde_json::from_str(&unready.out).unwrap();
    assert_eq!(said["ready"], false);
    api.order("deny 401");
    assert_eq!(once(&[]).code, Some(3));
}
