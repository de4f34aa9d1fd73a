//! `docs/reference/reasons.md`: the vocabulary of why.

use anyhow::Result;
use holdfast_core::reason::Reason;

use crate::markdown::{page as markdown, paragraph};
use crate::vocabulary::{listed, words};

/// The page.
pub(crate) fn page() -> Result<String> {
    Ok(markdown(&[
        "# Reasons".to_owned(),
        paragraph(
            "Holdfast gives a reason for each verdict and each action. It is the same word everywhere: \
         in `holdfast status`, in the JSON of [`/status`](status.md), in the log, and as the label \
         `reason` of the [metric](metrics.md) `holdfast_actions_total`. The words are stable.",
        ),
        listed("Reason", &words::<Reason>()?),
    ]))
}
