//! Agents that settings describe.

use engine::Usage;

use crate::agent::StreamFormat;
use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::kind::AgentKind;
use crate::agent::line::Line;
use crate::agent::reader::Reader;
use crate::agent::tests::recordings::{Ending, ending, read};

/// The stream of an agent that is built in, described by settings.
fn like_claude() -> StreamFormat {
    let some = |text: &str| Some(text.to_owned());
    StreamFormat {
        done: "type=result".to_owned(),
        success: some("is_error=false"),
        text: "result".to_owned(),
        error: some("result"),
        session: some("session_id"),
        input_tokens: some("usage.input_tokens"),
        cached_tokens: some("usage.cache_read_input_tokens"),
        output_tokens: some("usage.output_tokens"),
        cost: some("total_cost_usd"),
    }
}

fn replay(format: StreamFormat, text: &str) -> Outcome {
    let mut reader = Reader::new(&AgentKind::Stream(Box::new(format)), None);
    text.lines().for_each(|line| reader.line(Line::Whole(line), &mut Vec::new()));
    reader.end(Some(0), "")
}

#[test]
fn a_few_settings_describe_a_real_agent() {
    let Some(text) = read("claude-latest-success-tools.jsonl") else { return };
    let outcome = replay(like_claude(), &text);
    assert_eq!(outcome.conclusion, Conclusion::Finished);
    assert_eq!(outcome.message, "All done: hello.txt was written and the command ran.");
    assert!(outcome.session.is_some() && outcome.usage.cost_micros.is_some());
    let Some(text) = read("claude-rate-limit-fail.jsonl") else { return };
    assert_eq!(ending(&replay(like_claude(), &text), 0).0, Ending::Away);
    let Some(text) = read("claude-sigterm-during-tool.jsonl") else { return };
    assert_eq!(replay(like_claude(), &text).conclusion, Conclusion::Cut);
}

#[test]
fn lines_after_the_last_one_take_the_success_back() {
    let format =
        StreamFormat { done: "kind=end".to_owned(), text: "say".to_owned(), ..StreamFormat::default() };
    let check = |text: &str, expected: &Conclusion| {
        assert_eq!(&replay(format.clone(), text).conclusion, expected, "for {text:?}");
    };
    check("{\"say\":\"hi\"}\n{\"kind\":\"end\"}", &Conclusion::Finished);
    check("{\"kind\":\"end\"}\n{\"say\":\"but\"}", &Conclusion::Cut);
    check("{\"kind\":\"end\"}\nrubbish", &Conclusion::Finished);
    check("{\"kind\":[\"end\"]}", &Conclusion::Cut);
    check("", &Conclusion::Cut);
}

#[test]
fn the_last_figures_count() {
    let format = StreamFormat {
        done: "end=true".to_owned(),
        text: "say".to_owned(),
        input_tokens: Some("in".to_owned()),
        output_tokens: Some("out".to_owned()),
        ..StreamFormat::default()
    };
    let outcome = replay(format, "{\"in\":5}\n{\"in\":7,\"out\":2}\n{\"end\":true}");
    assert_eq!(outcome.usage, Usage { input: Some(7), output: Some(2), ..Usage::default() });
}

#[test]
fn places_and_conditions() {
    for good in ["a", "a.b", "usage.input_tokens"] {
        assert!(StreamFormat::is_place(good), "{good}");
    }
    for bad in ["", ".", "a.", ".a", "a..b"] {
        assert!(!StreamFormat::is_place(bad), "{bad}");
    }
    assert!(StreamFormat::is_condition("type=result"));
    for bad in ["type", "=x", "type=", "a..b=c"] {
        assert!(!StreamFormat::is_condition(bad), "{bad}");
    }
}
