//! `holdfast check`: looks at this node and its cluster, and says what must be mended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use comfy_table::{Cell, Color};
use holdfast_core::budget::{Budget, ClusterTimers, GRACE, LEASE, STATUS_UPDATE, Term};
use holdfast_core::checkup::{Checkup, Finding, Grade, Subject};
use holdfast_core::config::time;
use holdfast_node::checkup::{Questions, look};

use super::agent::Agent;
use super::lab::runtime;
use super::status::{Output, print_table, table};
use crate::exit::{Failure, Outcome, unable};
use crate::print;

/// Arguments of `holdfast check`: those of `holdfast agent`, which it checks, and what the cluster
/// adds.
#[derive(Debug, Args)]
pub struct Check {
    /// The agent's configuration.
    #[command(flatten)]
    agent: Agent,
    /// A kubeconfig of a client on this node, which is looked at too; may be repeated
    #[arg(long = "client-kubeconfig", value_name = "PATH")]
    kubeconfigs: Vec<PathBuf>,
    /// The cluster's --node-monitor-grace-period (kube-controller-manager) [default: 40s, that of
    /// Kubernetes before 1.32; it is 50s since]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    node_monitor_grace_period: Option<Duration>,
    /// The kubelet's nodeLeaseDurationSeconds; a heartbeat goes out each quarter of it [default: 40s]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    node_lease_duration: Option<Duration>,
    /// The kubelet's --node-status-update-frequency, which also bounds one heartbeat [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    node_status_update_frequency: Option<Duration>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Prints the findings; the answer is no when something must be mended.
pub(crate) fn run(check: &Check, out: &mut impl Write) -> Result<Outcome, Failure> {
    let checkup = match check.agent.configuration() {
        Err(Failure::Input(error)) => {
            let advice = "mend this first: nothing else can be looked at without it";
            let evidence = format!("{error:#}");
            Checkup::of(
                vec![Finding::fail(Subject::Configuration, evidence, advice)],
                None,
            )
        }
        Err(failure) => return Err(failure),
        Ok(config) => runtime()?.block_on(look(&config, &check.questions())),
    };
    let text = match check.output {
        Output::Json => serde_json::to_string_pretty(&checkup).map_err(unable)? + "\n",
        Output::Table => render(&checkup, print::colours(&io::stdout())),
    };
    out.write_all(text.as_bytes()).map_err(unable)?;
    Ok(if checkup.passed {
        Outcome::Held
    } else {
        Outcome::NotHeld
    })
}

impl Check {
    fn questions(&self) -> Questions {
        Questions {
            kubeconfigs: self.kubeconfigs.clone(),
            timers: ClusterTimers {
                grace: self.node_monitor_grace_period.unwrap_or(GRACE),
                lease: self.node_lease_duration.unwrap_or(LEASE),
                status_update: self.node_status_update_frequency.unwrap_or(STATUS_UPDATE),
            },
        }
    }
}

fn render(checkup: &Checkup, colours: bool) -> String {
    let mut table = table(colours, &["VERDICT", "CHECK", "WHAT", "EVIDENCE"]);
    for finding in &checkup.findings {
        let evidence = match &finding.advice {
            Some(advice) => format!("{}\n→ {advice}", finding.evidence),
            None => finding.evidence.clone(),
        };
        table.add_row([
            Cell::new(finding.verdict.as_str()).fg(colour(finding.verdict)),
            Cell::new(finding.subject.as_str()),
            Cell::new(finding.what.as_deref().unwrap_or("-")),
            Cell::new(evidence),
        ]);
    }
    let mut text = print_table(&table);
    if let Some(budget) = &checkup.budget {
        text += "\n";
        text += &sums(budget);
    }
    text += "\n";
    text += &closing(&checkup.findings);
    text
}

const fn colour(grade: Grade) -> Color {
    match grade {
        Grade::Ok => Color::Green,
        Grade::Warn => Color::Yellow,
        Grade::Fail => Color::Red,
    }
}

/// The budget, added up as on paper.
fn sums(budget: &Budget) -> String {
    let mut lines = vec![format!(
        "Longest time between two heartbeats; a node is NotReady after {:.0} s",
        budget.grace_s
    )];
    for sum in &budget.sums {
        lines.extend([String::new(), format!("  {}:", sum.fault)]);
        let width = sum.terms.iter().map(|t| t.what.len()).max().unwrap_or(0);
        let signs = std::iter::once(' ').chain(std::iter::repeat('+'));
        lines.extend(sum.terms.iter().zip(signs).map(|(term, sign)| {
            let Term { what, time_s, from } = term;
            format!("  {sign} {time_s:6.2} s  {what:width$}  {from}")
        }));
        lines.push(format!("  = {:6.2} s", sum.total_s));
    }
    lines.join("\n") + "\n"
}

fn closing(findings: &[Finding]) -> String {
    let count = |grade| findings.iter().filter(|f| f.verdict == grade).count();
    match (count(Grade::Fail), count(Grade::Warn)) {
        (0, 0) => "nothing to mend\n".to_owned(),
        (0, warnings) => format!("nothing must be mended; to know: {warnings}\n"),
        (failures, warnings) => format!("must be mended: {failures}; to know: {warnings}\n"),
    }
}
