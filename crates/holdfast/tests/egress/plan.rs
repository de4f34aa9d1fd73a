//! Rows in, answers out: the cases of the model through the binary, in both formats.

use serde_json::{Map, Value};

use crate::command::holdfast;

const ROWS: &str = include_str!("../../../holdfast-core/src/egress/cases/rows.csv");
const REPORTS: &str = include_str!("../../../holdfast-core/src/egress/cases/reports.csv");
const ANSWER: [&str; 8] = [
    "case_id",
    "path_now",
    "out_now",
    "path_after",
    "out_after",
    "lost",
    "decision",
    "reason",
];

/// The rows as objects.
fn objects(text: &str) -> Vec<Map<String, Value>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// What an answer would be if it said just what the row expects.
fn expected(row: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    ANSWER
        .into_iter()
        .filter_map(|column| Some((column, row.get(column)?.clone())))
        .collect()
}

fn compare(rows: &str, answers: &[Map<String, Value>]) {
    let rows = objects(rows);
    assert_eq!(rows.len(), answers.len());
    for (row, answer) in rows.iter().zip(answers) {
        assert!(answer.keys().all(|key| ANSWER.contains(&key.as_str())));
        assert_eq!(answer.len(), ANSWER.len());
        for (column, value) in expected(row) {
            assert_eq!(answer[column], value, "{} {column}", row["case_id"]);
        }
    }
}

/// The fields of an object, as they stand there.
fn in_order(line: &str) -> Vec<&str> {
    let fields = line.trim_matches(['{', '}']).split(',');
    fields
        .map(|field| field.split(':').next().unwrap().trim_matches('"'))
        .collect()
}

#[test]
fn all_cases_are_answered_in_csv() {
    for rows in [ROWS, REPORTS] {
        let done = holdfast(&["plan", "egress"], rows);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        assert_eq!(done.out.lines().next().unwrap(), ANSWER.join(","));
        compare(rows, &objects(&done.out));
    }
}

#[test]
fn all_cases_are_answered_in_json_lines() {
    for rows in [ROWS, REPORTS] {
        let lines: Vec<_> = objects(rows)
            .iter()
            .map(|row| serde_json::to_string(row).unwrap())
            .collect();
        let done = holdfast(&["plan", "egress", "-i", "json"], &lines.join("\n"));
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        assert_eq!(
            in_order(done.out.lines().next().unwrap()),
            ANSWER,
            "{}",
            done.out
        );
        let answers: Vec<_> = done
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        compare(rows, &answers);
    }
}

#[test]
fn columns_may_come_in_any_order_with_others_among_them() {
    let turned: Vec<_> = REPORTS
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(","))
        .collect();
    let done = holdfast(&["plan", "egress"], &turned.join("\n"));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert_eq!(done.out, holdfast(&["plan", "egress"], REPORTS).out);
}

#[test]
fn a_bad_value_is_one_error_and_no_answer_before_it_is_lost() {
    let mut lines: Vec<_> = ROWS.lines().map(str::to_owned).collect();
    lines[40] = lines[40].replacen(",nic,", ",nci,", 1);
    let done = holdfast(&["plan", "egress"], &lines.join("\n"));
    assert_eq!(done.code, Some(2));
    assert_eq!(
        done.err,
        "error: line 41, column pub1: found \"nci\", accepted: none, nic, ip\n"
    );
    let whole = holdfast(&["plan", "egress"], ROWS).out;
    assert_eq!(
        done.out.lines().collect::<Vec<_>>(),
        whole.lines().take(40).collect::<Vec<_>>()
    );
}

#[test]
fn whatever_is_wrong_with_the_input_is_named() {
    let row = objects(ROWS).swap_remove(0);
    let without = |column: &str| {
        let mut row = row.clone();
        row.remove(column);
        serde_json::to_string(&row).unwrap()
    };
    let header = ROWS.lines().next().unwrap();
    for (format, input, wanted) in [
        (
            "csv",
            "case_id,op\n".to_owned(),
            "line 1: no column op_target",
        ),
        ("csv", String::new(), "line 1: no column case_id"),
        (
            "csv",
            format!("{header}\nD1,remove,pub1\n"),
            "line 2, column node: found the end of the line after 3 columns",
        ),
        ("json", without("vm_kind"), "line 1: no field vm_kind"),
        ("json", without("case_id"), "line 1: no field case_id"),
        ("json", "\n[1]\n".to_owned(), "line 2: "),
        (
            "json",
            "{\"op\": 1}".to_owned(),
            "line 1, column op: found 1, accepted: a string",
        ),
    ] {
        let done = holdfast(&["plan", "egress", "-i", format], &input);
        assert_eq!(done.code, Some(2), "{input}");
        assert!(done.err.contains(wanted), "{wanted}: {}", done.err);
        assert_eq!(done.err.matches("error:").count(), 1, "{}", done.err);
    }
}
