//! The file with the cluster's CA: readable, PEM, a CA's, and valid today.

use std::fs;

use holdfast_core::certificate::{Standing, Validity};
use holdfast_core::checkup::{Finding, Subject};
use holdfast_core::config::Config;
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::tls::Identity;

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let path = config.ca.display();
    if let Err(error) = Identity::load(&config.ca, &config.server_name) {
        let advice = "give the file with the certificates of the cluster's CA with --ca";
        return vec![Finding::fail(Subject::Ca, error.to_string(), advice).about(path)];
    }
    let now = Timestamp::now();
    let bytes = fs::read(&config.ca).unwrap_or_default();
    let validities: Vec<_> = CertificateDer::pem_slice_iter(&bytes)
        .flatten()
        .filter_map(|der| Validity::read(&der))
        .collect();
    let finding = judge(&validities, now).about(path);
    vec![finding]
}

fn judge(validities: &[Validity], now: Timestamp) -> Finding {
    let count = validities.len();
    let good: Vec<_> = validities
        .iter()
        .filter(|v| matches!(v.standing(now), Standing::Valid | Standing::EndsSoon))
        .collect();
    let renew = "renew the CA and write its certificate into this file, on every node";
    let Some(last) = good.iter().map(|v| v.not_after).max() else {
        let evidence = validities.iter().map(|v| v.not_after).max().map_or_else(
            || "its dates can't be read".to_owned(),
            |at| {
                format!(
                    "none of {count} certificates is valid today; the last ends on {}",
                    day(at)
                )
            },
        );
        return Finding::fail(Subject::Ca, evidence, renew);
    };
    let evidence = format!(
        "{} of {count} certificates valid today, until {}",
        good.len(),
        day(last)
    );
    let lasts = good.iter().any(|v| v.standing(now) == Standing::Valid);
    if lasts {
        Finding::ok(Subject::Ca, evidence)
    } else {
        Finding::warn(Subject::Ca, evidence, renew)
    }
}

fn day(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%Y-%m-%d")
}
