//! From when until when a certificate is valid, read from its DER.
//!
//! TLS libraries tell that of a server's certificate by refusing it. Of a CA's own certificate they
//! may not: webpki takes it as an anchor whatever its dates, while Go checks them
//! (`crypto/x509`, `Certificate.isValid`), so that an agent could go on where every kubelet stops.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The span in which a certificate is valid (RFC 5280, section 4.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Its first moment.
    pub not_before: Timestamp,
    /// Its last moment.
    pub not_after: Timestamp,
}

/// Tags of ASN.1 (X.690, section 8; the tagged version field is RFC 5280's `[0]`).
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// How a moment lies to a certificate's validity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Before it.
    NotYet,
    /// Within it, for longer than [`SOON`].
    Valid,
    /// Within it, and it ends soon.
    EndsSoon,
    /// After it.
    Over,
}

/// A CA needs this long to be replaced on every node without haste.
pub const SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

impl Validity {
    /// How `now` lies to it.
    pub fn standing(self, now: Timestamp) -> Standing {
        if now < self.not_before {
            Standing::NotYet
        } else if now > self.not_after {
            Standing::Over
        } else if self.not_after.duration_since(now) < SOON {
            Standing::EndsSoon
        } else {
            Standing::Valid
        }
    }

    /// Reads it; `None` for what is no X.509 certificate.
    pub fn read(der: &[u8]) -> Option<Self> {
        let (certificate, _) = element(der, SEQUENCE)?;
        let (signed, _) = element(certificate, SEQUENCE)?;
        // version (absent in v1), serialNumber, signature and issuer stand before it.
        let mut rest = element(signed, VERSION).map_or(signed, |(_, rest)| rest);
        for _ in 0..3 {
            rest = first(rest)?.2;
        }
        let (validity, _) = element(rest, SEQUENCE)?;
        let (not_before, rest) = time(validity)?;
        let (not_after, _) = time(rest)?;
        Some(Self {
            not_before,
            not_after,
        })
    }
}

fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = first(der)?;
    (found == tag).then_some((content, rest))
}

/// The first element: its tag, its content, and what follows it.
fn first(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&short, mut rest) = rest.split_first()?;
    let length = if short < 0x80 {
        usize::from(short)
    } else {
        // The long form: that many bytes of length follow. No certificate needs more than four.
        let count = usize::from(short & 0x7f);
        if !(1..=4).contains(&count) {
            return None;
        }
        let (bytes, after) = rest.split_at_checked(count)?;
        rest = after;
        bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `YYMMDDHHMMSSZ` with years from 1950 to 2049, or `YYYYMMDDHHMMSSZ` (RFC 5280, section 4.1.2.5.1).
fn time(der: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (tag, content, rest) = first(der)?;
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (year, rest_of_it) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (year + if year < 50 { 2000 } else { 1900 }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let pair = |at: usize| rest_of_it.get(at..at + 2)?.parse::<i8>().ok();
    let at = DateTime::new(year, pair(0)?, pair(2)?, pair(4)?, pair(6)?, pair(8)?, 0).ok()?;
    let at = at.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Some((at, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(from: (i32, u8, u8), until: (i32, u8, u8)) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["api.example.com".to_owned()]).unwrap();
        params.not_before = date_time_ymd(from.0, from.1, from.2);
        params.not_after = date_time_ymd(until.0, until.1, until.2);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn both_forms_of_a_time_are_read() {
        // Years from 2050 on are written in the long form.
        for (from, until) in [((1999, 12, 31), (2026, 2, 1)), ((2049, 1, 2), (2051, 3, 4))] {
            let read = Validity::read(&certificate(from, until)).unwrap();
            let text = |(y, m, d): (i32, u8, u8)| format!("{y}-{m:02}-{d:02}T00:00:00Z");
            assert_eq!(read.not_before.to_string(), text(from));
            assert_eq!(read.not_after.to_string(), text(until));
        }
    }

    #[test]
    fn a_moment_is_before_within_near_the_end_or_after() {
        let read = Validity::read(&certificate((2020, 1, 1), (2026, 6, 30))).unwrap();
        for (now, standing) in [
            ("2019-12-31T23:59:59Z", Standing::NotYet),
            ("2020-01-01T00:00:00Z", Standing::Valid),
            ("2026-05-30T00:00:00Z", Standing::Valid),
            ("2026-06-01T00:00:00Z", Standing::EndsSoon),
            ("2026-06-30T00:00:01Z", Standing::Over),
        ] {
            assert_eq!(read.standing(now.parse().unwrap()), standing, "{now}");
        }
    }

    proptest! {
        #[test]
        fn broken_bytes_are_no_certificate_and_no_panic(
            cut in 0usize..300,
            flip in 0usize..300,
            noise in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            prop_assert!(Validity::read(&noise).is_none());
            let mut der = certificate((2020, 1, 1), (2030, 1, 1));
            if let Some(byte) = der.get_mut(flip) {
                *byte ^= 0xff;
            }
            der.truncate(cut);
            let read = Validity::read(&der).map(|v| v.not_after);
            prop_assert!(cut > 40 || read.is_none());
        }
    }
}
