//! `tillgreen mcp`: the tools through which an agent can report. Agents start it, people do not. It writes down what
//! it is told and knows nothing else; what a report means is found out when the attempt has ended.

use std::path::{Path, PathBuf};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::io::stdio;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use runner::{Report, append_report};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use crate::cli::Ended;
use crate::error::{Error, Kind};
use crate::exit;

/// Serves until the agent goes away.
pub(crate) fn run(report: &Path) -> Ended {
    let failed = |message: String| Error::new(Kind::Unavailable, message);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed("cannot serve".to_owned()).because(error))?;
    runtime.block_on(async {
        let tools = Tools { report: report.to_owned() };
        let (stdin, stdout) = stdio();
        let (bounded, messages) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(forward(BufReader::new(stdin), bounded));
        let service = tools
            .serve((messages, stdout))
            .await
            .map_err(|error| failed(format!("cannot serve: {error}")))?;
        service.waiting().await.map_err(|error| failed(format!("serving broke off: {error}")))?;
        Ok(exit::DONE)
    })
}

/// The bytes that a message may have. What agents report is a few sentences.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// The bytes of a longer one in which its number is looked for: clients write it first or last.
const EDGE_BYTES: usize = 256;

/// The bytes that wait between who reads and who understands.
const PIPE_BYTES: usize = 64 * 1024;

/// The name of the tool that is called in the place of a message that is too long.
const TOO_LONG: &str = "message_too_long";

/// Hands messages on, line by line, until there are no more. One that is too long becomes a call that is refused, so that
/// whoever sent it is answered; it is never held as a whole.
async fn forward(mut from: impl AsyncBufRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    let mut message = Vec::new();
    let (mut is_long, mut end) = (false, Vec::new());
    loop {
        let Ok(read) = from.fill_buf().await else { return };
        if read.is_empty() {
            return;
        }
        let until = read.iter().position(|byte| *byte == b'\n').map_or(read.len(), |at| at + 1);
        let (part, is_end) = (&read[..until], read[until - 1] == b'\n');
        if message.len() + part.len() > MESSAGE_BYTES_MAX {
            is_long = true;
        }
        if is_long {
            message.extend(part.iter().take(EDGE_BYTES.saturating_sub(message.len())));
            message.truncate(EDGE_BYTES);
            end.extend_from_slice(&part[part.len().saturating_sub(EDGE_BYTES)..]);
            end.drain(..end.len().saturating_sub(EDGE_BYTES));
        } else {
            message.extend_from_slice(part);
        }
        from.consume(until);
        if !is_end {
            continue;
        }
        let line = if is_long { instead_of(&message, &end) } else { std::mem::take(&mut message) };
        // Nobody reads any more: then nobody is to be answered either.
        if to.write_all(&line).await.is_err() {
            return;
        }
        message.clear();
        (is_long, end) = (false, Vec::new());
    }
}

/// The call that stands in for a message that is too long. Without a number nobody waits for an answer.
fn instead_of(start: &[u8], end: &[u8]) -> Vec<u8> {
    let id = b"\"id\":";
    let first = start.windows(id.len()).position(|part| part == id);
    let last = end.windows(id.len()).rposition(|part| part == id);
    let number = first.and_then(|at| number_in(&start[at + id.len()..]));
    let number = number.or_else(|| last.and_then(|at| number_in(&end[at + id.len()..])));
    let call = number.map(|id| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": TOO_LONG, "arguments": {} } })
    });
    call.map(|call| format!("{call}\n").into_bytes()).unwrap_or_default()
}

/// The number of a message, or the text that it has instead, at the beginning of this part of it.
fn number_in(part: &[u8]) -> Option<Value> {
    let part = part.trim_ascii_start();
    if part.starts_with(b"\"") {
        return serde_json::Deserializer::from_slice(part).into_iter::<Value>().next()?.ok();
    }
    let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&part[..digits]).ok()?.parse::<u64>().ok().map(Value::from)
}

/// The tools.
struct Tools {
    report: PathBuf,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("tillgreen", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Report how the task that you were given went. Reports do not replace the work: the result is \
                 checked by running the task's verify command.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = note(&self.report, &request.name, request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(match said {
            Ok(()) => CallToolResult::success(vec![ContentBlock::text("noted")]),
            Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
        }))
    }
}

/// Writes a report down.
fn note(path: &Path, tool: &str, mut arguments: JsonObject) -> Result<(), String> {
    if tool == TOO_LONG {
        return Err(format!("a message may have at most {MESSAGE_BYTES_MAX} bytes: say it in fewer words"));
    }
    arguments.insert("tool".to_owned(), Value::from(tool));
    let report: Report = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| format!("this cannot be understood: {error}"))?;
    append_report(path, &report).map_err(|error| format!("this cannot be noted: {error}"))
}

fn tools() -> Vec<Tool> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    vec![
        tool("task_complete", "The task is done and its verify command is green.", json!({}), &[]),
        tool(
            "task_failed",
            "The task cannot be completed.",
            json!({ "error": text("what went wrong"), "attempted_fix": text("what was tried") }),
            &["error"],
        ),
        tool(
            "task_blocked",
            "Something else has to be done first.",
            json!({ "reason": text("what is in the way"), "by": text("the id of the task that is") }),
            &["reason"],
        ),
        tool(
            "add_learning",
            "Note down something that whoever works on this plan next should know.",
            json!({ "text": text("one sentence") }),
            &["text"],
        ),
        tool(
            "request_change",
            "Ask for a task of its own: a part of this task to be done before the rest of it, something that has to \
             be done first, or something to be done after it. Unless this task is done all the same, stop working on \
             it then: it is given out again afterwards.",
            json!({
                "kind": { "type": "string", "enum": ["split", "prerequisite", "follow_up"] },
                "title": text("what is to be done"),
                "reason": text("why"),
                "done_when": text("how it shows that it is done; somebody else will judge by this"),
            }),
            &["kind", "title"],
        ),
    ]
}

fn tool(name: &'static str, about: &'static str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), Value::from("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    Tool::new(name, about, schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_understood() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.jsonl");
        for tool in tools() {
            let properties = tool.input_schema["properties"].as_object().unwrap();
            let arguments = properties.iter().map(|(name, property)| {
                let first = property.get("enum").map_or_else(|| json!("some text"), |words| words[0].clone());
                (name.clone(), first)
            });
            assert_eq!(note(&path, &tool.name, arguments.collect()), Ok(()), "{}", tool.name);
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written.lines().count(), tools().len());
        for (tool, arguments) in
            [("boom", json!({})), ("task_failed", json!({})), ("request_change", json!({ "kind": "x" }))]
        {
            let arguments = arguments.as_object().cloned().unwrap();
            assert!(note(&path, tool, arguments).is_err(), "{tool}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
    }

    /// The lines that come out for those that go in.
    fn forwarded(input: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut out = Vec::new();
        runtime.block_on(forward(input.as_bytes(), &mut out));
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_message_that_is_too_long_is_answered_with_an_error_and_the_next_one_counts() {
        let text = "x".repeat(2 * MESSAGE_BYTES_MAX);
        let first =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":\"{text}\"}}\n");
        let last =
            format!("{{\"method\":\"tools/call\",\"params\":\"{text}\",\"jsonrpc\":\"2.0\",\"id\":\"a\"}}\n");
        let lines = forwarded(&format!("{first}{{\"id\":8}}\n{last}{text}\n{{\"id\":9}}\n"));
        assert_eq!(lines.len(), 4, "{lines:?}");
        let call: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!((&call["id"], &call["params"]["name"]), (&json!(7), &json!(TOO_LONG)));
        assert_eq!((lines[1].as_str(), lines[3].as_str()), ("{\"id\":8}", "{\"id\":9}"));
        let call: Value = serde_json::from_str(&lines[2]).unwrap();
        assert_eq!(call["id"], json!("a"));
        let error = note(Path::new("/nowhere"), TOO_LONG, JsonObject::new()).unwrap_err();
        assert!(error.contains("at most"), "{error}");
    }
}
