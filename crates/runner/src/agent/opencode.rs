//! opencode: `opencode run --format json`.
//!
//! There is no final event: it is done when a step finished with the reason `stop` and nothing follows. Tokens and
//! cost are those of each step.

use std::time::Duration;

use engine::{Session, Usage};
use serde_json::{Value, json};

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Input, Launch, MCP_NAME, Order, Permission};
use crate::agent::line::{self, Line, number, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{Trouble, TroubleKind};
use crate::settings::Agent;

/// The variable that holds settings.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    // With a title of ours it need not ask a model for one.
    let mut args: Vec<String> =
        ["run", "--format", "json", "--title", "tillgreen"].map(str::to_owned).to_vec();
    let mut push = |items: &[&str]| args.extend(items.iter().map(|&item| item.to_owned()));
    if let Some(model) = &agent.model {
        push(&["-m", model]);
    }
    if let Some(session) = order.resume {
        push(&["-s", &session.id]);
    }
    if agent.permission == Permission::Full {
        push(&["--auto"]);
    }
    args.extend(agent.args.iter().cloned());
    let launch = Launch::new(&agent.command, args, Input::Text(agent.with_system_prompt(order.prompt)));
    match config(agent, order) {
        Some(config) => launch.with_env(CONFIG, config.to_string()),
        None => launch,
    }
}

/// The settings that are added to those which are there already.
fn config(agent: &Agent, order: &Order<'_>) -> Option<Value> {
    let denied: &[&str] = match (agent.permission, order.duty) {
        (Permission::ReadOnly, Duty::Work | Duty::Judge) => &["edit", "bash"],
        (Permission::Workspace | Permission::Full, Duty::Judge) => &["edit"],
        (Permission::Workspace | Permission::Full, Duty::Work) => &[],
    };
    if denied.is_empty() && order.mcp.is_none() {
        return None;
    }
    let inherited = agent.env_value(CONFIG).and_then(|text| serde_json::from_str(&text).ok());
    let mut config = inherited.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if !denied.is_empty() && !config["permission"].is_object() {
        config["permission"] = json!({});
    }
    for tool in denied {
        config["permission"][tool] = json!("deny");
    }
    if let Some(server) = order.mcp {
        let mut command = vec![server.command()];
        command.extend(server.args.iter().cloned());
        if !config["mcp"].is_object() {
            config["mcp"] = json!({});
        }
        config["mcp"][MCP_NAME] = json!({ "type": "local", "command": command, "enabled": true });
    }
    Some(config)
}

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    session: Option<String>,
    message: String,
    usage: Usage,
    denied: Option<String>,
    conclusion: Conclusion,
}

impl Reader {
    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(kind) = line::type_of(line) else { return };
        let Some(value) = line::value_of(line) else { return };
        if let Some(session) = text(&value, &["sessionID"]) {
            self.session = Some(session.to_owned());
        }
        match kind.as_ref() {
            "step_start" => {
                self.conclusion = Conclusion::Cut;
                self.message.clear();
            }
            "text" => {
                let said = text(&value, &["part", "text"]).unwrap_or_default();
                line::push_bounded(&mut self.message, said);
                line::push_bounded(&mut self.message, "\n");
                activities.push(Activity::Said(line::short(said)));
            }
            "tool_use" => self.tool(&value, activities),
            "step_finish" => self.finish(&value, activities),
            "error" => self.conclusion = Conclusion::Trouble(trouble(&value)),
            _ => {}
        }
    }

    fn tool(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        activities.push(Activity::ToolStarted {
            name: line::short(text(value, &["part", "tool"]).unwrap_or("tool")),
            subject: line::subject(line::at(value, &["part", "state", "input"])),
        });
        activities.push(Activity::ToolEnded);
        let is_error = text(value, &["part", "state", "status"]) == Some("error");
        let error = text(value, &["part", "state", "error"]).filter(|_| is_error).unwrap_or_default();
        if error.contains("rejected permission") {
            self.denied = Some(line::short(error));
        }
    }

    fn finish(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        let tokens = |path: &[&str]| number(value, &[&["part", "tokens"], path].concat());
        let written = tokens(&["cache", "write"]).unwrap_or_default();
        self.usage = self.usage.plus(Usage {
            input: tokens(&["input"]).map(|input| input.saturating_add(written)),
            cached: tokens(&["cache", "read"]),
            output: tokens(&["output"]),
            cost_micros: line::micros(value, &["part", "cost"]),
        });
        activities.push(Activity::Used(self.usage));
        self.conclusion = match text(value, &["part", "reason"]) {
            Some("stop") => self.denied.clone().map_or(Conclusion::Finished, Conclusion::Denied),
            Some("length") => {
                Conclusion::Trouble(Trouble::new(TroubleKind::AnswerLength, "the answer was cut off"))
            }
            Some("content-filter") => {
                Conclusion::Trouble(Trouble::new(TroubleKind::Refusal, "the answer was filtered"))
            }
            // It ends like this when it was not permitted a tool.
            Some(_) | None => self.denied.clone().map_or(Conclusion::Cut, Conclusion::Denied),
        };
    }

    pub(crate) fn is_through(&self) -> bool {
        self.conclusion != Conclusion::Cut
    }

    pub(crate) fn end(self, stderr: &str) -> Outcome {
        let is_unknown = self.session.is_none() && stderr.contains("Session not found");
        let mut conclusion = self.conclusion;
        if is_unknown && conclusion == Conclusion::Cut {
            conclusion = Conclusion::Trouble(Trouble::new(TroubleKind::UnknownSession, line::short(stderr)));
        }
        let session = self.session.map(|id| Session { id, total: Usage::default() });
        Outcome { conclusion, message: self.message, session, usage: self.usage }
    }
}

fn trouble(value: &Value) -> Trouble {
    let message = text(value, &["error", "data", "message"]).or_else(|| text(value, &["error", "name"]));
    let message = message.unwrap_or("no reason given");
    let seconds = text(value, &["error", "data", "responseHeaders", "retry-after"]);
    let wait = seconds.and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let trouble = match number(value, &["error", "data", "statusCode"]) {
        Some(status) => Trouble::of_status(status, message),
        None => Trouble::of_text(message),
    };
    trouble.or_after(wait)
}
