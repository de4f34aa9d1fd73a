//! A length of time as scenarios write it: `12s`, `250ms`, `1m`, and `-20s` for a moment before the fault.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What a length of time looks like.
pub const ACCEPTED: &str = "a number with its unit, such as 12s, 250ms or 1m";

/// A signed length of time, kept in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    millis: i64,
}

/// The text is no length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}, accepted: {ACCEPTED}")]
pub struct SpanError {
    found: String,
}

impl Span {
    /// No time at all; as a moment, the fault itself.
    pub const ZERO: Self = Self { millis: 0 };

    /// So many seconds.
    pub const fn from_secs(seconds: i64) -> Self {
        Self {
            millis: seconds.saturating_mul(1000),
        }
    }

    /// The length in seconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for three hundred thousand years"
    )]
    pub fn seconds(self) -> f64 {
        self.millis as f64 / 1000.0
    }

    /// The length on a clock that runs `time_scale` times as fast as a stock one, in seconds.
    pub fn seconds_at(self, time_scale: f64) -> f64 {
        self.seconds() / time_scale
    }

    /// The length without its sign.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.millis.unsigned_abs())
    }

    /// Whether it is before the fault.
    pub const fn is_negative(self) -> bool {
        self.millis < 0
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let error = || SpanError {
            found: text.to_owned(),
        };
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (number, unit) = [("ms", 1), ("s", 1000), ("m", 60_000)]
            .into_iter()
            .find_map(|(suffix, millis)| Some((digits.strip_suffix(suffix)?, millis)))
            .ok_or_else(error)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty()
            || number.ends_with('.')
            || !plain(whole)
            || !plain(fraction)
            || fraction.len() > 3
        {
            return Err(error());
        }
        // The number in thousandths, so that 10.4s is exact.
        let thousandths: i64 = format!("{whole}{fraction:0<3}")
            .parse()
            .map_err(|_| error())?;
        let millis = thousandths.checked_mul(unit).ok_or_else(error)? / 1000;
        Ok(Self {
            millis: sign * millis,
        })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.millis % 1000 == 0 {
            write!(f, "{}s", self.millis / 1000)
        } else {
            write!(f, "{}ms", self.millis)
        }
    }
}

impl TryFrom<String> for Span {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A length of time with its unit; negative for a moment before the fault.",
            "pattern": r"^-?[0-9]+(\.[0-9]{1,3})?(ms|s|m)$",
            "examples": ["12s", "250ms", "1m", "-20s"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_and_writes_it_back() {
        for (text, seconds, written) in [
            ("12s", 12.0, "12s"),
            ("250ms", 0.25, "250ms"),
            ("1m", 60.0, "60s"),
            ("-20s", -20.0, "-20s"),
            ("10.4s", 10.4, "10400ms"),
            ("0s", 0.0, "0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert!((span.seconds() - seconds).abs() < 1e-9, "{text}");
            assert_eq!(span.to_string(), written);
            assert_eq!(written.parse(), Ok(span));
        }
    }

    #[test]
    fn refuses_what_has_no_unit_or_no_number() {
        for text in [
            "",
            "12",
            "s",
            "-s",
            "1h",
            "1.s",
            ".5s",
            "1.2345s",
            "1,5s",
            "--1s",
            "1 s",
            "99999999999999999999s",
        ] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("{text:?}")) && error.contains("250ms"),
                "{error}"
            );
        }
    }
}
