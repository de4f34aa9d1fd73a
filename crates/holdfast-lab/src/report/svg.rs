//! The timeline of a run as an SVG picture: what was done to the world on top, one track per subject
//! below, seconds from the fault along the bottom. Colours come from the page's style sheet.

use std::fmt::{Display, Write as _};

use super::html::escaped;
use super::{Happening, Mark, Story, Track};
use crate::measure::GRACE_PERIODS_S;
use crate::subject::Subject;

/// Width of the picture; all lengths are in its units, and the page scales them.
const WIDTH: f64 = 960.0;
/// Where the tracks begin and end.
const LEFT: f64 = 112.0;
const RIGHT: f64 = WIDTH - 16.0;
/// Height of one line of text.
const LINE: f64 = 18.0;
/// Height of one track with its distance from the next.
const TRACK: f64 = 92.0;

/// The picture of a story.
pub(super) fn picture(story: &Story) -> String {
    Picture::new(story).draw()
}

struct Picture<'a> {
    story: &'a Story,
    svg: String,
    height: f64,
    /// Where the first track begins.
    top: f64,
}

impl<'a> Picture<'a> {
    fn new(story: &'a Story) -> Self {
        let top = LINE * (length(story.marks.len()) + 0.8);
        let height = top + TRACK * length(story.tracks.len()) + 2.0 * LINE;
        Self {
            story,
            svg: String::new(),
            height,
            top,
        }
    }

    fn draw(mut self) -> String {
        let height = self.height;
        let about = escaped(&format!("Timeline of {}", self.story.run.scenario));
        self.put(format_args!(
            r#"<svg viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="{about}">"#
        ));
        self.axis();
        let story = self.story;
        for (row, mark) in (0_u8..).zip(&story.marks) {
            self.mark(f64::from(row), mark);
        }
        for (row, (subject, track)) in (0_u8..).zip(&story.tracks) {
            let top = self.top + TRACK * f64::from(row);
            self.track(top, *subject, track);
        }
        self.put("</svg>");
        self.svg
    }

    /// Seconds along the bottom, with a faint line at each.
    fn axis(&mut self) {
        let (start, end) = (self.story.start_s, self.story.end_s);
        let (top, bottom) = (self.top, self.height - 2.0 * LINE);
        let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
            .into_iter()
            .find(|step| (end - start) / step <= 14.0)
            .unwrap_or(100.0);
        let mut t = (start / step).ceil() * step;
        while t <= end {
            let x = self.x(t);
            self.put(format_args!(
                r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{top:.1}" y2="{bottom:.1}"/>"#
            ));
            self.text("tick", x, bottom + LINE, format_args!("{t:.0}"));
            t += step;
        }
        self.text(
            "tick",
            f64::midpoint(LEFT, RIGHT),
            bottom + 1.9 * LINE,
            "seconds from the fault",
        );
    }

    /// One thing that was done to the world: a line through all tracks with its words on top.
    fn mark(&mut self, row: f64, mark: &Mark) {
        let x = self.x(mark.t_s);
        let y = LINE * (row + 1.0);
        let bottom = self.height - 2.0 * LINE;
        let class = if mark.t_s.abs() < 0.05 {
            "mark fault"
        } else {
            "mark"
        };
        self.put(format_args!(
            r#"<line class="{class}" x1="{x:.1}" x2="{x:.1}" y1="{:.1}" y2="{bottom:.1}"/>"#,
            y - 11.0
        ));
        let words = format!("{:+.1} s  {}", mark.t_s, mark.text);
        // Words near the right edge stand before their line.
        if x > LEFT + 0.6 * (RIGHT - LEFT) {
            self.text("words before", x - 6.0, y, escaped(&words));
        } else {
            self.text("words", x + 6.0, y, escaped(&words));
        }
    }

    fn track(&mut self, top: f64, subject: Subject, track: &Track) {
        let story = self.story;
        let beat = top + 34.0;
        self.text("name", 0.0, beat + 4.0, subject);
        self.text("legend", 0.0, beat + 32.0, "connection");
        self.gap(top, track);
        self.put(format_args!(
            r#"<line class="base" x1="{LEFT:.1}" x2="{RIGHT:.1}" y1="{beat:.1}" y2="{beat:.1}"/>"#
        ));
        for t in &track.beats {
            self.upright(
                "beat",
                *t,
                beat - 11.0,
                beat + 11.0,
                format_args!("heartbeat at {t:+.2} s"),
            );
        }
        for t in &track.misses {
            self.upright(
                "miss",
                *t,
                beat - 7.0,
                beat + 7.0,
                format_args!("heartbeat failed at {t:+.2} s"),
            );
        }
        for stretch in &track.connections {
            let from = self.x(stretch.from_s);
            let to = self.x(stretch.to_s.unwrap_or(story.end_s));
            let server = stretch.server.as_deref().unwrap_or("an API server");
            let ending = stretch.ending.as_deref().unwrap_or("still open");
            let about = escaped(&format!("to {server}, {ending}"));
            self.put(format_args!(
                r#"<rect class="connection" x="{from:.1}" y="{:.1}" width="{:.1}" height="6" rx="3"><title>{about}</title></rect>"#,
                beat + 25.0,
                (to - from - 3.0).max(1.5)
            ));
        }
        let events = story
            .run
            .subjects
            .get(&subject)
            .map(|found| found.events.as_slice());
        for event in events.unwrap_or_default() {
            self.event(beat + 28.0, event);
        }
    }

    /// The longest gap. One that outlasts a grace period is bad from there on, and shows how far away
    /// the other one was.
    fn gap(&mut self, top: f64, track: &Track) {
        let Some((from, to)) = track.gap else { return };
        let scale = self.story.run.time_scale;
        let grace = GRACE_PERIODS_S.map(|grace| (grace, from + f64::from(grace) / scale));
        let first = grace.iter().map(|(_, t)| *t).fold(f64::INFINITY, f64::min);
        let (y, height) = (top + 12.0, 44.0);
        let parts = if to > first {
            vec![("late", from, first), ("lost", first, to)]
        } else {
            vec![("calm", from, to)]
        };
        for (class, from, to) in &parts {
            let (x, until) = (self.x(*from), self.x(*to));
            self.put(format_args!(
                r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{height}"/>"#,
                until - x
            ));
        }
        for (period, t) in grace.into_iter().filter(|_| to > first) {
            if t <= self.story.end_s {
                let x = self.x(t);
                self.put(format_args!(
                    r#"<line class="grace" x1="{x:.1}" x2="{x:.1}" y1="{y:.1}" y2="{:.1}"/>"#,
                    y + height
                ));
                self.text("tick", x, y - 3.0, format_args!("{period} s"));
            }
        }
        let middle = f64::midpoint(self.x(from), self.x(to));
        self.text(
            "gap",
            middle,
            top + 53.0,
            format_args!("{:.1} s", to - from),
        );
    }

    fn event(&mut self, y: f64, event: &Happening) {
        let x = self.x(event.t_s);
        let about = escaped(&format!(
            "{:+.2} s {} ({})",
            event.t_s, event.what, event.reason
        ));
        self.put(format_args!(
            r#"<path class="event" d="M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"><title>{about}</title></path>"#,
            y - 4.5
        ));
    }

    fn upright(&mut self, class: &str, t: f64, from: f64, to: f64, about: impl Display) {
        let x = self.x(t);
        self.put(format_args!(
            r#"<line class="{class}" x1="{x:.1}" x2="{x:.1}" y1="{from:.1}" y2="{to:.1}"><title>{about}</title></line>"#
        ));
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: impl Display) {
        self.put(format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#
        ));
    }

    /// Where a moment is.
    fn x(&self, t: f64) -> f64 {
        let whole = (self.story.end_s - self.story.start_s).max(f64::EPSILON);
        let part = ((t - self.story.start_s) / whole).clamp(0.0, 1.0);
        LEFT + part * (RIGHT - LEFT)
    }

    fn put(&mut self, piece: impl Display) {
        // A String takes everything.
        if writeln!(self.svg, "{piece}").is_err() {
            self.svg.clear();
        }
    }
}

fn length(count: usize) -> f64 {
    f64::from(u16::try_from(count).unwrap_or(u16::MAX))
}
