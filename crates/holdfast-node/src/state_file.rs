//! State files of watcher and node check: read with forbearance, written whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdfast_core::watch::{Memory, WatchStatus};

/// No file of ours is longer, whatever it holds.
const MOST_BYTES: u64 = 1024 * 1024;

/// What an earlier watcher wrote about `name`. No file is as good as an empty one; one that can't be
/// read is told.
pub(crate) fn read(path: &Path, name: &str) -> Memory {
    let unusable = |why: String| Memory {
        trouble: Some(format!("{}: {why}", path.display())),
        ..Memory::default()
    };
    let read = File::open(path).and_then(|file| {
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(text)
    });
    match read {
        Ok(text) => Memory::decode(&text, name, now()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Memory::default(),
        Err(error) => unusable(error.to_string()),
    }
}

/// Writes what a watcher knows.
pub(crate) fn write(
    path: &Path,
    name: &str,
    memory: &Memory,
    status: &WatchStatus,
) -> io::Result<()> {
    replace(path, &memory.encode(name, now(), status))
}

/// How long ago each unit was restarted, as an earlier node check wrote it. A file that can't be used is
/// told, and is as good as none.
pub(crate) fn read_restarts(path: &Path) -> BTreeMap<String, Duration> {
    let read = fs::read_to_string(path).map_err(|error| (error.kind(), error.to_string()));
    let read = read.and_then(|text| {
        let read = serde_json::from_str::<BTreeMap<String, u64>>(&text);
        read.map_err(|error| (io::ErrorKind::InvalidData, error.to_string()))
    });
    let now = now();
    match read {
        Ok(moments) => moments
            .into_iter()
            .map(|(unit, then)| (unit, Duration::from_secs(now.saturating_sub(then))))
            .collect(),
        Err((io::ErrorKind::NotFound, _)) => BTreeMap::new(),
        Err((_, error)) => {
            tracing::warn!(file = %path.display(), error, "earlier restarts are not known");
            BTreeMap::new()
        }
    }
}

/// Writes down how long ago each unit was restarted.
pub(crate) fn write_restarts(path: &Path, past: &BTreeMap<String, Duration>) -> io::Result<()> {
    let now = now();
    let moments: BTreeMap<_, _> = past
        .iter()
        .map(|(unit, ago)| (unit, now.saturating_sub(ago.as_secs())))
        .collect();
    replace(path, &(serde_json::to_string(&moments)? + "\n"))
}

/// Replaces a file: readers see the old one or the new one, never a part.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        fs::create_dir_all(folder)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o644)
        .open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_are_read_as_they_were_written_and_a_torn_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("state");
        assert!(read_restarts(&path).is_empty());
        let past = BTreeMap::from([("kubelet.service".to_owned(), Duration::from_secs(90))]);
        write_restarts(&path, &past).unwrap();
        let read = read_restarts(&path)["kubelet.service"].as_secs();
        assert!((89..=95).contains(&read), "{read}");
        fs::write(&path, "{\"kubelet.service\":17").unwrap();
        assert!(read_restarts(&path).is_empty());
    }

    #[test]
    fn a_file_is_replaced_whole_and_a_reader_of_the_old_one_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        replace(&path, "one\n").unwrap();
        let mut old = File::open(&path).unwrap();
        replace(&path, "two\n").unwrap();
        let mut text = String::new();
        old.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_state_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            read(&folder.path().join("none"), "a.test"),
            Memory::default()
        );
        let told = read(folder.path(), "a.test").trouble.unwrap();
        assert!(told.contains("directory"), "{told}");
    }
}
