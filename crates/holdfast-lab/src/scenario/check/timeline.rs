//! The timeline: verbs with the keys that each of them takes.

use super::{Reader, quoted};
use crate::fault::{Step, Target, Verb};
use crate::scenario::ScenarioError;
use crate::scenario::raw::{RawNames, RawStep};
use crate::span::{self, Span};
use crate::world::etcd_member;

impl Reader<'_> {
    pub(super) fn timeline(&self) -> Result<Vec<Step>, ScenarioError> {
        let mut steps = Vec::new();
        for (index, raw) in self.raw.timeline.iter().enumerate() {
            let field = format!("timeline[{index}]");
            let step = Step {
                at: raw.at,
                verb: self.verb(&field, raw)?,
            };
            if raw.at > self.raw.after {
                return Err(self.wrong(
                    format!("{field}.at"),
                    raw.at,
                    format!("up to after, {}", self.raw.after),
                ));
            }
            if step.verb.target() == Some(&Target::Faulted) && raw.at <= Span::ZERO {
                return Err(self.wrong(
                    format!("{field}.target"),
                    "faulted",
                    "only after the step at 0s",
                ));
            }
            steps.push(step);
        }
        steps.sort_by_key(|step| step.at);
        if steps.iter().any(|step| step.at == Span::ZERO) {
            Ok(steps)
        } else {
            Err(self.wrong(
                "timeline",
                "no step at 0s",
                "one step or more at 0s: the fault",
            ))
        }
    }

    fn verb(&self, field: &str, raw: &RawStep) -> Result<Verb, ScenarioError> {
        let servers = &self.raw.world.servers;
        let balancers: Vec<String> = self.raw.world.balancers.keys().cloned().collect();
        let parts = self.parts();
        let mut used = vec!["target"];
        let server = || self.target(field, raw, servers);
        let part = || self.target(field, raw, &parts);
        let place = || match &raw.target {
            Some(RawNames::One(name)) if name == "nodes" => Ok(Target::Nodes),
            _ => part(),
        };
        // A process also beside a server, where the components are real.
        let members: Vec<String> = servers.iter().map(|server| etcd_member(server)).collect();
        let processes = [parts.clone(), members].concat();
        let process = || self.target(field, raw, &processes);
        let verb = match raw.verb.as_str() {
            "continue" => Verb::Continue(process()?),
            "delay" => {
                used.push("by");
                Verb::Delay(server()?, self.needed(field, "by", raw.by, span::ACCEPTED)?)
            }
            "drop" => Verb::Drop(part()?),
            "fail-name" => {
                used = vec!["how"];
                let accepted = Verb::FAILURES.join(", ");
                let how = self.needed(field, "how", raw.how.as_deref(), &accepted)?;
                let known = Verb::FAILURES.into_iter().find(|known| *known == how);
                Verb::FailName(
                    known
                        .ok_or_else(|| self.wrong(format!("{field}.how"), quoted(how), accepted))?,
                )
            }
            "feed" => {
                used.clear();
                Verb::Feed
            }
            "forward" => {
                used.push("to");
                let to = self.listed(field, raw.to.as_ref(), servers)?;
                Verb::Forward(self.target(field, raw, &balancers)?, to)
            }
            "give-away" => Verb::GiveAway(server()?),
            "heal-name" => {
                used.clear();
                Verb::HealName
            }
            "kill" => Verb::Kill(process()?),
            "link-down" => Verb::LinkDown(place()?),
            "link-up" => Verb::LinkUp(place()?),
            "lose" => {
                used = vec!["share"];
                Verb::Lose(self.share(field, raw, 0)?)
            }
            "not-ready" => Verb::NotReady(server()?),
            "ready" => Verb::Ready(server()?),
            "restore" => Verb::Restore(part()?),
            "rotate-name" => {
                used = vec!["show"];
                Verb::RotateName(self.needed(
                    field,
                    "show",
                    raw.show.filter(|show| *show > 0),
                    "1 or more",
                )?)
            }
            "set-name" => {
                used = vec!["to", "lifetime"];
                Verb::SetName(self.listed(field, raw.to.as_ref(), &parts)?, raw.lifetime)
            }
            "start" => Verb::Start(process()?),
            "starve" => {
                used = vec!["share"];
                Verb::Starve(self.share(field, raw, 1)?)
            }
            "stop" => Verb::Stop(process()?),
            "stop-reading" => {
                used.clear();
                Verb::StopReading
            }
            "terminate" => Verb::Terminate(process()?),
            _ => {
                return Err(self.wrong(
                    format!("{field}.verb"),
                    quoted(&raw.verb),
                    Verb::WORDS.join(", "),
                ));
            }
        };
        let written = [
            ("target", raw.target.is_some()),
            ("to", raw.to.is_some()),
            ("lifetime", raw.lifetime.is_some()),
            ("show", raw.show.is_some()),
            ("by", raw.by.is_some()),
            ("share", raw.share.is_some()),
            ("how", raw.how.is_some()),
        ];
        match written
            .iter()
            .find(|(key, written)| *written && !used.contains(key))
        {
            Some((key, _)) => {
                let accepted = if used.is_empty() {
                    "no further key".to_owned()
                } else {
                    used.join(", ")
                };
                Err(self.wrong(
                    format!("{field}.{key}"),
                    format!("{key} with verb {}", raw.verb),
                    accepted,
                ))
            }
            None => Ok(verb),
        }
    }

    fn needed<T>(
        &self,
        field: &str,
        key: &str,
        value: Option<T>,
        accepted: &str,
    ) -> Result<T, ScenarioError> {
        value.ok_or_else(|| self.wrong(format!("{field}.{key}"), "nothing", accepted))
    }

    /// A share of a hundred.
    fn share(&self, field: &str, raw: &RawStep, least: u8) -> Result<u8, ScenarioError> {
        let accepted = format!("a number from {least} to 100");
        let share = raw.share.filter(|share| (least..=100).contains(share));
        self.needed(field, "share", share, &accepted)
    }

    fn listed(
        &self,
        field: &str,
        names: Option<&RawNames>,
        accepted: &[String],
    ) -> Result<Vec<String>, ScenarioError> {
        let names = names.map(RawNames::list).unwrap_or_default();
        self.known(&format!("{field}.to"), &names, accepted)?;
        Ok(names)
    }

    fn target(
        &self,
        field: &str,
        raw: &RawStep,
        accepted: &[String],
    ) -> Result<Target, ScenarioError> {
        let names = raw.target.as_ref().map(RawNames::list).unwrap_or_default();
        match names
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            ["faulted"] => Ok(Target::Faulted),
            ["in-use"] => Ok(Target::InUse),
            _ => {
                let mut known = accepted.to_vec();
                known.extend(["faulted".to_owned(), "in-use".to_owned()]);
                self.known(&format!("{field}.target"), &names, &known)?;
                match names.iter().find(|name| !accepted.contains(name)) {
                    Some(name) => Err(self.wrong(
                        format!("{field}.target"),
                        format!("{name} among others"),
                        format!("{name} alone, or names"),
                    )),
                    None => Ok(Target::Named(names)),
                }
            }
        }
    }
}
