//! Holdfast needs nobody to turn the kernel's knobs, and turns none itself.

use std::net::Ipv4Addr;
use std::process::Command;

use holdfast_lab::certificates::Certificates;

use crate::command::can_make_worlds;

/// In a network namespace of its own: all settings, then an agent that runs, then all settings again.
/// Counters among the settings count; they are left out.
const SCRIPT: &str = r#"
set -eu
settings() {
  find /proc/sys/net -type f | grep -v -e _count -e /bpf_ | sort |
    while read -r file; do echo "$file $(cat "$file" 2> /dev/null | tr '\n\t' '  ')"; done
}
ip link set lo up
settings > "$FOLDER/before"
"$HOLDFAST" agent --endpoint https://127.0.0.1:6443 --ca "$FOLDER/ca.crt" > "$FOLDER/log" 2>&1 &
agent=$!
for _ in $(seq 100); do
  if "$HOLDFAST" status > "$FOLDER/status" 2> /dev/null || test -s "$FOLDER/status"; then break; fi
  sleep 0.1
done
test -s "$FOLDER/status"
settings > "$FOLDER/after"
kill -KILL $agent
"#;

#[test]
fn case_50_no_kernel_setting_is_changed() {
    if !can_make_worlds() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    Certificates::make(folder.path(), "api.lab.test", &[Ipv4Addr::LOCALHOST]).unwrap();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", SCRIPT])
        .env("FOLDER", folder.path())
        .env("HOLDFAST", env!("CARGO_BIN_EXE_holdfast"))
        .output()
        .unwrap();
    let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    assert!(output.status.success(), "{output:?} {}", read("log"));
    let (before, after) = (read("before"), read("after"));
    for known in ["tcp_retries2", "tcp_keepalive_time", "tcp_syn_retries"] {
        assert!(before.contains(known), "{known} is not among the settings");
    }
    assert_eq!(before, after);
}
