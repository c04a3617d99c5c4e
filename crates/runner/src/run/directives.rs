//! Directives from other processes, and settings that people change while the run goes on: each thing is in the journal
//! before it counts, and whoever told it has a reply.

use std::collections::BTreeSet;

use engine::{
    ActionKey, Directive, DirectiveId, NewLimits, Refusal, Response, Rules, Said, Seen, SettingChanged, weigh,
};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::error::RunError;
use crate::inbox::{LiveSettings, Reply, RunName};
use crate::run::driver::{Driver, now};
use crate::run::open::side_by_side;
use crate::settings::Settings;

/// The directives that are known.
#[derive(Debug, Default)]
pub(super) struct Directions {
    /// This start of the program, as others name it.
    run: Option<RunName>,
    /// Directives that were read and not replied to, so that none is read twice.
    read: BTreeSet<DirectiveId>,
    /// Agents and commands that were ended because their tasks are left out.
    ended: BTreeSet<ActionKey>,
    /// Things about settings that were said.
    said: BTreeSet<String>,
}

impl Directions {
    pub(super) fn of(run: Option<RunName>) -> Self {
        Self { run, ..Self::default() }
    }
}

impl Driver<'_> {
    /// Begins to be told of what is put into the folder. Without that the run goes on, and takes up at its next start what
    /// lies there.
    pub(super) fn listen_to_folder(&mut self) {
        self.folder.tidy();
        if let Err(error) = self.inbox.listen_to_folder(&self.folder) {
            let place = self.world.project.relative(self.folder.path()).display();
            self.mention(format!("nobody can reach this run from elsewhere: {place}: {error}"));
        }
    }

    /// Reads what lies in the folder; each directive is looked at in order.
    pub(super) fn collect_directives(&mut self) -> Result<(), RunError> {
        let entries = self.folder.entries().map_err(RunError::io("read", self.folder.path()))?;
        for (id, entry) in entries {
            if !self.directions.read.insert(id.clone()) {
                continue;
            }
            match entry {
                Ok(entry) if entry.run.is_some() && entry.run != self.directions.run => {
                    self.reply_to_directive(&id, &Reply::Refused(Refusal::Over))?;
                }
                Ok(entry) => self.queue.push_back(Seen::Directed(Box::new(entry.directive))),
                Err(reason) => {
                    self.reply_to_directive(&id, &Reply::Refused(Refusal::Unreadable { reason }))?
                }
            }
        }
        Ok(())
    }

    /// Takes a directive: it is recorded and durable before its sender is told so.
    pub(super) fn take(&mut self, directive: Directive) -> Result<(), RunError> {
        let id = directive.id.clone();
        let reply = match weigh(&self.state, &directive, now()) {
            _ if self.state.has_taken(&id) => Reply::Taken,
            Ok(_) => {
                if matches!(directive.said, Said::Answer { .. } | Said::Skip { .. }) {
                    self.forget_question();
                }
                self.decide(Seen::Directed(Box::new(directive)))?;
                Reply::Taken
            }
            Err(refusal) => {
                // Whoever left it for the next run is not there to be told.
                self.mention(format!("what {} told this run has no effect: {refusal}", directive.from));
                Reply::Refused(refusal)
            }
        };
        self.settle_journal()?;
        self.reply_to_directive(&id, &reply)
    }

    /// After the end: words are kept for the next start, and all else is told that it came too late.
    pub(super) fn turn_down_directives(&mut self) -> Result<(), RunError> {
        self.collect_directives()?;
        for seen in std::mem::take(&mut self.queue) {
            if let Seen::Directed(directive) = seen {
                self.take(*directive)?;
            }
        }
        Ok(())
    }

    fn reply_to_directive(&mut self, id: &DirectiveId, reply: &Reply) -> Result<(), RunError> {
        self.directions.read.remove(id);
        self.folder.reply(id, reply).map_err(RunError::io("write to", self.folder.path()))
    }

    /// A question that somebody answers is put no longer.
    pub(super) fn forget_question(&mut self) {
        self.world.flights.retain(|_, flight| !matches!(flight.purpose, Purpose::Ask));
    }

    /// Takes an answer from the terminal. That another was first is said.
    pub(super) fn heed_answer(&mut self, task: TaskId, response: Response) -> Seen {
        let is_asked = |task: &engine::Task| matches!(task.status, engine::Status::Asking(_));
        if !self.state.task(&task).is_some_and(is_asked) {
            self.mention(format!(
                "the question about task {task} is answered already; this answer is dropped"
            ));
            return Seen::TimePassed;
        }
        Seen::Answered { task, response }
    }

    /// Ends agents and commands whose tasks are to be left out. What they come to is looked at as always.
    pub(super) fn end_what_leaves(&mut self) {
        for (key, flight) in &self.world.flights {
            let leaves = flight.purpose.endable().is_some_and(|task| self.state.is_leaving(task));
            if let (true, Some(handle)) = (leaves, &flight.handle)
                && self.directions.ended.insert(key.clone())
            {
                handle.stop();
            }
        }
    }

    /// The settings were read again. Limits count from now on; what does not is said once.
    pub(super) fn take_settings(&mut self, read: Result<LiveSettings, String>) -> Seen {
        let live = match read {
            Ok(live) => live,
            Err(reason) => {
                self.say_once(format!(
                    "the settings were changed and cannot be read, so those before stay: {reason}"
                ));
                return Seen::TimePassed;
            }
        };
        for key in &live.later {
            self.say_once(format!("`{key}` was changed in the settings; that counts from the next start on"));
        }
        let jobs = self.jobs_for(&live);
        let launch = self.state.opened().map(|opened| &opened.launch);
        let changes = live.texts.into_iter().filter_map(|(key, to)| {
            let from = launch.and_then(|launch| launch.get(&key)).cloned();
            (from != to).then_some(SettingChanged { key, from, to })
        });
        let changes = changes.collect();
        Seen::LimitsRead(Box::new(NewLimits { limits: live.limits, jobs, changes }))
    }

    /// The number of agents that may be at work at once, as far as the project allows it.
    fn jobs_for(&mut self, live: &LiveSettings) -> u32 {
        let wanted = |jobs: Option<&String>| jobs.and_then(|jobs| jobs.parse::<u32>().ok());
        let opened = self.state.opened();
        let before = opened.and_then(|opened| wanted(opened.launch.get("jobs")));
        let in_force = self.state.rules().map_or(1, |rules| rules.parallel.jobs);
        if before == Some(live.jobs) {
            return in_force;
        }
        let mut rules: Rules = self.world.settings.rules.clone();
        rules.parallel.jobs = live.jobs;
        let settings = Settings { rules, ..self.world.settings.clone() };
        let dirty = opened.map(|opened| opened.dirty.clone()).unwrap_or_default();
        let (parallel, reason) = side_by_side(self.world.files.git(), &settings, &dirty);
        reason.into_iter().for_each(|reason| self.say_once(format!("tasks run one by one: {reason}")));
        parallel.jobs
    }

    fn say_once(&mut self, text: String) {
        if self.directions.said.insert(text.clone()) {
            self.mention(text);
        }
    }
}
