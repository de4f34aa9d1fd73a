//! One log line per action, in the words of the status.

use holdfast_core::status::{ActionStatus, Verdict, What};
use tracing::{info, warn};

/// Logs an action: WARN for what is degraded but handled, INFO for the rest. What it does not concern
/// is left out.
pub(crate) fn log(action: &ActionStatus) {
    let upstream = action.upstream.map(tracing::field::display);
    let connection = action.connection;
    let verdict = action.verdict.map(Verdict::as_str);
    let (what, reason) = (action.what.as_str(), action.reason.as_str());
    let (evidence, next) = (&action.evidence, &action.next);
    if is_trouble(action) {
        warn!(
            upstream,
            connection, verdict, reason, evidence, next, "{what}"
        );
    } else {
        info!(
            upstream,
            connection, verdict, reason, evidence, next, "{what}"
        );
    }
}

fn is_trouble(action: &ActionStatus) -> bool {
    match action.what {
        What::ConnectionRefused
        | What::FailedHere
        | What::ReloadRefused
        | What::Withheld
        | What::WouldCut => true,
        What::SourceChanged => action.reason == holdfast_core::reason::Reason::SourceFailed,
        What::VerdictChanged => action
            .verdict
            .is_some_and(|v| matches!(v, Verdict::Silent | Verdict::Dead | Verdict::Foreign)),
        What::NodeChanged => action.reason == holdfast_core::reason::Reason::NodeNotReady,
        What::ConnectionCut
        | What::ConnectionDrained
        | What::ConnectionUnused
        | What::Reloaded
        | What::ConnectionMoved
        | What::ConnectionsSevered
        | What::UnitRestarted
        | What::UpstreamAdded
        | What::UpstreamRemoved => false,
    }
}
