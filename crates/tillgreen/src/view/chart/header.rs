//! The name of a run and its totals.

use engine::Statistics;

use super::super::retry_summary::{label, percent};
use super::super::statistics::Run;
use super::super::text::{moment, took};
use super::document::{LEFT, RIGHT};
use super::markup::{Part, fitted, line, rect, text};

const TILE: f64 = 62.0;
const TILE_GAP: f64 = 10.0;

/// The title of a run.
pub(super) fn title(run: &Run) -> String {
    label(&run.plan, &run.statistics)
}

/// A heading with a line below it.
pub(super) fn heading(title: &str, below: &str) -> Part {
    let mut body = text(LEFT, 34.0, "title", &line(title, 70));
    body.push_str(&text(LEFT, 56.0, "faint", &fitted(below, RIGHT - LEFT)));
    Part { height: 72.0, body }
}

/// When a run began and who worked.
pub(super) fn circumstances(run: &Run) -> String {
    let statistics = &run.statistics;
    let began = statistics.began.map(|began| format!("begun {}", moment(began)));
    let agents: Vec<&str> = statistics.agents().into_keys().collect();
    let agents = (!agents.is_empty()).then(|| format!("agents: {}", agents.join(", ")));
    let archived = run.is_archived.then(|| "put aside by --fresh".to_owned());
    [began, agents, archived].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The totals, side by side.
pub(super) fn tiles(statistics: &Statistics) -> Part {
    let tiles = totals(statistics);
    let width = (RIGHT - LEFT + TILE_GAP) / tiles.len() as f64 - TILE_GAP;
    let mut body = String::new();
    for (number, (value, name)) in tiles.iter().enumerate() {
        let x = LEFT + number as f64 * (width + TILE_GAP);
        body.push_str(&rect([x, 0.0, width, TILE], "tile", ""));
        body.push_str(&text(x + 12.0, 28.0, "value", &line(value, 16)));
        body.push_str(&text(x + 12.0, 48.0, "name", name));
    }
    Part { height: TILE + 18.0, body }
}

fn totals(statistics: &Statistics) -> [(String, &'static str); 8] {
    let tasks = statistics.originals().count();
    let done = statistics.count(|task| task.result.is_done());
    let first = statistics.first_successes();
    let share = percent(first, statistics.for_the_run());
    let fixes_done = statistics.fixes().filter(|task| task.result.is_done()).count();
    [
        (format!("{done}/{tasks}"), "tasks done"),
        (format!("{first} ({share}%)"), "at first attempt"),
        (format!("{}/{}", statistics.retry_successes(), statistics.retried()), "retries worked"),
        (format!("{fixes_done}/{}", statistics.fixes().count()), "fix tasks done"),
        (format!("{}/{}", statistics.failed_attempts(), statistics.attempts()), "attempts failed"),
        (statistics.escalations().to_string(), "escalations"),
        (statistics.skipped().to_string(), "skipped"),
        (took(statistics.worked()), "time worked"),
    ]
}
