//! Reading answers. What is missing in one or of another kind is as good as empty, but an answer that is not JSON
//! from its beginning to its end is none: something else than the forge spoke, or it was cut off.

use serde_json::Value;

use super::call::Answer;
use super::setback::Setback;

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

/// The documents of an answer, one after the other, whether or not the command succeeded; at least one.
pub(super) fn pages(answer: &Answer) -> Result<Vec<Value>, Setback> {
    let documents = serde_json::Deserializer::from_str(&answer.stdout).into_iter::<Value>();
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().map_err(|_| Setback::nonsense(answer))?;
    let is_sound = !documents.is_empty() && documents.iter().all(Value::is_object);
    if is_sound { Ok(documents) } else { Err(Setback::nonsense(answer)) }
}

/// The documents that a command which succeeded answered with.
pub(super) fn documents(answer: &Answer) -> Result<Vec<Value>, Setback> {
    if answer.is_success() { pages(answer) } else { Err(Setback::of(answer)) }
}

/// The one document that a command which succeeded answered with.
pub(super) fn document(answer: &Answer) -> Result<Value, Setback> {
    documents(answer)?.into_iter().next().ok_or_else(|| Setback::nonsense(answer))
}

/// What a query that succeeded answered with.
pub(super) fn data(answer: &Answer) -> Result<Value, Setback> {
    let document = document(answer)?;
    let data = document.pointer("/data").filter(|data| data.is_object()).cloned();
    data.ok_or_else(|| Setback::nonsense(answer))
}
