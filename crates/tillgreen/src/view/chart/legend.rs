//! What colours and signs mean: only those that the picture holds.

use std::collections::BTreeSet;

use engine::{MarkKind, SpanKind, Statistics};

use super::document::LEFT;
use super::markup::{Part, rect, text};
use super::tone::Tone;

/// Pixels of a letter, roughly, and of a sign with the space around it.
const LETTER: f64 = 6.6;
const SIGN: f64 = 42.0;

/// The legend of a timeline.
pub(super) fn legend(statistics: &Statistics) -> Part {
    let mut body = text(LEFT, 14.0, "section", "Timeline");
    let mut x = LEFT + 80.0;
    let mut entry = |sign: String, name: &str| {
        body.push_str(&format!(
            "<g transform=\"translate({x:.1} 3)\">{sign}{}</g>",
            text(19.0, 11.0, "name", name)
        ));
        x += SIGN + LETTER * name.len() as f64;
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
    Part { height: 24.0, body }
}
