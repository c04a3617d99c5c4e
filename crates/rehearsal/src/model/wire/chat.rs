//! OpenAI Chat Completions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::{SseEvent, pieces};
use crate::model::reply::{Spoken, openai_error};
use crate::model::request::Tool;
use crate::model::scenario::{Fault, Stop};

/// The tools that a request declares.
pub(in crate::model) fn tools(body: &Value) -> BTreeMap<String, Tool> {
    let declared = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let functions = declared.iter().map(|tool| &tool["function"]);
    let named = functions.filter_map(|function| Some((function["name"].as_str()?, &function["parameters"])));
    named.map(|(name, schema)| (name.to_owned(), Tool::function(schema))).collect()
}

/// The whole answer.
pub(in crate::model) fn document(spoken: &Spoken<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": spoken.text });
    if !spoken.uses.is_empty() {
        message["tool_calls"] = Value::Array(calls(spoken));
    }
    let choice =
        json!({ "index": 0, "message": message, "finish_reason": finish_reason(spoken), "logprobs": null });
    json!({
        "id": spoken.id("chatcmpl-"), "object": "chat.completion", "created": 0, "model": spoken.model,
        "choices": [choice], "usage": usage(spoken),
    })
}

/// The answer as a stream.
pub(in crate::model) fn events(spoken: &Spoken<'_>) -> Vec<SseEvent> {
    let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
    deltas.extend(spoken.thinking.map(|thinking| json!({ "reasoning_content": thinking })));
    if !spoken.text.is_empty() {
        deltas.extend(pieces(spoken.text).into_iter().map(|piece| json!({ "content": piece })));
    }
    for (index, call) in calls(spoken).iter().enumerate() {
        deltas.extend(call_deltas(index, call));
    }
    let mut events: Vec<SseEvent> = deltas.into_iter().map(|delta| chunk(spoken, delta, None)).collect();
    events.push(chunk(spoken, json!({}), Some(finish_reason(spoken))));
    let mut last = chunk_of(spoken, json!([]));
    last["usage"] = usage(spoken);
    events.extend([SseEvent::data(&last), SseEvent::text("[DONE]")]);
    events
}

/// A stream that turns into an error.
pub(in crate::model) fn broken(spoken: &Spoken<'_>, fault: &Fault) -> Vec<SseEvent> {
    let begun = chunk(spoken, json!({ "role": "assistant", "content": "" }), None);
    vec![begun, SseEvent::data(&openai_error(fault))]
}

fn chunk(spoken: &Spoken<'_>, delta: Value, finish_reason: Option<&str>) -> SseEvent {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": null });
    SseEvent::data(&chunk_of(spoken, json!([choice])))
}

fn chunk_of(spoken: &Spoken<'_>, choices: Value) -> Value {
    json!({
        "id": spoken.id("chatcmpl-"), "object": "chat.completion.chunk", "created": 0, "model": spoken.model,
        "choices": choices,
    })
}

fn finish_reason(spoken: &Spoken<'_>) -> &'static str {
    match spoken.stop {
        Stop::MaxTokens => "length",
        Stop::Refusal => "content_filter",
        Stop::Natural if spoken.uses.is_empty() => "stop",
        Stop::Natural => "tool_calls",
    }
}

fn usage(spoken: &Spoken<'_>) -> Value {
    let usage = spoken.usage;
    let prompt = usage.input + usage.cached;
    json!({
        "prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": prompt + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
    })
}

fn calls(spoken: &Spoken<'_>) -> Vec<Value> {
    let calls = spoken.uses.iter().enumerate().map(|(index, tool)| {
        let function = json!({ "name": tool.name, "arguments": tool.input.to_string() });
        json!({ "id": spoken.part_id("call_", index), "type": "function", "function": function })
    });
    calls.collect()
}

fn call_deltas(index: usize, call: &Value) -> Vec<Value> {
    let function = json!({ "name": call["function"]["name"], "arguments": "" });
    let begun = json!({ "index": index, "id": call["id"], "type": "function", "function": function });
    let arguments = pieces(call["function"]["arguments"].as_str().unwrap_or_default());
    let pieces =
        arguments.into_iter().map(|piece| json!({ "index": index, "function": { "arguments": piece } }));
    std::iter::once(begun).chain(pieces).map(|call| json!({ "tool_calls": [call] })).collect()
}
