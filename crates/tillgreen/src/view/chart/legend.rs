//! The meaning of colours and signs: only those that the picture holds.

use std::collections::BTreeSet;

use engine::{MarkKind, SpanKind, Statistics};

use super::document::{LEFT, RIGHT};
use super::markup::{Part, rect, text};
use super::tone::Tone;

/// Pixels of a letter, roughly, and of a sign with the space around it.
const LETTER: f64 = 6.3;
const SIGN: f64 = 36.0;

/// Where entries begin, and how far their lines are apart.
const BEGIN: f64 = LEFT + 80.0;
const LINE: f64 = 20.0;

/// The legend of a timeline.
pub(super) fn legend(statistics: &Statistics) -> Part {
    let mut body = text(LEFT, 14.0, "section", "Timeline");
    let (mut x, mut y) = (BEGIN, 3.0);
    let mut entry = |sign: String, name: &str| {
        let width = SIGN + LETTER * name.len() as f64;
        if x + width > RIGHT {
            (x, y) = (BEGIN, y + LINE);
        }
        let name = text(19.0, 11.0, "name", name);
        body.push_str(&format!("<g transform=\"translate({x:.1} {y:.1})\">{sign}{name}</g>"));
        x += width;
    };
    let tones: BTreeSet<Tone> = statistics.spans.iter().map(Tone::of).collect();
    for tone in tones {
        entry(rect([0.0, 1.0, 14.0, 11.0], &format!("bar {}", tone.class()), ""), tone.name());
    }
    if statistics.spans.iter().any(|span| span.kind == SpanKind::Proof) {
        entry(text(3.0, 11.0, "id", "V"), "command, no agent");
    }
    if statistics.marks.iter().any(|mark| matches!(mark.kind, MarkKind::Escalated(_))) {
        entry(
            "<path d=\"M0-7 6 0 0 7-6 0Z\" transform=\"translate(7 6.5)\" class=\"asked\"/>".to_owned(),
            "person asked",
        );
    }
    if statistics.marks.iter().any(|mark| mark.kind == MarkKind::Skipped) {
        let sign =
            "<path d=\"M-6-5 0 0-6 5ZM1-5 7 0 1 5Z\" transform=\"translate(7 6.5)\" class=\"skipped\"/>";
        entry(sign.to_owned(), "skipped");
    }
    Part { height: y + 21.0, body }
}
