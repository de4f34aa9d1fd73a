//! From a scenario as written to a valid one; the first thing that makes no sense is an error.

mod expectation;
mod timeline;

use std::collections::BTreeMap;
use std::fmt::Display;

use super::raw::{ClientKind, RawScenario, RawSubject};
use super::{Scenario, ScenarioError};
use crate::actor::client::Lane;
use crate::fault::Target;
use crate::span::{self, Span};
use crate::subject::Subject;

/// Names that the world needs for itself.
const RESERVED: [&str; 8] = [
    "dns", "faulted", "in-use", "kcm", "lab", "nodes", "observer", "rt",
];

/// The longest name: a link is called `v` and the name, and links have 15 letters (IFNAMSIZ).
const NAME_MAX: usize = 14;

/// Most parts of one kind: the last part of their addresses is one byte.
const PARTS_MAX: usize = 100;

/// The shortest and the longest `--time-scale`.
const SCALES: std::ops::RangeInclusive<f64> = 0.1..=100.0;

/// Makes a valid scenario of what `file` says.
pub(super) fn check(file: &str, raw: &RawScenario) -> Result<Scenario, ScenarioError> {
    let reader = Reader { file, raw };
    reader.names()?;
    let timeline = reader.timeline()?;
    let subjects = reader.subjects()?;
    if timeline
        .iter()
        .any(|step| step.verb.target() == Some(&Target::InUse))
        && raw.world.servers.len() <= subjects.len()
    {
        return Err(reader.wrong(
            "world.servers",
            format!("{} servers and in-use as a target", raw.world.servers.len()),
            format!(
                "at least {}: one more than there are subjects",
                subjects.len() + 1
            ),
        ));
    }
    let time_scale = raw.time_scale.unwrap_or(1.0);
    if !SCALES.contains(&time_scale) {
        return Err(reader.wrong("timeScale", time_scale, scales()));
    }
    let lanes = reader.lanes()?;
    let expect = reader.expectations(&subjects)?;
    let goals = reader.goals()?;
    if !(1..=PARTS_MAX).contains(&raw.client.heartbeats) {
        return Err(reader.wrong(
            "client.heartbeats",
            raw.client.heartbeats,
            format!("1 to {PARTS_MAX}"),
        ));
    }
    reader.client_kind(time_scale)?;
    for (field, span) in [
        ("before", raw.before),
        ("after", raw.after),
        ("world.name.lifetime", raw.world.name.lifetime),
        (
            "world.name.aliasLifetime",
            raw.world.name.alias_lifetime.unwrap_or_default(),
        ),
        (
            "client.fresh",
            raw.client.fresh.unwrap_or(Span::from_secs(1)),
        ),
    ] {
        if span.is_negative() || (field == "client.fresh" && span == Span::ZERO) {
            return Err(reader.wrong(field, span, span::ACCEPTED));
        }
    }
    Ok(Scenario {
        name: raw.scenario.clone(),
        summary: raw.summary.trim().to_owned(),
        cases: raw.cases.clone(),
        matrix: raw.matrix,
        real: raw.real,
        time_scale,
        servers: raw.world.servers.clone(),
        anonymous: raw.world.anonymous,
        balancers: raw.world.balancers.clone(),
        addresses: raw.world.name.addresses.clone(),
        lifetime: raw.world.name.lifetime,
        alias_lifetime: raw.world.name.alias_lifetime,
        client: raw.client.clone(),
        subjects,
        before: raw.before,
        timeline,
        after: raw.after,
        lanes,
        expect,
        goals,
    })
}

/// What `--time-scale` and `timeScale` accept.
pub(super) fn scales() -> String {
    format!("a number from {} to {}", SCALES.start(), SCALES.end())
}

/// Whether a scale is one of [`scales`].
pub(super) fn is_scale(number: f64) -> bool {
    SCALES.contains(&number)
}

struct Reader<'a> {
    file: &'a str,
    raw: &'a RawScenario,
}

impl Reader<'_> {
    fn wrong(
        &self,
        field: impl Display,
        found: impl Display,
        accepted: impl Display,
    ) -> ScenarioError {
        ScenarioError::Field {
            file: self.file.to_owned(),
            field: field.to_string(),
            found: found.to_string(),
            accepted: accepted.to_string(),
        }
    }

    /// The client of the kubelet's own parts does what a kubelet does, at its pace, and no more.
    fn client_kind(&self, time_scale: f64) -> Result<(), ScenarioError> {
        let client = &self.raw.client;
        let more = client.heartbeats > 1
            || client.idle + client.readers + client.active > 0
            || client.fresh.is_some();
        #[expect(clippy::float_cmp, reason = "1 is written as 1")]
        if client.kind == ClientKind::Go && (more || time_scale != 1.0) {
            return Err(self.wrong(
                "client.kind",
                "go with more than a heartbeat, or a time scale",
                "go with one heartbeat and a time scale of 1",
            ));
        }
        Ok(())
    }

    /// The names of servers and balancers: well formed, unique, and known where they are used.
    fn names(&self) -> Result<(), ScenarioError> {
        let world = &self.raw.world;
        if !is_name(&self.raw.scenario, 40) {
            return Err(self.wrong(
                "scenario",
                quoted(&self.raw.scenario),
                "small letters, digits and hyphens",
            ));
        }
        for (field, count) in [
            ("world.servers", world.servers.len()),
            ("world.balancers", world.balancers.len()),
        ] {
            let least = usize::from(field == "world.servers");
            if !(least..=PARTS_MAX).contains(&count) {
                return Err(self.wrong(
                    field,
                    format!("{count} of them"),
                    format!("{least} to {PARTS_MAX}"),
                ));
            }
        }
        let mut seen: Vec<&str> = RESERVED.to_vec();
        let servers = world.servers.iter().map(|name| ("world.servers", name));
        let balancers = world.balancers.keys().map(|name| ("world.balancers", name));
        for (field, name) in servers.chain(balancers) {
            if !is_name(name, NAME_MAX)
                || seen.contains(&name.as_str())
                || name.starts_with("node-")
            {
                let accepted = format!(
                    "names used once, of up to {NAME_MAX} small letters, digits and hyphens, other than node-… and {}",
                    RESERVED.join(", ")
                );
                return Err(self.wrong(field, quoted(name), accepted));
            }
            seen.push(name);
        }
        for (name, targets) in &world.balancers {
            self.known(&format!("world.balancers.{name}"), targets, &world.servers)?;
        }
        self.known("world.name.addresses", &world.name.addresses, &self.parts())
    }

    /// At least one name, and each of them one of `accepted`.
    fn known(
        &self,
        field: &str,
        names: &[String],
        accepted: &[String],
    ) -> Result<(), ScenarioError> {
        if names.is_empty() {
            return Err(self.wrong(field, "nothing", accepted.join(", ")));
        }
        match names.iter().find(|name| !accepted.contains(name)) {
            Some(name) => Err(self.wrong(field, quoted(name), accepted.join(", "))),
            None => Ok(()),
        }
    }

    /// All servers and balancers.
    fn parts(&self) -> Vec<String> {
        let world = &self.raw.world;
        world
            .servers
            .iter()
            .chain(world.balancers.keys())
            .cloned()
            .collect()
    }

    fn subjects(&self) -> Result<BTreeMap<Subject, RawSubject>, ScenarioError> {
        let mut subjects = BTreeMap::new();
        for (name, raw) in &self.raw.subjects {
            let subject: Subject = name
                .parse()
                .map_err(|_| self.wrong("subjects", quoted(name), Subject::accepted()))?;
            let field = format!("subjects.{name}.seeds");
            if !raw.seeds.is_empty() {
                self.known(&field, &raw.seeds, &self.parts())?;
                if subject == Subject::Direct {
                    return Err(self.wrong(
                        field,
                        raw.seeds.join(", "),
                        "none: it only knows the endpoint's name",
                    ));
                }
            }
            let is_agent = subject.admin().is_some();
            let has_more = !raw.flags.is_empty() || raw.prefers.is_some();
            if has_more && !is_agent {
                return Err(self.wrong(
                    format!("subjects.{name}"),
                    "flags or prefers",
                    "neither: they are for holdfast, guard and holdfast-guard",
                ));
            }
            if let Some(prefers) = &raw.prefers {
                let mut candidates = raw.seeds.clone();
                candidates.extend(self.raw.world.name.addresses.iter().cloned());
                if raw.discovers.is_some() {
                    candidates.extend(self.raw.world.servers.iter().cloned());
                }
                let field = format!("subjects.{name}.prefers");
                self.known(&field, std::slice::from_ref(prefers), &candidates)?;
            }
            subjects.insert(subject, raw.clone());
        }
        if subjects.is_empty() {
            return Err(self.wrong("subjects", "nobody", Subject::accepted()));
        }
        Ok(subjects)
    }

    fn lanes(&self) -> Result<Vec<Lane>, ScenarioError> {
        let client = &self.raw.client;
        self.raw
            .lanes
            .iter()
            .map(|name| match name.as_str() {
                "heartbeat" => Ok(Lane::Heartbeat),
                "idle" if client.idle > 0 => Ok(Lane::Idle),
                "active" if client.active > 0 => Ok(Lane::Active),
                _ => Err(self.wrong(
                    "lanes",
                    quoted(name),
                    "heartbeat; idle or active where client has such connections",
                )),
            })
            .collect()
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn is_name(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
