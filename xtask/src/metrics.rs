//! `docs/reference/metrics.md`: what `/metrics` serves.

use anyhow::Result;
use holdfast_core::status::Source;
use holdfast_node::metrics::REFERENCE;

use crate::markdown::{code, page as markdown, paragraph, sentence, table};
use crate::vocabulary::{listed, words};

/// The page.
pub(crate) fn page() -> Result<String> {
    let rows: Vec<_> = REFERENCE
        .iter()
        .map(|(name, kind, labels, meaning)| {
            let labels: Vec<_> = labels
                .split(", ")
                .filter(|label| !label.is_empty())
                .map(code)
                .collect();
            vec![
                code(name),
                (*kind).to_owned(),
                labels.join(", "),
                sentence(meaning),
            ]
        })
        .collect();
    Ok(markdown(&[
        "# Metrics".to_owned(),
        paragraph(
            "`holdfast agent` serves them at `/metrics` of its admin address, by default \
         `http://127.0.0.1:6446/metrics`, in the format OpenMetrics 1.0. Label values come from closed \
         sets, except for `upstream`, the address of an API server, and `version`.",
        ),
        table(&["Metric", "Kind", "Labels", "Meaning"], &rows),
        "## Labels".to_owned(),
        paragraph(
            "The words of `what` and `verdict` are those of [`/status`](status.md), those of `reason` are \
         the [reasons](reasons.md). The others are listed with their metric, but for:",
        ),
        listed("`source`", &words::<Source>()?),
    ]))
}
