//! What was seen of one subject: what its client told, and what its agent told.

use std::collections::BTreeMap;
use std::fs;

use holdfast_core::status::{ActionStatus, Status};

use super::Testimony;
use crate::actor::client::Event;
use crate::actor::observer::Observation;

/// What was seen of one subject.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// What its client told.
    pub events: Vec<Event>,
    /// What a real API says of its nodes.
    pub nodes: Vec<Observation>,
    /// How often its nodes asked a real API for everything again after the fault.
    pub relists: Option<u32>,
    /// What its agent did.
    pub deeds: Vec<Deed>,
    /// How many of its connections were on each server and balancer, as its agent told.
    pub loads: Vec<Load>,
    /// What its agent told at the end.
    pub testimony: Option<Testimony>,
    /// Its client's process, when the timeline began and at the end.
    pub process: Option<(ProcessSeen, ProcessSeen)>,
}

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessSeen {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot: numbers are used again.
    pub started: u64,
    /// Descriptors that it has open.
    pub descriptors: u32,
}

impl ProcessSeen {
    /// Looks at a process (proc(5), `/proc/PID/stat` and `/proc/PID/fd`); `None` if it is gone.
    pub fn look(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field may hold anything, in parentheses; the start is the 22nd.
        let (_, after_name) = stat.rsplit_once(')')?;
        let started = after_name.split_whitespace().nth(19)?.parse().ok()?;
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
        Some(Self {
            pid,
            started,
            descriptors: u32::try_from(descriptors).unwrap_or(u32::MAX),
        })
    }
}

/// Something that an agent did.
#[derive(Clone, Debug)]
pub struct Deed {
    /// When.
    pub t: f64,
    /// What, and why.
    pub action: ActionStatus,
}

/// How many connections an agent had on each server and balancer.
#[derive(Clone, Debug)]
pub struct Load {
    /// When it was asked.
    pub t: f64,
    /// The servers and balancers that it knows.
    pub connections: BTreeMap<String, usize>,
}

impl Sight {
    /// Learns from the status that the agent told at the moment `t`; `parts` names the server or
    /// balancer behind each address. Returns what the agent did since it was asked last.
    pub fn learn(&mut self, t: f64, status: Status, parts: &BTreeMap<String, String>) -> Vec<Deed> {
        let mut connections = BTreeMap::new();
        for upstream in &status.upstreams {
            if let Some(part) = parts.get(&upstream.address.to_string()) {
                connections.insert(part.clone(), upstream.connections);
            }
        }
        self.loads.push(Load { t, connections });
        let known = self.deeds.last().map_or(0, |deed| deed.action.seq);
        let started = t - status.uptime_s;
        let new: Vec<Deed> = status
            .actions
            .into_iter()
            .filter(|action| action.seq > known)
            .map(|action| Deed {
                t: started + action.at_s,
                action,
            })
            .collect();
        self.deeds.extend(new.iter().cloned());
        new
    }
}
