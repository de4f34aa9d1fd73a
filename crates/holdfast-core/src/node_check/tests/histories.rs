//! Random histories: whatever the API, the kernel and systemd say, the limits hold.

use super::*;

#[derive(Clone, Debug)]
enum Spell {
    Reply(Reply),
    Life(Life),
    ShutsDown(bool),
    Blind(bool),
    Sever(Result<u32, String>),
    Place(Result<u32, (Reason, String)>),
}

fn spell() -> impl Strategy<Value = Spell> {
    let why = || "no".to_owned();
    let reply = prop_oneof![
        4 => Just(node(Ready::Unknown)),
        2 => Just(node(Ready::False)),
        2 => Just(node(Ready::True)),
        1 => Just(Reply::Missing),
        1 => Just(Reply::Unauthorized),
        1 => Just(Reply::Unreachable { why: why() }),
    ];
    let life = prop_oneof![
        3 => Just(Life::Running),
        1 => Just(Life::Stopped),
        1 => Just(Life::Starting),
    ];
    let sever = prop_oneof![Just(Ok(0)), Just(Ok(3)), Just(Err(why()))];
    let place = prop_oneof![
        2 => Just(Ok(0)),
        1 => Just(Err((Reason::FleetBudget, why()))),
    ];
    prop_oneof![
        5 => reply.prop_map(Spell::Reply),
        1 => life.prop_map(Spell::Life),
        1 => any::<bool>().prop_map(Spell::ShutsDown),
        1 => any::<bool>().prop_map(Spell::Blind),
        1 => sever.prop_map(Spell::Sever),
        1 => place.prop_map(Spell::Place),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// S4, S5, S8, S9: restarts keep their hold-down and limit, come only while the node is known to be
    /// unready, the kubelet runs and the machine stays up, and only with a place in the budget.
    #[test]
    fn s4_s5_s8_s9_restarts_stay_within_their_limits(
        spells in prop::collection::vec((spell(), 1u64..300), 1..60),
    ) {
        let mut world = World::new(settings());
        for (spell, seconds) in spells {
            match spell {
                Spell::Reply(reply) => world.reply = reply,
                Spell::Life(life) => world.life = life,
                Spell::ShutsDown(shuts) => world.shutting_down = shuts,
                Spell::Blind(blind) => world.blind = blind.then(|| "no bus".to_owned()),
                Spell::Sever(sever) => world.sever = sever,
                Spell::Place(place) => world.place = place,
            }
            for _ in 0..seconds {
                let before = (world.restarted.len(), world.severed.len());
                world.run(1);
                if world.restarted.len() > before.0 {
                    prop_assert_eq!(world.life, Life::Running);
                    prop_assert!(!world.shutting_down && world.blind.is_none());
                    prop_assert!(world.place.is_ok());
                }
                if (world.restarted.len(), world.severed.len()) != before {
                    let unready = matches!(
                        world.reply,
                        Reply::Node { ready: Ready::Unknown | Ready::False, .. }
                    );
                    prop_assert!(unready);
                }
                prop_assert!((0..=1).contains(&world.places), "{}", world.places);
            }
        }
        for unit in [KUBELET, PROXY] {
            let restarted = world.restarted.iter().filter(|(_, name)| name == unit);
            let times: Vec<u64> = restarted.map(|(now, _)| *now).collect();
            prop_assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 600), "{times:?}");
            prop_assert!(times.windows(4).all(|w| w[3] - w[0] >= 3600), "{times:?}");
        }
        for start in &world.severed {
            let hour = world.severed.iter().filter(|s| (start.0..start.0 + 3600).contains(&s.0));
            prop_assert!(hour.count() <= 2 * (3 + 12));
        }
    }
}
