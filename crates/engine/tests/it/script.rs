//! What the agents, checks, judges and people of a simulated world do, as data.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Facts, ProofVerdict, Response, Rules, Said, StatusKind, TaskDecl, TaskKind, Verification};
use plan::TaskId;

/// Everything that is not the engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// What happens at a certain attempt at a certain task.
    pub(crate) turns: BTreeMap<(TaskId, u32), Turn>,
    /// From here comes, by a hash of task and attempt, whatever `turns` does not say.
    pub(crate) deck: Vec<Turn>,
    /// The answer to each question, in the order in which they are asked.
    pub(crate) answers: Vec<Response>,
    /// What a person changed and did not commit, as a command that is run without an agent finds it.
    pub(crate) by_hand: Vec<String>,
    /// How often the program is started again after an end that is neither complete nor a question.
    pub(crate) restarts: usize,
    /// How often the regression command is red before it is green.
    pub(crate) regressions: usize,
    /// What the final proof says of each task; without it, all is green.
    pub(crate) proof: Option<ProofVerdict>,
    /// What a person does to the plan, after so many attempts have ended.
    pub(crate) edits: Vec<(usize, Edit)>,
    /// Whether answers to a run that waits are noted down before it is started again, not after.
    pub(crate) notes: bool,
    /// Whether the person who is asked goes away where there is no answer; else they interrupt the run.
    pub(crate) leaves: bool,
    /// What the forge shows, where it is not simply all well.
    pub(crate) forge: Option<crate::pull_request::Hub>,
    /// The rules with which the program is started again after it ended.
    pub(crate) later: Option<Rules>,
    /// What people tell the run from elsewhere, each when a task comes to have a certain status.
    pub(crate) directives: Vec<(TaskId, StatusKind, Said)>,
    /// Whether every observation arrives twice.
    pub(crate) echo: bool,
    /// Whether nothing takes time but agents and commands that are run directly.
    pub(crate) is_even: bool,
}

/// What happens at one attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// What the `[VERIFY]` command shows before the attempt.
    pub(crate) proof: Check,
    /// How often the agent, or the judge after it, cannot be had.
    pub(crate) absences: u32,
    /// What an absent agent asks for.
    pub(crate) retry_after: Option<Duration>,
    /// What the agent does.
    pub(crate) agent: Agent,
    /// What the program's own checks show.
    pub(crate) check: Check,
    /// What the QA agent says of the result.
    pub(crate) qa: Says,
    /// What the reviewer says of the result.
    pub(crate) reviewer: Says,
    /// What is known of the result without them.
    pub(crate) facts: Facts,
    /// For what no work tree can be had.
    pub(crate) treeless: Treeless,
    /// How bringing the work back goes.
    pub(crate) landing: Back,
    /// What the checks show on all that came together.
    pub(crate) join: Check,
    /// How recording goes.
    pub(crate) record: Recording,
    /// What the agent notes down.
    pub(crate) learning: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Agent {
    #[default]
    Complete,
    /// It ticks its box itself while it works, and claims success.
    TicksOwnBox,
    /// It ticks its box itself while it works, and fails.
    TicksAndFails(String),
    /// It writes a new task into the plan while it works, and claims success.
    AddsTask,
    Fails(String),
    Silent,
    NotVerified,
    BadExit(i32),
    TimesOut,
    Contradicts,
    Tampers(String),
    Denied,
    /// Its result has this status, and names this task as what is in the way.
    Stuck(&'static str, Option<By>),
}

/// The task that an agent names as its blocker.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Itself,
    Task(String),
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Check {
    #[default]
    Green,
    Red(String),
    /// Red with the very error for which this fix task was written.
    SameRed,
    TimesOut,
    /// Something that it needs is not there.
    CannotStart(&'static str),
    ProvesNothing,
    OutOfScope,
    Bookkeeping,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Says {
    #[default]
    Yes,
    No(String),
    Contradicts,
    Tampers,
    Denied,
    /// Cut off so often before it says yes.
    TimesOut(u32),
    /// Cannot be had so often before it says yes.
    Away(u32),
    /// Says nothing so often before it says yes.
    Silent(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Back {
    #[default]
    Lands,
    Conflicts(String),
    /// Something is in the way, until the program was started again.
    Blocked,
}

/// When it turns out that there is no work tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Treeless {
    #[default]
    Never,
    AtStart,
    AtChecks,
    AtLanding,
    AtJoin,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Recording {
    #[default]
    Kept,
    Refused(String),
    /// The disk is full, until the program was started again.
    Blocked,
    /// Somebody commits while it comes back, the first time.
    Moved,
    /// Somebody commits whenever it comes back, until the program was started again.
    MovedAgainAndAgain,
    /// Somebody takes it out of the project while it is checked there, the first time.
    TakenOut,
    /// Whenever it is checked there, until the program was started again.
    TakenOutAgainAndAgain,
    /// Somebody has uncommitted changes in a file that it changes, until a person was asked about that.
    InTheWay,
    /// For good.
    AlwaysInTheWay,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Tick(usize),
    Untick(usize),
    Add(usize),
    Remove(usize),
    Swap(usize, usize),
    Reword(usize),
}

impl Script {
    pub(crate) fn at(mut self, task: &str, attempt: u32, turn: Turn) -> Self {
        self.turns.insert((TaskId::from(task), attempt), turn);
        self
    }

    /// From this attempt on, all goes well.
    pub(crate) fn until(mut self, task: &str, attempt: u32) -> Self {
        self.turns.retain(|(of, number), _| of.name() != task || *number < attempt);
        self
    }

    pub(crate) fn by_hand(mut self, file: &str) -> Self {
        self.by_hand.push(file.to_owned());
        self
    }

    pub(crate) fn answers(mut self, answers: &[Response]) -> Self {
        self.answers = answers.to_vec();
        self
    }

    pub(crate) fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// With these rules the program is started again after it ended.
    pub(crate) fn later(mut self, rules: Rules) -> Self {
        self.later = Some(rules);
        self
    }

    pub(crate) fn notes(mut self) -> Self {
        self.notes = true;
        self
    }

    pub(crate) fn leaves(mut self) -> Self {
        self.leaves = true;
        self
    }

    pub(crate) fn edit(mut self, after: usize, edit: Edit) -> Self {
        self.edits.push((after, edit));
        self
    }

    /// Whether failures carry a mark of their own: only where the deck deals, so that transcripts read well.
    pub(crate) fn marks(&self) -> bool {
        !self.deck.is_empty()
    }

    pub(crate) fn turn(&self, task: &TaskId, attempt: u32) -> Turn {
        if let Some(turn) = self.turns.get(&(task.clone(), attempt)) {
            return turn.clone();
        }
        if self.deck.is_empty() {
            return Turn::default();
        }
        let text = format!("{task} {attempt}");
        let hash = text.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        self.deck[hash % self.deck.len()].clone()
    }
}

/// The tasks of a plan: `1.2`, `1.3 verify` for a `[VERIFY]` task, `1.4 judge` for one without a command,
/// `1.5 done` for a ticked one, `1.6 checkpoint` for a question by design, `1.7 in:a,b` for one that is about
/// these files, `1.8 on:1.1` for one that declares what it depends on, `1.9 p` for one that may run beside its
/// neighbours, `2.1 stage:2` for one in a later part of the plan.
pub(crate) fn plan(tasks: &[&str]) -> Vec<TaskDecl> {
    tasks.iter().map(|text| decl(text)).collect()
}

pub(crate) fn decl(text: &str) -> TaskDecl {
    let mut words = text.split(' ');
    let id = TaskId::from(words.next().unwrap_or_default());
    let marks: Vec<&str> = words.collect();
    TaskDecl {
        title: format!("do {id}"),
        kind: match (marks.contains(&"verify"), marks.contains(&"checkpoint")) {
            (true, _) => TaskKind::Verify,
            (false, true) => TaskKind::Checkpoint,
            (false, false) => TaskKind::Work,
        },
        verification: if marks.contains(&"judge") { Verification::Judgement } else { Verification::Command },
        command: None,
        fix_of: None,
        ticked: marks.contains(&"done"),
        digest: 1,
        files: listed(&marks, "in:").map(str::to_owned).collect(),
        depends_on: listed(&marks, "on:").map(TaskId::from).collect(),
        stage: listed(&marks, "stage:").find_map(|stage| stage.parse().ok()).unwrap_or(0),
        parallel: marks.contains(&"p"),
        id,
    }
}

fn listed<'a>(marks: &[&'a str], name: &str) -> impl Iterator<Item = &'a str> {
    let list = marks.iter().find_map(|mark| mark.strip_prefix(name));
    list.into_iter().flat_map(|list| list.split(','))
}

pub(crate) fn agent(agent: Agent) -> Turn {
    Turn { agent, ..Turn::default() }
}

/// An agent that is blocked, by what it does not say or by a task.
pub(crate) fn blocked(by: Option<&str>) -> Turn {
    agent(Agent::Stuck("blocked", by.map(|task| By::Task(task.to_owned()))))
}

pub(crate) fn fails(error: &str) -> Turn {
    agent(Agent::Fails(error.to_owned()))
}

pub(crate) fn red(error: &str) -> Turn {
    Turn { check: Check::Red(error.to_owned()), ..Turn::default() }
}
