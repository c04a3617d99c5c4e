//! Long texts, read in a thread of their own: of megabytes a page is given the lines that it shows, and what is searched
//! for is searched for here.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::followed::{Given, Wanted};
use crate::error::Error;
use crate::inspect::output::{Stamp, stamp};
use crate::inspect::reading::Line;

/// Texts that are kept: somebody scrolls in one of them.
const KEPT_MAX: usize = 3;
/// Lines that are given at once, and hits.
const LINES_MAX: usize = 1_000;
const HITS_MAX: usize = 5_000;

/// The part of a text that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// So many lines from one on.
    Range { from: usize, count: usize },
    /// The last lines.
    End { count: usize },
    /// The numbers of lines that hold this.
    Hits(String),
}

/// Something that is to be read.
struct Request {
    wanted: Wanted,
    part: Part,
    reply: oneshot::Sender<Result<Value, Error>>,
}

/// The other end of the thread.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    requests: Sender<Request>,
}

/// A text that was read.
struct Kept {
    key: String,
    stamp: Stamp,
    lines: Vec<Line>,
}

impl Texts {
    /// Begins.
    pub(super) fn start() -> std::io::Result<Self> {
        let (requests, received) = channel();
        thread::Builder::new().name("texts".to_owned()).spawn(move || work(&received))?;
        Ok(Self { requests })
    }

    /// Asks for a part of a text.
    pub(super) fn ask(&self, wanted: Wanted, part: Part) -> oneshot::Receiver<Result<Value, Error>> {
        let (reply, answer) = oneshot::channel();
        // Without the thread nobody answers, and that is what the asker is told.
        let _ = self.requests.send(Request { wanted, part, reply });
        answer
    }
}

fn work(requests: &Receiver<Request>) {
    let mut kept: VecDeque<Kept> = VecDeque::new();
    while let Ok(Request { wanted, part, reply }) = requests.recv() {
        // Whoever asked may have gone.
        let _ = reply.send(read(&mut kept, wanted).map(|lines| taken(lines, &part)));
    }
}

fn read(kept: &mut VecDeque<Kept>, wanted: Wanted) -> Result<&[Line], Error> {
    let Wanted { key, given, growing } = wanted;
    let stamp = stamp(&growing);
    match kept.iter().position(|kept| kept.key == key && kept.stamp == stamp) {
        Some(place) => kept.swap(0, place),
        None => {
            let lines = match given {
                Given::Lines(lines) => lines,
                Given::Reading(reading) => reading.read()?,
            };
            kept.retain(|kept| kept.key != key);
            kept.push_front(Kept { key, stamp, lines });
            kept.truncate(KEPT_MAX);
        }
    }
    Ok(kept.front().map(|kept| kept.lines.as_slice()).unwrap_or_default())
}

fn taken(lines: &[Line], part: &Part) -> Value {
    let total = lines.len();
    let (from, count) = match part {
        Part::Hits(text) => return hits(lines, text),
        Part::Range { from, count } => ((*from).min(total), *count),
        Part::End { count } => (total.saturating_sub(*count), *count),
    };
    let shown = lines.iter().skip(from).take(count.min(LINES_MAX));
    let shown: Vec<Value> = shown.map(|line| json!([line.tone.name(), line.text])).collect();
    json!({ "total": total, "from": from, "lines": shown })
}

fn hits(lines: &[Line], text: &str) -> Value {
    let text = text.to_lowercase();
    let is_hit = |line: &Line| !text.is_empty() && line.text.to_lowercase().contains(&text);
    let hits = lines.iter().enumerate().filter(|(_, line)| is_hit(line)).map(|(place, _)| place);
    let hits: Vec<usize> = hits.take(HITS_MAX).collect();
    json!({ "total": lines.len(), "hits": hits })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::inspect::reading::{Tone, lines};

    #[test]
    fn of_a_long_text_only_what_is_wanted_is_given() {
        let text: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
        let lines = lines(&text, Tone::Plain);
        let part = taken(&lines, &Part::Range { from: 10, count: 2 });
        assert_eq!(part.to_string(), r#"{"total":5000,"from":10,"lines":[["","line 10"],["","line 11"]]}"#);
        assert_eq!(taken(&lines, &Part::End { count: 1 })["lines"][0][1], "line 4999");
        let all = taken(&lines, &Part::Range { from: 0, count: 9_999 });
        assert_eq!(all["lines"].as_array().map(Vec::len), Some(LINES_MAX));
        let found = taken(&lines, &Part::Hits("LINE 499".to_owned()));
        assert_eq!(found["hits"], json!([499, 4990, 4991, 4992, 4993, 4994, 4995, 4996, 4997, 4998, 4999]));
        assert_eq!(taken(&lines, &Part::Hits(String::new()))["hits"], json!([]));
    }

    #[test]
    fn what_has_grown_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "a").unwrap();
        let mut kept = VecDeque::new();
        let mut ask = |key: &str, text: &str| {
            let given = Given::Lines(lines(text, Tone::Plain));
            let wanted = Wanted { key: key.to_owned(), given, growing: vec![path.clone()] };
            read(&mut kept, wanted).unwrap()[0].text.clone()
        };
        assert_eq!(ask("k", "one"), "one");
        assert_eq!(ask("k", "two"), "one", "it is kept");
        assert_eq!(ask("l", "three"), "three");
        fs::write(&path, "ab").unwrap();
        assert_eq!(ask("k", "two"), "two");
    }
}
