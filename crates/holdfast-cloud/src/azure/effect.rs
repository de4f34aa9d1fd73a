//! What a change does to each node: its egress before and after, side by side.

use holdfast_core::egress::Answer;
use holdfast_core::egress::decision::{Verdict, change};
use holdfast_core::egress::facts::Family;
use holdfast_core::egress::path::egress;

use super::Topology;
use super::topology::{Missing, Way};

/// What happens to one node in one family.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The node.
    pub node: String,
    /// The family.
    pub family: Family,
    /// The answer; none where what is missing decides.
    pub answer: Option<Answer>,
    /// The verdict, which may be sure where the whole answer isn't.
    pub verdict: Option<Verdict>,
    /// What is missing for it.
    pub missing: Vec<Missing>,
}

/// The effect on every node that has a NIC before and after.
pub fn effects(before: &Topology<'_>, after: &Topology<'_>) -> Vec<Effect> {
    let (old, new) = (before.machines(), after.machines());
    old.iter()
        .zip(&new)
        .flat_map(|(old, new)| {
            let ways = before.ways(old).into_iter().zip(after.ways(new));
            ways.map(|(was, will_be)| Effect {
                node: old.name.clone(),
                family: was.family,
                answer: agreed(answers(&was, &will_be)),
                verdict: verdict(&was, &will_be),
                missing: was.missing.union(&will_be.missing).copied().collect(),
            })
            .collect::<Vec<_>>()
        })
        .collect()
}

/// The same facts have the same egress, whatever it is.
fn verdict(was: &Way<'_>, will_be: &Way<'_>) -> Option<Verdict> {
    if was.possible == will_be.possible {
        return Some(Verdict::Allow);
    }
    agreed(answers(was, will_be).map(|it| it.verdict))
}

/// The answers for all facts that are possible. Before and after are unknown together: the same
/// thing can't be missing in one way before and in another way after. Where a change makes
/// something known or unknown, each may meet each.
fn answers(was: &Way<'_>, will_be: &Way<'_>) -> impl Iterator<Item = Answer> {
    let together = was.possible.len() == will_be.possible.len();
    let before = was.possible.iter().enumerate();
    before.flat_map(move |(at, facts)| {
        let after = will_be.possible.iter().enumerate();
        let meeting = after.filter(move |(other, _)| !together || *other == at);
        meeting.map(move |(_, later)| change(egress(facts), egress(later)))
    })
}

fn agreed<T: PartialEq>(mut answers: impl Iterator<Item = T>) -> Option<T> {
    let first = answers.next()?;
    answers.all(|other| other == first).then_some(first)
}

/// The worst verdict of all; `None` where a node's is not known and none is a denial.
pub fn worst(effects: &[Effect]) -> Option<Verdict> {
    let verdicts = effects.iter().filter_map(|it| it.verdict);
    let worst = verdicts.max().unwrap_or(Verdict::Allow);
    let unknown = effects.iter().any(|it| it.verdict.is_none());
    (worst == Verdict::Deny || !unknown).then_some(worst)
}
