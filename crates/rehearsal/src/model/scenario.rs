//! Scenarios of a scripted model: turns that are served in order, each to the requests that it fits. One scenario
//! serves every agent, because tool calls are named by what they do and not by what an agent calls them.

use std::time::Duration;

use serde_json::Value;

/// The script of one lane.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    turns: Vec<Turn>,
    main: MainRequests,
}

/// Which requests are served the turns. All others are side requests, such as for the title of a session, and
/// get an answer of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MainRequests {
    /// Those that declare tools.
    #[default]
    WithTools,
    /// Every one: some agents know no tools.
    All,
}

/// An act that is done once, or several times, for a request.
#[derive(Clone, Debug)]
pub struct Turn {
    act: Act,
    when: Vec<String>,
    unless: Vec<String>,
    times: Times,
    delay: Duration,
}

/// How often a turn is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// So many times.
    Limited(usize),
    /// To every request that reaches it.
    Always,
}

/// A way to deal with a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// The model answers.
    Answer(Box<Answer>),
    /// The service refuses.
    Fail(Fault),
    /// Nothing is ever sent.
    Hang,
}

/// An answer of the model, with its tool calls.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its thoughts, if it lets them be seen.
    pub thinking: Option<String>,
    /// Its words.
    pub text: String,
    /// The tools that it calls.
    pub calls: Vec<Call>,
    /// Why it stops.
    pub stop: Stop,
    /// Its cost.
    pub usage: Usage,
    /// How a streamed answer ends.
    pub ending: Ending,
}

/// A tool call by what it does.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Write a file; a relative path is one in the folder that the agent works in.
    Write {
        /// Where.
        path: String,
        /// The text.
        content: String,
    },
    /// Run a shell command.
    Shell(String),
    /// Read a file.
    Read(String),
    /// A tool by its own name.
    Named {
        /// The name.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// Why the model stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// It is done, or waits for its tools.
    #[default]
    Natural,
    /// It may not say more.
    MaxTokens,
    /// It does not want to.
    Refusal,
}

/// How a streamed answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    #[default]
    Whole,
    /// The connection is cut after so many events.
    CutAfter(usize),
    /// Nothing more comes after so many events.
    HangAfter(usize),
    /// An error takes the place of the content.
    Fault(Fault),
}

/// An error of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The HTTP status.
    pub status: u16,
    /// The protocol's name for it.
    pub kind: String,
    /// Its words.
    pub message: String,
    /// When to come back.
    pub retry_after: Option<Duration>,
}

/// Tokens of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Read, without what came from a cache.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cached: 0 }
    }
}

impl Scenario {
    /// Turns, in the order in which they are looked at: the first that is not used up and fits is served.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), main: MainRequests::default() }
    }

    /// Takes other requests for main ones.
    pub fn main(self, main: MainRequests) -> Self {
        Self { main, ..self }
    }

    pub(super) fn turns(&self) -> &[Turn] {
        &self.turns
    }

    pub(super) fn main_requests(&self) -> MainRequests {
        self.main
    }
}

impl Turn {
    /// Does something once, for any request.
    pub fn new(act: Act) -> Self {
        Self { act, when: Vec::new(), unless: Vec::new(), times: Times::Limited(1), delay: Duration::ZERO }
    }

    /// Says something.
    pub fn say(text: impl Into<String>) -> Self {
        Self::answer(Answer { text: text.into(), ..Answer::default() })
    }

    /// Calls a tool.
    pub fn call(call: Call) -> Self {
        Self::answer(Answer { calls: vec![call], ..Answer::default() })
    }

    /// Writes a file.
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::call(Call::Write { path: path.into(), content: content.into() })
    }

    /// Runs a shell command.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::call(Call::Shell(command.into()))
    }

    /// Answers.
    pub fn answer(answer: Answer) -> Self {
        Self::new(Act::Answer(Box::new(answer)))
    }

    /// Refuses.
    pub fn fail(fault: Fault) -> Self {
        Self::new(Act::Fail(fault))
    }

    /// Never answers.
    pub fn hang() -> Self {
        Self::new(Act::Hang)
    }

    /// Only for requests that contain this text.
    pub fn when(mut self, text: &str) -> Self {
        self.when.push(as_in_json(text));
        self
    }

    /// Only for requests that do not contain this text.
    pub fn unless(mut self, text: &str) -> Self {
        self.unless.push(as_in_json(text));
        self
    }

    /// So many times.
    pub fn times(self, times: usize) -> Self {
        Self { times: Times::Limited(times), ..self }
    }

    /// As often as it is asked for.
    pub fn always(self) -> Self {
        Self { times: Times::Always, ..self }
    }

    /// Waits before the first byte.
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(super) fn act(&self) -> &Act {
        &self.act
    }

    pub(super) fn waits(&self) -> Duration {
        self.delay
    }

    /// True if it may be served once more, and to a request with this body.
    pub(super) fn fits(&self, served: usize, body: &str) -> bool {
        let has_more = match self.times {
            Times::Limited(times) => served < times,
            Times::Always => true,
        };
        let is_wanted = self.when.iter().all(|text| body.contains(text));
        has_more && is_wanted && !self.unless.iter().any(|text| body.contains(text))
    }
}

impl Fault {
    /// An error with a status, a name in the protocol and a message.
    pub fn new(status: u16, kind: &str, message: &str) -> Self {
        Self { status, kind: kind.to_owned(), message: message.to_owned(), retry_after: None }
    }

    /// Too many requests.
    pub fn rate_limit() -> Self {
        Self::new(429, "rate_limit_error", "Too many requests: rate limit reached")
    }

    /// Too much to do.
    pub fn overloaded() -> Self {
        Self::new(529, "overloaded_error", "Overloaded")
    }

    /// A wrong key.
    pub fn unauthorized() -> Self {
        Self::new(401, "authentication_error", "invalid x-api-key")
    }

    /// Says when to come back.
    pub fn retry_after(self, after: Duration) -> Self {
        Self { retry_after: Some(after), ..self }
    }
}

/// A text as it stands inside a string of JSON, which is how requests carry it.
fn as_in_json(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_fits_by_count_and_by_text() {
        let turn = Turn::say("x").when("say \"a\"\nthen b").times(2);
        let body = serde_json::json!({ "prompt": "please say \"a\"\nthen b" }).to_string();
        assert!(turn.fits(0, &body) && turn.fits(1, &body));
        assert!(!turn.fits(2, &body), "used up");
        assert!(!turn.fits(0, "{}"), "another request");
        assert!(Turn::hang().always().fits(1_000, ""));
        assert!(!turn.unless("please").fits(0, &body), "it is there");
    }
}
