//! Scenarios: what is in a world, what happens to it and what is expected, read from YAML.

mod built_in;
mod check;
mod raw;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::actor::client::Lane;
use crate::fault::Step;
use crate::go_client;
use crate::measure::Metric;
use crate::peer::Missing;
use crate::span::Span;
use crate::subject::Subject;

pub use built_in::{BUILT_IN, BuiltIn, REAL, built_in};
pub use raw::{
    ClientKind, Credentials, RawBound, RawClient, RawExpectation, RawGoal, RawName, RawNames,
    RawScenario, RawStep, RawSubject, RawWorld,
};

/// The endpoint's name in every world.
pub const ENDPOINT: &str = "api.lab.test";

/// A valid scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows, in one sentence.
    pub summary: String,
    /// Numbers of the public reports that it replays.
    pub cases: Vec<u32>,
    /// Whether the fault means something to other proxies too.
    pub matrix: bool,
    /// Whether it needs real components.
    pub real: bool,
    /// How many stock seconds pass in one second.
    pub time_scale: f64,
    /// Names of the API servers.
    pub servers: Vec<String>,
    /// Whether real ones answer somebody without credentials.
    pub anonymous: bool,
    /// Names of the balancers, each with the servers it forwards to.
    pub balancers: BTreeMap<String, Vec<String>>,
    /// The servers or balancers that the endpoint's name resolves to.
    pub addresses: Vec<String>,
    /// Lifetime of its address records.
    pub lifetime: Span,
    /// Lifetime of the CNAME record in front of them.
    pub alias_lifetime: Option<Span>,
    /// What the client on each node does.
    pub client: RawClient,
    /// Who meets the fault, each with the servers or balancers it knows without DNS.
    pub subjects: BTreeMap<Subject, RawSubject>,
    /// How long everything just runs before the first step.
    pub before: Span,
    /// What happens, in order.
    pub timeline: Vec<Step>,
    /// How long the world is watched after the fault.
    pub after: Span,
    /// The connections that `cut_s` is about.
    pub lanes: Vec<Lane>,
    /// What must have come true.
    pub expect: Vec<Expectation>,
    /// What Holdfast is to reach on unscaled clocks.
    pub goals: Vec<Expectation>,
}

/// Something that must have come true.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Whose figure it is.
    pub subject: Subject,
    /// Which figure.
    pub metric: Metric,
    /// How it compares.
    pub bound: Bound,
    /// The seconds of a bound in time that shrink with the time scale.
    pub scaled: f64,
}

/// How a figure must compare; times in unscaled seconds, truths as 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// It never happened, or its figure is this or more.
    AtLeast(f64),
    /// It happened, and its figure is this or less.
    AtMost(f64),
    /// Its figure is exactly this.
    Equals(f64),
}

/// Why there is no valid scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A field has a value that makes no sense.
    #[error("scenario {file}: {field}: found {found}, accepted: {accepted}")]
    Field {
        /// The file, or the name of a built-in scenario.
        file: String,
        /// The path of the field.
        field: String,
        /// What it says.
        found: String,
        /// What it may say.
        accepted: String,
    },
    /// The file could not be read.
    #[error("read scenario {file}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no YAML, or does not have the shape of a scenario.
    #[error("scenario {file}: {problem}")]
    Syntax {
        /// The file, or the name of a built-in scenario.
        file: String,
        /// What is wrong and where.
        problem: String,
    },
    /// There is neither a built-in scenario nor a file of that name.
    #[error(
        "scenario {name}: found neither a built-in scenario nor a file, accepted: a file, or one of {}",
        names()
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
}

impl Scenario {
    /// Reads a scenario from its text; `file` names it in errors.
    pub fn parse(file: &str, yaml: &str) -> Result<Self, ScenarioError> {
        let raw: RawScenario =
            serde_saphyr::from_str(yaml).map_err(|error| ScenarioError::Syntax {
                file: file.to_owned(),
                problem: error.to_string(),
            })?;
        check::check(file, &raw)
    }

    /// What this machine lacks for it, and for whom or what.
    pub fn missing(&self) -> Option<(String, Missing)> {
        let subjects = self.subjects.keys();
        let subject = subjects.map(|subject| (subject.to_string(), subject.missing()));
        let steps = self.timeline.iter();
        let verb = steps.map(|step| (step.verb.word().to_owned(), step.verb.missing()));
        let go = self.client.kind == ClientKind::Go && go_client::find().is_none();
        let client = std::iter::once(("client".to_owned(), go.then(go_client::missing)));
        subject
            .chain(verb)
            .chain(client)
            .find_map(|(who, missing)| Some((who, missing?)))
    }

    /// How long its timeline takes, in seconds on the scaled clocks.
    pub fn seconds(&self) -> f64 {
        self.before.seconds_at(self.time_scale)
            + self.approach_s()
            + self.after.seconds_at(self.time_scale)
    }

    /// Whether it can be run with the components at hand: real ones run on unscaled clocks only.
    pub fn fits(&self, file: &str, real: bool) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: String, accepted: &str| {
            Err(ScenarioError::Field {
                file: file.to_owned(),
                field: field.to_owned(),
                found,
                accepted: accepted.to_owned(),
            })
        };
        if self.real && !real {
            return wrong(
                "real",
                "true".to_owned(),
                "real components: `lab run --real`",
            );
        }
        #[expect(clippy::float_cmp, reason = "1 is written as 1")]
        if real && self.time_scale != 1.0 {
            let found = self.time_scale.to_string();
            return wrong(
                "timeScale",
                found,
                "1 with real components: their clocks are their own",
            );
        }
        Ok(())
    }

    /// Moments between the first step and the fault, in seconds on the scaled clocks.
    pub fn approach_s(&self) -> f64 {
        self.timeline
            .first()
            .map_or(0.0, |step| -step.at.seconds_at(self.time_scale))
    }
}

/// The text behind a built-in scenario's name or a file's path, and what errors call it.
pub fn read(name: &str) -> Result<(String, String), ScenarioError> {
    if let Some(known) = built_in(name) {
        return Ok((known.name.to_owned(), known.yaml.to_owned()));
    }
    match std::fs::read_to_string(Path::new(name)) {
        Ok(yaml) => Ok((name.to_owned(), yaml)),
        Err(source) if source.kind() == io::ErrorKind::NotFound && !name.contains(['/', '.']) => {
            Err(ScenarioError::Unknown {
                name: name.to_owned(),
            })
        }
        Err(source) => Err(ScenarioError::Read {
            file: name.to_owned(),
            source,
        }),
    }
}

/// Whether so many stock seconds per second make a run that can be measured.
pub fn is_time_scale(number: f64) -> bool {
    check::is_scale(number)
}

/// What a time scale may be, for messages.
pub fn time_scales() -> String {
    check::scales()
}

fn names() -> String {
    let all = BUILT_IN.into_iter().chain(REAL);
    all.map(|known| known.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
