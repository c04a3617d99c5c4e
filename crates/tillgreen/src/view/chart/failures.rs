//! The things that failures have in common, as bars.

use engine::Statistics;

use super::super::retry_summary::common;
use super::document::{LEFT, RIGHT};
use super::markup::{Part, fitted, rect, text, tooltip};
use super::tone::Tone;

const ROW: f64 = 22.0;
const BARS_LEFT: f64 = 330.0;
const PATTERNS_MAX: usize = 8;

/// The most common patterns of failure; nothing where nothing failed.
pub(super) fn failures(statistics: &Statistics) -> Part {
    let patterns = statistics.patterns();
    let shown: Vec<_> = common(&patterns).take(PATTERNS_MAX).collect();
    let Some(most) = shown.first().map(|pattern| pattern.occurrences as f64) else {
        return Part { height: 0.0, body: String::new() };
    };
    let mut body = text(LEFT, 14.0, "section", "Common failure patterns");
    for (number, pattern) in shown.iter().enumerate() {
        let y = 26.0 + number as f64 * ROW;
        let tone = Tone::named(&pattern.name).map_or("plain", Tone::class);
        // The longest leaves room for its number and is no wider than the page needs it to be.
        let width = (RIGHT - BARS_LEFT - 60.0).min(420.0) * pattern.occurrences as f64 / most;
        body.push_str(&format!("<g>{}", tooltip(&pattern.name)));
        body.push_str(&text(LEFT, y + 14.0, "label", &fitted(&pattern.name, BARS_LEFT - LEFT - 12.0)));
        body.push_str(&rect([BARS_LEFT, y + 3.0, width.max(2.0), 14.0], &format!("bar {tone}"), ""));
        let x = BARS_LEFT + width + 8.0;
        body.push_str(&text(x, y + 14.0, "label", &pattern.occurrences.to_string()));
        body.push_str("</g>\n");
    }
    Part { height: 26.0 + shown.len() as f64 * ROW + 18.0, body }
}
