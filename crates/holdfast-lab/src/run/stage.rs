//! The stage of a run: the world, the subjects in it, and everything seen of them so far.

mod hunger;
mod kubectl;
mod kubelets;
mod play;
mod story;

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::Path;
use std::time::Duration;

use holdfast_core::chance::{hash_address, hash_text};
use holdfast_core::status::{Status, Verdict};
use holdfast_linux::netns::Namespace;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use self::hunger::Hunger;
use super::live::{self, Live, Sequence, Teller, Tone};
use super::watch::{self, Sighting};
use super::{RunError, Word};
use crate::actor::client::{Event, Lane, What};
use crate::actor::monotonic_seconds;
use crate::go_client;
use crate::kubernetes::Real;
use crate::measure::{Course, Sight};
use crate::process::Process;
use crate::scenario::{ClientKind, ENDPOINT, RawSubject, Scenario};
use crate::subject::{Subject, Surroundings, status};
use crate::world::{self, World};

/// How long an agent or a client's first heartbeat is waited for.
const WARM_UP: Duration = Duration::from_secs(15);
/// How often it is looked whether a grace period is over.
const TICK: Duration = Duration::from_millis(50);

/// A set stage.
#[derive(Debug)]
pub(super) struct Stage {
    scenario: Scenario,
    /// By the wall clock, to the second.
    began: jiff::Timestamp,
    world: World,
    /// They end when they are dropped.
    processes: Vec<Process>,
    watchers: JoinSet<()>,
    hunger: Option<Hunger>,
    sightings: mpsc::UnboundedReceiver<Sighting>,
    sights: BTreeMap<Subject, Sight>,
    tellers: BTreeMap<Subject, Teller>,
    course: Course,
    /// When the fault is due, once the timeline runs. What happens before that is not told.
    planned: Option<f64>,
    marks: Vec<(f64, String)>,
    sequence: Sequence,
    words: mpsc::UnboundedSender<Word>,
}

impl Stage {
    /// Builds the world, starts the subjects and waits until each of them has a heartbeat.
    pub(super) async fn set(
        scenario: Scenario,
        program: &Path,
        real: Option<&Real>,
        words: mpsc::UnboundedSender<Word>,
    ) -> Result<Self, RunError> {
        let subjects: Vec<Subject> = scenario.subjects.keys().copied().collect();
        say(&words, format!("{}: building the world", scenario.name));
        let world = World::build(&scenario, &subjects, program, real).await?;
        let (to, sightings) = mpsc::unbounded_channel();
        let now = monotonic_seconds();
        let mut stage = Self {
            course: Course {
                start: now,
                fault: f64::INFINITY,
                end: f64::INFINITY,
                time_scale: scenario.time_scale,
                outages: Vec::new(),
                faulted: Vec::new(),
                mended: None,
                parts: world.parts_by_address(),
            },
            scenario,
            began: jiff::Timestamp::from_second(jiff::Timestamp::now().as_second())
                .unwrap_or_default(),
            world,
            processes: Vec::new(),
            watchers: JoinSet::new(),
            hunger: None,
            sightings,
            sights: subjects
                .iter()
                .map(|subject| (*subject, Sight::default()))
                .collect(),
            tellers: subjects
                .iter()
                .map(|subject| (*subject, Teller::default()))
                .collect(),
            planned: None,
            marks: Vec::new(),
            sequence: Sequence::default(),
            words,
        };
        for subject in &subjects {
            stage.start_agent(*subject, &to).await?;
        }
        if real.is_some() {
            stage.start_observer(&to).await?;
            for subject in &subjects {
                stage.start_kubelets(*subject, &to)?;
            }
            stage.await_nodes().await?;
            stage.place_canaries().await?;
        } else {
            for subject in &subjects {
                stage.start_client(*subject, &to).await?;
            }
            stage.warm_up().await?;
        }
        Ok(stage)
    }

    async fn start_agent(
        &mut self,
        subject: Subject,
        to: &mpsc::UnboundedSender<Sighting>,
    ) -> Result<(), RunError> {
        let given = self
            .scenario
            .subjects
            .get(&subject)
            .cloned()
            .unwrap_or_default();
        let names = if given.seeds.is_empty() {
            &self.scenario.addresses
        } else {
            &given.seeds
        };
        let mut flags = given.flags.clone();
        if let Some(kubeconfig) = self.let_discover(subject, given.discovers).await? {
            flags.extend(["--kubeconfig".to_owned(), kubeconfig.display().to_string()]);
        }
        let around = Surroundings {
            dns: self.world.dns(),
            ca: self.world.ca(),
            seeds: self.world.api_addresses(&given.seeds),
            servers: names
                .iter()
                .cloned()
                .zip(self.world.api_addresses(names))
                .collect(),
            node_name: self.node_name(subject, &given),
            flags,
        };
        let agent = subject.agent(self.world.program(), self.world.directory(), &around);
        let Some(agent) = agent else {
            return Ok(());
        };
        let node = subject.node();
        if let Some((path, text)) = &agent.file {
            std::fs::write(path, text).map_err(|source| RunError::Configuration {
                path: path.clone(),
                source,
            })?;
        }
        let mut process =
            self.world
                .start_other(&agent_name(subject), node, &agent.program, &agent.arguments)?;
        let Some(admin) = subject.admin() else {
            // Whether it serves is told by its client's first heartbeat.
            self.processes.push(process);
            return Ok(());
        };
        self.progress(format!(
            "{}: waiting for the agent on {node}",
            self.scenario.name
        ));
        let namespace = Namespace::open(node).map_err(world::WorldError::from)?;
        let begun = Instant::now();
        loop {
            let status = status::ask(&namespace, admin).await;
            // A client that comes before its node's own choice is ready stands elsewhere, and the fault
            // misses it.
            let all = |s: &Status| s.upstreams.iter().all(|u| u.verdict == Verdict::Ready);
            let late = begun.elapsed() > WARM_UP;
            if status.is_ok_and(|status| status.ready && (late || all(&status))) {
                break;
            }
            if !process.runs() || late {
                return Err(RunError::Agent {
                    node: node.to_owned(),
                    seconds: begun.elapsed().as_secs(),
                    last_words: process.ended().to_string(),
                });
            }
            sleep(TICK).await;
        }
        self.watchers
            .spawn(watch::agent(subject, namespace, admin, to.clone()));
        self.processes.push(process);
        Ok(())
    }

    /// The name that the subject's agent is told: one that makes it prefer what it is to prefer.
    fn node_name(&self, subject: Subject, given: &RawSubject) -> String {
        let node = subject.node();
        let Some(prefers) = &given.prefers else {
            return node.to_owned();
        };
        let mut names = given.seeds.clone();
        names.extend(self.scenario.addresses.iter().cloned());
        if given.discovers.is_some() {
            names.extend(self.scenario.servers.iter().cloned());
        }
        let addresses = self.world.api_addresses(&names);
        let wanted = self.world.api_addresses(std::slice::from_ref(prefers));
        // One name in so many as there are addresses fits.
        (1..=u16::MAX)
            .map(|number| format!("{node}-{number}"))
            .find(|name| {
                addresses.iter().max_by_key(|address| rank(name, **address)) == wanted.first()
            })
            .unwrap_or_else(|| node.to_owned())
    }

    async fn start_client(
        &mut self,
        subject: Subject,
        to: &mpsc::UnboundedSender<Sighting>,
    ) -> Result<(), RunError> {
        let node = subject.node();
        let client = &self.scenario.client;
        let go = go_client::find().filter(|_| client.kind == ClientKind::Go);
        if let Some(program) = go {
            let arguments = [
                "--server".to_owned(),
                subject.server(),
                "--resolve-with".to_owned(),
                self.world.dns().to_string(),
                "--ca".to_owned(),
                self.world.ca(),
                "--tls-name".to_owned(),
                ENDPOINT.to_owned(),
                "--node".to_owned(),
                node.to_owned(),
            ];
            let name = client_name(subject);
            let process = self.world.start_other(&name, node, &program, &arguments)?;
            return self.hear_client(subject, process, to).await;
        }
        let mut arguments = vec!["lab".to_owned(), "actor".to_owned(), "client".to_owned()];
        let mut tell = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        tell("--server", subject.server());
        if subject.dials_itself() {
            tell("--resolve-with", self.world.dns().to_string());
        }
        tell("--ca", self.world.ca());
        tell("--tls-name", ENDPOINT.to_owned());
        tell("--node", node.to_owned());
        tell("--time-scale", self.scenario.time_scale.to_string());
        tell("--heartbeats", client.heartbeats.to_string());
        tell("--idle", client.idle.to_string());
        tell("--readers", client.readers.to_string());
        tell("--active", client.active.to_string());
        if let Some(every) = client.fresh {
            tell("--fresh", every.to_string());
        }
        let process = self.world.start(&client_name(subject), node, &arguments)?;
        self.hear_client(subject, process, to).await
    }

    async fn hear_client(
        &mut self,
        subject: Subject,
        mut process: Process,
        to: &mpsc::UnboundedSender<Sighting>,
    ) -> Result<(), RunError> {
        process.ready().await?;
        self.watchers
            .spawn(watch::client(subject, process.take_lines(), to.clone()));
        self.processes.push(process);
        Ok(())
    }

    /// Waits until every client has had a heartbeat.
    async fn warm_up(&mut self) -> Result<(), RunError> {
        let begun = Instant::now();
        let beats = |event: &Event| event.lane == Lane::Heartbeat && event.what == What::Ok;
        while let Some(subject) = self
            .sights
            .iter()
            .find(|(_, sight)| !sight.events.iter().any(beats))
            .map(|(subject, _)| *subject)
        {
            let left = WARM_UP.saturating_sub(begun.elapsed());
            if let Ok(Some(sighting)) = timeout(left, self.sightings.recv()).await {
                self.note(sighting)?;
                continue;
            }
            self.processes_run(&agent_name(subject))?;
            return Err(RunError::Client {
                node: subject.node().to_owned(),
                seconds: WARM_UP.as_secs(),
            });
        }
        Ok(())
    }

    /// Whether no process of that name has ended.
    fn processes_run(&mut self, name: &str) -> Result<(), RunError> {
        for process in self.processes.iter_mut().filter(|one| one.name() == name) {
            if !process.runs() {
                return Err(process.ended().into());
            }
        }
        Ok(())
    }

    /// Notes one sighting, and tells of it if the timeline has begun.
    fn note(&mut self, sighting: Sighting) -> Result<(), RunError> {
        match sighting {
            Sighting::Event(subject, event) => {
                let part = event
                    .detail
                    .as_ref()
                    .and_then(|address| self.course.parts.get(address));
                let told = self
                    .tellers
                    .get_mut(&subject)
                    .and_then(|teller| teller.event(&event, part.map(String::as_str)));
                if let Some(told) = told {
                    self.tell(event.t, live::node(subject), told);
                }
                if let Some(sight) = self.sights.get_mut(&subject) {
                    sight.events.push(event);
                }
            }
            Sighting::Node(observation) => self.note_node(observation),
            Sighting::Gone(subject) => {
                let name = client_name(subject);
                let process = self.processes.iter().find(|process| process.name() == name);
                if let Some(process) = process {
                    return Err(process.ended().into());
                }
            }
            Sighting::Status(subject, t, status) => {
                let Some(sight) = self.sights.get_mut(&subject) else {
                    return Ok(());
                };
                let deeds = sight.learn(t, *status, &self.course.parts);
                for deed in deeds {
                    let address = deed.action.upstream.map(|address| address.to_string());
                    let part = address.and_then(|address| self.course.parts.get(&address));
                    let told = live::deed(&deed.action, part.map(String::as_str));
                    self.tell(deed.t, live::node(subject), told);
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, t: f64, node: String, (what, reason, tone): (String, String, Tone)) {
        let Some(planned) = self.planned else { return };
        // Until the fault was made, it is where the timeline wants it.
        let fault = if self.course.fault.is_finite() {
            self.course.fault
        } else {
            planned
        };
        let live = Live {
            t_s: t - fault,
            node,
            what,
            reason,
            tone,
        };
        self.sequence.hold(t, live);
    }

    /// Tells what is ripe to be told at the moment `now`.
    fn tell_ripe(&mut self, now: f64) {
        for event in self.sequence.ripe(now) {
            // A listener that has gone away ends this process.
            drop(self.words.send(Word::Live(event)));
        }
    }

    fn progress(&self, text: String) {
        say(&self.words, text);
    }
}

/// How much a node of that name prefers an address: the rendezvous hash of [`holdfast_core::balance`].
fn rank(node: &str, address: SocketAddrV4) -> u64 {
    hash_address(hash_text(node), address.into())
}

/// What a client's process is called in messages.
fn client_name(subject: Subject) -> String {
    format!("the client on {}", subject.node())
}

/// What an agent's process is called in messages.
fn agent_name(subject: Subject) -> String {
    format!("{subject} on {}", subject.node())
}

fn say(words: &mpsc::UnboundedSender<Word>, text: String) {
    drop(words.send(Word::Progress(text)));
}
