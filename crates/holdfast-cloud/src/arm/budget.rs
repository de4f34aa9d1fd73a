//! The request budget that Resource Manager tells with each answer, and the pause that keeps within it.
//!
//! A subscription's budget is shared by all that use the same identity; a client that runs into 429
//! takes it from the cloud provider's controller, which the nodes depend on. So a share is left alone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::answer::Effect;

/// What the header of a subscription's budget begins with; its kind follows.
const SUBSCRIPTION: &str = "x-ms-ratelimit-remaining-subscription-";

/// Requests of the subscription's bucket that are left to others.
const RESERVE: u32 = 20;

/// Requests per second that flow back into the bucket of reads (`request-limits-and-throttling`:
/// 250 per subscription and region, refilled with 25 each second). Writes are refilled with 10.
const REFILL: u32 = 10;

/// Requests of a compute budget that are left to others; their windows are 3 and 30 minutes.
const COMPUTE_RESERVE: u32 = 5;

/// Pause before a compute request when only the reserve is left.
const COMPUTE_PAUSE: Duration = Duration::from_secs(3);

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// By kind: `reads`, `writes`, `deletes`, `global-reads` …
    subscription: BTreeMap<String, u32>,
    compute: Option<u32>,
}

impl Budget {
    /// Takes one header in; others than those of the budget are ignored.
    pub fn note(&mut self, name: &str, value: &str) {
        if let Some(kind) = name.strip_prefix(SUBSCRIPTION) {
            if let Ok(left) = value.trim().parse() {
                self.subscription.insert(kind.to_owned(), left);
            }
        } else if name == "x-ms-ratelimit-remaining-resource" {
            // Microsoft.Compute/GetVMScaleSet3Min;197,Microsoft.Compute/GetVMScaleSet30Min;1297
            let left = value.split(',').filter_map(|one| one.rsplit_once(';'));
            let left = left.filter_map(|(_, left)| left.trim().parse().ok()).min();
            self.compute = left.or(self.compute);
        }
    }

    /// How long to wait before the next request. Reads and writes have budgets of their own.
    pub fn pause(&self, effect: Effect) -> Duration {
        let counts = |kind: &str| match effect {
            Effect::Reads => !kind.ends_with("writes") && !kind.ends_with("deletes"),
            Effect::Writes => !kind.ends_with("reads"),
        };
        let budgets = self.subscription.iter();
        let least = budgets.filter(|(kind, _)| counts(kind)).map(|(_, it)| *it);
        let missing = least.min().map_or(0, |left| RESERVE.saturating_sub(left));
        let subscription = Duration::from_secs(1) * missing / REFILL;
        let low = self.compute.is_some_and(|left| left < COMPUTE_RESERVE);
        let compute = if low { COMPUTE_PAUSE } else { Duration::ZERO };
        subscription.max(compute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(headers: &[(&str, &str)]) -> Duration {
        let mut budget = Budget::default();
        for (name, value) in headers {
            budget.note(name, value);
        }
        budget.pause(Effect::Reads)
    }

    #[test]
    fn it_slows_down_before_the_budget_is_used_up() {
        let reads = "x-ms-ratelimit-remaining-subscription-reads";
        assert_eq!(pause(&[]), Duration::ZERO);
        assert_eq!(pause(&[(reads, "249")]), Duration::ZERO);
        assert_eq!(pause(&[(reads, "10")]), Duration::from_secs(1));
        assert_eq!(pause(&[(reads, "0")]), Duration::from_secs(2));
        assert_eq!(pause(&[(reads, "0"), (reads, "200")]), Duration::ZERO);
        assert_eq!(pause(&[(reads, "many")]), Duration::ZERO);
    }

    #[test]
    fn a_plentiful_budget_hides_no_other() {
        let reads = "x-ms-ratelimit-remaining-subscription-reads";
        let writes = "x-ms-ratelimit-remaining-subscription-writes";
        let global = "x-ms-ratelimit-remaining-subscription-global-reads";
        let all = Duration::from_secs(2);
        assert_eq!(pause(&[(reads, "0"), (global, "3749")]), all);
        assert_eq!(pause(&[(global, "3749"), (reads, "0")]), all);
        assert_eq!(pause(&[(reads, "0"), (writes, "199")]), all);
        assert_eq!(pause(&[(reads, "249"), (writes, "0")]), Duration::ZERO);
        let mut budget = Budget::default();
        budget.note(reads, "0");
        assert_eq!(budget.pause(Effect::Writes), Duration::ZERO);
        budget.note(writes, "0");
        assert_eq!(budget.pause(Effect::Writes), all);
    }

    #[test]
    fn the_least_of_computes_budgets_counts() {
        let name = "x-ms-ratelimit-remaining-resource";
        let plenty =
            "Microsoft.Compute/GetVMScaleSet3Min;197,Microsoft.Compute/GetVMScaleSet30Min;1297";
        assert_eq!(pause(&[(name, plenty)]), Duration::ZERO);
        let low = "Microsoft.Compute/GetVMScaleSet3Min;2,Microsoft.Compute/GetVMScaleSet30Min;1297";
        assert_eq!(pause(&[(name, low)]), COMPUTE_PAUSE);
    }
}
