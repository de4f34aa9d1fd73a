use super::{ComponentError, Components, Program};

#[test]
fn a_folder_must_have_every_program() {
    let folder = tempfile::tempdir().unwrap();
    let [first, rest @ ..] = Program::ALL;
    for program in rest {
        std::fs::write(folder.path().join(program.file()), "").unwrap();
    }
    let Err(ComponentError::Missing { program, .. }) = Components::find(Some(folder.path())) else {
        panic!("found {} in a folder without it", first.file());
    };
    assert_eq!(program, first.file());
    std::fs::write(folder.path().join(first.file()), "").unwrap();
    assert!(Components::find(Some(folder.path())).is_ok());
}

#[test]
fn versions_compare_as_numbers() {
    assert!(super::version("v1.37.10") > super::version("v1.37.9"));
    assert_eq!(super::version("module-v1.34.4"), None);
}
