//! What Holdfast's data path is to reach, compared with peers in the same run.

use std::fmt;

use super::Found;
use super::contender::Contender;
use super::metric::Metric;

/// One goal for one metric of Holdfast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// What is measured.
    pub metric: Metric,
    /// Who it is compared with; none if the figure itself counts.
    pub against: Option<Contender>,
    /// What the ratio or the figure is to be.
    pub bound: Bound,
}

/// A bound that includes its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
}

/// What came of a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Reached.
    Met {
        /// The ratio, or the figure itself.
        measured: f64,
    },
    /// Not reached.
    Missed {
        /// The ratio, or the figure itself.
        measured: f64,
        /// How far it is from the bound, as a share of the bound.
        by: f64,
    },
    /// Holdfast or the peer did not take part.
    Unknown,
}

impl Goal {
    /// Every goal.
    pub const ALL: [Self; 7] = {
        use Bound::{AtLeast, AtMost};
        use Contender::{Haproxy, HaproxySplice};
        [
            Self::new(Metric::BulkBytesPerS, Some(Haproxy), AtLeast(1.5)),
            Self::new(Metric::BulkBytesPerS, Some(HaproxySplice), AtLeast(1.0)),
            Self::new(Metric::RequestsPerS, Some(Haproxy), AtLeast(1.0)),
            Self::new(Metric::P99Us, Some(Haproxy), AtMost(1.05)),
            Self::new(Metric::ConnectsPerS, Some(Haproxy), AtLeast(1.0)),
            Self::new(Metric::RssIdleMib, None, AtMost(12.0)),
            Self::new(Metric::Rss2000Mib, None, AtMost(20.0)),
        ]
    };

    const fn new(metric: Metric, against: Option<Contender>, bound: Bound) -> Self {
        Self {
            metric,
            against,
            bound,
        }
    }

    /// What came of it.
    pub fn judge(&self, found: &Found) -> Verdict {
        let measured = match self.against {
            Some(peer) => found.ratio(self.metric, Contender::Holdfast, peer),
            None => found
                .figure(self.metric, Contender::Holdfast)
                .map(|figure| figure.median),
        };
        let Some(measured) = measured else {
            return Verdict::Unknown;
        };
        let (short, bound) = match self.bound {
            Bound::AtLeast(bound) => (bound - measured, bound),
            Bound::AtMost(bound) => (measured - bound, bound),
        };
        if short <= 0.0 {
            Verdict::Met { measured }
        } else {
            let by = short / bound;
            Verdict::Missed { measured, by }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
        }
    }
}
