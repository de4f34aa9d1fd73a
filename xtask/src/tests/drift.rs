use std::fs;

use crate::files::{Difference, differences, generated, repository, write};

#[test]
fn the_repository_has_what_is_generated() {
    let found = differences(&repository(), &generated().unwrap()).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|one| format!("{one}; mended by `{}`", one.mend()))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_is_written_once_is_not_written_again() {
    let root = tempfile::tempdir().unwrap();
    let files = generated().unwrap();
    assert_eq!(write(root.path(), &files).unwrap().len(), files.len());
    assert!(write(root.path(), &files).unwrap().is_empty());
    assert_eq!(differences(root.path(), &files).unwrap(), []);
}

#[test]
fn each_difference_is_found() {
    let root = tempfile::tempdir().unwrap();
    let files = generated().unwrap();
    write(root.path(), &files).unwrap();
    fs::write(root.path().join("docs/reference/cli.md"), "by hand").unwrap();
    fs::remove_file(root.path().join("docs/man/holdfast.1")).unwrap();
    fs::write(root.path().join("docs/man/holdfast-old.1"), "").unwrap();
    let found = differences(root.path(), &files).unwrap();
    assert_eq!(
        found,
        [
            Difference::Missing("docs/man/holdfast.1".to_owned()),
            Difference::Changed("docs/reference/cli.md".to_owned()),
            Difference::Stray("docs/man/holdfast-old.1".to_owned()),
        ]
    );
    let mends: Vec<_> = found.iter().map(Difference::mend).collect();
    assert_eq!(
        mends,
        [
            "cargo xtask generate",
            "cargo xtask generate",
            "rm docs/man/holdfast-old.1"
        ]
    );
}
