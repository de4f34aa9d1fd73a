//! Finding the control groups of systemd's units, as the kernel numbers them (cgroups(7)).
//!
//! The kernel tells each socket's cgroup v2 by a number: the inode of the cgroup's directory. A unit
//! that restarts gets a new directory at the same path, so paths are remembered and numbers are not.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Slices that are searched for a unit at most; a node with pods has some thousands, which are not
/// looked into (see [`PODS`]).
const MOST_SLICES: usize = 2048;

/// Cgroups below a unit's own that are looked at.
const MOST_BELOW: usize = 256;

/// Slices whose names begin so hold pods, never a unit (the kubelet's cgroup driver for systemd).
const PODS: &str = "kubepods";

/// The tree of cgroup v2, alone or beside v1.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

/// There is no cgroup v2, or it can't be found.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The table of mounts can't be read.
    #[error("read /proc/self/mounts: {0}")]
    Mounts(#[from] io::Error),
    /// It is not mounted.
    #[error("cgroup v2 is not mounted here, so that units can't be told apart")]
    None,
}

impl Tree {
    /// Finds the tree: `/sys/fs/cgroup`, or `/sys/fs/cgroup/unified` where v1 is there as well.
    pub fn find() -> Result<Self, TreeError> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        mount_point(&mounts).map_or(Err(TreeError::None), |root| Ok(Self { root }))
    }

    /// The directory of the cgroup at `path`, relative to the root and beginning with `/`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Searches all slices for the unit called `name`; those nearest to the root come first.
    pub fn search(&self, name: &str) -> Option<PathBuf> {
        let mut slices = VecDeque::from([self.root.clone()]);
        for _ in 0..MOST_SLICES {
            let slice = slices.pop_front()?;
            let unit = slice.join(name);
            if unit.is_dir() {
                return Some(unit);
            }
            slices.extend(directories(&slice).filter(|path| {
                let is_slice = path.extension().is_some_and(|kind| kind == "slice");
                let name = path.file_name().and_then(|n| n.to_str());
                is_slice && name.is_some_and(|n| !n.starts_with(PODS))
            }));
        }
        None
    }
}

/// The numbers of a cgroup and of those below it; empty when it is gone.
pub fn numbers(path: &Path) -> Vec<u64> {
    let mut found = Vec::new();
    let mut queue = VecDeque::from([path.to_owned()]);
    while let Some(path) = queue.pop_front() {
        if let Ok(directory) = fs::metadata(&path) {
            found.push(directory.ino());
        }
        if found.len() >= MOST_BELOW {
            break;
        }
        queue.extend(directories(&path));
    }
    found
}

fn directories(path: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
}

/// Where `cgroup2` is mounted first (proc(5): device, mount point, type, …).
fn mount_point(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind) = (fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(point))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::sock_diag::{Filter, SockDiag};

    const HYBRID: &str = "proc /proc proc rw 0 0\n\
        tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0\n\
        cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn version_two_is_found_alone_and_beside_version_one() {
        let found = |mounts| mount_point(mounts);
        assert_eq!(found(HYBRID), Some("/sys/fs/cgroup/unified".into()));
        let alone = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
        assert_eq!(found(alone), Some("/sys/fs/cgroup".into()));
        assert_eq!(found("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"), None);
    }

    #[test]
    fn a_unit_is_found_in_whatever_slice_it_is_but_not_among_pods() {
        let directory = tempfile::tempdir().unwrap();
        let tree = Tree {
            root: directory.path().to_owned(),
        };
        let make = |path: &str| {
            fs::create_dir_all(directory.path().join(path)).unwrap();
            directory.path().join(path)
        };
        make("kubepods.slice/kubepods-burstable.slice/kubelet.service");
        make("user.slice/other.service");
        assert_eq!(tree.search("kubelet.service"), None);
        let deep = make("runtime.slice/runtime-kube.slice/kubelet.service");
        assert_eq!(tree.search("kubelet.service"), Some(deep.clone()));
        let usual = make("system.slice/kubelet.service");
        assert_eq!(tree.search("kubelet.service"), Some(usual));
        make("runtime.slice/runtime-kube.slice/kubelet.service/inner");
        assert_eq!(numbers(&deep).len(), 2);
        assert_eq!(numbers(&directory.path().join("nothing")), [0; 0]);
    }

    /// A cgroup of the test's own; removed at its end.
    struct Own(PathBuf);

    impl Drop for Own {
        fn drop(&mut self) {
            drop(fs::remove_dir(&self.0));
        }
    }

    fn client_in(cgroup: &Path, port: u16) -> Child {
        let script = format!(
            "echo $$ > {}/cgroup.procs && exec 3<>/dev/tcp/127.0.0.1/{port} && read -r _",
            cgroup.display()
        );
        Command::new("bash")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Ends the client and waits until its cgroup is empty.
    fn end(mut client: Child) {
        drop(client.stdin.take());
        client.wait().unwrap();
    }

    #[test]
    fn a_sockets_number_is_that_of_its_units_directory_also_after_a_restart() {
        let Ok(tree) = Tree::find() else {
            writeln!(io::stderr(), "SKIPPED: cgroup v2 is not mounted").unwrap();
            return;
        };
        let name = format!("hf-test-{}.service", std::process::id());
        let unit = tree.path(&name);
        if let Err(error) = fs::create_dir(&unit) {
            writeln!(
                io::stderr(),
                "SKIPPED: no cgroup can be made ({error})\n  hint: run the tests as root"
            )
            .unwrap();
            return;
        }
        let own = Own(unit);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let client = client_in(&own.0, address.port());
            let (server, _) = listener.accept().unwrap();
            let found = SockDiag::open()
                .unwrap()
                .list(&Filter::established([address]))
                .unwrap();
            let path = tree.search(&name).unwrap();
            assert_eq!(found.len(), 1, "{found:#?}");
            let number = found[0].cgroup.expect("Linux 5.8 tells it");
            assert_eq!(numbers(&path), [number]);
            seen.push(number);
            end(client);
            drop(server);
            // As systemd does when a unit restarts.
            fs::remove_dir(&own.0).unwrap();
            fs::create_dir(&own.0).unwrap();
        }
        assert_ne!(seen[0], seen[1]);
    }
}
