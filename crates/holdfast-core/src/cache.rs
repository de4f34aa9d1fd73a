//! The last good set of addresses: what is worth remembering, and how it is written down.
//!
//! An address is remembered once it has proven itself, with the sources that named it. It is dropped
//! when it has not answered for long while others did. Age is counted in the agent's own running time,
//! so that a clock that jumps, or a node that was off for a month, drops nothing.
//!
//! The form is text, so that a person can read it:
//!
//! ```text
//! holdfast addresses 1
//! endpoint https://api.example.com:6443
//! saved 1764565200
//! 10.0.0.11:6443 unanswered 0 named-by dns-a endpoint-slices
//! checksum 5f1c0a6d2e9b8c47
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use crate::chance::hash_text;
use crate::status::Source;

#[cfg(test)]
mod tests;

/// An address that has not answered for so much longer than the freshest one is dropped. A control
/// plane is replaced in hours; a day covers one that is repaired instead.
pub const SILENT_FOR: Duration = Duration::from_hours(24);

/// More addresses than this are not written down, nor read.
pub const MOST_ENTRIES: usize = 256;

/// No file of ours is longer, whatever it holds.
pub const MOST_BYTES: usize = 64 * 1024;

const MAGIC: &str = "holdfast addresses ";
const VERSION: u32 = 1;

/// One address worth remembering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address.
    pub address: SocketAddr,
    /// The sources that named it.
    pub origins: Vec<Source>,
    /// Running time since it last answered.
    pub unanswered: Duration,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Seconds since 1970 when it was written, by the clock of then.
    pub saved: u64,
    /// The addresses.
    pub entries: Vec<Entry>,
}

/// What the agent is told of its cache when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The addresses.
    pub entries: Vec<Entry>,
    /// How long ago they were written down, as far as the clock can be believed.
    pub age: Duration,
    /// Why there is nothing to remember, where that is a failure.
    pub failure: Option<String>,
}

/// The cache as `status` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Time since it was written, if it ever was.
    pub age: Option<Duration>,
    /// What went wrong at the last reading or writing.
    pub failure: Option<String>,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// It does not begin as it must.
    #[error("it is no file of this program (its first line is not \"{MAGIC}{VERSION}\")")]
    Alien,
    /// Another version of the agent wrote it.
    #[error("it has version {0} of the format; this agent reads version {VERSION}")]
    OtherVersion(u32),
    /// Its end is missing or it was changed.
    #[error("it is torn: its checksum does not fit")]
    Torn,
    /// It is about another cluster.
    #[error("it is for another endpoint, {0}")]
    OtherEndpoint(String),
    /// A line can't be read although the checksum fits.
    #[error("line {0} can't be read")]
    Line(usize),
}

/// The entries that are worth keeping: none that went silent long ago while others answered.
pub fn fresh(mut entries: Vec<Entry>) -> Vec<Entry> {
    let freshest = entries.iter().map(|entry| entry.unanswered).min();
    entries.retain(|entry| {
        freshest.is_none_or(|freshest| entry.unanswered.saturating_sub(freshest) < SILENT_FOR)
    });
    entries.sort_by_key(|entry| (entry.unanswered, entry.address));
    entries.truncate(MOST_ENTRIES);
    entries
}

/// Writes `entries` down for `endpoint` at `saved`, in seconds since 1970.
pub fn encode(endpoint: &str, saved: u64, entries: &[Entry]) -> String {
    let head = format!("{MAGIC}{VERSION}\nendpoint {endpoint}\nsaved {saved}\n");
    let line = |entry: &Entry| {
        let named_by: Vec<_> = entry.origins.iter().map(|origin| origin.as_str()).collect();
        let words = [
            entry.address.to_string(),
            format!("unanswered {} named-by", entry.unanswered.as_secs()),
            named_by.join(" "),
        ];
        words.join(" ").trim_end().to_owned() + "\n"
    };
    let lines = entries.iter().take(MOST_ENTRIES).map(line);
    let body = head + &lines.collect::<String>();
    format!("{body}checksum {:016x}\n", hash_text(&body))
}

/// Reads what [`encode`] wrote.
///
/// # Errors
/// Why nothing of it is used: a part of a set could be the wrong part.
pub fn decode(text: &str, endpoint: &str) -> Result<Cache, CacheError> {
    let version = text
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.split('\n').next());
    match version.and_then(|version| version.parse().ok()) {
        Some(VERSION) => {}
        Some(other) => return Err(CacheError::OtherVersion(other)),
        None => return Err(CacheError::Alien),
    }
    let (body, checksum) = text.rsplit_once("checksum ").ok_or(CacheError::Torn)?;
    let checksum = checksum.strip_suffix('\n').ok_or(CacheError::Torn)?;
    if format!("{:016x}", hash_text(body)) != checksum {
        return Err(CacheError::Torn);
    }
    let mut lines = body.lines().zip(1..).skip(1);
    let mut field = |name: &str, line| {
        let found = lines.next().and_then(|(text, _)| text.strip_prefix(name));
        found.ok_or(CacheError::Line(line))
    };
    let written_for = field("endpoint ", 2)?;
    let saved = field("saved ", 3)?
        .parse()
        .map_err(|_| CacheError::Line(3))?;
    if written_for != endpoint {
        return Err(CacheError::OtherEndpoint(written_for.to_owned()));
    }
    let entries: Result<Vec<_>, _> = lines
        .take(MOST_ENTRIES)
        .map(|(line, number)| entry(line).ok_or(CacheError::Line(number)))
        .collect();
    Ok(Cache {
        saved,
        entries: entries?,
    })
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let address = words.next()?.parse().ok()?;
    let unanswered = match (words.next()?, words.next()?) {
        ("unanswered", seconds) => Duration::from_secs(seconds.parse().ok()?),
        _ => return None,
    };
    if words.next()? != "named-by" {
        return None;
    }
    // A source that this version does not know any more is no reason to forget the address.
    let origins = words.filter_map(Source::from_label).collect();
    Some(Entry {
        address,
        origins,
        unanswered,
    })
}
