use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_core::status::Source;
use tempfile::TempDir;

use super::*;

const ENDPOINT: &str = "https://api.example.test:6443";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("addresses")
    }

    fn cache(&self) -> CacheFile {
        CacheFile::new(&self.path(), ENDPOINT.to_owned())
    }

    fn failure(&self) -> String {
        let remembered = self.cache().read(SystemTime::now());
        assert_eq!(remembered.entries, []);
        let failure = remembered.failure.expect("not used");
        failure.replace(&self.path().display().to_string(), "FILE")
    }

    fn files(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }
}

fn entries(count: u8) -> Vec<Entry> {
    (1..=count)
        .map(|n| Entry {
            address: ([10, 0, 0, n], 6443).into(),
            origins: vec![Source::DnsA],
            unanswered: Duration::ZERO,
        })
        .collect()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn what_is_written_is_read_in_the_next_life_with_its_age() {
    let folder = Folder::new();
    assert_eq!(
        folder.cache().read(at(0)),
        Remembered::default(),
        "no file yet"
    );
    folder.cache().write(at(1_000_000), &entries(3)).unwrap();
    folder.cache().write(at(2_000_000), &entries(2)).unwrap();
    let remembered = folder.cache().read(at(2_000_060));
    assert_eq!(remembered.entries, entries(2));
    assert_eq!(remembered.age, Duration::from_mins(1));
    assert_eq!(folder.files(), 1, "nothing is left beside it");
    let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_clock_that_jumps_changes_nothing_but_the_age() {
    let folder = Folder::new();
    folder
        .cache()
        .write(at(2_000_000_000), &entries(2))
        .unwrap();
    // A node without a battery starts in 1970; another one wakes up years later.
    for now in [at(0), at(4_000_000_000)] {
        let remembered = folder.cache().read(now);
        assert_eq!(remembered.entries, entries(2));
        assert_eq!(remembered.failure, None);
    }
    assert_eq!(folder.cache().read(at(0)).age, Duration::ZERO);
    let before = UNIX_EPOCH.checked_sub(Duration::from_hours(1)).unwrap();
    folder.cache().write(before, &entries(1)).unwrap();
    assert_eq!(folder.cache().read(at(0)).entries, entries(1));
}

#[test]
fn a_file_that_may_be_somebody_elses_is_not_used() {
    let folder = Folder::new();
    folder.cache().write(at(7), &entries(2)).unwrap();
    let set_mode =
        |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    for (mode, shown) in [(0o620, "0620"), (0o602, "0602"), (0o666, "0666")] {
        set_mode(mode);
        assert_eq!(
            folder.failure(),
            format!(
                "read FILE: found mode {shown}; accepted: a file of this user or root that nobody else may write"
            )
        );
    }
    set_mode(0o644);
    assert_eq!(
        folder.cache().read(at(8)).entries,
        entries(2),
        "readers do no harm"
    );
    if geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(12_345), None).unwrap();
        assert!(
            folder
                .failure()
                .starts_with("read FILE: found a file of user 12345;")
        );
        fs::remove_file(folder.path()).unwrap();
    }
}

#[test]
fn what_is_torn_long_or_no_file_is_told_apart_and_replaced_by_the_next_write() {
    let folder = Folder::new();
    folder.cache().write(at(7), &entries(2)).unwrap();
    let whole = fs::read_to_string(folder.path()).unwrap();
    fs::write(folder.path(), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(
        folder.failure(),
        "read FILE: it is torn: its checksum does not fit"
    );
    fs::write(folder.path(), vec![0xff; 100]).unwrap();
    assert_eq!(
        folder.failure(),
        "read FILE: stream did not contain valid UTF-8"
    );
    fs::write(folder.path(), " ".repeat(MOST_BYTES + 1)).unwrap();
    assert!(
        folder
            .failure()
            .contains("found 65537 bytes, more than the agent ever writes")
    );
    folder.cache().write(at(9), &entries(1)).unwrap();
    assert_eq!(folder.cache().read(at(9)).entries, entries(1));
    let other = CacheFile::new(&folder.path(), "https://other.test:6443".to_owned());
    let failure = other.read(at(9)).failure.unwrap();
    assert!(failure.ends_with("it is for another endpoint, https://api.example.test:6443"));
    fs::remove_file(folder.path()).unwrap();
    fs::create_dir(folder.path()).unwrap();
    assert!(
        folder
            .failure()
            .starts_with("read FILE: found something that is no file;")
    );
}

#[test]
fn a_failed_write_leaves_the_old_file_and_says_why() {
    let folder = Folder::new();
    folder.cache().write(at(7), &entries(2)).unwrap();
    // The place beside it is taken by a folder that is not empty.
    let beside = folder.0.path().join("addresses.new");
    fs::create_dir_all(beside.join("x")).unwrap();
    let error = folder.cache().write(at(8), &entries(1)).unwrap_err();
    assert!(
        error.starts_with("write ") && error.contains("addresses: "),
        "{error}"
    );
    assert_eq!(folder.cache().read(at(9)).entries, entries(2));
    let nowhere = CacheFile::new(Path::new("/nowhere/addresses"), ENDPOINT.to_owned());
    let error = nowhere.write(at(8), &entries(1)).unwrap_err();
    assert_eq!(
        error,
        "write /nowhere/addresses: No such file or directory (os error 2)"
    );
}

#[test]
fn what_a_crash_left_is_replaced_and_a_planted_link_is_not_followed() {
    let folder = Folder::new();
    let beside = folder.0.path().join("addresses.new");
    fs::write(&beside, "half a fi").unwrap();
    folder.cache().write(at(7), &entries(2)).unwrap();
    assert_eq!(folder.cache().read(at(7)).entries, entries(2));
    let victim = folder.0.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, &beside).unwrap();
    folder.cache().write(at(8), &entries(1)).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(folder.cache().read(at(8)).entries, entries(1));
}

#[test]
fn a_reader_sees_the_old_set_or_the_new_one() {
    let folder = Folder::new();
    folder.cache().write(at(7), &entries(1)).unwrap();
    let cache = folder.cache();
    let done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&done);
    let writer = std::thread::spawn(move || {
        for round in 0..200 {
            cache
                .write(at(round), &entries(1 + u8::from(round % 2 == 0) * 99))
                .unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut read = 0;
    while !done.load(Ordering::Relaxed) {
        let remembered = folder.cache().read(at(7));
        assert_eq!(remembered.failure, None);
        assert!([1, 100].contains(&remembered.entries.len()));
        read += 1;
    }
    writer.join().unwrap();
    assert!(read > 10, "{read} reads");
}
