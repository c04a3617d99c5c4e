//! Listens to an agent while it works: feeds its reader, answers where it has to be answered, and tells the loop what
//! it is doing, though never so often that the loop could not keep up.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::{AgentEnd, Dialect, Role, Usage};

use crate::agent::acp::{Dialogue, SessionRequest};
use crate::agent::ending::{Conclusion, Outcome, Words, agent_end};
use crate::agent::kind::AgentKind;
use crate::agent::launch::{Duty, Order};
use crate::agent::line::{self, Line};
use crate::agent::reader::{Activity, Reader};
use crate::mask::mask;
use crate::process::{Ended, Exit, Heard, Kept, Listener, Reply, printable};
use crate::settings::Agent;

/// The times the loop is told something in each stretch of time.
const TOLD_MAX: u32 = 10;
const STRETCH: Duration = Duration::from_millis(250);

/// The end of an agent with this standard output, standard error and exit code, as a run takes it. Nothing is started.
pub fn replay(agent: &Agent, [stdout, stderr]: [&[u8]; 2], code: i32) -> AgentEnd {
    let (prompt, dir) = ("the task", Path::new("."));
    let order =
        Order { duty: Duty::Work, prompt, cwd: dir, dir, resume: None, mcp: None, budget_micros: None };
    let mut conversation = Conversation::new(agent, &order, Box::new(|_| ()));
    stdout.split(|byte| *byte == b'\n').for_each(|line| drop(conversation.hear(Heard::Line(line))));
    let kept =
        |bytes: &[u8]| Kept { text: printable(bytes), bytes_total: bytes.len() as u64, ..Kept::default() };
    let (exit, elapsed) = (Exit::Code(code), Duration::ZERO);
    let ended = Ended { exit, stdout: kept(stdout), stderr: kept(stderr), elapsed, limit: elapsed };
    let outcome = conversation.conclude(&ended);
    let words = Words { prompt, dialect: Dialect::Spec, role: Role::Executor, duty: Duty::Work };
    agent_end(&ended, &outcome, words)
}

/// News for the loop while an agent works.
#[derive(Debug)]
pub(crate) struct Told {
    /// The latest activity of the agent.
    pub activity: Option<Activity>,
    /// The usage so far.
    pub usage: Option<Usage>,
}

/// Listens to an agent.
pub(crate) struct Conversation {
    reader: Reader,
    /// The folder that the agent works in, with a slash at its end.
    place: String,
    tell: Box<dyn FnMut(Told) + Send>,
    since: Instant,
    told: u32,
    activities: Vec<Activity>,
    /// The usage, if the loop was not told yet.
    usage: Option<Usage>,
}

impl Conversation {
    /// Listens to the agent that is started by this order.
    pub(crate) fn new(agent: &Agent, order: &Order<'_>, tell: Box<dyn FnMut(Told) + Send>) -> Self {
        let reader = if agent.kind == AgentKind::Acp {
            Reader::Acp(Box::new(Dialogue::new(session_request(agent, order))))
        } else {
            Reader::new(&agent.kind, order.resume)
        };
        let place = format!("{}/", order.cwd.display());
        Self { reader, place, tell, since: Instant::now(), told: 0, activities: Vec::new(), usage: None }
    }

    /// The outcome by the agent's own account.
    pub(crate) fn conclude(self, ended: &Ended) -> Outcome {
        let code = if let Exit::Code(code) = ended.exit { Some(code) } else { None };
        let speaks_json = self.reader.speaks_json();
        let outcome = self.reader.end(code, &ended.stderr.text);
        let is_cut = outcome.conclusion == Conclusion::Cut && speaks_json;
        let is_odd = |line: &&str| !line.trim().is_empty() && line::value_of(line).is_none();
        match ended.stdout.text.lines().find(is_odd).filter(|_| is_cut) {
            Some(line) => Outcome { conclusion: Conclusion::Unread(line.to_owned()), ..outcome },
            None => outcome,
        }
    }

    /// The message that has to be sent before anything is heard.
    pub(crate) fn opening(&mut self) -> Option<String> {
        if let Reader::Acp(dialogue) = &mut self.reader { Some(dialogue.take_outbox()) } else { None }
    }

    fn pass_on(&mut self) {
        let mut latest = None;
        for activity in self.activities.drain(..) {
            match activity {
                Activity::Used(usage) => self.usage = Some(usage),
                Activity::ToolEnded => {}
                Activity::Said(text) => latest = Some(Activity::Said(mask(&text))),
                Activity::Retrying { reason } => latest = Some(Activity::Retrying { reason: mask(&reason) }),
                Activity::ToolStarted { name, subject } => {
                    // Files are known by their paths in the project.
                    let subject = mask(&subject.replace(&self.place, ""));
                    latest = Some(Activity::ToolStarted { name, subject });
                }
            }
        }
        // What takes a run to its cap ends it, so that an agent which is through would be stopped for nothing.
        let has_figures = self.usage.is_some() && !self.reader.is_through();
        if latest.is_none() && !has_figures {
            return;
        }
        if self.since.elapsed() >= STRETCH {
            self.since = Instant::now();
            self.told = 0;
        }
        if self.told < TOLD_MAX {
            self.told += 1;
            let usage = if has_figures { self.usage.take() } else { None };
            (self.tell)(Told { activity: latest, usage });
        }
    }

    fn reply(&mut self) -> Reply {
        let Reader::Acp(dialogue) = &mut self.reader else { return Reply::Nothing };
        let send = dialogue.take_outbox();
        if dialogue.is_over() { Reply::Dismiss } else { Reply::Say(send) }
    }
}

impl Listener for Conversation {
    fn wants_lines(&self) -> bool {
        !matches!(self.reader, Reader::Command)
    }

    fn is_dialogue(&self) -> bool {
        matches!(self.reader, Reader::Acp(_))
    }

    fn hear(&mut self, heard: Heard<'_>) -> Reply {
        match heard {
            Heard::Line(bytes) => {
                let line = String::from_utf8_lossy(bytes);
                self.reader.line(Line::Whole(&line), &mut self.activities);
            }
            Heard::LongLine(bytes) => {
                let line = String::from_utf8_lossy(bytes);
                self.reader.line(Line::Start(&line), &mut self.activities);
            }
            Heard::Stopping => {
                if let Reader::Acp(dialogue) = &mut self.reader {
                    dialogue.cancel();
                }
            }
        }
        self.pass_on();
        self.reply()
    }

    fn take_progress(&mut self) -> bool {
        match &mut self.reader {
            Reader::Acp(dialogue) => dialogue.take_progress(),
            Reader::Claude(_)
            | Reader::Codex(_)
            | Reader::Gemini(_)
            | Reader::Opencode(_)
            | Reader::Aider(_)
            | Reader::Pi(_)
            | Reader::Stream(_)
            | Reader::Command => true,
        }
    }
}

fn session_request(agent: &Agent, order: &Order<'_>) -> SessionRequest {
    SessionRequest {
        prompt: agent.with_system_prompt(order.prompt),
        cwd: order.cwd.to_owned(),
        resume: order.resume.cloned(),
        permission: agent.permission,
        duty: order.duty,
        model: agent.model.clone(),
        mcp: order.mcp.cloned(),
    }
}
