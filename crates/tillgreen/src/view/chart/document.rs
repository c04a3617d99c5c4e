//! The whole file: parts below each other in one picture, or a page whose timeline scrolls.

use engine::TaskStatistics;

use super::super::retry_summary::{Naming, short, words};
use super::super::statistics::{Run, total};
use super::super::text::{count, took};
use super::super::trend::Trend;
use super::failures::failures;
use super::file::ChartKind;
use super::header::{circumstances, heading, tiles, title};
use super::legend::legend;
use super::markup::{Part, escape, line, text};
use super::timeline::Timeline;
use super::trend::{worth, yields};

/// Where content begins and ends, from the left edge.
pub(super) const LEFT: f64 = 24.0;
pub(super) const RIGHT: f64 = 1096.0;
const WIDTH: f64 = 1120.0;

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const PAGE_STYLE: &str = include_str!("page.css");

/// How much of what there is a file shows.
struct Room {
    runs_max: usize,
    rows_max: usize,
}

/// A picture is looked at whole; a page can be scrolled.
const PICTURE: Room = Room { runs_max: 10, rows_max: 60 };
const PAGE: Room = Room { runs_max: 30, rows_max: 500 };

/// The chart of a run, or of several with what they amount to together.
pub(crate) fn render(kind: ChartKind, runs: &[Run]) -> String {
    match kind {
        ChartKind::Svg => picture(runs),
        ChartKind::Html => page(runs),
    }
}

/// The totals and the timeline of a run, to stand in a page that has both style sheets.
pub(crate) fn figures(run: &Run) -> String {
    let runs = std::slice::from_ref(run);
    let totals = drawn(&[tiles(&run.statistics), failures(&run.statistics)], &description(runs));
    format!("<div class=\"overview\">{totals}</div>\n{}", section(runs, run))
}

/// The part above all timelines.
fn overview(runs: &[Run]) -> Vec<Part> {
    if let [run] = runs {
        let below = circumstances(run);
        return vec![heading(&title(run), &below), tiles(&run.statistics), failures(&run.statistics)];
    }
    let total = total(runs);
    let trend = Trend::of(runs);
    let head = heading(&name(runs), "all plans here, together");
    vec![head, tiles(&total), yields(&trend), worth(&trend), failures(&total)]
}

fn name(runs: &[Run]) -> String {
    match runs {
        [run] => title(run),
        _ => count(runs.len(), "run"),
    }
}

/// The part above a timeline.
fn introduction(runs: &[Run], run: &Run) -> Vec<Part> {
    let mut parts = Vec::new();
    if runs.len() > 1 {
        parts.push(heading(&title(run), &circumstances(run)));
        parts.push(tiles(&run.statistics));
    }
    parts.push(legend(&run.statistics));
    parts
}

fn left_out(runs: &[Run], room: &Room) -> Option<Part> {
    let number = runs.len().saturating_sub(room.runs_max);
    let note = format!("{} more, counted above, left out", count(number, "run"));
    (number > 0).then(|| Part { height: 40.0, body: text(LEFT, 24.0, "faint", &note) })
}

/// A description of the picture, for those who cannot see it.
fn description(runs: &[Run]) -> String {
    let total = total(runs);
    let (tasks, done) = (total.originals().count(), total.count(|task| task.result.is_done()));
    let (attempts, failed) = (total.attempts(), total.failed_attempts());
    format!("{done} of {tasks} tasks done in {}, {failed} of them failed.", count(attempts, "attempt"))
}

fn picture(runs: &[Run]) -> String {
    let mut parts = overview(runs);
    for run in runs.iter().take(PICTURE.runs_max) {
        parts.extend(introduction(runs, run));
        let timeline = Timeline::of(&run.statistics, PICTURE.rows_max);
        parts.extend([timeline.head(), timeline.rows()]);
        parts.push(Part { height: 20.0, body: String::new() });
    }
    parts.extend(left_out(runs, &PICTURE));
    let (height, body) = stacked(&parts);
    let background = format!("<rect width=\"{WIDTH}\" height=\"{height:.1}\" class=\"page\"/>");
    let size = format!("width=\"{WIDTH}\" height=\"{height:.1}\"");
    let what =
        format!("<title>{}</title><desc>{}</desc>", line(&name(runs), 100), escape(&description(runs)));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" {size} viewBox=\"0 0 {WIDTH} {height:.1}\">\
         {what}\n<style>{STYLE}</style>\n{background}\n{body}</svg>\n"
    )
}

fn stacked(parts: &[Part]) -> (f64, String) {
    let (mut height, mut body) = (0.0, String::new());
    for part in parts {
        body.push_str(&format!("<g transform=\"translate(0 {height:.1})\">{}</g>\n", part.body));
        height += part.height;
    }
    (height, body)
}

fn page(runs: &[Run]) -> String {
    let mut body = format!("<div class=\"overview\">{}</div>\n", drawn(&overview(runs), &description(runs)));
    for run in runs.iter().take(PAGE.runs_max) {
        body.push_str(&section(runs, run));
    }
    body.extend(left_out(runs, &PAGE).map(|part| drawn(&[part], "")));
    let title = line(&name(runs), 100);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn section(runs: &[Run], run: &Run) -> String {
    let timeline = Timeline::of(&run.statistics, PAGE.rows_max);
    let introduction = drawn(&introduction(runs, run), "what the colours mean");
    let axis = drawn(&[timeline.head()], "time worked");
    let rows = drawn(&[timeline.rows()], "attempts over time; the table below says the same");
    let table = table(&run.statistics.tasks);
    format!(
        "<section>\n<div class=\"overview\">{introduction}</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Timeline\">\n<div class=\"axis\">{axis}</div>\n{rows}</div>\n{table}</section>\n"
    )
}

/// Parts as a picture of their own within a page.
fn drawn(parts: &[Part], label: &str) -> String {
    let (height, body) = stacked(parts);
    let label = escape(label);
    format!("<svg role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {WIDTH} {height:.1}\">{body}</svg>\n")
}

/// The numbers as a table, for those who would rather read.
fn table(tasks: &[TaskStatistics]) -> String {
    let mut rows = String::new();
    let naming = Naming::of(tasks);
    for task in tasks.iter().take(PAGE.rows_max) {
        rows.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td class=\"figure\">{}</td><td>{}</td><td class=\"figure\">{}</td></tr>\n",
            line(&short(&task.id, naming), 60),
            line(&task.title, 200),
            task.attempts,
            line(&words(&task.result, naming), 100),
            took(task.worked),
        ));
    }
    let heads =
        ["Task", "Title", "Attempts", "Result", "Time"].map(|head| format!("<th scope=\"col\">{head}</th>"));
    format!(
        "<details>\n<summary>As a table</summary>\n<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</details>\n",
        heads.concat()
    )
}
