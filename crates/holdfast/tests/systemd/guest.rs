//! A machine of a test's own with a real systemd as its first process, in private namespaces.
//!
//! `boot.sh` makes it. Ending its first process ends all that runs inside; nothing is left behind.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getuid, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

/// Longer than any single step takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/systemd/boot.sh");

/// What begins the name of every cgroup that a guest runs in.
const CGROUP: &str = "holdfast-test.";

/// What a guest starts beside the test's own units.
const TARGET: &str = "[Unit]\n\
    Description=A test's own machine\n\
    DefaultDependencies=no\n\
    Wants=systemd-journald.socket systemd-journald.service dbus.socket dbus.service\n";

/// What must be there to boot a guest, and the Debian package that brings it.
const TOOLS: [(&str, &str); 7] = [
    ("/lib/systemd/systemd", "systemd"),
    ("/usr/bin/systemctl", "systemd"),
    ("/usr/bin/dbus-daemon", "dbus"),
    ("/usr/bin/unshare", "util-linux"),
    ("/usr/bin/nsenter", "util-linux"),
    ("/usr/bin/setpriv", "util-linux"),
    ("/usr/sbin/ip", "iproute2"),
];

/// Looks until there is something to see, for a bounded time.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The machine.
pub(crate) struct Guest {
    launcher: Child,
    first: Pid,
    folder: TempDir,
    cgroup: PathBuf,
}

/// What a command inside said and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Guest {
    /// Boots a machine with these units, all of which start with it unless their name begins with `-`.
    /// `None`, and a loud word, where that can't be done.
    pub(crate) fn boot(units: &[(&str, &str)]) -> Option<Self> {
        Self::boot_with(units, |_| {})
    }

    /// The same; `prepare` is given the shared folder before anything runs.
    pub(crate) fn boot_with(units: &[(&str, &str)], prepare: impl FnOnce(&Path)) -> Option<Self> {
        Self::boot_beside(units, None, prepare)
    }

    /// The same; what is in the folder `components` is in /opt/kubernetes inside.
    pub(crate) fn boot_beside(
        units: &[(&str, &str)],
        components: Option<&Path>,
        prepare: impl FnOnce(&Path),
    ) -> Option<Self> {
        if let Err(why) = can_boot() {
            // This is not captured, as the print macros are.
            writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
            return None;
        }
        sweep();
        let folder = TempDir::new().unwrap();
        for name in ["root", "units", "shared"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        // Units that run as ordinary users reach it too.
        for path in [folder.path().to_owned(), folder.path().join("shared")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut target = TARGET.to_owned();
        for (name, text) in units {
            if !name.starts_with('-') && !name.contains('/') {
                target.extend(["Wants=", *name, "\n"]);
            }
            let path = folder
                .path()
                .join("units")
                .join(name.trim_start_matches('-'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(folder.path().join("units/guest.target"), target).unwrap();
        prepare(&folder.path().join("shared"));
        let cgroup = own_cgroup();
        let launcher = Command::new("setpriv")
            // A test that is killed takes its machine along.
            .args(["--pdeathsig", "KILL", "bash", SCRIPT])
            .args([&cgroup, folder.path()])
            .arg(env!("CARGO_BIN_EXE_holdfast"))
            .args(components)
            .stdin(Stdio::null())
            .stderr(fs::File::create(folder.path().join("boot.err")).unwrap())
            .spawn()
            .unwrap();
        let mut guest = Self {
            first: Pid::from_child(&launcher),
            launcher,
            folder,
            cgroup,
        };
        guest.first = eventually("the first process of the guest", || {
            let ended = guest.launcher.try_wait().unwrap();
            let said = fs::read_to_string(guest.folder.path().join("boot.err"));
            assert_eq!(ended, None, "boot.sh ended: {said:?}");
            let number = fs::read_to_string(guest.shared("pid")).ok()?;
            Pid::from_raw(number.trim().parse().ok()?)
        });
        eventually("the bus answers, and no start is left to be done", || {
            let state = guest.systemctl(&["is-system-running"]);
            let up = matches!(state.out.trim(), "running" | "degraded");
            let bus = guest.systemctl(&["is-active", "dbus.service"]);
            (up && bus.out.trim() == "active").then_some(())
        });
        Some(guest)
    }

    /// A file of the folder that both sides see; `/shared` inside.
    pub(crate) fn shared(&self, name: &str) -> PathBuf {
        self.folder.path().join("shared").join(name)
    }

    /// The address of its system bus, as seen from outside.
    pub(crate) fn bus(&self) -> String {
        let first = self.first.as_raw_pid();
        format!("unix:path=/proc/{first}/root/run/dbus/system_bus_socket")
    }

    /// A command that runs inside, as root.
    pub(crate) fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let first = self.first.as_raw_pid().to_string();
        command
            .args(["--target", &first])
            .args(["--pid", "--mount", "--net", "--uts", "--ipc", "--cgroup"])
            .args(["--root", "--wd", "--", "env", "-i", "LANG=C", "NO_COLOR=1"])
            .args(["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", program])
            .stdin(Stdio::null());
        command
    }

    /// Runs a command inside to its end.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Done {
        let output = self.inside(program).args(arguments).output().unwrap();
        Done {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn systemctl(&self, arguments: &[&str]) -> Done {
        self.run("systemctl", arguments)
    }

    /// One property of a unit.
    pub(crate) fn property(&self, unit: &str, property: &str) -> String {
        let shown = self.systemctl(&["show", "--value", "--property", property, unit]);
        assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{unit}");
        shown.out.trim().to_owned()
    }

    /// What a unit has written to the journal.
    pub(crate) fn journal(&self, unit: &str) -> String {
        let order = ["--no-pager", "--output=cat", "--unit", unit];
        self.run("journalctl", &order).out
    }

    /// Does `work` on a thread in the guest's network: a socket that it opens stays there.
    pub(crate) fn in_its_network<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let path = format!("/proc/{}/ns/net", self.first.as_raw_pid());
        let namespace = fs::File::open(path).unwrap();
        thread::scope(|scope| {
            let inside = scope.spawn(move || {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(namespace.as_fd(), kind).unwrap();
                work()
            });
            inside.join().unwrap()
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if kill_process(self.first, Signal::KILL).is_err() {
            // Ended already is as good.
        }
        drop(self.launcher.wait());
        remove_cgroup(&self.cgroup);
    }
}

/// Whether a guest can be booted here; if not, what is missing and what brings it.
fn can_boot() -> Result<(), String> {
    if !getuid().is_root() {
        return Err(
            "a guest with a systemd of its own needs root\n  hint: run the tests as root"
                .to_owned(),
        );
    }
    for (path, package) in TOOLS {
        if !Path::new(path).exists() {
            return Err(format!(
                "{path} is missing\n  hint: apt-get install --no-install-recommends {package}"
            ));
        }
    }
    let Some(tree) = cgroup_tree() else {
        return Err(
            "cgroup v2 is not mounted\n  hint: mount -t cgroup2 none /sys/fs/cgroup".to_owned(),
        );
    };
    let trial = tree.join(format!("{CGROUP}{}.trial", std::process::id()));
    fs::create_dir(&trial)
        .and_then(|()| fs::remove_dir(&trial))
        .map_err(|error| format!("no cgroup can be made in {}: {error}", tree.display()))
}

/// Where cgroup v2 is mounted (proc(5): device, mount point, type, …).
fn cgroup_tree() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let fields: Vec<_> = line.split(' ').collect();
        (fields.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(fields[1]))
    })
}

fn own_cgroup() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{CGROUP}{}.{number}", std::process::id());
    let path = cgroup_tree().unwrap().join(name);
    fs::create_dir(&path).unwrap();
    path
}

/// Removes the cgroups of tests that were killed: their names bear the number of a process that is gone.
fn sweep() {
    for entry in fs::read_dir(cgroup_tree().unwrap()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let owner = name
            .strip_prefix(CGROUP)
            .and_then(|rest| rest.split('.').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            remove_cgroup(&entry.path());
        }
    }
}

/// Removes a cgroup and all below it, once the kernel has buried their processes.
fn remove_cgroup(path: &Path) {
    let until = Instant::now() + PATIENCE;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_cgroup(&entry.path());
        }
    }
    loop {
        match fs::remove_dir(path) {
            Ok(()) => return,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) if Instant::now() > until => {
                let path = path.display();
                drop(writeln!(std::io::stderr(), "left behind: {path}: {error}"));
                return;
            }
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}
