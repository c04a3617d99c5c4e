//! Markup from text that others wrote: everything is escaped here, and nowhere else.

use super::super::text::one_line;

/// Characters of a tooltip.
const TOOLTIP_CHARS_MAX: usize = 300;

/// A part of the picture, as high as it says.
pub(super) struct Part {
    /// Its height.
    pub(super) height: f64,
    /// Its elements, with 0 at its top.
    pub(super) body: String,
}

/// A text with nothing in it that markup could take for its own, or that no document may hold.
pub(in crate::view) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A text of others on one line, at most so many characters long, escaped.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    escape(&one_line(text, chars_max))
}

/// The text that a browser shows when one points at the element around it.
pub(super) fn tooltip(text: &str) -> String {
    format!("<title>{}</title>", line(text, TOOLTIP_CHARS_MAX))
}

/// A text that fits into so many pixels at the usual size, escaped. Wide characters count twice.
pub(super) fn fitted(text: &str, pixels: f64) -> String {
    const PIXELS_PER_CHAR: f64 = 6.4;
    let line = one_line(text, TOOLTIP_CHARS_MAX);
    let room = pixels / PIXELS_PER_CHAR;
    let mut used = 0.0;
    let mut kept = String::new();
    for character in line.chars() {
        used += if character < '\u{1100}' { 1.0 } else { 2.0 };
        if used > room {
            kept.pop();
            kept.truncate(kept.trim_end().len());
            kept.push('…');
            break;
        }
        kept.push(character);
    }
    escape(&kept)
}

/// A text element; the text must be escaped already.
pub(super) fn text(x: f64, y: f64, class: &str, escaped: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{escaped}</text>")
}

/// A box; what is inside must be markup already.
pub(super) fn rect(area: [f64; 4], class: &str, inside: &str) -> String {
    let [x, y, width, height] = area;
    format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\" class=\"{class}\">{inside}</rect>"
    )
}
