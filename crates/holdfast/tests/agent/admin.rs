//! What people and their monitoring see of an agent: `holdfast status` and the four admin paths.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::status::{Source, Status, Verdict};
use holdfast_node::metrics::REFERENCE;
use rustix::process::Signal;
use serde_json::Value;

use crate::client::{End, fate_of_a_client, plain_get};
use crate::stage::{Agent, Cluster, NAME};

/// Times, ports and the width of columns differ from run to run.
fn repeatable() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r":\d{4,5}\b", ":PORT");
    settings.add_filter(r"\b\d+(\.\d+)?m?s\b", "TIME");
    settings.add_filter(r"version \S+", "version VERSION");
    settings.add_filter(r" {2,}", "  ");
    settings
}

#[test]
fn status_shows_sources_upstreams_and_the_latest_actions_as_a_table() {
    let mut cluster = Cluster::start(1);
    let address = cluster.servers[0].listen;
    let record = format!("set {NAME} ttl=30s A {}", address.ip());
    cluster.dns.order(&record);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    client.server();
    agent.until("both sources have answered", |status| {
        let answered = |source: Source| {
            let mut sources = status.sources.iter();
            sources.any(|s| s.source == source && s.next_s.is_some())
        };
        status.connections == 1 && answered(Source::DnsA) && answered(Source::DnsAaaa)
    });
    let shown = agent.shown(&[]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    repeatable().bind(|| insta::assert_snapshot!("status", shown.out));

    let few = agent.shown(&["--actions", "1"]);
    assert!(few.out.contains("verdict-changed ready"), "{}", few.out);
    assert!(!few.out.contains("upstream-added"), "{}", few.out);
}

#[test]
fn status_as_json_is_valid_under_the_published_schema() {
    let mut cluster = Cluster::start(2);
    let agent = cluster.agent();
    let mut client = cluster.connect(&agent);
    let name = client.server();
    let lost = cluster.server(&name).listen;
    cluster.server(&name).process.signal(Signal::STOP);
    client.end();
    agent.verdict(lost, Verdict::Silent);

    let shown = agent.shown(&["-o", "json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let json: Value = serde_json::from_str(&shown.out).unwrap();
    let schema = schemars::schema_for!(Status);
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&json)
        .map(|e| e.to_string())
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    // It would notice.
    let mut wrong = json.clone();
    wrong["upstreams"][0]["verdict"] = "splendid".into();
    assert!(!validator.is_valid(&wrong));

    let status: Status = serde_json::from_value(json).unwrap();
    assert_eq!(status.node, "node1");
    assert_eq!(status.endpoint, format!("https://{NAME}:{}", cluster.port));
    assert_eq!(status.listeners, [agent.listen]);
    let verdicts: BTreeSet<_> = status.upstreams.iter().map(|u| u.verdict).collect();
    assert_eq!(verdicts, BTreeSet::from([Verdict::Ready, Verdict::Silent]));
    let counted: Vec<_> = status.actions.iter().map(|a| a.seq).collect();
    let expected: Vec<_> = (1..=status.actions.len() as u64).collect();
    assert_eq!(counted, expected);
}

#[test]
fn the_admin_paths_tell_a_live_agent_from_one_that_can_serve() {
    let mut cluster = Cluster::start(1);
    let agent = Agent::start(&cluster.basics());
    let ask = |path| plain_get(agent.admin, path).unwrap();
    assert_eq!(ask("/livez"), (200, "ok\n".to_owned()));
    let (code, body) = ask("/readyz");
    assert_eq!(code, 503);
    assert!(body.contains("no usable upstream"), "{body}");
    assert!(!agent.status().ready);
    assert!(ask("/metrics").1.contains("holdfast_ready 0"));
    assert_eq!(ask("/").0, 404);

    let ip = cluster.servers[0].listen.ip();
    cluster.dns.order(&format!("set {NAME} ttl=1s A {ip}"));
    let agent = agent;
    agent.until("ready", |status| status.ready);
    let ask = |path| plain_get(agent.admin, path).unwrap();
    assert_eq!(ask("/livez"), (200, "ok\n".to_owned()));
    assert_eq!(ask("/readyz"), (200, "ok\n".to_owned()));
    assert!(ask("/metrics").1.contains("holdfast_ready 1"));
}

/// Each sample's name with its labels, but for their values.
fn samples(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, _) = line.rsplit_once(' ').unwrap();
            let (name, labels) = name.split_once('{').unwrap_or((name, ""));
            let labels = labels.trim_end_matches('}').split(',');
            let keys = labels.filter_map(|label| Some(label.split_once('=')?.0));
            (name.to_owned(), keys.collect::<Vec<_>>().join(", "))
        })
        .collect()
}

#[test]
fn every_metric_of_the_reference_is_served_with_its_kind_and_labels_and_no_other() {
    let mut cluster = Cluster::start(2);
    let ips: Vec<_> = cluster
        .servers
        .iter()
        .map(|s| s.listen.ip().to_string())
        .collect();
    cluster
        .dns
        .order(&format!("set {NAME} ttl=1s A {}", ips.join(" ")));
    let file = cluster.folder.path().join("holdfast.yaml");
    std::fs::write(&file, "fleet:\n  nodes: 3\n").unwrap();
    let agent = cluster.agent_with(&[format!("--config={}", file.display())]);
    // Some traffic, a cut, and then a client that nobody serves.
    let mut client = cluster.connect(&agent);
    let name = client.server();
    cluster.server(&name).process.signal(Signal::STOP);
    client.end();
    for server in &cluster.servers {
        server.process.signal(Signal::KILL);
    }
    agent.until("nobody is left", |status| !status.ready);
    assert_eq!(fate_of_a_client(agent.listen), End::Reset);
    agent.until("the connections are over", |status| {
        status.connections == 0 && status.sources.iter().any(|s| s.age_s.is_some())
    });

    let (code, text) = plain_get(agent.admin, "/metrics").unwrap();
    assert_eq!(code, 200);
    assert!(text.ends_with("# EOF\n"), "{text}");
    let documented: BTreeMap<_, _> = REFERENCE
        .iter()
        .map(|(name, _, labels, _)| ((*name).to_owned(), (*labels).to_owned()))
        .collect();
    assert_eq!(samples(&text), documented);
    for (name, kind, _, meaning) in REFERENCE {
        // OpenMetrics 1.0 names a counter without its suffix where it tells the kind.
        let family = name.strip_suffix("_total").unwrap_or(name);
        assert!(
            text.contains(&format!("# TYPE {family} {kind}\n")),
            "{family}: {text}"
        );
        assert!(text.contains(&format!("# HELP {family} ")), "{family}");
        assert!(!meaning.is_empty());
    }

    let value = |sample: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(sample));
        line.unwrap_or_else(|| panic!("{sample}: {text}"))
            .trim()
            .parse()
            .unwrap()
    };
    assert_eq!(value("holdfast_connections_accepted_total"), 2);
    assert_eq!(value("holdfast_connections_ended_total{by=\"cut\"}"), 1);
    assert_eq!(value("holdfast_connections_ended_total{by=\"refusal\"}"), 1);
    assert!(value("holdfast_dial_failures_total{kind=\"refused\"}") > 0);
    assert!(value("holdfast_bytes_total{direction=\"to-client\"}") > 0);
    assert!(value("holdfast_bytes_total{direction=\"to-upstream\"}") > 0);
    assert_eq!(
        value("holdfast_actions_total{what=\"connection-cut\",reason=\"hung\"}"),
        1
    );
}
