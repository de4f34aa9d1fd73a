//! `holdfast check` on clusters that are well, and on each thing that can be wrong.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use holdfast_core::checkup::{Checkup, Finding, Grade, Subject};
use holdfast_lab::certificates::Certificates;
use rustix::process::Signal;

use crate::stage::{Cluster, Done, NAME, free_port, holdfast, loopback, run, skipped};

/// What `holdfast check -o json` says, with its exit code.
fn checked(arguments: &[String]) -> (Checkup, Option<i32>) {
    let Done { code, out, err } = run(holdfast().args(["check", "-o", "json"]).args(arguments));
    assert_eq!(err, "", "{out}");
    let checkup: Checkup = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(i32::from(!checkup.passed)), "{out}");
    (checkup, code)
}

fn of(checkup: &Checkup, subject: Subject) -> Vec<&Finding> {
    let all = checkup.findings.iter();
    all.filter(|finding| finding.subject == subject).collect()
}

fn one(checkup: &Checkup, subject: Subject) -> &Finding {
    let found = of(checkup, subject);
    assert_eq!(found.len(), 1, "{checkup:#?}");
    found[0]
}

/// The same arguments with more, which replace what was there of the same flag.
fn with(arguments: Vec<String>, more: &[&str]) -> Vec<String> {
    let flag = |argument: &str| argument.split('=').next().map(str::to_owned);
    let kept = arguments
        .into_iter()
        .filter(|old| !more.iter().any(|new| flag(new) == flag(old)));
    kept.chain(more.iter().map(ToString::to_string)).collect()
}

fn named_cluster(servers: u8) -> Cluster {
    let mut cluster = Cluster::start(servers);
    let list: Vec<_> = (1..=servers)
        .map(|n| loopback(1 + n, 0).ip().to_string())
        .collect();
    cluster
        .dns
        .order(&format!("set {NAME} ttl=5s A {}", list.join(" ")));
    cluster
}

#[test]
fn a_cluster_that_is_well_has_nothing_to_mend() {
    let cluster = named_cluster(2);
    let (checkup, code) = checked(&cluster.basics());
    assert_eq!(code, Some(0), "{checkup:#?}");
    assert!(
        checkup.findings.iter().all(|f| f.verdict == Grade::Ok),
        "{checkup:#?}"
    );
    assert_eq!(of(&checkup, Subject::Address).len(), 2);
    let name = one(&checkup, Subject::Name);
    assert!(
        name.evidence.contains("A 127.0.0.2 127.0.0.3 for 5 s"),
        "{name:?}"
    );
    let ca = one(&checkup, Subject::Ca);
    assert!(
        ca.evidence.contains("1 of 1 certificates valid today"),
        "{ca:?}"
    );
    let table = run(holdfast().arg("check").args(cluster.basics()));
    assert_eq!(table.code, Some(0));
    for word in [
        "VERDICT",
        "server-name",
        "= ",
        "until the next probe",
        "nothing to mend",
    ] {
        assert!(table.out.contains(word), "{word}: {}", table.out);
    }
    assert!(!table.out.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn what_a_guard_needs_is_looked_at_where_there_is_to_be_one() {
    let cluster = named_cluster(1);
    let (checkup, _) = checked(&cluster.basics());
    assert_eq!(of(&checkup, Subject::Guard), [] as [&Finding; 0]);
    let guarded = with(
        cluster.basics(),
        &["--guard-unit=hf-absent.service", "--guard-fallback=none"],
    );
    let (checkup, code) = checked(&guarded);
    let rows = of(&checkup, Subject::Guard);
    let can_abort = rows[0].verdict == Grade::Ok;
    assert_eq!(code, Some(i32::from(!can_abort)), "{checkup:#?}");
    assert!(
        can_abort || rows[0].evidence.contains("CAP_NET_ADMIN"),
        "{rows:?}"
    );
    // Or why units can't be told apart here.
    let unit = rows[1];
    assert!(
        unit.verdict == Grade::Fail && unit.evidence.contains("cgroup")
            || unit.verdict == Grade::Warn && unit.what.as_deref() == Some("hf-absent.service"),
        "{unit:?}"
    );
    // With less than nothing: an ordinary user has no capability at all.
    if rustix::process::getuid().is_root() {
        let fallback = with(
            cluster.basics(),
            &["--guard-everyone", "--guard-fallback=systemctl"],
        );
        let less = [
            "--bounding-set=-all",
            "--inh-caps=-all",
            "--no-new-privs",
            "--",
        ];
        let done = run(Command::new("setpriv")
            .args(less)
            .arg(env!("CARGO_BIN_EXE_holdfast"))
            .args(["check", "-o", "json"])
            .args(fallback));
        let checkup: Checkup = serde_json::from_str(&done.out).unwrap();
        let rows = of(&checkup, Subject::Guard);
        assert_eq!(rows[0].verdict, Grade::Warn, "{rows:?}");
        assert!(rows[0].evidence.contains("CAP_NET_ADMIN"), "{rows:?}");
        assert!(rows[0].evidence.contains("restarted instead"), "{rows:?}");
    }
}

#[test]
fn an_invalid_configuration_is_a_finding_with_the_agents_own_words() {
    let (checkup, code) = checked(&["--endpoint=http://x:1".to_owned()]);
    assert_eq!(code, Some(1));
    let finding = one(&checkup, Subject::Configuration);
    assert_eq!(finding.verdict, Grade::Fail);
    assert!(
        finding
            .evidence
            .contains("--endpoint: found \"http://x:1\", scheme http")
    );
    assert_eq!(checkup.findings.len(), 1);
}

#[test]
fn one_server_that_is_down_is_worth_knowing_and_all_of_them_must_be_mended() {
    let mut cluster = named_cluster(2);
    cluster.server("cp1").process.signal(Signal::KILL);
    let (checkup, code) = checked(&cluster.basics());
    assert_eq!(code, Some(0), "{checkup:#?}");
    let grades: Vec<_> = of(&checkup, Subject::Address)
        .iter()
        .map(|f| f.verdict)
        .collect();
    assert_eq!(grades, [Grade::Warn, Grade::Ok]);
    // One that hangs accepts and says nothing.
    cluster.server("cp2").process.signal(Signal::STOP);
    let (checkup, code) = checked(&cluster.basics());
    assert_eq!(code, Some(1));
    let addresses = of(&checkup, Subject::Address);
    assert!(
        addresses.iter().all(|f| f.verdict == Grade::Fail),
        "{addresses:?}"
    );
    assert!(addresses[0].evidence.contains("refused"), "{addresses:?}");
    assert!(addresses[1].evidence.contains("it hangs"), "{addresses:?}");
    cluster.server("cp2").process.signal(Signal::CONT);
}

#[test]
fn a_server_that_is_not_ready_is_told() {
    let mut cluster = named_cluster(1);
    cluster.server("cp1").order("not-ready");
    let (checkup, _) = checked(&cluster.basics());
    let address = one(&checkup, Subject::Address);
    assert_eq!(address.verdict, Grade::Warn);
    assert!(
        address.evidence.contains("/readyz says 500: not ready"),
        "{address:?}"
    );
}

#[test]
fn a_certificate_for_other_names_is_told_with_its_names() {
    let cluster = named_cluster(1);
    let arguments = with(cluster.basics(), &["--server-name=other.lab.test"]);
    let (checkup, code) = checked(&arguments);
    assert_eq!(code, Some(1));
    let name = one(&checkup, Subject::ServerName);
    assert_eq!(name.verdict, Grade::Fail);
    for expected in [NAME, "kubernetes", "127.0.0.1"] {
        assert!(name.evidence.contains(expected), "{name:?}");
    }
}

#[test]
fn another_clusters_ca_and_a_ca_that_is_over_are_told_apart() {
    let cluster = named_cluster(1);
    let other = cluster.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = Certificates::make(&other, NAME, &[]).unwrap().ca;
    let (checkup, code) = checked(&with(
        cluster.basics(),
        &[&format!("--ca={}", other.display())],
    ));
    assert_eq!(code, Some(1));
    assert_eq!(one(&checkup, Subject::Ca).verdict, Grade::Ok);
    let address = one(&checkup, Subject::Address);
    assert_eq!(address.verdict, Grade::Fail);
    assert!(
        address.evidence.contains("not signed by this CA"),
        "{address:?}"
    );

    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(2010, 1, 1);
    params.not_after = rcgen::date_time_ymd(2020, 6, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    let over = cluster.folder.path().join("over.crt");
    fs::write(&over, params.self_signed(&key).unwrap().pem()).unwrap();
    let (checkup, code) = checked(&with(
        cluster.basics(),
        &[&format!("--ca={}", over.display())],
    ));
    assert_eq!(code, Some(1));
    let ca = one(&checkup, Subject::Ca);
    assert_eq!(ca.verdict, Grade::Fail);
    assert!(ca.evidence.contains("2020-06-01"), "{ca:?}");

    let (checkup, _) = checked(&with(cluster.basics(), &["--ca=/nowhere.crt"]));
    let ca = one(&checkup, Subject::Ca);
    assert!(
        ca.evidence.contains("/nowhere.crt") && ca.verdict == Grade::Fail,
        "{ca:?}"
    );
}

#[test]
fn case_33_ports_that_are_taken_are_told_with_who_has_them() {
    let cluster = named_cluster(1);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (checkup, code) = checked(&with(cluster.basics(), &[&format!("--admin={address}")]));
    assert_eq!(code, Some(1));
    let listeners = of(&checkup, Subject::Listener);
    assert_eq!(listeners.len(), 2);
    let me = std::process::id();
    assert!(
        listeners[1]
            .evidence
            .contains(&format!("taken by process {me} ("))
    );
    assert_eq!(listeners[1].what.as_deref(), Some(address.as_str()));

    // The agent itself may hold them.
    let agent = cluster.agent();
    let listen = format!("--listen={}", agent.listen);
    let admin = format!("--admin={}", agent.admin);
    let (checkup, code) = checked(&with(cluster.basics(), &[&listen, &admin]));
    assert_eq!(code, Some(0), "{checkup:#?}");
    let agent = format!("held by process {} (holdfast)", agent.process.id());
    for listener in of(&checkup, Subject::Listener) {
        assert!(listener.evidence.contains(&agent), "{listener:?}");
    }
}

#[test]
fn an_endpoint_that_leads_back_here_is_a_loop() {
    let mut cluster = Cluster::start(1);
    cluster
        .dns
        .order(&format!("set {NAME} ttl=5s A 127.0.0.1 127.0.0.2"));
    let listen = format!("--listen=127.0.0.1:{}", cluster.port);
    let (checkup, code) = checked(&with(cluster.basics(), &[&listen]));
    assert_eq!(code, Some(1));
    let found = one(&checkup, Subject::Loop);
    assert_eq!(found.verdict, Grade::Fail);
    assert!(
        found
            .evidence
            .contains(&format!("127.0.0.1:{}", cluster.port)),
        "{found:?}"
    );
}

#[test]
fn a_name_that_does_not_resolve_is_fatal_without_seeds_and_worth_knowing_with_them() {
    let cluster = Cluster::start(1);
    let (checkup, code) = checked(&cluster.basics());
    assert_eq!(code, Some(1));
    let name = one(&checkup, Subject::Name);
    assert_eq!(name.verdict, Grade::Fail, "{name:?}");
    assert_eq!(of(&checkup, Subject::Address), [] as [&Finding; 0]);
    let (checkup, code) = checked(&cluster.with_seeds());
    assert_eq!(code, Some(0), "{checkup:#?}");
    assert_eq!(one(&checkup, Subject::Name).verdict, Grade::Warn);
    assert_eq!(one(&checkup, Subject::Address).verdict, Grade::Ok);
}

#[test]
fn case_13_a_budget_above_the_grace_period_fails_with_its_explanation() {
    let cluster = named_cluster(1);
    let slow = with(cluster.basics(), &["--probe-interval=12s"]);
    let (checkup, code) = checked(&slow);
    assert_eq!(code, Some(1));
    let budget = one(&checkup, Subject::Budget);
    assert_eq!(budget.verdict, Grade::Fail);
    assert!(
        budget.evidence.contains("NotReady after 40 s"),
        "{budget:?}"
    );
    assert!(budget.evidence.contains("probe.interval"), "{budget:?}");
    assert!(
        budget
            .advice
            .as_deref()
            .unwrap()
            .contains("--node-monitor-grace-period")
    );
    let (checkup, code) = checked(&with(slow, &["--node-monitor-grace-period=50s"]));
    assert_eq!(code, Some(0), "{checkup:#?}");
    assert!(checkup.budget.unwrap().within);
}

#[test]
fn few_descriptors_are_told() {
    let cluster = named_cluster(1);
    for (limit, grade) in [(200, Grade::Fail), (1024, Grade::Warn)] {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("ulimit -n {limit} && exec \"$@\""))
            .arg("sh");
        command
            .arg(env!("CARGO_BIN_EXE_holdfast"))
            .args(["check", "-o", "json"]);
        let done = run(command.args(cluster.basics()));
        let checkup: Checkup = serde_json::from_str(&done.out).expect(&done.err);
        let found = one(&checkup, Subject::Descriptors);
        assert_eq!(found.verdict, grade, "{found:?}");
        assert!(found.evidence.starts_with(&limit.to_string()), "{found:?}");
    }
}

#[test]
fn a_pin_in_the_hosts_file_is_found() {
    let cluster = named_cluster(1);
    let hosts = cluster.folder.path().join("hosts");
    fs::write(&hosts, format!("127.0.0.1 localhost\n10.0.0.9 {NAME}\n")).unwrap();
    // In a mount namespace of its own, the file is another one for this process alone.
    let script = format!("mount --bind {} /etc/hosts && exec \"$@\"", hosts.display());
    let inside = |program: &str, arguments: &[String]| {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            &script,
            "sh",
            program,
        ]);
        run(command.args(arguments))
    };
    let possible = inside("true", &[]);
    if possible.code != Some(0) {
        return skipped(&format!("no mount namespaces here: {}", possible.err));
    }
    let arguments = [
        vec!["check".to_owned(), "-o".to_owned(), "json".to_owned()],
        cluster.basics(),
    ];
    let done = inside(env!("CARGO_BIN_EXE_holdfast"), &arguments.concat());
    let checkup: Checkup = serde_json::from_str(&done.out).expect(&done.err);
    let pin = one(&checkup, Subject::Hosts);
    assert_eq!(pin.verdict, Grade::Warn);
    assert!(pin.evidence.contains("10.0.0.9 in line 2"), "{pin:?}");
}

#[test]
fn kubeconfigs_are_read_for_where_they_go_and_whom_they_expect() {
    let cluster = named_cluster(1);
    let listener = loopback(1, free_port());
    let look = |server: &str, more: &str| {
        let path = cluster.folder.path().join("kubeconfig");
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters:\n- name: c\n  cluster:\n    server: {server}\n{more}users: []\n"
        );
        fs::write(&path, text).unwrap();
        let kubeconfig = format!("--client-kubeconfig={}", path.display());
        let listen = format!("--listen={listener}");
        let (checkup, _) = checked(&with(cluster.basics(), &[&kubeconfig, &listen]));
        one(&checkup, Subject::Kubeconfig).clone()
    };
    let local = format!("https://{listener}");
    let name = format!("    tls-server-name: {NAME}\n");
    let cases = [
        (
            local.as_str(),
            name.as_str(),
            Grade::Ok,
            "goes through this agent",
        ),
        // The servers' certificate has this address as well.
        (&local, "", Grade::Ok, "expects 127.0.0.1"),
        (
            &local,
            "    tls-server-name: kubernetes\n",
            Grade::Ok,
            "expects kubernetes",
        ),
        (
            &local,
            "    tls-server-name: x.test\n",
            Grade::Fail,
            "not in the certificate",
        ),
        (
            &local,
            "    insecure-skip-tls-verify: true\n",
            Grade::Warn,
            "verifies nobody",
        ),
        (
            "https://api.lab.test:6443",
            "",
            Grade::Warn,
            "not through this agent",
        ),
        ("nonsense", "", Grade::Fail, "no scheme"),
    ];
    for (server, more, grade, evidence) in cases {
        let found = look(server, more);
        assert_eq!(found.verdict, grade, "{found:?}");
        assert!(found.evidence.contains(evidence), "{found:?}");
    }
}
