//! From rounds to figures: medians, ranges, and ratios that are taken round by round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::metric::Metric;
use super::{Found, Round};

#[cfg(test)]
mod tests;

/// One metric of one contender over all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The middle of the rounds.
    pub median: f64,
    /// The lowest of them.
    pub min: f64,
    /// The highest of them.
    pub max: f64,
}

/// The figures as they are written to a file: `{METRIC: {CONTENDER: {"median", "min", "max"}}}`.
pub type Report = BTreeMap<&'static str, BTreeMap<&'static str, Figure>>;

impl Figure {
    /// The figure of some values; none if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Some(Self {
            min: *values.first()?,
            median: middle(&values)?,
            max: *values.last()?,
        })
    }
}

impl Found {
    /// A metric of a contender; none if it did not take part.
    pub fn figure(&self, metric: Metric, contender: Contender) -> Option<Figure> {
        Figure::of(
            self.rounds
                .iter()
                .filter_map(|round| value(round, metric, contender)),
        )
    }

    /// A metric of a contender, divided by that of another in the same round; the median of the rounds.
    /// None where there is nothing to divide by.
    pub fn ratio(&self, metric: Metric, contender: Contender, to: Contender) -> Option<f64> {
        let ratios = self.rounds.iter().filter_map(|round| {
            let base = value(round, metric, to).filter(|base| *base > 0.0)?;
            Some(value(round, metric, contender)? / base)
        });
        Figure::of(ratios).map(|figure| figure.median)
    }

    /// Those who took part, in the order of tables.
    pub fn contenders(&self) -> Vec<Contender> {
        let took_part = |contender: &Contender| {
            self.rounds
                .iter()
                .any(|round| round.contains_key(contender))
        };
        Contender::ALL.into_iter().filter(took_part).collect()
    }

    /// The figures as they are written to a file.
    pub fn report(&self) -> Report {
        let figures = |metric| {
            let of =
                |contender: Contender| Some((contender.as_str(), self.figure(metric, contender)?));
            self.contenders().into_iter().filter_map(of).collect()
        };
        Metric::ALL
            .into_iter()
            .filter(|metric| metric.is_reported())
            .map(|metric| (metric.as_str(), figures(metric)))
            .collect()
    }
}

fn value(round: &Round, metric: Metric, contender: Contender) -> Option<f64> {
    round.get(&contender)?.get(&metric).copied()
}

/// The middle of sorted values; the mean of the two middle ones if there are two.
fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

/// The value that this part of the sorted values does not exceed (nearest rank); 0 of nothing.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a rank is between 0 and the number of values, far below 2^52"
)]
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}
