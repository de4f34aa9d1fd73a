use super::*;
use crate::measure::{Figures, Verdict};

fn story() -> Story {
    let subject = SubjectRun {
        figures: Figures {
            worst_gap_s: Some(9.0),
            cut_s: None,
            first_success_s: Some(0.1),
            reconnects: 1,
            wrong_cuts: 0,
            new_failed: 2,
            new_total: 40,
            on_fault: 1,
            not_ready: BTreeMap::from([("40".to_owned(), true), ("50".to_owned(), false)]),
            ..Figures::default()
        },
        events: vec![Happening {
            t_s: 8.75,
            what: "connection-closed".to_owned(),
            reason: "ping-timeout".to_owned(),
        }],
        unexplained: Vec::new(),
    };
    Story {
        run: Run {
            scenario: "address-change".to_owned(),
            version: "0.1.0".to_owned(),
            time_scale: 5.0,
            began: String::new(),
            kubernetes: None,
            subjects: BTreeMap::from([(Subject::Direct, subject)]),
            expectations: vec![Verdict {
                text: "direct: cut_s at most 3 s".to_owned(),
                held: false,
                measured: serde_json::Value::Null,
            }],
            goals: Vec::new(),
        },
        summary: "<script>alert(\"&\")</script>".to_owned(),
        start_s: -4.0,
        end_s: 11.0,
        marks: vec![Mark {
            t_s: 0.0,
            text: "lb1 goes silent".to_owned(),
        }],
        tracks: BTreeMap::from([(
            Subject::Direct,
            Track {
                beats: vec![-2.0, -0.2, 8.8],
                misses: vec![3.8],
                gap: Some((-0.2, 8.8)),
                connections: vec![Stretch {
                    from_s: -5.0,
                    to_s: Some(8.75),
                    ending: Some("ping-timeout".to_owned()),
                    server: Some("cp1".to_owned()),
                }],
            },
        )]),
    }
}

#[test]
fn a_runs_json_has_the_published_fields_and_no_others() {
    let json = serde_json::to_value(story().run).unwrap();
    let wanted = serde_json::json!({
        "scenario": "address-change",
        "version": "0.1.0",
        "time_scale": 5.0,
        "began": "",
        "subjects": {
            "direct": {
                "worst_gap_s": 9.0,
                "cut_s": null,
                "first_success_s": 0.1,
                "reconnects": 1,
                "wrong_cuts": 0,
                "new_failed": 2,
                "new_total": 40,
                "active_outage_s": null,
                "idle_open": 0,
                "new_on_faulted": 0,
                "new_slowest_s": null,
                "on_fault": 1,
                "recovery_s": null,
                "resets": 0,
                "upstreams_added": 0,
                "not_ready": {"40": true, "50": false},
                "events": [{"t_s": 8.75, "what": "connection-closed", "reason": "ping-timeout"}],
                "unexplained": [],
            },
        },
        "expectations": [{"text": "direct: cut_s at most 3 s", "held": false, "measured": null}],
        "goals": [],
    });
    assert_eq!(json, wanted);
}

#[test]
fn a_story_survives_the_way_between_two_processes() {
    let text = serde_json::to_string(&story()).unwrap();
    assert_eq!(serde_json::from_str::<Story>(&text).unwrap(), story());
}

#[test]
fn the_page_stands_alone() {
    let page = html::page(&[story()]);
    for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(
            !page.contains(outside),
            "{outside} points outside of the page"
        );
    }
    assert!(page.contains("prefers-color-scheme: dark"));
    assert_eq!(page.matches("<svg viewBox=\"0 0 960").count(), 1);
}

#[test]
fn the_page_escapes_what_it_shows() {
    let page = html::page(&[story()]);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(&quot;&amp;&quot;)"));
}

#[test]
fn the_page_says_which_clocks_were_scaled() {
    let mut story = story();
    let page = html::page(std::slice::from_ref(&story));
    assert!(
        page.contains("5 times as fast as stock")
            && page.contains("40 s and 50 s are 8 s and 10 s here")
    );
    story.run.time_scale = 1.0;
    let page = html::page(&[story]);
    assert!(page.contains("No clock was scaled.") && !page.contains("times as fast"));
}

#[test]
fn the_picture_shows_the_gap_beyond_the_grace_period() {
    let mut story = story();
    let page = html::page(std::slice::from_ref(&story));
    // 9 s at a scale of 5: beyond 40 s / 5, and only there.
    let section = |page: &str| page.split_once("<section>").unwrap().1.to_owned();
    assert_eq!(section(&page).matches("class=\"late\"").count(), 1);
    assert_eq!(section(&page).matches("class=\"lost\"").count(), 1);
    assert_eq!(section(&page).matches("class=\"grace\"").count(), 2);
    assert!(page.contains(">9.0 s</text>"));
    assert_eq!(section(&page).matches("class=\"beat\"").count(), 3);
    story.tracks.get_mut(&Subject::Direct).unwrap().gap = Some((-0.2, 1.9));
    let page = html::page(&[story]);
    for (class, count) in [("calm", 1), ("late", 0), ("lost", 0), ("grace", 0)] {
        assert_eq!(
            section(&page)
                .matches(&format!("class=\"{class}\""))
                .count(),
            count,
            "{class}"
        );
    }
}
