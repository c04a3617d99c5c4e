//! Claude Code: `claude -p --output-format stream-json`.
//!
//! The last line is a `result`, whose `subtype` says success even where the service failed: `is_error` decides. What
//! was denied stands in `permission_denials`. An interrupted one ends with exit code 0 and without a result.
//!
//! Newer versions count `modelUsage` and the cost on through a session that is taken up again, older ones do not; what
//! was used since the last result is told besides by the newest only.

use std::time::Duration;

use engine::{Session, Usage};
use serde_json::{Value, json};

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Input, Launch, MCP_NAME, Order, Permission};
use crate::agent::line::{self, Line, items, number, text};
use crate::agent::reader::Activity;
use crate::agent::trouble::{self, Trouble, TroubleKind};
use crate::agent::wait;
use crate::settings::Agent;

/// Tools that may be used without asking.
const TOOLS: &str = "Bash Edit Write Read Glob Grep";
/// Tools that are there at all where it may only read. What its own settings allow comes on top of what is allowed
/// here, so that a tool which is there can be used.
const READING_TOOLS: &str = "Read Glob Grep";
const READING_SET: &str = "Read,Glob,Grep";

/// Tools that a judge uses, and those that are taken from it whatever its own settings allow.
const JUDGING_TOOLS: &str = "Bash Read Glob Grep";
const EDITING_TOOLS: &str = "Edit MultiEdit Write NotebookEdit";

/// The longest time that it waits between two tries of its own accord; what is longer was asked for. So was a shorter
/// one of whole seconds: its own times are scattered at random.
const OWN_DELAY_MAX: Duration = Duration::from_secs(60);

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let mut args: Vec<String> =
        ["-p", "--output-format", "stream-json", "--verbose"].map(str::to_owned).to_vec();
    let mut push = |items: &[&str]| args.extend(items.iter().map(|&item| item.to_owned()));
    let tools = |tools: &str| match order.mcp {
        Some(_) => format!("{tools} mcp__{MCP_NAME}"),
        None => tools.to_owned(),
    };
    if order.duty == Duty::Judge {
        push(&["--disallowedTools", EDITING_TOOLS]);
    }
    match agent.permission {
        Permission::ReadOnly => {
            push(&["--permission-mode", "default", "--tools", READING_SET, "--strict-mcp-config"]);
            push(&["--allowedTools", &tools(READING_TOOLS)]);
        }
        Permission::Workspace if order.duty == Duty::Judge => {
            push(&["--permission-mode", "default", "--allowedTools", &tools(JUDGING_TOOLS)]);
        }
        Permission::Workspace => push(&["--permission-mode", "acceptEdits", "--allowedTools", &tools(TOOLS)]),
        Permission::Full => push(&["--dangerously-skip-permissions"]),
    }
    if let Some(model) = &agent.model {
        push(&["--model", model]);
    }
    if let Some(prompt) = &agent.system_prompt {
        push(&["--append-system-prompt", prompt]);
    }
    if let Some(micros) = order.budget_micros {
        push(&["--max-budget-usd", &format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)]);
    }
    if let Some(session) = order.resume {
        push(&["--resume", &session.id]);
    }
    if let Some(server) = order.mcp {
        push(&["--mcp-config", &json!({ "mcpServers": server.table() }).to_string()]);
    }
    args.extend(agent.args.iter().cloned());
    Launch::new(&agent.command, args, Input::Text(order.prompt.to_owned()))
}

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The usage of the session before, as it was told.
    before: Usage,
    session: Option<String>,
    /// The message whose usage was counted last: each content block of it repeats that.
    counted: Option<String>,
    /// The tokens that the model read so far; those it wrote are not told before the end.
    seen: Usage,
    /// The kind of error that the latest answer was made up for.
    error: Option<String>,
    /// The time the service asked to be left alone.
    waited: Option<Duration>,
    /// The limit of the account, while it is reached.
    limit: Option<Limit>,
    /// The usage up to the latest result, whether or not that was the end.
    spent: Usage,
    result: Option<Ending>,
}

/// A limit of the account that is reached.
#[derive(Debug)]
struct Limit {
    /// When there is something left again, as Unix counts.
    resets_at: Option<u64>,
}

#[derive(Debug)]
struct Ending {
    conclusion: Conclusion,
    message: String,
    /// The usage of the session in all, as it is told.
    total: Usage,
}

impl Reader {
    /// For a session that is taken up again, if one is.
    pub(crate) fn resuming(session: Option<&Session>) -> Self {
        Self { before: session.map(|session| session.total).unwrap_or_default(), ..Self::default() }
    }

    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(kind) = line::type_of(line) else { return };
        if !matches!(kind.as_ref(), "system" | "assistant" | "user" | "rate_limit_event" | "result") {
            return;
        }
        if kind == "user" {
            activities.push(Activity::ToolEnded);
            return;
        }
        let Some(value) = line::value_of(line) else { return };
        if let Some(session) = text(&value, &["session_id"]) {
            self.session = Some(session.to_owned());
        }
        match kind.as_ref() {
            "system" => self.system(&value, activities),
            "assistant" => self.assistant(&value, activities),
            "rate_limit_event" => self.limit = limit(&value),
            _ => self.result = Some(self.ending(&value)),
        }
    }

    fn system(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        if text(value, &["subtype"]) != Some("api_retry") {
            return;
        }
        let delay = number(value, &["retry_delay_ms"]).map(Duration::from_millis);
        self.waited = delay.filter(|delay| *delay > OWN_DELAY_MAX || delay.subsec_nanos() == 0);
        let error = text(value, &["error"]).unwrap_or("unknown error");
        let status = number(value, &["error_status"]).map(|status| format!(" ({status})"));
        activities.push(Activity::Retrying { reason: format!("{error}{}", status.unwrap_or_default()) });
    }

    fn assistant(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        // It goes on, so what looked like the end was none.
        self.result = None;
        self.error = text(value, &["error"]).map(str::to_owned);
        if self.error.is_none() {
            self.waited = None;
            self.limit = None;
        }
        for block in items(value, &["message", "content"]) {
            match text(block, &["type"]) {
                Some("text") => {
                    activities.push(Activity::Said(line::short(text(block, &["text"]).unwrap_or_default())))
                }
                Some("tool_use") => activities.push(Activity::ToolStarted {
                    name: line::short(text(block, &["name"]).unwrap_or("tool")),
                    subject: line::subject(block.get("input")),
                }),
                Some(_) | None => {}
            }
        }
        self.count(value, activities);
    }

    fn count(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        let id = text(value, &["message", "id"]);
        if id.is_none() || id == self.counted.as_deref() {
            return;
        }
        self.counted = id.map(str::to_owned);
        let of = |name: &str| number(value, &["message", "usage", name]);
        let fresh = of("input_tokens")
            .map(|input| input.saturating_add(of("cache_creation_input_tokens").unwrap_or_default()));
        let read = Usage { input: fresh, cached: of("cache_read_input_tokens"), ..Usage::default() };
        self.seen = self.seen.plus(read);
        activities.push(Activity::Used(self.seen));
    }

    fn ending(&mut self, value: &Value) -> Ending {
        let message = text(value, &["result"]).unwrap_or_default().to_owned();
        let total = total(value);
        self.spent = match value.get("model_usage_since_last_result") {
            // Where no model was used, nothing was spent.
            Some(since) => {
                self.spent.plus(of_models(since)).plus(Usage { cost_micros: Some(0), ..Usage::default() })
            }
            None => own_part(total, self.before, of_run(value)),
        };
        Ending { conclusion: self.conclusion(value, &message), message, total }
    }

    fn conclusion(&self, value: &Value, message: &str) -> Conclusion {
        let is_error = value.get("is_error").and_then(Value::as_bool);
        let subtype = text(value, &["subtype"]);
        let is_cut = text(value, &["stop_reason"]) == Some("max_tokens");
        if (is_error, subtype) == (Some(false), Some("success")) && !is_cut {
            let denied = items(value, &["permission_denials"]);
            return match denied.first() {
                None => Conclusion::Finished,
                Some(first) => Conclusion::Denied(denial(first)),
            };
        }
        let resets_at = self.limit.as_ref().and_then(|limit| limit.resets_at);
        let wait = resets_at.and_then(wait::until).or(self.waited);
        Conclusion::Trouble(self.trouble(value, message).or_after(wait))
    }

    fn trouble(&self, value: &Value, message: &str) -> Trouble {
        let errors: Vec<&str> =
            items(value, &["errors"]).iter().filter_map(Value::as_str).chain([message]).collect();
        let said = errors.into_iter().find(|text| !text.is_empty()).unwrap_or("no reason given");
        let is_aborted =
            text(value, &["terminal_reason"]).is_some_and(|reason| reason.starts_with("aborted"));
        let kind = match text(value, &["subtype"]) {
            Some("error_max_turns") => Some(TroubleKind::Turns),
            Some("error_max_budget_usd") => Some(TroubleKind::Budget),
            Some("error_during_execution") if said.starts_with("No conversation found") => {
                Some(TroubleKind::UnknownSession)
            }
            _ if is_aborted => Some(TroubleKind::Interrupted),
            _ if text(value, &["stop_reason"]) == Some("refusal") => Some(TroubleKind::Refusal),
            _ if text(value, &["stop_reason"]) == Some("max_tokens") => Some(TroubleKind::AnswerLength),
            _ if self.limit.is_some() || trouble::is_account_limit(said) => Some(TroubleKind::Quota),
            _ => self.error.as_deref().and_then(of_error),
        };
        match (kind, number(value, &["api_error_status"])) {
            (Some(kind), _) => Trouble::new(kind, said),
            (None, Some(status)) => Trouble::of_status(status, said),
            (None, None) => Trouble::of_text(said),
        }
    }

    pub(crate) fn is_through(&self) -> bool {
        self.result.is_some()
    }

    pub(crate) fn end(self) -> Outcome {
        // An end without figures leaves those of before.
        let told = self.result.as_ref().map(|result| result.total).filter(|total| total.tokens().is_some());
        let total = told.unwrap_or(self.before);
        let session = self.session.map(|id| Session { id, total });
        let usage = if self.spent.tokens().is_some() {
            self.spent
        } else {
            Usage { cost_micros: self.spent.cost_micros, ..self.seen }
        };
        match self.result {
            Some(Ending { conclusion, message, .. }) => {
                // A session that is not known is none.
                let is_unknown = matches!(&conclusion,
                    Conclusion::Trouble(trouble) if trouble.kind == TroubleKind::UnknownSession);
                Outcome { conclusion, message, session: session.filter(|_| !is_unknown), usage }
            }
            None => Outcome { session, usage, ..Outcome::default() },
        }
    }
}

/// The limit that an event tells of; one that only warns tells of none.
fn limit(value: &Value) -> Option<Limit> {
    let is_reached = text(value, &["rate_limit_info", "status"]) == Some("rejected");
    is_reached.then(|| Limit { resets_at: number(value, &["rate_limit_info", "resetsAt"]) })
}

fn of_error(error: &str) -> Option<TroubleKind> {
    match error {
        "rate_limit" => Some(TroubleKind::RateLimit),
        "overloaded" | "server_error" => Some(TroubleKind::Overload),
        "authentication_failed" => Some(TroubleKind::Authentication),
        "billing_error" => Some(TroubleKind::Quota),
        "max_output_tokens" => Some(TroubleKind::AnswerLength),
        _ => None,
    }
}

fn denial(denied: &Value) -> String {
    let name = text(denied, &["tool_name"]).unwrap_or("a tool");
    let subject = line::subject(denied.get("tool_input"));
    format!("{} was not permitted: {subject}", line::short(name))
}

/// The usage in all. `usage` is wrong after a broken stream, `modelUsage` is not.
fn total(value: &Value) -> Usage {
    let sum = value.get("modelUsage").map(of_models).unwrap_or_default();
    let cost_micros = line::micros(value, &["total_cost_usd"]);
    Usage { cost_micros: cost_micros.or(sum.cost_micros), ..sum }
}

fn of_models(models: &Value) -> Usage {
    let of_model = |model: &Value| Usage {
        input: number(model, &["inputTokens"]).map(|input| {
            input.saturating_add(number(model, &["cacheCreationInputTokens"]).unwrap_or_default())
        }),
        cached: number(model, &["cacheReadInputTokens"]),
        output: number(model, &["outputTokens"]),
        cost_micros: line::micros(model, &["costUSD"]),
    };
    let models = models.as_object().into_iter().flat_map(|models| models.values());
    models.map(of_model).fold(Usage::default(), Usage::plus)
}

/// The tokens of this run alone, which is all that is certain about them.
fn of_run(value: &Value) -> Option<u64> {
    let of = |name: &str| number(value, &["usage", name]);
    let known = [
        of("input_tokens"),
        of("cache_creation_input_tokens"),
        of("cache_read_input_tokens"),
        of("output_tokens"),
    ];
    known.into_iter().flatten().reduce(u64::saturating_add)
}

/// The usage of this run. Whether the total counts on from before is told by what comes closer to the run's own tokens:
/// the total as it is, or the total without those of before.
fn own_part(total: Usage, before: Usage, of_run: Option<u64>) -> Usage {
    let tokens = |usage: Usage| usage.tokens().unwrap_or_default();
    let costs = total.cost_micros.zip(before.cost_micros);
    let is_less = tokens(total) < tokens(before) || costs.is_some_and(|(total, before)| total < before);
    let of_run = of_run.unwrap_or_default();
    let rest = total.since(before);
    if is_less || tokens(total).abs_diff(of_run) < tokens(rest).abs_diff(of_run) { total } else { rest }
}
