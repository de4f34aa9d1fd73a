//! Tries addresses of API servers once, side by side: TCP, TLS, `GET /readyz`; within a bounded time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::agent::Input;
use holdfast_core::probing::Progress;
use holdfast_linux::dial;
use rustls::CertificateError;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use crate::probe::Prober;
use crate::tls::Identity;

/// Whatever has not answered after this time is silent. A SYN that got lost is sent again after 1 s
/// and 3 s (RFC 6298).
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How far one address came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trial {
    /// TCP was connected.
    pub(crate) connected: bool,
    /// TLS was complete and the certificate verified.
    pub(crate) secured: bool,
    /// How it ended; `None` when the time was over.
    pub(crate) end: Option<Progress>,
}

/// Tries all of them.
pub(crate) async fn try_all(
    identity: &Arc<Identity>,
    addresses: impl IntoIterator<Item = SocketAddr>,
) -> BTreeMap<SocketAddr, Trial> {
    let until = Instant::now() + PATIENCE;
    let (facts, mut progress) = mpsc::unbounded_channel();
    let mut prober = Prober::new(Arc::clone(identity), facts);
    let mut trials = BTreeMap::new();
    for (id, address) in (1..).zip(addresses) {
        prober.start(address, id, false);
        trials.insert(address, Trial::default());
    }
    while trials.values().any(|trial| trial.end.is_none())
        && let Ok(Some(fact)) = timeout_at(until, progress.recv()).await
    {
        let Input::Probed {
            upstream, progress, ..
        } = fact
        else {
            continue;
        };
        let Some(trial) = trials.get_mut(&upstream) else {
            continue;
        };
        match progress {
            Progress::Connected => trial.connected = true,
            Progress::Secured => trial.secured = true,
            Progress::Answered { .. }
            | Progress::Broken
            | Progress::Foreign { .. }
            | Progress::Refused
            | Progress::Reset
            | Progress::TimedOut
            | Progress::Unreachable => trial.end = Some(progress),
        }
    }
    trials
}

/// Why a certificate was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// The CA signed it, for these names.
    OtherNames(Vec<String>),
    /// Another CA signed it.
    OtherAuthority,
    /// Anything else, in the TLS library's words.
    Other(String),
}

/// Shakes hands once more with an address, and tells what is wrong with its certificate; `None` when
/// nothing is, or when there was no handshake.
pub(crate) async fn stranger(identity: &Identity, address: SocketAddr) -> Option<Stranger> {
    let shake = async {
        let stream = dial::dial(address).await.ok()?;
        identity
            .connector()
            .connect(identity.name(), stream)
            .await
            .err()
    };
    let error = timeout(PATIENCE, shake).await.ok().flatten()?;
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return Some(Stranger::Other(error.to_string()));
    };
    Some(
        if let CertificateError::NotValidForNameContext { presented, .. } = wrong {
            Stranger::OtherNames(presented.iter().map(|name| plain(name)).collect())
        } else if matches!(
            wrong,
            // The CAs of kubeadm's clusters all have one name: another one's shows by its signature.
            CertificateError::UnknownIssuer | CertificateError::BadSignature
        ) {
            Stranger::OtherAuthority
        } else {
            Stranger::Other(error.to_string())
        },
    )
}

/// `api.example.com` of `DnsName("api.example.com")`, as the TLS library writes it.
fn plain(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
}
