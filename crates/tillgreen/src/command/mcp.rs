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
        let service = tools.serve(stdio()).await.map_err(|error| failed(format!("cannot serve: {error}")))?;
        service.waiting().await.map_err(|error| failed(format!("serving broke off: {error}")))?;
        Ok(exit::DONE)
    })
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
}
