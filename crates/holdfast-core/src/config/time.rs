//! Times as people write them: `500ms`, `5s`, `10m`.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use serde::de::{Deserializer, Error, Visitor};

pub(super) use jiff::fmt::serde::unsigned_duration::friendly::compact::required::serialize;

/// What is accepted as a time.
const ACCEPTED: &str = "a time like 500ms, 5s or 10m";

/// Reads a time.
///
/// # Errors
/// What was found and what is accepted, for text that is no time, has no unit, or is negative.
pub fn parse(text: &str) -> Result<Duration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    time.and_then(|time| time.try_into().ok())
        .ok_or_else(|| format!("found {text:?}; accepted: {ACCEPTED}"))
}

/// The same for a field; with [`serialize`] this is what `#[serde(with)]` asks for.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    struct Time;

    impl Visitor<'_> for Time {
        type Value = Duration;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(ACCEPTED)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
            parse(text).map_err(E::custom)
        }
    }

    from.deserialize_str(Time)
}

/// The same for a field that may be left out.
pub(super) mod if_given {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize, Serialize)]
    #[serde(transparent)]
    struct Given(#[serde(with = "super")] Duration);

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let given = Option::<Given>::deserialize(from)?;
        Ok(given.map(|Given(time)| time))
    }

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(in crate::config) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(Given).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_is_not_negative() {
        let cases = [("500ms", 500), ("5s", 5_000), ("1m30s", 90_000), ("0s", 0)];
        for (text, ms) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "500", "10 parsecs", "-5s", "soon"] {
            let error = parse(text).unwrap_err();
            let expected = format!("found {text:?}; accepted: a time like 500ms, 5s or 10m");
            assert_eq!(error, expected);
        }
    }
}
