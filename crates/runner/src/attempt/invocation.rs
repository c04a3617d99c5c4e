//! The start of an agent or a command: its prompt, folder, environment and limits.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{ActionKey, Attempt, Dispatch, Role, Session, retry_context};
use plan::{Dialect, Script, TaskId};

use crate::agent::{Conversation, Duty, Input, McpServer, Order, Told};
use crate::atomic;
use crate::attempt::dispatch::AtWork;
use crate::attempt::documents;
use crate::attempt::files::AttemptFiles;
use crate::attempt::prompt::{self, Around, AttemptPart, Subject};
use crate::error::RunError;
use crate::git::Git;
use crate::inbox::Message;
use crate::mask::mask;
use crate::plan_file::Excerpt;
use crate::planning;
use crate::process::{self, Ended, Handle, Invocation, ProcessLimits, Program, Sandbox};
use crate::record::learnings_in;
use crate::run::effects::Effects;
use crate::settings::{Agent, Bookkeeping, Sandboxing};
use crate::worktrees::{environment, relocated};

/// The variable by which leftovers of a run that died are recognised.
pub(crate) const MARKER: &str = "TILLGREEN_RUN";

/// The variable by which leftovers of one agent are recognised.
pub(crate) const DISPATCH_MARKER: &str = "TILLGREEN_DISPATCH";

/// The bytes of output that are kept from its beginning and from its end.
const HEAD_BYTES_MAX: usize = 256 * 1024;
const TAIL_BYTES_MAX: usize = 128 * 1024;

/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

/// The file that an agent's reports go to.
pub(crate) const REPORT_FILE: &str = "report.jsonl";

/// The variable that tells agents and commands which slot they are in.
const SLOT: &str = "TILLGREEN_SLOT";

/// The user of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// An agent.
    Agent,
    /// A verify command.
    Verification,
}

/// The start of an agent.
pub(crate) struct Delegation<'a> {
    pub task: &'a TaskId,
    pub attempt: Attempt,
    pub dispatch: Dispatch,
    pub role: Role,
    pub duty: Duty,
    pub dir: PathBuf,
    pub prompt: String,
    /// The session that it takes up again.
    pub session: Option<Session>,
    /// The time it may take.
    pub timeout: Duration,
}

impl Effects<'_, '_> {
    /// The subject of a prompt about a task.
    pub(crate) fn subject<'a>(&'a self, id: &'a TaskId, excerpt: &'a Excerpt) -> Subject<'a> {
        let path = self.world.plans.path(self.state, id).unwrap_or(&self.world.file.path);
        // A planner reads what lies beside the plan that it writes, or writes commands for.
        let planned = self.world.settings.planning.as_ref();
        let planned = planned.map(|brief| self.world.project.root().join(&brief.plan));
        let beside = planned.as_deref().unwrap_or(path);
        let shown = self.world.project.relative(path).to_string_lossy().into_owned();
        let dir = format!("./{}/", self.world.project.relative(&self.world.file.dir).display());
        let introduction = self.world.plans.introduction(self.state, id).unwrap_or_default();
        let mut documents = documents::beside(beside, &self.world.file.plans);
        let format = self.world.file.reading.format;
        documents.extend(documents::of_project(self.world.project.root(), format));
        let documents =
            documents.iter().map(|path| self.world.project.relative(path).display().to_string()).collect();
        let (dialect, plan_name) = (self.world.file.dialect, self.world.file.name.as_str());
        let around = if format.is_foreign() { self.around(id, excerpt, path) } else { Around::default() };
        Subject {
            id: id.name(),
            excerpt,
            dialect,
            format,
            plan_name,
            shown,
            dir,
            introduction,
            documents,
            around,
        }
    }

    /// The words of the plan and of the documents beside it that a task of another tool's plan is a part of or points at.
    fn around(&self, id: &TaskId, excerpt: &Excerpt, path: &Path) -> Around {
        let words = self.world.plans.find(id).map(|(plan, task)| {
            let groups = plan.groups_of(task).into_iter().map(|group| plan.words(group));
            let words =
                std::iter::once(plan.phase_words(task)).chain(groups).filter(|words| !words.is_empty());
            words.collect::<Vec<_>>().join("\n\n")
        });
        let quoted = documents::pointed_at(path, excerpt);
        Around { words: words.unwrap_or_default(), quoted }
    }

    fn attempt_prompt(&self, id: &TaskId, attempt: Attempt, role: Role) -> Option<String> {
        let excerpt = self.world.plans.excerpt(self.state, id)?;
        let task = self.state.task(id)?;
        let progress = atomic::read(&self.world.file.progress()).unwrap_or_default();
        let progress = format!("{}{}", String::from_utf8_lossy(&progress), self.replies());
        let progress_file = self.progress_file(id);
        let progress_file = self.world.project.relative(&progress_file).to_string_lossy().into_owned();
        let part = AttemptPart {
            attempt,
            role,
            retry_context: retry_context(self.state, task, attempt),
            progress: &progress,
            progress_file: &progress_file,
            bookkeeping: self.world.settings.bookkeeping,
            isolated: self.is_isolated(id),
            words: self.words_told(id),
        };
        let subject = self.subject(id, &excerpt);
        Some(match &self.world.settings.planning {
            Some(brief) => planning::prompt(brief, &subject, &part),
            None => prompt::attempt(&subject, &part),
        })
    }

    /// The words of people for the prompt of the attempt that is started.
    fn words_told(&self, id: &TaskId) -> Vec<String> {
        self.state.words_for(id).map(|word| word.text.clone()).collect()
    }

    /// The answers of a person at checkpoints: later tasks build on them.
    fn replies(&self) -> String {
        if self.world.file.dialect == Dialect::Spec {
            return String::new();
        }
        let answered = self.state.tasks().iter().filter_map(|task| Some((task, task.reply.as_ref()?)));
        let lines: String = answered
            .map(|(task, reply)| {
                format!("- {} ({}): {}\n", task.id(), plan::one_line(&task.decl.title), plan::one_line(reply))
            })
            .collect();
        if lines.is_empty() { lines } else { format!("\n## Answers at checkpoints\n{lines}") }
    }

    /// The file for an attempt's progress and learnings.
    pub(crate) fn progress_file(&self, id: &TaskId) -> PathBuf {
        match self.world.settings.bookkeeping {
            Bookkeeping::Coordinator => self.world.file.task_progress(&file_name(id)),
            Bookkeeping::Agent => self.world.file.progress(),
        }
    }

    pub(crate) fn read_learnings(&self, id: &TaskId) -> Vec<String> {
        if self.world.settings.bookkeeping == Bookkeeping::Agent {
            return Vec::new();
        }
        let text = atomic::read(&self.progress_file(id)).unwrap_or_default();
        let learnings = learnings_in(&String::from_utf8_lossy(&text));
        learnings.iter().map(|learning| mask(learning)).collect()
    }

    pub(crate) fn attempt_dir(
        &self,
        id: &TaskId,
        attempt: Attempt,
        dispatch: Dispatch,
    ) -> Result<PathBuf, RunError> {
        let dir = self.attempt_place(id, attempt, dispatch);
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        Ok(dir)
    }

    /// The folder of an attempt, which may be gone.
    pub(crate) fn attempt_place(&self, id: &TaskId, attempt: Attempt, dispatch: Dispatch) -> PathBuf {
        AttemptFiles::of_attempt(self.world.file, id, attempt, dispatch).dir().to_owned()
    }

    /// The text that the task had when the attempt was started. After a crash it is found in the attempt's folder, where
    /// an agent can lay hands on it: it counts if it is the one that the record knows, else the plan's own text does.
    pub(crate) fn task_text(&self, id: &TaskId, dir: &Path) -> String {
        let known = self.world.text_at_start.get(id).cloned();
        let digest = self.state.task(id).map(|task| task.decl.digest);
        let is_known =
            |text: &String| Excerpt::of(self.world.file, text).map(|excerpt| excerpt.digest()) == digest;
        let kept = known.or_else(|| fs::read_to_string(dir.join("task.md")).ok().filter(is_known));
        kept.or_else(|| self.world.plans.text(self.state, id)).unwrap_or_default()
    }

    /// The running task keeps its text from dispatch, whatever happens to the plan meanwhile.
    pub(crate) fn keep_task_text(&mut self, id: &TaskId, dir: &Path) -> Result<(), RunError> {
        let text = self.world.plans.text(self.state, id).unwrap_or_default();
        write(&dir.join("task.md"), &text)?;
        self.world.text_at_start.insert(id.clone(), text);
        Ok(())
    }

    /// The session of the attempt before, if it is to be taken up again and the same agent works.
    fn session_to_resume(&self, id: &TaskId, attempt: Attempt, dispatch: Dispatch) -> Option<Session> {
        if !self.world.settings.resume_sessions.is_on() || attempt.0 < 2 {
            return None;
        }
        let (name, session) = self.state.task(id)?.session.clone()?;
        let agent = self.world.settings.agent_named(self.state.agent_of(dispatch));
        (agent.name == name && agent.kind.support().session).then_some(session)
    }

    /// The prompt for an agent that remembers the task: only what went wrong.
    fn resuming_prompt(&self, id: &TaskId, attempt: Attempt) -> Option<String> {
        let excerpt = self.world.plans.excerpt(self.state, id)?;
        let context = retry_context(self.state, self.state.task(id)?, attempt)?;
        Some(prompt::resuming(&self.subject(id, &excerpt), &context, &self.words_told(id)))
    }

    /// The prompt for the agent of an attempt, and the session that it takes up again, if it does.
    pub(crate) fn words_for(
        &self,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
        role: Role,
    ) -> Option<(String, Option<Session>)> {
        let session = self.session_to_resume(id, attempt, dispatch);
        let resumed = session.and_then(|session| Some((self.resuming_prompt(id, attempt)?, Some(session))));
        resumed.or_else(|| Some((self.attempt_prompt(id, attempt, role)?, None)))
    }

    /// Starts an agent.
    pub(crate) fn delegate(
        &self,
        key: ActionKey,
        delegation: Delegation<'_>,
    ) -> Result<(Handle, AtWork), RunError> {
        let Delegation { task, dispatch, dir, prompt, .. } = &delegation;
        write(&dir.join("prompt.md"), &mask(prompt))?;
        let agent = self.world.settings.agent_named(self.state.agent_of(*dispatch));
        let server = self.report_server(agent, dir);
        let workplace = self.workplace(task);
        let order = Order {
            duty: delegation.duty,
            prompt,
            cwd: &workplace,
            dir,
            resume: delegation.session.as_ref(),
            mcp: server.as_ref(),
            budget_micros: self.state.cost_left(),
        };
        let launch = agent.kind.launch(agent, &order);
        for (path, text) in &launch.files {
            write(path, text)?;
        }
        let sender = self.inbox_sender();
        let told = key.clone();
        let tell = Box::new(move |tidings: Told| {
            // The loop may be over; then nobody wants to know.
            let _ = sender.send(Message::Told(told.clone(), tidings));
        });
        let mut conversation = Conversation::new(agent, &order, tell);
        let mut env = self.agent_env(task, &delegation);
        let env_remove = self.surroundings(&workplace, self.slot_of(task), Use::Agent, &mut env);
        env.extend(launch.env);
        let invocation = Invocation {
            command: self.sandboxed(agent, launch.program, (&workplace, dir)),
            cwd: order.cwd.to_owned(),
            env,
            env_remove,
            stdin: match launch.input {
                Input::Nothing => None,
                Input::Text(text) => Some(text),
                Input::Dialogue => conversation.opening(),
            },
            stdout_log: dir.join("stdout.log"),
            stderr_log: dir.join("stderr.log"),
            limits: self.limits(delegation.timeout, Some(self.world.settings.no_progress_timeout)),
        };
        let sender = self.inbox_sender();
        let on_end = move |ended: Ended, conversation: Conversation| {
            let outcome = conversation.conclude(&ended);
            // As above.
            let _ = sender.send(Message::AgentEnded(key, Box::new((ended, outcome))));
        };
        let handle = process::start_listening(&self.world.runtime, invocation, conversation, on_end);
        let Delegation { dispatch, role, dir, prompt, .. } = delegation;
        Ok((handle, AtWork { dispatch, role, agent: agent.name.clone(), prompt, dir }))
    }

    /// The program of an agent in the sandbox, if there is to be one and the agent brings none of its own.
    fn sandboxed(&self, agent: &Agent, program: Program, (place, dir): (&Path, &Path)) -> Program {
        let sandboxing = self.world.settings.sandbox;
        if sandboxing == Sandboxing::Off || agent.has_sandbox() {
            return program;
        }
        let sandbox = Sandbox {
            sandboxing,
            place,
            git_common: self.world.files.git().map(Git::common_dir),
            home: &self.world.file.home,
            dir,
            of_agent: agent.kind.own_folders(&agent.command),
        };
        sandbox.around(&program)
    }

    fn agent_env(&self, id: &TaskId, delegation: &Delegation<'_>) -> Vec<(OsString, OsString)> {
        let mut env = self.markers(&delegation.dir);
        let mut set = |name: &str, value: OsString| env.push((name.into(), value));
        set("TILLGREEN_ROLE", delegation.role.name().into());
        set("TILLGREEN_TASK_ID", id.name().into());
        set("TILLGREEN_ATTEMPT", delegation.attempt.to_string().into());
        let workplace = self.workplace(id);
        let here = |path: &Path| workplace.join(self.world.project.relative(path));
        set("TILLGREEN_PLAN", here(&self.world.file.path).into());
        set("TILLGREEN_PROGRESS_FILE", here(&self.progress_file(id)).into());
        env
    }

    /// The server through which the agent can report, if it takes one.
    fn report_server(&self, agent: &Agent, dir: &Path) -> Option<McpServer> {
        let is_offered = self.world.settings.report_tools.is_on() && agent.kind.support().mcp;
        let program = is_offered.then(std::env::current_exe)?.ok()?;
        let report = dir.join(REPORT_FILE).to_string_lossy().into_owned();
        Some(McpServer { program, args: vec!["mcp".to_owned(), "--report".to_owned(), report] })
    }

    /// Adds what a place asks for to an environment; gives the variables that lead into the project and are taken out.
    pub(crate) fn surroundings(
        &self,
        place: &Path,
        slot: u32,
        purpose: Use,
        env: &mut Vec<(OsString, OsString)>,
    ) -> Vec<OsString> {
        let mut removed = self.world.settings.worktrees.variables.withheld_here();
        if place == self.world.project.root() {
            env.push((SLOT.into(), slot.to_string().into()));
            return removed;
        }
        let verifies = matches!(purpose, Use::Verification);
        let changes = environment(self.world.project.root(), place, slot, std::env::vars_os(), verifies);
        for (name, value) in changes {
            match value {
                Some(value) => env.push((name, value)),
                None => removed.push(name),
            }
        }
        removed
    }

    /// A verify command with the project's own root replaced by the place's; that is said once.
    pub(crate) fn relocated(&mut self, script: &Script, place: &Path) -> Option<Script> {
        if place == self.world.project.root() {
            return None;
        }
        let commands = &script.snippets;
        let moved = |command: &String| relocated(command, self.world.project.root(), place);
        if !commands.iter().any(|command| moved(command).is_some()) {
            return None;
        }
        let commands =
            commands.iter().map(|command| moved(command).unwrap_or_else(|| command.clone())).collect();
        if !std::mem::replace(&mut self.world.remarks.is_relocation_told, true) {
            self.note(format!(
                "verify commands name the project by its absolute path ({}); in work trees that is replaced by theirs",
                self.world.project.root().display()
            ));
        }
        Some(Script::new(commands))
    }

    pub(crate) fn markers(&self, dir: &Path) -> Vec<(OsString, OsString)> {
        vec![(MARKER.into(), self.world.file.home.clone().into()), (DISPATCH_MARKER.into(), dir.into())]
    }

    pub(crate) fn limits(&self, deadline: Duration, no_progress: Option<Duration>) -> ProcessLimits {
        limits(deadline, no_progress)
    }
}

/// The limits of a process that takes part in a run.
pub(crate) fn limits(deadline: Duration, no_progress: Option<Duration>) -> ProcessLimits {
    ProcessLimits {
        deadline,
        no_progress,
        grace: GRACE,
        head_bytes_max: HEAD_BYTES_MAX,
        tail_bytes_max: TAIL_BYTES_MAX,
    }
}

/// Writes a file of an attempt.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(RunError::io("write", path))
}

/// A task id as part of a file name.
pub(crate) fn file_name(id: &TaskId) -> String {
    let keep = |character: char| {
        if character.is_alphanumeric() || matches!(character, '.' | '-' | '_') { character } else { '_' }
    };
    id.to_string().chars().map(keep).collect()
}
