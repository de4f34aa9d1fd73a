//! How many nodes of a fleet may restart their units at once, agreed through Lease objects.
//!
//! The budget has numbered places, each a Lease. A node takes a place that nobody holds or whose time is
//! over, on the condition that the Lease is still as it was read (`resourceVersion`): of two nodes that
//! want the same place one is told of a conflict, reads again and decides again. So at no moment more
//! nodes hold a place than there are places, whatever the order of their requests. Time is the API
//! server's, so that no node's clock counts.

/// One place as the API server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its number, from 0.
    pub number: u32,
    /// Who holds it.
    pub holder: Option<String>,
    /// When that ends, in seconds since 1970 by the API server's clock.
    pub until: u64,
    /// The object's `resourceVersion`.
    pub version: String,
}

/// What a node should do to get a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Make this place, which nobody has made yet.
    Create(u32),
    /// Take this place on the condition that it still has this version.
    Take {
        /// The place.
        number: u32,
        /// Its version.
        version: String,
    },
    /// Wait: all places are held.
    Full {
        /// How many are held.
        held: u32,
    },
}

/// How many nodes of `nodes` may restart their units at once when it is `share` percent of them: at
/// least one, or no node of a small cluster ever might.
pub fn places(nodes: u64, share: u32) -> u32 {
    let places = nodes.saturating_mul(share.min(100).into()) / 100;
    u32::try_from(places.max(1)).unwrap_or(u32::MAX)
}

/// What `node` should do to get one of `places` places when they look like `slots` at `now`, in seconds
/// since 1970 by the API server's clock. `start` is where it begins to search, so that a fleet does not
/// run for the same place.
pub fn claim(node: &str, places: u32, slots: &[Slot], now: u64, start: u64) -> Claim {
    let is_mine = |slot: &&Slot| slot.holder.as_deref() == Some(node) && slot.number < places;
    if let Some(mine) = slots.iter().find(is_mine) {
        return Claim::Take {
            number: mine.number,
            version: mine.version.clone(),
        };
    }
    let held = |slot: &&Slot| slot.holder.is_some() && slot.until > now;
    // Places beyond the budget, from when the fleet was larger, count for as long as they are held.
    let count = slots.iter().filter(held).count();
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    if count >= places {
        return Claim::Full { held: count };
    }
    let first = u32::try_from(start.checked_rem(places.into()).unwrap_or(0)).unwrap_or(0);
    for number in (first..places).chain(0..first) {
        match slots.iter().find(|slot| slot.number == number) {
            None => return Claim::Create(number),
            Some(slot) if !held(&slot) => {
                return Claim::Take {
                    number,
                    version: slot.version.clone(),
                };
            }
            Some(_) => {}
        }
    }
    Claim::Full { held: count }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn slot(number: u32, holder: &str, until: u64) -> Slot {
        Slot {
            number,
            holder: (!holder.is_empty()).then(|| holder.to_owned()),
            until,
            version: format!("v{number}"),
        }
    }

    fn take(number: u32) -> Claim {
        Claim::Take {
            number,
            version: format!("v{number}"),
        }
    }

    #[test]
    fn a_share_is_at_least_one_node_and_at_most_all() {
        assert_eq!(places(0, 10), 1);
        assert_eq!(places(9, 10), 1);
        assert_eq!(places(5000, 10), 500);
        assert_eq!(places(10, 0), 1);
        assert_eq!(places(10, 400), 10);
    }

    #[test]
    fn a_place_is_made_taken_over_kept_or_refused() {
        assert_eq!(claim("a", 3, &[], 100, 5), Claim::Create(2));
        let held = [slot(2, "b", 101)];
        assert_eq!(claim("a", 3, &held, 100, 5), Claim::Create(0));
        assert_eq!(
            claim("a", 1, &[slot(0, "b", 101)], 100, 5),
            Claim::Full { held: 1 }
        );
        assert_eq!(claim("a", 1, &[slot(0, "b", 100)], 100, 5), take(0));
        assert_eq!(claim("a", 1, &[slot(0, "", 500)], 100, 5), take(0));
        assert_eq!(claim("b", 3, &held, 100, 0), take(2));
        // The fleet shrank: what is held beyond counts.
        assert_eq!(
            claim("a", 1, &[slot(7, "b", 101)], 100, 0),
            Claim::Full { held: 1 }
        );
    }

    /// A store with the API server's rule: what changed since it was read is not changed.
    #[derive(Default)]
    struct Store {
        slots: BTreeMap<u32, Slot>,
        version: u64,
    }

    impl Store {
        fn write(&mut self, node: &str, claim: &Claim, until: u64) -> bool {
            let (number, fits) = match claim {
                Claim::Create(number) => (*number, !self.slots.contains_key(number)),
                Claim::Take { number, version } => {
                    let slot = self.slots.get(number);
                    (*number, slot.is_some_and(|slot| slot.version == *version))
                }
                Claim::Full { .. } => return false,
            };
            if fits {
                self.version += 1;
                let slot = Slot {
                    number,
                    holder: Some(node.to_owned()),
                    until,
                    version: self.version.to_string(),
                };
                self.slots.insert(number, slot);
            }
            fits
        }
    }

    proptest! {
        /// S9: in whatever order nodes read and write, never more hold a place than there are, and none
        /// acts on a place that it has not got.
        #[test]
        fn s9_no_order_of_requests_gives_out_more_places_than_there_are(
            steps in prop::collection::vec((0usize..12, 0u64..40, any::<bool>()), 1..300),
            count in 1u32..5,
        ) {
            let mut store = Store::default();
            let mut read: Vec<Option<Claim>> = vec![None; 12];
            let mut now = 1000;
            for (node, pause, writes) in steps {
                now += pause / 8;
                let name = format!("node{node}");
                if writes && let Some(claim) = read[node].take() {
                    store.write(&name, &claim, now + 60);
                } else {
                    let slots: Vec<Slot> = store.slots.values().cloned().collect();
                    read[node] = Some(claim(&name, count, &slots, now, node as u64));
                }
                let holders = store.slots.values().filter(|slot| slot.until > now);
                prop_assert!(holders.count() <= count as usize);
            }
        }
    }
}
