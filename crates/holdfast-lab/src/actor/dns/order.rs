//! The DNS server's orders.

use std::net::IpAddr;
use std::str::FromStr as _;

use hickory_proto::rr::Name;
use serde_json::{Value, json};

use super::zone::{Failure, Family, Zone};
use crate::actor::control;

/// Changes the zone as the order says.
pub(super) fn obey(line: &str, zone: &mut Zone) -> Result<Value, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["set", owner, ttl, family, addresses @ ..] => {
            let family = family_of(family)?;
            let addresses = addresses
                .iter()
                .map(|text| address(text, family))
                .collect::<Result<_, _>>()?;
            zone.set(&name(owner)?, lifetime(ttl)?, family, addresses);
        }
        ["cname", owner, ttl, target] => {
            zone.alias(&name(owner)?, lifetime(ttl)?, name(target)?);
        }
        ["rotate", owner, count] => {
            let count = count
                .parse()
                .ok()
                .filter(|count| *count > 0)
                .ok_or_else(|| format!("found {count:?}, accepted: a number from 1"))?;
            zone.rotate(&name(owner)?, count);
        }
        ["fail", owner, kind] => zone.fail(&name(owner)?, failure(kind)?),
        ["heal", owner] => zone.heal(&name(owner)?),
        ["count"] => return Ok(json!({"questions": zone.questions()})),
        _ => {
            return Err(format!(
                "found {line:?}, accepted: set NAME ttl=TIME A|AAAA ADDRESS…, cname NAME ttl=TIME TARGET, \
                 rotate NAME N, fail NAME KIND, heal NAME, count"
            ));
        }
    }
    Ok(Value::Null)
}

/// Reads a name; without a final dot it is complete all the same.
pub(super) fn name(text: &str) -> Result<Name, String> {
    let mut name = Name::from_str(text).map_err(|error| format!("found {text:?}: {error}"))?;
    name.set_fqdn(true);
    Ok(name.to_lowercase())
}

/// Reads `ttl=TIME` into whole seconds, rounded up.
fn lifetime(text: &str) -> Result<u32, String> {
    let time = text
        .strip_prefix("ttl=")
        .ok_or_else(|| format!("found {text:?}, accepted: ttl=TIME, as in ttl=5s"))?;
    let time = control::duration(time)?;
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(seconds).map_err(|_| format!("found {text:?}, accepted: up to 136 years"))
}

fn family_of(text: &str) -> Result<Family, String> {
    match text {
        "A" => Ok(Family::A),
        "AAAA" => Ok(Family::Aaaa),
        _ => Err(format!("found {text:?}, accepted: A or AAAA")),
    }
}

fn address(text: &str, family: Family) -> Result<IpAddr, String> {
    match (text.parse(), family) {
        (Ok(address @ IpAddr::V4(_)), Family::A) | (Ok(address @ IpAddr::V6(_)), Family::Aaaa) => {
            Ok(address)
        }
        (_, Family::A) => Err(format!("found {text:?}, accepted: an IPv4 address")),
        (_, Family::Aaaa) => Err(format!("found {text:?}, accepted: an IPv6 address")),
    }
}

fn failure(text: &str) -> Result<Failure, String> {
    Ok(match text {
        "empty" => Failure::Empty,
        "nxdomain" => Failure::NxDomain,
        "refused" => Failure::Refused,
        "servfail" => Failure::ServFail,
        "silent" => Failure::Silent,
        "truncated" => Failure::Truncated,
        _ => {
            return Err(format!(
                "found {text:?}, accepted: servfail, nxdomain, refused, silent, empty or truncated"
            ));
        }
    })
}
