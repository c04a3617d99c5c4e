//! OpenAI Responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::{SseEvent, pieces};
use crate::model::reply::Spoken;
use crate::model::request::{Tool, ToolForm};
use crate::model::scenario::{Fault, Stop};
use crate::model::tool_use::ToolUse;

/// The tools that a request declares.
pub(in crate::model) fn tools(body: &Value) -> BTreeMap<String, Tool> {
    let declared = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = declared.iter().filter_map(|tool| {
        let name = tool["name"].as_str().or_else(|| tool["type"].as_str())?;
        match tool["type"].as_str()? {
            "function" => Some((name, Tool::function(&tool["parameters"]))),
            "custom" => Some((name, Tool { schema: Value::Null, form: ToolForm::Text })),
            _ => None,
        }
    });
    named.map(|(name, tool)| (name.to_owned(), tool)).collect()
}

/// The whole answer.
pub(in crate::model) fn document(spoken: &Spoken<'_>) -> Value {
    let is_cut_short = spoken.stop == Stop::MaxTokens;
    let mut response = begun(spoken);
    response["status"] = json!(if is_cut_short { "incomplete" } else { "completed" });
    response["output"] = Value::Array(items(spoken));
    response["usage"] = usage(spoken);
    if is_cut_short {
        response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    response
}

/// The answer as a stream.
pub(in crate::model) fn events(spoken: &Spoken<'_>) -> Vec<SseEvent> {
    let mut events = opening(spoken);
    for (index, item) in items(spoken).iter().enumerate() {
        events.extend(item_events(index, item));
    }
    let response = document(spoken);
    let name = if spoken.stop == Stop::MaxTokens { "response.incomplete" } else { "response.completed" };
    events.push((name, json!({ "response": response })));
    numbered(events)
}

/// A stream that turns into an error.
pub(in crate::model) fn broken(spoken: &Spoken<'_>, fault: &Fault) -> Vec<SseEvent> {
    let mut events = opening(spoken);
    let mut response = begun(spoken);
    response["status"] = json!("failed");
    response["error"] = json!({ "code": fault.kind, "message": fault.message });
    events.push(("response.failed", json!({ "response": response })));
    numbered(events)
}

/// An event before it has its number.
type Unnumbered = (&'static str, Value);

fn opening(spoken: &Spoken<'_>) -> Vec<Unnumbered> {
    let response = begun(spoken);
    vec![
        ("response.created", json!({ "response": response })),
        ("response.in_progress", json!({ "response": response })),
    ]
}

fn numbered(events: Vec<Unnumbered>) -> Vec<SseEvent> {
    let numbered = events.into_iter().enumerate().map(|(number, (name, mut data))| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(number);
        SseEvent::named(name, &data)
    });
    numbered.collect()
}

fn begun(spoken: &Spoken<'_>) -> Value {
    json!({
        "id": spoken.id("resp_"), "object": "response", "created_at": 0, "status": "in_progress",
        "model": spoken.model, "output": [], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": null, "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
    })
}

fn usage(spoken: &Spoken<'_>) -> Value {
    let usage = spoken.usage;
    let input = usage.input + usage.cached;
    json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + usage.output,
    })
}

fn items(spoken: &Spoken<'_>) -> Vec<Value> {
    let thinking = spoken.thinking.map(|thinking| {
        let summary = json!([{ "type": "summary_text", "text": thinking }]);
        json!({ "type": "reasoning", "id": spoken.id("rs_"), "summary": summary })
    });
    let refused = spoken.stop == Stop::Refusal;
    let text = (!spoken.text.is_empty()).then(|| {
        let part = match refused {
            true => json!({ "type": "refusal", "refusal": spoken.text }),
            false => json!({ "type": "output_text", "text": spoken.text, "annotations": [] }),
        };
        json!({
            "type": "message", "id": spoken.id("msg_"), "role": "assistant", "status": "completed",
            "content": [part],
        })
    });
    let uses = spoken.uses.iter().enumerate().map(|(index, tool)| call(spoken, index, tool));
    thinking.into_iter().chain(text).chain(uses).collect()
}

fn call(spoken: &Spoken<'_>, index: usize, tool: &ToolUse) -> Value {
    let (id, call_id) = (spoken.part_id("fc_", index), spoken.part_id("call_", index));
    match tool.form {
        ToolForm::Function => json!({
            "type": "function_call", "id": id, "call_id": call_id, "name": tool.name, "status": "completed",
            "arguments": tool.input.to_string(),
        }),
        ToolForm::Text => {
            let text = tool.input.as_str().map_or_else(|| tool.input.to_string(), str::to_owned);
            json!({
                "type": "custom_tool_call", "id": id, "call_id": call_id, "name": tool.name,
                "status": "completed", "input": text,
            })
        }
    }
}

fn item_events(index: usize, item: &Value) -> Vec<Unnumbered> {
    let mut events = match item["type"].as_str() {
        Some("message") => message_events(index, item),
        Some("function_call") => call_events(index, item),
        _ => vec![("response.output_item.added", json!({ "output_index": index, "item": item }))],
    };
    events.push(("response.output_item.done", json!({ "output_index": index, "item": item })));
    events
}

fn message_events(index: usize, item: &Value) -> Vec<Unnumbered> {
    let mut begun = item.clone();
    begun["content"] = json!([]);
    begun["status"] = json!("in_progress");
    let part = &item["content"][0];
    let text = part["text"].as_str().unwrap_or_default();
    let place = json!({ "item_id": item["id"], "output_index": index, "content_index": 0 });
    let at = |key: &str, value: Value| {
        let mut data = place.clone();
        data[key] = value;
        data
    };
    let mut events = vec![("response.output_item.added", json!({ "output_index": index, "item": begun }))];
    if part["type"] == "output_text" {
        let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
        events.push(("response.content_part.added", at("part", empty)));
        let deltas = pieces(text).into_iter().map(|piece| at("delta", json!(piece)));
        events.extend(deltas.map(|data| ("response.output_text.delta", data)));
        events.push(("response.output_text.done", at("text", json!(text))));
        events.push(("response.content_part.done", at("part", part.clone())));
    }
    events
}

fn call_events(index: usize, item: &Value) -> Vec<Unnumbered> {
    let mut begun = item.clone();
    begun["arguments"] = json!("");
    begun["status"] = json!("in_progress");
    let mut events = vec![("response.output_item.added", json!({ "output_index": index, "item": begun }))];
    for piece in pieces(item["arguments"].as_str().unwrap_or_default()) {
        let data = json!({ "item_id": item["id"], "output_index": index, "delta": piece });
        events.push(("response.function_call_arguments.delta", data));
    }
    let done = json!({ "item_id": item["id"], "output_index": index, "arguments": item["arguments"] });
    events.push(("response.function_call_arguments.done", done));
    events
}
