//! Gemini CLI: `gemini -o stream-json`.
//!
//! The last line is a `result` with a status. A signal ends it with exit code 0 and without one. Errors of the service
//! show in the exit code: the HTTP status modulo 256. It takes servers for tools from settings of its own only, so that it
//! is offered none here; over the Agent Client Protocol it is.

use engine::{Session, Usage};
use serde_json::Value;

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Input, Launch, Order, Permission};
use crate::agent::line::{self, Line, number, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{Trouble, TroubleKind};
use crate::settings::Agent;

/// The exit code of one that does not know the session it is to take up, or the like.
const BAD_INPUT: i32 = 42;
/// The exit code of one that is not set up.
const NOT_SET_UP: i32 = 41;

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let mut args: Vec<String> = ["-o", "stream-json"].map(str::to_owned).to_vec();
    let mut push = |items: &[&str]| args.extend(items.iter().map(|&item| item.to_owned()));
    match agent.permission {
        // Without it neither writing tools nor a shell are declared to the model.
        Permission::ReadOnly => {}
        Permission::Workspace | Permission::Full => push(&["--yolo"]),
    }
    if let Some(model) = &agent.model {
        push(&["-m", model]);
    }
    if let Some(session) = order.resume {
        push(&["--resume", &session.id]);
    }
    args.extend(agent.args.iter().cloned());
    let input = Input::Text(agent.with_system_prompt(order.prompt));
    // A second process of its own would ignore signals, and a folder that nobody trusted yet would end it.
    Launch::new(&agent.command, args, input)
        .with_env("GEMINI_CLI_NO_RELAUNCH", "true")
        .with_env("GEMINI_CLI_TRUST_WORKSPACE", "true")
}

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// True if a session is taken up again.
    is_resuming: bool,
    session: Option<String>,
    message: String,
    /// True if a tool was used since the message was begun.
    is_stale: bool,
    denied: Option<String>,
    /// The last error that it told of; a result that is an error need not repeat it.
    complaint: Option<String>,
    /// True if the result tells of a quota that is used up: the exit code is the one of too many requests.
    is_terminal: bool,
    result: Option<(Conclusion, Usage)>,
}

impl Reader {
    /// For a session that is taken up again, if one is.
    pub(crate) fn resuming(session: Option<&Session>) -> Self {
        Self { is_resuming: session.is_some(), ..Self::default() }
    }

    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(kind) = line::type_of(line) else { return };
        let Some(value) = line::value_of(line) else { return };
        match kind.as_ref() {
            "init" => self.session = text(&value, &["session_id"]).map(str::to_owned),
            "message" if text(&value, &["role"]) == Some("assistant") => self.said(&value, activities),
            "tool_use" => {
                self.result = None;
                self.is_stale = true;
                activities.push(Activity::ToolStarted {
                    name: line::short(text(&value, &["tool_name"]).unwrap_or("tool")),
                    subject: line::subject(value.get("parameters")),
                });
            }
            "tool_result" => {
                self.is_stale = true;
                self.denied = self.denied.take().or_else(|| denial(&value));
                activities.push(Activity::ToolEnded);
            }
            "error" => {
                let message = text(&value, &["message"]).unwrap_or("unknown error");
                self.complaint = Some(message.to_owned());
                activities.push(Activity::Retrying { reason: line::short(message) });
            }
            "result" => {
                let usage = usage(&value);
                self.is_terminal = is_terminal(&value);
                activities.push(Activity::Used(usage));
                self.result = Some((self.conclusion(&value), usage));
            }
            _ => {}
        }
    }

    fn said(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        self.result = None;
        if std::mem::take(&mut self.is_stale) {
            self.message.clear();
        }
        line::push_bounded(&mut self.message, text(value, &["content"]).unwrap_or_default());
        activities.push(Activity::Said(line::short(&self.message)));
    }

    fn conclusion(&self, value: &Value) -> Conclusion {
        if text(value, &["status"]) == Some("success") {
            return self.denied.clone().map_or(Conclusion::Finished, Conclusion::Denied);
        }
        let told = text(value, &["error", "message"]).or(self.complaint.as_deref());
        let message = told.unwrap_or("no reason given");
        Conclusion::Trouble(match text(value, &["error", "type"]) {
            Some("FatalTurnLimitedError") => Trouble::new(TroubleKind::Turns, message),
            Some(_) if is_terminal(value) => Trouble::new(TroubleKind::Quota, message),
            Some("FatalAuthenticationError") => Trouble::new(TroubleKind::Authentication, message),
            Some(_) | None => Trouble::of_text(message),
        })
    }

    pub(crate) fn is_through(&self) -> bool {
        self.result.is_some()
    }

    pub(crate) fn end(self, code: Option<i32>, stderr: &str) -> Outcome {
        let is_terminal = self.is_terminal;
        let (conclusion, usage) = self.result.unwrap_or_default();
        let conclusion = match (conclusion, code) {
            (Conclusion::Trouble(trouble), Some(code)) if !is_terminal => Conclusion::Trouble(
                status_of(code).map_or(trouble.clone(), |status| Trouble::of_status(status, trouble.text)),
            ),
            (Conclusion::Cut, Some(BAD_INPUT)) if self.is_resuming => {
                Conclusion::Trouble(Trouble::new(TroubleKind::UnknownSession, complaint(stderr)))
            }
            (Conclusion::Cut, Some(NOT_SET_UP)) => {
                Conclusion::Trouble(Trouble::new(TroubleKind::Authentication, complaint(stderr)))
            }
            (conclusion, _) => conclusion,
        };
        let session = self.session.map(|id| Session { id, total: Usage::default() });
        Outcome { conclusion, message: self.message, session, usage }
    }
}

/// The complaint on standard error, without what is only mentioned there.
fn complaint(stderr: &str) -> String {
    const MENTIONED: [&str; 4] = ["YOLO mode", "Loaded cached", "Ripgrep", "Warning:"];
    let is_mentioned = |line: &&str| MENTIONED.iter().any(|words| line.trim_start().starts_with(words));
    let lines: Vec<&str> = stderr.lines().filter(|line| !is_mentioned(line)).collect();
    lines.join("\n")
}

/// True if a result tells of a quota that is used up for long.
fn is_terminal(value: &Value) -> bool {
    text(value, &["error", "type"]).is_some_and(|kind| kind.ends_with("TerminalQuotaError"))
}

/// The status that an exit code stands for, of those that mean something.
fn status_of(code: i32) -> Option<u64> {
    let statuses = [401_u64, 402, 403, 408, 429].into_iter().chain(500..=504).chain([529]);
    statuses.into_iter().find(|status| i32::try_from(status % 256) == Ok(code))
}

/// Without leave to use them, the tools that write do not exist for it.
fn denial(value: &Value) -> Option<String> {
    let is_missing = text(value, &["error", "type"]) == Some("tool_not_registered");
    let tool = text(value, &["tool_id"])?.split("__").next()?;
    let is_writing = matches!(tool, "write_file" | "run_shell_command" | "replace" | "edit");
    (is_missing && is_writing).then(|| format!("{tool} was not permitted"))
}

fn usage(value: &Value) -> Usage {
    let cached = number(value, &["stats", "cached"]);
    let input = number(value, &["stats", "input_tokens"]);
    Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or_default())),
        cached,
        output: number(value, &["stats", "output_tokens"]),
        cost_micros: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_and_nothing_else() {
        let stderr = "YOLO mode is enabled. All tool calls will be automatically approved.\n\
                      When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n\
                      Update your environment and try again (no reload needed if using .env)!\n";
        let Conclusion::Trouble(trouble) = Reader::default().end(Some(NOT_SET_UP), stderr).conclusion else {
            panic!("it is not set up")
        };
        assert_eq!(trouble.kind, TroubleKind::Authentication);
        assert!(trouble.text.starts_with("When using Gemini API, you must"), "{}", trouble.text);
    }

    #[test]
    fn a_stream_that_the_service_cut_is_the_connection_s_fault() {
        let mut reader = Reader::default();
        for line in [
            r#"{"type":"message","role":"assistant","content":"word","delta":true}"#,
            r#"{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}"#,
            r#"{"type":"result","status":"error","stats":{}}"#,
        ] {
            reader.line(Line::Whole(line), &mut Vec::new());
        }
        let outcome = reader.end(Some(0), "");
        let Conclusion::Trouble(trouble) = outcome.conclusion else { panic!("{outcome:?}") };
        assert_eq!(trouble.kind, TroubleKind::Connection);
    }
}
