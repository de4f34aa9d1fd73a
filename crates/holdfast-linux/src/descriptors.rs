//! How many descriptors the process may have, and a share of them that the data path never takes:
//! DNS, probes, the admin port and the log work when clients have used up the rest.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors that stay free of client connections: at most 32 for the admin port, two for each
/// upstream's probes, a few for DNS, the runtime, files that are read again and the log, and room
/// for a second dial of connections that are being made.
const RESERVED: usize = 192;

/// With a small limit the share is this part of it.
const SMALL_SHARE: usize = 2;

/// The descriptors of the data path.
#[derive(Debug)]
struct Budget {
    most: AtomicUsize,
    used: AtomicUsize,
}

/// The limit belongs to the process, and so does the count.
static PROCESS: Budget = Budget::of(usize::MAX);

/// Descriptors that are in use until this is dropped.
#[derive(Debug)]
pub struct Lease {
    count: usize,
    budget: &'static Budget,
}

impl Budget {
    const fn of(most: usize) -> Self {
        Self {
            most: AtomicUsize::new(most),
            used: AtomicUsize::new(0),
        }
    }

    fn take(&'static self, count: usize) -> Option<Lease> {
        let most = self.most.load(Relaxed);
        let within = |used: usize| used.checked_add(count).filter(|sum| *sum <= most);
        self.used.fetch_update(Relaxed, Relaxed, within).ok()?;
        Some(Lease {
            count,
            budget: self,
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.count, Relaxed);
    }
}

/// Takes `count` descriptors from the data path's share, or none where they are used up.
pub fn take(count: usize) -> Option<Lease> {
    PROCESS.take(count)
}

/// The data path's share; everything before [`raise`] was called.
pub fn most() -> usize {
    PROCESS.most.load(Relaxed)
}

/// How many of them are in use.
pub fn used() -> usize {
    PROCESS.used.load(Relaxed)
}

/// Raises the limit to what the process may have: a connection needs two descriptors, and the usual
/// soft limit of 1024 is there for programs with `select(2)` alone (systemd.exec(5), `LimitNOFILE`).
/// Then reserves what the rest of the process needs. Gives the limit that holds.
///
/// # Errors
/// The limit could not be raised; what it was before is divided all the same.
pub fn raise() -> Result<usize, (usize, Errno)> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    let raised = setrlimit(Resource::Nofile, limit);
    let holds = if raised.is_ok() {
        limit.current
    } else {
        before
    };
    let holds = holds.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    PROCESS.most.store(share(holds), Relaxed);
    raised.map(|()| holds).map_err(|errno| (holds, errno))
}

/// What of a limit belongs to the data path.
fn share(limit: usize) -> usize {
    limit - RESERVED.min(limit / SMALL_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_exceeded_and_gets_back_what_is_dropped() {
        let budget: &'static Budget = Box::leak(Box::new(Budget::of(5)));
        let first = budget.take(2).unwrap();
        let _second = budget.take(2).unwrap();
        assert!(budget.take(2).is_none());
        let third = budget.take(1).unwrap();
        assert!(budget.take(1).is_none());
        drop(third);
        drop(first);
        assert!(budget.take(3).is_some());
        assert_eq!(budget.used.load(Relaxed), 2);
    }

    #[test]
    fn a_share_is_kept_from_the_data_path_at_any_limit() {
        assert_eq!(share(20_000), 20_000 - RESERVED);
        assert_eq!(share(100), 50);
        assert_eq!(share(0), 0);
        for limit in [64, 256, 1024, 65_536, usize::MAX] {
            let rest = limit - share(limit);
            assert!(rest >= 32, "{limit}");
        }
    }
}
