use engine::{Cause, End, History, Rules, Span, SpanKind, SpanOutcome, State, Statistics};
use plan::ErrorType;

use super::super::samples::{self, Story};
use super::super::statistics::Run;
use super::axis::Axis;
use super::file::ChartKind;
use super::markup::{escape, fitted};
use super::*;

fn run_of(story: &Story) -> Run {
    let (mut state, mut history) = (State::default(), History::default());
    for (event, _) in story.replay() {
        state.apply(&event).unwrap();
        history.record(&event);
    }
    Run::of("auth".to_owned(), &(state, history))
}

fn hostile() -> Run {
    let error = "<script>alert(1)</script> & \"quotes\" \u{1b}[31m \u{202e} \u{ffff} ]]>";
    let story = Story::new(Rules::default()).fails("1.2", error).escalates("1.2").skips("1.2").passes("1.3");
    let mut run = run_of(&story.end(End::Complete { skipped: 1 }));
    run.plan = "</title><script>".to_owned();
    run.statistics.tasks[2].title = "</svg><img src=x onerror=alert(1)>".to_owned();
    run
}

/// Every element that is opened is closed, in order, and nothing else begins with `<`.
fn check_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').unwrap_or_else(|| panic!("a tag without an end: {piece}"));
        assert!(
            !rest.contains('>') || open.last() == Some(&"style") || tag == "style",
            "a stray > in {piece}"
        );
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{piece}");
        } else if !tag.ends_with('/') && !tag.starts_with('!') && !tag.starts_with("meta") {
            open.push(tag.split([' ', '\n']).next().unwrap());
        }
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn names_of_files() {
    let kind = |name: &str| ChartFile::parse(name).map(|file| file.kind);
    assert_eq!(kind("a.svg"), Ok(ChartKind::Svg));
    assert_eq!(kind("x/y.HTML"), Ok(ChartKind::Html));
    for name in ["a.png", "svg", "", ".svg"] {
        assert_eq!(kind(name), Err("must end in .svg or .html".to_owned()), "{name}");
    }
}

#[test]
fn what_others_wrote_stays_text() {
    for kind in [ChartKind::Svg, ChartKind::Html] {
        for runs in [vec![hostile()], vec![hostile(), run_of(&samples::fixed())]] {
            let text = render(kind, &runs);
            check_well_formed(&text);
            for word in ["<script", "<img", "\u{1b}", "\u{202e}", "\u{ffff}"] {
                assert!(!text.contains(word), "{word:?}");
            }
            assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;"));
        }
    }
    assert_eq!(escape("a'b"), "a&#39;b");
}

#[test]
fn nothing_comes_from_outside() {
    for kind in [ChartKind::Svg, ChartKind::Html] {
        let text = render(kind, &[run_of(&samples::fixed())]).replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", "url(", "@import", "src=", "href=", "<script"] {
            assert!(!text.contains(word), "{word}");
        }
        assert!(text.contains("prefers-color-scheme: dark"));
    }
}

#[test]
fn the_picture_says_what_it_shows() {
    let text = render(ChartKind::Svg, &[hostile()]);
    for words in [
        "<desc>2 of 3 tasks done in 2 attempts, 1 of them failed.</desc>",
        "role=\"img\"",
        "class=\"bar verification\"><title>attempt 1 (executor, command), 2026-01-26 14:30:10Z, 10s, verification_failed:",
        "class=\"asked\"><title>a person was asked, 2026-01-26 14:30:30Z</title>",
        "class=\"skipped\"><title>skipped, ",
        "skipped (escalated)",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let fixed = render(ChartKind::Html, &[run_of(&samples::fixed())]);
    for words in
        ["↳ 1.2.1</tspan>", "<text x=\"28\"", "done (fixed by 1.2.1.1)", "<td>success (fixed by 1.2.1)</td>"]
    {
        assert!(fixed.contains(words), "{words}");
    }
}

#[test]
fn many_tasks_leave_room_for_those_that_failed() {
    let mut run = run_of(&samples::fixed());
    let pending = run.statistics.tasks[0].clone();
    let failed = run.statistics.tasks.split_off(1);
    run.statistics.tasks.extend(std::iter::repeat_n(pending, 700));
    run.statistics.tasks.extend(failed);
    let picture = render(ChartKind::Svg, &[run.clone()]);
    assert_eq!(picture.matches("class=\"label\"><tspan").count(), 60);
    assert!(picture.contains("645 tasks more, with nothing worth noting, left out"), "{picture}");
    assert!(picture.contains("1.2.1.1</tspan>"));
    assert_eq!(render(ChartKind::Html, &[run]).matches("class=\"label\"><tspan").count(), 500);
}

#[test]
fn no_run_has_too_little_to_draw() {
    for statistics in [Statistics::default(), run_of(&Story::new(Rules::default())).statistics] {
        let run = Run { plan: "empty".to_owned(), is_archived: true, statistics, proof: None, model: None };
        for kind in [ChartKind::Svg, ChartKind::Html] {
            let text = render(kind, std::slice::from_ref(&run));
            check_well_formed(&text);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
    check_well_formed(&render(ChartKind::Svg, &vec![run_of(&samples::fixed()); 12]));
}

#[test]
fn a_long_pause_is_folded() {
    let mut statistics = run_of(&samples::fixed()).statistics;
    for (span, begin) in statistics.spans.iter_mut().zip((10..).step_by(10)) {
        (span.began, span.ended) = (samples::time(begin), samples::time(begin + 9));
    }
    let axis = Axis::of(&statistics, 0.0, 100.0);
    assert_eq!(axis.folds().count(), 0);
    assert!((axis.place(samples::time(10)) - 0.0).abs() < 0.01);
    for span in statistics.spans.iter_mut().skip(1) {
        span.began += jiff::SignedDuration::from_hours(10);
        span.ended += jiff::SignedDuration::from_hours(10);
    }
    let axis = Axis::of(&statistics, 0.0, 100.0);
    let [fold] = &axis.folds().collect::<Vec<_>>()[..] else { panic!("one fold") };
    assert!(fold.pause > 36_000_000.0);
    let last = statistics.spans.last().unwrap();
    assert!((axis.place(last.ended) - 100.0).abs() < 0.01, "the axis is used to its end");
    assert!(axis.place(statistics.spans[0].ended) > 10.0, "what came before the pause has its room");
    assert!(axis.ticks().windows(2).all(|pair| pair[0].x < pair[1].x));
}

#[test]
fn a_long_legend_goes_on_below() {
    let mut statistics = hostile().statistics;
    let short = legend::legend(&statistics);
    let causes = [Cause::AgentTimeout, Cause::ReviewerRejected, Cause::NoSignal];
    let failed =
        causes.map(|cause| SpanOutcome::Failed { cause, kind: ErrorType::Error, error: String::new() });
    let others = [SpanOutcome::Lost, SpanOutcome::Unavailable, SpanOutcome::Undecided];
    for outcome in failed.into_iter().chain(others) {
        let span = Span { outcome, kind: SpanKind::Proof, ..statistics.spans[0].clone() };
        statistics.spans.push(span);
    }
    let long = legend::legend(&statistics);
    assert_eq!(long.body.matches("<g ").count(), 11);
    assert!((long.height - short.height - 20.0).abs() < 0.1, "{} {}", long.height, short.height);
}

#[test]
fn labels_fit() {
    assert_eq!(fitted("short", 100.0), "short");
    assert_eq!(fitted("a much longer title", 64.0), "a much lo…");
    assert_eq!(fitted("日本語のタイトル", 64.0), "日本語の…");
    assert_eq!(fitted("a < b", 64.0), "a &lt; b");
    assert_eq!(fitted("x", -5.0), "…");
}
