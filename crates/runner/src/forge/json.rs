//! Reading answers leniently: what is missing or of another kind is as good as empty.

use serde_json::Value;

/// The text at a path of keys.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a path of keys.
pub(super) fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

/// The elements of the list at a path of keys.
pub(super) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The documents of an answer, one after the other; what comes after one that cannot be read is left out.
pub(super) fn documents(answer: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(answer).into_iter::<Value>().map_while(Result::ok).collect()
}
