//! Giving up every privilege but those that are needed (capabilities(7)).

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

/// A privilege that Holdfast may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// To listen on ports below 1024 (`CAP_NET_BIND_SERVICE`).
    BindLowPorts,
    /// To abort sockets (`CAP_NET_ADMIN`).
    AbortSockets,
    /// To enter other network namespaces (`CAP_SYS_ADMIN`).
    EnterNamespaces,
}

impl Privilege {
    const fn set(self) -> CapabilitySet {
        match self {
            Self::BindLowPorts => CapabilitySet::NET_BIND_SERVICE,
            Self::AbortSockets => CapabilitySet::NET_ADMIN,
            Self::EnterNamespaces => CapabilitySet::SYS_ADMIN,
        }
    }
}

/// Keeps at most these privileges in this thread and in all that it starts from now on, for good.
/// Call it while the process has one thread. What the process does not have, it does not get.
///
/// # Errors
/// What the kernel says. Some privileges may be gone by then; none was gained.
pub fn keep_only(privileges: &[Privilege]) -> std::io::Result<()> {
    let keep = privileges
        .iter()
        .fold(CapabilitySet::empty(), |all, one| all | one.set());
    for other in CapabilitySet::all().difference(keep).iter() {
        match remove_capability_from_bounding_set(other) {
            // Without CAP_SETPCAP the bounding set stays; it only limits what an exec(2) may gain,
            // and no_new_privs forbids that too. A kernel may not know the newest capabilities.
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let had = capabilities(None)?;
    let kept = had.permitted & keep;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: had.inheritable & keep,
    };
    // A unit may forbid the system call to whoever has nothing to give up (systemd's @privileged).
    if sets != had {
        set_capabilities(None, sets)?;
    }
    set_no_new_privs(true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_gone_for_good() {
        // Capabilities belong to a thread (capabilities(7)): only this one loses any.
        let (had, has, again) = std::thread::spawn(|| {
            let had = capabilities(None).unwrap();
            keep_only(&[Privilege::AbortSockets]).unwrap();
            let has = capabilities(None).unwrap();
            let again = set_capabilities(None, had);
            (had, has, again)
        })
        .join()
        .unwrap();
        assert_eq!(has.permitted, had.permitted & CapabilitySet::NET_ADMIN);
        assert_eq!(has.effective, has.permitted);
        let lost_something = had.permitted != has.permitted;
        assert_eq!(again.is_err(), lost_something);
    }
}
