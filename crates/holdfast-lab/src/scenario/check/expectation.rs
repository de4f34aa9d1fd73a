//! The expectations: bounds of the kind that each metric has.

use std::collections::BTreeMap;

use super::{Reader, quoted};
use crate::measure::{Kind, Metric};
use crate::scenario::raw::{RawBound, RawExpectation, RawSubject};
use crate::scenario::{Bound, Expectation, ScenarioError};
use crate::span::Span;
use crate::subject::Subject;

impl Reader<'_> {
    pub(super) fn expectations(
        &self,
        subjects: &BTreeMap<Subject, RawSubject>,
    ) -> Result<Vec<Expectation>, ScenarioError> {
        let mut expectations = Vec::new();
        for (index, raw) in self.raw.expect.iter().enumerate() {
            let field = format!("expect[{index}]");
            let subject = raw
                .subject
                .parse()
                .ok()
                .filter(|subject| subjects.contains_key(subject));
            let subject = subject.ok_or_else(|| {
                let accepted: Vec<_> = subjects.keys().map(|subject| subject.as_str()).collect();
                self.wrong(
                    format!("{field}.subject"),
                    quoted(&raw.subject),
                    accepted.join(", "),
                )
            })?;
            let metric = self.metric(&field, &raw.metric)?;
            self.part_of_its_bound(&field, metric, raw)?;
            for bound in self.bounds(&field, metric, raw)? {
                expectations.push(Expectation {
                    subject,
                    metric,
                    bound,
                    scaled: scaled(subject, metric, raw, bound),
                });
            }
        }
        Ok(expectations)
    }

    /// The goals, which are all about Holdfast on unscaled clocks.
    pub(super) fn goals(&self) -> Result<Vec<Expectation>, ScenarioError> {
        let mut goals = Vec::new();
        for (index, raw) in self.raw.goals.iter().enumerate() {
            let field = format!("goals[{index}]");
            let metric = self.metric(&field, &raw.metric)?;
            let raw = RawExpectation {
                subject: Subject::Holdfast.to_string(),
                metric: raw.metric.clone(),
                at_most: raw.at_most.clone(),
                at_least: raw.at_least.clone(),
                equals: raw.equals.clone(),
                scaled: None,
            };
            for bound in self.bounds(&field, metric, &raw)? {
                goals.push(Expectation {
                    subject: Subject::Holdfast,
                    metric,
                    bound,
                    scaled: 0.0,
                });
            }
        }
        Ok(goals)
    }

    fn metric(&self, field: &str, name: &str) -> Result<Metric, ScenarioError> {
        name.parse()
            .map_err(|()| self.wrong(format!("{field}.metric"), quoted(name), Metric::accepted()))
    }

    /// What shrinks with the clocks is a part of the bound; more than all of it would quietly be taken
    /// for all of it. A lower bound may be less: there it is another matter how much of it shrinks.
    fn part_of_its_bound(
        &self,
        field: &str,
        metric: Metric,
        raw: &RawExpectation,
    ) -> Result<(), ScenarioError> {
        let bounds = [("atMost", &raw.at_most), ("equals", &raw.equals)];
        let Some(part) = raw.scaled else {
            return Ok(());
        };
        for (key, written) in bounds {
            let Some(written) = written else { continue };
            if number(metric, written).is_some_and(|whole| part.seconds() > whole) {
                return Err(self.wrong(
                    format!("{field}.scaled"),
                    part,
                    format!("a part of {key}, so {} at most", shown(written)),
                ));
            }
        }
        Ok(())
    }

    fn bounds(
        &self,
        field: &str,
        metric: Metric,
        raw: &RawExpectation,
    ) -> Result<Vec<Bound>, ScenarioError> {
        let written = [
            ("atLeast", &raw.at_least, Bound::AtLeast as fn(f64) -> Bound),
            ("atMost", &raw.at_most, Bound::AtMost),
            ("equals", &raw.equals, Bound::Equals),
        ];
        let mut bounds = Vec::new();
        for (key, value, bound) in written {
            let Some(value) = value else { continue };
            let number = number(metric, value).ok_or_else(|| {
                self.wrong(
                    format!("{field}.{key}"),
                    shown(value),
                    metric.kind().accepted(),
                )
            })?;
            bounds.push(bound(number));
        }
        if bounds.is_empty() {
            return Err(self.wrong(field, "no bound", "atLeast, atMost or equals"));
        }
        Ok(bounds)
    }
}

/// How much of a bound shrinks with the time scale.
fn scaled(subject: Subject, metric: Metric, raw: &RawExpectation, bound: Bound) -> f64 {
    let whole = match bound {
        Bound::AtLeast(number) | Bound::AtMost(number) | Bound::Equals(number) => number,
    };
    match raw.scaled {
        _ if metric.kind() != Kind::Time => 0.0,
        Some(part) => part.seconds().min(whole),
        None if subject == Subject::Direct => whole,
        None => 0.0,
    }
}

fn number(metric: Metric, value: &RawBound) -> Option<f64> {
    match (metric.kind(), value) {
        (Kind::Time, RawBound::Time(text)) => text.parse::<Span>().ok().map(Span::seconds),
        (Kind::Count, RawBound::Count(count)) => u32::try_from(*count).ok().map(f64::from),
        (Kind::Truth, RawBound::Truth(truth)) => Some(f64::from(u8::from(*truth))),
        (Kind::Time | Kind::Count | Kind::Truth, _) => None,
    }
}

fn shown(value: &RawBound) -> String {
    match value {
        RawBound::Count(count) => count.to_string(),
        RawBound::Truth(truth) => truth.to_string(),
        RawBound::Time(text) => quoted(text),
    }
}
