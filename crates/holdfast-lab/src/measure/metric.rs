//! The figures that a scenario may have expectations about.

use std::fmt;
use std::str::FromStr;

use super::Figures;
use crate::span;

/// One figure of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// See [`Figures::active_outage_s`].
    ActiveOutage,
    /// See [`Figures::cut_s`].
    Cut,
    /// See [`Figures::descriptors_added`].
    DescriptorsAdded,
    /// See [`Figures::evictions`].
    Evictions,
    /// See [`Figures::first_success_s`].
    FirstSuccess,
    /// See [`Figures::idle_open`].
    IdleOpen,
    /// See [`Figures::known`].
    Known,
    /// See [`Figures::new_failed`].
    NewFailed,
    /// See [`Figures::new_on_faulted`].
    NewOnFaulted,
    /// See [`Figures::new_slowest_s`].
    NewSlowest,
    /// See [`Figures::new_total`].
    NewTotal,
    /// See [`Figures::not_ready`], for a grace period of 40 s.
    NotReady40,
    /// See [`Figures::not_ready`], for a grace period of 50 s.
    NotReady50,
    /// See [`Figures::on_fault`].
    OnFault,
    /// See [`Figures::process_kept`].
    ProcessKept,
    /// See [`Figures::reconnects`].
    Reconnects,
    /// See [`Figures::recovery_s`].
    Recovery,
    /// See [`Figures::relists`].
    Relists,
    /// See [`Figures::resets`].
    Resets,
    /// See [`Figures::turned_not_ready`].
    TurnedNotReady,
    /// See [`Figures::upstreams_added`].
    UpstreamsAdded,
    /// See [`Figures::worst_gap_s`].
    WorstGap,
    /// See [`Figures::wrong_cuts`].
    WrongCuts,
}

/// What kind of value a figure has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Count,
    /// Seconds.
    Time,
    /// True or false.
    Truth,
}

impl Kind {
    /// What a bound for such a figure looks like.
    pub const fn accepted(self) -> &'static str {
        match self {
            Self::Count => "a whole number",
            Self::Time => span::ACCEPTED,
            Self::Truth => "true or false",
        }
    }
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 23] = [
        Self::ActiveOutage,
        Self::Cut,
        Self::DescriptorsAdded,
        Self::Evictions,
        Self::FirstSuccess,
        Self::IdleOpen,
        Self::Known,
        Self::NewFailed,
        Self::NewOnFaulted,
        Self::NewSlowest,
        Self::NewTotal,
        Self::NotReady40,
        Self::NotReady50,
        Self::OnFault,
        Self::ProcessKept,
        Self::Reconnects,
        Self::Recovery,
        Self::Relists,
        Self::Resets,
        Self::TurnedNotReady,
        Self::UpstreamsAdded,
        Self::WorstGap,
        Self::WrongCuts,
    ];

    /// Its name in a scenario.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ActiveOutage => "active_outage_s",
            Self::DescriptorsAdded => "descriptors_added",
            Self::ProcessKept => "process_kept",
            Self::Evictions => "evictions",
            Self::Known => "known",
            Self::Relists => "relists",
            Self::TurnedNotReady => "turned_not_ready",
            Self::IdleOpen => "idle_open",
            Self::NewOnFaulted => "new_on_faulted",
            Self::NewSlowest => "new_slowest_s",
            Self::OnFault => "on_fault",
            Self::UpstreamsAdded => "upstreams_added",
            Self::Recovery => "recovery_s",
            Self::Resets => "resets",
            Self::Cut => "cut_s",
            Self::FirstSuccess => "first_success_s",
            Self::NewFailed => "new_failed",
            Self::NewTotal => "new_total",
            Self::NotReady40 => "not_ready_40",
            Self::NotReady50 => "not_ready_50",
            Self::Reconnects => "reconnects",
            Self::WorstGap => "worst_gap_s",
            Self::WrongCuts => "wrong_cuts",
        }
    }

    /// What kind of value it has.
    pub const fn kind(self) -> Kind {
        match self {
            Self::ActiveOutage
            | Self::Cut
            | Self::FirstSuccess
            | Self::NewSlowest
            | Self::Recovery
            | Self::WorstGap => Kind::Time,
            Self::DescriptorsAdded
            | Self::Evictions
            | Self::IdleOpen
            | Self::Known
            | Self::NewFailed
            | Self::NewOnFaulted
            | Self::NewTotal
            | Self::OnFault
            | Self::Reconnects
            | Self::Relists
            | Self::Resets
            | Self::TurnedNotReady
            | Self::UpstreamsAdded
            | Self::WrongCuts => Kind::Count,
            Self::NotReady40 | Self::NotReady50 | Self::ProcessKept => Kind::Truth,
        }
    }

    /// Its value among a subject's figures; truths are 0 and 1, none if it never happened.
    pub fn of(self, figures: &Figures) -> Option<f64> {
        let truth = |grace: &str| {
            figures
                .not_ready
                .get(grace)
                .map(|truth| f64::from(u8::from(*truth)))
        };
        match self {
            Self::ActiveOutage => figures.active_outage_s,
            Self::DescriptorsAdded => figures.descriptors_added.map(f64::from),
            Self::ProcessKept => figures.process_kept.map(|kept| f64::from(u8::from(kept))),
            Self::Evictions => figures.evictions.map(f64::from),
            Self::Known => figures.known.map(f64::from),
            Self::Relists => figures.relists.map(f64::from),
            Self::TurnedNotReady => figures.turned_not_ready.map(f64::from),
            Self::IdleOpen => Some(f64::from(figures.idle_open)),
            Self::NewOnFaulted => Some(f64::from(figures.new_on_faulted)),
            Self::NewSlowest => figures.new_slowest_s,
            Self::OnFault => Some(f64::from(figures.on_fault)),
            Self::UpstreamsAdded => Some(f64::from(figures.upstreams_added)),
            Self::Recovery => figures.recovery_s,
            Self::Resets => Some(f64::from(figures.resets)),
            Self::Cut => figures.cut_s,
            Self::FirstSuccess => figures.first_success_s,
            Self::NewFailed => Some(f64::from(figures.new_failed)),
            Self::NewTotal => Some(f64::from(figures.new_total)),
            Self::NotReady40 => truth("40"),
            Self::NotReady50 => truth("50"),
            Self::Reconnects => Some(f64::from(figures.reconnects)),
            Self::WorstGap => figures.worst_gap_s,
            Self::WrongCuts => Some(f64::from(figures.wrong_cuts)),
        }
    }

    /// Every metric's name, for messages.
    pub fn accepted() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Metric {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.as_str() == text)
            .ok_or(())
    }
}
