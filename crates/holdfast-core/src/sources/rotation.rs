//! Whether a source's answers are a rotating part of its addresses, and how often one must be missing
//! from such answers before that means anything.
//!
//! A balancer's name answers with a few of its addresses at a time. To be missing from three answers
//! is then no news: with three of nine each address is, every few answers. So an address may leave
//! early only where answers have settled, that is, several in a row were the same. While they change,
//! or when an address came back lately, it must be missing for so long that chance is no explanation.

use std::collections::BTreeSet;
use std::net::SocketAddr;

/// The chance at which absence is believed to be more than rotation: a fleet of 5,000 nodes that asks
/// each minute gets 10⁸ answers in two weeks.
const BY_CHANCE: f64 = 1e-9;

/// After so many answers without a return a source counts as one that does not rotate. With three of
/// nine addresses in each answer, that many without a return are as good as impossible.
const REMEMBERED_ANSWERS: u32 = 50;

/// More answers than this are never asked for.
const MOST_ANSWERS: u32 = 1000;

/// What one source's answers looked like.
#[derive(Clone, Debug, Default)]
pub(super) struct Rotation {
    last: BTreeSet<SocketAddr>,
    /// Answers in a row that were the same, the last one included.
    same: u32,
    /// Answers since one that named an address which had been missing.
    since_return: Option<u32>,
}

impl Rotation {
    /// Takes in one usable answer; `returned` if it names an address that had been missing.
    pub(super) fn answered(&mut self, named: &BTreeSet<SocketAddr>, returned: bool) {
        if self.last == *named {
            self.same = self.same.saturating_add(1);
        } else {
            self.last.clone_from(named);
            self.same = 1;
        }
        self.since_return = if returned {
            Some(0)
        } else {
            self.since_return
                .map(|answers| answers + 1)
                .filter(|answers| *answers < REMEMBERED_ANSWERS)
        };
    }

    /// How many answers must leave an address out before it is believed gone, at least `least`, when
    /// an answer names `named` of the `standing` addresses.
    pub(super) fn answers_until_gone(&self, least: u32, named: usize, standing: usize) -> u32 {
        if self.same >= least && self.since_return.is_none() {
            least
        } else {
            least.max(beyond_chance(named, standing))
        }
    }
}

/// How many answers in a row leave a given address out by chance alone less often than
/// [`BY_CHANCE`], if each names `named` of `standing` at random.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts, and a result between 1 and 1000"
)]
fn beyond_chance(named: usize, standing: usize) -> u32 {
    let left_out = 1.0 - named as f64 / standing.max(1) as f64;
    if left_out <= 0.0 {
        return 1;
    }
    let answers = BY_CHANCE.ln() / left_out.ln();
    answers.ceil().clamp(1.0, f64::from(MOST_ANSWERS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_answers_are_beyond_chance() {
        let cases = [
            ((3, 9), 52),
            ((8, 9), 10),
            ((1, 2), 30),
            ((2, 3), 19),
            ((8, 100), 249),
            ((1, 100_000), 1000),
            ((3, 3), 1),
        ];
        for ((named, standing), answers) in cases {
            assert_eq!(
                beyond_chance(named, standing),
                answers,
                "{named} of {standing}"
            );
        }
    }
}
