//! Lines of JSON, in which agents speak: what is masked is the text that their strings stand for, so that a line stays
//! JSON and a value ends where its text ends.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{Error, IgnoredAny, Visitor};

use crate::mask::{MASK, Masker, named, values};

/// The line without secrets; none if it is no JSON.
pub(super) fn without_secrets(line: &str) -> Option<String> {
    let is_json = || serde_json::from_str::<IgnoredAny>(line).is_ok();
    if !line.trim_start().starts_with(['{', '[', '"']) || !is_json() {
        return None;
    }
    let mut kept = String::with_capacity(line.len());
    let mut name = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        let (gap, from) = rest.split_at(start);
        let (literal, after) = from.split_at(end_of_literal(from));
        let text = decoded(literal)?;
        kept.push_str(&without_values(gap));
        let name_of = std::mem::take(&mut name);
        match masked(&text, if gap.trim() == ":" { &name_of } else { "" }) {
            Some(masked) => kept.push_str(&encoded(&masked)),
            None => kept.push_str(literal),
        }
        if after.trim_start().starts_with(':') {
            name = text.into_owned();
        }
        rest = after;
    }
    kept.push_str(&without_values(rest));
    Some(kept)
}

/// The length of a string that a text begins with, with its quotes.
fn end_of_literal(text: &str) -> usize {
    let mut is_escaped = false;
    let ends = |byte: u8| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    };
    text.bytes().skip(1).position(ends).map_or(text.len(), |inner| inner + 2)
}

/// What a string stands for, masked; none if it stays as it is.
fn masked(text: &str, name: &str) -> Option<String> {
    if named::is_chosen_of(name, text) {
        return Some(MASK.to_owned());
    }
    let mut masker = Masker::default();
    let (mut masked, mut name) = (String::new(), name);
    for line in text.split_inclusive('\n') {
        masked.push_str(masker.line_of(std::mem::take(&mut name), line).as_deref().unwrap_or(line));
    }
    (masked != text).then_some(masked)
}

/// What stands between strings, without values that are known to be secrets.
fn without_values(gap: &str) -> Cow<'_, str> {
    if !values::known().any(|value| gap.contains(value)) {
        return gap.into();
    }
    let is_sign = |character: char| character.is_whitespace() || ",:[]{}".contains(character);
    let parts = gap.split_inclusive(is_sign).map(|part| {
        let scalar = part.trim_end_matches(is_sign);
        let is_known = values::known().any(|value| scalar.contains(value));
        if is_known { format!("\"{MASK}\"{}", &part[scalar.len()..]) } else { part.to_owned() }
    });
    parts.collect::<String>().into()
}

/// The text that a string stands for. Halves of characters, which JSON can name, are no text.
fn decoded(literal: &str) -> Option<Cow<'_, str>> {
    if !literal.contains('\\') {
        return Some(literal.strip_prefix('"')?.strip_suffix('"')?.into());
    }
    let mut read = serde_json::Deserializer::from_str(literal);
    read.deserialize_bytes(Text).ok().map(Cow::Owned)
}

fn encoded(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Text;

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::mask::mask;

    #[test]
    fn secrets_in_json_are_masked_and_nothing_else() {
        let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
        check(
            r#"{"result": "Done. password=hunter2", "session_id":"a1"}"#,
            r#"{"result": "Done. password=[masked]", "session_id":"a1"}"#,
        );
        check(
            r#"{"result":"a test account: password=hunter2\nTASK_COMPLETE"}"#,
            r#"{"result":"a test account: password=[masked]\nTASK_COMPLETE"}"#,
        );
        for honest in [
            r#"{"a":"def login(user, password=None):\ntoken = request.headers[\"x-1\"]"}"#,
            r#"{"a":"secret: true\napi_key=config.api_key\nmax_tokens: 5", "password": "", "b": "token"}"#,
            r#"{"usage":{"input_tokens":123456789012,"token":null},"u":"caf\u00e9 \/ \ud83d token"}"#,
        ] {
            check(honest, honest);
        }
        check(r#"{"password":"correct horse","a":"x"}"#, r#"{"password":"[masked]","a":"x"}"#);
        check(r#"{"api_key" : "abc123def456ghi"}"#, r#"{"api_key" : "[masked]"}"#);
        check(r#"{"Authorization":"Basic dXNlcjpwYXNz"}"#, r#"{"Authorization":"Basic [masked]"}"#);
        check(r#"{"u":"https:\/\/a:b9c8d7@host"}"#, r#"{"u":"https://a:[masked]@host"}"#);
        check(
            r#"[{"text":"{\"password\":\"hunter2\",\"n\":[1]}\n{\"a\":1}"}]"#,
            r#"[{"text":"{\"password\":\"[masked]\",\"n\":[1]}\n{\"a\":1}"}]"#,
        );
        check(
            r#"{"lone":"\ud83d password=hunter2"}"#,
            "{\"lone\":\"\u{fffd}\u{fffd}\u{fffd} password=[masked]\"}",
        );
    }

    #[test]
    fn every_private_key_of_a_line_is_masked() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(3);
        for kind in ["", "RSA ", "EC ", "OPENSSH "] {
            let key =
                format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}Ab==\n-----END {kind}PRIVATE KEY-----\n");
            let numbered: String =
                key.lines().enumerate().map(|(number, line)| format!("{number:6}\t{line}\n")).collect();
            let nested = serde_json::json!({"k": key}).to_string();
            for text in
                [format!("{key}{key}"), format!("{numbered}{numbered}"), format!("{nested}\n{nested}")]
            {
                let masked = mask(&serde_json::json!({"two": text}).to_string());
                assert!(!masked.contains("MIIE") && !masked.contains("Ab=="), "{masked}");
                assert_eq!(masked.matches("BEGIN").count(), 2, "{masked}");
            }
        }
    }

    const SECRETS: &str = "ghp_a1B2c3D4e5F6g7H8i9J0";

    /// Text as agents write it: words, secrets, code and signs that JSON escapes.
    fn words() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            ".{0,6}",
            "[\"'\\\\/{}\\[\\]:,=\n\t ]{1,3}",
            Just(format!(" {SECRETS} ")),
            Just("password=hunter2".to_owned()),
            Just("password: \"".to_owned()),
            Just("://a:b@c".to_owned()),
            Just("api_key=".to_owned()),
            Just("Authorization: Basic dXNlcjpwYXNz".to_owned()),
            Just("curl -u bob:swordfish x".to_owned()),
            Just("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75BvrxxTMBqJ\n".to_owned()),
            Just("-----END RSA PRIVATE KEY-----".to_owned()),
        ];
        prop::collection::vec(word, 0..6).prop_map(|words| words.concat())
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let name = prop_oneof![words(), Just("password".to_owned()), Just("token".to_owned())];
        let leaf = prop_oneof![
            words().prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null),
        ];
        leaf.prop_recursive(3, 12, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::vec((name.clone(), inner.clone()), 0..4)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
                // A tool's result is JSON within JSON.
                inner.prop_map(|value| serde_json::Value::from(value.to_string())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_stays_json_and_the_last_line_of_a_message_survives(
            mut value in prop::collection::vec(value(), 0..4),
            message in words(),
        ) {
            value.push(serde_json::Value::from(format!("{message}\nTASK_COMPLETE")));
            let line = serde_json::Value::from(value).to_string();
            let masked = mask(&line);
            let read: serde_json::Value = serde_json::from_str(&masked).unwrap();
            let last = read.as_array().unwrap().last().unwrap().as_str().unwrap();
            prop_assert!(last.ends_with("\nTASK_COMPLETE"), "{}", masked);
            prop_assert!(!masked.contains(SECRETS), "{}", masked);
        }
    }
}
