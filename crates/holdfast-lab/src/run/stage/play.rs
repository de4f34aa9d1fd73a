//! Playing a stage's timeline, and watching to its end.

use std::collections::BTreeSet;
use std::time::Duration;

use holdfast_core::status::Status;
use tokio::time::{Instant, sleep_until};

use super::hunger::Hunger;
use super::{Sighting, Stage, TICK, agent_name, client_name, live, status};
use crate::actor::monotonic_seconds;
use crate::fault::{Effect, Step, Target, Verb};
use crate::measure::{self, Course, Outage, ProcessSeen, Testimony};
use crate::process::Process;
use crate::run::{RunError, Tone};
use crate::span::Span;
use crate::subject::Subject;

impl Stage {
    /// Carries out the timeline and watches to its end.
    pub(in crate::run) async fn play(&mut self) -> Result<(), RunError> {
        let scale = self.scenario.time_scale;
        self.course.start = monotonic_seconds();
        for (subject, seen) in self.client_processes() {
            if let Some(sight) = self.sights.get_mut(&subject) {
                sight.process = Some((seen, seen));
            }
        }
        let lead = self.scenario.before.seconds_at(scale) + self.scenario.approach_s();
        self.planned = Some(self.course.start + lead);
        let began = Instant::now();
        let moment = |at: f64| began + Duration::from_secs_f64((lead + at).max(0.0));
        self.progress(format!(
            "{}: fault in {lead:.0} s, done in {:.0} s",
            self.scenario.name,
            lead + self.scenario.after.seconds_at(scale)
        ));
        for step in self.scenario.timeline.clone() {
            self.watch_until(moment(step.at.seconds_at(scale))).await?;
            self.carry_out(&step).await?;
        }
        self.watch_until(moment(self.scenario.after.seconds_at(scale)))
            .await?;
        self.course.end = monotonic_seconds();
        for (subject, seen) in self.client_processes() {
            let sight = self.sights.get_mut(&subject);
            if let Some((_, last)) = sight.and_then(|sight| sight.process.as_mut()) {
                *last = seen;
            }
        }
        self.note_relists();
        self.last_look().await
    }

    /// Notes what is seen until `moment`.
    async fn watch_until(&mut self, moment: Instant) -> Result<(), RunError> {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                () = sleep_until(moment) => return Ok(()),
                Some(sighting) = self.sightings.recv() => self.note(sighting)?,
                _ = tick.tick() => self.look_around(),
            }
        }
    }

    /// Tells of grace periods that are over, and what is ripe to be told.
    fn look_around(&mut self) {
        let now = monotonic_seconds();
        let scale = self.scenario.time_scale;
        let told: Vec<_> = self
            .tellers
            .iter_mut()
            .filter_map(|(subject, teller)| Some((*subject, teller.silence(now, scale)?)))
            .collect();
        for (subject, told) in told {
            self.tell(now, live::node(subject), told);
        }
        self.tell_ripe(now);
    }

    /// Notes what was still under way at the end, with one last status of each agent.
    async fn last_look(&mut self) -> Result<(), RunError> {
        self.hunger = None;
        for subject in self.sights.keys().copied().collect::<Vec<_>>() {
            if let (Some(admin), Some(namespace)) =
                (subject.admin(), self.world.namespace(subject.node()))
                && let Ok(metrics) = status::read(namespace, admin, "/metrics").await
                && let Some(status) = self.printed_status(subject).await?
            {
                let testimony = Testimony {
                    status: status.clone(),
                    metrics,
                };
                let now = monotonic_seconds();
                self.note(Sighting::Status(subject, now, Box::new(status)))?;
                if let Some(sight) = self.sights.get_mut(&subject) {
                    sight.testimony = Some(testimony);
                }
            }
        }
        while let Ok(sighting) = self.sightings.try_recv() {
            if !matches!(sighting, Sighting::Gone(_)) {
                self.note(sighting)?;
            }
        }
        self.tell_ripe(f64::INFINITY);
        self.watchers.abort_all();
        Ok(())
    }

    /// What `holdfast status -o json` prints on the subject's node.
    async fn printed_status(&self, subject: Subject) -> Result<Option<Status>, RunError> {
        let arguments = ["status", "-o", "json"].map(str::to_owned);
        let node = subject.node();
        let name = format!("holdfast status on {node}");
        let mut process = self.world.start(&name, node, &arguments)?;
        let mut text = String::new();
        while let Some(line) = process.line().await {
            text.push_str(&line);
        }
        Ok(serde_json::from_str(&text).ok())
    }

    async fn carry_out(&mut self, step: &Step) -> Result<(), RunError> {
        let targets = match step.verb.target() {
            None => Vec::new(),
            Some(Target::Named(names)) => names.clone(),
            Some(Target::Faulted) => self.course.faulted.clone(),
            Some(Target::InUse) => self.in_use(),
            Some(Target::Nodes) => self.nodes(),
        };
        if targets.is_empty() && step.verb.target().is_some() {
            return Err(RunError::Unused {
                at: step.at.to_string(),
            });
        }
        // Taken before it is done, so that nothing measured from here on comes out too small.
        let t = monotonic_seconds();
        if step.at == Span::ZERO {
            self.course.fault = self.course.fault.min(t);
            self.course.faulted.extend(targets.iter().cloned());
        }
        self.carry_out_on_nodes(&step.verb).await?;
        self.world.carry_out(&step.verb, &targets).await?;
        if step.verb.effect() == Effect::Mends {
            self.course.mended = Some(monotonic_seconds());
        }
        for target in &targets {
            self.note_effect(step.verb.effect(), target, t);
        }
        let told = step.verb.told(&targets);
        self.marks.push((t, told.clone()));
        self.tell(t, "world".to_owned(), (told, String::new(), Tone::Fault));
        Ok(())
    }

    /// The lab's own clients as the kernel has them now.
    fn client_processes(&self) -> Vec<(Subject, ProcessSeen)> {
        let subjects = self.sights.keys().copied();
        subjects
            .filter_map(|subject| {
                let name = client_name(subject);
                let process = self.processes.iter().find(|one| one.name() == name)?;
                Some((subject, ProcessSeen::look(process.id()?)?))
            })
            .collect()
    }

    fn nodes(&self) -> Vec<String> {
        let subjects = self.sights.keys();
        subjects.map(|subject| subject.node().to_owned()).collect()
    }

    /// What a verb does to agents and clients rather than to the world.
    async fn carry_out_on_nodes(&mut self, verb: &Verb) -> Result<(), RunError> {
        if let Verb::Starve(_) | Verb::Feed = verb {
            self.hunger = None;
        }
        if let Verb::Starve(share) = verb {
            let agents = self.scenario.subjects.keys().copied().map(agent_name);
            let agents: Vec<String> = agents.collect();
            let processes = self.processes.iter();
            let starved = processes.filter(|one| agents.iter().any(|name| name == one.name()));
            let pids = starved.filter_map(Process::pid).collect();
            self.hunger = Some(Hunger::begin(pids, *share));
        }
        if *verb == Verb::StopReading {
            let subjects = self.scenario.subjects.keys().copied();
            let clients: Vec<String> = subjects.map(client_name).collect();
            for process in &mut self.processes {
                if clients.iter().any(|name| name == process.name()) {
                    process.tell("stop-reading").await?;
                }
            }
        }
        Ok(())
    }

    fn note_effect(&mut self, effect: Effect, target: &str, t: f64) {
        let open = |outage: &&mut Outage| outage.part.name == target && outage.to.is_none();
        match (effect, self.world.part(target)) {
            (Effect::Breaks, Some(part)) => self.course.outages.push(Outage {
                part,
                from: t,
                to: None,
            }),
            (Effect::Mends, Some(_)) => {
                for outage in self.course.outages.iter_mut().filter(open) {
                    outage.to = Some(t);
                }
            }
            (Effect::Keeps, _) | (_, None) => {}
        }
    }

    /// The servers that the subjects' connections are on now.
    fn in_use(&self) -> Vec<String> {
        let now = monotonic_seconds();
        let course = Course {
            end: now,
            ..self.course.clone()
        };
        let servers: BTreeSet<String> = self
            .sights
            .values()
            .flat_map(|sight| measure::connections(&course, sight))
            .filter(|one| one.end.is_none() && self.scenario.lanes.contains(&one.lane))
            .filter_map(|one| one.server)
            .collect();
        servers.into_iter().collect()
    }
}
