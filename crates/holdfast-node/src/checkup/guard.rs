//! Whether the guard can do its work here: see sockets, tell whose they are, abort them.

use std::collections::BTreeSet;
use std::io;
use std::net::{TcpListener, TcpStream};

use holdfast_core::checkup::{Finding, Subject};
use holdfast_core::config::{Config, Guard, Unit};
use holdfast_linux::cgroup::Tree;
use holdfast_linux::netns::Namespace;
use holdfast_linux::sock_diag::{DiagError, Filter, SockDiag, State, try_destroy};
use holdfast_linux::systemd::Systemd;

const ALLOW: &str =
    "give the guard what is missing; deploy/systemd/holdfast-guard.service shows how";

const INSTEAD: &str = "choose clients with guard.users or guard.everyone, or boot with cgroup v2 \
                       (systemd.unified_cgroup_hierarchy=1) and Linux 5.8 or newer";

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let Some(guard) = &config.guard else {
        return Vec::new();
    };
    let mut findings = vec![judge(guard, &try_destroy(), None)];
    findings.extend(guard.namespaces.iter().map(|name| namespace(guard, name)));
    if !guard.clients.units.is_empty() {
        findings.extend(units(guard));
    }
    findings.extend(guard.fallback.map(|cure| match Systemd::find() {
        Ok(_) => Finding::ok(
            Subject::Guard,
            format!(
                "where sockets can't be aborted, units are restarted ({})",
                cure.as_str()
            ),
        ),
        Err(error) => Finding::warn(
            Subject::Guard,
            format!("guard.fallback: {}: {error}", cure.as_str()),
            "set guard.fallback to none: there is nobody here to restart units",
        ),
    }));
    findings
}

/// What came of trying to abort a socket that is not there.
fn judge(guard: &Guard, tried: &Result<(), DiagError>, place: Option<&str>) -> Finding {
    let finding = match tried {
        Ok(()) => Finding::ok(
            Subject::Guard,
            "a process started from here can list sockets and abort them",
        ),
        Err(error) if guard.dry_run => Finding::ok(
            Subject::Guard,
            format!("a dry run aborts nothing, and here nothing could: {error}"),
        ),
        Err(error) if guard.fallback.is_some() => Finding::warn(
            Subject::Guard,
            format!("{error}; units are restarted instead"),
            ALLOW,
        ),
        Err(error) => Finding::fail(
            Subject::Guard,
            format!("{error}; the guard would only report"),
            ALLOW,
        ),
    };
    match place {
        Some(place) => finding.about(place),
        None => finding,
    }
}

fn namespace(guard: &Guard, name: &str) -> Finding {
    match Namespace::open(name).and_then(|namespace| namespace.within(try_destroy)) {
        Ok(tried) => judge(guard, &tried, Some(name)),
        Err(error) => {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            Finding::fail(
                Subject::Guard,
                format!("{error}: {}", why.unwrap_or_default()),
                "take it out of guard.namespaces, or let the guard enter it: AmbientCapabilities=\
                 CAP_NET_ADMIN CAP_SYS_ADMIN, no RestrictNamespaces=",
            )
            .about(name)
        }
    }
}

/// Whether units can be told apart, and which of them run.
fn units(guard: &Guard) -> Vec<Finding> {
    let told = Tree::find()
        .map_err(|error| error.to_string())
        .and_then(|tree| tells_cgroups().map(|()| tree));
    let tree = match told {
        Ok(tree) => tree,
        Err(why) if guard.clients.users.is_empty() && !guard.clients.everyone => {
            return vec![Finding::fail(Subject::Guard, why, INSTEAD)];
        }
        Err(why) => return vec![Finding::warn(Subject::Guard, why, INSTEAD)],
    };
    let units = guard.clients.units.iter();
    units
        .map(|unit| {
            let found = match unit {
                Unit::Name(name) => tree.search(name),
                Unit::Path(path) => Some(tree.path(path)).filter(|path| path.is_dir()),
            };
            let finding = match found {
                Some(path) => Finding::ok(Subject::Guard, format!("runs in {}", path.display())),
                None => Finding::warn(
                    Subject::Guard,
                    "does not run",
                    "nothing, if it is not used here; k3s and RKE2 have k3s-agent.service and \
                     rke2-agent.service",
                ),
            };
            finding.about(unit)
        })
        .collect()
}

/// Whether the kernel tells a socket's cgroup, tried with a socket of this process's own.
fn tells_cgroups() -> Result<(), String> {
    let make = || -> io::Result<_> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let client = TcpStream::connect(listener.local_addr()?)?;
        let remote = client.peer_addr()?;
        Ok((listener, client, remote))
    };
    let (_listener, _client, remote) =
        make().map_err(|error| format!("make a connection to look at: {error}"))?;
    let filter = Filter {
        states: vec![State::Established],
        remotes: Some(BTreeSet::from([remote])),
    };
    let listed = SockDiag::open().and_then(|mut line| line.list(&filter));
    let listed = listed.map_err(|error| error.to_string())?;
    if listed.iter().all(|socket| socket.cgroup.is_some()) {
        Ok(())
    } else {
        Err("this kernel does not tell a socket's cgroup (Linux 5.8 does), so that units can't be told apart".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use holdfast_core::checkup::Grade;
    use holdfast_core::restart::Cure;
    use rustix::thread::{CapabilitySet, capabilities};

    use super::*;

    fn guard(fallback: Option<Cure>, dry_run: bool) -> Guard {
        Guard {
            clients: holdfast_core::config::Clients {
                units: Vec::new(),
                users: Vec::new(),
                everyone: true,
            },
            namespaces: Vec::new(),
            found_namespaces: false,
            dry_run,
            fallback,
            restarts: "/run/x".into(),
            interval: std::time::Duration::from_secs(1),
        }
    }

    #[test]
    fn a_missing_capability_is_named_and_weighs_what_it_costs() {
        // Capabilities belong to a thread (capabilities(7)): only this one loses any.
        let tried = std::thread::spawn(|| {
            holdfast_linux::capability::keep_only(&[]).unwrap();
            assert!(
                !capabilities(None)
                    .unwrap()
                    .effective
                    .contains(CapabilitySet::NET_ADMIN)
            );
            try_destroy()
        })
        .join()
        .unwrap();
        for (guard, grade) in [
            (guard(None, false), Grade::Fail),
            (guard(Some(Cure::Systemctl), false), Grade::Warn),
            (guard(None, true), Grade::Ok),
        ] {
            let finding = judge(&guard, &tried, None);
            assert_eq!(finding.verdict, grade);
            assert!(finding.evidence.contains("CAP_NET_ADMIN"), "{finding:?}");
        }
    }

    #[test]
    fn a_namespace_that_is_not_there_is_told_by_its_name() {
        let finding = namespace(&guard(None, false), "no-such-namespace");
        assert_eq!(finding.verdict, Grade::Fail);
        assert_eq!(finding.what.as_deref(), Some("no-such-namespace"));
    }
}
