//! The directives that people give a run from another process: what each means at this moment, and what the state keeps
//! of it until it has had its effect.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::decide;
use crate::dependence;
use crate::event::{End, Event, What};
use crate::observation::Response;
use crate::rules::OnEscalation;
use crate::state::State;
use crate::status::{JudgeState, Status};
use crate::task::Task;

/// Characters of one word to the next prompt.
pub const WORD_CHARS_MAX: usize = 4_000;

/// Words that may wait for their prompts at a time.
pub const WORDS_MAX: usize = 20;

/// The name of a directive. Its sender gives it, and no two have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DirectiveId(pub String);

impl fmt::Display for DirectiveId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Something that a person tells a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// Its name, by which it is taken once.
    pub id: DirectiveId,
    /// The person who tells it.
    pub from: String,
    /// The content.
    pub said: Said,
}

/// The content of a directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The answer to a question.
    Answer {
        /// The task in question.
        task: TaskId,
        /// When the question was asked.
        since: Timestamp,
        /// The answer.
        response: Response,
    },
    /// A word to the next prompt.
    Tell {
        /// The task whose prompt is meant; none: that of whatever starts next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The word.
        text: String,
    },
    /// Nothing new is to start.
    Pause,
    /// A task is to be left out.
    Skip {
        /// The task.
        task: TaskId,
    },
}

/// The directive that an event came of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Its name.
    pub id: DirectiveId,
    /// The person who told it.
    pub from: String,
}

/// The answer that a question got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAnswer {
    /// When it was given.
    pub at: Timestamp,
    /// The person who gave it; none: somebody at the run's own terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The answer.
    pub response: Response,
}

/// Why a directive has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There is no such task.
    UnknownTask {
        /// The task.
        task: TaskId,
    },
    /// The task is done or skipped already.
    Settled {
        /// The task.
        task: TaskId,
    },
    /// No such question is open.
    NoQuestion {
        /// The task.
        task: TaskId,
    },
    /// The question is open, and this is no answer to it.
    NotAnAnswer {
        /// The task.
        task: TaskId,
    },
    /// Somebody else was first.
    AnsweredBefore {
        /// The task.
        task: TaskId,
        /// The answer that counts.
        first: FirstAnswer,
    },
    /// The word is longer than a prompt has room for.
    TooLong {
        /// How many characters it may have.
        chars_max: usize,
    },
    /// So many words wait already.
    TooMany {
        /// How many may.
        words_max: usize,
    },
    /// The run has ended.
    Over,
    /// It cannot be read.
    Unreadable {
        /// Why, in words.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask { task } => write!(formatter, "the plan has no task {task}"),
            Self::Settled { task } => write!(formatter, "task {task} is done or skipped already"),
            Self::NoQuestion { task } => write!(formatter, "no question about task {task} is open"),
            Self::NotAnAnswer { task } => {
                write!(formatter, "that is no answer to the question about task {task}; it stays open")
            }
            Self::AnsweredBefore { task, .. } => {
                write!(
                    formatter,
                    "somebody else was first: the question about task {task} is answered already"
                )
            }
            Self::TooLong { chars_max } => write!(formatter, "a word has at most {chars_max} characters"),
            Self::TooMany { words_max } => {
                write!(formatter, "{words_max} words wait for their prompts already")
            }
            Self::Over => write!(formatter, "the run has ended"),
            Self::Unreadable { reason } => write!(formatter, "the message cannot be read: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A word that waits for its prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The task whose prompt is meant; none: that of whatever starts next.
    pub task: Option<TaskId>,
    /// The person who told it.
    pub from: String,
    /// The word.
    pub text: String,
    /// True once an agent was started with it. It is used up when the attempt has an end.
    is_given: bool,
}

/// The directives that a state remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directives {
    taken: BTreeSet<DirectiveId>,
    words: Vec<Word>,
    /// Tasks that are left out as soon as nobody works on them any more, and why.
    leaving: BTreeMap<TaskId, String>,
    /// The person who wants nothing new to start.
    pause: Option<String>,
    /// The answers since the run was opened, with the time of their questions.
    answers: BTreeMap<TaskId, (Timestamp, FirstAnswer)>,
}

/// Gives the event that a directive leads to for a run in this state, or why it has no effect.
pub fn weigh(state: &State, directive: &Directive, at: Timestamp) -> Result<What, Refusal> {
    match &directive.said {
        _ if state.opened.is_none() => Err(Refusal::Over),
        // A word outlives the run that it was told to.
        Said::Tell { task, text } => told(state, task.as_ref(), text),
        Said::Answer { task, since, response } => answered(state, (task, *since), response, at),
        _ if state.end.is_some() => Err(Refusal::Over),
        Said::Pause => Ok(What::PauseRequested),
        Said::Skip { task } => skip(state, task, &directive.from),
    }
}

fn told(state: &State, task: Option<&TaskId>, text: &str) -> Result<What, Refusal> {
    if let Some(task) = task {
        unsettled(state, task)?;
    }
    if text.chars().count() > WORD_CHARS_MAX {
        return Err(Refusal::TooLong { chars_max: WORD_CHARS_MAX });
    }
    if state.words().count() >= WORDS_MAX {
        return Err(Refusal::TooMany { words_max: WORDS_MAX });
    }
    Ok(What::Told { task: task.cloned(), text: text.to_owned() })
}

fn answered(
    state: &State,
    (id, since): (&TaskId, Timestamp),
    response: &Response,
    at: Timestamp,
) -> Result<What, Refusal> {
    let task = state.task(id).ok_or_else(|| Refusal::UnknownTask { task: id.clone() })?;
    let first = state.directives.answers.get(id).filter(|(asked, _)| *asked == since);
    if let Some((_, first)) = first {
        return Err(Refusal::AnsweredBefore { task: id.clone(), first: first.clone() });
    }
    if state.end.is_some() {
        return Err(Refusal::Over);
    }
    if !matches!(&task.status, Status::Asking(asked) if asked.since == since) {
        return Err(Refusal::NoQuestion { task: id.clone() });
    }
    let what = decide::answer(state, id, response.clone(), at);
    what.ok_or_else(|| Refusal::NotAnAnswer { task: id.clone() })
}

fn skip(state: &State, id: &TaskId, from: &str) -> Result<What, Refusal> {
    let task = unsettled(state, id)?;
    if is_at_rest(&task.status) {
        return Ok(dependence::skipped(state, task, &skip_reason(from)));
    }
    Ok(What::SkipRequested { task: id.clone() })
}

fn unsettled<'a>(state: &'a State, id: &TaskId) -> Result<&'a Task, Refusal> {
    let task = state.task(id).ok_or_else(|| Refusal::UnknownTask { task: id.clone() })?;
    if task.status.is_settled() { Err(Refusal::Settled { task: id.clone() }) } else { Ok(task) }
}

fn skip_reason(from: &str) -> String {
    format!("User request - skipped by {from}")
}

/// True if a task can be left out without ending anything.
fn is_at_rest(status: &Status) -> bool {
    match status {
        Status::Ready { .. }
        | Status::Finished { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_) => true,
        Status::Judging(judging) => judging.state == JudgeState::Wanted,
        Status::Drafted
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Done
        | Status::Skipped => false,
    }
}

/// The next task that is to be left out and that nobody works on any more.
pub(crate) fn due_for_leaving(state: &State) -> Option<What> {
    state.directives.leaving.keys().find_map(|id| {
        let task = state.task(id).filter(|task| is_at_rest(&task.status))?;
        left_out(state, task)
    })
}

/// The event of leaving a task out, if that was asked for while somebody worked on it.
pub(crate) fn left_out(state: &State, task: &Task) -> Option<What> {
    let reason = state.directives.leaving.get(task.id())?;
    Some(dependence::skipped(state, task, reason))
}

impl State {
    /// True if a directive has had its effect.
    pub fn has_taken(&self, id: &DirectiveId) -> bool {
        self.directives.taken.contains(id)
    }

    /// The words that wait for a prompt, oldest first.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.directives.words.iter()
    }

    /// The words for the prompt of the attempt that was started at a task.
    pub fn words_for(&self, id: &TaskId) -> impl Iterator<Item = &Word> {
        self.words().filter(move |word| word.is_given && word.task.as_ref() == Some(id))
    }

    /// True if a task is to be left out as soon as nobody works on it any more.
    pub fn is_leaving(&self, id: &TaskId) -> bool {
        self.directives.leaving.contains_key(id)
    }

    /// The person who wants nothing new to start, if there is one.
    pub fn pause(&self) -> Option<&str> {
        self.directives.pause.as_deref()
    }

    /// The latest answer since the run was opened.
    pub fn latest_answer(&self) -> Option<(&TaskId, &FirstAnswer)> {
        let answers = self.directives.answers.iter().map(|(task, (_, answer))| (task, answer));
        answers.max_by_key(|(_, answer)| answer.at)
    }

    /// The questions that an event answers, before it is applied.
    pub(crate) fn answers_in(&self, event: &Event) -> Vec<QuestionAnswered> {
        // What the rules answer by themselves is not a person's answer.
        let by_rule = |of: OnEscalation| {
            event.by.is_none() && self.rules().is_some_and(|rules| rules.on_escalation == of)
        };
        let about = |id: &TaskId, response: Response| {
            self.task(id).and_then(|task| question_answered(task, response)).into_iter().collect()
        };
        if let What::Answered { task, response } = &event.what {
            return about(task, response.clone());
        }
        if let What::AttemptFailed { task, failure, .. } = &event.what {
            return about(task, Response::Reject(failure.error.clone()));
        }
        if let What::TaskSkipped { task, .. } = &event.what
            && !by_rule(OnEscalation::Skip)
        {
            return about(task, Response::Skip);
        }
        if event.what == What::Ended(End::Aborted) && !by_rule(OnEscalation::Abort) {
            return self.attention().filter_map(|task| question_answered(task, Response::Abort)).collect();
        }
        Vec::new()
    }

    /// Keeps who told what of an event that was applied, and the questions that it answered.
    pub(crate) fn note_directive(&mut self, event: &Event, answered: Vec<QuestionAnswered>) {
        if let Some(taken) = &event.by {
            self.directives.taken.insert(taken.id.clone());
        }
        let from = event.by.as_ref().map(|taken| taken.from.clone());
        for QuestionAnswered { task, since, response } in answered {
            let first = FirstAnswer { at: event.at, from: from.clone(), response };
            self.directives.answers.insert(task, (since, first));
        }
    }

    /// After a task was left out because somebody asked for it, nobody needs a repair of it.
    pub(crate) fn leave_fixes_of(&mut self, id: &TaskId) {
        let fixes = self.task(id).map(|task| task.fixes.clone()).unwrap_or_default();
        for fix in fixes {
            if self.task(&fix).is_some_and(|task| !task.status.is_settled()) {
                let reason = format!("the task that it repairs was skipped: {id}");
                self.directives.leaving.insert(fix.clone(), reason);
            }
            self.leave_fixes_of(&fix);
        }
    }

    /// Once a task is settled or gone, nothing more comes of what was told about it.
    pub(crate) fn settle_directives(&mut self, id: &TaskId) {
        self.directives.leaving.remove(id);
        let is_late = |word: &mut Word| word.task.as_ref() == Some(id);
        let late: Vec<Word> = self.directives.words.extract_if(.., is_late).collect();
        for word in late {
            self.warnings.add(format!("what was told about task {id} came too late for it: {}", word.text));
        }
    }
}

impl Directives {
    /// A run that is opened has nobody who asks for a pause, and no question that was answered in it.
    pub(crate) fn open(&mut self) {
        self.pause = None;
        self.answers.clear();
    }

    pub(crate) fn tell(&mut self, task: Option<&TaskId>, text: &str, from: Option<&str>) {
        let (task, from) = (task.cloned(), from.unwrap_or_default().to_owned());
        self.words.push(Word { task, from, text: text.to_owned(), is_given: false });
    }

    pub(crate) fn ask_for_pause(&mut self, from: Option<&str>) {
        self.pause = Some(from.unwrap_or_default().to_owned());
    }

    pub(crate) fn ask_to_leave(&mut self, task: &TaskId, from: Option<&str>) {
        self.leaving.insert(task.clone(), skip_reason(from.unwrap_or_default()));
    }

    /// The words for an attempt that starts: those about its task, and those about whatever starts next.
    pub(crate) fn give_words(&mut self, id: &TaskId) {
        let is_meant = |word: &&mut Word| word.task.as_ref().is_none_or(|task| task == id);
        for word in self.words.iter_mut().filter(is_meant) {
            word.task = Some(id.clone());
            word.is_given = true;
        }
    }

    /// An attempt that has an end has used the words that it was given.
    pub(crate) fn use_words_up(&mut self, id: &TaskId) {
        self.words.retain(|word| !word.is_given || word.task.as_ref() != Some(id));
    }
}

/// A question that an event answers.
pub(crate) struct QuestionAnswered {
    task: TaskId,
    since: Timestamp,
    response: Response,
}

fn question_answered(task: &Task, response: Response) -> Option<QuestionAnswered> {
    let Status::Asking(asked) = &task.status else { return None };
    Some(QuestionAnswered { task: task.id().clone(), since: asked.since, response })
}
