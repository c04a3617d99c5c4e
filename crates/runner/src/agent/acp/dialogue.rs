//! One exchange with an agent: hello, a session, its mode and model, the prompt, the answer.

use std::path::PathBuf;

use engine::{Session, Usage};
use serde_json::{Value, json};

use crate::agent::acp::message::{self, Message};
use crate::agent::acp::permission::{self, Leave};
use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, MCP_NAME, McpServer, Permission};
use crate::agent::line::{self, Line, number, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{Trouble, TroubleKind};

/// The version of the protocol that is spoken.
const PROTOCOL_VERSION: u32 = 1;

/// The bytes that may wait to be read by the agent. One that asks without ever reading gets no more answers.
const OUTBOX_BYTES_MAX: usize = 1024 * 1024;

/// The request to the agent.
#[derive(Clone, Debug)]
pub(crate) struct SessionRequest {
    /// The prompt.
    pub prompt: String,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// The session to take up again.
    pub resume: Option<Session>,
    /// The permission it has.
    pub permission: Permission,
    /// Its purpose.
    pub duty: Duty,
    /// The model it is to use.
    pub model: Option<String>,
    /// The server through which it can report.
    pub mcp: Option<McpServer>,
}

/// One exchange, as far as it went.
#[derive(Debug)]
pub(crate) struct Dialogue {
    session_request: SessionRequest,
    stage: Stage,
    /// The number of the latest request of ours.
    latest: u64,
    outbox: String,
    agent: String,
    session: Option<String>,
    message: String,
    /// True if a tool was used since the message was begun.
    is_stale: bool,
    usage: Usage,
    /// The cost of the session before, once it is known whether the agent counts on from there.
    cost_before: Option<u64>,
    denied: Option<String>,
    /// True if something that belongs to the exchange was heard of late.
    has_progressed: bool,
    conclusion: Conclusion,
}

/// The latest request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Greeting,
    Opening,
    Choosing,
    Prompting,
    Over,
}

impl Dialogue {
    /// Begins with a hello.
    pub(crate) fn new(session_request: SessionRequest) -> Self {
        let mut dialogue = Self {
            session_request,
            stage: Stage::Greeting,
            latest: 0,
            outbox: String::new(),
            agent: String::new(),
            session: None,
            message: String::new(),
            is_stale: false,
            usage: Usage::default(),
            cost_before: None,
            denied: None,
            has_progressed: false,
            conclusion: Conclusion::Cut,
        };
        let nothing = json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let client = json!({ "name": "tillgreen", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": nothing,
            "clientInfo": client,
        });
        dialogue.ask(Stage::Greeting, "initialize", &hello);
        dialogue
    }

    /// Takes the messages that are to be sent.
    pub(crate) fn take_outbox(&mut self) -> String {
        std::mem::take(&mut self.outbox)
    }

    /// True if there is nothing left to say.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Asks the agent to stop. It answers the prompt when it has.
    pub(crate) fn cancel(&mut self) {
        match &self.session {
            Some(session) if self.stage == Stage::Prompting => {
                self.send(&message::notice("session/cancel", &json!({ "sessionId": session })));
            }
            Some(_) | None => self.stage = Stage::Over,
        }
    }

    /// Takes in a line.
    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(value) = line::value_of(line) else { return };
        let message = Message::of(&value);
        self.has_progressed |= message.as_ref().is_some_and(|message| self.belongs(message));
        match message {
            Some(Message::Request { id, method: "session/request_permission", params }) => {
                self.permit(id, params, activities);
            }
            Some(Message::Request { id, method, .. }) => self.send(&message::no_such_method(id, method)),
            Some(Message::Notice { method: "session/update", params }) => self.update(params, activities),
            // Agents say much that nobody asked for.
            Some(Message::Notice { .. }) | None => {}
            Some(Message::Response { id, result }) if id == self.latest => self.answered(result),
            Some(Message::Response { .. }) => {}
        }
    }

    /// True if a message shows that the agent gets on. What it says of its own accord counts only if it is about what
    /// it was asked for.
    fn belongs(&self, message: &Message<'_>) -> bool {
        match message {
            Message::Request { method, .. } => *method == "session/request_permission",
            Message::Notice { method, .. } => *method == "session/update" && self.stage == Stage::Prompting,
            Message::Response { id, .. } => *id == self.latest,
        }
    }

    /// True if there was progress since this was last asked.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.has_progressed)
    }

    fn answered(&mut self, result: Result<&Value, Trouble>) {
        let result = match (result, self.stage) {
            (Ok(result), _) => result,
            (Err(trouble), Stage::Opening) if self.session_request.resume.is_some() => {
                return self.conclude(Conclusion::Trouble(unknown_session(trouble.text)));
            }
            (Err(trouble), _) => return self.conclude(Conclusion::Trouble(trouble)),
        };
        match self.stage {
            Stage::Greeting => self.open(result),
            Stage::Opening => self.opened(result),
            Stage::Choosing => self.prompt(),
            Stage::Prompting => self.finish(result),
            Stage::Over => {}
        }
    }

    fn open(&mut self, hello: &Value) {
        self.agent = text(hello, &["agentInfo", "name"]).unwrap_or_default().to_owned();
        let mut params =
            json!({ "cwd": self.session_request.cwd.to_string_lossy(), "mcpServers": self.servers() });
        let Some(session) = self.session_request.resume.clone() else {
            return self.ask(Stage::Opening, "session/new", &params);
        };
        let capabilities = hello.get("agentCapabilities").unwrap_or(&Value::Null);
        let resumes =
            line::at(capabilities, &["sessionCapabilities", "resume"]).is_some_and(|it| !it.is_null());
        // Where history is told again after the answer, nobody could tell it from the new one.
        let loads = capabilities.get("loadSession") == Some(&Value::Bool(true)) && self.agent != "gemini-cli";
        params["sessionId"] = json!(session.id);
        match (resumes, loads) {
            (true, _) => self.ask(Stage::Opening, "session/resume", &params),
            (false, true) => self.ask(Stage::Opening, "session/load", &params),
            (false, false) => {
                let text = "the agent cannot take up a session again".to_owned();
                self.conclude(Conclusion::Trouble(unknown_session(text)));
            }
        }
    }

    fn servers(&self) -> Value {
        let server = self.session_request.mcp.as_ref().map(
            |server| json!({ "name": MCP_NAME, "command": server.command(), "args": server.args, "env": [] }),
        );
        Value::Array(server.into_iter().collect())
    }

    fn opened(&mut self, result: &Value) {
        let resumed = self.session_request.resume.as_ref().map(|session| session.id.clone());
        let session = text(result, &["sessionId"]).map(str::to_owned).or(resumed);
        let Some(session) = session else {
            return self.conclude(Conclusion::Trouble(Trouble::of_text("the agent opened no session")));
        };
        // What was told of the past is not an answer to what is asked now.
        self.message.clear();
        let mode = permission::mode((self.session_request.permission, self.session_request.duty), result);
        let model =
            self.session_request.model.clone().and_then(|model| choice_of_model(&session, &model, result));
        self.session = Some(session.clone());
        if let Some(mode) = mode {
            let params = json!({ "sessionId": session, "modeId": mode });
            self.ask(Stage::Choosing, "session/set_mode", &params);
        }
        if let Some((method, params)) = model {
            self.ask(Stage::Choosing, method, &params);
        }
        if self.stage == Stage::Opening {
            self.prompt();
        }
    }

    fn prompt(&mut self) {
        let content = json!([{ "type": "text", "text": self.session_request.prompt }]);
        self.session_request.prompt.clear();
        let params = json!({ "sessionId": self.session, "prompt": content });
        self.ask(Stage::Prompting, "session/prompt", &params);
    }

    fn finish(&mut self, result: &Value) {
        self.usage = Usage { cost_micros: self.usage.cost_micros, ..self.tokens(result) };
        let trouble = |kind: TroubleKind, text: &str| Conclusion::Trouble(Trouble::new(kind, text));
        let conclusion = match text(result, &["stopReason"]) {
            Some("end_turn") => self.denied.clone().map_or(Conclusion::Finished, Conclusion::Denied),
            Some("max_tokens") => trouble(TroubleKind::AnswerLength, "the answer was cut off"),
            Some("max_turn_requests") => trouble(TroubleKind::Turns, "the agent's limit of turns is reached"),
            Some("refusal") => trouble(TroubleKind::Refusal, "the model refused"),
            Some("cancelled") => trouble(TroubleKind::Interrupted, "the agent was told to stop"),
            Some(_) | None => trouble(TroubleKind::Other, "the agent stopped for no known reason"),
        };
        self.conclude(conclusion);
    }

    /// The tokens of the turn. One agent tells those of the last step only: then they are not known.
    fn tokens(&self, result: &Value) -> Usage {
        if self.agent == "OpenCode" {
            return Usage::default();
        }
        let of = |name: &str| number(result, &["usage", name]);
        let meta = |name: &str| number(result, &["_meta", "quota", "token_count", name]);
        let input = of("inputTokens").map(|input| input.saturating_add(of("cachedWriteTokens").unwrap_or(0)));
        Usage {
            input: input.or_else(|| meta("input_tokens")),
            cached: of("cachedReadTokens"),
            output: of("outputTokens").or_else(|| meta("output_tokens")),
            cost_micros: None,
        }
    }

    fn update(&mut self, params: &Value, activities: &mut Vec<Activity>) {
        // What comes before the prompt was sent tells of the past.
        if self.stage != Stage::Prompting {
            return;
        }
        let update = params.get("update").unwrap_or(&Value::Null);
        match text(update, &["sessionUpdate"]) {
            Some("agent_message_chunk") => self.said(update, activities),
            Some("tool_call") => {
                self.is_stale = true;
                activities.push(tool(update));
            }
            Some("tool_call_update") => {
                self.is_stale = true;
                if matches!(text(update, &["status"]), Some("completed" | "failed")) {
                    activities.push(Activity::ToolEnded);
                }
            }
            Some("usage_update") => self.cost(update, activities),
            Some(_) | None => {}
        }
    }

    fn said(&mut self, update: &Value, activities: &mut Vec<Activity>) {
        let chunk = text(update, &["content", "text"]).unwrap_or_default();
        if chunk.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_stale) {
            self.message.clear();
        }
        line::push_bounded(&mut self.message, chunk);
        activities.push(Activity::Said(line::short(chunk)));
    }

    fn cost(&mut self, update: &Value, activities: &mut Vec<Activity>) {
        if text(update, &["cost", "currency"]) != Some("USD") {
            return;
        }
        let Some(cost) = line::micros(update, &["cost", "amount"]) else { return };
        self.cost_before.get_or_insert_with(|| {
            let resumed = self.session_request.resume.as_ref().and_then(|session| session.total.cost_micros);
            // A session's cost is told, so that one which costs less than before is not counted on.
            resumed.filter(|before| *before <= cost).unwrap_or_default()
        });
        self.usage.cost_micros = Some(cost);
        activities.push(Activity::Used(self.own_usage()));
    }

    /// The usage of this exchange: tokens are told for it alone, the cost for the session.
    fn own_usage(&self) -> Usage {
        self.usage.since(Usage { cost_micros: self.cost_before, ..Usage::default() })
    }

    fn permit(&mut self, id: &Value, params: &Value, activities: &mut Vec<Activity>) {
        self.is_stale = true;
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        activities.push(tool(call));
        let leave = permission::leave((self.session_request.permission, self.session_request.duty), params);
        if leave == Leave::Refused {
            let title = text(call, &["title"]).unwrap_or("a tool");
            self.denied = Some(format!("not permitted: {}", line::short(title)));
        }
        self.send(&message::response(id, &permission::answer(leave, params)));
    }

    fn ask(&mut self, stage: Stage, method: &str, params: &Value) {
        self.stage = stage;
        self.latest += 1;
        self.send(&message::request(self.latest, method, params));
    }

    fn send(&mut self, message: &str) {
        if self.outbox.len() < OUTBOX_BYTES_MAX {
            self.outbox.push_str(message);
            self.outbox.push('\n');
        }
    }

    fn conclude(&mut self, conclusion: Conclusion) {
        self.conclusion = conclusion;
        self.stage = Stage::Over;
    }

    /// The outcome of the whole exchange.
    pub(crate) fn end(self) -> Outcome {
        let usage = self.own_usage();
        let before = self.session_request.resume.as_ref().and_then(|session| session.total.cost_micros);
        let total = Usage { cost_micros: self.usage.cost_micros.or(before), ..Usage::default() };
        let session = self.session.map(|id| Session { id, total });
        Outcome { conclusion: self.conclusion, message: self.message, session, usage }
    }
}

fn unknown_session(text: String) -> Trouble {
    Trouble::new(TroubleKind::UnknownSession, text)
}

fn tool(call: &Value) -> Activity {
    let title = text(call, &["title"]).unwrap_or_default();
    let name = text(call, &["kind"]).unwrap_or("tool");
    Activity::ToolStarted { name: line::short(name), subject: line::short(title) }
}

/// The request that sets a session's model: agents offer either of two ways, or none.
fn choice_of_model(session: &str, model: &str, result: &Value) -> Option<(&'static str, Value)> {
    if result.get("models").is_some() {
        return Some(("session/set_model", json!({ "sessionId": session, "modelId": model })));
    }
    let has_option =
        line::items(result, &["configOptions"]).iter().any(|option| text(option, &["id"]) == Some("model"));
    let params = json!({ "sessionId": session, "configId": "model", "value": model });
    has_option.then_some(("session/set_config_option", params))
}
