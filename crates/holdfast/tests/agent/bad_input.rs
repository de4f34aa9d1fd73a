//! Wrong arguments and configuration, and addresses that are taken: one clear error each, with where
//! it is, what was found and what is accepted.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use rcgen::{CertificateParams, KeyPair};
use tempfile::TempDir;

use crate::stage::{Agent, Cluster, Done, NAME, free_port, holdfast, loopback, run};

/// A place for configuration files, with a CA that is one.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        holdfast_lab::certificates::Certificates::make(folder.path(), NAME, &[]).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    fn ca(&self) -> String {
        self.path("ca.crt").display().to_string()
    }

    /// Runs an agent that must not start, and tells its complaint with the folder's name left out.
    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let Done {
            code: found,
            out,
            err,
        } = run(holdfast().arg("agent").args(arguments));
        assert_eq!(found, Some(code), "{arguments:?}: {err}");
        assert_eq!(out, "", "errors belong to standard error");
        err.replace(&self.0.path().display().to_string(), "DIR")
    }

    /// The same for a configuration file.
    fn refused_file(&self, text: &str) -> String {
        let file = self.write("holdfast.yaml", text);
        self.refused(2, &["--config", &file])
    }

    /// The same for flags beside an endpoint and a CA that are right.
    fn refused_flags(&self, code: i32, flags: &[&str]) -> String {
        let ca = self.ca();
        let least = ["--endpoint", "https://api.example.com:6443", "--ca", &ca];
        self.refused(code, &[&least, flags].concat())
    }
}

#[test]
fn an_unknown_field_is_shown_with_file_line_and_what_is_accepted() {
    let desk = Desk::new();
    let error = desk.refused_file(
        "endpoint: https://api.example.com:6443\nca: ca.crt\nprobe:\n  intervall: 1s\n",
    );
    assert!(error.starts_with("error: DIR/holdfast.yaml: "), "{error}");
    assert!(error.contains("line 4"), "{error}");
    assert!(error.contains("intervall"), "{error}");
    assert!(
        error.contains("interval") && error.contains("patience"),
        "{error}"
    );
    insta::assert_snapshot!("unknown_field", error);
}

#[test]
fn a_time_without_its_unit_or_with_a_wrong_one_is_shown_where_it_stands() {
    let desk = Desk::new();
    let least = "endpoint: https://api.example.com:6443\nca: ca.crt\n";
    for (text, found) in [("500", "500"), ("10 parsecs", "10 parsecs")] {
        let error = desk.refused_file(&format!("{least}probe:\n  interval: {text}\n"));
        assert!(error.contains("DIR/holdfast.yaml"), "{error}");
        assert!(error.contains("line 4"), "{found}: {error}");
        assert!(error.contains("DIR/holdfast.yaml:4:13"), "{error}");
        assert!(error.contains("interval: "), "{error}");
        let told = format!("found \"{found}\"; accepted: a time like 500ms, 5s or 10m");
        assert!(error.contains(&told), "{error}");
    }
    for text in ["500", "10parsecs", "-5s"] {
        let error = desk.refused_flags(2, &[&format!("--probe-interval={text}")]);
        assert!(
            error.contains("--probe-interval")
                && error.contains(text)
                && error.contains("accepted: a time like 500ms"),
            "{error}"
        );
    }
    let error = desk.refused_flags(2, &["--probe-interval=1ms"]);
    assert_eq!(
        error,
        "error: --probe-interval: found 1ms; accepted: 100ms to 1m\n"
    );
}

#[test]
fn a_file_that_is_no_yaml_or_not_there_is_named() {
    let desk = Desk::new();
    let error = desk.refused_file("endpoint: [\n");
    assert!(error.starts_with("error: DIR/holdfast.yaml: "), "{error}");
    let error = desk.refused(2, &["--config", "/nowhere/holdfast.yaml"]);
    assert!(
        error.starts_with("error: read /nowhere/holdfast.yaml: No such file"),
        "{error}"
    );
}

#[test]
fn nothing_at_all_says_what_is_needed_and_where_it_may_stand() {
    let desk = Desk::new();
    assert_eq!(
        desk.refused(2, &[]),
        "error: --endpoint (or endpoint in --config FILE): found nothing; accepted: \
         https://NAME:PORT or https://ADDRESS:PORT, for example https://api.example.com:6443\n"
    );
    let error = desk.refused(2, &["--endpoint=https://api.example.com:6443"]);
    assert!(
        error.starts_with("error: --ca (or ca in --config FILE): found nothing; accepted: "),
        "{error}"
    );
}

#[test]
fn an_endpoint_without_port_or_with_another_scheme_is_refused_where_it_was_given() {
    let desk = Desk::new();
    let ca = desk.ca();
    let cases = [
        ("https://api.example.com", "no port"),
        ("https://10.0.0.1", "no port"),
        ("http://api.example.com:6443", "scheme http"),
        ("api.example.com:6443", "no scheme"),
    ];
    for (endpoint, what) in cases {
        let by_flag = desk.refused(2, &["--ca", &ca, "--endpoint", endpoint]);
        let by_file = desk.refused_file(&format!("endpoint: {endpoint}\nca: {ca}\n"));
        assert!(
            by_flag.starts_with(&format!("error: --endpoint: found {endpoint:?}, ")),
            "{by_flag}"
        );
        assert!(
            by_file.starts_with(&format!(
                "error: DIR/holdfast.yaml: endpoint: found {endpoint:?}, "
            )),
            "{by_file}"
        );
        for error in [by_flag, by_file] {
            assert!(error.contains(what), "{error}");
            assert!(error.contains("accepted: https://NAME:PORT"), "{error}");
        }
    }
}

#[test]
fn a_ca_file_that_holds_no_ca_is_named_with_what_was_found() {
    let desk = Desk::new();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
    let leaf = leaf.self_signed(&key).unwrap().pem();
    let cases = [
        ("", "no certificate"),
        ("hello\n", "no certificate"),
        (&leaf, "a certificate that is no CA's"),
    ];
    for (text, found) in cases {
        let ca = desk.write("other.crt", text);
        let error = desk.refused(2, &["--endpoint=https://api.example.com:6443", "--ca", &ca]);
        assert_eq!(
            error,
            format!(
                "error: ca: found {found} in DIR/other.crt; accepted: PEM certificates of the \
                 cluster's CA (-----BEGIN CERTIFICATE-----)\n"
            )
        );
    }
    let error = desk.refused(
        2,
        &[
            "--endpoint=https://api.example.com:6443",
            "--ca=/nowhere.crt",
        ],
    );
    assert!(error.starts_with("error: read /nowhere.crt: "), "{error}");
}

#[test]
fn case_26_an_address_that_is_taken_is_named_with_the_process_that_has_it() {
    let desk = Desk::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = (taken.local_addr().unwrap(), taken);
    let me = std::process::id();
    let address = taken.0.to_string();
    let error = desk.refused_flags(3, &["--listen", &address, "--admin", "127.0.0.1:0"]);
    assert!(
        error.contains(&format!(
            "error: listen on {address}: Address already in use"
        )),
        "{error}"
    );
    assert!(
        error.contains(&format!("taken by process {me} (")),
        "{error}"
    );
    assert!(
        error.contains(&format!(
            "hint: stop process {me}, or choose another address with --listen"
        )),
        "{error}"
    );
}

#[test]
fn case_33_an_admin_address_that_is_taken_is_named_and_the_proxy_serves_without_it() {
    let cluster = Cluster::start(1);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let admin = taken.local_addr().unwrap();
    let mut arguments = cluster.with_seeds();
    arguments.retain(|a| !a.starts_with("--admin"));
    arguments.push(format!("--admin={admin}"));
    let mut agent = Agent::start(&arguments);
    let said = agent.says(|line| line["reason"] == "address-taken");
    let evidence = said["evidence"].as_str().unwrap();
    let me = std::process::id();
    assert!(
        evidence.contains(&admin.to_string())
            && evidence.contains(&format!("taken by process {me} (")),
        "{evidence}"
    );
    assert_eq!(cluster.connect(&agent).server(), "cp1");
    // As soon as it is free it is taken.
    drop(taken);
    agent.says(|line| line["message"] == "admin port is there");
    let status = agent.until("it answers", |status| status.ready);
    assert!(status.actions.iter().any(|a| a.evidence == evidence));
}

#[test]
fn an_upstream_that_is_the_agent_itself_is_refused() {
    let desk = Desk::new();
    let ca = desk.ca();
    let error = desk.refused(2, &["--ca", &ca, "--endpoint=https://127.0.0.1:6445"]);
    assert!(
        error.contains("--endpoint: found https://127.0.0.1:6445, this agent's own listener")
            && error.contains("accepted: the API servers' own endpoint"),
        "{error}"
    );
    // Linux connects 0.0.0.0 to the local host.
    for seed in [
        "127.0.0.1:6445",
        "127.0.0.9:6445",
        "0.0.0.0:6445",
        "[::1]:6445",
    ] {
        let error = desk.refused_flags(2, &["--seed", seed]);
        assert!(
            error.starts_with(&format!(
                "error: --seed: found {seed}, this agent's own listener; accepted: ADDRESS:PORT"
            )),
            "{error}"
        );
    }
}

#[test]
fn listeners_beyond_loopback_are_refused() {
    let desk = Desk::new();
    for (flag, address) in [
        ("--listen", "0.0.0.0:6445"),
        ("--listen", "[::]:6445"),
        ("--listen", "10.0.0.1:6445"),
        ("--admin", "0.0.0.0:6446"),
    ] {
        let error = desk.refused_flags(2, &[flag, address]);
        let expected = format!("error: {flag}: found {address}; accepted: ");
        let accepted = error.strip_prefix(&expected);
        assert!(accepted.is_some_and(|a| a.contains("loopback")), "{error}");
    }
}

#[test]
fn an_unknown_flag_or_word_is_shown_with_a_way_to_the_help() {
    let desk = Desk::new();
    let error = desk.refused_flags(2, &["--probe-intervall=1s"]);
    assert!(
        error.contains("--probe-intervall") && error.contains("--probe-interval"),
        "{error}"
    );
    assert!(error.contains("--help"), "{error}");
    let error = desk.refused_flags(2, &["--log-level=loud"]);
    assert!(
        error.contains("\"loud\"; accepted: error, warn, info, debug"),
        "{error}"
    );
}

#[test]
fn status_without_an_agent_says_where_it_looked() {
    let nobody = loopback(1, free_port());
    let shown = run(holdfast().args(["status", "--admin", &nobody.to_string()]));
    assert_eq!(shown.code, Some(3));
    assert_eq!(
        shown.err,
        format!(
            "error: ask the agent at {nobody}\n  caused by: Connection refused (os error 111)\n\n\
             hint: is the agent running, with its admin address {nobody}?\n"
        )
    );
    assert_eq!(shown.out, "");
}

#[test]
fn status_that_reaches_somebody_else_says_what_answered() {
    let cluster = Cluster::start(1);
    let admin = cluster.servers[0].listen.to_string();
    let shown = run(holdfast().args(["status", "--admin", &admin]));
    assert_eq!(shown.code, Some(3));
    assert!(
        shown.err.starts_with("error: ") && shown.err.contains(&admin),
        "{}",
        shown.err
    );
    assert!(
        shown.err.contains("hint: is the agent running"),
        "{}",
        shown.err
    );
}

#[test]
fn a_flag_wins_over_the_environment_and_the_environment_over_the_file() {
    let desk = Desk::new();
    let file = desk.write(
        "holdfast.yaml",
        &format!(
            "endpoint: https://192.0.2.1:6443\nca: {}\nnodeName: from-file\n\
             listen: [\"127.0.0.1:0\"]\nadmin: 127.0.0.1:0\nlog: {{format: json}}\n",
            desk.ca()
        ),
    );
    let node = |environment: Option<&str>, flag: Option<&str>| {
        let mut command = holdfast();
        command.args(["agent", "--config", &file]);
        command.envs(environment.map(|name| ("HOLDFAST_NODE_NAME", name)));
        command.args(flag.map(|name| format!("--node-name={name}")));
        Agent::launch(&mut command).status().node
    };
    assert_eq!(node(None, None), "from-file");
    assert_eq!(node(Some("from-env"), None), "from-env");
    assert_eq!(node(Some("from-env"), Some("from-flag")), "from-flag");
    assert_eq!(node(None, Some("from-flag")), "from-flag");
}

#[test]
fn the_whole_configuration_may_come_from_the_environment() {
    let desk = Desk::new();
    let seeds: [SocketAddr; 2] = [loopback(2, 1), loopback(3, 1)];
    let mut command = holdfast();
    command.arg("agent").envs([
        ("HOLDFAST_ENDPOINT", "https://192.0.2.1:6443"),
        ("HOLDFAST_CA", &desk.ca()),
        ("HOLDFAST_LISTEN", "127.0.0.1:0,127.0.0.2:0"),
        ("HOLDFAST_ADMIN", "127.0.0.1:0"),
        ("HOLDFAST_SEEDS", &format!("{},{}", seeds[0], seeds[1])),
        ("HOLDFAST_LOG_FORMAT", "json"),
    ]);
    let agent = Agent::launch(&mut command);
    assert_eq!(agent.listeners.len(), 2);
    let status = agent.status();
    for seed in seeds {
        assert!(status.upstreams.iter().any(|u| u.address == seed));
    }
}
