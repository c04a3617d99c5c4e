//! Results for programs: one JSON value a line. Text of others is as harmless there as elsewhere: what is parsed is shown
//! in the end.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};

/// Writes a value on a line of its own.
pub(crate) fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(&written(value, CompactFormatter)?)?;
    out.flush()
}

/// Writes one document, indented, for results that are not a stream.
pub(crate) fn document(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(&written(value, PrettyFormatter::new())?)?;
    out.flush()
}

/// A value as harmless text, with a line break at its end.
fn written(value: &impl Serialize, layout: impl Formatter) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut text, Harmless { layout }))
        .map_err(io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

/// A value on one line.
pub(crate) fn text(value: &impl Serialize) -> String {
    let text = written(value, CompactFormatter).expect("strings and numbers can be written as JSON");
    String::from_utf8_lossy(&text).into_owned()
}

/// A layout in which strings are made harmless.
struct Harmless<F> {
    layout: F,
}

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return out.write_all(fragment.as_bytes());
        }
        let harmless: String = fragment.chars().filter_map(plan::harmless).collect();
        out.write_all(harmless.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        let control = match escape {
            CharEscape::AsciiControl(byte) => byte,
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Quote
            | CharEscape::ReverseSolidus
            | CharEscape::Solidus
            | CharEscape::LineFeed
            | CharEscape::Tab => return self.layout.write_char_escape(out, escape),
        };
        let shown: String = plan::harmless(char::from(control)).into_iter().collect();
        out.write_all(shown.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_layout_is_as_usual() {
        let value = json!({ "a": [1, { "b": "x\ty\n\"\\\"" }], "c": {}, "d": [], "ü": null });
        assert_eq!(text(&value), format!("{value}\n"));
        let mut out = Vec::new();
        document(&mut out, &value).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{value:#}\n"));
    }

    #[test]
    fn what_is_read_from_it_is_harmless() {
        let value = json!({ "a\u{1b}": "\u{1b}[2J\u{8}\r\u{9b}\u{202e}\u{200b}" });
        assert_eq!(text(&value), "{\"a\u{241b}\":\"\u{241b}[2J\u{2408}\u{240d}\u{fffd}\u{fffd}\"}\n");
    }

    proptest! {
        #[test]
        fn any_text_is_valid_and_harmless(said in ".*") {
            let read: String = serde_json::from_str(&text(&said)).unwrap();
            prop_assert_eq!(plan::harmless_lines(&said), read);
        }
    }
}
