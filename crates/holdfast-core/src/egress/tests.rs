//! The cases: topologies worked out by hand from the documents, and those of public reports.

use std::collections::BTreeMap;

use super::case::{COLUMNS, Case, Row};
use super::facts::Exclusion;
use super::operation::Operation;
use super::provider::{Version, deed};

/// One row per distinct case: inputs, expected outputs, and what cloud-provider-azure does.
const ROWS: &str = include_str!("cases/rows.csv");
/// One row per public report, with the report's name.
const REPORTS: &str = include_str!("cases/reports.csv");

type Columns = BTreeMap<&'static str, &'static str>;

fn table(text: &'static str) -> Vec<Columns> {
    let mut lines = text.lines().map(|line| line.split(','));
    let header: Vec<_> = lines.next().unwrap().collect();
    lines
        .map(|line| header.iter().copied().zip(line).collect())
        .collect()
}

fn row(columns: &Columns) -> Row<'static> {
    COLUMNS.map(|column| columns[column])
}

fn case(columns: &Columns) -> Case {
    Case::read(&row(columns)).unwrap_or_else(|error| panic!("{}: {error}", columns["case_id"]))
}

/// The differences between an answer and what the row expects of it.
fn differences(columns: &Columns) -> Vec<String> {
    let answer = case(columns).answer();
    [
        ("path_now", answer.before.path.as_str()),
        ("out_now", answer.before.protocols.as_str()),
        ("path_after", answer.after.path.as_str()),
        ("out_after", answer.after.protocols.as_str()),
        ("lost", answer.lost.as_str()),
        ("decision", answer.verdict.as_str()),
        ("reason", answer.reason.as_str()),
    ]
    .into_iter()
    .filter_map(|(column, found)| {
        let expected = columns.get(column)?;
        (*expected != found)
            .then(|| format!("{} {column}: {found}, not {expected}", columns["case_id"]))
    })
    .collect()
}

#[test]
fn every_case_has_its_path_its_verdict_and_its_reason() {
    let rows = table(ROWS);
    assert_eq!(rows.len(), 70);
    let wrong: Vec<_> = rows.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_public_report_gets_the_behaviour_that_it_asks_for() {
    let reports = table(REPORTS);
    assert_eq!(reports.len(), 26);
    let wrong: Vec<_> = reports.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_provider_does_in_each_case_what_its_source_says() {
    for columns in table(ROWS) {
        let case = case(&columns);
        for (version, column) in [
            (Version::BeforeReadinessFix, "cpa_pre_fix"),
            (Version::Current, "cpa_head"),
        ] {
            let found = if let Operation::Remove(pool) = case.operation {
                deed(version, pool, &case.facts, case.node, case.role).as_str()
            } else {
                "n/a"
            };
            assert_eq!(found, columns[column], "{} {column}", columns["case_id"]);
        }
    }
}

#[test]
fn a_bad_word_is_named_with_its_column_and_what_is_accepted() {
    let good = row(&table(ROWS)[0]);
    for (column, bad, accepted) in [
        ("op", "delete", "remove, add_int"),
        ("op_target", "nic", "pub1, pub2, int"),
        ("node", "", "present, deleted"),
        ("managed", "yes", "true, false"),
        ("pub1_rules", "snat_tcp+snat", "-, or joined by +: ob_all"),
        ("pub2_rules", "", "ob_all"),
        ("family", "V4", "v4, v6"),
        ("last_member", "maybe", "yes, no"),
    ] {
        let at = COLUMNS.iter().position(|one| *one == column).unwrap();
        let mut row = good;
        row[at] = bad;
        let error = Case::read(&row).unwrap_err();
        assert_eq!((error.column, error.found.as_str()), (column, bad));
        assert!(error.accepted.starts_with(accepted) || error.accepted.contains(accepted));
    }
}

#[test]
fn every_column_is_read() {
    let good = row(&table(ROWS)[0]);
    for (at, column) in COLUMNS.iter().enumerate() {
        let mut row = good;
        row[at] = "nonsense";
        // Any value of the label excludes.
        let excluding = *column == "exclude_label";
        match Case::read(&row) {
            Ok(case) => assert!(excluding && case.node.exclusion == Exclusion::Excluded),
            Err(error) => assert_eq!(error.column, *column),
        }
    }
}

#[test]
fn the_exclude_label_is_read_as_go_reads_a_bool() {
    for (label, expected) in [
        (None, Exclusion::Absent),
        (Some("false"), Exclusion::Included),
        (Some("F"), Exclusion::Included),
        (Some("0"), Exclusion::Included),
        (Some("true"), Exclusion::Excluded),
        (Some(""), Exclusion::Excluded),
        (Some("fAlse"), Exclusion::Excluded),
    ] {
        assert_eq!(Exclusion::of(label), expected, "{label:?}");
    }
}
