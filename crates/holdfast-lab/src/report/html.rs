//! One self-contained HTML page for several runs: for each a picture, its figures, and what was expected.

use std::fmt::Write as _;

use super::{Run, Story, SubjectRun, svg};

/// The page's style sheet: light or dark as the reader's system is.
const STYLE: &str = include_str!("style.css");

/// The page.
pub fn page(stories: &[Story]) -> String {
    let version = stories
        .first()
        .map_or("", |story| story.run.version.as_str());
    let mut sections = String::new();
    for story in stories {
        sections.push_str(&section(story));
    }
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Holdfast lab report</title>
<style>
{STYLE}</style>
<main>
<h1>Holdfast lab report</h1>
<p class="lead">Each subject runs on a node of its own, and all of them meet the same fault at the same moment.
Measured in network namespaces with real sockets, by Holdfast {version}.</p>
{LEGEND}
{sections}</main>
</html>
"#,
        version = escaped(version)
    )
}

/// What the marks in a picture mean.
const LEGEND: &str = r#"<ul class="legend">
<li><svg viewBox="0 0 14 14"><line class="beat" x1="7" x2="7" y1="1" y2="13"/></svg> successful heartbeat</li>
<li><svg viewBox="0 0 14 14"><line class="miss" x1="7" x2="7" y1="2" y2="12"/></svg> failed heartbeat</li>
<li><svg viewBox="0 0 14 14"><rect class="calm" width="14" height="14"/></svg> longest gap</li>
<li><svg viewBox="0 0 14 14"><rect class="late" width="14" height="14"/></svg> longest gap that outlasts a grace period</li>
<li><svg viewBox="0 0 14 14"><rect class="lost" width="14" height="14"/></svg> the node is NotReady</li>
<li><svg viewBox="0 0 14 14"><line class="grace" x1="7" x2="7" y1="0" y2="14"/></svg> grace period over</li>
<li><svg viewBox="0 0 14 14"><rect class="connection" y="4" width="14" height="6" rx="3"/></svg> the heartbeat's connection</li>
<li><svg viewBox="0 0 14 14"><path class="event" d="M7 2l5 5l-5 5l-5 -5z"/></svg> event (point at it)</li>
</ul>"#;

fn section(story: &Story) -> String {
    let run = &story.run;
    format!(
        "<section>\n<h2>{name}</h2>\n<p>{summary}</p>\n<p class=\"clocks\">{clocks}</p>\n{picture}{figures}{expectations}</section>\n",
        name = escaped(&run.scenario),
        summary = escaped(&story.summary),
        clocks = escaped(&clocks(run)),
        picture = svg::picture(story),
        figures = figures(run),
        expectations = expectations(run),
    )
}

/// Which clocks were scaled.
pub fn clocks(run: &Run) -> String {
    let scale = run.time_scale;
    if (scale - 1.0).abs() < f64::EPSILON {
        return "No clock was scaled.".to_owned();
    }
    format!(
        "Scaled clocks: the client's intervals and timeouts, the lifetimes of DNS records and the timeline ran \
         {scale} times as fast as stock; Holdfast's own timers did not. All times are as measured, so that the \
         grace periods of 40 s and 50 s are {} s and {} s here.",
        40.0 / scale,
        50.0 / scale
    )
}

fn figures(run: &Run) -> String {
    let mut rows = String::new();
    for (subject, found) in &run.subjects {
        // A String takes everything.
        if writeln!(
            rows,
            "<tr><th scope=\"row\">{subject}</th>{}</tr>",
            cells(found)
        )
        .is_err()
        {
            rows.clear();
        }
    }
    format!(
        "<div class=\"wide\"><table>\n<thead><tr><th>node</th><th>worst gap</th><th>cut after</th><th>first success</th>\
         <th>reconnects</th><th>wrong cuts</th><th>new connections failed</th><th>NotReady<br>(40 s)</th>\
         <th>NotReady<br>(50 s)</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn cells(found: &SubjectRun) -> String {
    let figures = &found.figures;
    let truth = |grace: &str| match figures.not_ready.get(grace) {
        Some(true) => "<td class=\"bad\">yes</td>",
        Some(false) => "<td class=\"good\">no</td>",
        None => "<td>–</td>",
    };
    let plain = [
        seconds(figures.worst_gap_s, 1),
        seconds(figures.cut_s, 2),
        seconds(figures.first_success_s, 2),
        figures.reconnects.to_string(),
        figures.wrong_cuts.to_string(),
        format!("{} of {}", figures.new_failed, figures.new_total),
    ];
    let plain = plain.map(|cell| format!("<td>{cell}</td>")).concat();
    format!("{plain}{}{}", truth("40"), truth("50"))
}

fn expectations(run: &Run) -> String {
    if run.expectations.is_empty() {
        return String::new();
    }
    let mut items = String::new();
    for verdict in &run.expectations {
        let class = if verdict.held { "held" } else { "broken" };
        let measured = if verdict.measured.is_null() {
            "never".to_owned()
        } else {
            verdict.measured.to_string()
        };
        let (text, measured) = (escaped(&verdict.text), escaped(&measured));
        items.push_str("<li class=\"");
        items.push_str(class);
        items.push_str("\">");
        items.push_str(&text);
        items.push_str(" <span>measured ");
        items.push_str(&measured);
        items.push_str("</span></li>\n");
    }
    format!(
        "<details><summary>What was expected</summary>\n<ul class=\"expected\">\n{items}</ul></details>\n"
    )
}

fn seconds(figure: Option<f64>, digits: usize) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| format!("{figure:.digits$} s"))
}

/// Text that can stand between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
