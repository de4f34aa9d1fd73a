//! Units and their connections: what systemd and the kernel say of them, aborting their connections, and
//! restarting them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use holdfast_core::restart::Cure;
use holdfast_linux::cgroup::{self, Tree};
use holdfast_linux::sock_diag::{Destroyed, Filter, SockDiag, Socket, State};
use holdfast_linux::systemd::notify::{self, HANGS};
use holdfast_linux::systemd::{RESTART_PATIENCE, Restarted, Systemd, SystemdError, Unit};
use tokio::time::{Instant, sleep};

/// Between two looks whether a unit that was told to hang runs anew.
const TICK: Duration = Duration::from_millis(200);

/// Which connections of a unit are meant.
#[derive(Clone, Debug)]
pub(crate) enum Towards {
    /// Those to one of these addresses, whatever the port.
    Addresses(BTreeSet<IpAddr>),
    /// Those to one of these ports, wherever it is.
    Ports(BTreeSet<u16>),
}

impl Towards {
    fn admits(&self, remote: SocketAddr) -> bool {
        match self {
            Self::Addresses(addresses) => addresses.contains(&remote.ip()),
            Self::Ports(ports) => ports.contains(&remote.port()),
        }
    }
}

/// Units of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    systemd: Systemd,
}

impl Units {
    pub(crate) const fn new(systemd: Systemd) -> Self {
        Self { systemd }
    }

    pub(crate) async fn is_shutting_down(&self) -> Result<bool, String> {
        let answer = self.systemd.is_shutting_down().await;
        answer.map_err(|error| error.to_string())
    }

    pub(crate) async fn unit(&self, name: &str) -> Result<Unit, SystemdError> {
        self.systemd.unit(name).await
    }

    /// The established connections of each of these units, by the address they lead to.
    pub(crate) async fn connections(
        &self,
        units: &[Unit],
        towards: Towards,
    ) -> Result<BTreeMap<String, BTreeMap<IpAddr, u32>>, String> {
        let units = units.to_vec();
        blocking(move || {
            let mut found = BTreeMap::new();
            let sockets = established(&towards)?;
            for unit in units {
                let owned = Owned::of(&unit)?;
                let mut by_address: BTreeMap<IpAddr, u32> = BTreeMap::new();
                for socket in &sockets {
                    if owned.has(socket)? {
                        *by_address.entry(socket.remote.ip()).or_default() += 1;
                    }
                }
                found.insert(unit.name, by_address);
            }
            Ok(found)
        })
        .await
    }

    /// Aborts the established connections of a unit, and says how many there were.
    pub(crate) async fn sever(&self, name: &str, towards: Towards) -> Result<u32, String> {
        let unit = self.unit(name).await.map_err(|error| error.to_string())?;
        blocking(move || {
            let owned = Owned::of(&unit)?;
            let mut line = SockDiag::open().map_err(|error| error.to_string())?;
            let mut count = 0;
            for socket in established(&towards)? {
                if owned.has(&socket)? {
                    match line.destroy(&socket).map_err(|error| error.to_string())? {
                        Destroyed::Aborted => count += 1,
                        Destroyed::Gone => {}
                    }
                }
            }
            Ok(count)
        })
        .await
    }

    /// Restarts a unit that runs. `forget` its earlier failures first: then the start limit, of which it
    /// may have used up most by itself, does not leave it stopped.
    pub(crate) async fn restart(&self, name: &str, cure: Cure, forget: bool) -> Result<(), String> {
        let unit = self.unit(name).await.map_err(|error| error.to_string())?;
        if forget && unit.restarts > 0 {
            let reset = self.systemd.reset_failed(name).await;
            reset.map_err(|error| error.to_string())?;
        }
        if cure == Cure::Watchdog {
            match hangs(&unit) {
                Ok(pid) => return self.restart_by_watchdog(&unit, pid).await,
                Err(why) => {
                    tracing::warn!(
                        unit = name,
                        why,
                        "the watchdog can't restart it, systemd is told to"
                    );
                }
            }
        }
        match self.systemd.try_restart(name).await {
            Ok(Restarted::Done) => Ok(()),
            Ok(Restarted::NotRunning) => Err("it does not run, and was left so".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Tells systemd that the unit hangs, and waits until it runs anew.
    async fn restart_by_watchdog(&self, unit: &Unit, pid: u32) -> Result<(), String> {
        notify::report_for(pid, HANGS)
            .map_err(|error| format!("tell systemd that process {pid} hangs: {error}"))?;
        let until = Instant::now() + RESTART_PATIENCE;
        loop {
            sleep(TICK).await;
            let now = self.unit(&unit.name).await;
            let now = now.map_err(|error| error.to_string())?;
            if now.life().runs() && now.main_pid != Some(pid) {
                return Ok(());
            }
            if Instant::now() > until {
                let seconds = RESTART_PATIENCE.as_secs();
                return Err(format!(
                    "systemd was told that process {pid} hangs; {seconds} s later the unit is {}",
                    now.state()
                ));
            }
        }
    }
}

/// The process for which systemd would take a report that it hangs, and start the unit again.
fn hangs(unit: &Unit) -> Result<u32, String> {
    if unit.watchdog.is_none() {
        return Err("it has no WatchdogSec".to_owned());
    }
    if !unit.restarts_on_watchdog() {
        return Err(format!(
            "its Restart={} would leave it stopped",
            unit.restart
        ));
    }
    unit.main_pid
        .ok_or_else(|| "it has no main process".to_owned())
}

/// How the sockets of a unit are told from others.
enum Owned {
    /// By the cgroups of the unit, as the kernel notes them with each socket.
    Cgroups(Vec<u64>),
    /// By the descriptors of its main process, where there is no cgroup v2.
    Inodes(BTreeSet<u32>),
}

impl Owned {
    fn of(unit: &Unit) -> Result<Self, String> {
        match Tree::find() {
            Ok(tree) if !unit.control_group.is_empty() => {
                let numbers = cgroup::numbers(&tree.path(&unit.control_group));
                if numbers.is_empty() && unit.main_pid.is_some() {
                    // Version 2 is there, but systemd keeps its units in version 1 alone.
                    return Self::by_descriptors(unit);
                }
                Ok(Self::Cgroups(numbers))
            }
            _ => Self::by_descriptors(unit),
        }
    }

    fn by_descriptors(unit: &Unit) -> Result<Self, String> {
        let Some(pid) = unit.main_pid else {
            return Ok(Self::Inodes(BTreeSet::new()));
        };
        let unreadable = |error| {
            format!(
                "{}: read the sockets of process {pid}: {error}; root may",
                unit.name
            )
        };
        let mut inodes = BTreeSet::new();
        for file in fs::read_dir(format!("/proc/{pid}/fd")).map_err(unreadable)? {
            // A descriptor that was closed meanwhile has no link any more.
            let Ok(link) = file.and_then(|file| fs::read_link(file.path())) else {
                continue;
            };
            let inode = link.to_str().and_then(|text| {
                let inode = text.strip_prefix("socket:[")?.strip_suffix(']')?;
                inode.parse::<u32>().ok()
            });
            inodes.extend(inode);
        }
        Ok(Self::Inodes(inodes))
    }

    fn has(&self, socket: &Socket) -> Result<bool, String> {
        match self {
            Self::Cgroups(numbers) => match socket.cgroup {
                Some(number) => Ok(numbers.contains(&number)),
                None => {
                    Err("this kernel does not tell whose a socket is (Linux 5.8 does)".to_owned())
                }
            },
            Self::Inodes(inodes) => Ok(inodes.contains(&socket.inode)),
        }
    }
}

fn established(towards: &Towards) -> Result<Vec<Socket>, String> {
    let filter = Filter {
        states: vec![State::Established],
        remotes: None,
    };
    let listed = SockDiag::open().and_then(|mut line| line.list(&filter));
    let mut sockets = listed.map_err(|error| error.to_string())?;
    sockets.retain(|socket| towards.admits(socket.remote));
    Ok(sockets)
}

/// Does work that may keep a processor busy for a few milliseconds.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(error.to_string()))
}
