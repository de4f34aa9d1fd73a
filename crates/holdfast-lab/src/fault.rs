//! The verbs of a timeline, and what each of them really does to the world.

use std::fmt;

use crate::peer::{self, Missing};
use crate::span::Span;

/// The program that makes packets vanish by chance.
pub(crate) const NFT: &str = "nft";

/// One step of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When, from the fault on; unscaled.
    pub at: Span,
    /// What is done.
    pub verb: Verb,
}

/// Whom a verb is done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Whatever the step at `0s` hit.
    Faulted,
    /// The servers that the subjects' connections are on at that moment.
    InUse,
    /// Servers or balancers by name.
    Named(Vec<String>),
    /// The nodes of all subjects.
    Nodes,
}

/// What can be done to a world.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// SIGCONT: a stopped process goes on.
    Continue(Target),
    /// The API server answers every request this late.
    Delay(Target, Span),
    /// Packets from and to the address vanish: a blackhole route and a blackhole rule in the router.
    Drop(Target),
    /// The DNS server fails for the endpoint's name, in this way.
    FailName(&'static str),
    /// Agents run whenever they want again.
    Feed,
    /// The balancer forwards new connections to these servers.
    Forward(Target, Vec<String>),
    /// Somebody else gets the address: the process is killed, and one with a certificate of another CA is
    /// started in its place.
    GiveAway(Target),
    /// The DNS server answers for the endpoint's name again.
    HealName,
    /// SIGKILL: the process ends, the kernel closes its connections.
    Kill(Target),
    /// The link goes down: the router answers that the address can't be reached.
    LinkDown(Target),
    /// The link comes up again.
    LinkUp(Target),
    /// So many of a hundred packets vanish in the router, by chance.
    Lose(u8),
    /// `/readyz` answers 500.
    NotReady(Target),
    /// `/readyz` answers 200 again.
    Ready(Target),
    /// Packets pass again after `drop`.
    Restore(Target),
    /// Each DNS answer shows only so many of the addresses, in turn.
    RotateName(usize),
    /// The endpoint's name gets these addresses, and this lifetime if one is given.
    SetName(Vec<String>, Option<Span>),
    /// The process is started anew after `kill`.
    Start(Target),
    /// Agents may run only so many hundredths of the time: SIGSTOP and SIGCONT in turn.
    Starve(u8),
    /// SIGSTOP: connections stay, and are accepted, but nothing is ever answered.
    Stop(Target),
    /// The nodes' readers stop reading.
    StopReading,
    /// SIGTERM: the process ends in its own time, as an orderly restart makes it.
    Terminate(Target),
}

/// What a step does to the path through its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing passes any more.
    Breaks,
    /// It works again.
    Mends,
    /// It stays as it is.
    Keeps,
}

impl Verb {
    /// The words that name a verb in a scenario.
    pub const WORDS: [&'static str; 22] = [
        "continue",
        "delay",
        "drop",
        "fail-name",
        "feed",
        "forward",
        "give-away",
        "heal-name",
        "kill",
        "link-down",
        "link-up",
        "lose",
        "not-ready",
        "ready",
        "restore",
        "rotate-name",
        "set-name",
        "start",
        "starve",
        "stop",
        "stop-reading",
        "terminate",
    ];

    /// The ways in which a name can fail.
    pub const FAILURES: [&'static str; 6] = [
        "servfail",
        "nxdomain",
        "refused",
        "silent",
        "empty",
        "truncated",
    ];

    /// The word that names it in a scenario.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Continue(_) => "continue",
            Self::Delay(..) => "delay",
            Self::Drop(_) => "drop",
            Self::FailName(_) => "fail-name",
            Self::Feed => "feed",
            Self::Forward(..) => "forward",
            Self::GiveAway(_) => "give-away",
            Self::HealName => "heal-name",
            Self::Kill(_) => "kill",
            Self::LinkDown(_) => "link-down",
            Self::LinkUp(_) => "link-up",
            Self::Lose(_) => "lose",
            Self::NotReady(_) => "not-ready",
            Self::Ready(_) => "ready",
            Self::Restore(_) => "restore",
            Self::RotateName(_) => "rotate-name",
            Self::SetName(..) => "set-name",
            Self::Start(_) => "start",
            Self::Starve(_) => "starve",
            Self::Stop(_) => "stop",
            Self::StopReading => "stop-reading",
            Self::Terminate(_) => "terminate",
        }
    }

    /// Whom it is done to; nobody, when it is about the endpoint's name.
    pub const fn target(&self) -> Option<&Target> {
        match self {
            Self::Continue(target)
            | Self::Delay(target, _)
            | Self::Drop(target)
            | Self::Forward(target, _)
            | Self::GiveAway(target)
            | Self::Kill(target)
            | Self::LinkDown(target)
            | Self::LinkUp(target)
            | Self::NotReady(target)
            | Self::Ready(target)
            | Self::Restore(target)
            | Self::Start(target)
            | Self::Stop(target)
            | Self::Terminate(target) => Some(target),
            Self::FailName(_)
            | Self::Feed
            | Self::HealName
            | Self::Lose(_)
            | Self::RotateName(_)
            | Self::SetName(..)
            | Self::Starve(_)
            | Self::StopReading => None,
        }
    }

    /// What it does to the path through its targets.
    pub const fn effect(&self) -> Effect {
        match self {
            Self::Drop(_)
            | Self::GiveAway(_)
            | Self::Kill(_)
            | Self::LinkDown(_)
            | Self::Stop(_) => Effect::Breaks,
            Self::Continue(_) | Self::LinkUp(_) | Self::Restore(_) | Self::Start(_) => {
                Effect::Mends
            }
            Self::Delay(..)
            | Self::FailName(_)
            | Self::Feed
            | Self::Forward(..)
            | Self::HealName
            | Self::Lose(_)
            | Self::NotReady(_)
            | Self::Ready(_)
            | Self::RotateName(_)
            | Self::SetName(..)
            | Self::Starve(_)
            | Self::StopReading
            | Self::Terminate(_) => Effect::Keeps,
        }
    }

    /// The program that it needs, if this machine lacks it.
    pub fn missing(&self) -> Option<Missing> {
        let lacks = matches!(self, Self::Lose(_)) && peer::find(NFT).is_none();
        lacks.then(|| Missing {
            what: NFT.to_owned(),
            install: "apt-get install nftables",
        })
    }

    /// What it does in words, done to `targets`.
    pub fn told(&self, targets: &[String]) -> String {
        let whom = targets.join(", ");
        let (is, s) = if targets.len() > 1 {
            ("are", "")
        } else {
            ("is", "s")
        };
        match self {
            Self::Continue(_) => format!("{whom} continue{s}"),
            Self::Delay(_, by) if *by == Span::ZERO => format!("{whom} answer{s} in time again"),
            Self::Delay(_, by) => format!("{whom} answer{s} {by} late"),
            Self::Drop(_) => format!("{whom} {is} silent: packets vanish"),
            Self::FailName(how) => format!("DNS fails: {how}"),
            Self::Feed => "agents run freely again".to_owned(),
            Self::GiveAway(_) => format!("{whom} {is} somebody else's now"),
            Self::Forward(_, to) => format!("{whom} forward{s} to {}", to.join(", ")),
            Self::HealName => "DNS answers again".to_owned(),
            Self::Kill(_) => format!("{whom} {is} killed"),
            Self::LinkDown(_) => format!("{whom} lose{s} the link"),
            Self::LinkUp(_) => format!("{whom} {is} linked again"),
            Self::Lose(0) => "no packet is lost any more".to_owned(),
            Self::Lose(share) => format!("{share} % of the packets vanish"),
            Self::NotReady(_) => format!("{whom} {is} not ready any more"),
            Self::Ready(_) => format!("{whom} {is} ready again"),
            Self::Restore(_) => format!("{whom} {is} reachable again"),
            Self::RotateName(show) => format!("DNS shows {show} of the addresses at a time"),
            Self::SetName(to, _) => format!("DNS names {}", to.join(", ")),
            Self::Start(_) => format!("{whom} start{s} again"),
            Self::Starve(share) => format!("agents get {share} % of the time"),
            Self::StopReading => "readers stop reading".to_owned(),
            Self::Stop(_) => format!("{whom} hang{s}: no answer, no refusal"),
            Self::Terminate(_) => format!("{whom} {is} told to stop"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faulted => f.write_str("faulted"),
            Self::InUse => f.write_str("in-use"),
            Self::Nodes => f.write_str("nodes"),
            Self::Named(names) => f.write_str(&names.join(", ")),
        }
    }
}
