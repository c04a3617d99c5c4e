use super::*;
use crate::model::scenario::{Call, Stop};

fn request(protocol: Protocol, delivery: Delivery) -> ModelRequest {
    let schema = json!({ "properties": { "command": {} } });
    let (path, tools) = match protocol {
        Protocol::Messages => ("/v1/messages", json!([{ "name": "Bash", "input_schema": schema }])),
        Protocol::Responses => {
            ("/v1/responses", json!([{ "type": "function", "name": "shell", "parameters": schema }]))
        }
        Protocol::ChatCompletions => (
            "/v1/chat/completions",
            json!([{ "type": "function", "function": { "name": "bash", "parameters": schema } }]),
        ),
        Protocol::GenerateContent if delivery == Delivery::Stream => (
            "/v1beta/models/m:streamGenerateContent",
            json!([{ "functionDeclarations": [{ "name": "shell", "parametersJsonSchema": schema }] }]),
        ),
        Protocol::GenerateContent => (
            "/v1beta/models/m:generateContent",
            json!([{ "functionDeclarations": [{ "name": "shell", "parameters": schema }] }]),
        ),
    };
    let body = json!({ "model": "m", "stream": delivery == Delivery::Stream, "tools": tools });
    ModelRequest::read(protocol, path, body.to_string()).unwrap()
}

const PROTOCOLS: [Protocol; 4] =
    [Protocol::Messages, Protocol::Responses, Protocol::ChatCompletions, Protocol::GenerateContent];

fn answer() -> Answer {
    Answer {
        thinking: Some("hm".to_owned()),
        text: "A sentence that is longer than one piece of a stream is.".to_owned(),
        calls: vec![Call::Shell("echo \"hi\"".to_owned())],
        ..Answer::default()
    }
}

fn reply(protocol: Protocol, delivery: Delivery, turn: &Turn) -> Content {
    Reply::to(&request(protocol, delivery), turn, 7).content
}

fn streamed(protocol: Protocol, answer: Answer) -> (Vec<SseEvent>, StreamEnd) {
    match reply(protocol, Delivery::Stream, &Turn::answer(answer)) {
        Content::Stream { events, end } => (events, end),
        other @ (Content::Document { .. } | Content::Silence) => panic!("{protocol:?}: {other:?}"),
    }
}

/// The data of all events that are JSON.
fn data(events: &[SseEvent]) -> Vec<Value> {
    let lines = events.iter().flat_map(|event| event.0.lines());
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// All strings that a key has anywhere, put together.
fn gathered(values: &[Value], path: &[&str]) -> String {
    let at = |value: &Value| {
        let found = path.iter().fold(value, |value, key| match key.parse::<usize>() {
            Ok(index) => &value[index],
            Err(_) => &value[*key],
        });
        found.as_str().unwrap_or_default().to_owned()
    };
    values.iter().map(at).collect()
}

#[test]
fn what_is_streamed_adds_up_to_the_answer() {
    let check = |protocol, text: &[&str], arguments: &[&str]| {
        let (events, end) = streamed(protocol, answer());
        assert_eq!(end, StreamEnd::Closed);
        let data = data(&events);
        assert_eq!(gathered(&data, text).trim_start_matches("hm"), answer().text, "{protocol:?}");
        let arguments = gathered(&data, arguments);
        assert_eq!(arguments.trim_start_matches("{}"), r#"{"command":"echo \"hi\""}"#, "{protocol:?}");
    };
    check(Protocol::Messages, &["delta", "text"], &["delta", "partial_json"]);
    let call = ["choices", "0", "delta", "tool_calls", "0", "function", "arguments"];
    check(Protocol::ChatCompletions, &["choices", "0", "delta", "content"], &call);
    let (events, _) = streamed(Protocol::Responses, answer());
    let data = data(&events);
    let deltas: String = data.iter().filter_map(|data| data["delta"].as_str()).collect();
    assert_eq!(deltas, answer().text + r#"{"command":"echo \"hi\""}"#);
    let (events, _) = streamed(Protocol::GenerateContent, answer());
    let parts = ["candidates", "0", "content", "parts", "0", "text"];
    assert_eq!(gathered(&self::data(&events), &parts), format!("hm{}", answer().text));
}

#[test]
fn a_stream_ends_as_its_protocol_says() {
    let last = |protocol| streamed(protocol, answer()).0.pop().unwrap().0;
    assert_eq!(last(Protocol::Messages), "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    assert!(last(Protocol::Responses).starts_with("event: response.completed\n"));
    assert_eq!(last(Protocol::ChatCompletions), "data: [DONE]\n\n");
    assert!(last(Protocol::GenerateContent).contains(r#""finishReason":"STOP""#));
}

#[test]
fn a_document_says_the_same_as_a_stream() {
    for protocol in PROTOCOLS {
        let Content::Document { status, body, .. } =
            reply(protocol, Delivery::Document, &Turn::answer(answer()))
        else {
            panic!("{protocol:?}")
        };
        let body = body.to_string();
        assert_eq!(status, 200);
        assert!(body.contains(&answer().text) && body.contains("echo"), "{protocol:?}: {body}");
    }
}

#[test]
fn stop_reasons_have_a_name_in_every_protocol() {
    let check = |stop, names: [&str; 4]| {
        for (protocol, name) in PROTOCOLS.into_iter().zip(names) {
            let text: String =
                streamed(protocol, Answer { stop, ..answer() }).0.into_iter().map(|e| e.0).collect();
            assert!(text.contains(name), "{protocol:?} {stop:?}: {text}");
        }
    };
    check(Stop::Natural, ["tool_use", "response.completed", "tool_calls", "STOP"]);
    check(Stop::MaxTokens, ["max_tokens", "max_output_tokens", "\"length\"", "MAX_TOKENS"]);
    check(Stop::Refusal, ["refusal", "\"refusal\"", "content_filter", "SAFETY"]);
}

#[test]
fn streams_can_be_cut_and_can_fall_silent_and_can_turn_into_errors() {
    for protocol in PROTOCOLS {
        let ends = |ending| streamed(protocol, Answer { ending, ..answer() });
        let (whole, _) = ends(Ending::Whole);
        let (cut, end) = ends(Ending::CutAfter(2));
        assert_eq!((cut.as_slice(), end), (&whole[..2], StreamEnd::Cut));
        let (silent, end) = ends(Ending::HangAfter(1));
        assert_eq!((silent.as_slice(), end), (&whole[..1], StreamEnd::Silence));
        let (broken, end) = ends(Ending::Fault(Fault::overloaded()));
        assert!(broken.last().unwrap().0.contains("Overloaded"), "{protocol:?}");
        assert_eq!(end, StreamEnd::Closed);
    }
}

#[test]
fn errors_carry_status_and_patience() {
    let fault = Fault::rate_limit().retry_after(Duration::from_secs(3));
    for protocol in PROTOCOLS {
        let Content::Document { status, retry_after, body } =
            reply(protocol, Delivery::Stream, &Turn::fail(fault.clone()))
        else {
            panic!("{protocol:?}")
        };
        assert_eq!((status, retry_after), (429, Some(Duration::from_secs(3))));
        assert_eq!(body["error"]["message"], fault.message);
    }
}

#[test]
fn what_the_scenario_does_not_foresee_is_said() {
    let turn = Turn::call(Call::Shell("true".to_owned()));
    let bare = ModelRequest::read(Protocol::Messages, "/v1/messages", "{}".to_owned()).unwrap();
    let Content::Document { status, body, .. } = Reply::to(&bare, &turn, 0).content else { panic!() };
    assert_eq!(status, 400);
    assert!(body.to_string().contains("no tool for a shell command"), "{body}");
    let Content::Document { status, .. } = Reply::unscripted(&bare).content else { panic!() };
    assert_eq!(status, 400);
}

#[test]
fn side_requests_get_json_where_they_want_it() {
    let wants = json!({ "generationConfig": { "responseMimeType": "application/json" } }).to_string();
    let path = "/v1beta/models/m:generateContent";
    let request = ModelRequest::read(Protocol::GenerateContent, path, wants).unwrap();
    let Content::Document { body, .. } = Reply::aside(&request, 0).content else { panic!() };
    let text = body["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["next_speaker"], "user");
}
