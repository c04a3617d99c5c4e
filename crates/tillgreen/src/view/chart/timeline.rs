//! One row a task: a bar for each attempt, placed by time and toned by what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{Mark, MarkKind, Span, SpanOutcome, Statistics, TaskStatistics};
use plan::TaskId;

use super::super::retry_summary::{Naming, short, words as result_words};
use super::super::text::{count, moment, took};
use super::axis::{Axis, FOLD_WIDTH};
use super::document::{LEFT, RIGHT};
use super::markup::{Part, escape, fitted, line, rect, text, tooltip};
use super::tone::{self, Tone};

const ROW: f64 = 24.0;
const BAR: f64 = 14.0;
const BARS_LEFT: f64 = 330.0;
const BARS_RIGHT: f64 = 838.0;
const RESULT_LEFT: f64 = 866.0;
const INDENT: f64 = 14.0;
/// A bar that is narrower shows nothing.
const BAR_WIDTH_MIN: f64 = 3.0;
/// A bar that is narrower has no room for a number.
const NUMBERED_WIDTH_MIN: f64 = 13.0;
/// The room that a label of the axis takes.
const LABEL: f64 = 52.0;
/// Bars and marks in a row, the latest.
const ITEMS_MAX: usize = 300;

/// The timeline of a run.
pub(super) struct Timeline<'a> {
    axis: Axis,
    tasks: Vec<&'a TaskStatistics>,
    left_out: usize,
    naming: Naming,
    spans: BTreeMap<&'a TaskId, Vec<&'a Span>>,
    marks: BTreeMap<&'a TaskId, Vec<&'a Mark>>,
}

impl<'a> Timeline<'a> {
    /// The timeline of a run with at most so many rows.
    pub(super) fn of(statistics: &'a Statistics, rows_max: usize) -> Self {
        let tasks = chosen(&statistics.tasks, rows_max);
        let mut spans: BTreeMap<&TaskId, Vec<&Span>> = BTreeMap::new();
        statistics.spans.iter().for_each(|span| spans.entry(&span.task).or_default().push(span));
        let mut marks: BTreeMap<&TaskId, Vec<&Mark>> = BTreeMap::new();
        statistics.marks.iter().for_each(|mark| marks.entry(&mark.task).or_default().push(mark));
        let axis = Axis::of(statistics, BARS_LEFT, BARS_RIGHT - BARS_LEFT);
        let left_out = statistics.tasks.len() - tasks.len();
        let naming = Naming::of(&statistics.tasks);
        Self { axis, tasks, left_out, naming, spans, marks }
    }

    /// The axis with its words.
    pub(super) fn head(&self) -> Part {
        let mut body = text(LEFT, 18.0, "head", "Task");
        body.push_str(&text(RESULT_LEFT, 18.0, "head", "Result"));
        // The first to come takes the place: what would stand too near to it is left out.
        let mut taken: Vec<f64> = Vec::new();
        let folds =
            self.axis.folds().map(|fold| (fold.x, "tick pause", format!("pause {}", round(fold.pause))));
        let ticks = self.axis.ticks().into_iter().map(|tick| (tick.x, "tick", round(tick.worked)));
        for (x, class, label) in folds.chain(ticks) {
            if taken.iter().all(|other| (other - x).abs() > LABEL) {
                body.push_str(&text(x, 18.0, class, &label));
                taken.push(x);
            }
        }
        Part { height: 26.0, body }
    }

    /// The rows.
    pub(super) fn rows(&self) -> Part {
        let height = ROW * self.tasks.len() as f64;
        let mut body = self.grid(height);
        for (number, task) in self.tasks.iter().enumerate() {
            body.push_str(&self.row(task, number as f64 * ROW));
        }
        let Some(note) = self.note() else { return Part { height, body } };
        body.push_str(&text(LEFT, height + 20.0, "faint", &note));
        Part { height: height + 28.0, body }
    }

    fn note(&self) -> Option<String> {
        match (self.left_out, self.tasks.len()) {
            (0, 0) => Some("No tasks".to_owned()),
            (0, _) => None,
            (left_out, _) => {
                Some(format!("{} more, with nothing worth noting, left out", count(left_out, "task")))
            }
        }
    }

    fn grid(&self, height: f64) -> String {
        let mut body = String::new();
        for tick in self.axis.ticks() {
            let x = tick.x;
            body.push_str(&format!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{height:.1}\" class=\"grid\"/>"
            ));
        }
        for fold in self.axis.folds() {
            let pause = tooltip(&format!("a pause of {}", round(fold.pause)));
            body.push_str(&rect([fold.x - FOLD_WIDTH / 2.0, 0.0, FOLD_WIDTH, height], "fold", &pause));
        }
        body
    }

    fn row(&self, task: &TaskStatistics, y: f64) -> String {
        let indent = INDENT * f64::from(task.depth.min(6));
        let label_width = BARS_LEFT - LEFT - 10.0;
        let sign = if task.fix_of.is_some() { "↳ " } else { "" };
        let name = short(&task.id, self.naming);
        let id = line(&name, 24);
        let id_room = 7.2 * (id.chars().count() + sign.chars().count()) as f64 + 8.0;
        let title = fitted(&task.title, label_width - indent - id_room);
        let mut body = format!(
            "<g><line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{0:.1}\" y2=\"{0:.1}\" class=\"rule\"/>\
             <svg x=\"{LEFT}\" y=\"{y:.1}\" width=\"{label_width}\" height=\"{ROW}\">{1}\
             <text x=\"{indent}\" y=\"16\" class=\"label\"><tspan class=\"id\">{sign}{id}</tspan> {title}</text></svg>",
            y + ROW,
            tooltip(&format!("{name} {}", task.title)),
        );
        let spans = self.spans.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        for span in &spans[spans.len().saturating_sub(ITEMS_MAX)..] {
            body.push_str(&self.bar(span, y));
        }
        let marks = self.marks.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        for mark in &marks[marks.len().saturating_sub(ITEMS_MAX)..] {
            body.push_str(&self.mark(mark, y));
        }
        body.push_str(&result(task, self.naming, y));
        body.push_str("</g>\n");
        body
    }

    fn bar(&self, span: &Span, y: f64) -> String {
        let tone = Tone::of(span);
        let (x, end) = (self.axis.place(span.began), self.axis.place(span.ended));
        // A hairline stays free, so that attempts in a row can be told apart.
        let width = (end - x - 1.0).max(BAR_WIDTH_MIN);
        let top = y + (ROW - BAR) / 2.0;
        let tip = tooltip(&told(span, tone));
        let proof = if matches!(span.kind, engine::SpanKind::Proof) { " proof" } else { "" };
        let mut body = rect([x, top, width, BAR], &format!("bar {}{proof}", tone.class()), &tip);
        if width >= NUMBERED_WIDTH_MIN {
            let class = format!("number on-{}", tone.class());
            body.push_str(&text(x + width / 2.0, top + 10.5, &class, &escape(&tone::mark(span))));
        }
        body
    }

    fn mark(&self, mark: &Mark, y: f64) -> String {
        let (x, middle) = (self.axis.place(mark.at), y + ROW / 2.0);
        let (class, path, what) = match mark.kind {
            MarkKind::Escalated(_) => ("asked", "M0-7 6 0 0 7-6 0Z", "a person was asked"),
            MarkKind::Skipped => ("skipped", "M-6-5 0 0-6 5ZM1-5 7 0 1 5Z", "skipped"),
        };
        let tip = tooltip(&format!("{what}, {}", moment(mark.at)));
        // A skip follows a question at once, so it stands beside it.
        let x = if mark.kind == MarkKind::Skipped { x + 14.0 } else { x };
        format!(
            "<path d=\"{path}\" transform=\"translate({x:.1} {middle:.1})\" class=\"{class}\">{tip}</path>"
        )
    }
}

/// A time on the axis: without the zeros that a precise one would have.
fn round(millis: f64) -> String {
    let label = took(Duration::from_millis(millis as u64));
    match label.strip_suffix(" 0s").or(label.strip_suffix(" 0m")).or(label.strip_suffix(" 0h")) {
        Some(round) => round.to_owned(),
        None if label == "0.0s" => "0".to_owned(),
        None => label.replace(".0s", "s"),
    }
}

fn told(span: &Span, tone: Tone) -> String {
    let error = match &span.outcome {
        SpanOutcome::Failed { error, .. } => format!(": {error}"),
        SpanOutcome::Passed | SpanOutcome::Lost | SpanOutcome::Unavailable | SpanOutcome::Undecided => {
            String::new()
        }
    };
    let time = format!("{}, {}", moment(span.began), took(span.worked()));
    format!("{}, {time}, {}{error}", tone::words(span), tone.name())
}

fn result(task: &TaskStatistics, naming: Naming, y: f64) -> String {
    let class = if task.result.is_done() {
        "good"
    } else if task.result.is_skipped() {
        "odd"
    } else if task.result == engine::TaskResult::Failed {
        "bad"
    } else {
        "faint"
    };
    let words = result_words(&task.result, naming).replace("success", "done");
    let shown = fitted(&words, RIGHT - RESULT_LEFT - 58.0);
    let mut body = text(RESULT_LEFT, y + 16.0, &format!("result {class}"), &shown);
    if task.is_begun {
        body.push_str(&text(RIGHT, y + 16.0, "time", &took(task.worked)));
    }
    body
}

/// The tasks that are shown: all, or those that there is something to say about and then as many as fit.
fn chosen(tasks: &[TaskStatistics], rows_max: usize) -> Vec<&TaskStatistics> {
    let is_notable = |task: &&TaskStatistics| {
        task.failures > 0 || task.escalations > 0 || task.fix_of.is_some() || !task.fixes.is_empty()
    };
    let notable = tasks.iter().enumerate().filter(|(_, task)| is_notable(task));
    let others = tasks.iter().enumerate().filter(|(_, task)| !is_notable(task));
    let places: BTreeSet<usize> = notable.chain(others).map(|(place, _)| place).take(rows_max).collect();
    places.into_iter().map(|place| &tasks[place]).collect()
}
