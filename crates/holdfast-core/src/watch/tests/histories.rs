//! Random histories: whatever the name, the kernel and systemd do, the limits hold.

use proptest::prelude::{
    Just, ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as Generator;

use super::*;

/// One stretch of time.
#[derive(Clone, Debug)]
enum Spell {
    Names(Vec<u8>),
    Fails,
    Empty,
    Connects(u8),
    Life(Life),
    CannotSever(bool),
    Blind(bool),
}

fn spell() -> impl Generator<Value = Spell> {
    let life = prop_oneof![
        4 => Just(Life::Running),
        1 => Just(Life::Stopped),
        1 => Just(Life::Starting),
        1 => Just(Life::StartLimitHit),
    ];
    prop_oneof![
        4 => prop::collection::vec(1u8..6, 1..4).prop_map(Spell::Names),
        1 => Just(Spell::Fails),
        1 => Just(Spell::Empty),
        3 => (1u8..6).prop_map(Spell::Connects),
        1 => life.prop_map(Spell::Life),
        1 => any::<bool>().prop_map(Spell::CannotSever),
        1 => any::<bool>().prop_map(Spell::Blind),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// S4, S5, S8: no unit is restarted twice in a hold-down, nor more often than the limit, nor unless
    /// it runs; and none that is on an address that stands.
    #[test]
    fn s4_s5_s8_restarts_stay_within_their_limits(
        spells in prop::collection::vec((spell(), 1u64..400), 1..40),
        severs in any::<bool>(),
    ) {
        let strategy = if severs { SEVER } else { RESTART };
        let own = settings(strategy, Some(Cure::Systemctl));
        let mut world = World::new(own, |_| failed()).with(KUBELET, 1);
        let mut lives = vec![(0, Life::Running)];
        for (spell, seconds) in spells {
            match spell {
                Spell::Names(names) => world.answer = Box::new(move |_| addresses(&names, 5)),
                Spell::Fails => world.answer = Box::new(|_| failed()),
                Spell::Empty => world.answer = Box::new(|_| Answer::NoRecords { lifetime: None }),
                Spell::Connects(last) => {
                    world.connected.insert(KUBELET, BTreeSet::from([last]));
                    world.home = last;
                }
                Spell::Life(life) => {
                    world.life = life;
                    lives.push((world.now, life));
                }
                Spell::CannotSever(true) => world.sever = Err("EPERM".to_owned()),
                Spell::CannotSever(false) => world.sever = Ok(()),
                Spell::Blind(blind) => world.blind = blind.then(|| "EACCES".to_owned()),
            }
            world.run(seconds);
        }
        let times: Vec<u64> = world.restarted.iter().map(|(now, ..)| *now).collect();
        for pair in times.windows(2) {
            prop_assert!(pair[1] - pair[0] >= 600, "{times:?}");
        }
        for window in times.windows(4) {
            prop_assert!(window[3] - window[0] >= 3600, "{times:?}");
        }
        for now in times {
            // What is told at the end of one second holds from the next.
            let life = lives.iter().rev().find(|(since, _)| *since < now);
            prop_assert_eq!(life.map(|(_, life)| *life), Some(Life::Running));
        }
        let severed: Vec<u64> = world.severed.iter().map(|(now, _)| *now).collect();
        for start in &severed {
            let hour = severed.iter().filter(|now| (*start..start + 3600).contains(*now));
            prop_assert!(hour.count() <= 3 + 12, "{severed:?}");
        }
    }

    /// A wake too many changes nothing.
    #[test]
    fn extra_wakes_change_nothing(wakes in prop::collection::vec(0u64..200, 0..50)) {
        let run = |extra: &[u64]| {
            let own = settings(SEVER, None);
            let mut world = World::new(own, moves).with(KUBELET, 1);
            for _ in 0..200 {
                world.run(1);
                if extra.contains(&world.now) {
                    world.watch.wake(at(world.now));
                    world.settle();
                }
            }
            (world.severed, world.told)
        };
        prop_assert_eq!(run(&wakes), run(&[]));
    }
}
