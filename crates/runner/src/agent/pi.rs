//! pi: `pi -p --mode json`.
//!
//! It ends with `agent_end`, which repeats every message and may be too long to be kept; what the last message was
//! and why it stopped is known from its own line.

use engine::{Session, Usage};
use serde_json::Value;

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Input, Launch, Order, Permission};
use crate::agent::line::{self, Line, items, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{Trouble, TroubleKind};
use crate::settings::Agent;

/// The beginning of the last line.
const LAST: &str = r#"{"type":"agent_end""#;

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let mut args: Vec<String> = ["-p", "--mode", "json"].map(str::to_owned).to_vec();
    let mut push = |items: &[&str]| args.extend(items.iter().map(|&item| item.to_owned()));
    match (agent.permission, order.duty) {
        (Permission::ReadOnly, Duty::Work | Duty::Judge) => push(&["--tools", "read,grep,find,ls"]),
        (Permission::Workspace | Permission::Full, Duty::Judge) => {
            push(&["--tools", "read,bash,grep,find,ls"])
        }
        (Permission::Workspace | Permission::Full, Duty::Work) => {}
    }
    if let Some(model) = &agent.model {
        push(&["--model", model]);
    }
    if let Some(prompt) = &agent.system_prompt {
        push(&["--append-system-prompt", prompt]);
    }
    if let Some(session) = order.resume {
        push(&["--session", &session.id]);
    }
    args.extend(agent.args.iter().cloned());
    Launch::new(&agent.command, args, Input::Text(order.prompt.to_owned()))
}

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    session: Option<String>,
    message: String,
    usage: Usage,
    /// The end of the model's last message.
    stopped: Conclusion,
    has_ended: bool,
}

impl Reader {
    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let line = match line {
            Line::Whole(line) => line,
            Line::Start(start) => {
                self.has_ended |= start.starts_with(LAST);
                return;
            }
        };
        let Some(kind) = line::type_of(line) else { return };
        match kind.as_ref() {
            "agent_start" | "turn_start" => {
                self.has_ended = false;
                self.stopped = Conclusion::Cut;
            }
            "agent_end" => self.has_ended = true,
            "tool_execution_end" => activities.push(Activity::ToolEnded),
            "session" | "message_end" | "tool_execution_start" | "auto_retry_start" => {
                if let Some(value) = line::value_of(line) {
                    self.value(kind.as_ref(), &value, activities);
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, kind: &str, value: &Value, activities: &mut Vec<Activity>) {
        match kind {
            "session" => self.session = text(value, &["id"]).map(str::to_owned),
            "tool_execution_start" => activities.push(Activity::ToolStarted {
                name: line::short(text(value, &["toolName"]).unwrap_or("tool")),
                subject: line::subject(value.get("args")),
            }),
            "auto_retry_start" => activities.push(Activity::Retrying {
                reason: line::short(text(value, &["errorMessage"]).unwrap_or("unknown error")),
            }),
            _ if text(value, &["message", "role"]) == Some("assistant") => self.said(value, activities),
            _ => {}
        }
    }

    fn said(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        let texts = items(value, &["message", "content"]).iter().filter_map(|block| text(block, &["text"]));
        self.message = texts.collect::<Vec<_>>().join("\n");
        activities.push(Activity::Said(line::short(&self.message)));
        self.usage = self.usage.plus(line::usage(
            value,
            [
                &["message", "usage", "input"],
                &["message", "usage", "cacheRead"],
                &["message", "usage", "output"],
            ],
            &["message", "usage", "cost", "total"],
        ));
        activities.push(Activity::Used(self.usage));
        self.stopped = stopped(value);
    }

    pub(crate) fn is_through(&self) -> bool {
        self.stopped != Conclusion::Cut
    }

    pub(crate) fn end(self, stderr: &str) -> Outcome {
        let is_cut = self.stopped == Conclusion::Finished && !self.has_ended;
        let is_unknown = self.session.is_none() && stderr.contains("No session found");
        let conclusion = if is_unknown && self.stopped == Conclusion::Cut {
            Conclusion::Trouble(Trouble::new(TroubleKind::UnknownSession, line::short(stderr)))
        } else if is_cut {
            Conclusion::Cut
        } else {
            self.stopped
        };
        let session = self.session.map(|id| Session { id, total: Usage::default() });
        Outcome { conclusion, message: self.message, session, usage: self.usage }
    }
}

fn stopped(value: &Value) -> Conclusion {
    let error = text(value, &["message", "errorMessage"]).unwrap_or("no reason given");
    match text(value, &["message", "stopReason"]) {
        Some("stop") => Conclusion::Finished,
        Some("length") => {
            Conclusion::Trouble(Trouble::new(TroubleKind::AnswerLength, "the answer was cut off"))
        }
        Some("aborted") => Conclusion::Trouble(Trouble::new(TroubleKind::Interrupted, error)),
        // So it calls a stream that was cut off.
        Some("error") if error == "terminated" => {
            Conclusion::Trouble(Trouble::new(TroubleKind::Connection, error))
        }
        Some("error") => Conclusion::Trouble(Trouble::of_text(error)),
        Some(_) | None => Conclusion::Cut,
    }
}
