//! `holdfast demo`: the outage and the cure, in a world of network namespaces.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use holdfast_lab::report::{Report, Run, html};
use holdfast_lab::run::Word;
use holdfast_lab::subject::Subject;

use super::lab::{self, Columns, Failure, Outcome, Timeline};

/// The acts of the demo.
const ACTS: [&str; 2] = ["address-change", "address-lost"];

/// Who plays in them.
const ACTORS: [Subject; 2] = [Subject::Direct, Subject::Holdfast];

/// Arguments of `holdfast demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where report.html and report.json go
    #[arg(long, value_name = "DIR", default_value = "target/demo")]
    out: PathBuf,
    /// Stock seconds per second: the client's clocks, DNS lifetimes and the timeline run so much
    /// faster. Holdfast's own timers are never scaled
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = lab::time_scale)]
    time_scale: f64,
}

/// Runs both acts; the timeline and the table go to `out`, progress to `err`.
pub fn run(demo: &Demo, out: &mut impl Write, err: &mut impl Write) -> Result<Outcome, Failure> {
    let timeline = Timeline::new(lab::colours(&io::stdout()), false);
    let (page, data) = (demo.out.join("report.html"), demo.out.join("report.json"));
    lab::check_writable(&page)?;
    lab::check_writable(&data)?;
    let mut stories = Vec::new();
    for act in ACTS {
        let order = lab::order(act, &ACTORS, Some(demo.time_scale), None)?;
        let summary = order.scenario().map_err(lab::input)?.summary;
        writeln!(out, "\n{act}: {summary}\n").map_err(lab::unable)?;
        stories.extend(lab::run_orders(
            vec![order],
            1,
            |scenario, word| match word {
                Word::Progress(text) => writeln!(err, "{text}"),
                Word::Live(event) => timeline.write(out, scenario, &event),
                Word::Story(_) | Word::Failed(_) => Ok(()),
            },
        )?);
    }
    let runs: Vec<Run> = stories.iter().map(|story| story.run.clone()).collect();
    write!(out, "\n{}", lab::results(&runs, Columns::Few)).map_err(lab::unable)?;
    lab::write_file(&page, &html::page(&stories))?;
    let report = serde_json::to_string_pretty(&Report {
        scenarios: runs.clone(),
    })
    .map_err(lab::unable)?;
    lab::write_file(&data, &(report + "\n"))?;
    writeln!(out, "\nThe same as a picture: {}", page.display()).map_err(lab::unable)?;
    Ok(lab::outcome(&runs))
}
