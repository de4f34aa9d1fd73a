//! The addresses that the agent listens on, and the descriptors that it may open.

use std::fs;
use std::net::SocketAddr;

use holdfast_core::checkup::{Finding, Subject};
use holdfast_core::config::Config;
use holdfast_linux::listen::{ListenError, Owner, is_free};
use rustix::process::{Resource, getrlimit};

/// The agent's own name in `/proc/PID/comm`.
const AGENT: &str = "holdfast";

/// A connection needs two descriptors, so this is room for 2,000: far more than a node's clients
/// have.
const PLENTY: u64 = 4096;

/// With fewer not even one node's clients are served: the kubelet, kube-proxy, a network agent, and
/// the pods that talk to the API.
const LEAST: u64 = 256;

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let mut agent = None;
    let addresses = config.listen.iter().map(|address| (*address, "--listen"));
    let mut findings: Vec<_> = addresses
        .chain([(config.admin, "--admin")])
        .map(|(address, flag)| {
            let tried = is_free(address);
            if let Err(ListenError {
                owner: Some(owner), ..
            }) = &tried
                && owner.name == AGENT
            {
                agent = Some(owner.pid);
            }
            judge(address, flag, &tried)
        })
        .collect();
    findings.push(descriptors(agent));
    findings
}

fn judge(address: SocketAddr, flag: &str, tried: &Result<(), ListenError>) -> Finding {
    let finding = match tried {
        Ok(()) if address.port() == 0 => {
            Finding::ok(Subject::Listener, "a port that the kernel chooses")
        }
        Ok(()) => Finding::ok(Subject::Listener, "free"),
        Err(ListenError {
            owner: Some(Owner { pid, name }),
            ..
        }) if name == AGENT => Finding::ok(
            Subject::Listener,
            format!("held by process {pid} ({name}), the agent"),
        ),
        Err(ListenError {
            owner: Some(owner), ..
        }) => Finding::fail(
            Subject::Listener,
            owner.to_string(),
            format!(
                "stop process {}, or choose another address with {flag}",
                owner.pid
            ),
        ),
        Err(error) if error.is_missing_family() => Finding::warn(
            Subject::Listener,
            "this node has no IPv6",
            "nothing, as long as another listener serves",
        ),
        Err(error) => Finding::fail(
            Subject::Listener,
            error.source.to_string(),
            format!(
                "choose another address with {flag}; who has this one is shown to root (run `holdfast \
                 check` as root)"
            ),
        ),
    };
    finding.about(address)
}

/// What the agent that runs may open, else what one may that is started from here.
fn descriptors(agent: Option<u32>) -> Finding {
    let running = agent.and_then(|pid| Some((pid, open_files(pid)?)));
    let (whose, limit) = match running {
        Some((pid, limit)) => (format!("for process {pid}"), limit),
        // The agent takes all that it may have.
        None => (
            "for an agent started from here".to_owned(),
            getrlimit(Resource::Nofile).maximum.unwrap_or(NONE),
        ),
    };
    if limit == NONE {
        return Finding::ok(Subject::Descriptors, format!("no limit {whose}"));
    }
    let evidence = format!("{limit} {whose}, two for each connection");
    let advice = "raise it: LimitNOFILE= in the unit (systemd.exec(5)), ulimit -Hn in a shell";
    if limit >= PLENTY {
        Finding::ok(Subject::Descriptors, evidence)
    } else if limit >= LEAST {
        Finding::warn(Subject::Descriptors, evidence, advice)
    } else {
        Finding::fail(Subject::Descriptors, evidence, advice)
    }
}

/// No limit at all (getrlimit(2), `RLIM_INFINITY`).
const NONE: u64 = u64::MAX;

/// The soft limit of a process (proc(5), `/proc/PID/limits`).
fn open_files(pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = line.split_whitespace().next()?;
    if soft == "unlimited" {
        return Some(NONE);
    }
    soft.parse().ok()
}
