//! A line of JSON from an agent, read without believing anything about it.

use std::borrow::Cow;

use engine::Usage;
use serde::Deserialize;
use serde_json::Value;

/// A line of an agent's output.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Line<'a> {
    /// All of it.
    Whole(&'a str),
    /// The beginning of one that was too long to be kept.
    Start(&'a str),
}

/// The characters that are shown of what an agent says or does.
const SHOWN_CHARS_MAX: usize = 200;

/// The bytes that are kept of a final message. A signal stands at its end, so that is what stays.
pub(crate) const MESSAGE_BYTES_MAX: usize = 512 * 1024;

/// The `type` of a line, found without building the rest of it.
pub(crate) fn type_of(line: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    let head: Head<'_> = serde_json::from_str(line.trim()).ok()?;
    Some(head.kind)
}

/// The whole line.
pub(crate) fn value_of(line: &str) -> Option<Value> {
    serde_json::from_str(line.trim()).ok()
}

/// A text inside a value, by its path.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// A whole number inside a value; one with a fraction is cut.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<u64> {
    let number = at(value, path)?;
    number.as_u64().or_else(|| number.as_f64().and_then(whole))
}

/// An amount of dollars inside a value, in millionths.
pub(crate) fn micros(value: &Value, path: &[&str]) -> Option<u64> {
    whole((at(value, path)?.as_f64()? * 1_000_000.0).round())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is looked at before")]
fn whole(number: f64) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    (0.0..=LARGEST).contains(&number).then_some(number as u64)
}

/// Something inside a value, by its path.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The items of a list inside a value; none where there is no list.
pub(crate) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// One usage out of four places in a value.
pub(crate) fn usage(value: &Value, [input, cached, output]: [&[&str]; 3], cost: &[&str]) -> Usage {
    Usage {
        input: number(value, input),
        cached: number(value, cached),
        output: number(value, output),
        cost_micros: micros(value, cost),
    }
}

/// The first words of a text, in one line.
pub(crate) fn short(text: &str) -> String {
    let mut line = String::new();
    for (count, word) in text.split_whitespace().enumerate() {
        if count > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SHOWN_CHARS_MAX * 4 {
            break;
        }
    }
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The subject of a tool: the first of the usual parameters that is there.
pub(crate) fn subject(input: Option<&Value>) -> String {
    const NAMES: [&str; 8] =
        ["command", "file_path", "filePath", "path", "pattern", "query", "url", "description"];
    let input = input.unwrap_or(&Value::Null);
    let found = NAMES.iter().find_map(|name| input.get(name)?.as_str());
    short(found.unwrap_or_default())
}

/// Adds to a message and keeps its end.
pub(crate) fn push_bounded(message: &mut String, text: &str) {
    message.push_str(text);
    if message.len() > 2 * MESSAGE_BYTES_MAX {
        let mut start = message.len() - MESSAGE_BYTES_MAX;
        while !message.is_char_boundary(start) {
            start += 1;
        }
        message.drain(..start);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        assert_eq!(type_of(r#"{"a":[1,{"type":"no"}],"type":"result"}"#).as_deref(), Some("result"));
        assert_eq!(type_of(r#"{"type":"r\u0065sult"}"#).as_deref(), Some("result"));
        for line in ["", "{", "[]", "null", r#"{"type":7}"#, r#"{"type":"a"} x"#, "\u{feff}{}"] {
            assert_eq!(type_of(line), None, "for {line:?}");
        }
    }

    #[test]
    fn numbers_are_not_believed_blindly() {
        let value = json!({"a": 5, "b": -1, "c": 1.9, "d": "7", "e": 1e300, "f": 0.01905});
        assert_eq!(number(&value, &["a"]), Some(5));
        assert_eq!(number(&value, &["b"]), None);
        assert_eq!(number(&value, &["c"]), Some(1));
        assert_eq!(number(&value, &["d"]), None);
        assert_eq!(number(&value, &["e"]), None);
        assert_eq!(micros(&value, &["f"]), Some(19_050));
        assert_eq!(micros(&value, &["e"]), None);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(short("a\n  b\tc"), "a b c");
        assert_eq!(short(&"é".repeat(1_000)).chars().count(), SHOWN_CHARS_MAX + 1);
        let mut message = String::new();
        for _ in 0..100 {
            push_bounded(&mut message, &"é".repeat(20_000));
        }
        push_bounded(&mut message, "end");
        assert!(message.len() <= 2 * MESSAGE_BYTES_MAX && message.ends_with("end"));
    }
}
