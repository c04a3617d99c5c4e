//! The folded state of a run as rows for a page, each with the event since which it is so: whoever knows the run up to some
//! event is told what changed after it.

use std::fmt::Write as _;

use engine::Task;
use jiff::Timestamp;
use plan::TaskId;
use serde_json::{Value, json};

use crate::inspect::record::{Bar, Outcome, Record};
use crate::view::json;
use crate::view::status::doing;
use crate::view::text::one_line;
use crate::view::work::Stand;

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 160;

/// The rows.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    ids: Vec<TaskId>,
    rows: Vec<Kept>,
    bars: Vec<Kept>,
    /// The event since which the tasks are these, in this order.
    ordered_since: usize,
}

/// A row as it is sent.
#[derive(Debug)]
struct Kept {
    text: Box<str>,
    since: usize,
}

impl Sheet {
    /// Takes in what the record has become.
    pub(super) fn update(&mut self, record: &Record) {
        let (now, tasks) = (record.events.len(), record.state.tasks());
        if !self.ids.iter().eq(tasks.iter().map(|task| task.id())) {
            self.ids = tasks.iter().map(|task| task.id().clone()).collect();
            self.rows.clear();
            self.bars.clear();
            self.ordered_since = now;
        }
        for (place, task) in tasks.iter().enumerate() {
            keep(&mut self.rows, place, row(record, task), now);
        }
        for (place, bar) in record.bars.iter().enumerate() {
            // What has ended stays as it is.
            if bar.ended.is_none() || self.bars.get(place).is_none_or(|kept| kept.text.contains("null")) {
                keep(&mut self.bars, place, self::bar(record, bar), now);
            }
        }
    }

    /// All rows, as members of an object.
    pub(super) fn whole(&self) -> String {
        let mut text = String::from("\"rows\":[");
        join(&mut text, self.rows.iter().map(|row| &*row.text));
        text.push_str("],\"bars\":[");
        join(&mut text, self.bars.iter().map(|bar| &*bar.text));
        text.push(']');
        text
    }

    /// The rows that changed after an event, with their places; none where all have to be asked for anew.
    pub(super) fn since(&self, event: usize) -> Option<String> {
        if event < self.ordered_since {
            return None;
        }
        let changed = |kept: &[Kept]| {
            let changed = kept.iter().enumerate().filter(|(_, kept)| kept.since > event);
            changed.map(|(place, kept)| format!("[{place},{}]", kept.text)).collect::<Vec<_>>()
        };
        let mut text = String::from("\"rows\":[");
        join(&mut text, changed(&self.rows).iter().map(String::as_str));
        text.push_str("],\"bars\":[");
        join(&mut text, changed(&self.bars).iter().map(String::as_str));
        text.push(']');
        Some(text)
    }
}

fn keep(kept: &mut Vec<Kept>, place: usize, value: Value, now: usize) {
    let text: Box<str> = json::text(&value).trim_end().into();
    match kept.get_mut(place) {
        Some(known) if known.text == text => {}
        Some(known) => *known = Kept { text, since: now },
        None => kept.push(Kept { text, since: now }),
    }
}

fn join<'a>(text: &mut String, parts: impl Iterator<Item = &'a str>) {
    for (place, part) in parts.enumerate() {
        // Writing into a string cannot fail.
        let _ = write!(text, "{}{part}", if place == 0 { "" } else { "," });
    }
}

/// `[id, title, stage, depth, stand, attempts, failures, took, cost, step, since, commit]`.
fn row(record: &Record, task: &Task) -> Value {
    let state = &record.state;
    let step = record.work.step(task.id());
    let took = state.time_of(task).filter(|_| task.status.is_settled());
    let took = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    json!([
        task.id().to_string(),
        one_line(task.decl.short_title(), TITLE_CHARS_MAX),
        task.decl.stage,
        state.fix_depth(task.id()),
        Stand::of(task),
        task.attempted.max(doing(task).1.unwrap_or(0)),
        task.failures.len(),
        took,
        task.usage.cost_micros,
        step.map(|step| step.word.as_str()),
        step.map(|step| step.since.as_millisecond()),
        task.commit.as_deref().map(|commit| commit.get(..9).unwrap_or(commit)),
    ])
}

/// `[place of the task, attempt, began, claimed, landing, ended, outcome]`; the end of what goes on is null.
fn bar(record: &Record, bar: &Bar) -> Value {
    let place = record.state.position(&bar.task);
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millisecond);
    let outcome = match bar.outcome {
        Outcome::Open => 'o',
        Outcome::Passed => 'p',
        Outcome::Failed => 'f',
        Outcome::Lost => 'l',
    };
    json!([
        place.map_or(-1, |place| i64::try_from(place).unwrap_or(-1)),
        bar.attempt.map_or(0, |attempt| attempt.0),
        bar.began.as_millisecond(),
        millis(bar.claimed).unwrap_or(0),
        millis(bar.landing).unwrap_or(0),
        millis(bar.ended),
        outcome,
    ])
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::Story;

    fn record(story: &Story) -> Record {
        let mut record = Record::default();
        story.replay().into_iter().for_each(|(event, _)| record.take(event));
        record
    }

    #[test]
    fn only_what_changed_is_told() {
        let mut sheet = Sheet::default();
        let story = Story::new(Rules::default());
        sheet.update(&record(&story));
        let before = record(&story).events.len();
        let story = story.starts("1.2");
        sheet.update(&record(&story));
        let told = sheet.since(before).unwrap();
        assert!(told.starts_with("\"rows\":[[1,[\"1.2\",\"Add a parser\",0,0,\"works\",1,0,null,"), "{told}");
        assert!(told.ends_with("\"bars\":[[0,[1,1,1769437810000,0,0,null,\"o\"]]]"), "{told}");
        let story = story.claims("1.2");
        sheet.update(&record(&story));
        let now = record(&story).events.len();
        assert_eq!(sheet.since(now).as_deref(), Some("\"rows\":[],\"bars\":[]"));
        assert_eq!(sheet.since(0), None, "who knows nothing is told all");
    }
}
