use super::*;
use crate::fault::{Target, Verb};

const GOOD: &str = "
scenario: good
summary: Something.
world:
  servers: [cp1, cp2, cp3]
  balancers: {lb1: [cp1, cp2, cp3]}
  name: {addresses: [lb1], lifetime: 20s}
client: {idle: 1}
subjects:
  direct: {}
  holdfast: {seeds: [cp1]}
timeline:
  - {at: 0s, verb: drop, target: lb1}
  - {at: 5s, verb: restore, target: faulted}
after: 30s
expect:
  - {subject: direct, metric: worst_gap_s, atMost: 30s, atLeast: 1s}
";

/// The error of the good scenario with one piece of it replaced.
fn error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the scenario");
    match Scenario::parse("some.yaml", &GOOD.replace(from, to)) {
        Ok(scenario) => panic!("{to:?} was accepted: {scenario:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_scenario_for_real_components_is_valid_and_has_goals() {
    for known in REAL {
        let scenario = Scenario::parse(known.name, known.yaml).unwrap();
        assert_eq!(scenario.name, known.name);
        assert!(scenario.real, "{}", known.name);
        assert!(!scenario.expect.is_empty(), "{}", known.name);
        assert!(!scenario.goals.is_empty(), "{}", known.name);
    }
}

#[test]
fn every_built_in_scenario_is_valid_and_named_as_its_file() {
    for known in BUILT_IN {
        let scenario = Scenario::parse(known.name, known.yaml).unwrap();
        assert_eq!(scenario.name, known.name);
        assert!(scenario.summary.ends_with('.'), "{}", scenario.summary);
        assert!(
            (scenario.time_scale - 1.0).abs() < f64::EPSILON,
            "clocks are unscaled by default"
        );
        assert!(!scenario.expect.is_empty());
        let seconds =
            (scenario.before.seconds() + scenario.approach_s() + scenario.after.seconds()).ceil();
        assert!(seconds <= 120.0, "{} takes {seconds} s", known.name);
    }
}

#[test]
fn reads_the_whole_of_a_scenario() {
    let scenario = Scenario::parse("some.yaml", GOOD).unwrap();
    let given = scenario.subjects.get(&Subject::Holdfast).unwrap();
    assert_eq!(given.seeds, ["cp1"]);
    assert_eq!(given.prefers, None);
    assert_eq!(scenario.lanes, [Lane::Heartbeat]);
    assert_eq!(scenario.before, Span::from_secs(12));
    let verbs: Vec<_> = scenario
        .timeline
        .iter()
        .map(|step| step.verb.clone())
        .collect();
    assert_eq!(
        verbs,
        [
            Verb::Drop(Target::Named(vec!["lb1".to_owned()])),
            Verb::Restore(Target::Faulted)
        ]
    );
    assert_eq!(scenario.expect.len(), 2, "a lower and an upper bound");
}

#[test]
fn steps_are_done_in_the_order_of_their_time() {
    let early = "timeline:\n  - {at: -20s, verb: set-name, to: [cp1, lb1], lifetime: 5s}\n";
    let scenario = Scenario::parse(
        "some.yaml",
        &GOOD.replace("after: 30s", "after: 30s\nbefore: 1s"),
    )
    .unwrap();
    assert!(scenario.approach_s().abs() < f64::EPSILON);
    let scenario = Scenario::parse("some.yaml", &GOOD.replace("timeline:\n", early)).unwrap();
    assert!((scenario.approach_s() - 20.0).abs() < f64::EPSILON);
    assert_eq!(
        scenario.timeline.first().map(|step| step.at),
        Some(Span::from_secs(-20))
    );
}

#[test]
fn every_verb_can_be_written() {
    let steps = [
        ("continue", "target: cp1"),
        ("delay", "target: cp1, by: 12s"),
        ("drop", "target: [cp1, lb1]"),
        ("fail-name", "how: servfail"),
        ("feed", ""),
        ("forward", "target: lb1, to: cp2"),
        ("give-away", "target: cp1"),
        ("heal-name", ""),
        ("kill", "target: in-use"),
        ("link-down", "target: cp1"),
        ("link-up", "target: nodes"),
        ("lose", "share: 1"),
        ("not-ready", "target: cp1"),
        ("ready", "target: cp1"),
        ("restore", "target: cp1"),
        ("rotate-name", "show: 2"),
        ("set-name", "to: [cp1, cp2]"),
        ("start", "target: cp1"),
        ("starve", "share: 5"),
        ("stop", "target: etcd-cp1"),
        ("stop-reading", ""),
        ("terminate", "target: cp1"),
    ];
    assert_eq!(steps.map(|(verb, _)| verb), Verb::WORDS);
    for (verb, rest) in steps {
        let step = format!(
            "{{at: 1s, verb: {verb}{}{rest}}}",
            if rest.is_empty() { "" } else { ", " }
        );
        let yaml = GOOD.replace("{at: 5s, verb: restore, target: faulted}", &step);
        let scenario =
            Scenario::parse("some.yaml", &yaml).unwrap_or_else(|error| panic!("{step}: {error}"));
        assert_eq!(
            scenario.timeline.last().map(|step| step.verb.word()),
            Some(verb)
        );
    }
}

#[test]
fn bad_values_are_refused_with_file_field_found_and_accepted() {
    let cases = [
        (
            "scenario: good",
            "scenario: Not Good",
            "scenario: found \"Not Good\", accepted: small letters",
        ),
        (
            "servers: [cp1, cp2, cp3]",
            "servers: []",
            "world.servers: found 0 of them, accepted: 1 to 100",
        ),
        (
            "servers: [cp1,",
            "servers: [cp1, cp1,",
            "world.servers: found \"cp1\", accepted: names used once",
        ),
        (
            "servers: [cp1,",
            "servers: [dns, cp1,",
            "world.servers: found \"dns\", accepted: names used once",
        ),
        (
            "servers: [cp1,",
            "servers: [a-very-long-name, cp1,",
            "accepted: names used once, of up to 14",
        ),
        (
            "lb1: [cp1,",
            "lb1: [cp9,",
            "world.balancers.lb1: found \"cp9\", accepted: cp1, cp2, cp3",
        ),
        (
            "addresses: [lb1]",
            "addresses: []",
            "world.name.addresses: found nothing, accepted: cp1, cp2, cp3, lb1",
        ),
        (
            "direct: {}",
            "envoy: {}",
            "subjects: found \"envoy\", accepted: direct, holdfast, guard, holdfast-guard, haproxy",
        ),
        (
            "direct: {}",
            "direct: {seeds: [cp1]}",
            "subjects.direct.seeds: found cp1, accepted: none",
        ),
        (
            "seeds: [cp1]",
            "seeds: [cp7]",
            "subjects.holdfast.seeds: found \"cp7\"",
        ),
        (
            "verb: drop",
            "verb: explode",
            "timeline[0].verb: found \"explode\", accepted: continue, delay, drop",
        ),
        (
            "target: lb1}",
            "target: lb7}",
            "timeline[0].target: found \"lb7\", accepted: cp1, cp2, cp3, lb1, faulted, in-use",
        ),
        (", target: lb1}", "}", "timeline[0].target: found nothing"),
        (
            "target: lb1}",
            "target: faulted}",
            "timeline[0].target: found faulted, accepted: only after the step at 0s",
        ),
        (
            "target: lb1}",
            "target: [in-use, lb1]}",
            "timeline[0].target: found in-use among others",
        ),
        (
            "target: lb1}",
            "target: lb1, by: 3s}",
            "timeline[0].by: found by with verb drop, accepted: target",
        ),
        (
            "verb: drop, target: lb1",
            "verb: not-ready, target: lb1",
            "timeline[0].target: found \"lb1\", accepted: cp1",
        ),
        (
            "verb: drop, target: lb1",
            "verb: delay, target: cp1",
            "timeline[0].by: found nothing, accepted: a number with its unit",
        ),
        (
            "verb: drop, target: lb1",
            "verb: fail-name, how: sadly",
            "timeline[0].how: found \"sadly\", accepted: servfail",
        ),
        (
            "verb: drop, target: lb1",
            "verb: rotate-name, show: 0",
            "timeline[0].show: found nothing, accepted: 1 or more",
        ),
        (
            "verb: drop, target: lb1",
            "verb: heal-name, show: 1",
            "timeline[0].show: found show with verb heal-name, accepted: no further key",
        ),
        (
            "verb: drop, target: lb1",
            "verb: starve, share: 0",
            "timeline[0].share: found nothing, accepted: a number from 1 to 100",
        ),
        (
            "verb: drop, target: lb1",
            "verb: give-away, target: lb1",
            "timeline[0].target: found \"lb1\", accepted: cp1",
        ),
        (
            "at: 0s",
            "at: 1s",
            "timeline: found no step at 0s, accepted: one step or more at 0s",
        ),
        (
            "at: 5s",
            "at: 31s",
            "timeline[1].at: found 31s, accepted: up to after, 30s",
        ),
        ("after: 30s", "after: -30s", "found"),
        (
            "client: {idle: 1}",
            "client: {fresh: 0s}",
            "client.fresh: found 0s, accepted: a number with its unit",
        ),
        (
            "after: 30s",
            "after: 30s\nlanes: [active]",
            "lanes: found \"active\", accepted: heartbeat; idle or active",
        ),
        (
            "after: 30s",
            "after: 30s\ntimeScale: 0",
            "timeScale: found 0, accepted: a number from 0.1 to 100",
        ),
        (
            "subject: direct",
            "subject: nginx",
            "expect[0].subject: found \"nginx\", accepted: direct, holdfast",
        ),
        (
            "direct: {}",
            "direct: {prefers: lb1}",
            "subjects.direct: found flags or prefers, accepted: neither: they are for holdfast",
        ),
        (
            "seeds: [cp1]",
            "seeds: [cp1], prefers: cp2",
            "subjects.holdfast.prefers: found \"cp2\", accepted: cp1, lb1",
        ),
        (
            "client: {idle: 1}",
            "client: {heartbeats: 0}",
            "client.heartbeats: found 0, accepted: 1 to 100",
        ),
        (
            "after: 30s",
            "after: 30s\ngoals: [{metric: cut_s, atMost: 3}]",
            "goals[0].atMost: found 3, accepted: a number with its unit",
        ),
        (
            "worst_gap_s",
            "best_gap_s",
            "expect[0].metric: found \"best_gap_s\", accepted: active_outage_s, cut_s",
        ),
        (
            "atMost: 30s",
            "atMost: 30",
            "expect[0].atMost: found 30, accepted: a number with its unit",
        ),
        (
            "worst_gap_s, atMost: 30s, atLeast: 1s",
            "reconnects, atMost: 30s",
            "expect[0].atMost: found \"30s\", accepted: a whole number",
        ),
        (
            "worst_gap_s, atMost: 30s, atLeast: 1s",
            "not_ready_40, equals: 1",
            "expect[0].equals: found 1, accepted: true or false",
        ),
        (
            ", atMost: 30s, atLeast: 1s",
            "",
            "expect[0]: found no bound, accepted: atLeast, atMost or equals",
        ),
    ];
    for (from, to, wanted) in cases {
        let error = error(from, to);
        assert!(
            error.starts_with("scenario some.yaml: ") && error.contains(wanted),
            "{to:?}: {error}"
        );
    }
}

#[test]
fn in_use_needs_one_more_server_than_subjects() {
    let yaml = GOOD
        .replace("target: lb1}", "target: in-use}")
        .replace("[cp1, cp2, cp3]", "[cp1, cp2]");
    let error = Scenario::parse("some.yaml", &yaml).unwrap_err().to_string();
    assert!(
        error.contains("world.servers: found 2 servers") && error.contains("at least 3"),
        "{error}"
    );
}

#[test]
fn unknown_keys_and_wrong_units_name_the_place() {
    for (from, to, wanted) in [
        ("client: {idle: 1}", "client: {idel: 1}", "idel"),
        ("after: 30s", "after: 30 minutes", "30 minutes"),
        ("summary: Something.", "summary: [", "line"),
        ("after: 30s", "until: 30s", "until"),
    ] {
        let error = error(from, to);
        assert!(
            error.starts_with("scenario some.yaml: ") && error.contains(wanted),
            "{to:?}: {error}"
        );
    }
}

#[test]
fn more_of_a_bound_than_all_of_it_can_not_shrink() {
    let error = error("atMost: 30s, atLeast: 1s", "atMost: 13s, scaled: 14s");
    assert!(
        error.contains("expect[0].scaled: found 14s")
            && error.contains("a part of atMost, so \"13s\" at most"),
        "{error}"
    );
    let all = GOOD.replace(
        "atMost: 30s, atLeast: 1s",
        "atMost: 13s, atLeast: 1s, scaled: 13s",
    );
    Scenario::parse("some.yaml", &all).unwrap();
}

#[test]
fn a_name_that_is_no_scenario_lists_those_there_are() {
    let error = read("adress-change").unwrap_err().to_string();
    assert!(
        error.contains("adress-change") && error.contains("address-change, address-lost, kill"),
        "{error}"
    );
    let error = read("./nowhere.yaml").unwrap_err().to_string();
    assert_eq!(error, "read scenario ./nowhere.yaml");
}

#[test]
fn what_is_written_can_be_read_again() {
    for known in BUILT_IN {
        let raw: RawScenario = serde_saphyr::from_str(known.yaml).unwrap();
        let json = serde_json::to_string(&raw).unwrap();
        let again: RawScenario = serde_saphyr::from_str(&json).unwrap();
        assert_eq!(again, raw, "{}", known.name);
    }
}

#[test]
fn built_in_scenarios_match_the_published_schema() {
    let schema = serde_json::to_value(schemars::schema_for!(RawScenario)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for known in BUILT_IN {
        let raw: serde_json::Value = serde_saphyr::from_str(known.yaml).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&raw)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{}", known.name);
    }
}

#[test]
fn every_verb_metric_and_key_is_documented() {
    let docs = include_str!("../../../../docs/lab.md");
    let schema = serde_json::to_value(schemars::schema_for!(RawScenario)).unwrap();
    let mut words: Vec<String> = Verb::WORDS.map(str::to_owned).to_vec();
    words.extend(Verb::FAILURES.map(str::to_owned));
    words.extend(Metric::ALL.map(|metric| metric.as_str().to_owned()));
    words.extend(keys(&schema));
    let missing: Vec<_> = words
        .iter()
        .filter(|word| !docs.contains(&format!("`{word}`")))
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Every key of every object in a schema.
fn keys(schema: &serde_json::Value) -> Vec<String> {
    let definitions = schema["$defs"].as_object().unwrap().values();
    std::iter::once(schema)
        .chain(definitions)
        .filter_map(|part| part["properties"].as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect()
}

#[test]
fn the_documented_example_is_a_valid_scenario() {
    let docs = include_str!("../../../../docs/lab.md");
    let (_, rest) = docs.split_once("```yaml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_eq!(
        Scenario::parse("docs/lab.md", example).unwrap().name,
        "my-failover"
    );
}

#[test]
fn a_client_of_the_kubelets_own_parts_does_what_a_kubelet_does_and_no_more() {
    let accepted = GOOD.replace("client: {idle: 1}", "client: {kind: go}");
    let scenario = Scenario::parse("some.yaml", &accepted).unwrap();
    assert_eq!(scenario.client.kind, ClientKind::Go);
    for more in ["idle: 1", "heartbeats: 2", "fresh: 250ms"] {
        let said = error(
            "client: {idle: 1}",
            &format!("client: {{kind: go, {more}}}"),
        );
        assert!(said.contains("client.kind"), "{said}");
    }
    let scaled = accepted.replace("after: 30s", "after: 30s\ntimeScale: 5");
    assert!(Scenario::parse("some.yaml", &scaled).is_err());
}
