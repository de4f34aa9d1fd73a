//! `holdfast lab azure`: a stand-in for Azure Resource Manager on this machine.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use holdfast_lab::azure::{
    self, Azure as Options, Budget, Limits, PlaneError, Secrets, ServeError, Settings,
};
use holdfast_lab::span::Span;
use tokio::signal::unix::{SignalKind, signal};

use super::{Failure, Outcome, input, runtime, unable};

/// Arguments of `holdfast lab azure`.
#[derive(Debug, Args)]
pub(super) struct Azure {
    /// Where to listen; port 0 lets the kernel choose
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Start with what `az … -o json` printed into this folder, or `holdfast egress collect`
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Write such a folder at the end
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// The subscription that is there without any resource; with --from, the folder's own
    #[arg(
        long,
        value_name = "ID",
        default_value = "00000000-0000-0000-0000-000000000000"
    )]
    subscription: String,
    /// How long an operation goes on after its answer; 0s ends it at once
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    latency: Duration,
    /// How many resources a page of a list has
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    page_size: u32,
    /// The request budget, as bucket and refill per second of reads, writes and deletes; `none` for
    /// no budget
    #[arg(long, value_name = "R:N,W:N,D:N", default_value = "250:25,200:10,200:10", value_parser = limits)]
    limits: Limit,
    /// A token that is always good, beside those that the token endpoints give out
    #[arg(
        long,
        value_name = "TOKEN",
        env = "HOLDFAST_LAB_AZURE_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
    /// The secret that client credentials must show; any unless given
    #[arg(
        long,
        value_name = "SECRET",
        env = "HOLDFAST_LAB_AZURE_CLIENT_SECRET",
        hide_env_values = true
    )]
    client_secret: Option<String>,
    /// Give tokens to managed identities there, over plain HTTP at /metadata/identity/oauth2/token
    #[arg(long, value_name = "ADDRESS")]
    metadata: Option<SocketAddr>,
    /// Where certificates go; a folder among the temporary files unless given
    #[arg(long, value_name = "DIR")]
    certificates: Option<PathBuf>,
    /// Put each VM into a network namespace in which it reaches the internet, another namespace,
    /// only as far as the egress model says; `POST /lab/dial` tries it
    #[arg(long)]
    network: bool,
    /// End when standard input ends, as a child of a test should
    #[arg(long)]
    until_input_ends: bool,
}

/// Is the process that keeps the network of another one.
pub(super) fn network() -> Result<Outcome, Failure> {
    runtime()?.block_on(azure::inside()).map_err(unable)?;
    Ok(Outcome::Held)
}

/// A request budget, or none.
#[derive(Clone, Copy, Debug)]
struct Limit(Option<Limits>);

/// Serves until a signal, or the end of the input, ends it. The first line on `out` says where.
pub(super) fn run(arguments: Azure, out: &mut impl Write) -> Result<Outcome, Failure> {
    let own = std::env::temp_dir().join(format!("holdfast-lab-azure-{}", std::process::id()));
    let certificates = arguments.certificates.clone();
    let options = Options {
        listen: arguments.listen,
        metadata: arguments.metadata,
        certificates: certificates.clone().unwrap_or_else(|| own.clone()),
        from: arguments.from,
        dump: arguments.dump,
        network: arguments
            .network
            .then(std::env::current_exe)
            .transpose()
            .map_err(unable)?,
        settings: Settings {
            subscription: arguments.subscription,
            latency: arguments.latency,
            page: usize::try_from(arguments.page_size).unwrap_or(usize::MAX),
            limits: arguments.limits.0,
            secrets: Secrets {
                client_secret: arguments.client_secret,
                token: arguments.token,
            },
        },
    };
    let mut said = Ok(());
    let served = runtime()?.block_on(async {
        let end = end(arguments.until_input_ends).map_err(unable)?;
        let ready = |told: &serde_json::Value| {
            said = writeln!(out, "{told}").and_then(|()| out.flush());
        };
        azure::serve(options, ready, end).await.map_err(failure)
    });
    if certificates.is_none() && own.exists() {
        std::fs::remove_dir_all(&own).map_err(unable)?;
    }
    served?;
    said.map_err(unable)?;
    Ok(Outcome::Held)
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Folder(azure::LoadError::Folder(_) | azure::LoadError::Resource { .. }) => {
            input(error)
        }
        ServeError::Plane(PlaneError::Launch(error)) => super::launch_failed(error),
        ServeError::Plane(_)
        | ServeError::Certificates(_)
        | ServeError::Folder(_)
        | ServeError::Start(_) => unable(error),
    }
}

/// What ends it: SIGTERM, SIGINT, and the end of the input if that was asked for.
fn end(with_input: bool) -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (ended, input) = tokio::sync::oneshot::channel::<()>();
    let listener = with_input.then(|| {
        // A thread, since reading the input can't be given up.
        std::thread::spawn(move || {
            drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            ended.send(()).unwrap_or_default();
        })
    });
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = input, if listener.is_some() => {}
        }
    })
}

fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().map_err(|error| error.to_string())?;
    if span.is_negative() {
        return Err(format!("found {text:?}, accepted: 0s or more"));
    }
    Ok(span.duration())
}

fn limits(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let refused =
        || format!("found {text:?}, accepted: none, or three budgets as in 250:25,200:10,200:10");
    let budgets: Vec<Budget> = text
        .split(',')
        .map(|one| {
            let (size, refill) = one.split_once(':').ok_or_else(refused)?;
            Ok(Budget {
                size: size.parse().map_err(|_| refused())?,
                refill: refill.parse().map_err(|_| refused())?,
            })
        })
        .collect::<Result<_, String>>()?;
    let &[reads, writes, deletes] = budgets.as_slice() else {
        return Err(refused());
    };
    Ok(Limit(Some(Limits {
        reads,
        writes,
        deletes,
    })))
}
