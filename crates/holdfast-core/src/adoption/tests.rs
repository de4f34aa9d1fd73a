use super::*;

const BEFORE: &str = "\
# of node 1
current-context: c
clusters:
- name: c
  cluster:
    server: https://api.example.com:6443
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: one}}]
";

/// Not a checksum at all, but different for different texts.
fn sum(text: &str) -> String {
    text.to_owned()
}

fn adopted() -> (String, Record) {
    let before = Kubeconfig::parse(BEFORE).unwrap();
    let after = before.through("127.0.0.1:6445".parse().unwrap());
    let text = before.with(&after).unwrap();
    let record = Record {
        version: Record::VERSION,
        before: before.target(),
        after,
        before_sha256: sum(BEFORE),
        after_sha256: sum(&text),
    };
    (text, record)
}

#[test]
fn an_untouched_file_comes_back_from_its_copy_and_without_it_too() {
    let (text, record) = adopted();
    for backup in [Some(BEFORE), None, Some("something else")] {
        let back = way_back(&text, &record, backup, sum).unwrap();
        assert_eq!(back, Return::Exact(BEFORE.to_owned()), "{backup:?}");
    }
}

#[test]
fn what_somebody_else_changed_is_kept_though_there_is_a_copy() {
    let (text, record) = adopted();
    let text = text.replace("token: one", "token: two");
    let back = way_back(&text, &record, Some(BEFORE), sum).unwrap();
    assert_eq!(
        back,
        Return::Fields(BEFORE.replace("token: one", "token: two"))
    );
}

#[test]
fn what_is_back_already_stays_as_it_is() {
    let (_, record) = adopted();
    assert_eq!(way_back(BEFORE, &record, None, sum), Ok(Return::There));
    let rewritten = BEFORE.replace("token: one", "token: two");
    assert_eq!(way_back(&rewritten, &record, None, sum), Ok(Return::There));
}

#[test]
fn another_server_is_somebody_elses_work() {
    let (text, record) = adopted();
    let text = text.replace("127.0.0.1:6445", "192.0.2.7:6443");
    let error = way_back(&text, &record, Some(BEFORE), sum).unwrap_err();
    assert_eq!(error.field, "clusters[c].cluster.server");
}

#[test]
fn another_expected_name_is_undone_with_the_server() {
    let (text, record) = adopted();
    let text = text.replace(
        "tls-server-name: api.example.com",
        "tls-server-name: kubernetes.x",
    );
    let back = way_back(&text, &record, Some(BEFORE), sum).unwrap();
    assert_eq!(back, Return::Exact(BEFORE.to_owned()));
}

#[test]
fn labels_are_those_of_the_json() {
    for outcome in [
        AdoptionOutcome::Adopted,
        AdoptionOutcome::AlreadyAdopted,
        AdoptionOutcome::WouldAdopt,
        AdoptionOutcome::Released,
        AdoptionOutcome::FieldsReleased,
        AdoptionOutcome::AlreadyReleased,
        AdoptionOutcome::WouldRelease,
    ] {
        let json = serde_json::to_value(outcome).unwrap();
        assert_eq!(json, outcome.as_str());
    }
}
