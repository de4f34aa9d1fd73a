//! Real kubelets as the clients of a stage, and what the API says of their nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use holdfast_linux::sock_diag::{Filter, SockDiag, State};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::{RunError, Sighting, Stage, Subject, client_name};
use crate::actor::client::{Ending, Event, Lane, What};
use crate::actor::monotonic_seconds;
use crate::actor::observer::{Observation, Seen};
use crate::kubernetes::{Program, command};
use crate::process::Process;
use crate::world::{OBSERVER, WorldError};

/// How long real nodes may take until they are Ready, after the control plane is up. Usually seconds.
const WARM_UP: Duration = Duration::from_mins(2);
/// How often a node's sockets are looked at; a connection's end is told that late at most.
const LOOK: Duration = Duration::from_millis(100);
/// The name of the `number`th kubelet of a subject.
fn node_name(subject: Subject, number: u16) -> String {
    format!("{}-{number}", subject.node())
}

impl Stage {
    /// Starts what tells of all nodes.
    pub(super) async fn start_observer(
        &mut self,
        to: &mpsc::UnboundedSender<Sighting>,
    ) -> Result<(), RunError> {
        let mut arguments = ["lab", "actor", "observer"].map(str::to_owned).to_vec();
        for kubeconfig in self.world.admin_kubeconfigs()? {
            arguments.extend(["--kubeconfig".to_owned(), kubeconfig.display().to_string()]);
        }
        let mut process = self.world.start(OBSERVER, OBSERVER, &arguments)?;
        process.ready().await?;
        let mut lines = process.take_lines();
        let to = to.clone();
        self.watchers.spawn(async move {
            while let Some(line) = lines.recv().await {
                if let Ok(observation) = serde_json::from_str::<Observation>(&line)
                    && to.send(Sighting::Node(observation)).is_err()
                {
                    return;
                }
            }
        });
        self.processes.push(process);
        Ok(())
    }

    /// Starts the kubelets of a subject's node, and tells of their connections.
    pub(super) fn start_kubelets(
        &mut self,
        subject: Subject,
        to: &mpsc::UnboundedSender<Sighting>,
    ) -> Result<(), RunError> {
        let Some(plane) = self.world.plane() else {
            return Ok(());
        };
        let place = subject.node();
        let mut kubelets = Vec::new();
        for number in 0..self.kubelets() {
            let name = node_name(subject, number);
            let kubeconfig = plane.node_kubeconfig(&name, &subject.server())?;
            // A hollow kubelet keeps its files below the folder for temporary ones.
            let mut arguments = vec![
                format!("TMPDIR={}", self.world.directory().display()),
                plane.program(Program::HollowKubelet).display().to_string(),
            ];
            arguments.extend(command::hollow_kubelet(&name, number, &kubeconfig));
            let process = self.world.start_other(
                &client_name(subject),
                place,
                Path::new("env"),
                &arguments,
            )?;
            kubelets.push(process);
        }
        let owners: BTreeSet<u32> = kubelets.iter().filter_map(Process::id).collect();
        if let Some(namespace) = self.world.namespace(place) {
            let sockets = namespace.within(SockDiag::open).map_err(WorldError::from)?;
            let to = to.clone();
            let sockets = sockets.map_err(RunError::Sockets)?;
            self.watchers
                .spawn(watch_sockets(subject, sockets, owners, to));
        }
        self.processes.extend(kubelets);
        Ok(())
    }

    /// How many kubelets each subject's node has.
    fn kubelets(&self) -> u16 {
        u16::try_from(self.scenario.client.heartbeats).unwrap_or(u16::MAX)
    }

    /// Waits until every node is Ready and has renewed its lease.
    pub(super) async fn await_nodes(&mut self) -> Result<(), RunError> {
        self.progress(format!(
            "{}: waiting for the nodes to be Ready",
            self.scenario.name
        ));
        let begun = Instant::now();
        loop {
            let waited_for = self.sights.iter().find_map(|(subject, sight)| {
                (0..self.kubelets())
                    .map(|number| node_name(*subject, number))
                    .find(|node| {
                        let seen = |what| {
                            sight
                                .nodes
                                .iter()
                                .any(|one| one.node == *node && one.seen == what)
                        };
                        !seen(Seen::Ready) || !seen(Seen::Renewed)
                    })
                    .map(|node| (*subject, node))
            });
            let Some((subject, node)) = waited_for else {
                return Ok(());
            };
            let left = WARM_UP.saturating_sub(begun.elapsed());
            if let Ok(Some(sighting)) = timeout(left, self.sightings.recv()).await {
                self.note(sighting)?;
            } else {
                self.processes_run(&client_name(subject))?;
                return Err(RunError::Client {
                    node,
                    seconds: WARM_UP.as_secs(),
                });
            }
        }
    }

    /// Puts a pod on each node that leaves as soon as the node is taken for lost.
    pub(super) async fn place_canaries(&self) -> Result<(), RunError> {
        let nodes: Vec<String> = self
            .sights
            .keys()
            .flat_map(|subject| (0..self.kubelets()).map(|number| node_name(*subject, number)))
            .collect();
        let file = self.world.directory().join("canaries.json");
        std::fs::write(&file, canaries(&nodes)).map_err(|source| RunError::Configuration {
            path: file.clone(),
            source,
        })?;
        self.kubectl(&["apply", "--filename", &file.display().to_string()])
            .await
            .map(drop)
    }

    /// Notes what the API says of a node.
    pub(super) fn note_node(&mut self, observation: Observation) {
        let owner = observation
            .node
            .rsplit_once('-')
            .and_then(|(place, number)| {
                let mut subjects = self.sights.iter_mut();
                let (subject, sight) = subjects.find(|(subject, _)| subject.node() == place)?;
                Some((*subject, sight, number.parse().ok()?))
            });
        let Some((subject, sight, number)) = owner else {
            return;
        };
        let (t, seen) = (observation.t, observation.seen);
        sight.nodes.push(observation);
        if seen == Seen::Renewed {
            sight.events.push(Event {
                t,
                lane: Lane::Heartbeat,
                id: number,
                what: What::Ok,
                connection: None,
                server: None,
                took_s: None,
                detail: None,
            });
        }
        if let Some(told) = super::live::seen(seen) {
            self.tell(t, super::live::node(subject), told);
        }
    }

    /// How often each subject's kubelets asked for everything again after the fault: what an API
    /// server feels of a connection that was cut.
    pub(super) fn note_relists(&mut self) {
        let Some(plane) = self.world.plane() else {
            return;
        };
        let to_monotonic = monotonic_seconds() - jiff::Timestamp::now().as_duration().as_secs_f64();
        let mut relists: BTreeMap<String, u32> = BTreeMap::new();
        for log in plane.audit_logs() {
            // A server that was never asked has no log.
            let text = std::fs::read_to_string(log).unwrap_or_default();
            for request in text.lines().filter_map(command::audited) {
                let t = request.wall_s + to_monotonic;
                if request.lists_all && t >= self.course.fault && t <= self.course.end {
                    *relists.entry(request.node).or_default() += 1;
                }
            }
        }
        let kubelets = self.kubelets();
        for (subject, sight) in &mut self.sights {
            let all = (0..kubelets).map(|number| relists.get(&node_name(*subject, number)));
            sight.relists = Some(all.flatten().sum());
        }
    }
}

/// Tells of the connections to the API that these processes make and lose.
async fn watch_sockets(
    subject: Subject,
    mut sockets: SockDiag,
    owners: BTreeSet<u32>,
    to: mpsc::UnboundedSender<Sighting>,
) {
    let filter = Filter {
        states: vec![State::Established],
        remotes: None,
    };
    let port = subject.api_port();
    let mut open: BTreeSet<u64> = BTreeSet::new();
    loop {
        if let Ok(found) = sockets.list(&filter) {
            let now = monotonic_seconds();
            let mut seen = BTreeSet::new();
            let mut owned = None;
            for socket in found.iter().filter(|one| one.remote.port() == port) {
                let known = open.contains(&socket.cookie);
                if known
                    || owned
                        .get_or_insert_with(|| inodes(&owners))
                        .contains(&socket.inode)
                {
                    seen.insert(socket.cookie);
                }
                if !known && seen.contains(&socket.cookie) {
                    let detail = Some(socket.remote.to_string());
                    let connected = told(now, socket.cookie, What::Connected, detail);
                    if to.send(Sighting::Event(subject, connected)).is_err() {
                        return;
                    }
                }
            }
            for gone in open.difference(&seen) {
                // Who ended it can't be told from here.
                let detail = Some(Ending::Own.as_str().to_owned());
                let closed = told(now, *gone, What::Closed, detail);
                if to.send(Sighting::Event(subject, closed)).is_err() {
                    return;
                }
            }
            open = seen;
        }
        sleep(LOOK).await;
    }
}

fn told(t: f64, connection: u64, what: What, detail: Option<String>) -> Event {
    Event {
        t,
        lane: Lane::Heartbeat,
        id: connection,
        what,
        connection: None,
        server: None,
        took_s: None,
        detail,
    }
}

/// The inodes of all sockets that these processes hold (proc(5), `/proc/pid/fd`).
fn inodes(processes: &BTreeSet<u32>) -> BTreeSet<u32> {
    processes
        .iter()
        .filter_map(|process| std::fs::read_dir(format!("/proc/{process}/fd")).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let link = std::fs::read_link(entry.path()).ok()?;
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            inode.parse().ok()
        })
        .collect()
}

/// A pod for each node that tolerates neither an unready nor an unreachable one, not for a second.
fn canaries(nodes: &[String]) -> String {
    let intolerant = |condition: &str| {
        serde_json::json!({
            "key": format!("node.kubernetes.io/{condition}"),
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 0,
        })
    };
    let pods: Vec<_> = nodes
        .iter()
        .map(|node| {
            serde_json::json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": format!("canary-{node}"), "namespace": "default"},
                "spec": {
                    "nodeName": node,
                    "containers": [{"name": "pause", "image": "pause"}],
                    "tolerations": [intolerant("not-ready"), intolerant("unreachable")],
                },
            })
        })
        .collect();
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string()
}
