//! What all runs tell together, as bars: how much of each run was right at once, and what a verified task takes of each agent
//! and model.

use super::super::text::moment;
use super::super::trend::{Trend, Worth, Yield};
use super::document::{LEFT, RIGHT};
use super::markup::{Part, escape, fitted, rect, text, tooltip};

const ROW: f64 = 22.0;
const BARS_LEFT: f64 = 330.0;
const BAR_WIDTH: f64 = 420.0;
/// Runs and agents that are shown, the latest and the first.
const ROWS_MAX: usize = 20;

/// The yield of each run, oldest first.
pub(super) fn yields(trend: &Trend) -> Part {
    let runs = &trend.runs[trend.runs.len().saturating_sub(ROWS_MAX)..];
    let bar = |run: &Yield| {
        let began = run.began.map(moment).unwrap_or_default();
        let words = format!("{}% of {}", run.percent, run.tasks);
        (format!("{} {began}", run.plan), run.percent as f64 / 100.0, words)
    };
    bars("Right at once", runs.iter().map(bar).collect())
}

/// The attempts and the cost of a verified task, by agent and model.
pub(super) fn worth(trend: &Trend) -> Part {
    let known = || trend.agents.iter().filter_map(|worth| Some((worth, worth.attempts_each()?)));
    let most = known().map(|(_, attempts)| attempts).fold(1.0, f64::max);
    let bar = |(worth, attempts): (&Worth, f64)| {
        let model = worth.model.as_deref().map(|model| format!(" ({model})")).unwrap_or_default();
        let cost = worth.cost_each().map(|cost| format!(", ${cost:.2}")).unwrap_or_default();
        (format!("{}{model}", worth.agent), attempts / most, format!("{attempts:.1} attempts{cost}"))
    };
    bars("Per verified task", known().take(ROWS_MAX).map(bar).collect())
}

fn bars(title: &str, rows: Vec<(String, f64, String)>) -> Part {
    if rows.is_empty() {
        return Part { height: 0.0, body: String::new() };
    }
    let mut body = text(LEFT, 14.0, "section", title);
    for (number, (name, share, words)) in rows.iter().enumerate() {
        let (y, width) = (26.0 + number as f64 * ROW, BAR_WIDTH.min(RIGHT - BARS_LEFT) * share);
        body.push_str(&format!("<g>{}", tooltip(name)));
        body.push_str(&text(LEFT, y + 14.0, "label", &fitted(name, BARS_LEFT - LEFT - 12.0)));
        body.push_str(&rect([BARS_LEFT, y + 3.0, width.max(2.0), 14.0], "bar passed", ""));
        body.push_str(&text(BARS_LEFT + width + 8.0, y + 14.0, "label", &escape(words)));
        body.push_str("</g>\n");
    }
    Part { height: 26.0 + rows.len() as f64 * ROW + 18.0, body }
}
