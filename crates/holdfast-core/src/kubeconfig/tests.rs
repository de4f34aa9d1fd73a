use std::net::SocketAddr;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const LISTENER: &str = "127.0.0.1:6445";

/// What kubeadm writes for a kubelet whose certificate rotates.
const KUBEADM: &str = "\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTg==
    server: https://api.example.com:6443
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: system:node:worker-1
  name: system:node:worker-1@kubernetes
current-context: system:node:worker-1@kubernetes
kind: Config
preferences: {}
users:
- name: system:node:worker-1
  user:
    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem
    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem
";

const COMMENTED: &str = "\
# kept by hand
current-context: b
clusters:
  - name: a
    cluster: &other
      server: 'https://10.0.0.9:6443'   # the other one
  - name: b  # this one
    cluster:
      # the balancer
      server: \"https://10.0.0.1:6443\"   # moved in May
      certificate-authority: ca.crt
      x-unknown: {b: [1, 2.50, 0x10]}
contexts:
  - {name: a, context: {cluster: a, user: a}}
  - {name: b, context: {cluster: b, user: b, namespace: n}}
users: [{name: a, user: {token: one}}, {name: b, user: {token: two}}]
";

const BRACES: &str = "\
current-context: c
clusters: [{name: c, cluster: {server: https://api.example.com/k8s/c-1, certificate-authority: ca.crt}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {exec: {command: login}}}]
";

const JSON: &str = r#"{"kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "https://[fd00::1]:6443", "certificate-authority-data": "LS0="}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {"token": "t"}}]}"#;

const JSON_LINES: &str = r#"{
  "current-context": "c",
  "clusters": [
    {
      "name": "c",
      "cluster": {
        "server": "https://api.example.com:6443",
        "certificate-authority": "ca.crt"
      }
    }
  ],
  "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]
}
"#;

/// With a name of its own already, and the last line without an end.
const NAMED: &str = "\
current-context: c
contexts:
- name: c
  context: {cluster: c, user: u}
clusters:
- name: c
  cluster:
    tls-server-name: kubernetes
    server: https://192.0.2.1:6443";

const ALL: [&str; 6] = [KUBEADM, COMMENTED, BRACES, JSON, JSON_LINES, NAMED];

fn listener() -> SocketAddr {
    LISTENER.parse().unwrap()
}

fn adopted(text: &str) -> String {
    let before = Kubeconfig::parse(text).unwrap();
    before.with(&before.through(listener())).unwrap()
}

#[test]
fn case_29_every_form_is_changed_in_two_fields_and_back_to_the_byte() {
    for text in ALL {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let before = Kubeconfig::parse(&text).unwrap();
            let changed = adopted(&text);
            let after = Kubeconfig::parse(&changed).unwrap();
            assert!(after.goes_to(listener()), "{changed}");
            assert_eq!(after.expected_name(), before.expected_name(), "{changed}");
            assert_eq!(after.with(&before.target()).unwrap(), text);
        }
    }
}

#[test]
fn a_block_gets_one_line_more_and_keeps_every_other_one() {
    let changed = adopted(KUBEADM);
    let expected = KUBEADM.replace(
        "    server: https://api.example.com:6443\n",
        "    server: https://127.0.0.1:6445\n    tls-server-name: api.example.com\n",
    );
    assert_eq!(changed, expected);
}

#[test]
fn comments_quotes_and_other_clusters_stay() {
    let changed = adopted(COMMENTED);
    let expected = COMMENTED.replace(
        "      server: \"https://10.0.0.1:6443\"   # moved in May\n",
        "      server: \"https://127.0.0.1:6445\"   # moved in May\n      tls-server-name: \"10.0.0.1\"\n",
    );
    assert_eq!(changed, expected);
}

#[test]
fn braces_and_json_get_a_field_behind_a_comma() {
    assert!(adopted(BRACES).contains(
        "{server: https://127.0.0.1:6445/k8s/c-1, \"tls-server-name\": \"api.example.com\", certificate"
    ));
    let json = adopted(JSON);
    assert!(
        json.contains(r#""server": "https://127.0.0.1:6445", "tls-server-name": "fd00::1", "cert"#)
    );
    serde_json::from_str::<Value>(&json).unwrap();
    assert!(adopted(JSON_LINES).contains(
        "\"server\": \"https://127.0.0.1:6445\",\n        \"tls-server-name\": \"api.example.com\",\n"
    ));
}

#[test]
fn an_ipv6_listener_is_quoted_where_brackets_mean_something() {
    let listener: SocketAddr = "[::1]:6445".parse().unwrap();
    for text in ALL {
        let before = Kubeconfig::parse(text).unwrap();
        let changed = before.with(&before.through(listener)).unwrap();
        assert!(
            Kubeconfig::parse(&changed).unwrap().goes_to(listener),
            "{changed}"
        );
    }
}

#[test]
fn a_second_adoption_changes_nothing() {
    for text in ALL {
        let once = adopted(text);
        assert_eq!(adopted(&once), once);
    }
}

#[test]
fn what_can_not_be_changed_alone_is_refused() {
    let shared = "\
current-context: c
contexts: [{name: c, context: {cluster: c}}, {name: d, context: {cluster: d}}]
clusters:
- name: d
  cluster: &it
    server: https://api.example.com:6443
- name: c
  cluster: *it
";
    let before = Kubeconfig::parse(shared).unwrap();
    let error = before.with(&before.through(listener())).unwrap_err();
    assert_eq!(error.field, "clusters[c].cluster");
}

#[test]
fn what_is_wrong_is_named_and_no_secret_is_repeated() {
    let cases = [
        ("", "current-context", "nothing"),
        ("clusters: [", "line", "what does not fit"),
        (
            "users: [{user: {token: s3cret}}]\nusers: 1\n",
            "line 2",
            "what does not fit",
        ),
        (
            "current-context: a\n---\ncurrent-context: s3cret\n",
            "line",
            "a second document",
        ),
        ("clusters: []\n", "current-context", "nothing"),
        (
            "current-context: a\n",
            "current-context",
            "\"a\", which is not in contexts",
        ),
        (
            "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n",
            "contexts[a].context.cluster",
            "\"b\", which is not in clusters",
        ),
        (
            &NAMED.replace("    server: https://192.0.2.1:6443", ""),
            "clusters[c].cluster.server",
            "nothing",
        ),
        (
            &NAMED.replace("https://192", "http://192"),
            "clusters[c].cluster.server",
            "scheme http",
        ),
        (
            &NAMED.replace(":6443", ":0"),
            "clusters[c].cluster.server",
            "port",
        ),
        (
            &NAMED.replace("https://", "https://me:s3cret@"),
            "clusters[c].cluster.server",
            "more than",
        ),
    ];
    for (text, field, found) in cases {
        let error = Kubeconfig::parse(text).unwrap_err();
        assert!(error.field.contains(field), "{text:?}: {error}");
        assert!(error.found.contains(found), "{text:?}: {error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn what_stands_in_the_way_of_verification_is_told() {
    let insecure = NAMED.replace("server:", "insecure-skip-tls-verify: true\n    server:");
    assert!(Kubeconfig::parse(&insecure).unwrap().insecure);
    let proxied = NAMED.replace("server:", "proxy-url: socks5://10.0.0.1:1080\n    server:");
    assert!(Kubeconfig::parse(&proxied).unwrap().proxied);
    assert_eq!(Kubeconfig::parse(NAMED).unwrap().authority, Authority::None);
    assert_eq!(
        Kubeconfig::parse(KUBEADM).unwrap().authority,
        Authority::Data
    );
    let file = Authority::File("ca.crt".to_owned());
    assert_eq!(Kubeconfig::parse(COMMENTED).unwrap().authority, file);
}

#[test]
fn a_server_without_port_has_that_of_https() {
    for (written, host, port, path) in [
        ("https://api.example.com", "api.example.com", 443, ""),
        (
            "https://api.example.com/k8s/c/",
            "api.example.com",
            443,
            "/k8s/c",
        ),
        ("https://[fd00::1]", "fd00::1", 443, ""),
        ("https://[fd00::1]:6443", "fd00::1", 6443, ""),
    ] {
        let (host, path) = (host.to_owned(), path.to_owned());
        assert_eq!(Server::parse(written), Ok(Server { host, port, path }));
    }
}

proptest! {
    /// Whatever the names and the layout: two fields change, the way back is exact.
    #[test]
    fn any_kubeconfig_comes_back_to_the_byte(
        name in "[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\\.[a-z]{2,5})?",
        wanted in "[ -~]{1,20}",
        spaces in 1usize..6,
        comment in "( # [ -~]{0,20})?",
        other in "[ -~]{0,20}",
    ) {
        let pad = " ".repeat(spaces);
        let other = Value::from(other);
        let text = format!(
            "clusters:\n- name: c\n  cluster:\n  {pad}note: {other}\n  {pad}server: \
             https://{name}:6443{comment}\n  {pad}more: {other}\ncurrent-context: c\n\
             contexts: [{{name: c, context: {{cluster: c}}}}]\n"
        );
        let before = Kubeconfig::parse(&text).unwrap();
        let target = Target {
            server: format!("https://{LISTENER}"),
            tls_server_name: Some(wanted),
        };
        let changed = before.with(&target).unwrap();
        let after = Kubeconfig::parse(&changed).unwrap();
        prop_assert_eq!(after.target(), target);
        prop_assert_eq!(after.with(&before.target()).unwrap(), text);
    }

    /// Whatever stands in a file: an answer, never a panic.
    #[test]
    fn no_text_is_too_odd(text in "[ -~\n]{0,200}", cut in 0usize..500) {
        drop(Kubeconfig::parse(&text));
        let half: String = KUBEADM.chars().take(cut).collect();
        drop(Kubeconfig::parse(&half).map(|k| k.with(&k.through(listener()))));
    }
}
