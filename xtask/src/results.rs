//! From the reports that `make e2e` leaves to a page of results, so that nobody copies figures by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use holdfast_lab::measure::Figures;
use holdfast_lab::report::{Report, Run};
use holdfast_lab::subject::Subject;
use serde_json::Value;

/// The suites that leave a report of the lab, in their order: part of the file's name, and title.
const SUITES: [(&str, &str); 2] = [
    ("inward", "Suite 1: the way to the API"),
    ("discovery", "Suite 2: discovery"),
];

/// Writes the page of the version that the reports in `folder` are about into `to`, and says where.
pub(crate) fn write(folder: &Path, to: &Path) -> Result<PathBuf> {
    let mut suites = Vec::new();
    for (name, title) in SUITES {
        let path = folder.join(format!("kubernetes-{name}.json"));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("read {}; make e2e leaves it", path.display()))?;
        let runs = runs(&text).with_context(|| format!("read {}", path.display()))?;
        suites.push((title, runs));
    }
    let rows = folder.join("kubernetes-node.tsv");
    let rows = std::fs::read_to_string(&rows)
        .with_context(|| format!("read {}; make e2e leaves it", rows.display()))?;
    let (version, text) = page(&suites, &rows)?;
    let minor = version
        .rsplit_once('.')
        .map_or(&*version, |(minor, _)| minor);
    let path = to.join(format!("kubernetes-{minor}.md"));
    std::fs::create_dir_all(to)?;
    std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    Ok(path)
}

/// The lab prints one run as it is, several as a list.
fn runs(text: &str) -> Result<Vec<Run>> {
    let json: Value = serde_json::from_str(text)?;
    if json.get("scenarios").is_some() {
        return Ok(serde_json::from_value::<Report>(json)?.scenarios);
    }
    Ok(vec![serde_json::from_value(json)?])
}

/// The version of Kubernetes, and the page.
fn page(suites: &[(&str, Vec<Run>)], node_rows: &str) -> Result<(String, String)> {
    let all = || suites.iter().flat_map(|(_, runs)| runs);
    let versions: BTreeSet<&str> = all().filter_map(|run| run.kubernetes.as_deref()).collect();
    let [version] = versions.iter().collect::<Vec<_>>()[..] else {
        bail!("the reports are about {versions:?}: one version of Kubernetes is needed");
    };
    let version = version.trim_start_matches('v').to_owned();
    let began: BTreeSet<&str> = all().map(|run| run.began.as_str()).collect();
    let (first, last) = (began.first().unwrap_or(&""), began.last().unwrap_or(&""));
    let holdfast: BTreeSet<&str> = all().map(|run| run.version.as_str()).collect();
    let holdfast: Vec<&str> = holdfast.into_iter().collect();
    let mut text = format!(
        "# On Kubernetes {version}\n\n\
         Measured by the suites that `make e2e KUBERNETES={version}` runs, written by `cargo xtask results`. The \
         first run began {first}, the last {last}. Holdfast {}; {} processors. Real etcd, kube-apiserver, \
         kube-controller-manager, HAProxy and the kubelet's own code, everything stock: \
         [docs/lab.md](../lab.md), \"Real components\".\n",
        holdfast.join(", "),
        std::thread::available_parallelism().map_or(0, usize::from),
    );
    for (title, runs) in suites {
        write!(text, "\n## {title}\n\n{}", lab_table(runs))?;
        text.push_str(&goals(runs));
    }
    write!(
        text,
        "\n## Suite 3: node check and watcher\n\n{}",
        node_table(node_rows)?
    )?;
    Ok((version, text))
}

fn lab_table(runs: &[Run]) -> String {
    let head = [
        "fault",
        "node",
        "worst heartbeat gap",
        "cut after",
        "NotReady",
        "evictions",
        "reconnects",
        "relists",
    ];
    let rows = runs.iter().flat_map(|run| {
        run.subjects.iter().map(|(subject, met)| {
            let mut cells = vec![run.scenario.clone(), called(*subject).to_owned()];
            cells.extend(figures(&met.figures));
            cells
        })
    });
    table(&head, rows)
}

fn figures(figures: &Figures) -> [String; 6] {
    let seconds = |figure: Option<f64>, digits: usize| {
        figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.digits$} s"))
    };
    let count = |figure: Option<u32>| figure.map_or_else(|| "-".to_owned(), |n| n.to_string());
    [
        seconds(figures.worst_gap_s, 1),
        seconds(figures.cut_s, 1),
        count(figures.turned_not_ready),
        count(figures.evictions),
        figures.reconnects.to_string(),
        count(figures.relists),
    ]
}

/// What a table calls a node.
const fn called(subject: Subject) -> &'static str {
    match subject {
        Subject::Direct => "without",
        Subject::Holdfast => "proxy",
        Subject::Guard => "guard",
        Subject::HoldfastGuard => "proxy and guard",
        Subject::Haproxy | Subject::HaproxyTuned | Subject::Nginx | Subject::KubesprayNginx => {
            subject.as_str()
        }
    }
}

/// The proxy's goals and what became of them; then what was expected of anybody and did not come true.
fn goals(runs: &[Run]) -> String {
    let goals: Vec<_> = runs
        .iter()
        .flat_map(|run| run.goals.iter().map(move |goal| (run, goal)))
        .collect();
    let met = goals.iter().filter(|(_, goal)| goal.held).count();
    let mut text = format!("\n{met} of {} goals are met.\n", goals.len());
    let missed = goals.iter().filter(|(_, goal)| !goal.held).copied();
    let broken = runs.iter().flat_map(|run| {
        let broken = run.expectations.iter().filter(|one| !one.held);
        broken.map(move |one| (run, one))
    });
    text.extend(missed.chain(broken).map(|(run, verdict)| {
        let measured = &verdict.measured;
        format!(
            "- {}: {}: measured {measured}\n",
            run.scenario, verdict.text
        )
    }));
    text
}

fn node_table(rows: &str) -> Result<String> {
    let head = [
        "case",
        "the API says",
        "Holdfast did",
        "kubelet",
        "mended after",
    ];
    let rows: Vec<Vec<String>> = rows
        .lines()
        .map(|row| row.split('\t').map(str::to_owned).collect())
        .collect();
    if let Some(row) = rows.iter().find(|row| row.len() != head.len()) {
        bail!(
            "a row of suite 3: found {row:?}, accepted: {} cells",
            head.len()
        );
    }
    Ok(table(&head, rows.into_iter()))
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = vec!["---".to_owned(); head.len()];
    [head, rule]
        .into_iter()
        .chain(rows)
        .map(|cells| line(&cells))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{page, runs};

    const RUN: &str = r#"{"scenario": "k8s-hang", "version": "0.1.0", "time_scale": 1.0,
        "began": "2026-12-01T06:00:00Z", "kubernetes": "v1.37.2",
        "subjects": {"holdfast": {"worst_gap_s": 10.24, "turned_not_ready": 0, "events": []}},
        "expectations": [{"text": "holdfast: evictions 0", "held": false, "measured": 2}],
        "goals": [{"text": "holdfast: worst_gap_s at most 13 s", "held": true, "measured": 10.24}]}"#;

    #[test]
    fn a_page_has_every_figure_the_goals_and_what_did_not_come_true() {
        let suites = [("Suite", runs(RUN).unwrap())];
        let (version, text) = page(&suites, "case\tTrue\tnothing\tsame\t-\n").unwrap();
        assert_eq!(version, "1.37.2");
        for wanted in [
            "| k8s-hang | proxy | 10.2 s | - | 0 | - | 0 | - |",
            "1 of 1 goals are met.\n- k8s-hang: holdfast: evictions 0: measured 2",
            "| case | True | nothing | same | - |",
            "began 2026-12-01T06:00:00Z",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn reports_about_two_versions_make_no_page() {
        let other = runs(&RUN.replace("v1.37.2", "v1.34.4")).unwrap();
        let suites = [("One", runs(RUN).unwrap()), ("Other", other)];
        assert!(page(&suites, "").is_err());
    }
}
