//! What processes use, as `/proc` tells it (proc(5)).

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Ticks per second of the times in `/proc/PID/stat`: `USER_HZ`, 100 wherever Linux runs today
/// (time(7)).
const TICKS_PER_SECOND: f64 = 100.0;

/// Memory of some processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Memory {
    /// Resident memory in MiB; pages that several of them share count for each.
    pub(super) rss_mib: f64,
    /// The same, but shared pages count in proportion.
    pub(super) pss_mib: f64,
}

/// A process and all its descendants.
pub(super) fn family(ancestor: u32) -> io::Result<Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc")? {
        let Some(pid) = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // A process that has ended meanwhile is nobody's child.
        if let Ok(text) = read(pid, "stat")
            && let Some(parent) = field(&text, 4)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut family = vec![ancestor];
    let mut seen = 0;
    while let Some(pid) = family.get(seen) {
        family.extend(children.remove(pid).unwrap_or_default());
        seen += 1;
    }
    Ok(family)
}

/// Processor time of these processes so far, in seconds, in user mode and in the kernel.
pub(super) fn cpu_seconds(pids: &[u32]) -> io::Result<f64> {
    pids.iter()
        .map(|pid| {
            let stat = read(*pid, "stat")?;
            let ticks = |number| field::<f64>(&stat, number).ok_or_else(|| odd(*pid, "stat"));
            Ok((ticks(14)? + ticks(15)?) / TICKS_PER_SECOND)
        })
        .sum()
}

/// Memory of these processes now.
pub(super) fn memory(pids: &[u32]) -> io::Result<Memory> {
    let mut sum = Memory::default();
    for pid in pids {
        let of = |file, key| kibibytes(&read(*pid, file)?, key).ok_or_else(|| odd(*pid, file));
        sum.rss_mib += of("status", "VmRSS:")? / 1024.0;
        sum.pss_mib += of("smaps_rollup", "Pss:")? / 1024.0;
    }
    Ok(sum)
}

fn read(pid: u32, file: &str) -> io::Result<String> {
    let path = PathBuf::from(format!("/proc/{pid}/{file}"));
    std::fs::read_to_string(&path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn odd(pid: u32, file: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("/proc/{pid}/{file} is not as proc(5) describes it"),
    )
}

/// A field of `/proc/PID/stat`, counted from 1 as proc(5) does. The second is the program's name, which
/// may contain anything; counting starts behind it.
fn field<T: std::str::FromStr>(stat: &str, number: usize) -> Option<T> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name
        .split_whitespace()
        .nth(number.checked_sub(3)?)?
        .parse()
        .ok()
}

fn kibibytes(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_behind_any_program_name() {
        let stat = "42 (a) b) S) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 1 0";
        assert_eq!(field::<u32>(stat, 4), Some(7));
        assert_eq!(field::<u32>(stat, 14), Some(150));
        assert_eq!(field::<u32>(stat, 15), Some(50));
    }

    #[test]
    fn this_process_uses_memory_and_is_its_own_family() {
        let own = std::process::id();
        let memory = memory(&[own]).unwrap();
        assert!(memory.rss_mib >= memory.pss_mib && memory.pss_mib > 0.1);
        assert!(family(own).unwrap().contains(&own));
        assert!(cpu_seconds(&[own]).unwrap() >= 0.0);
    }
}
