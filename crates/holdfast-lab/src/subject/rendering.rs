//! Filling in a peer's configuration with the addresses of a world.

use super::Surroundings;

/// Replaces what stands between two `@`; a line with a server's name or address is repeated for each.
pub(super) fn render(template: &str, listen: &str, run: &str, around: &Surroundings) -> String {
    let mut text = String::new();
    for line in template.lines() {
        let is_for_each = ["@name@", "@address@"]
            .iter()
            .any(|placeholder| line.contains(placeholder));
        let rounds = if is_for_each { around.servers.len() } else { 1 };
        for round in 0..rounds {
            let mut line = line.to_owned();
            if let Some((name, address)) = around.servers.get(round) {
                line = line.replace("@name@", name);
                line = line.replace("@address@", &address.to_string());
            }
            let line = line
                .replace("@listen@", listen)
                .replace("@run@", run)
                .replace("@dns@", &around.dns.to_string())
                .replace("@endpoint@", &around.endpoint());
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};

    use super::*;
    use crate::subject::Subject;

    fn around() -> Surroundings {
        let address = |host| SocketAddrV4::new(Ipv4Addr::new(10, 99, 2, host), 6443);
        Surroundings {
            dns: SocketAddrV4::new(Ipv4Addr::new(10, 99, 0, 53), 53),
            ca: "/run/ca.crt".to_owned(),
            seeds: Vec::new(),
            servers: vec![
                ("cp1".to_owned(), address(1)),
                ("cp2".to_owned(), address(2)),
            ],
            node_name: "node".to_owned(),
            flags: Vec::new(),
        }
    }

    #[test]
    fn a_servers_line_is_repeated_for_each() {
        let text = render(
            "bind @listen@\n  server @name@ @address@ check\nnameserver a @dns@",
            "127.0.0.1:7001",
            "/run/x",
            &around(),
        );
        assert_eq!(
            text,
            "bind 127.0.0.1:7001\n  server cp1 10.99.2.1:6443 check\n  \
             server cp2 10.99.2.2:6443 check\nnameserver a 10.99.0.53:53\n"
        );
    }

    #[test]
    fn no_configuration_that_ships_keeps_a_placeholder() {
        for subject in Subject::ALL {
            let Some(peer) = subject.peer() else { continue };
            let text = render(peer.configuration, "127.0.0.1:7001", "/run/x", &around());
            let settings = text.lines().filter(|line| !line.starts_with('#'));
            for line in settings {
                assert!(!line.contains('@'), "{subject}: {line}");
            }
            assert!(text.contains("10.99."), "{subject} knows nobody");
        }
    }
}
