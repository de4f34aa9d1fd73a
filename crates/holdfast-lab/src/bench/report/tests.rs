use super::super::goal::{Goal, Verdict};
use super::super::machine::Machine;
use super::*;

fn found(rounds: &[&[(Contender, f64)]]) -> Found {
    let sample = |value| Metric::ALL.map(|metric| (metric, value)).into();
    Found {
        rounds: rounds
            .iter()
            .map(|round| {
                let round = round.iter();
                round.map(|(who, value)| (*who, sample(*value))).collect()
            })
            .collect(),
        machine: Machine {
            cores: 2,
            processor: "processor".to_owned(),
            kernel: "6.18".to_owned(),
            congestion_control: "cubic".to_owned(),
            peers: Vec::new(),
            debug_build: false,
        },
    }
}

#[test]
fn the_median_is_the_middle_and_between_two_middles_their_mean() {
    let figure = |values: &[f64]| Figure::of(values.iter().copied());
    let odd = figure(&[9.0, 1.0, 2.0]).unwrap();
    assert_eq!(
        odd,
        Figure {
            median: 2.0,
            min: 1.0,
            max: 9.0
        }
    );
    assert_eq!(
        figure(&[4.0, 1.0, 2.0, 9.0]).unwrap().median.to_bits(),
        3.0_f64.to_bits()
    );
    assert_eq!(figure(&[]), None);
}

#[test]
fn a_quantile_is_a_value_that_was_measured() {
    let values: Vec<f64> = (1..=200).map(f64::from).collect();
    let of = |part| quantile(&values, part).to_bits();
    assert_eq!(of(0.5), 100.0_f64.to_bits());
    assert_eq!(of(0.99), 198.0_f64.to_bits());
    assert_eq!(of(1.0), 200.0_f64.to_bits());
    assert_eq!(quantile(&[], 0.5).to_bits(), 0.0_f64.to_bits());
}

#[test]
fn a_ratio_is_taken_in_each_round_since_the_machine_differs_between_rounds() {
    use Contender::{Haproxy, Holdfast};
    // Twice as fast in each round, on a machine that is ten times as fast in the second.
    let found = found(&[
        &[(Holdfast, 2.0), (Haproxy, 1.0)],
        &[(Holdfast, 20.0), (Haproxy, 10.0)],
        &[(Holdfast, 6.0), (Haproxy, 3.0)],
    ]);
    let ratio = found
        .ratio(Metric::RequestsPerS, Holdfast, Haproxy)
        .unwrap();
    assert!((ratio - 2.0).abs() < 1e-9);
    assert_eq!(
        found.ratio(Metric::RequestsPerS, Holdfast, Contender::Nginx),
        None
    );
}

#[test]
fn nothing_is_divided_by_a_direct_path_that_has_no_process() {
    let found = found(&[&[(Contender::Direct, 0.0), (Contender::Holdfast, 1.0)]]);
    let ratio = found.ratio(Metric::RssIdleMib, Contender::Holdfast, Contender::Direct);
    assert_eq!(ratio, None);
}

#[test]
fn the_report_has_every_fixed_metric_of_everybody_and_nothing_else() {
    let found = found(&[&[(Contender::Direct, 1.0), (Contender::HaproxySplice, 2.0)]]);
    let report = serde_json::to_value(found.report()).unwrap();
    let metrics: Vec<_> = report.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        metrics,
        [
            "bulk_bytes_per_s",
            "bulk_cpu_s_per_gb",
            "connects_per_s",
            "p50_us",
            "p99_us",
            "requests_per_s",
            "rss_2000_mib",
            "rss_idle_mib",
        ]
    );
    for figures in report.as_object().unwrap().values() {
        let expected = serde_json::json!({
            "direct": {"median": 1.0, "min": 1.0, "max": 1.0},
            "haproxy-splice": {"median": 2.0, "min": 2.0, "max": 2.0},
        });
        assert_eq!(*figures, expected);
    }
}

#[test]
fn names_in_reports_are_those_that_are_sent_between_processes() {
    for metric in Metric::ALL {
        assert_eq!(serde_json::to_value(metric).unwrap(), metric.as_str());
    }
    for contender in Contender::ALL {
        assert_eq!(serde_json::to_value(contender).unwrap(), contender.as_str());
        assert_eq!(contender.as_str().parse(), Ok(contender));
    }
}

#[test]
fn a_goal_is_met_missed_by_a_share_or_cannot_be_judged() {
    let slower = found(&[&[(Contender::Holdfast, 9.0), (Contender::Haproxy, 10.0)]]);
    let verdict = |metric, against| {
        let goal = Goal::ALL
            .iter()
            .find(|goal| goal.metric == metric && goal.against == against)
            .unwrap();
        goal.judge(&slower)
    };
    let missed = verdict(Metric::RequestsPerS, Some(Contender::Haproxy));
    assert!(
        matches!(missed, Verdict::Missed { measured, by } if (measured - 0.9).abs() < 1e-9 && (by - 0.1).abs() < 1e-9)
    );
    let met = verdict(Metric::P99Us, Some(Contender::Haproxy));
    assert!(matches!(met, Verdict::Met { .. }));
    assert!(matches!(
        verdict(Metric::RssIdleMib, None),
        Verdict::Met { .. }
    ));
    let unknown = verdict(Metric::BulkBytesPerS, Some(Contender::HaproxySplice));
    assert_eq!(unknown, Verdict::Unknown);
}
