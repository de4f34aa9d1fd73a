//! What `holdfast check` says: one finding per fact that was looked at, with a grade, the evidence
//! and what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// Everything that was looked at on this node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checkup {
    /// Whether nothing must be mended: no finding is a `fail`.
    pub passed: bool,
    /// What was found, in the order in which things depend on each other.
    pub findings: Vec<Finding>,
    /// How long a lost path may keep heartbeats away, against the node monitor grace period. Absent
    /// while the configuration is not valid.
    pub budget: Option<Budget>,
}

impl Checkup {
    /// Findings, and what follows from them.
    pub fn of(findings: Vec<Finding>, budget: Option<Budget>) -> Self {
        Self {
            passed: findings.iter().all(|f| f.verdict != Grade::Fail),
            findings,
            budget,
        }
    }
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was looked at.
    pub subject: Subject,
    /// Which one of its kind: an address, a file, a name.
    pub what: Option<String>,
    /// How good it is.
    pub verdict: Grade,
    /// What was seen, in words.
    pub evidence: String,
    /// What to do about it, in words.
    pub advice: Option<String>,
}

impl Finding {
    /// Nothing to do.
    pub fn ok(subject: Subject, evidence: impl Into<String>) -> Self {
        Self {
            subject,
            what: None,
            verdict: Grade::Ok,
            evidence: evidence.into(),
            advice: None,
        }
    }

    /// It works, and there is something to know.
    pub fn warn(subject: Subject, evidence: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            verdict: Grade::Warn,
            advice: Some(advice.into()),
            ..Self::ok(subject, evidence)
        }
    }

    /// It must be mended.
    pub fn fail(subject: Subject, evidence: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            verdict: Grade::Fail,
            ..Self::warn(subject, evidence, advice)
        }
    }

    /// Names which one of its kind it is about.
    #[must_use]
    pub fn about(mut self, what: impl std::fmt::Display) -> Self {
        self.what = Some(format!("{what}"));
        self
    }
}

/// How good a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// As it should be.
    Ok,
    /// It works, and there is something to know.
    Warn,
    /// It must be mended.
    Fail,
}

impl Grade {
    /// The grade as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What is looked at.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The agent's configuration, from flags, environment and file.
    Configuration,
    /// The file with the cluster's CA.
    Ca,
    /// The endpoint's name in DNS.
    Name,
    /// The endpoint's name in `/etc/hosts`.
    Hosts,
    /// That the endpoint does not lead back to the agent itself.
    Loop,
    /// One address of an API server: TCP, TLS, `/readyz`.
    Address,
    /// The name that the API servers' certificate must be for.
    ServerName,
    /// One address that the agent listens on.
    Listener,
    /// Descriptors that the agent may open.
    Descriptors,
    /// What the guard needs to see sockets, to tell whose they are, and to abort them.
    Guard,
    /// The time that a lost path may keep heartbeats away.
    Budget,
    /// One kubeconfig of a client on this node.
    Kubeconfig,
}

impl Subject {
    /// The subject as a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Ca => "ca",
            Self::Name => "name",
            Self::Hosts => "hosts",
            Self::Loop => "loop",
            Self::Address => "address",
            Self::ServerName => "server-name",
            Self::Listener => "listener",
            Self::Descriptors => "descriptors",
            Self::Guard => "guard",
            Self::Budget => "budget",
            Self::Kubeconfig => "kubeconfig",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fail_among_many_decides_and_warnings_do_not() {
        let ok = Finding::ok(Subject::Ca, "fine");
        let warn = Finding::warn(Subject::Hosts, "a pin", "know it");
        let fail = Finding::fail(Subject::Loop, "itself", "mend it");
        assert!(Checkup::of(vec![ok.clone(), warn.clone()], None).passed);
        assert!(!Checkup::of(vec![ok, warn, fail], None).passed);
    }
}
