//! `holdfast lab`: worlds of network namespaces in which Holdfast meets real faults and is measured.

mod actor;
mod azure;
mod bench;
mod goals;
mod matrix;
mod table;
mod timeline;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use holdfast_lab::kubernetes::{ComponentError, Components, Real};
use holdfast_lab::launch::{self, Means};
use holdfast_lab::report::{Report, Run, Story, html};
use holdfast_lab::run::{Order, Word};
use holdfast_lab::scenario::{self, BUILT_IN, BuiltIn, REAL, Scenario};
use holdfast_lab::subject::Subject;
use serde::Serialize;
use tokio::sync::mpsc;

pub(crate) use crate::exit::{Failure, Outcome, input, unable};
pub(crate) use crate::print::colours;

pub(crate) use self::table::{Columns, results};
pub(crate) use self::timeline::Timeline;

/// Arguments of `holdfast lab`.
#[derive(Debug, Args)]
pub struct Lab {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run scenarios and measure what each subject met
    Run(RunArguments),
    /// Let the same faults happen to Holdfast and to other proxies, and compare what they meet
    Matrix(matrix::Matrix),
    /// Measure what Holdfast is to reach, and say whether it does
    Goals(goals::Goals),
    /// Measure what the data path costs beside its peers, on this machine
    Bench(bench::Bench),
    /// Stand in for Azure Resource Manager on this machine, with the egress model as its data plane
    Azure(azure::Azure),
    /// List the built-in scenarios
    List(ListArguments),
    /// Print a built-in scenario's file, to read it or to write one of your own
    Show {
        /// Name of the scenario
        name: String,
    },
    /// Be one of the processes of a world
    #[command(hide = true)]
    Actor(actor::Actor),
    /// Keep the network of `lab azure`, inside the namespaces made for it
    #[command(hide = true)]
    AzureNetwork,
    /// Run the order that comes in on standard input, inside the namespaces made for it
    #[command(hide = true)]
    World,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Names of built-in scenarios, or paths of scenario files
    #[arg(required = true, value_name = "NAME|FILE")]
    scenarios: Vec<String>,
    /// Who meets the fault, each on a node of its own; as the scenario says unless given
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT")]
    subjects: Vec<Subject>,
    /// Stock seconds per second: the client's clocks, DNS lifetimes and the timeline run so much
    /// faster. Holdfast's own timers are never scaled
    #[arg(long, value_name = "N", value_parser = time_scale)]
    time_scale: Option<f64>,
    /// Run it with real components instead of the lab's stand-ins: etcd, kube-apiserver and
    /// kube-controller-manager, haproxy as the balancers, and the kubelet's own code as the clients
    #[arg(long)]
    real: bool,
    /// Folder with the programs of Kubernetes; unless given, what `e2e/kubernetes/build` made last
    #[arg(long, value_name = "FOLDER", requires = "real")]
    components: Option<PathBuf>,
    /// After how long without a heartbeat kube-controller-manager calls a node not Ready, in seconds;
    /// its version's own figure unless given (50 from 1.32 on, 40 before)
    #[arg(long, value_name = "SECONDS", requires = "real", value_parser = clap::value_parser!(u32).range(1..=3600))]
    grace_period: Option<u32>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Also write a page with a picture of each run
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// How many scenarios run at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// Tell on standard error what happens while it happens
    #[arg(long)]
    live: bool,
}

#[derive(Debug, Args)]
struct ListArguments {
    /// Those that need real components, instead of those that need none
    #[arg(long)]
    real: bool,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// A table for people
    Table,
    /// JSON for programs
    Json,
}

/// One scenario in the result of `lab list`.
#[derive(Debug, Serialize)]
struct Listed {
    scenario: String,
    summary: String,
    subjects: Vec<Subject>,
    cases: Vec<u32>,
    matrix: bool,
    real: bool,
}

/// Runs the command; results go to `out`, progress to `err`.
pub fn run(lab: Lab, out: &mut impl Write, err: &mut impl Write) -> Result<Outcome, Failure> {
    match lab.what {
        What::Run(arguments) => run_scenarios(&arguments, out, err),
        What::Matrix(arguments) => matrix::run(&arguments, out, err),
        What::Goals(arguments) => goals::run(&arguments, out, err),
        What::Azure(arguments) => azure::run(arguments, out),
        What::AzureNetwork => azure::network(),
        What::Bench(arguments) => bench::run(&arguments, out, err),
        What::List(arguments) => list(&arguments, out).map(|()| Outcome::Held),
        What::Show { name } => show(&name, out).map(|()| Outcome::Held),
        What::Actor(actor) => {
            runtime()?.block_on(actor::run(actor)).map_err(unable)?;
            Ok(Outcome::Held)
        }
        What::World => {
            runtime()?.block_on(launch::inside()).map_err(unable)?;
            Ok(Outcome::Held)
        }
    }
}

fn run_scenarios(
    arguments: &RunArguments,
    out: &mut impl Write,
    err: &mut impl Write,
) -> Result<Outcome, Failure> {
    let real = arguments.real.then(|| {
        Ok(Real {
            components: Components::find(arguments.components.as_deref())?,
            grace_period_s: arguments.grace_period,
        })
    });
    let real = real
        .transpose()
        .map_err(|error: ComponentError| unable(error))?;
    let mut orders = Vec::new();
    for name in &arguments.scenarios {
        orders.push(order(
            name,
            &arguments.subjects,
            arguments.time_scale,
            real.as_ref(),
        )?);
    }
    let orders = possible(orders, err)?;
    for path in arguments.html.iter().chain(&arguments.json) {
        check_writable(path)?;
    }
    let timeline = Timeline::new(colours(&io::stderr()), orders.len() > 1);
    let live = arguments.live;
    let stories = run_orders(
        orders,
        usize::from(arguments.jobs),
        |scenario, word| match word {
            Word::Progress(text) => writeln!(err, "{text}"),
            Word::Live(event) if live => timeline.write(err, scenario, &event),
            Word::Live(_) | Word::Story(_) | Word::Failed(_) => Ok(()),
        },
    )?;
    let runs: Vec<Run> = stories.iter().map(|story| story.run.clone()).collect();
    if let Some(path) = &arguments.html {
        write_file(path, &html::page(&stories))?;
    }
    if let Some(path) = &arguments.json {
        write_file(path, &json(&runs)?)?;
    }
    let text = match arguments.output {
        Output::Json => json(&runs)?,
        Output::Table => results(&runs, Columns::All),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(outcome(&runs))
}

/// The order to run a scenario, once it is known to be valid.
pub(crate) fn order(
    name: &str,
    subjects: &[Subject],
    time_scale: Option<f64>,
    real: Option<&Real>,
) -> Result<Order, Failure> {
    let (file, yaml) = scenario::read(name).map_err(input)?;
    let order = Order {
        file,
        yaml,
        subjects: subjects.to_vec(),
        time_scale,
        real: real.cloned(),
    };
    order.scenario().map_err(input)?;
    Ok(order)
}

/// The orders that this machine has everything for; the others are named with the command that would help.
pub(crate) fn possible(orders: Vec<Order>, err: &mut impl Write) -> Result<Vec<Order>, Failure> {
    let mut possible = Vec::new();
    let mut hint = None;
    for order in orders {
        match order.scenario().map_err(input)?.missing() {
            None => possible.push(order),
            Some((who, missing)) => {
                let install = if missing.install.starts_with("apt-get") {
                    format!("as root: {}", missing.install)
                } else {
                    missing.install.to_owned()
                };
                writeln!(
                    err,
                    "SKIPPED: {}: {who} needs {}, and this machine lacks it; {install}",
                    order.file, missing.what
                )
                .map_err(unable)?;
                hint = Some(install);
            }
        }
    }
    if possible.is_empty() {
        return Err(Failure::Unable(anyhow!("nothing is left to be run"), hint));
    }
    Ok(possible)
}

/// Runs the orders, so many at the same time, and returns their stories in the same order.
pub(crate) fn run_orders(
    orders: Vec<Order>,
    jobs: usize,
    mut hear: impl FnMut(&str, Word) -> io::Result<()>,
) -> Result<Vec<Story>, Failure> {
    let program = std::env::current_exe()
        .context("find this program's own file")
        .map_err(unable)?;
    runtime()?.block_on(async {
        let means = Means::find().await.map_err(launch_failed)?;
        let (words, mut heard) = mpsc::unbounded_channel();
        let turns = std::sync::Arc::new(tokio::sync::Semaphore::new(jobs));
        let mut runs = tokio::task::JoinSet::new();
        for (index, order) in orders.into_iter().enumerate() {
            let (words, program, turns) = (
                words.clone(),
                program.clone(),
                std::sync::Arc::clone(&turns),
            );
            runs.spawn(async move {
                let _turn = turns.acquire().await;
                let say = |word| drop(words.send((order.file.clone(), word)));
                let story = launch::launch(means, &program, &order, say).await;
                if let Ok(story) = &story {
                    let last_word = Word::Story(Box::new(story.clone()));
                    drop(words.send((order.file.clone(), last_word)));
                }
                (index, story)
            });
        }
        drop(words);
        let mut stories = Vec::new();
        while let Some((file, word)) = heard.recv().await {
            hear(&file, word).map_err(unable)?;
        }
        while let Some(run) = runs.join_next().await {
            let (index, story) = run.map_err(unable)?;
            stories.push((index, story.map_err(launch_failed)?));
        }
        stories.sort_by_key(|(index, _)| *index);
        Ok(stories.into_iter().map(|(_, story)| story).collect())
    })
}

/// Each order so many times.
fn loops(orders: Vec<Order>, loops: u16) -> Vec<Order> {
    let again = |order| std::iter::repeat_n(order, usize::from(loops));
    orders.into_iter().flat_map(again).collect()
}

/// What building a world and warming it up takes besides its timeline, in seconds, measured on two
/// cores.
const BUILDING_S: f64 = 6.0;

/// Runs the orders, says on `err` how long that takes and how far it is, and returns the figures.
fn progress(orders: Vec<Order>, jobs: usize, err: &mut impl Write) -> Result<Vec<Run>, Failure> {
    // Each order goes to whoever is free first.
    let mut busy_s = vec![0.0_f64; jobs.max(1)];
    for order in &orders {
        let seconds = order.scenario().map_err(input)?.seconds() + BUILDING_S;
        if let Some(free) = busy_s.iter_mut().min_by(|one, other| one.total_cmp(other)) {
            *free += seconds;
        }
    }
    let minutes = (busy_s.into_iter().fold(0.0, f64::max) / 60.0).ceil();
    let all = orders.len();
    writeln!(err, "{all} runs, {jobs} at a time: about {minutes:.0} min").map_err(unable)?;
    let mut done = 0;
    let stories = run_orders(orders, jobs, |_, word| match word {
        Word::Progress(text) => writeln!(err, "{text}"),
        Word::Story(story) => {
            done += 1;
            writeln!(err, "{} is done, {done} of {all}", story.run.scenario)
        }
        Word::Live(_) | Word::Failed(_) => Ok(()),
    })?;
    Ok(stories.into_iter().map(|story| story.run).collect())
}

/// Finds out before a run of minutes whether its results can be written. What is there stays.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    make_directory(path)?;
    let is_new = !path.exists();
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|_| {
            if is_new {
                std::fs::remove_file(path)
            } else {
                Ok(())
            }
        })
        .with_context(|| format!("write {}", path.display()))
        .map_err(unable)
}

fn make_directory(path: &Path) -> Result<(), Failure> {
    let Some(directory) = path.parent() else {
        return Ok(());
    };
    std::fs::create_dir_all(directory)
        .with_context(|| format!("create {}", directory.display()))
        .map_err(unable)
}

/// Writes a file, with its directory.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    make_directory(path)?;
    std::fs::write(path, text)
        .with_context(|| format!("write {}", path.display()))
        .map_err(unable)
}

/// One run as it is, several as a report.
fn json(runs: &[Run]) -> Result<String, Failure> {
    let text = match runs {
        [run] => serde_json::to_string_pretty(run),
        _ => serde_json::to_string_pretty(&Report {
            scenarios: runs.to_vec(),
        }),
    };
    text.map(|text| text + "\n").map_err(unable)
}

/// Whether everything expected came true in all of them.
pub(crate) fn outcome(runs: &[Run]) -> Outcome {
    if runs.iter().all(Run::held) {
        Outcome::Held
    } else {
        Outcome::NotHeld
    }
}

fn list(arguments: &ListArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut known = Vec::new();
    let listed: &[BuiltIn] = if arguments.real { &REAL } else { &BUILT_IN };
    for built_in in listed {
        let scenario = Scenario::parse(built_in.name, built_in.yaml).map_err(input)?;
        known.push(Listed {
            scenario: scenario.name,
            summary: scenario.summary,
            subjects: scenario.subjects.into_keys().collect(),
            cases: scenario.cases,
            matrix: scenario.matrix,
            real: scenario.real,
        });
    }
    let text = match arguments.output {
        Output::Json => serde_json::to_string_pretty(&known).map_err(unable)? + "\n",
        Output::Table => table::listed(
            known
                .iter()
                .map(|one| (one.scenario.as_str(), &one.cases, one.summary.as_str())),
        ),
    };
    out.write_all(text.as_bytes()).map_err(unable)
}

fn show(name: &str, out: &mut impl Write) -> Result<(), Failure> {
    let known = scenario::built_in(name).ok_or_else(|| {
        input(scenario::ScenarioError::Unknown {
            name: name.to_owned(),
        })
    })?;
    out.write_all(known.yaml.as_bytes()).map_err(unable)
}

pub(crate) fn time_scale(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|scale| scenario::is_time_scale(*scale))
        .ok_or_else(|| format!("found {text:?}, accepted: {}", scenario::time_scales()))
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the runtime")
        .map_err(unable)
}

fn launch_failed(error: launch::LaunchError) -> Failure {
    let hint = match &error {
        launch::LaunchError::Missing { hint, .. } => Some(hint.clone()),
        launch::LaunchError::Failed(_)
        | launch::LaunchError::Lost(_)
        | launch::LaunchError::System { .. } => None,
    };
    Failure::Unable(error.into(), hint)
}
