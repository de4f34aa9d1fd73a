use holdfast_core::reason::Reason;

use super::*;

fn event(t: f64, lane: Lane, what: What, detail: &str) -> Event {
    let line = serde_json::json!({
        "t": t, "lane": lane, "id": 0, "what": what, "server": "cp1", "detail": detail,
    });
    serde_json::from_value(line).unwrap()
}

fn told(teller: &mut Teller, events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| teller.event(event, Some("lb1")))
        .map(|(what, _, _)| what)
        .collect()
}

#[test]
fn tells_the_first_failure_and_the_recovery_but_no_retry() {
    let mut teller = Teller::default();
    let beat = |t, what| event(t, Lane::Heartbeat, what, "put: timed out");
    let story = [
        beat(0.0, What::Ok),
        beat(10.0, What::Ok),
        beat(30.0, What::Failed),
        beat(40.0, What::Failed),
        beat(50.0, What::DialFailed),
        beat(55.0, What::Ok),
        beat(65.0, What::Ok),
    ];
    assert_eq!(
        told(&mut teller, &story),
        ["heartbeat failed", "heartbeat again after 45.0 s"]
    );
}

#[test]
fn says_nothing_about_the_first_connection() {
    let mut teller = Teller::default();
    let first = event(0.0, Lane::Heartbeat, What::Connected, "10.99.1.1:6443");
    assert_eq!(
        told(
            &mut teller,
            &[first.clone(), event(0.1, Lane::Heartbeat, What::Ok, "")]
        ),
        [] as [&str; 0]
    );
    assert_eq!(told(&mut teller, &[first]), ["connected again to lb1"]);
}

#[test]
fn tells_each_grace_period_once_and_again_after_a_heartbeat() {
    let mut teller = Teller::default();
    let beat = |t| event(t, Lane::Heartbeat, What::Ok, "");
    assert!(
        teller.silence(1000.0, 1.0).is_none(),
        "no heartbeat yet, so that none is missing"
    );
    teller.event(&beat(0.0), None);
    assert!(teller.silence(7.9, 5.0).is_none());
    assert!(teller.silence(8.1, 5.0).is_some());
    assert!(teller.silence(8.2, 5.0).is_none());
    assert!(teller.silence(10.1, 5.0).is_some());
    assert!(teller.silence(99.0, 5.0).is_none());
    teller.event(&beat(100.0), None);
    assert!(teller.silence(108.1, 5.0).is_some());
}

#[test]
fn an_agents_action_names_the_part_and_gives_the_evidence() {
    let action = ActionStatus {
        seq: 1,
        at_s: 0.0,
        what: Deed::VerdictChanged,
        upstream: Some("10.99.1.1:6443".parse().unwrap()),
        connection: None,
        verdict: Some(Verdict::Silent),
        reason: Reason::Silent,
        evidence: "two probes unanswered".to_owned(),
        next: String::new(),
    };
    let (what, reason, tone) = deed(&action, Some("lb1"));
    assert_eq!(what, "upstream lb1 is silent");
    assert_eq!(reason, "silent: two probes unanswered");
    assert_eq!(tone, Tone::Plain);
    let (what, _, _) = deed(
        &ActionStatus {
            what: Deed::ConnectionCut,
            ..action
        },
        None,
    );
    assert_eq!(what, "cut the connection to 10.99.1.1:6443");
}

#[test]
fn events_come_out_in_the_order_in_which_they_happened() {
    let event = |what: &str| Live {
        t_s: 0.0,
        node: "direct".to_owned(),
        what: what.to_owned(),
        reason: String::new(),
        tone: Tone::Plain,
    };
    let mut sequence = Sequence::default();
    sequence.hold(10.2, event("reset"));
    sequence.hold(10.1, event("cut"));
    sequence.hold(10.2, event("also reset"));
    assert!(
        sequence.ripe(10.3).is_empty(),
        "something earlier may still be told"
    );
    let told = |events: Vec<Live>| {
        events
            .into_iter()
            .map(|event| event.what)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(sequence.ripe(10.6)), ["cut"]);
    assert_eq!(told(sequence.ripe(f64::INFINITY)), ["reset", "also reset"]);
}
