//! `holdfast adopt` and `holdfast release`: a kubeconfig's clients go through the agent, and back.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use holdfast_core::adoption::{Adoption, AdoptionOutcome, Adoptions};
use holdfast_core::status::Status;
use holdfast_linux::replace::ReplaceError;
use holdfast_node::adopt::{self as node, AdoptError};

use super::lab::runtime;
use super::status::{Output, get};
use crate::exit::{Failure, Outcome, input, unable};

/// Arguments of `holdfast adopt`.
#[derive(Debug, Args)]
pub struct Adopt {
    /// A kubeconfig whose clients shall go through the agent; may be repeated
    #[arg(long = "kubeconfig", value_name = "PATH", required = true)]
    kubeconfigs: Vec<PathBuf>,
    /// The agent's listener [default: the first that the agent at --admin names]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listener: Option<SocketAddr>,
    /// The agent's admin address
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        env = "HOLDFAST_ADMIN",
        default_value = "127.0.0.1:6446"
    )]
    admin: SocketAddr,
    /// Verify, show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Arguments of `holdfast release`.
#[derive(Debug, Args)]
pub struct Release {
    /// A kubeconfig that was adopted; may be repeated
    #[arg(long = "kubeconfig", value_name = "PATH", required = true)]
    kubeconfigs: Vec<PathBuf>,
    /// Verify, show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Release also when the server of old does not answer while the agent serves
    #[arg(long)]
    force: bool,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Adopts all of the kubeconfigs, or none.
pub(crate) fn adopt(arguments: &Adopt, out: &mut impl Write) -> Result<Outcome, Failure> {
    let listener = match arguments.listener {
        Some(listener) => listener,
        None => first_listener(arguments.admin)?,
    };
    let doing = node::adopt(&arguments.kubeconfigs, listener, arguments.dry_run);
    let done = runtime()?.block_on(doing).map_err(failure)?;
    tell(done, arguments.output, out)
}

/// Releases the kubeconfigs one after the other, up to one that can't be.
pub(crate) fn release(arguments: &Release, out: &mut impl Write) -> Result<Outcome, Failure> {
    let runtime = runtime()?;
    let (mut done, mut failed) = (Vec::new(), None);
    for path in &arguments.kubeconfigs {
        match runtime.block_on(node::release(path, arguments.dry_run, arguments.force)) {
            Ok(released) => done.push(released),
            // What was released before is told all the same.
            Err(error) => {
                failed = Some(failure(error));
                break;
            }
        }
    }
    if !done.is_empty() {
        tell(done, arguments.output, out)?;
    }
    failed.map_or(Ok(Outcome::Held), Err)
}

/// The agent's own word on where it listens, while it can serve.
fn first_listener(admin: SocketAddr) -> Result<SocketAddr, Failure> {
    let hint =
        format!("is the agent running, with its admin address {admin}? See `holdfast check`");
    let body = get(admin, "/status").map_err(|e| Failure::Unable(e, Some(hint)))?;
    let status: Status = serde_json::from_str(&body)
        .context("read the agent's status")
        .map_err(unable)?;
    if !status.ready {
        let hint = Some("see `holdfast status` and `holdfast check`".to_owned());
        let error = anyhow!("the agent at {admin} has no usable upstream");
        return Err(Failure::Unable(error, hint));
    }
    let none = || unable(anyhow!("the agent at {admin} listens nowhere"));
    status.listeners.first().copied().ok_or_else(none)
}

fn failure(error: AdoptError) -> Failure {
    let hint = match &error {
        AdoptError::Kubeconfig { .. } | AdoptError::Client(_) | AdoptError::BadRecord { .. } => {
            return input(error);
        }
        AdoptError::File(ReplaceError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            return input(error);
        }
        AdoptError::Worse { .. } => {
            let hint = "mend the server of old first, or give --force";
            return Failure::Refused(error.into(), Some(hint.to_owned()));
        }
        AdoptError::Unproved { .. } => {
            "nothing was changed; `holdfast check` says what must be mended"
        }
        AdoptError::NoRecord { .. } => {
            "it was not adopted by `holdfast adopt`; set server and tls-server-name by hand"
        }
        AdoptError::File(_) => "nothing was changed",
    };
    let hint = Some(hint.to_owned());
    Failure::Unable(error.into(), hint)
}

fn tell(done: Vec<Adoption>, output: Output, out: &mut impl Write) -> Result<Outcome, Failure> {
    let adoptions = Adoptions { kubeconfigs: done };
    let text = match output {
        Output::Json => serde_json::to_string_pretty(&adoptions).map_err(unable)? + "\n",
        Output::Table => render(&adoptions.kubeconfigs),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(Outcome::Held)
}

fn render(done: &[Adoption]) -> String {
    let mut lines: Vec<String> = done.iter().flat_map(lines).collect();
    if done.iter().any(|adoption| adoption.outcome.has_changed()) {
        lines.push(
            "\nWhoever reads such a file at its start goes the old way until it is restarted; the \
             kubelet for one:\n  systemctl restart kubelet\nkube-proxy reads a ConfigMap and the \
             pods' clients their own environment: no file on this node changes those."
                .to_owned(),
        );
    }
    lines.join("\n") + "\n"
}

fn lines(adoption: &Adoption) -> Vec<String> {
    let Adoption {
        kubeconfig,
        outcome,
        server_before,
        server,
        tls_server_name_before,
        tls_server_name,
        evidence,
    } = adoption;
    let mut lines = vec![format!("{kubeconfig}: {}", words(*outcome))];
    // Only the two fields: the lines beside them may be secrets.
    let fields = [
        ("server", Some(server_before), Some(server)),
        (
            "tls-server-name",
            tls_server_name_before.as_ref(),
            tls_server_name.as_ref(),
        ),
    ];
    for (field, before, now) in fields.into_iter().filter(|(_, before, now)| before != now) {
        lines.extend(before.map(|value| format!("  - {field}: {value}")));
        lines.extend(now.map(|value| format!("  + {field}: {value}")));
    }
    lines.extend(evidence.iter().map(|fact| format!("  seen: {fact}")));
    lines
}

const fn words(outcome: AdoptionOutcome) -> &'static str {
    match outcome {
        AdoptionOutcome::Adopted => "adopted",
        AdoptionOutcome::AlreadyAdopted => "adopted already, nothing changed",
        AdoptionOutcome::WouldAdopt => "would be adopted, nothing changed",
        AdoptionOutcome::Released => "released, to the byte as it was before",
        AdoptionOutcome::FieldsReleased => {
            "released; something else in it was changed since its adoption, and is kept"
        }
        AdoptionOutcome::AlreadyReleased => "released already, nothing changed",
        AdoptionOutcome::WouldRelease => "would be released, nothing changed",
    }
}
