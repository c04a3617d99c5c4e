//! Tasks in work trees of their own: where they are, how their attempts start and end there, and how what passed comes
//! back. What git has to do for that happens beside the loop, in `offstage`.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use engine::{ActionKey, AgentReport, Attempt, Cause, ChecksReport, Dispatch, Landing, Seen, did_its_job};
use plan::TaskId;

use crate::atomic;
use crate::attempt::{AgentEnded, Purpose, verdict};
use crate::book::Excerpt;
use crate::check;
use crate::delegation::file_name;
use crate::driver::{Driver, Flight};
use crate::error::RunError;
use crate::git::{Git, GitError, Oid};
use crate::inbox::Message;
use crate::offstage::{Brought, LandingRequest, Ready, Site};
use crate::process::Ended;
use crate::stranded::Unready;
use crate::survey::Survey;
use crate::turn::Patience;

/// How many tasks that wait for others are named at once.
const OVERLAPS_TOLD_MAX: usize = 20;

/// What was done beside the loop.
#[derive(Debug)]
pub(crate) enum Done {
    /// A work tree is ready.
    Tree(Result<Ready, Unready>),
    /// What an attempt left was looked at.
    Survey(Result<Survey, GitError>),
    /// Work was brought into the project.
    Landing(Brought),
    /// Nobody has git's lock any more, or nobody waits for it.
    Lock,
}

impl Driver<'_> {
    /// Whether the task's latest attempt is in a tree of its own.
    pub(crate) fn is_isolated(&self, id: &TaskId) -> bool {
        self.state.task(id).is_some_and(|task| task.isolated)
    }

    /// Where a task is worked on.
    pub(crate) fn workplace(&self, id: &TaskId) -> PathBuf {
        if self.is_isolated(id) { self.tree_path(id) } else { self.project.root().to_owned() }
    }

    fn tree_path(&self, id: &TaskId) -> PathBuf {
        self.file.trees().join(file_name(id))
    }

    /// The work tree of a task; none without git.
    pub(crate) fn site(&self, id: &TaskId) -> Option<Site> {
        let has_failed = self.state.task(id).is_some_and(|task| !task.failures.is_empty());
        Some(Site { has_failed, ..self.site_at(self.tree.git()?.clone(), &file_name(id)) })
    }

    /// The one of this name among the trees.
    pub(crate) fn site_at(&self, git: Git, name: &str) -> Site {
        let dropped = self.tree.dropped();
        let mut furnishing = self.settings.furnishing.clone();
        // A plan that git does not know is not in a new tree by itself.
        let own = [&self.file.dir, &self.file.path].map(|path| self.project.relative(path));
        let inside = own.into_iter().filter(|path| path.is_relative() && !path.as_os_str().is_empty());
        furnishing.copy.extend(inside.map(|path| path.to_string_lossy().into_owned()));
        let keep = self.keep(&git, name);
        Site { git, tree: self.file.trees().join(name), keep, dropped, furnishing, has_failed: false }
    }

    /// What earlier attempts left in trees: at the task itself or, for a fix task, at the one that it repairs.
    fn leftovers(&self, id: &TaskId) -> Option<Site> {
        if self.settings.clean_retry.is_on() {
            return None;
        }
        let mut current = Some(id);
        while let Some(id) = current {
            let site = self.site(id).filter(|site| self.is_isolated(id) && self.has_left(id, site));
            if site.is_some() {
                return site;
            }
            current = self.state.fix_plan(id).map(|fix| &fix.failing);
        }
        None
    }

    /// Whether attempts at a task left anything: a tree, or what was packed of one that is gone.
    fn has_left(&self, id: &TaskId, site: &Site) -> bool {
        let is_outdated = || self.state.opened().is_some_and(|opened| opened.outdated.contains(id));
        let has_failed = || self.state.task(id).is_some_and(|task| !task.failures.is_empty());
        let is_kept = || matches!(site.git.kept(&site.keep), Ok(Some(_)));
        site.base().is_some() || (has_failed() || is_outdated()) && is_kept()
    }

    /// Makes the tree of a task ready, beside the loop. The agent starts when that is done.
    pub(crate) fn prepare_tree(
        &mut self,
        key: ActionKey,
        (id, head): (&TaskId, Oid),
        purpose: Purpose,
    ) -> Result<(), RunError> {
        if self.state.task(id).is_some_and(|task| task.passes > 0) {
            // A person unticked it, and its old tree may be on its way out.
            self.cleaner.wait();
        }
        let (site, left) = (self.site(id), self.leftovers(id));
        if let (Some(site), true) = (&site, self.settings.clean_retry.is_on()) {
            site.forget_left();
        }
        let look_at_names = self.look_at_names();
        self.beside(key, purpose, move || {
            look_at_names(site.as_ref().map(|site| &site.git));
            Done::Tree(match site {
                Some(site) => site.prepare(&head, left.as_ref()),
                None => Ok(Ready::default()),
            })
        })
    }

    /// An attempt in the project itself does not see what an earlier one left in a tree of its own.
    pub(crate) fn tell_of_left_tree(&mut self, id: &TaskId) {
        let site = self.site(id).filter(|site| site.is_there() && !self.settings.clean_retry.is_on());
        if let Some(Ok(Some(commit))) = site.map(|site| site.git.kept(&site.keep)) {
            self.note_of(id, format!(
                "what an earlier attempt at task {id} left in its work tree is not brought along; until the task is \
                 done it is kept as commit {commit}"
            ));
        }
    }

    /// Does something beside the loop.
    pub(crate) fn beside(
        &mut self,
        key: ActionKey,
        purpose: Purpose,
        work: impl FnOnce() -> Done + Send + 'static,
    ) -> Result<(), RunError> {
        let (sender, name) = (self.inbox_sender(), key.clone());
        let thread = thread::Builder::new().name("offstage".to_owned());
        let started = thread.spawn(move || {
            // The loop may be over; then nobody waits.
            let _ = sender.send(Message::Done(name, Box::new(work())));
        });
        started.map_err(RunError::io("start a thread for", &self.file.home))?;
        self.depart(key, Flight { handle: None, purpose });
        Ok(())
    }

    /// What the end of something that was done beside the loop amounts to.
    pub(crate) fn take_in(&mut self, key: ActionKey, purpose: Purpose, done: Done) -> Result<Seen, RunError> {
        match (purpose, done) {
            (Purpose::Tree { delegated }, Done::Tree(made)) => match made {
                Ok(ready) => {
                    let task = &delegated.task;
                    ready
                        .notes
                        .into_iter()
                        .for_each(|note| self.note_of(task, format!("task {task}: {note}")));
                    self.launch_agent(key, *delegated)?;
                    Ok(Seen::TimePassed)
                }
                Err(Unready::NoTree(error)) => Ok(without_tree(delegated.task, delegated.dispatch, &error)),
                Err(Unready::Held { tree, error }) => Ok(self.obstructed(&delegated.task, &tree, &error)),
            },
            // What was done is there, and nobody can tell what it is: no failure of the task's.
            (Purpose::Survey { task, .. }, Done::Survey(Err(error))) if error.is_of_surroundings() => {
                // Whoever does not take it up, as attempts that begin afresh, does not remove it either.
                self.site(&task).iter().for_each(|site| site.note_unreadable(&error));
                Ok(self.obstructed(&task, &self.tree_path(&task), &error))
            }
            (Purpose::Survey { task, dispatch, ended }, Done::Survey(survey)) => {
                let report = self.surveyed(&task, survey, *ended)?;
                Ok(Seen::AgentEnded { task, dispatch, report })
            }
            (Purpose::Landing { task, dispatch, .. }, Done::Landing(brought)) => {
                brought.notes.into_iter().for_each(|note| self.note(note));
                self.tree.forget();
                self.stamps = brought.stamps;
                Ok(Seen::LandingEnded { task, dispatch, landing: brought.landing })
            }
            (_, Done::Tree(_) | Done::Survey(_) | Done::Landing(..) | Done::Lock) => Ok(Seen::TimePassed),
        }
    }

    /// When tasks begin to run side by side: which of them wait although they need not by their marks, and why.
    pub(crate) fn tell_of_overlaps(&mut self) {
        let mut overlaps = engine::overlaps(&self.state);
        overlaps.retain(|(task, _)| self.overlaps_told.insert(task.clone()));
        let more = overlaps.len().saturating_sub(OVERLAPS_TOLD_MAX);
        for (task, hold) in overlaps.into_iter().take(OVERLAPS_TOLD_MAX) {
            self.mention(format!("{task} waits for {}: {}", hold.by, hold.why.words()));
        }
        if more > 0 {
            self.mention(format!("{more} more tasks wait for others that are about the same files"));
        }
    }

    /// Looks at what an attempt left in its tree, beside the loop.
    pub(crate) fn survey(
        &mut self,
        key: ActionKey,
        (task, dispatch): (TaskId, Dispatch),
        ended: AgentEnded,
    ) -> Result<(), RunError> {
        let site = self.site(&task);
        let (message, trailer) =
            (self.landing_message(&task), self.trailer(&task, self.running_attempt(&task)));
        let purpose = Purpose::Survey { task, dispatch, ended: Box::new(ended) };
        self.beside(key, purpose, move || {
            let Some(site) = site else { return Done::Survey(Ok(Survey::default())) };
            Done::Survey(site.survey((&message, &trailer)).map_err(|error| site.git.or_misdirected(error)))
        })
    }

    /// Nothing is lost and no attempt spent, but nobody can go on. What to do comes before git's own words, which may
    /// be many.
    fn obstructed(&self, task: &TaskId, tree: &Path, error: &GitError) -> Seen {
        let place = self.project.relative(tree).display();
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Seen::Obstructed {
            reason: format!("git cannot take in what task {task} left in {place}{hint}: {error}"),
        }
    }

    fn running_attempt(&self, id: &TaskId) -> Option<Attempt> {
        match self.state.task(id).map(|task| &task.status) {
            Some(engine::Status::Running(running)) => Some(running.attempt),
            Some(_) | None => None,
        }
    }

    fn surveyed(
        &mut self,
        task: &TaskId,
        survey: Result<Survey, GitError>,
        AgentEnded { end, elapsed, learnings: reported }: AgentEnded,
    ) -> Result<AgentReport, RunError> {
        let survey = survey.unwrap_or_else(|error| {
            self.site(task).iter().for_each(|site| site.note_unreadable(&error));
            self.note_of(task, format!("what task {task} changed is not known: {error}"));
            Survey::default()
        });
        self.tell_of_survey(task, &survey);
        self.tell_of_left_work(task, &survey.touched);
        self.packed.remove(task);
        self.packed.extend(survey.packed.map(|packed| (task.clone(), packed)));
        self.fetch_progress(task)?;
        let mut learnings = self.read_learnings(task);
        learnings.extend(reported);
        // Nobody is blamed for commits that are gone from the project's history: several are at work. They are missed
        // when something is to come in on top.
        Ok(AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: survey.touched,
            learnings,
            elapsed,
        })
    }

    /// What an attempt noted in its tree is merged from beside the plan, in the order in which tasks come back.
    fn fetch_progress(&self, task: &TaskId) -> Result<(), RunError> {
        let to = self.progress_file(task);
        let from = self.tree_path(task).join(self.project.relative(&to));
        match atomic::read(&from) {
            Ok(text) => {
                atomic::replace(&to, &String::from_utf8_lossy(&text)).map_err(RunError::io("write", &to))
            }
            Err(_) => Ok(()),
        }
    }

    /// Brings the work of a task into the project, beside the loop.
    pub(crate) fn start_landing(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        attempt: Attempt,
    ) -> Result<(), RunError> {
        if !self.is_isolated(id) {
            self.come_back_here(id, attempt);
            return Ok(());
        }
        let Some(site) = self.site(id) else { return Ok(()) };
        let (message, trailer) = (self.landing_message(id), self.trailer(id, Some(attempt)));
        let Some(task) = self.state.task(id) else { return Ok(()) };
        let (dispatch, touched) = (task.dispatch, task.touched.clone());
        if touched.is_empty() {
            let landing = Landing::Done { touched: Vec::new() };
            self.see(Seen::LandingEnded { task: id.clone(), dispatch, landing });
            return Ok(());
        }
        let (release, take_turn) = self.turn_for(&site.git, id);
        let purpose = Purpose::Landing { task: id.clone(), dispatch, release };
        let (watch, packed) = (self.watch().clone(), self.packed.remove(id));
        let request = LandingRequest { message, trailer, packed, watch, traces: self.traces.clone() };
        self.beside(key, purpose, move || {
            Done::Landing(match kept_waiting(take_turn()) {
                Some(landing) => Brought { landing, stamps: None, notes: Vec::new() },
                None => site.land(&request),
            })
        })
    }

    /// Runs the verify command again, on all that came together.
    pub(crate) fn start_join(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
    ) -> Result<(), RunError> {
        let dir = self.attempt_dir(id, attempt, dispatch)?.join("joined");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let text = self.task_text(id, dir.parent().unwrap_or(&dir));
        let excerpt = Excerpt::read(self.file.dialect, &text);
        match excerpt.as_ref().and_then(check::script_of) {
            Some(script) => {
                let purpose = Purpose::Join { task: id.clone(), dispatch, script: script.clone() };
                let root = self.project.root().to_owned();
                self.note_check(id, &dir)?;
                self.note_files(id);
                self.start_script(key, (&script, root), &dir, purpose);
            }
            None => {
                let report = ChecksReport::default();
                self.see(Seen::JoinEnded { task: id.clone(), dispatch, report });
            }
        }
        Ok(())
    }

    /// Red together: the work goes out of the project again, and the feedback says what it met there.
    pub(crate) fn joined(
        &mut self,
        (task, dispatch): (TaskId, Dispatch),
        script: &plan::Script,
        ended: &Ended,
    ) -> Result<Seen, RunError> {
        let mut report = verdict(script, ended, self.project.root());
        self.tree.forget();
        self.note_end_of_check()?;
        if self.was_taken_out((&task, dispatch), &report) {
            return Ok(Seen::Displaced { task, dispatch });
        }
        if report.failure.as_ref().is_some_and(|red| did_its_job(&self.state, &task, &red.failing)) {
            return Ok(Seen::JoinEnded { task, dispatch, report });
        }
        if report.failure.is_some() && self.comes_in_as_it_was(&task)? {
            return Ok(Seen::Displaced { task, dispatch });
        }
        if let Some(failure) = report.failure.as_mut().filter(|_| !self.is_isolated(&task)) {
            failure.details = format!("{}\n\n{}", self.why_again(&task), failure.details);
        } else if let Some(failure) = &mut report.failure {
            failure.cause = Cause::RedTogether;
            let met = self.site(&task).and_then(|site| site.met());
            if let Some(met) = met {
                failure.details = format!("{met}\n\n{}", failure.details);
                self.take_landing_back()?;
            }
        }
        Ok(Seen::JoinEnded { task, dispatch, report })
    }

    /// Work that is half in the project goes out of it, where somebody might take it for their own: it is still in the
    /// task's own tree. What was committed stays.
    pub(crate) fn drop_half_landing(&mut self) -> Result<(), RunError> {
        self.drop_half_rewritten()?;
        Ok(self.take_landing_back()?)
    }
}

/// Why work does not come in, where it did not get its turn.
pub(crate) fn kept_waiting(turn: Result<Patience, GitError>) -> Option<Landing> {
    match turn {
        Ok(Patience::Left) => None,
        Ok(Patience::Gone) => {
            Some(Landing::Blocked { reason: "the run ended before it was its turn".to_owned() })
        }
        Err(error) => Some(Landing::Blocked { reason: error.told() }),
    }
}

/// An agent that could not be given a tree was never started.
fn without_tree(task: TaskId, dispatch: Dispatch, error: &GitError) -> Seen {
    Seen::TreeFailed { task, dispatch, reason: error.told() }
}
