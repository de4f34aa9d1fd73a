//! What each node's egress is, and on what it rests.

use serde_json::Value;

use crate::command::{Done, holdfast};
use crate::subscription::{folder, forget, name};

fn explain(folder: &tempfile::TempDir, more: &[&str]) -> Done {
    let from = folder.path().to_str().unwrap();
    holdfast(&[&["egress", "explain", "--from", from], more].concat(), "")
}

#[test]
fn every_node_has_its_path_and_the_resources_beneath() {
    let folder = folder(4);
    let done = explain(&folder, &[]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let lines: Vec<Vec<_>> = done
        .out
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["NODE", "FAMILY", "OUT", "PATH", "RESTS", "ON"]);
    assert_eq!(
        lines[1][..5],
        ["at-amazon", "-", "elsewhere", "elsewhere", "aws:"]
    );
    assert!(done.out.contains("membership does not carry egress here"));
    let rest = [
        [
            "lb_snat",
            "kubernetes/kubernetes kubernetes/https kubernetes/quic",
        ],
        ["lb_outbound_rule+lb_snat", ""],
        ["natgw", "gateway"],
        ["default_outbound", "vnet/nodes"],
    ];
    for (n, [path, on]) in rest.into_iter().enumerate() {
        let line = &lines[n + 2];
        // The outbound rule carries all protocols, so implicit SNAT adds none.
        let path = if n == 1 { "lb_outbound_rule" } else { path };
        assert_eq!(line[..4], [name(n).as_str(), "v4", "tcp+udp", path]);
        let on = if n == 1 {
            "kubernetes/egress kubernetes/egress"
        } else {
            on
        };
        assert_eq!(line[4..].join(" "), on);
    }
}

#[test]
fn only_those_asked_for_are_explained_and_a_stranger_is_an_error() {
    let folder = folder(8);
    let done = explain(&folder, &["node-00002", "NODE-00003"]);
    assert_eq!(done.out.lines().count(), 3);
    let done = explain(&folder, &["nobody"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(
        done.err
            .starts_with("error: no node nobody; accepted: at-amazon, node-00000")
    );
}

#[test]
fn json_has_ids_and_what_would_take_each_way_away() {
    let folder = folder(4);
    let done = explain(&folder, &["-o", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&done.out).unwrap();
    let of = |n: usize| rows.iter().find(|row| row["node"] == name(n)).unwrap();
    assert_eq!(
        of(0)["would_take_it_away"],
        serde_json::json!([
            "leaving the managed pool",
            "deleting the managed pool's rules",
            "a default route to nowhere"
        ])
    );
    assert!(
        of(2)["rests_on"][0]
            .as_str()
            .unwrap()
            .ends_with("/natGateways/gateway")
    );
    assert_eq!(of(3)["family"], "v4");
    let wide = explain(&folder, &["-o", "wide"]).out;
    assert!(wide.contains("/natGateways/gateway") && wide.contains("leaving the managed pool;"));
}

#[test]
fn a_missing_file_makes_unknown_what_needs_it_and_is_named() {
    let folder = folder(4);
    forget(&folder, "nat-gateway.json");
    let done = explain(&folder, &[&name(2)]);
    assert_eq!(done.code, Some(0));
    let row = done.out.lines().nth(1).unwrap();
    assert!(
        row.contains("unknown") && row.contains("needs nat-gateway.json"),
        "{row}"
    );
    forget(&folder, "vmss-nic.json");
    let done = explain(&folder, &[&name(1)]);
    assert!(
        done.out
            .contains("its NIC is not in the folder: az vmss nic list"),
        "{}",
        done.out
    );
}

#[test]
fn without_a_folder_it_says_what_it_wants() {
    let done = holdfast(&["egress", "explain"], "");
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(
        done.err.starts_with("error: no --from DIR and no --live"),
        "{}",
        done.err
    );
    let done = holdfast(&["egress", "explain", "--from", "/nonexistent"], "");
    assert_eq!(done.code, Some(3));
    assert!(done.err.contains("read /nonexistent"), "{}", done.err);
}
