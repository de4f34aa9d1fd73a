//! Each way in which a kubeconfig is unusable has one error: file, field, found, accepted.

use super::*;

fn read(path: &std::path::Path) -> String {
    let error = Access::read(path).err().expect("can't be used").to_string();
    assert!(!error.contains(SECRET), "a secret: {error}");
    let shown = path.display().to_string();
    error.replace(&shown, "FILE")
}

#[test]
fn each_wrong_field_is_named_with_what_was_found_and_what_is_accepted() {
    let folder = Folder::new();
    let ca = BASE64.encode(folder.authority.pem());
    let leaf = BASE64.encode(folder.authority.leaf_pem());
    let clients = Authority::new("clients");
    let (cert, _) = client_pem(&clients, "node-1");
    let (_, other_key) = client_pem(&clients, "node-2");
    let (cert, other_key) = (BASE64.encode(cert), BASE64.encode(other_key));
    let good_cluster = format!("server: https://10.0.0.1:6443\ncertificate-authority-data: {ca}");
    let good_user = format!("token: {SECRET}");
    let secret64 = BASE64.encode(SECRET);

    let clusters = [
        (
            format!("certificate-authority-data: {ca}"),
            "server: found nothing; accepted: https://",
        ),
        (
            "server: http://10.0.0.1:6443".to_owned(),
            "server: found \"http://10.0.0.1:6443\"; accepted: https://",
        ),
        (
            format!("server: https://u:{SECRET}@h:1"),
            "server: found an address with a user; accepted: https://",
        ),
        (
            "server: https://10.0.0.1:6443".to_owned(),
            "certificate-authority: found nothing; accepted: certificate-authority-data",
        ),
        (
            "server: https://h:1\ncertificate-authority-data: '***'".to_owned(),
            "certificate-authority-data: found text that is not base64; accepted: ",
        ),
        (
            format!("server: https://h:1\ncertificate-authority-data: {secret64}"),
            "certificate-authority-data: found no certificate; accepted: ",
        ),
        (
            "server: https://h:1\ncertificate-authority: /nowhere/ca.crt".to_owned(),
            "certificate-authority: found /nowhere/ca.crt, which can't be read (No such file or directory (os error 2)); accepted: ",
        ),
        (
            format!("{good_cluster}\ntls-server-name: 'a b'"),
            "tls-server-name: found \"a b\"; accepted: a DNS name or an address",
        ),
        (
            format!("{good_cluster}\ninsecure-skip-tls-verify: true"),
            "insecure-skip-tls-verify: found true; accepted: false",
        ),
        (
            format!("{good_cluster}\nproxy-url: http://u:{SECRET}@p:1"),
            "proxy-url: found an address; accepted: nothing",
        ),
    ];
    for (cluster, expected) in clusters {
        let said = read(&folder.kubeconfig_of(&cluster, &good_user));
        assert!(
            said.starts_with(&format!("FILE: clusters[k].cluster.{expected}")),
            "{said}"
        );
    }

    let key_data = |key: &str| format!("client-certificate-data: {cert}\nclient-key-data: {key}");
    let users = [
        ("{}".to_owned(), ": found no credential; accepted: client-certificate(-data)"),
        ("token: 'a b'".to_owned(), ".token: found more than one word; accepted: a bearer token"),
        ("tokenFile: /nowhere/token".to_owned(), ".tokenFile: found /nowhere/token, which can't be read"),
        (format!("client-certificate-data: {cert}"), ".client-key: found nothing beside client-certificate; accepted: "),
        (format!("client-key-data: {other_key}"), ".client-certificate: found nothing beside client-key; accepted: "),
        (key_data(&secret64), ".client-key-data: found no private key; accepted: a private key as PEM"),
        (key_data(&leaf), ".client-key-data: found no private key; accepted: a private key as PEM"),
        (key_data(&other_key), ".client-key-data: found the key of another certificate; accepted: the private key of"),
        (format!("username: u\npassword: {SECRET}"), ".username: found a value; accepted: client-certificate(-data)"),
        ("auth-provider: {name: gcp}".to_owned(), ".auth-provider: found a value; accepted: client-certificate(-data)"),
        (format!("token: {SECRET}\nas: admin"), ".as: found a value; accepted: client-certificate(-data)"),
        ("exec: {command: x, apiVersion: v7}".to_owned(), ".exec.apiVersion: found \"v7\"; accepted: client.authentication.k8s.io/v1 or"),
        ("exec: {apiVersion: client.authentication.k8s.io/v1}".to_owned(), ".exec.command: found nothing; accepted: a program"),
        ("exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}".to_owned(), ".exec.interactiveMode: found Always; accepted: Never or IfAvailable"),
    ];
    for (user, expected) in users {
        let said = read(&folder.kubeconfig_of(&good_cluster, &user));
        assert!(
            said.starts_with(&format!("FILE: users[u].user{expected}")),
            "{said}"
        );
    }
    assert!(Access::read(&folder.kubeconfig_of(&good_cluster, &good_user)).is_ok());
}

#[test]
fn files_that_are_no_kubeconfigs_are_told_apart_and_their_lines_are_not_shown() {
    let folder = Folder::new();
    let said = read(&folder.path("nowhere"));
    assert!(said.starts_with("read FILE: No such file"), "{said}");
    let texts = [
        (format!("users:\n- name: u\n  user: {{token: {SECRET}\nx"), "FILE: found something else at line "),
        (format!("users: {SECRET}"), "FILE: found something else at line 1, column 8; accepted: a kubeconfig"),
        (String::new(), "FILE: current-context: found nothing; accepted: the name of a context"),
        ("current-context: c".to_owned(), "FILE: current-context: found \"c\", which is not in contexts; accepted: "),
        ("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]".to_owned(), "FILE: contexts[c].context.cluster: found \"k\", which is not in clusters; "),
        ("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {}}]".to_owned(), "FILE: contexts[c].context.user: found \"u\", which is not in users; "),
    ];
    for (text, expected) in texts {
        let said = read(&folder.write("kubeconfig", &text));
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn addresses_of_ipv6_and_paths_are_understood() {
    let folder = Folder::new();
    let ca = BASE64.encode(folder.authority.pem());
    let cluster =
        format!("server: https://[fd00::1]:6443/k8s/a/\ncertificate-authority-data: {ca}");
    let access = Access::read(&folder.kubeconfig_of(&cluster, "token: t")).unwrap();
    assert_eq!((access.host.as_str(), access.port), ("fd00::1", 6443));
    assert_eq!(access.prefix, "/k8s/a");
}
