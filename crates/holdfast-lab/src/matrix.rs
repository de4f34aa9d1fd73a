//! The fault matrix: the same faults for Holdfast and its peers, several times. Pure: runs in, figures
//! out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::{Figures, Metric, rounded, value};
use crate::report::Run;
use crate::subject::Subject;

/// What one subject met in all loops of one fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The fault: the name of its scenario.
    pub fault: String,
    /// Who met it.
    pub subject: Subject,
    /// How often.
    pub loops: usize,
    /// Each metric of a run over the loops.
    #[serde(flatten)]
    pub metrics: BTreeMap<String, Spread>,
}

/// A metric over several runs: a number, a truth, or null where it never happened. What never happened
/// counts as longer than anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The median; of an even number of runs, the worse one of the middle two.
    pub median: Value,
    /// The worst.
    pub max: Value,
}

/// One row per fault and subject, in the order of the runs.
pub fn rows(runs: &[Run]) -> Vec<Row> {
    let mut faults: Vec<&str> = Vec::new();
    for run in runs {
        if !faults.contains(&run.scenario.as_str()) {
            faults.push(&run.scenario);
        }
    }
    let mut rows = Vec::new();
    for fault in faults {
        let loops: Vec<&Run> = runs.iter().filter(|run| run.scenario == fault).collect();
        for subject in Subject::ALL {
            let figures: Vec<_> = loops
                .iter()
                .filter_map(|run| Some(&run.subjects.get(&subject)?.figures))
                .collect();
            if figures.is_empty() {
                continue;
            }
            let metrics = Metric::ALL.into_iter().map(|metric| {
                // By chance a proxy may have had nothing on what failed: then nothing could be cut.
                let counts = |figures: &&&Figures| metric != Metric::Cut || figures.on_fault > 0;
                let values = figures.iter().filter(counts);
                let values = values.map(|figures| metric.of(figures));
                (metric.to_string(), spread(metric, values))
            });
            rows.push(Row {
                fault: fault.to_owned(),
                subject,
                loops: figures.len(),
                metrics: metrics.collect(),
            });
        }
    }
    rows
}

fn spread(metric: Metric, values: impl Iterator<Item = Option<f64>>) -> Spread {
    let mut values: Vec<f64> = values.map(|value| value.unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| {
        let happened = values.get(index).filter(|figure| figure.is_finite());
        happened.map_or(Value::Null, |figure| value(metric, rounded(*figure)))
    };
    Spread {
        median: at(values.len() / 2),
        max: at(values.len().saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::SubjectRun;

    fn run(scenario: &str, subject: Subject, cut_s: Option<f64>, new_failed: u32) -> Run {
        let not_ready = [("40".to_owned(), new_failed > 1), ("50".to_owned(), false)];
        let figures = Figures {
            cut_s,
            new_failed,
            on_fault: 1,
            not_ready: BTreeMap::from(not_ready),
            ..Figures::default()
        };
        let events = Vec::new();
        Run {
            scenario: scenario.to_owned(),
            version: "0".to_owned(),
            time_scale: 1.0,
            began: String::new(),
            kubernetes: None,
            subjects: BTreeMap::from([(
                subject,
                SubjectRun {
                    figures,
                    events,
                    unexplained: Vec::new(),
                },
            )]),
            expectations: Vec::new(),
            goals: Vec::new(),
        }
    }

    #[test]
    fn each_fault_and_subject_has_one_row_with_median_and_worst() {
        let runs = [
            run("drop", Subject::Holdfast, Some(1.0), 0),
            run("kill", Subject::Nginx, Some(0.1), 0),
            run("drop", Subject::Holdfast, Some(3.0), 2),
            run("drop", Subject::Holdfast, Some(2.0), 1),
        ];
        let rows = rows(&runs);
        let [drop, kill] = rows.as_slice() else {
            panic!("{rows:?}")
        };
        assert_eq!((drop.fault.as_str(), drop.loops), ("drop", 3));
        assert_eq!(kill.subject, Subject::Nginx);
        let drop = serde_json::to_value(drop).unwrap();
        assert_eq!(drop["cut_s"], json!({"median": 2.0, "max": 3.0}));
        assert_eq!(drop["new_failed"], json!({"median": 1, "max": 2}));
        assert_eq!(drop["not_ready_40"], json!({"median": false, "max": true}));
    }

    #[test]
    fn what_never_happened_once_is_the_worst_and_twice_of_three_the_median() {
        let never = |times: usize| {
            let cuts = [None, None, None, Some(1.0), Some(1.0), Some(1.0)];
            let runs: Vec<Run> = cuts[3 - times..6 - times]
                .iter()
                .map(|cut| run("drop", Subject::Direct, *cut, 0))
                .collect();
            rows(&runs)[0].metrics["cut_s"].clone()
        };
        assert_eq!(never(1).median, json!(1.0));
        assert_eq!(never(1).max, Value::Null);
        assert_eq!(never(2).median, Value::Null);
    }
}
