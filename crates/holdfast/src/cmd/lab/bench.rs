//! `holdfast lab bench`: the data path beside its peers.

mod table;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use holdfast_lab::bench::contender::Contender;
use holdfast_lab::bench::{Order, launch};
use holdfast_lab::launch::Means;

use super::{Failure, Outcome, Output, check_writable, launch_failed, runtime, unable, write_file};

/// Arguments of `holdfast lab bench`.
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// How often each subject is measured; medians need more than two
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// How long each of the four timed measurements takes, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    seconds: Duration,
    /// Who is measured; those whose programs are not installed are left out, and named
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SUBJECT",
        default_value = "direct,holdfast,haproxy,haproxy-splice,nginx"
    )]
    subjects: Vec<Contender>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure what comes in on standard input, inside the namespaces made for it
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs the command; results go to `out`, progress and who is left out to `err`.
pub(super) fn run(
    bench: &Bench,
    out: &mut impl Write,
    err: &mut impl Write,
) -> Result<Outcome, Failure> {
    if bench.inside {
        runtime()?.block_on(launch::inside()).map_err(unable)?;
        return Ok(Outcome::Held);
    }
    let mut absent = Vec::new();
    let mut contenders = Vec::new();
    for contender in Contender::ALL {
        if !bench.subjects.contains(&contender) {
            continue;
        }
        match contender.missing() {
            None => contenders.push(contender),
            Some(missing) => absent.push(format!(
                "{contender} is not measured: this machine lacks {}; as root: {}",
                missing.what, missing.install
            )),
        }
    }
    for line in &absent {
        writeln!(err, "warning: {line}").map_err(unable)?;
    }
    if contenders.is_empty() {
        let hint = "install one of them, or measure direct and holdfast alone";
        return Err(Failure::Unable(
            anyhow!("nobody is left to be measured"),
            Some(hint.to_owned()),
        ));
    }
    let order = Order {
        rounds: bench.rounds,
        each: bench.seconds,
        contenders,
    };
    if let Some(path) = &bench.json {
        check_writable(path)?;
    }
    let program = std::env::current_exe()
        .context("find this program's own file")
        .map_err(unable)?;
    let found = runtime()?.block_on(async {
        let means = Means::find().await.map_err(launch_failed)?;
        // Progress that can't be shown is no reason to stop measuring.
        let hear = |text: &str| drop(writeln!(err, "{text}"));
        launch::launch(means, &program, &order, hear)
            .await
            .map_err(launch_failed)
    })?;
    let json = serde_json::to_string_pretty(&found.report()).map_err(unable)? + "\n";
    if let Some(path) = &bench.json {
        write_file(path, &json)?;
    }
    let text = match bench.output {
        Output::Json => json,
        Output::Table => table::page(&found, &order, &absent),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(Outcome::Held)
}

/// A length in seconds, with or without a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.1..=60.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("found {text:?}, accepted: seconds from 0.1 to 60"))
}
