//! Whether an agent's status alone explains what was done: everything that the metrics counted and the
//! client felt has its row, and each row says what, to whom, why, on what evidence, and what comes next
//! (safety rule S12). Pure.

use std::collections::BTreeMap;

use holdfast_core::status::{ActionStatus, Status, What};

/// What an agent told at the end of a run.
#[derive(Clone, Debug)]
pub struct Testimony {
    /// What `holdfast status -o json` printed.
    pub status: Status,
    /// What `/metrics` said just before.
    pub metrics: String,
}

impl Testimony {
    /// Whether it is a guard's alone: through its hands goes no connection.
    pub fn is_guard(&self) -> bool {
        self.status.guard.is_some() && self.status.listeners.is_empty()
    }
}

/// Actions by what and reason.
const COUNTER: &str = "holdfast_actions_total";

/// What the status leaves unexplained, as sentences; nothing if it explains everything. `ended` counts
/// the client's lasting connections that somebody else ended.
pub fn unexplained(told: &Testimony, ended: u32) -> Vec<String> {
    let actions = &told.status.actions;
    let mut found: Vec<String> = actions.iter().flat_map(gaps).collect();
    found.extend(uncounted(actions, &told.metrics));
    found.extend(verdicts(&told.status));
    let by = |who: &str| {
        sum(
            &told.metrics,
            "holdfast_connections_ended_total",
            &[("by", who)],
        )
    };
    // Those that the client or its API server ended are no action of the agent's.
    let known = if told.is_guard() {
        let of = |what: What| sum(&told.metrics, COUNTER, &[("what", what.as_str())]);
        of(What::ConnectionCut) + of(What::ConnectionDrained)
    } else {
        by("cut") + by("drain") + by("refusal") + by("upstream") + by("client")
    };
    if u64::from(ended) > known {
        found.push(format!(
            "the client saw {ended} connections end, the agent knows of {known}"
        ));
    }
    // A connection that is moved home is drained, for a reason of its own.
    for (whats, who) in [
        (&[What::ConnectionCut][..], "cut"),
        (&[What::ConnectionDrained, What::ConnectionMoved], "drain"),
    ] {
        let rows = count(actions, |action| whats.contains(&action.what));
        if is_whole(actions) && rows < by(who) {
            found.push(format!(
                "{} ended by {who}, and {rows} rows say so",
                by(who)
            ));
        }
    }
    found
}

/// What a row does not say.
fn gaps(action: &ActionStatus) -> Vec<String> {
    let about_connection = matches!(action.what, What::ConnectionCut | What::ConnectionDrained);
    let about_upstream = about_connection
        || matches!(
            action.what,
            What::UpstreamAdded | What::UpstreamRemoved | What::VerdictChanged
        );
    [
        ("evidence", !action.evidence.is_empty()),
        ("what happens next", !action.next.is_empty()),
        ("its address", action.upstream.is_some() || !about_upstream),
        (
            "its connection",
            action.connection.is_some() || !about_connection,
        ),
        (
            "its verdict",
            action.verdict.is_some() || action.what != What::VerdictChanged,
        ),
    ]
    .into_iter()
    .filter(|(_, said)| !said)
    .map(|(what, _)| {
        format!(
            "row {} ({}) does not say {what}",
            action.seq,
            action.what.as_str()
        )
    })
    .collect()
}

/// Actions that the metrics counted and no row tells.
fn uncounted(actions: &[ActionStatus], metrics: &str) -> Vec<String> {
    let mut found = Vec::new();
    let last = actions.last().map_or(0, |action| action.seq);
    let counted = sum(metrics, COUNTER, &[]);
    if counted > last {
        found.push(format!(
            "the metrics count {counted} actions, the last row is {last}"
        ));
    }
    if !is_whole(actions) {
        return found;
    }
    let mut rows: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for action in actions {
        let label = (action.what.as_str(), action.reason.as_str());
        *rows.entry(label).or_default() += 1;
    }
    for (what, reason) in labels(metrics, COUNTER) {
        let counted = sum(metrics, COUNTER, &[("what", &what), ("reason", &reason)]);
        let told = rows.get(&(what.as_str(), reason.as_str()));
        let told = told.copied().unwrap_or_default();
        if counted > told {
            found.push(format!(
                "the metrics count {counted} of {what} for {reason}, {told} rows tell them"
            ));
        }
    }
    found
}

/// Upstreams whose verdict no row tells.
fn verdicts(status: &Status) -> Vec<String> {
    if !is_whole(&status.actions) {
        return Vec::new();
    }
    let latest = |address| {
        let rows = status.actions.iter().rev();
        let mut rows = rows.filter(move |action| action.upstream == Some(address));
        rows.find_map(|action| action.verdict)
    };
    status
        .upstreams
        .iter()
        .filter(|upstream| {
            let told = latest(upstream.address);
            // One that has never been judged has no row.
            told.is_some_and(|told| told != upstream.verdict)
        })
        .map(|upstream| {
            format!(
                "{} is {}, and the last row about it says otherwise",
                upstream.address,
                upstream.verdict.as_str()
            )
        })
        .collect()
}

/// Whether no row has been dropped yet.
fn is_whole(actions: &[ActionStatus]) -> bool {
    let last = actions.last().map_or(0, |action| action.seq);
    u64::try_from(actions.len()) == Ok(last)
}

fn count(actions: &[ActionStatus], is: impl Fn(&ActionStatus) -> bool) -> u64 {
    u64::try_from(actions.iter().filter(|action| is(action)).count()).unwrap_or(u64::MAX)
}

/// The sum of a counter's samples with such labels (`OpenMetrics` 1.0).
fn sum(metrics: &str, counter: &str, labels: &[(&str, &str)]) -> u64 {
    samples(metrics, counter)
        .filter(|sample| {
            labels
                .iter()
                .all(|(name, value)| sample.contains(&format!("{name}=\"{value}\"")))
        })
        .filter_map(|sample| sample.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum()
}

/// The labels `what` and `reason` of a counter's samples.
fn labels(metrics: &str, counter: &str) -> Vec<(String, String)> {
    let value = |sample: &str, name: &str| {
        let (_, rest) = sample.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    samples(metrics, counter)
        .filter_map(|sample| Some((value(sample, "what")?, value(sample, "reason")?)))
        .collect()
}

fn samples<'m>(metrics: &'m str, counter: &str) -> impl Iterator<Item = &'m str> {
    let start = format!("{counter}{{");
    metrics.lines().filter(move |line| line.starts_with(&start))
}
