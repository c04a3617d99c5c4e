//! Codex: `codex exec --json`.
//!
//! Only `turn.completed` and `turn.failed` decide: lines of type `error` are also mere notices of a retry. Usage
//! counts on through a thread, so that what a resumed one used before has to be taken off.

use engine::{Session, Usage};
use serde_json::{Value, json};

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Input, Launch, MCP_NAME, Order, Permission};
use crate::agent::line::{self, Line, number, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{Trouble, TroubleKind};
use crate::settings::Agent;

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let mut args: Vec<String> = ["exec", "--json", "--skip-git-repo-check"].map(str::to_owned).to_vec();
    let mut push = |items: &[&str]| args.extend(items.iter().map(|&item| item.to_owned()));
    match (agent.permission, order.duty) {
        // Commands run in it, and write nothing.
        (Permission::ReadOnly, Duty::Work) | (_, Duty::Judge) => push(&["-s", "read-only"]),
        (Permission::Workspace, Duty::Work) => push(&["-s", "workspace-write"]),
        (Permission::Full, Duty::Work) => push(&["--dangerously-bypass-approvals-and-sandbox"]),
    }
    if let Some(model) = &agent.model {
        push(&["-m", model]);
    }
    if let Some(prompt) = &agent.system_prompt {
        push(&["-c", &setting("developer_instructions", &json!(prompt))]);
    }
    if let Some(server) = order.mcp {
        let key = |name: &str| format!("mcp_servers.{MCP_NAME}.{name}");
        push(&["-c", &setting(&key("command"), &json!(server.command()))]);
        push(&["-c", &setting(&key("args"), &json!(server.args))]);
    }
    args.extend(agent.args.iter().cloned());
    if let Some(session) = order.resume {
        args.extend(["resume".to_owned(), session.id.clone()]);
    }
    args.push("-".to_owned());
    Launch::new(&agent.command, args, Input::Text(order.prompt.to_owned()))
}

/// A setting on the command line. JSON texts and lists are TOML as well.
fn setting(key: &str, value: &Value) -> String {
    format!("{key}={value}")
}

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The usage of the thread before.
    before: Usage,
    thread: Option<String>,
    message: String,
    total: Usage,
    conclusion: Conclusion,
}

impl Reader {
    /// For a thread that is taken up again.
    pub(crate) fn resuming(session: Option<&Session>) -> Self {
        Self { before: session.map(|session| session.total).unwrap_or_default(), ..Self::default() }
    }

    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(kind) = line::type_of(line) else { return };
        let Some(value) = line::value_of(line) else { return };
        match kind.as_ref() {
            "thread.started" => self.thread = text(&value, &["thread_id"]).map(str::to_owned),
            "turn.started" => self.conclusion = Conclusion::Cut,
            "item.started" => activities.extend(started(&value)),
            "item.completed" => self.completed(&value, activities),
            "error" => activities.push(Activity::Retrying {
                reason: line::short(text(&value, &["message"]).unwrap_or("unknown error")),
            }),
            "turn.completed" => {
                self.total = usage(&value);
                activities.push(Activity::Used(self.total.since(self.before)));
                self.conclusion = Conclusion::Finished;
            }
            "turn.failed" => {
                let message = text(&value, &["error", "message"]).unwrap_or("no reason given");
                self.conclusion = Conclusion::Trouble(Trouble::of_text(message));
            }
            _ => {}
        }
    }

    fn completed(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        match text(value, &["item", "type"]) {
            Some("agent_message") => {
                let message = text(value, &["item", "text"]).unwrap_or_default();
                message.clone_into(&mut self.message);
                activities.push(Activity::Said(line::short(message)));
            }
            Some("command_execution" | "file_change" | "mcp_tool_call" | "web_search") => {
                activities.push(Activity::ToolEnded);
            }
            Some(_) | None => {}
        }
    }

    pub(crate) fn is_through(&self) -> bool {
        self.conclusion != Conclusion::Cut
    }

    pub(crate) fn end(self, stderr: &str) -> Outcome {
        let is_unknown = self.thread.is_none() && stderr.contains("no rollout found");
        let mut conclusion = self.conclusion;
        if is_unknown && conclusion == Conclusion::Cut {
            conclusion = Conclusion::Trouble(Trouble::new(TroubleKind::UnknownSession, line::short(stderr)));
        }
        let session = self.thread.map(|id| Session {
            id,
            // A turn that failed tells no figures; those of before still stand.
            total: if self.total.is_unknown() { self.before } else { self.total },
        });
        Outcome { conclusion, message: self.message, session, usage: self.total.since(self.before) }
    }
}

fn started(value: &Value) -> Option<Activity> {
    let item = value.get("item")?;
    let first_change = || text(item.get("changes")?.get(0)?, &["path"]);
    let (name, subject) = match text(item, &["type"])? {
        "command_execution" => ("shell", text(item, &["command"])),
        "file_change" => ("edit", first_change()),
        "mcp_tool_call" => (text(item, &["tool"]).unwrap_or("tool"), None),
        "web_search" => ("search", text(item, &["query"])),
        _ => return None,
    };
    Some(Activity::ToolStarted { name: line::short(name), subject: line::short(subject.unwrap_or_default()) })
}

/// Its input includes what came from the cache.
fn usage(value: &Value) -> Usage {
    let cached = number(value, &["usage", "cached_input_tokens"]);
    let input = number(value, &["usage", "input_tokens"]);
    Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or_default())),
        cached,
        output: number(value, &["usage", "output_tokens"]),
        cost_micros: None,
    }
}
