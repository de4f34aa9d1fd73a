//! What a watcher leaves to the next one: the addresses with their ages, and what it has restarted.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::WatchStatus;

/// What an earlier watcher knew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The addresses that stood.
    pub addresses: Vec<Known>,
    /// The addresses that had left and were looked for, and how long ago they left.
    pub left: BTreeMap<IpAddr, Duration>,
    /// How long ago each unit was restarted.
    pub restarts: BTreeMap<String, Duration>,
    /// The state was a hash alone, as the script writes it.
    pub opaque: bool,
    /// Why the state could not be used, if there was one.
    pub trouble: Option<String>,
}

/// An address that stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The address.
    pub address: IpAddr,
    /// Time since an answer named it.
    pub age: Duration,
}

/// What is written at the file's head: which form it has.
const FORM: &str = "holdfast watch 1";

/// More addresses are not believed: no balancer has so many, and the file may be anybody's.
const MOST: usize = 1024;

/// The file. Moments are seconds since 1970, by the clock of the machine.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    form: String,
    name: String,
    addresses: BTreeMap<IpAddr, u64>,
    left: BTreeMap<IpAddr, u64>,
    restarts: BTreeMap<String, u64>,
    /// What readers see; a watcher that starts does not read it.
    status: serde_json::Value,
}

impl Memory {
    /// The file's text, written at `now` seconds since 1970 for the DNS name `name`.
    pub fn encode(&self, name: &str, now: u64, status: &WatchStatus) -> String {
        let then = |age: &Duration| now.saturating_sub(age.as_secs());
        let file = File {
            form: FORM.to_owned(),
            name: name.to_owned(),
            addresses: self
                .addresses
                .iter()
                .map(|known| (known.address, then(&known.age)))
                .collect(),
            left: self.left.iter().map(|(ip, age)| (*ip, then(age))).collect(),
            restarts: self
                .restarts
                .iter()
                .map(|(unit, age)| (unit.clone(), then(age)))
                .collect(),
            status: serde_json::to_value(status).unwrap_or_default(),
        };
        // Maps of text and numbers always have a form in JSON.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Reads the file at `now` seconds since 1970. Never fails: what can't be used is no reason to
    /// restart anything. A clock that went backwards makes ages 0, so that hold-downs last longer.
    pub fn decode(text: &str, name: &str, now: u64) -> Self {
        let text = text.trim();
        if is_hash(text) {
            return Self {
                opaque: true,
                ..Self::default()
            };
        }
        let unusable = |why: String| Self {
            trouble: Some(why),
            ..Self::default()
        };
        let file: File = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => return unusable(format!("the state file can't be read: {error}")),
        };
        if file.form != FORM {
            return unusable(format!(
                "the state file has the form {:?}; this version reads {FORM:?}",
                file.form
            ));
        }
        let age = |then: u64| Duration::from_secs(now.saturating_sub(then));
        let restarts = file.restarts.into_iter();
        let restarts = restarts.map(|(unit, then)| (unit, age(then))).collect();
        if file.name != name {
            return Self {
                restarts,
                ..unusable(format!("the state file is about {}", file.name))
            };
        }
        let addresses = file.addresses.into_iter().take(MOST);
        let left = file.left.into_iter().take(MOST);
        Self {
            addresses: addresses
                .map(|(address, then)| Known {
                    address,
                    age: age(then),
                })
                .collect(),
            left: left.map(|(ip, then)| (ip, age(then))).collect(),
            restarts,
            opaque: false,
            trouble: None,
        }
    }
}

/// What the watcher that wrote the file knew and had done.
///
/// # Errors
/// What is wrong with the file, in words.
pub fn status(text: &str) -> Result<WatchStatus, String> {
    if is_hash(text.trim()) {
        return Err("it holds a hash, as the script writes it".to_owned());
    }
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    serde_json::from_value(file.status).map_err(|error| error.to_string())
}

/// Whether this is what `sha256sum` prints, with the name of its input or without.
fn is_hash(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let hash = words.next().unwrap_or_default();
    let rest = words.next().unwrap_or("-");
    hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()) && rest == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory {
            addresses: vec![Known {
                address: "10.0.0.1".parse().unwrap(),
                age: Duration::from_secs(7),
            }],
            left: BTreeMap::from([("fd00::1".parse().unwrap(), Duration::from_secs(90))]),
            restarts: BTreeMap::from([("kubelet.service".to_owned(), Duration::from_secs(30))]),
            opaque: false,
            trouble: None,
        }
    }

    fn told() -> WatchStatus {
        WatchStatus {
            addresses: Vec::new(),
            sources: Vec::new(),
            units: Vec::new(),
            blind: Some("no netlink".to_owned()),
            actions: Vec::new(),
        }
    }

    #[test]
    fn readers_find_what_the_watcher_knew() {
        let text = memory().encode("api.example.com", 1_000_000, &told());
        assert_eq!(status(&text), Ok(told()));
        assert!(status(&"0".repeat(64)).unwrap_err().contains("hash"));
        assert!(status("{}").is_err());
    }

    #[test]
    fn what_is_written_is_read_and_ages_go_on() {
        let text = memory().encode("api.example.com", 1_000_000, &told());
        let read = Memory::decode(&text, "api.example.com", 1_000_005);
        assert_eq!(read.addresses[0].age, Duration::from_secs(12));
        assert_eq!(read.left.values().next(), Some(&Duration::from_secs(95)));
        assert_eq!(read.restarts["kubelet.service"], Duration::from_secs(35));
        assert_eq!(
            Memory::decode(&text, "api.example.com", 1_000_000),
            memory()
        );
    }

    #[test]
    fn a_clock_that_went_backwards_makes_nothing_older() {
        let text = memory().encode("api.example.com", 1_000_000, &told());
        let read = Memory::decode(&text, "api.example.com", 5);
        assert_eq!(read.restarts["kubelet.service"], Duration::ZERO);
    }

    #[test]
    fn the_scripts_hash_is_accepted_and_stands_for_unknown_addresses() {
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [hash.to_owned(), format!("{hash}\n"), format!("{hash}  -\n")] {
            let read = Memory::decode(&text, "api.example.com", 0);
            assert!(read.opaque && read.trouble.is_none(), "{text}");
            assert!(read.addresses.is_empty() && read.restarts.is_empty());
        }
    }

    #[test]
    fn anything_else_is_told_and_forgotten_but_a_hold_down_is_not() {
        for text in [
            "",
            "{}",
            "e3b0c4",
            "{\"form\":\"holdfast watch 1\"",
            "\u{0}",
        ] {
            let read = Memory::decode(text, "api.example.com", 0);
            assert!(read.trouble.is_some(), "{text:?}: {read:?}");
            assert_eq!(read.addresses, []);
        }
        let text = memory().encode("other.example.com", 100, &told());
        let read = Memory::decode(&text, "api.example.com", 100);
        assert!(read.trouble.unwrap().contains("other.example.com"));
        assert_eq!(read.addresses, []);
        assert_eq!(read.restarts.len(), 1);
    }
}
