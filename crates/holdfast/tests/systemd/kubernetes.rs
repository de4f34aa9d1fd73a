//! Node check and watcher with the kubelet's own code as `kubelet.service`, and an API that says of the node what a
//! real one says.

mod cluster;

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::cluster::{Cluster, FRONTS, NODE, Row};
use crate::guest::eventually;
use crate::node::NAME;

const CHECK: &str = "check.service";

const WATCH: &str = "holdfast-watch.service";

/// Longer than a check takes from the third answer to a restart.
const LONG: Duration = Duration::from_secs(15);

/// The check, every second. A kubelet that is connected anew says within ten seconds that its node is ready; it
/// gets twice that.
const CHECK_UNIT: &str = "[Unit]\nDefaultDependencies=no\n[Service]\nType=notify\n\
     ExecStart=/usr/local/bin/holdfast node-check --kubeconfig /shared/check.kubeconfig --node-name node1 \
     --interval 1s --settle 20s --spread 0s\n";

/// A cluster with a node check that does not run yet.
fn boot() -> Option<Cluster> {
    let cluster = Cluster::boot(&[("-check.service", CHECK_UNIT)])?;
    cluster.let_check();
    Some(cluster)
}

/// The place in the fleet's budget: who holds it, or nobody.
fn place(cluster: &Cluster) -> Option<String> {
    let lease = ["get", "lease", "holdfast-restart-0", "--namespace=holdfast"];
    let done = cluster.kubectl(&[&lease[..], &["--output=json"]].concat());
    let lease: Value = serde_json::from_str(&done.out).ok()?;
    let holder = lease["spec"]["holderIdentity"].as_str()?;
    (!holder.is_empty()).then(|| holder.to_owned())
}

/// Takes the only place for another node, for a long time.
fn take_place(cluster: &Cluster) {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": "holdfast-restart-0",
            "namespace": "holdfast",
            "labels": {"app.kubernetes.io/component": "holdfast-restart-budget"},
        },
        "spec": {
            "holderIdentity": "node9",
            "leaseDurationSeconds": 3600,
            "renewTime": format!("{:.6}", jiff::Timestamp::now()),
        },
    });
    std::fs::write(cluster.guest.shared("lease.json"), lease.to_string()).unwrap();
    cluster.told(&["create", "--filename=/shared/lease.json"]);
}

#[test]
fn a_node_that_is_unknown_since_its_address_is_silent_is_severed_and_ready_again() {
    let Some(mut cluster) = boot() else { return };
    let before = cluster.kubelet();
    cluster.systemctl(&["start", CHECK]);
    let fault = Instant::now();
    cluster.silence(FRONTS[0]);
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", FRONTS[1]));
    let reason = cluster.until_ready("Unknown");
    assert_eq!(reason, "NodeStatusUnknown");
    let tainted = |cluster: &Cluster| {
        cluster
            .node()
            .to_string()
            .contains("node.kubernetes.io/unreachable")
    };
    eventually("the node is tainted", || tainted(&cluster).then_some(()));
    cluster.says(CHECK, "connections-severed");
    cluster.until_ready("True");
    let mended = fault.elapsed();
    eventually("the taint is gone", || (!tainted(&cluster)).then_some(()));
    cluster.says(CHECK, "node-ready");
    sleep(LONG);
    assert_eq!(cluster.kubelet(), before);
    let journal = cluster.guest.journal(CHECK);
    assert!(!journal.contains("unit-restarted"), "{journal}");
    assert_eq!(place(&cluster), None);
    Row {
        case: "the kubelet's address is silent, the name leads elsewhere",
        said: "Unknown: NodeStatusUnknown",
        did: "severed its connections",
        kubelet: "the same process",
        mended_after: Some(mended),
    }
    .write();
}

#[test]
fn a_kubelet_that_hangs_is_restarted_as_soon_as_the_fleets_budget_has_a_place() {
    let Some(cluster) = boot() else { return };
    take_place(&cluster);
    let before = cluster.kubelet();
    cluster.systemctl(&["start", CHECK]);
    let fault = Instant::now();
    cluster.hang_unready();
    cluster.says(CHECK, "fleet-budget");
    sleep(LONG);
    assert_eq!(cluster.kubelet(), before);
    let waited = cluster.guest.journal(CHECK);
    assert!(!waited.contains("unit-restarted"), "{waited}");
    assert_eq!(place(&cluster).as_deref(), Some("node9"));

    cluster.told(&[
        "delete",
        "lease",
        "holdfast-restart-0",
        "--namespace=holdfast",
    ]);
    let held = eventually("it takes the place", || place(&cluster));
    assert_eq!(held, NODE);
    let journal = cluster.says(CHECK, "unit-restarted");
    let severed = journal.find("connections-severed");
    assert!(
        severed.is_some() && severed < journal.find("unit-restarted"),
        "{journal}"
    );
    cluster.until_ready("True");
    let mended = fault.elapsed();
    eventually("it gives the place back", || {
        place(&cluster).is_none().then_some(())
    });
    sleep(LONG);
    assert_ne!(cluster.kubelet(), before);
    let journal = cluster.guest.journal(CHECK);
    assert_eq!(journal.matches("unit-restarted").count(), 1, "{journal}");
    Row {
        case: "the kubelet hangs; the fleet's only place is held for 15 s",
        said: "False: KubeletNotReady",
        did: "severed, waited for its place, restarted once, gave it back",
        kubelet: "a new process",
        mended_after: Some(mended),
    }
    .write();
}

#[test]
fn a_kubelet_that_was_stopped_stays_stopped() {
    let Some(cluster) = boot() else { return };
    cluster.systemctl(&["stop", "kubelet"]);
    cluster.systemctl(&["start", CHECK]);
    cluster.until_ready("Unknown");
    cluster.says(CHECK, "unit-stopped");
    sleep(LONG);
    assert_eq!(cluster.kubelet(), "0");
    assert_eq!(place(&cluster), None);
    Row {
        case: "somebody stopped kubelet.service",
        said: "Unknown: NodeStatusUnknown",
        did: "nothing, and said so: unit-stopped",
        kubelet: "stopped",
        mended_after: None,
    }
    .write();
    let begun = Instant::now();
    cluster.systemctl(&["start", "kubelet"]);
    cluster.until_ready("True");
    cluster.says(CHECK, "node-ready");
    assert!(begun.elapsed() < Duration::from_mins(1));
}

#[test]
fn while_the_machine_shuts_down_nothing_is_restarted() {
    let Some(cluster) = boot() else { return };
    let hold = "set -e; mkdir -p /run/systemd/logind.conf.d
        printf '[Login]\\nInhibitDelayMaxSec=90\\n' > /run/systemd/logind.conf.d/test.conf
        systemctl start systemd-logind.service
        systemd-run --quiet --property=DefaultDependencies=no systemd-inhibit --what=shutdown --mode=delay sleep 100
        until systemd-inhibit --list --no-legend | grep -q delay; do sleep 0.1; done
        busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b false";
    let held = cluster.guest.run("bash", &["-c", hold]);
    assert_eq!(held.code, Some(0), "{held:?}");
    let before = cluster.kubelet();
    cluster.hang_unready();
    cluster.systemctl(&["start", CHECK]);
    cluster.says(CHECK, "shutting-down");
    sleep(LONG);
    assert_eq!(cluster.kubelet(), before);
    assert_eq!(place(&cluster), None);
    Row {
        case: "the machine shuts down",
        said: "False: KubeletNotReady",
        did: "nothing, and said so: shutting-down",
        kubelet: "the same process",
        mended_after: None,
    }
    .write();
}

#[test]
fn a_kubelet_may_ask_for_its_node_but_gets_no_place_with_its_own_credential() {
    let Some(cluster) = boot() else { return };
    let kubelets = cluster.kubelets_kubeconfig();
    let kubelets = format!("--kubeconfig={}", kubelets.display());
    let once = |kubeconfig: &str, node: &str| {
        let node = format!("--node-name={node}");
        let arguments = ["node-check", "--once", kubeconfig, &node];
        let done = cluster.guest.run("holdfast", &arguments);
        (done.code, done.out + &done.err)
    };
    let (code, said) = once("--kubeconfig=/shared/check.kubeconfig", NODE);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("node1: Ready is True"), "{said}");
    let (code, said) = once(&kubelets, NODE);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = once("--kubeconfig=/shared/check.kubeconfig", "node7");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("no such node"), "{said}");

    let before = cluster.kubelet();
    let unit = CHECK_UNIT.replace("--kubeconfig /shared/check.kubeconfig", &kubelets);
    std::fs::write(cluster.guest.shared("check.service"), unit).unwrap();
    let replace = "cp /shared/check.service /run/systemd/system/ && systemctl daemon-reload";
    assert_eq!(cluster.guest.run("bash", &["-c", replace]).code, Some(0));
    cluster.systemctl(&["start", CHECK]);
    cluster.hang_unready();
    cluster.says(CHECK, "fleet-unknown");
    sleep(LONG);
    assert_eq!(cluster.kubelet(), before);
    Row {
        case: "the kubelet hangs, and the check has only its credential",
        said: "False: KubeletNotReady; leases: 403",
        did: "severed; no restart, and said so: fleet-unknown",
        kubelet: "the same process",
        mended_after: None,
    }
    .write();
}

#[test]
fn the_watcher_severs_a_kubelet_from_an_address_that_left_before_the_node_is_unknown() {
    let shipped = include_str!("../../../../deploy/systemd/holdfast-watch.service");
    let settings = format!(
        "[Service]\n\
         Environment=API_ENDPOINT_DNS_NAME={NAME} HOLDFAST_DNS_SERVERS=127.0.0.1:53\n\
         Environment=WATCH_INTERVAL_SEC=1 HOLDFAST_WATCH_GRACE_PERIOD=20s\n\
         Environment=KUBELET_SYSTEMD_UNIT_NAME=kubelet.service\n"
    );
    let units = [
        ("-holdfast-watch.service", shipped),
        ("-holdfast-watch.service.d/test.conf", settings.as_str()),
    ];
    let Some(mut cluster) = Cluster::boot(&units) else {
        return;
    };
    cluster.systemctl(&["start", WATCH]);
    let before = cluster.kubelet();
    let last = cluster.renewed();
    eventually("a heartbeat", || (cluster.renewed() != last).then_some(()));
    let last = cluster.renewed();
    let fault = Instant::now();
    cluster.silence(FRONTS[0]);
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", FRONTS[1]));
    cluster.says(WATCH, "connections-severed");
    eventually("heartbeats go on", || {
        assert_eq!(cluster.ready().0, "True");
        (cluster.renewed() != last).then_some(())
    });
    let mended = fault.elapsed();
    sleep(LONG);
    assert_eq!(cluster.ready().0, "True");
    assert_eq!(cluster.kubelet(), before);
    Row {
        case: "watcher: the address leaves the name and is silent",
        said: "True all the time",
        did: "severed its connections",
        kubelet: "the same process",
        mended_after: Some(mended),
    }
    .write();
}
