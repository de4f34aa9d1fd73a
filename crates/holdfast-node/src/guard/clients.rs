//! Whose sockets are watched: chosen by the cgroup of a unit, by the user, or all; never Holdfast's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use holdfast_core::config::{Clients as Chosen, Unit};
use holdfast_core::machine::Tick;
use holdfast_linux::cgroup::{Tree, numbers};
use holdfast_linux::sock_diag::Socket;

/// A unit that is not there is searched for at most this often.
const SEARCH_EVERY: Duration = Duration::from_secs(5);

/// Whose a socket is.
#[derive(Clone, Debug)]
pub(super) enum Owner {
    Unit(Unit),
    User(u32),
}

impl Owner {
    /// The service that systemd could restart for it.
    pub(super) fn service(&self) -> Option<&str> {
        match self {
            Self::Unit(Unit::Name(name)) => {
                Some(name).filter(|n| n.ends_with(".service")).map(|n| &**n)
            }
            Self::Unit(Unit::Path(_)) | Self::User(_) => None,
        }
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unit(unit) => unit.fmt(f),
            Self::User(user) => write!(f, "user {user}"),
        }
    }
}

/// The clients, and what the machine says about them now.
#[derive(Debug)]
pub(super) struct Clients {
    chosen: Chosen,
    tree: Result<Tree, String>,
    paths: BTreeMap<Unit, PathBuf>,
    searched: Option<Tick>,
    /// The unit of each cgroup.
    cgroups: BTreeMap<u64, Unit>,
    absent: Vec<Unit>,
}

impl Clients {
    pub(super) fn new(chosen: Chosen) -> Self {
        let tree = Tree::find().map_err(|error| error.to_string());
        if let Err(error) = &tree
            && !chosen.units.is_empty()
        {
            tracing::warn!(%error, "units can't be watched; choose clients by user, or everyone");
        }
        Self {
            chosen,
            tree,
            paths: BTreeMap::new(),
            searched: None,
            cgroups: BTreeMap::new(),
            absent: Vec::new(),
        }
    }

    /// Reads the cgroups of the units anew: a unit that restarted has another number.
    pub(super) fn refresh(&mut self, now: Tick) {
        let Ok(tree) = &self.tree else {
            return;
        };
        let search = self.searched.is_none_or(|at| now >= at + SEARCH_EVERY);
        self.cgroups.clear();
        let mut absent = Vec::new();
        for unit in &self.chosen.units {
            let known = self.paths.get(unit).filter(|path| path.is_dir());
            let path = match (known, unit) {
                (Some(path), _) => Some(path.clone()),
                (None, Unit::Path(path)) => Some(tree.path(path)).filter(|path| path.is_dir()),
                (None, Unit::Name(name)) if search => {
                    self.searched = Some(now);
                    tree.search(name)
                }
                (None, Unit::Name(_)) => None,
            };
            let Some(path) = path else {
                self.paths.remove(unit);
                absent.push(unit.clone());
                continue;
            };
            for number in numbers(&path) {
                self.cgroups.insert(number, unit.clone());
            }
            self.paths.insert(unit.clone(), path);
        }
        if absent != self.absent {
            let units: Vec<_> = absent.iter().map(Unit::as_str).collect();
            tracing::info!(absent = ?units, "units of the guard's clients changed");
            self.absent = absent;
        }
    }

    /// Whose this socket is, if it is to be watched.
    pub(super) fn of(&self, socket: &Socket) -> Option<Owner> {
        let unit = socket.cgroup.and_then(|number| self.cgroups.get(&number));
        if let Some(unit) = unit {
            return Some(Owner::Unit(unit.clone()));
        }
        if self.chosen.users.contains(&socket.uid) || self.chosen.everyone {
            return Some(Owner::User(socket.uid));
        }
        None
    }

    /// Units that are not there, and why none can be seen.
    pub(super) fn unseen(&self) -> Vec<String> {
        match &self.tree {
            Err(error) if !self.chosen.units.is_empty() => vec![error.clone()],
            _ => self
                .absent
                .iter()
                .map(|unit| format!("{unit} does not run"))
                .collect(),
        }
    }

    /// Whether sockets are told apart by their cgroups alone.
    pub(super) const fn needs_cgroups(&self) -> bool {
        !self.chosen.everyone && self.chosen.users.is_empty()
    }
}

/// The inodes of the sockets that this process has open (proc(5)).
///
/// # Errors
/// They can't be read; then nothing may be aborted, since it might be Holdfast's own.
pub(super) fn own_sockets() -> std::io::Result<BTreeSet<u32>> {
    let mut own = BTreeSet::new();
    for file in fs::read_dir("/proc/self/fd")? {
        // A descriptor that was closed meanwhile has no link any more.
        let Ok(link) = fs::read_link(file?.path()) else {
            continue;
        };
        let inode: Option<u32> = link.to_str().and_then(|text| {
            let inode = text.strip_prefix("socket:[")?.strip_suffix(']')?;
            inode.parse().ok()
        });
        own.extend(inode);
    }
    Ok(own)
}
