//! Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::{SseEvent, pieces};
use crate::model::reply::Spoken;
use crate::model::request::Tool;
use crate::model::scenario::{Fault, Stop, Usage};

/// Not a real one; nobody here checks it.
const SIGNATURE: &str = "c2lnbmF0dXJl";

/// The tools that a request declares.
pub(in crate::model) fn tools(body: &Value) -> BTreeMap<String, Tool> {
    let declared = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = declared.iter().filter_map(|tool| Some((tool["name"].as_str()?, &tool["input_schema"])));
    named.map(|(name, schema)| (name.to_owned(), Tool::function(schema))).collect()
}

/// An error.
pub(in crate::model) fn error(fault: &Fault) -> Value {
    json!({ "type": "error", "error": { "type": fault.kind, "message": fault.message } })
}

/// The whole answer.
pub(in crate::model) fn document(spoken: &Spoken<'_>) -> Value {
    let mut message = begun(spoken);
    message["content"] = Value::Array(blocks(spoken));
    message["stop_reason"] = json!(stop_reason(spoken));
    message["usage"] = usage(spoken.usage, spoken.usage.output);
    message
}

/// The answer as a stream.
pub(in crate::model) fn events(spoken: &Spoken<'_>) -> Vec<SseEvent> {
    let mut events = opening(spoken);
    for (index, block) in blocks(spoken).iter().enumerate() {
        events.push(event("content_block_start", json!({ "index": index, "content_block": emptied(block) })));
        for delta in deltas(block) {
            events.push(event("content_block_delta", json!({ "index": index, "delta": delta })));
        }
        events.push(event("content_block_stop", json!({ "index": index })));
    }
    let delta = json!({ "stop_reason": stop_reason(spoken), "stop_sequence": null });
    let usage = usage(spoken.usage, spoken.usage.output);
    events.push(event("message_delta", json!({ "delta": delta, "usage": usage })));
    events.push(event("message_stop", json!({})));
    events
}

/// A stream that turns into an error.
pub(in crate::model) fn broken(spoken: &Spoken<'_>, fault: &Fault) -> Vec<SseEvent> {
    let mut events = opening(spoken);
    events.push(SseEvent::named("error", &error(fault)));
    events
}

fn opening(spoken: &Spoken<'_>) -> Vec<SseEvent> {
    vec![event("message_start", json!({ "message": begun(spoken) })), event("ping", json!({}))]
}

/// An event whose data carries its name as well.
fn event(name: &str, mut data: Value) -> SseEvent {
    data["type"] = json!(name);
    SseEvent::named(name, &data)
}

/// The message as it is when it begins: the service counts one token of output by then.
fn begun(spoken: &Spoken<'_>) -> Value {
    json!({
        "id": spoken.id("msg_"), "type": "message", "role": "assistant", "model": spoken.model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(spoken.usage, 1),
    })
}

fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    })
}

fn stop_reason(spoken: &Spoken<'_>) -> &'static str {
    match spoken.stop {
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Natural if spoken.uses.is_empty() => "end_turn",
        Stop::Natural => "tool_use",
    }
}

fn blocks(spoken: &Spoken<'_>) -> Vec<Value> {
    let thinking = spoken
        .thinking
        .map(|thinking| json!({ "type": "thinking", "thinking": thinking, "signature": SIGNATURE }));
    let text = (!spoken.text.is_empty()).then(|| json!({ "type": "text", "text": spoken.text }));
    let uses = spoken.uses.iter().enumerate().map(|(index, tool)| {
        let id = spoken.part_id("toolu_", index);
        json!({ "type": "tool_use", "id": id, "name": tool.name, "input": tool.input })
    });
    thinking.into_iter().chain(text).chain(uses).collect()
}

/// A block before anything of it was streamed.
fn emptied(block: &Value) -> Value {
    let mut block = block.clone();
    for key in ["thinking", "signature", "text"] {
        if block.get(key).is_some() {
            block[key] = json!("");
        }
    }
    if block.get("input").is_some() {
        block["input"] = json!({});
    }
    block
}

fn deltas(block: &Value) -> Vec<Value> {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("thinking") => vec![
            json!({ "type": "thinking_delta", "thinking": text("thinking") }),
            json!({ "type": "signature_delta", "signature": text("signature") }),
        ],
        Some("text") => pieces(&text("text"))
            .into_iter()
            .map(|piece| json!({ "type": "text_delta", "text": piece }))
            .collect(),
        _ => pieces(&block["input"].to_string())
            .into_iter()
            .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
            .collect(),
    }
}
