//! An agent that is a command with a stream of JSON lines, described by a few settings.

use engine::{Session, Usage};
use serde_json::Value;

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Input, Launch, Order};
use crate::agent::line::{self, Line};
use crate::agent::reader::Activity;
use crate::agent::trouble::Trouble;
use crate::settings::Agent;

/// The variable that tells a command which model it is to use.
pub(super) const MODEL_VARIABLE: &str = "TILLGREEN_MODEL";

/// The places of things in the lines of an agent's stream. Places are keys joined by dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFormat {
    /// The condition for the last line: `type=result`.
    pub done: String,
    /// The condition for success in that line: `is_error=false`. Without it, the line itself means success.
    pub success: Option<String>,
    /// The place of the final message; the last line that has one counts.
    pub text: String,
    /// The place of an error's description.
    pub error: Option<String>,
    /// The place of the session's id.
    pub session: Option<String>,
    /// The place of the tokens that the model read.
    pub input_tokens: Option<String>,
    /// The place of the tokens that came from a cache.
    pub cached_tokens: Option<String>,
    /// The place of the tokens that the model wrote.
    pub output_tokens: Option<String>,
    /// The place of the price in dollars.
    pub cost: Option<String>,
}

impl StreamFormat {
    /// True if a text is a condition: a place, an equals sign, a value.
    pub fn is_condition(text: &str) -> bool {
        text.split_once('=').is_some_and(|(place, value)| Self::is_place(place) && !value.is_empty())
    }

    /// True if a text is a place: keys joined by dots.
    pub fn is_place(text: &str) -> bool {
        !text.is_empty() && text.split('.').all(|key| !key.trim().is_empty())
    }
}

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let launch = Launch::shell(&agent.command, Input::Text(agent.with_system_prompt(order.prompt)));
    match &agent.model {
        Some(model) => launch.with_env(MODEL_VARIABLE, model),
        None => launch,
    }
}

/// Reads its output.
#[derive(Debug)]
pub(crate) struct Reader {
    format: StreamFormat,
    message: String,
    session: Option<String>,
    usage: Usage,
    error: Option<String>,
    conclusion: Conclusion,
}

impl Reader {
    pub(crate) fn new(format: StreamFormat) -> Self {
        Self {
            format,
            message: String::new(),
            session: None,
            usage: Usage::default(),
            error: None,
            conclusion: Conclusion::Cut,
        }
    }

    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        let Some(value) = line::value_of(line) else { return };
        if let Some(text) = place(&value, &self.format.text).and_then(Value::as_str) {
            text.clone_into(&mut self.message);
            activities.push(Activity::Said(line::short(text)));
        }
        let text_at = |place_of: &Option<String>| {
            place_of.as_deref().and_then(|path| place(&value, path)).and_then(Value::as_str)
        };
        if let Some(session) = text_at(&self.format.session) {
            self.session = Some(session.to_owned());
        }
        if let Some(error) = text_at(&self.format.error) {
            self.error = Some(error.to_owned());
        }
        self.count(&value, activities);
        // A line after the last one means that it was not the last.
        self.conclusion =
            if holds(&value, &self.format.done) { self.ending(&value) } else { Conclusion::Cut };
    }

    fn ending(&self, value: &Value) -> Conclusion {
        let is_success = self.format.success.as_deref().is_none_or(|success| holds(value, success));
        if is_success {
            return Conclusion::Finished;
        }
        let error = self.error.clone().unwrap_or_else(|| line::short(&self.message));
        Conclusion::Trouble(Trouble::of_text(error))
    }

    fn count(&mut self, value: &Value, activities: &mut Vec<Activity>) {
        let number = |path: &Option<String>| line::number(place(value, path.as_deref()?)?, &[]);
        let money = |path: &Option<String>| line::micros(place(value, path.as_deref()?)?, &[]);
        let told = Usage {
            input: number(&self.format.input_tokens),
            cached: number(&self.format.cached_tokens),
            output: number(&self.format.output_tokens),
            cost_micros: money(&self.format.cost),
        };
        if told.is_unknown() {
            return;
        }
        // The last figures are those of the whole.
        self.usage = Usage {
            input: told.input.or(self.usage.input),
            cached: told.cached.or(self.usage.cached),
            output: told.output.or(self.usage.output),
            cost_micros: told.cost_micros.or(self.usage.cost_micros),
        };
        activities.push(Activity::Used(self.usage));
    }

    pub(crate) fn is_through(&self) -> bool {
        self.conclusion != Conclusion::Cut
    }

    pub(crate) fn end(self) -> Outcome {
        let session = self.session.map(|id| Session { id, total: Usage::default() });
        Outcome { conclusion: self.conclusion, message: self.message, session, usage: self.usage }
    }
}

fn place<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn holds(value: &Value, condition: &str) -> bool {
    let Some((path, expected)) = condition.split_once('=') else { return false };
    match place(value, path) {
        Some(Value::String(text)) => text == expected,
        Some(Value::Bool(truth)) => truth.to_string() == expected,
        Some(Value::Number(number)) => number.to_string() == expected,
        Some(Value::Null) => expected == "null",
        Some(Value::Array(_) | Value::Object(_)) | None => false,
    }
}
