//! What can happen to a simulated world, and chance's choice of it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use crate::chance::Chance;

/// How a simulated server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Answers at once.
    Up,
    /// Answers, but `/readyz` fails.
    NotReady,
    /// Answers each request only after this time; TLS at once.
    Slow(Duration),
    /// Answers nothing at all.
    Silent,
    /// Accepts, and says nothing.
    Hung,
    /// Refuses connections; open ones were reset.
    Refusing,
    /// Somebody else's server.
    Foreign,
}

/// How a simulated resolver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// Tells the truth.
    Truthful,
    /// Fails.
    Failing,
    /// Says that there are no records.
    Denying,
}

/// Something that happens to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client connects.
    Connect,
    /// The client that is there for longest leaves.
    Leave,
    /// A server changes its mood.
    Turn(SocketAddr, Mood),
    /// One target of a balancer changes its mood.
    TurnTarget(SocketAddr, usize, Mood),
    /// A server is silent, back, silent and back, with this pause.
    Flap(SocketAddr, Duration),
    /// The packets of the latest connection vanish, those of others do not.
    LoseFlow,
    /// The machine sleeps for a moment.
    Suspend,
    /// An API server counts so many nodes.
    CountFleet(u64),
    /// The name stands for these addresses from now on.
    Rename(BTreeSet<SocketAddr>),
    /// The resolver changes.
    Resolve(Resolver),
    /// The node's own network goes down or comes back.
    Link(bool),
    /// The agent does not run for this long.
    Starve(Duration),
}

/// A random event for a random history.
pub fn random_event(addresses: &[SocketAddr], chance: &mut Chance) -> Event {
    let pick = |chance: &mut Chance| {
        let n = usize::try_from(chance.below(addresses.len() as u64)).unwrap_or(0);
        addresses.get(n).copied()
    };
    let Some(address) = pick(chance) else {
        return Event::Connect;
    };
    match chance.below(27) {
        0..=3 => Event::Connect,
        4..=6 => Event::Turn(address, Mood::Silent),
        7 => Event::Turn(address, Mood::Hung),
        8 => Event::Turn(address, Mood::Refusing),
        9 => Event::Turn(address, Mood::NotReady),
        10 => Event::Turn(address, Mood::Slow(Duration::from_secs(12))),
        11 => Event::Turn(address, Mood::Foreign),
        12..=14 => Event::Turn(address, Mood::Up),
        15 => {
            let some: BTreeSet<_> = (0..=chance.below(2)).filter_map(|_| pick(chance)).collect();
            Event::Rename(some)
        }
        16 => Event::Resolve(match chance.below(3) {
            0 => Resolver::Failing,
            1 => Resolver::Denying,
            _ => Resolver::Truthful,
        }),
        17 => Event::Link(false),
        18 => Event::Link(true),
        26 => Event::Leave,
        19 => Event::Flap(address, Duration::from_millis(200 + chance.below(4000))),
        20..=21 => Event::LoseFlow,
        22 => Event::Suspend,
        23 => Event::CountFleet(1 + chance.below(2000)),
        24 => {
            let target = usize::try_from(chance.below(3)).unwrap_or(0);
            Event::TurnTarget(address, target, Mood::Hung)
        }
        _ => Event::Starve(Duration::from_millis(chance.below(20_000))),
    }
}
