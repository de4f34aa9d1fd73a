use std::os::unix::fs::symlink;

use rustix::fs::setxattr;
use rustix::process::geteuid;
use tempfile::TempDir;

use super::*;

fn folder_with(text: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn names(folder: &TempDir) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

#[test]
fn content_changes_and_owner_mode_and_attributes_stay() {
    let (folder, path) = folder_with("old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    if geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    }
    let attributes = setxattr(&path, "user.holdfast", b"kept", XattrFlags::empty());
    let before = fs::metadata(&path).unwrap();
    let after = Snapshot::read(&path).unwrap().replace(b"new").unwrap();
    assert_eq!(after.bytes(), b"new");
    let now = fs::metadata(&path).unwrap();
    assert_eq!(now.mode(), before.mode());
    assert_eq!((now.uid(), now.gid()), (before.uid(), before.gid()));
    if attributes.is_ok() {
        let mut value = [0; 10];
        let length = rustix::fs::getxattr(&path, "user.holdfast", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn a_link_stays_a_link_and_its_file_changes() {
    let (folder, path) = folder_with("old");
    let link = folder.path().join("link");
    symlink("file", &link).unwrap();
    let snapshot = Snapshot::read(&link).unwrap();
    snapshot.replace(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn what_somebody_else_wrote_meanwhile_stays() {
    for in_place in [true, false] {
        let (folder, path) = folder_with("old");
        let snapshot = Snapshot::read(&path).unwrap();
        if in_place {
            fs::write(&path, "theirs").unwrap();
        } else {
            let other = folder.path().join("other");
            fs::write(&other, "theirs").unwrap();
            fs::rename(&other, &path).unwrap();
        }
        let error = snapshot.replace(b"ours").unwrap_err();
        assert!(matches!(error, ReplaceError::Changed { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(&folder), ["file"]);
    }
}

#[test]
fn a_file_that_went_away_stays_away() {
    let (folder, path) = folder_with("old");
    let snapshot = Snapshot::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    snapshot.replace(b"ours").unwrap_err();
    assert_eq!(names(&folder), [] as [&str; 0]);
}

#[test]
fn what_must_not_be_written_is_told_beforehand() {
    let (folder, path) = folder_with("old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let error = Snapshot::read(&path).unwrap().replace(b"new").unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("is marked as read-only (mode 0444)")
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(&path, folder.path().join("second")).unwrap();
    let error = Snapshot::read(&path).unwrap().replace(b"new").unwrap_err();
    assert!(error.to_string().contains("has 2 names"), "{error}");
    let error = Snapshot::read(folder.path()).unwrap_err();
    assert!(matches!(error, ReplaceError::NotAFile { .. }));
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn companions_stand_beside_the_file_itself() {
    let (folder, path) = folder_with("old");
    let snapshot = Snapshot::read(&path).unwrap();
    assert_eq!(snapshot.read_companion(".note").unwrap(), None);
    snapshot.write_companion(".note", b"one").unwrap();
    snapshot.write_companion(".note", b"two").unwrap();
    assert_eq!(snapshot.read_companion(".note").unwrap().unwrap(), b"two");
    assert_eq!(names(&folder), ["file", "file.note"]);
    snapshot.remove_companion(".note").unwrap();
    snapshot.remove_companion(".note").unwrap();
    assert_eq!(names(&folder), ["file"]);
}
