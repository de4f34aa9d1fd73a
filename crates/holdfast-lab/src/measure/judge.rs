//! Whether what was expected came true.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Figures, Kind, Metric, rounded};
use crate::scenario::{Bound, Expectation};
use crate::subject::Subject;

/// What became of one expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What was expected, in words, with the bound at this run's time scale.
    pub text: String,
    /// Whether it came true.
    pub held: bool,
    /// The figure as it was measured: a number, a truth, or null if it never happened.
    pub measured: Value,
}

/// Compares the expectations about the subjects that took part with their figures.
pub fn judge(
    expectations: &[Expectation],
    figures: &BTreeMap<Subject, Figures>,
    time_scale: f64,
) -> Vec<Verdict> {
    expectations
        .iter()
        .filter_map(|expectation| {
            let figures = figures.get(&expectation.subject)?;
            Some(verdict(
                expectation,
                expectation.metric.of(figures),
                time_scale,
            ))
        })
        .collect()
}

fn verdict(expectation: &Expectation, measured: Option<f64>, time_scale: f64) -> Verdict {
    let at_scale = |bound: f64| bound - expectation.scaled + expectation.scaled / time_scale;
    let (words, bound, held) = match expectation.bound {
        Bound::AtLeast(bound) => {
            let bound = at_scale(bound);
            (
                "at least ",
                bound,
                measured.is_none_or(|measured| measured >= bound),
            )
        }
        Bound::AtMost(bound) => {
            let bound = at_scale(bound);
            (
                "at most ",
                bound,
                measured.is_some_and(|measured| measured <= bound),
            )
        }
        Bound::Equals(bound) => {
            let bound = at_scale(bound);
            (
                "",
                bound,
                measured.is_some_and(|measured| (measured - bound).abs() < 1e-9),
            )
        }
    };
    let metric = expectation.metric;
    Verdict {
        text: format!(
            "{}: {metric} {words}{}",
            expectation.subject,
            written(metric, bound)
        ),
        held,
        measured: measured.map_or(Value::Null, |measured| value(metric, measured)),
    }
}

/// A figure as people read it.
fn written(metric: Metric, figure: f64) -> String {
    match metric.kind() {
        Kind::Count => format!("{figure:.0}"),
        Kind::Time => format!("{} s", rounded(figure)),
        Kind::Truth => (figure > 0.5).to_string(),
    }
}

/// A figure as JSON has it.
pub fn value(metric: Metric, figure: f64) -> Value {
    match metric.kind() {
        Kind::Count => serde_json::from_str(&format!("{figure:.0}")).unwrap_or(Value::Null),
        Kind::Time => Value::from(figure),
        Kind::Truth => Value::from(figure > 0.5),
    }
}
