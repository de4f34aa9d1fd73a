//! Where the configuration comes from, and how it is read again, at SIGHUP and when its file has
//! changed: all or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use holdfast_core::agent::{Input, Settings};
use holdfast_core::config::{Config, LogLevel};
use holdfast_linux::listen::listen;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::admin::{AdminPort, Request};
use crate::agent;
use crate::cache::CacheFile;
use crate::dns::NameWatch;
use crate::listeners::{Listener, Listeners};
use crate::systemd;
use crate::tls::Identity;

/// The file is looked at this often. Looking follows links, as those of a mounted `ConfigMap` or of a
/// configuration management tool, which a watch on the file itself would miss.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One reading of the configuration.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What it says.
    pub config: Config,
    /// Each field of the file, by its path, with its value as text: what changed is told by these
    /// names.
    pub fields: BTreeMap<String, String>,
}

/// Reads all of the configuration: file, environment and flags.
type Read = Box<dyn Fn() -> Result<Reading, String> + Send + Sync>;

/// Makes a log level hold.
type SetLogLevel = Box<dyn Fn(LogLevel) + Send + Sync>;

/// Where the configuration comes from.
pub struct Origin {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Reads it all again; says what is wrong, with the file's name.
    pub read: Read,
    /// Makes another log level hold.
    pub set_log_level: SetLogLevel,
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// What the agent's loop needs to know of another configuration.
#[derive(Debug)]
pub(crate) struct Reconfiguration {
    pub(crate) settings: Settings,
    pub(crate) identity: Arc<Identity>,
    pub(crate) names: Option<Arc<NameWatch>>,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) node: String,
    pub(crate) endpoint: String,
    pub(crate) listeners: Vec<SocketAddr>,
    /// What changed, in words.
    pub(crate) changed: String,
}

/// Fields that may change while the agent runs, and groups of them. Any other field needs a restart:
/// one that is new here does until somebody makes it follow.
const FOLLOWED: [&str; 12] = [
    "admin",
    "ca",
    "dns.",
    "drain.timeout",
    "endpoint",
    "limits.",
    "listen",
    "log.level",
    "nodeName",
    "probe.",
    "seeds",
    "serverName",
];

/// Read only when the agent stops, so that it needs nothing done.
const READ_AT_THE_END: &str = "shutdown.timeout";

fn is_followed(field: &str) -> bool {
    let follows = |followed: &str| match followed.strip_suffix('.') {
        Some(group) => field
            .strip_prefix(group)
            .is_some_and(|f| f.starts_with('.')),
        None => field == followed,
    };
    field == READ_AT_THE_END || FOLLOWED.into_iter().any(follows)
}

/// The fields in which two readings differ.
fn differences(old: &Reading, new: &Reading) -> Vec<String> {
    let names: BTreeSet<_> = old.fields.keys().chain(new.fields.keys()).collect();
    let differs = |name: &&&String| old.fields.get(**name) != new.fields.get(**name);
    names
        .iter()
        .filter(differs)
        .map(ToString::to_string)
        .collect()
}

/// Everything that a reload may change, and the way to change it.
#[derive(Debug)]
pub(crate) struct Reloader {
    pub(crate) reading: Reading,
    pub(crate) origin: Origin,
    pub(crate) listeners: Listeners,
    pub(crate) admin: AdminPort,
    pub(crate) requests: mpsc::Sender<Request>,
    pub(crate) facts: mpsc::UnboundedSender<Input>,
    /// Fields that a socket unit decides.
    pub(crate) from_systemd: Vec<&'static str>,
}

/// A configuration that can hold: whatever may fail has been done.
struct Next {
    reading: Reading,
    changed: Vec<String>,
    identity: Arc<Identity>,
    listeners: Vec<Listener>,
    admin: Option<TcpListener>,
}

impl Reloader {
    /// Reads the configuration again. A new one that is right holds when this returns; of one that is
    /// wrong nothing holds, and it is told why.
    pub(crate) async fn reload(&mut self) {
        systemd::reloading();
        match self.prepare() {
            Ok(next) => self.commit(next).await,
            // Without a receiver the agent is stopping.
            Err(why) => drop(self.facts.send(Input::ReloadRefused { why })),
        }
        systemd::reloaded();
    }

    fn prepare(&self) -> Result<Next, String> {
        let reading = (self.origin.read)()?;
        let changed = differences(&self.reading, &reading);
        let locate = |field: &str, why: &str| match &self.origin.file {
            Some(file) => format!("{}: {field}: {why}", file.display()),
            None => format!("{field}: {why}"),
        };
        for field in &changed {
            if self.from_systemd.contains(&field.as_str()) {
                let why =
                    "the socket unit decides; change ListenStream= there and restart the socket";
                return Err(locate(field, why));
            }
            if !is_followed(field) {
                return Err(locate(
                    field,
                    "can't change while the agent runs; restart it",
                ));
            }
        }
        let config = &reading.config;
        let has_changed = |field: &str| changed.iter().any(|c| c == field);
        let identity =
            Identity::load(&config.ca, &config.server_name).map_err(|e| e.to_string())?;
        let listeners = if has_changed("listen") {
            let opened = self.listeners.open_missing(&config.listen);
            opened.map_err(|error| locate("listen", &error.to_string()))?
        } else {
            Vec::new()
        };
        let admin = if has_changed("admin") {
            let opened = listen(config.admin);
            Some(opened.map_err(|error| locate("admin", &error.to_string()))?)
        } else {
            None
        };
        Ok(Next {
            identity: Arc::new(identity),
            reading,
            changed,
            listeners,
            admin,
        })
    }

    async fn commit(&mut self, next: Next) {
        let config = &next.reading.config;
        if next.changed.iter().any(|c| c == "listen") {
            self.listeners.exchange(next.listeners, &config.listen);
        }
        if let Some(listener) = next.admin {
            self.admin.move_to(listener);
        }
        self.listeners.set_first_byte(config.first_byte);
        (self.origin.set_log_level)(config.log_level);
        let node = agent::node_name(config);
        let listeners = self.listeners.bound();
        let reconfiguration = Reconfiguration {
            // What was remembered at the start is known by now.
            settings: agent::settings(config, &node, &listeners, None),
            identity: next.identity,
            names: agent::name_watch(config).map(Arc::new),
            cache: agent::cache_file(config),
            node,
            endpoint: config.endpoint.to_string(),
            listeners,
            changed: if next.changed.is_empty() {
                "read again, nothing is different".to_owned()
            } else {
                next.changed.join(", ")
            },
        };
        // Without a receiver the agent is stopping.
        drop(
            self.requests
                .send(Request::Reconfigure(Box::new(reconfiguration)))
                .await,
        );
        self.reading = next.reading;
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    inode: u64,
    size: u64,
}

fn stamp(file: &Path) -> Option<Stamp> {
    let seen = fs::metadata(file).ok()?;
    Some(Stamp {
        modified: seen.modified().ok(),
        inode: seen.ino(),
        size: seen.size(),
    })
}

/// Notices changes of a file.
#[derive(Debug)]
pub(crate) struct FileWatch {
    file: Option<PathBuf>,
    known: Option<Stamp>,
}

impl FileWatch {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        let known = file.as_deref().and_then(stamp);
        Self { file, known }
    }

    /// Waits for a change that has settled: whoever writes it in several steps is given a second after
    /// the last one. Never ready without a file; cancel safe.
    pub(crate) async fn changed(&mut self) {
        let Some(file) = self.file.as_deref() else {
            return std::future::pending().await;
        };
        let mut before = self.known;
        loop {
            sleep(LOOK_EVERY).await;
            let now = stamp(file);
            if now != self.known && now == before {
                self.known = now;
                return;
            }
            before = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tokio::time::timeout;

    #[test]
    fn a_field_follows_by_its_name_or_its_group_and_no_other() {
        for field in [
            "seeds",
            "dns.servers",
            "limits.firstByte",
            "shutdown.timeout",
        ] {
            assert!(is_followed(field), "{field}");
        }
        for field in ["log.format", "dnssec", "seed", "log", "new.field", "drain"] {
            assert!(!is_followed(field), "{field}");
        }
    }

    #[tokio::test]
    async fn a_file_that_is_written_replaced_or_linked_anew_has_changed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("one"), "1").unwrap();
        fs::write(path("two"), "22").unwrap();
        symlink(path("one"), path("file")).unwrap();
        let mut watch = FileWatch::new(Some(path("file")));
        // The way of a mounted ConfigMap.
        symlink(path("two"), path("next")).unwrap();
        fs::rename(path("next"), path("file")).unwrap();
        timeout(Duration::from_secs(20), watch.changed())
            .await
            .unwrap();
        assert!(
            timeout(Duration::from_millis(2500), watch.changed())
                .await
                .is_err()
        );
        fs::write(path("two"), "333").unwrap();
        timeout(Duration::from_secs(20), watch.changed())
            .await
            .unwrap();
        // Gone for good is a change too; the reader says what is wrong.
        fs::remove_file(path("file")).unwrap();
        timeout(Duration::from_secs(20), watch.changed())
            .await
            .unwrap();
    }
}
