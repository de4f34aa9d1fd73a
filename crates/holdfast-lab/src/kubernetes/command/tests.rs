use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::{Machine, audited, etcd};

fn machine(host: u8) -> Machine {
    Machine {
        name: format!("cp{host}"),
        address: Ipv4Addr::new(10, 99, 2, host),
        folder: PathBuf::from(format!("/run/cp{host}")),
    }
}

#[test]
fn every_member_of_etcd_names_the_same_cluster_and_only_its_own_address() {
    let all = [machine(1), machine(2)];
    let cluster = "--initial-cluster=cp1=http://10.99.2.1:2380,cp2=http://10.99.2.2:2380";
    for (one, other) in [(&all[0], &all[1]), (&all[1], &all[0])] {
        let arguments = etcd(one, &all);
        assert!(arguments.iter().any(|argument| argument == cluster));
        let elsewhere = other.address.to_string();
        assert!(
            arguments
                .iter()
                .filter(|argument| *argument != cluster)
                .all(|argument| !argument.contains(&elsewhere)),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_node_asks_for_everything_by_a_list_or_by_a_watch_that_begins_with_one() {
    let line = |user: &str, verb: &str, uri: &str| {
        format!(
            r#"{{"verb":"{verb}","user":{{"username":"{user}"}},"requestURI":"{uri}",
                "requestReceivedTimestamp":"2026-12-01T04:00:01.500000Z"}}"#
        )
    };
    for (verb, uri, lists_all) in [
        ("list", "/api/v1/pods", true),
        (
            "watch",
            "/api/v1/pods?sendInitialEvents=true&watch=true",
            true,
        ),
        ("watch", "/api/v1/pods?resourceVersion=7&watch=true", false),
    ] {
        let read = audited(&line("system:node:n1", verb, uri)).unwrap();
        assert_eq!((read.node.as_str(), read.lists_all), ("n1", lists_all));
        assert!((read.wall_s.fract() - 0.5).abs() < 1e-6);
    }
    assert_eq!(audited(&line("admin", "list", "/api/v1/pods")), None);
}
