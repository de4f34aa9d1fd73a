use proptest::prelude::*;

use super::*;

fn upstream(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 6443))
}

proptest! {
    #[test]
    fn what_stands_on_an_upstream_is_what_was_put_there_last(
        steps in prop::collection::vec((0u64..20, prop::option::of(0u8..4)), 0..200)
    ) {
        let mut ledger = Ledger::default();
        let mut model = BTreeMap::new();
        for (id, step) in steps {
            if let Some(n) = step {
                ledger.insert(id, Connection::new(upstream(n), None));
                model.insert(id, upstream(n));
            } else {
                ledger.remove(id);
                model.remove(&id);
            }
            ledger.check();
            prop_assert_eq!(ledger.len(), model.len());
            for at in (0..4).map(upstream) {
                let here: Vec<_> = ledger.on(at).map(|(id, _)| id).collect();
                let there: Vec<_> = model.iter().filter(|(_, on)| **on == at).map(|(id, _)| *id).collect();
                prop_assert_eq!(ledger.count_on(at), there.len());
                prop_assert_eq!(here, there);
            }
            let used: BTreeSet<_> = model.values().copied().collect();
            prop_assert_eq!(ledger.upstreams().collect::<BTreeSet<_>>(), used);
        }
    }
}
