//! Gemini's generateContent and streamGenerateContent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::{SseEvent, pieces};
use crate::model::reply::Spoken;
use crate::model::request::Tool;
use crate::model::scenario::{Fault, Stop};

/// The tools that a request declares.
pub(in crate::model) fn tools(body: &Value) -> BTreeMap<String, Tool> {
    let declared = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let functions = declared.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
    let named = functions.filter_map(|function| {
        let schema = function.get("parametersJsonSchema").unwrap_or(&function["parameters"]);
        Some((function["name"].as_str()?, schema))
    });
    named.map(|(name, schema)| (name.to_owned(), Tool::function(schema))).collect()
}

/// An error. The service names it by a word of its own for the status.
pub(in crate::model) fn error(fault: &Fault) -> Value {
    let status = match fault.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": { "code": fault.status, "message": fault.message, "status": status } })
}

/// The whole answer.
pub(in crate::model) fn document(spoken: &Spoken<'_>) -> Value {
    let text = (!spoken.text.is_empty()).then(|| json!({ "text": spoken.text }));
    let parts = thought(spoken).into_iter().chain(text).chain(calls(spoken)).collect();
    finished(spoken, parts)
}

/// The answer as a stream.
pub(in crate::model) fn events(spoken: &Spoken<'_>) -> Vec<SseEvent> {
    let mut chunks: Vec<Value> = Vec::new();
    chunks.extend(thought(spoken).map(|thought| chunk(spoken, vec![thought])));
    if !spoken.text.is_empty() {
        let texts = pieces(spoken.text).into_iter().map(|piece| vec![json!({ "text": piece })]);
        chunks.extend(texts.map(|parts| chunk(spoken, parts)));
    }
    if !spoken.uses.is_empty() {
        chunks.push(chunk(spoken, calls(spoken)));
    }
    chunks.push(finished(spoken, vec![json!({ "text": "" })]));
    chunks.iter().map(SseEvent::data).collect()
}

/// A stream that is an error.
pub(in crate::model) fn broken(fault: &Fault) -> Vec<SseEvent> {
    vec![SseEvent::data(&error(fault))]
}

fn chunk(spoken: &Spoken<'_>, parts: Vec<Value>) -> Value {
    let candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    json!({ "candidates": [candidate], "modelVersion": spoken.model, "responseId": spoken.id("r") })
}

fn finished(spoken: &Spoken<'_>, parts: Vec<Value>) -> Value {
    let mut chunk = chunk(spoken, parts);
    chunk["candidates"][0]["finishReason"] = json!(match spoken.stop {
        Stop::Natural => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    });
    let usage = spoken.usage;
    let prompt = usage.input + usage.cached;
    chunk["usageMetadata"] = json!({
        "promptTokenCount": prompt, "candidatesTokenCount": usage.output,
        "totalTokenCount": prompt + usage.output, "cachedContentTokenCount": usage.cached,
    });
    chunk
}

fn thought(spoken: &Spoken<'_>) -> Option<Value> {
    spoken.thinking.map(|thinking| json!({ "text": thinking, "thought": true }))
}

fn calls(spoken: &Spoken<'_>) -> Vec<Value> {
    let calls = spoken.uses.iter().enumerate().map(|(index, tool)| {
        let id = spoken.part_id("fc_", index);
        json!({ "functionCall": { "name": tool.name, "args": tool.input, "id": id } })
    });
    calls.collect()
}
