//! How exposed the shipped units are, in the words of `systemd-analyze security`.

use crate::guest::Guest;

/// What is shipped, and may be 2.0 at most.
const UNITS: [(&str, &str); 4] = [
    (
        "holdfast-agent.service",
        include_str!("../../../../deploy/systemd/holdfast-agent.service"),
    ),
    (
        "holdfast-guard.service",
        include_str!("../../../../deploy/systemd/holdfast-guard.service"),
    ),
    (
        "holdfast-node-check.service",
        include_str!("../../../../deploy/systemd/holdfast-node-check.service"),
    ),
    (
        "holdfast-watch.service",
        include_str!("../../../../deploy/systemd/holdfast-watch.service"),
    ),
];

#[test]
fn shipped_units_are_exposed_by_2_0_at_most() {
    let units = UNITS.map(|(name, text)| (format!("-{name}"), text));
    let units: Vec<_> = units
        .iter()
        .map(|(name, text)| (name.as_str(), *text))
        .collect();
    let Some(guest) = Guest::boot(&units) else {
        return;
    };
    for (name, _) in UNITS {
        let verified = guest.run("systemd-analyze", &["verify", name]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        // In tenths: 20 is 2.0 (systemd-analyze(1), `--threshold`).
        let analysed = guest.run(
            "systemd-analyze",
            &["security", "--no-pager", "--threshold=20", name],
        );
        assert_eq!(analysed.code, Some(0), "{}", analysed.out);
    }
}
