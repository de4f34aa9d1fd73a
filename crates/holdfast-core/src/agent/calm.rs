//! Facts that no decision follows from.
//!
//! On a busy node thousands of connections come and go in a second while every upstream is well. To
//! settle after each of them would cost more than all else that the agent does.

use super::cutting::Cutting;
use super::{Agent, Input, Upstream};
use crate::machine::Tick;
use crate::status::Verdict;

impl Agent {
    /// Whether `input` changes nothing but its own record: nothing is due, and it tells of a connection,
    /// or of bytes, where nobody is in trouble. Asked before it is taken in.
    pub(crate) fn is_calm(&self, now: Tick, input: &Input) -> bool {
        if self.expected_wake.is_none_or(|due| due <= now) {
            return false;
        }
        let untroubled = |upstream| {
            self.upstreams
                .get(upstream)
                .is_some_and(Upstream::is_untroubled)
        };
        if let Input::Attached { upstream, .. } = input {
            untroubled(upstream)
        } else if let Input::Closed { connection } = input {
            let known = self.connections.get(*connection);
            known.is_some_and(|c| !c.is_guarded() && untroubled(&c.upstream))
        } else if let Input::Spoke { .. } = input {
            // A sign of life of one is what the trouble of another waits for.
            self.upstreams.values().all(Upstream::is_untroubled)
        } else {
            false
        }
    }
}

impl Upstream {
    /// Ready is also named by a source: what nobody names drains.
    fn is_untroubled(&self) -> bool {
        self.health.verdict() == Verdict::Ready
            && self.health.suspicion().is_none()
            && self.draining_since.is_none()
            && self.cutting == Cutting::Idle
    }
}
