//! The guard as it ships, as a unit beside a kubelet's stand-in: an ordinary user with one capability, and
//! what is left to it without that.

use std::thread::sleep;
use std::time::Duration;

use holdfast_core::status::{Status, Verdict, What};
use serde_json::Value;

use crate::guest::eventually;
use crate::node::{Actor, NAME, Node, PORT};

/// The unit as it is shipped.
const SHIPPED: &str = include_str!("../../../../deploy/systemd/holdfast-guard.service");

const GUARD: &str = "holdfast-guard.service";

/// Longer than the guard takes to be sure that a server hangs and to act on it, a few times.
const LONG: Duration = Duration::from_secs(10);

/// Settings for a test. The start of the other units of a real machine is not waited for.
fn settings(more: &str) -> String {
    format!(
        "[Service]\n\
         Environment=HOLDFAST_ENDPOINT=https://{NAME}:{PORT} HOLDFAST_CA=/shared/ca.crt\n\
         Environment=HOLDFAST_DNS_SERVERS=127.0.0.1:5300\n\
         ExecStart=\n\
         ExecStart=/usr/local/bin/holdfast agent --config /shared/guard.yaml --guard --listen none\n{more}"
    )
}

/// A kubelet's stand-in that speaks TLS and HTTP/2, and writes down what it meets.
fn kubelet() -> String {
    format!(
        "[Unit]\nDefaultDependencies=no\n[Service]\nStandardOutput=append:/shared/kubelet.events\n\
         ExecStart=bash -c 'exec holdfast lab actor client --server https://{NAME}:{PORT} \
         --resolve-with 127.0.0.1:5300 --ca /shared/ca.crt --tls-name {NAME} --node node1 \
         < <(exec sleep infinity)'\n"
    )
}

/// A node with two API servers, a kubelet on the first, whose address the name has just left, and a
/// guard that knows all of that.
fn boot(more: &str) -> Option<(Node, Vec<Actor>)> {
    let (kubelet, drop_in) = (kubelet(), settings(more));
    let node = Node::prepare(&[
        ("-kubelet.service", &kubelet),
        ("-holdfast-guard.service", SHIPPED),
        ("-holdfast-guard.service.d/test.conf", &drop_in),
    ])?;
    // The spread over a fleet is what is left of this, less a heartbeat and the start of a kubelet.
    let config = "limits: {gracePeriod: 22s}\nguard: {units: [kubelet.service]}\n";
    std::fs::write(node.guest.shared("guard.yaml"), config).unwrap();
    let mut actors = node.api_servers(2);
    let mut dns = node.dns("127.0.0.11");
    node.start_kubelet();
    until_connected(&node, 11);
    let started = node.guest.systemctl(&["start", GUARD]);
    assert_eq!(started.code, Some(0), "{}", node.guest.journal(GUARD));
    let sees = |status: &Status| {
        let sockets = &status.guard.as_ref().unwrap().sockets;
        sockets.iter().any(|s| s.client == "kubelet.service")
    };
    eventually("the guard sees the kubelet", || status(&node).filter(sees));
    dns.order(&format!("set {NAME} ttl=1s A 127.0.0.12"));
    actors.push(dns);
    let second = format!("127.0.0.12:{PORT}");
    eventually("the guard knows where else the name leads", || {
        let status = status(&node)?;
        let mut upstreams = status.upstreams.iter();
        let leads =
            upstreams.any(|u| u.verdict == Verdict::Ready && u.address.to_string() == second);
        (leads && sees(&status)).then_some(())
    });
    Some((node, actors))
}

/// What the kubelet met, of that kind: the detail of each.
fn met(node: &Node, what: &str) -> Vec<String> {
    let text = std::fs::read_to_string(node.guest.shared("kubelet.events")).unwrap_or_default();
    let events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_that_kind = events.filter(|event| event["what"] == what && event["lane"] == "heartbeat");
    of_that_kind
        .map(|event| event["detail"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Waits until the kubelet's latest connection leads to this address.
fn until_connected(node: &Node, last: u8) {
    let address = format!("127.0.0.{last}:{PORT}");
    eventually("the kubelet is connected there", || {
        (met(node, "connected").last() == Some(&address)).then_some(())
    });
}

fn status(node: &Node) -> Option<Status> {
    let shown = node.guest.run("holdfast", &["status", "-o", "json"]);
    serde_json::from_str(&shown.out).ok()
}

fn told(node: &Node, what: What) -> usize {
    let actions = status(node).unwrap().actions;
    actions.iter().filter(|action| action.what == what).count()
}

#[test]
fn the_shipped_unit_severs_a_kubelet_from_a_hung_server_and_its_process_goes_on() {
    let Some((node, _servers)) = boot("") else {
        return;
    };
    let user = node.guest.property(GUARD, "MainPID");
    let ids = node
        .guest
        .run("cat", &[&format!("/proc/{user}/status")])
        .out;
    assert!(!ids.contains("Uid:\t0"), "{ids}");
    assert!(
        ids.contains("CapEff:\t0000000000001000"),
        "CAP_NET_ADMIN alone: {ids}"
    );
    let kubelet = || {
        let unit = "kubelet.service";
        (node.process(unit), node.descriptors(unit))
    };
    let before = kubelet();
    node.hang_server(1);
    until_connected(&node, 12);
    sleep(LONG);
    assert_eq!(kubelet(), before);
    assert_eq!(met(&node, "closed"), ["aborted"]);
    assert_eq!(met(&node, "connected").len(), 2);
    assert_eq!(told(&node, What::ConnectionCut), 1);
}

#[test]
fn without_its_capability_it_restarts_the_kubelet_once_where_that_is_configured() {
    // root, since systemd restarts units for root alone.
    let more = "DynamicUser=no\nAmbientCapabilities=\nCapabilityBoundingSet=\n\
                RuntimeDirectory=holdfast-guard\nEnvironment=HOLDFAST_GUARD_FALLBACK=systemctl\n";
    let Some((node, _servers)) = boot(more) else {
        return;
    };
    let before = node.process("kubelet.service");
    node.hang_server(1);
    node.says(GUARD, "unit-restarted");
    until_connected(&node, 12);
    sleep(LONG);
    let after = node.process("kubelet.service");
    assert!(after.0 != 0 && after.0 != before.0, "{after:?}");
    assert_eq!(met(&node, "connected").len(), 2);
    assert_eq!(told(&node, What::UnitRestarted), 1);
    let guard = status(&node).unwrap().guard.unwrap();
    assert!(guard.missing.unwrap().contains("CAP_NET_ADMIN"));
    // What the next process is to know of it.
    let written = node
        .guest
        .run("cat", &["/run/holdfast-guard/restarts.json"])
        .out;
    assert!(written.contains("kubelet.service"), "{written}");
}

#[test]
fn without_its_capability_and_without_a_fallback_it_only_reports() {
    let more = "AmbientCapabilities=\nCapabilityBoundingSet=\n";
    let Some((node, _servers)) = boot(more) else {
        return;
    };
    let before = node.process("kubelet.service");
    node.hang_server(1);
    node.says(GUARD, "would-cut");
    sleep(LONG);
    assert_eq!(node.process("kubelet.service"), before);
    assert_eq!(met(&node, "connected").len(), 1);
}
