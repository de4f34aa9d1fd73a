//! The metrics of the benchmark.

use serde::{Deserialize, Serialize};

/// What is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Bytes per second that one stream carries to the client.
    BulkBytesPerS,
    /// Seconds of the contender's processor time per 10⁹ of those bytes.
    BulkCpuSPerGb,
    /// Small requests per second over 32 connections that stay open.
    RequestsPerS,
    /// Median time of a small request, one after the other on one connection, in microseconds.
    P50Us,
    /// The time that 99 of 100 of those requests do not exceed, in microseconds.
    P99Us,
    /// Connections per second, 16 at a time, each for one small request.
    ConnectsPerS,
    /// Resident memory after the start, in MiB.
    RssIdleMib,
    /// Resident memory with 2,000 open connections that have had one request each, in MiB.
    #[serde(rename = "rss_2000_mib")]
    Rss2000Mib,
    /// As [`Self::RssIdleMib`], but pages shared with other processes count in proportion.
    PssIdleMib,
    /// As [`Self::Rss2000Mib`], but pages shared with other processes count in proportion.
    #[serde(rename = "pss_2000_mib")]
    Pss2000Mib,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 10] = [
        Self::BulkBytesPerS,
        Self::BulkCpuSPerGb,
        Self::RequestsPerS,
        Self::P50Us,
        Self::P99Us,
        Self::ConnectsPerS,
        Self::RssIdleMib,
        Self::Rss2000Mib,
        Self::PssIdleMib,
        Self::Pss2000Mib,
    ];

    /// The metric's name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BulkBytesPerS => "bulk_bytes_per_s",
            Self::BulkCpuSPerGb => "bulk_cpu_s_per_gb",
            Self::RequestsPerS => "requests_per_s",
            Self::P50Us => "p50_us",
            Self::P99Us => "p99_us",
            Self::ConnectsPerS => "connects_per_s",
            Self::RssIdleMib => "rss_idle_mib",
            Self::Rss2000Mib => "rss_2000_mib",
            Self::PssIdleMib => "pss_idle_mib",
            Self::Pss2000Mib => "pss_2000_mib",
        }
    }

    /// Whether it is about the contender's own processes, of which `direct` has none.
    pub const fn is_of_process(self) -> bool {
        match self {
            Self::BulkCpuSPerGb
            | Self::RssIdleMib
            | Self::Rss2000Mib
            | Self::PssIdleMib
            | Self::Pss2000Mib => true,
            Self::BulkBytesPerS
            | Self::RequestsPerS
            | Self::P50Us
            | Self::P99Us
            | Self::ConnectsPerS => false,
        }
    }

    /// Whether it is in the JSON report, whose shape is fixed; the table has all of them.
    pub const fn is_reported(self) -> bool {
        !matches!(self, Self::PssIdleMib | Self::Pss2000Mib)
    }
}
