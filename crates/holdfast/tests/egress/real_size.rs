//! A folder of a real size: how long an audit takes, and what it needs.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::subscription::folder;

const NODES: usize = 5_000;

/// Goal with an optimised build, on a machine of its own: 2 s and 200 MiB. The bounds here are for a
/// debug build on a busy one; the memory doesn't depend on that.
#[test]
fn five_thousand_nodes_are_audited_in_little_time_and_memory() {
    let folder = folder(NODES);
    let size: u64 = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdfast"))
        .args(["egress", "audit", "-o", "json", "--from"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let code = loop {
        // The mark only rises, and is gone with the process: the last one seen is at most one pause old.
        peak = high_water(child.id()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = start.elapsed();
    writeln!(
        std::io::stderr(),
        "audited {NODES} nodes, {} MiB of JSON, in {took:?} with {} MiB",
        size >> 20,
        peak >> 10
    )
    .unwrap();
    assert_eq!(code, Some(1));
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert!(peak > 0 && peak < 200 << 10, "{peak} KiB");
}

/// The most memory that the process had at once, in KiB (`VmHWM`, proc(5)).
fn high_water(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
