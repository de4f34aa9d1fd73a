//! Sends the clients of a kubeconfig through the agent, and back again; never by a step that was not
//! proved first.
//!
//! ```text
//! adopt    read ─▶ ask through the listener, as that client ─▶ write beside, exchange ─▶ ask again
//!                         no ─▶ nothing was touched                       no ─▶ the old file is back
//! release  read ─▶ ask the old server, as that client       ─▶ write beside, exchange
//! ```

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::adoption::{Adoption, AdoptionOutcome, Record, Return, way_back};
use holdfast_core::kubeconfig::{Kubeconfig, KubeconfigError, Target};
use holdfast_linux::replace::{ReplaceError, Snapshot};
use ring::digest::{SHA256, digest};
use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::cluster::{self, Route};

/// Ending of the record's name, beside the kubeconfig.
pub const RECORD: &str = ".holdfast";

/// Ending of the copy's name, beside the kubeconfig.
pub const COPY: &str = ".before-holdfast";

/// A request with credentials, a plug-in that fetches them included.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why nothing was done. Files that were written before in the same run are as they were.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The kubeconfig can't be used.
    #[error("{path}: {source}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: KubeconfigError,
    },
    /// What its client needs can't be used.
    #[error(transparent)]
    Client(#[from] cluster::KubeconfigError),
    /// Nobody answered as the kubeconfig's client expects.
    #[error("{path}: {route} is not proved: {why}")]
    Unproved {
        /// The file.
        path: PathBuf,
        /// Which way was tried.
        route: String,
        /// What happened instead.
        why: String,
    },
    /// It would take a client from a way that works to one that does not.
    #[error(
        "{path}: {server} does not answer ({why}), while the agent serves: releasing would cut this \
         node off"
    )]
    Worse {
        /// The file.
        path: PathBuf,
        /// The server before the adoption.
        server: String,
        /// What happened there.
        why: String,
    },
    /// It was never adopted, or its record is gone.
    #[error("{path}: no record of an adoption ({record})")]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Where it would be.
        record: PathBuf,
    },
    /// The record can't be used.
    #[error("{record}: found {found}; accepted: what `holdfast adopt` wrote there")]
    BadRecord {
        /// The file.
        record: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// The file can't be read or written.
    #[error(transparent)]
    File(#[from] ReplaceError),
}

/// One kubeconfig as it is, and what was written down about it.
struct Place {
    snapshot: Snapshot,
    text: String,
    record: Option<Record>,
    copy: Option<String>,
}

impl Place {
    fn read(path: &Path) -> Result<Self, AdoptError> {
        let snapshot = Snapshot::read(path)?;
        let text = String::from_utf8(snapshot.bytes().to_vec()).map_err(|_| {
            let source = KubeconfigError {
                field: "the file".to_owned(),
                found: "bytes that are no UTF-8".to_owned(),
                accepted: "a kubeconfig in YAML or JSON (kind: Config)",
            };
            wrong(&snapshot)(source)
        })?;
        let record = match snapshot.read_companion(RECORD)? {
            Some(bytes) => Some(read_record(&snapshot.companion(RECORD), &bytes)?),
            None => None,
        };
        let copy = snapshot.read_companion(COPY)?;
        Ok(Self {
            copy: copy.and_then(|bytes| String::from_utf8(bytes).ok()),
            snapshot,
            text,
            record,
        })
    }

    fn path(&self) -> &Path {
        self.snapshot.path()
    }

    fn parsed<'t>(&self, text: &'t str) -> Result<Kubeconfig<'t>, AdoptError> {
        Kubeconfig::parse(text).map_err(wrong(&self.snapshot))
    }

    fn way_back(&self, record: &Record) -> Result<Return, AdoptError> {
        way_back(&self.text, record, self.copy.as_deref(), sha256).map_err(wrong(&self.snapshot))
    }

    /// The text as it was before any adoption. A server that nobody wrote down is the client's own.
    fn before(&self) -> String {
        let back = self.record.as_ref().map(|record| self.way_back(record));
        match back {
            Some(Ok(Return::Exact(text) | Return::Fields(text))) => text,
            Some(Ok(Return::There) | Err(_)) | None => self.text.clone(),
        }
    }

    /// The way back is written down before the way there is taken.
    fn write(
        &self,
        original: &str,
        record: &Record,
        wanted: &str,
    ) -> Result<Snapshot, ReplaceError> {
        self.snapshot.write_companion(COPY, original.as_bytes())?;
        self.snapshot.write_companion(RECORD, &written(record))?;
        self.snapshot.replace(wanted.as_bytes())
    }

    /// Puts record and copy back as they were.
    fn restore_companions(&self) -> Result<(), AdoptError> {
        let record = self.record.as_ref().map(written);
        let copy = self.copy.as_ref().map(|copy| copy.clone().into_bytes());
        for (suffix, before) in [(RECORD, record), (COPY, copy)] {
            match before {
                Some(bytes) => self.snapshot.write_companion(suffix, &bytes)?,
                None => self.snapshot.remove_companion(suffix)?,
            }
        }
        Ok(())
    }

    fn report(&self, outcome: AdoptionOutcome, before: Target, now: Target) -> Adoption {
        Adoption {
            kubeconfig: self.path().display().to_string(),
            outcome,
            server_before: before.server,
            server: now.server,
            tls_server_name_before: before.tls_server_name,
            tls_server_name: now.tls_server_name,
            evidence: Vec::new(),
        }
    }
}

/// One kubeconfig that is proved, and what would be written.
struct Step {
    place: Place,
    /// The text before any adoption, and the one to write; `None` when nothing is to be written.
    change: Option<(String, String)>,
    report: Adoption,
}

/// Sends the clients of these kubeconfigs to `listener`: all of them, or none.
///
/// # Errors
/// Why nothing was done; every file is as it was.
pub async fn adopt(
    paths: &[PathBuf],
    listener: SocketAddr,
    dry_run: bool,
) -> Result<Vec<Adoption>, AdoptError> {
    let mut steps = Vec::new();
    for path in paths {
        steps.push(prove(path, listener, dry_run).await?);
    }
    if dry_run {
        return Ok(steps.into_iter().map(|step| step.report).collect());
    }
    let mut done = Vec::new();
    let mut reports = Vec::new();
    for step in steps {
        match carry_out(step).await {
            Ok((report, undo)) => {
                reports.push(report);
                done.extend(undo);
            }
            Err(error) => {
                for undo in done.into_iter().rev() {
                    undo.now()?;
                }
                return Err(error);
            }
        }
    }
    Ok(reports)
}

/// Finds out what would be written, and asks through the listener as the kubeconfig's client would.
async fn prove(path: &Path, listener: SocketAddr, dry_run: bool) -> Result<Step, AdoptError> {
    let place = Place::read(path)?;
    let original = place.before();
    let before = place.parsed(&original)?;
    // Led here by somebody else's hand, it has no way back that could be written down.
    let by_hand = before.goes_to(listener);
    let after = if by_hand {
        before.target()
    } else {
        before.through(listener)
    };
    let wanted = before.with(&after).map_err(wrong(&place.snapshot))?;
    let changes = wanted != place.text;
    if changes {
        place.snapshot.may_be_replaced()?;
    }
    let addresses: cluster::Addresses = Arc::new(move || vec![listener]);
    let version = ask(
        place.path(),
        Route::Through(addresses),
        &listener.to_string(),
    )
    .await?;
    let outcome = match (changes, dry_run) {
        (false, _) => AdoptionOutcome::AlreadyAdopted,
        (true, true) => AdoptionOutcome::WouldAdopt,
        (true, false) => AdoptionOutcome::Adopted,
    };
    let mut report = place.report(outcome, before.target(), after);
    let name = before.expected_name();
    report.evidence.push(format!(
        "{listener} leads to an API server ({version}) whose certificate is for {name} and that takes \
         this client's credentials"
    ));
    if by_hand {
        report
            .evidence
            .push("it led there before, and nothing was written down for its release".to_owned());
    }
    let change = changes.then_some((original, wanted));
    Ok(Step {
        place,
        change,
        report,
    })
}

/// What was written, and what was there before.
struct Undo {
    now: Snapshot,
    before: Place,
}

impl Undo {
    /// Puts everything back.
    fn now(self) -> Result<(), AdoptError> {
        self.now.replace(self.before.snapshot.bytes())?;
        self.before.restore_companions()
    }
}

async fn carry_out(step: Step) -> Result<(Adoption, Option<Undo>), AdoptError> {
    let Step {
        place,
        change,
        mut report,
    } = step;
    let Some((original, wanted)) = change else {
        return Ok((report, None));
    };
    let record = Record {
        version: Record::VERSION,
        before: place.parsed(&original)?.target(),
        after: place.parsed(&wanted)?.target(),
        before_sha256: sha256(&original),
        after_sha256: sha256(&wanted),
    };
    let now = match place.write(&original, &record, &wanted) {
        Ok(now) => now,
        Err(error) => {
            place.restore_companions()?;
            return Err(error.into());
        }
    };
    let path = place.path().to_owned();
    let undo = Undo { now, before: place };
    match ask(&path, Route::Server, &report.server).await {
        Ok(_) => {
            report
                .evidence
                .push("the same through the file as it was written".to_owned());
            Ok((report, Some(undo)))
        }
        Err(error) => {
            undo.now()?;
            Err(error)
        }
    }
}

/// Sends the clients of a kubeconfig back to where they were sent before. With `force` also when nobody
/// answers there while the agent serves.
///
/// # Errors
/// Why it was not released; it is as it was.
pub async fn release(path: &Path, dry_run: bool, force: bool) -> Result<Adoption, AdoptError> {
    let place = Place::read(path)?;
    let now = place.parsed(&place.text)?.target();
    let Some(record) = &place.record else {
        return Err(AdoptError::NoRecord {
            path: place.path().to_owned(),
            record: place.snapshot.companion(RECORD),
        });
    };
    let (text, outcome) = match place.way_back(record)? {
        Return::There => {
            if !dry_run {
                forget(&place.snapshot)?;
            }
            return Ok(place.report(AdoptionOutcome::AlreadyReleased, now.clone(), now));
        }
        Return::Exact(text) => (text, AdoptionOutcome::Released),
        Return::Fields(text) => (text, AdoptionOutcome::FieldsReleased),
    };
    place.snapshot.may_be_replaced()?;
    let before = place.parsed(&text)?;
    let outcome = if dry_run {
        AdoptionOutcome::WouldRelease
    } else {
        outcome
    };
    let mut report = place.report(outcome, now, before.target());
    report.evidence.push(compare(&place, &before, force).await?);
    if !dry_run {
        place.snapshot.replace(text.as_bytes())?;
        forget(&place.snapshot)?;
    }
    Ok(report)
}

/// Asks the old server, as the kubeconfig's client will. Where it does not answer, the agent must not
/// either: then nothing is lost.
async fn compare(
    place: &Place,
    before: &Kubeconfig<'_>,
    force: bool,
) -> Result<String, AdoptError> {
    let server = before.target().server;
    let parts = before.server();
    let resolved = lookup_host((parts.host, parts.port)).await;
    let addresses: Vec<SocketAddr> = resolved.map(Iterator::collect).unwrap_or_default();
    let route = Route::Through(Arc::new(move || addresses.clone()));
    let why = match ask(place.path(), route, &server).await {
        Ok(version) => return Ok(format!("{server} answers ({version})")),
        Err(AdoptError::Unproved { why, .. }) => why,
        // What its client needs is broken either way: the agent is no help for that.
        Err(error) => error.to_string(),
    };
    let through = ask(place.path(), Route::Server, "the agent").await;
    if through.is_err() || force {
        return Ok(format!("{server} does not answer ({why})"));
    }
    Err(AdoptError::Worse {
        path: place.path().to_owned(),
        server,
        why,
    })
}

fn forget(snapshot: &Snapshot) -> Result<(), AdoptError> {
    snapshot.remove_companion(RECORD)?;
    Ok(snapshot.remove_companion(COPY)?)
}

/// Reads the server's version with the kubeconfig's own CA, expected name and credentials: a request
/// that changes nothing. One that is forbidden came from somebody known.
async fn ask(path: &Path, route: Route, way: &str) -> Result<String, AdoptError> {
    let client = cluster::client(path, route)?;
    let why = match timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Ok(version)) => return Ok(version.git_version),
        Ok(Err(kube::Error::Api(status))) if status.code == FORBIDDEN => {
            return Ok("version not told".to_owned());
        }
        Ok(Err(kube::Error::Api(status))) if status.code == UNAUTHORIZED => {
            "the API server does not take this client's credentials (HTTP 401)".to_owned()
        }
        Ok(Err(kube::Error::Api(status))) => format!("HTTP {}", status.code),
        Ok(Err(kube::Error::Service(error))) => error.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer in {} s", PATIENCE.as_secs()),
    };
    Err(AdoptError::Unproved {
        path: path.to_owned(),
        route: format!("the way by {way}"),
        why,
    })
}

/// RFC 9110, sections 15.5.2 and 15.5.4.
const UNAUTHORIZED: u16 = 401;
const FORBIDDEN: u16 = 403;

fn sha256(text: &str) -> String {
    let sum = digest(&SHA256, text.as_bytes());
    let hex: Vec<_> = sum
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    hex.concat()
}

fn written(record: &Record) -> Vec<u8> {
    // Strings and a number always make JSON.
    let mut json = serde_json::to_vec_pretty(record).unwrap_or_default();
    json.push(b'\n');
    json
}

fn read_record(path: &Path, bytes: &[u8]) -> Result<Record, AdoptError> {
    let bad = |found: String| AdoptError::BadRecord {
        record: path.to_owned(),
        found,
    };
    let record: Record = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
    if record.version != Record::VERSION {
        return Err(bad(format!("version {}", record.version)));
    }
    Ok(record)
}

fn wrong(snapshot: &Snapshot) -> impl FnOnce(KubeconfigError) -> AdoptError {
    let path = snapshot.path().to_owned();
    move |source| AdoptError::Kubeconfig { path, source }
}
