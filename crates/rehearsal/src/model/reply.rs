//! Replies to requests: a document, a stream of events, or nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::request::{Delivery, ModelRequest, Protocol};
use super::scenario::{Act, Answer, Ending, Fault, Stop, Turn, Usage};
use super::tool_use::{NoSuchTool, ToolUse, Toolbox, folder_in};
use super::wire::event::SseEvent;
use super::wire::{chat, gemini, messages, responses};

/// The answer for side requests that want JSON: it has the keys that those that are known look for.
const SIDE_JSON: &str = r#"{"reasoning":"rehearsal","next_speaker":"user","model_choice":"pro","complexity_reasoning":"rehearsal","complexity_score":50}"#;
const SIDE_TEXT: &str = "Rehearsal";

/// A status that no agent takes for a reason to try again.
const UNSCRIPTED_STATUS: u16 = 400;

/// A reply, as it goes back over the connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    /// The time before the first byte.
    pub(super) delay: Duration,
    pub(super) content: Content,
}

/// The content of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Document { status: u16, retry_after: Option<Duration>, body: Value },
    Stream { events: Vec<SseEvent>, end: StreamEnd },
    Silence,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// As a stream should.
    Closed,
    /// The connection is dropped.
    Cut,
    /// Nothing more is sent.
    Silence,
}

/// An answer with its calls resolved, ready to be spelled in a protocol.
#[derive(Clone, Debug)]
pub(super) struct Spoken<'a> {
    pub(super) model: &'a str,
    /// Makes ids unique.
    pub(super) number: usize,
    pub(super) thinking: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) uses: Vec<ToolUse>,
    pub(super) stop: Stop,
    pub(super) usage: Usage,
}

impl Spoken<'_> {
    /// An id that no other answer has.
    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:08}", self.number)
    }

    /// An id of one of the parts of the answer.
    pub(super) fn part_id(&self, prefix: &str, part: usize) -> String {
        format!("{prefix}{:08}x{part}", self.number)
    }
}

impl Reply {
    /// A document at once.
    pub(super) fn document(status: u16, body: Value) -> Self {
        let content = Content::Document { status, retry_after: None, body };
        Self { delay: Duration::ZERO, content }
    }

    /// The reply of a turn to a request, which is the one with this number.
    pub(super) fn to(request: &ModelRequest, turn: &Turn, number: usize) -> Self {
        let content = match turn.act() {
            Act::Answer(answer) => answered(request, answer, number)
                .unwrap_or_else(|missing| failed(request.protocol, &unscripted(&missing.to_string()))),
            Act::Fail(fault) => failed(request.protocol, fault),
            Act::Hang => Content::Silence,
        };
        Self { delay: turn.waits(), content }
    }

    /// The reply to a side request.
    pub(super) fn aside(request: &ModelRequest, number: usize) -> Self {
        let text = if request.wants_json { SIDE_JSON } else { SIDE_TEXT };
        let answer = Answer { text: text.to_owned(), ..Answer::default() };
        let content = answered(request, &answer, number).expect("an answer without calls needs no tools");
        Self { delay: Duration::ZERO, content }
    }

    /// The reply to a request for which the scenario has nothing.
    pub(super) fn unscripted(request: &ModelRequest) -> Self {
        let fault = unscripted("the scenario has no turn for this request");
        Self { delay: Duration::ZERO, content: failed(request.protocol, &fault) }
    }
}

fn unscripted(message: &str) -> Fault {
    Fault::new(UNSCRIPTED_STATUS, "invalid_request_error", message)
}

fn answered(request: &ModelRequest, answer: &Answer, number: usize) -> Result<Content, NoSuchTool> {
    let toolbox = Toolbox { tools: &request.tools, folder: folder_in(&request.body) };
    let uses = answer.calls.iter().map(|call| toolbox.resolve(call)).collect::<Result<_, _>>()?;
    let spoken = Spoken {
        model: &request.model,
        number,
        thinking: answer.thinking.as_deref(),
        text: &answer.text,
        uses,
        stop: answer.stop,
        usage: answer.usage,
    };
    Ok(match request.delivery {
        Delivery::Document => document(request.protocol, &spoken, &answer.ending),
        Delivery::Stream => stream(request.protocol, &spoken, &answer.ending),
    })
}

/// A client that falls back to asking for a document gets the error of the stream as one.
fn document(protocol: Protocol, spoken: &Spoken<'_>, ending: &Ending) -> Content {
    let body = match ending {
        Ending::Fault(fault) => return failed(protocol, fault),
        Ending::HangAfter(_) => return Content::Silence,
        Ending::Whole | Ending::CutAfter(_) => match protocol {
            Protocol::Messages => messages::document(spoken),
            Protocol::Responses => responses::document(spoken),
            Protocol::ChatCompletions => chat::document(spoken),
            Protocol::GenerateContent => gemini::document(spoken),
        },
    };
    Content::Document { status: 200, retry_after: None, body }
}

fn stream(protocol: Protocol, spoken: &Spoken<'_>, ending: &Ending) -> Content {
    let mut events = match ending {
        Ending::Fault(fault) => broken(protocol, spoken, fault),
        Ending::Whole | Ending::CutAfter(_) | Ending::HangAfter(_) => whole(protocol, spoken),
    };
    let end = match ending {
        Ending::Whole | Ending::Fault(_) => StreamEnd::Closed,
        Ending::CutAfter(_) => StreamEnd::Cut,
        Ending::HangAfter(_) => StreamEnd::Silence,
    };
    if let Ending::CutAfter(count) | Ending::HangAfter(count) = ending {
        events.truncate(*count);
    }
    Content::Stream { events, end }
}

fn whole(protocol: Protocol, spoken: &Spoken<'_>) -> Vec<SseEvent> {
    match protocol {
        Protocol::Messages => messages::events(spoken),
        Protocol::Responses => responses::events(spoken),
        Protocol::ChatCompletions => chat::events(spoken),
        Protocol::GenerateContent => gemini::events(spoken),
    }
}

/// A stream that begins well and then tells of an error.
fn broken(protocol: Protocol, spoken: &Spoken<'_>, fault: &Fault) -> Vec<SseEvent> {
    match protocol {
        Protocol::Messages => messages::broken(spoken, fault),
        Protocol::Responses => responses::broken(spoken, fault),
        Protocol::ChatCompletions => chat::broken(spoken, fault),
        Protocol::GenerateContent => gemini::broken(fault),
    }
}

fn failed(protocol: Protocol, fault: &Fault) -> Content {
    let body = match protocol {
        Protocol::Messages => messages::error(fault),
        Protocol::Responses | Protocol::ChatCompletions => openai_error(fault),
        Protocol::GenerateContent => gemini::error(fault),
    };
    Content::Document { status: fault.status, retry_after: fault.retry_after, body }
}

/// An error as both protocols of OpenAI spell it.
pub(super) fn openai_error(fault: &Fault) -> Value {
    json!({ "error": { "message": fault.message, "type": fault.kind, "code": fault.kind, "param": null } })
}

#[cfg(test)]
mod tests;
