//! Starving processes: they may run only a part of the time, as under a CPU quota that is used up.
//!
//! A quota (cgroup v2 `cpu.max`, 5 ms of every 100 ms for 5 %) stops a process only once it has used its
//! share. This stops it whether or not, so that it also waits when it had nothing to do: harder than the
//! quota, and an ordinary user can do it.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The time that is shared: a quota's period unless set otherwise (`cpu.cfs_period_us`, sched-bwc.rst).
const PERIOD: Duration = Duration::from_millis(100);

/// Processes that starve until this is dropped.
#[derive(Debug)]
pub(super) struct Hunger {
    pids: Vec<Pid>,
    turns: JoinHandle<()>,
}

impl Hunger {
    /// Lets the processes run `share` hundredths of the time from now on.
    pub(super) fn begin(pids: Vec<Pid>, share: u8) -> Self {
        let fed = PERIOD.mul_f64(f64::from(share.min(100)) / 100.0);
        let all = pids.clone();
        let turns = tokio::spawn(async move {
            loop {
                signal(&all, Signal::STOP);
                sleep(PERIOD.saturating_sub(fed)).await;
                signal(&all, Signal::CONT);
                sleep(fed).await;
            }
        });
        Self { pids, turns }
    }
}

impl Drop for Hunger {
    fn drop(&mut self) {
        self.turns.abort();
        signal(&self.pids, Signal::CONT);
    }
}

/// Signals them; one that has ended is noticed elsewhere.
fn signal(pids: &[Pid], signal: Signal) {
    for pid in pids {
        kill_process(*pid, signal).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// The process's state as the kernel names it: S sleeps, T is stopped (proc(5)).
    fn state(child: &Child) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        rest.chars().next().unwrap()
    }

    async fn comes_to(child: &Child, wanted: char) -> bool {
        for _ in 0..2000 {
            if state(child) == wanted {
                return true;
            }
            sleep(Duration::from_millis(1)).await;
        }
        false
    }

    #[tokio::test]
    async fn a_starved_process_stops_and_goes_on_in_turn_and_is_left_running() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let hunger = Hunger::begin(vec![pid], 50);
        for wanted in ['T', 'S', 'T'] {
            assert!(comes_to(&child, wanted).await, "never {wanted}");
        }
        drop(hunger);
        assert!(comes_to(&child, 'S').await, "left stopped");
        sleep(PERIOD * 3).await;
        let after = state(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(after, 'S');
    }
}
