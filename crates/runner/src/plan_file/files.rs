//! The plan files of a run: read when they changed, edited in the smallest way, and put back where an agent laid hands
//! on what is not its own.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use engine::{State, Status, TaskDecl, TaskKind, Toggle, Verification};
use plan::{
    Beside, BoxRole, Commit, Dialect, Files, FixTask, Plan, Problem, RequestTask, Rung, Script, Task, TaskId,
    Verify,
};

use crate::atomic;
use crate::plan_file::defaults::Defaults;
use crate::plan_file::order;
use crate::plan_file::source::Source;
use crate::plan_file::text::{Excerpt, fix_block, says_the_same};
use crate::project::PlanFile;

/// The plan files of a run, in the order in which they run.
#[derive(Debug)]
pub(crate) struct PlanFiles {
    pub(super) dialect: Dialect,
    pub(super) file: PlanFile,
    pub(super) sources: Vec<Source>,
    /// The problems with how the plans depend on each other, with the file in which each shows.
    pub(super) problems: Vec<(PathBuf, Problem)>,
    /// True if somebody's change was read on the way to an edit of ours, so that the run does not know it yet.
    pub(super) is_unreported: bool,
    /// On if tasks that are reworded while an attempt runs are put back.
    pub(super) strict: Toggle,
    /// Tasks that were put back once: whoever takes them out again means it.
    pub(super) restored: BTreeSet<TaskId>,
    /// The command that has to be green at the very end.
    pub(super) regression: Option<String>,
    /// The project's root.
    pub(super) root: String,
}

/// The state of a file since it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// As last seen.
    Same,
    /// It is another one than it was.
    Changed,
}

/// The changes of an attempt to the plan file, and what was done about them.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Tasks whose boxes were put back, and other boxes by their words.
    pub tampered: Vec<TaskId>,
    /// Tasks that were gone for the first time, and were put back.
    pub restored: Vec<TaskId>,
    /// Tasks that are new; they are kept.
    pub added: Vec<TaskId>,
    /// Tasks that say something else; it is kept.
    pub reworded: Vec<TaskId>,
    /// Tasks whose text is another one, also where it says the same.
    pub rewritten: Vec<Rewritten>,
    /// True if the task's own box was found ticked.
    pub own_ticked: bool,
}

/// A task whose text is another one than before an attempt.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub task: TaskId,
    /// The commands that it had.
    pub former: Vec<String>,
    /// True if it is verified otherwise now.
    pub is_verify_changed: bool,
    /// The digest of the text that it has now.
    pub digest: u32,
}

/// The states that the own box may have after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnBox {
    /// The program ticks it later: it is put back.
    PutBack,
    /// The agent was to tick it: it stays.
    Keep,
}

/// The declarations of a plan's tasks, in the order in which they run.
pub fn declared(file: &PlanFile) -> Result<Vec<TaskDecl>, (PathBuf, io::Error)> {
    PlanFiles::open(file, Toggle::Off).map(|plan_files| plan_files.decls(&State::default()))
}

impl PlanFiles {
    /// Reads the plan files.
    pub(crate) fn open(file: &PlanFile, strict: Toggle) -> Result<Self, (PathBuf, io::Error)> {
        let read = |path: &PathBuf| Source::open(path, file.reading).map_err(|error| (path.clone(), error));
        let sources: Vec<Source> = file.plans.iter().map(read).collect::<Result<_, _>>()?;
        let plans: Vec<&Plan> = sources.iter().map(|source| &source.plan).collect();
        let (places, problems) = order::order(&plans);
        let problems = problems.into_iter().map(|(place, problem)| (file.plans[place].clone(), problem));
        let problems = problems.collect();
        let mut sources: Vec<Option<Source>> = sources.into_iter().map(Some).collect();
        let sources = places.into_iter().filter_map(|place| sources[place].take()).collect();
        let root = root_of(&file.home);
        let dialect = file.dialect;
        Ok(Self {
            dialect,
            file: file.clone(),
            sources,
            problems,
            is_unreported: false,
            strict,
            restored: BTreeSet::new(),
            regression: None,
            root,
        })
    }

    /// Everything that is wrong with the plans, with the file it is in.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&Path, &Problem)> {
        let of_order = self.problems.iter().map(|(path, problem)| (path.as_path(), problem));
        let of_sources = self.sources.iter().flat_map(|source| {
            let problems = source.plan.problems().iter();
            problems.map(|problem| (source.path(), problem))
        });
        of_order.chain(of_sources)
    }

    /// The wishes of the plans that are not heeded: what tasks depend on and do not wait for, and boxes that are no
    /// tasks.
    pub(crate) fn unheeded(&self) -> impl Iterator<Item = (&Path, Problem)> {
        self.sources.iter().flat_map(move |source| {
            let strays = source.plan.stray_boxes().iter().cloned();
            let problems = source.plan.dependency_problems().into_iter().chain(strays);
            problems.map(|problem| (source.path(), problem))
        })
    }

    /// How many tasks are left out, as they are optional.
    pub(crate) fn left_out(&self) -> usize {
        let boxes = self.sources.iter().flat_map(|source| source.plan.boxes());
        boxes.filter(|other| other.role == BoxRole::Optional && !other.state.is_done()).count()
    }

    /// The number of ticked boxes.
    pub(crate) fn ticked(&self) -> usize {
        let tasks = self.sources.iter().flat_map(|source| source.plan.tasks());
        tasks.filter(|task| task.state.is_done()).count()
    }

    /// The names of the tasks whose boxes are ticked.
    pub(crate) fn ticked_names(&self) -> BTreeSet<String> {
        let tasks = self.sources.iter().flat_map(|source| source.plan.tasks());
        tasks.filter(|task| task.state.is_done()).map(|task| task.id.name().to_owned()).collect()
    }

    /// The commands of the tasks but one, each once, with the first task that has it.
    pub(crate) fn commands_of_others(&self, id: &TaskId) -> Vec<(Script, TaskId)> {
        let mut seen = BTreeSet::new();
        let mut commands = Vec::new();
        for source in &self.sources {
            for task in source.plan.tasks().iter().filter(|task| task.id != *id) {
                let own = match source.plan.verify(task) {
                    Verify::Runnable(script) => Some(script),
                    Verify::Prose(_) | Verify::Absent => {
                        default_script(&source.plan, task, &self.file.defaults)
                    }
                };
                let new = own.filter(|script| seen.insert(script.text.clone()));
                commands.extend(new.map(|script| (script, task.id.clone())));
            }
        }
        commands
    }

    /// True if the task's box is ticked; where there are no boxes, it is as if it were.
    pub(crate) fn is_ticked(&self, id: &TaskId) -> bool {
        self.dialect == Dialect::Phase || self.find(id).is_some_and(|(_, task)| task.state.is_done())
    }

    /// A task's text, with its fields. The text of a fix task that is in no file is made from the record.
    pub(crate) fn excerpt(&self, state: &State, id: &TaskId) -> Option<Excerpt> {
        Excerpt::of(&self.file, &self.text(state, id)?)
    }

    /// A task's text.
    pub(crate) fn text(&self, state: &State, id: &TaskId) -> Option<String> {
        if let Some((plan, task)) = self.find(id) {
            return Some(plan.full_block(task).into_owned());
        }
        if let Some(request) = state.pull_request().request(id) {
            return Some(self.request_text(request));
        }
        let fix = state.fix_plan(id).filter(|_| self.dialect == Dialect::Phase)?;
        Some(fix_block(fix, &self.text(state, &fix.failing)?))
    }

    /// The task with an id, and its plan.
    pub(crate) fn find(&self, id: &TaskId) -> Option<(&Plan, &Task)> {
        self.sources.iter().find_map(|source| Some((&source.plan, source.plan.task(id)?)))
    }

    /// The file that a task, or the task that a fix task repairs, stands in.
    pub(crate) fn path<'a>(&'a self, state: &'a State, id: &'a TaskId) -> Option<&'a Path> {
        let source = self.sources.iter().find(|source| source.plan.task(id).is_some());
        source.map(Source::path).or_else(|| self.path(state, &state.fix_plan(id)?.failing))
    }

    /// The introduction of the plan that a task is in.
    pub(crate) fn introduction(&self, state: &State, id: &TaskId) -> Option<String> {
        let path = self.path(state, id)?;
        let source = self.sources.iter().find(|source| source.path() == path)?;
        Some(source.plan.introduction())
    }

    /// The id of a task that is spelled in one of the ways that people and agents spell it.
    pub(crate) fn spelled(&self, name: &str) -> Option<TaskId> {
        self.sources.iter().find_map(|source| source.plan.find(name)).map(|task| task.id.clone())
    }

    /// Reads files again if they changed; says so also of a change that was read in passing since the last time.
    pub(crate) fn refresh(&mut self) -> io::Result<Freshness> {
        self.catch_up()?;
        let is_changed = std::mem::take(&mut self.is_unreported);
        Ok(if is_changed { Freshness::Changed } else { Freshness::Same })
    }

    /// Before an edit of ours: whatever somebody wrote meanwhile stays.
    pub(super) fn catch_up(&mut self) -> io::Result<()> {
        for source in &mut self.sources {
            self.is_unreported |= source.reread()?.is_some();
        }
        Ok(())
    }

    /// The declarations of all tasks for the engine. Where a file has no boxes, the record tells what is done.
    pub(crate) fn decls(&self, state: &State) -> Vec<TaskDecl> {
        let mut decls = Vec::new();
        let stages = self.stages();
        for (place, source) in self.sources.iter().enumerate() {
            let mut before: Vec<TaskId> = self.last_tasks_needed(&source.plan);
            for task in source.plan.running_order() {
                let depends_on = std::mem::replace(&mut before, vec![task.id.clone()]);
                let stage = self.stage(stages[place], task);
                let decl = TaskDecl { stage, ..decl(&source.plan, task, &self.file.defaults) };
                decls.push(self.complete(state, decl, depends_on));
                self.push_fixes(state, &task.id, &mut decls);
            }
        }
        self.push_requests(state, &mut decls);
        decls
    }

    fn complete(&self, state: &State, decl: TaskDecl, depends_on: Vec<TaskId>) -> TaskDecl {
        let decl = TaskDecl { files: rooted(&self.root, decl.files), ..decl };
        match self.dialect {
            Dialect::Spec => decl,
            Dialect::Phase => {
                let is_done = state.task(&decl.id).is_some_and(|task| task.status == Status::Done);
                let ticked = is_done || self.is_done_elsewhere(state, &decl.id);
                TaskDecl { ticked, depends_on, ..decl }
            }
        }
    }

    /// True if the plan of a task had its summary beside it when the run began, and nobody worked on it in this run.
    fn is_done_elsewhere(&self, state: &State, id: &TaskId) -> bool {
        let source = self.sources.iter().find(|source| source.plan.task(id).is_some());
        source.is_some_and(|source| source.is_done_elsewhere(state))
    }

    /// The plans that are done already, as their summaries lie beside them.
    pub(crate) fn done_elsewhere(&self, state: &State) -> Vec<&str> {
        let done = self.sources.iter().filter(|source| source.is_done_elsewhere(state));
        done.filter_map(|source| source.plan.plan_id()).collect()
    }

    /// For each file, how many parts of all plans come before its own.
    fn stages(&self) -> Vec<usize> {
        order::stages(&self.sources.iter().map(|source| &source.plan).collect::<Vec<_>>())
    }

    /// The part of the plan that a task is in: its phase, or that of its file.
    fn stage(&self, of_file: usize, task: &Task) -> u32 {
        match self.dialect {
            Dialect::Spec => task.phase.map_or(0, |phase| count(phase.get() + 1)),
            Dialect::Phase => count(of_file),
        }
    }

    /// Fix tasks that are in no file stand behind the task that they repair, as in the record.
    fn push_fixes(&self, state: &State, id: &TaskId, decls: &mut Vec<TaskDecl>) {
        let Some(task) = state.task(id).filter(|_| self.dialect == Dialect::Phase) else { return };
        for fix in &task.fixes {
            if let Some(known) = state.task(fix).filter(|fix| fix.status != Status::Drafted) {
                decls.push(TaskDecl { ticked: known.status == Status::Done, ..known.decl.clone() });
                self.push_fixes(state, fix, decls);
            }
        }
    }

    /// The last tasks of the plans that a plan depends on.
    fn last_tasks_needed(&self, plan: &Plan) -> Vec<TaskId> {
        let plans = self.sources.iter().map(|source| &source.plan).filter(|other| plan.needs_plan(other));
        plans.filter_map(|plan| plan.tasks().last()).map(|task| task.id.clone()).collect()
    }

    /// The declaration of one task for the engine.
    pub(crate) fn decl(&self, state: &State, id: &TaskId) -> Option<TaskDecl> {
        let place = self.sources.iter().position(|source| source.plan.task(id).is_some());
        if let (Some(place), Some((plan, task))) = (place, self.find(id)) {
            let decl = TaskDecl {
                stage: self.stage(self.stages()[place], task),
                ..decl(plan, task, &self.file.defaults)
            };
            return Some(self.complete(state, decl, Vec::new()));
        }
        let known = state.task(id)?;
        let excerpt = self.excerpt(state, id)?;
        let files = excerpt.fields().files.map(|files| files.reach()).unwrap_or_default();
        let files = rooted(&self.root, files);
        Some(TaskDecl { title: excerpt.title().to_owned(), files, ..known.decl.clone() })
    }

    /// Ticks a box, if the task is there and its box is open.
    pub(crate) fn tick(&mut self, id: &TaskId) -> io::Result<()> {
        self.set_box(id, |plan| is_ticked_now(plan, id), Source::save)
    }

    /// Ticks a box again that somebody unticked.
    pub(crate) fn tick_again(&mut self, id: &TaskId) -> io::Result<()> {
        self.set_box(id, |plan| is_ticked_now(plan, id), Source::put_back)
    }

    /// Unticks a box that somebody ticked, if the task is there.
    pub(crate) fn untick(&mut self, id: &TaskId) -> io::Result<()> {
        let untick = |plan: &mut Plan| {
            plan.task(id).is_some_and(|task| task.state.is_done()) && plan.untick(id).is_ok()
        };
        self.set_box(id, untick, Source::put_back)
    }

    fn set_box(
        &mut self,
        id: &TaskId,
        edit: impl FnOnce(&mut Plan) -> bool,
        write: impl FnOnce(&mut Source) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.dialect == Dialect::Phase {
            return Ok(());
        }
        self.catch_up()?;
        let Some(source) = self.sources.iter_mut().find(|source| source.plan.task(id).is_some()) else {
            return Ok(());
        };
        if edit(&mut source.plan) { write(source) } else { Ok(()) }
    }

    /// The text of the plan before and after the edits of ours that are in no commit yet.
    pub(crate) fn uncommitted_edits(&self) -> Option<(&str, &str)> {
        self.sources.first().and_then(|source| Some((source.before_edits()?, source.plan.text())))
    }

    /// Notes that they are in a commit.
    pub(crate) fn edits_are_committed(&mut self) {
        self.sources.iter_mut().for_each(Source::edits_are_committed);
    }

    /// Writes a fix task, unless it is there already or its dialect's files are never written.
    pub(crate) fn insert_fix(&mut self, fix: &FixTask<'_>) -> io::Result<()> {
        self.catch_up()?;
        if self.dialect == Dialect::Phase || self.find(fix.id).is_some() {
            return Ok(());
        }
        let Some(source) = self.sources.first_mut() else { return Ok(()) };
        source
            .plan
            .insert_fix(fix)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        source.save()
    }

    /// Writes a task beside another one and says whether that was possible.
    pub(crate) fn insert_beside(
        &mut self,
        request: &RequestTask<'_>,
        place: Beside,
        other: &TaskId,
    ) -> io::Result<bool> {
        self.catch_up()?;
        let Some(source) = self.sources.iter_mut().find(|source| source.plan.task(other).is_some()) else {
            return Ok(false);
        };
        let is_written = source.plan.insert_beside(request, place, other).is_ok();
        if is_written {
            source.save()?;
        }
        Ok(is_written)
    }

    /// Looks at the files after an attempt at `own`. Boxes that are not its own are put back, and so is a task that is gone for
    /// the first time. Where no task is left at all, or with `--strict` tasks were reworded, the whole text is put back,
    /// and what was there is kept in `aside`.
    pub(crate) fn inspect(&mut self, own: &TaskId, own_box: OwnBox, aside: &Path) -> io::Result<Inspection> {
        let mut all = Inspection::default();
        for place in 0..self.sources.len() {
            let Some(before) = self.sources[place].reread_or_empty()? else { continue };
            let found = self.inspect_source(place, before, own, aside)?;
            all.tampered.extend(found.tampered);
            all.restored.extend(found.restored);
            all.added.extend(found.added);
            all.reworded.extend(found.reworded);
            all.rewritten.extend(found.rewritten);
            all.own_ticked |= found.own_ticked;
        }
        if all.own_ticked && own_box == OwnBox::PutBack {
            self.untick(own)?;
        }
        Ok(all)
    }

    fn inspect_source(
        &mut self,
        place: usize,
        before: Plan,
        own: &TaskId,
        aside: &Path,
    ) -> io::Result<Inspection> {
        let source = &mut self.sources[place];
        let mut inspection = compare(&before, &source.plan, own);
        let is_reworded = self.strict.is_on() && !inspection.reworded.is_empty();
        if source.plan.tasks().is_empty() || is_reworded {
            atomic::replace(aside, source.plan.text())?;
            let tampered = if is_reworded { inspection.reworded } else { Vec::new() };
            let restored = removed(&before, &source.plan);
            source.plan = before;
            source.make_way(aside)?;
            source.put_back()?;
            return Ok(Inspection { tampered, restored, ..Inspection::default() });
        }
        let mut gone = removed(&before, &source.plan);
        // Whoever is at work needs its text, however often it is taken out.
        gone.retain(|id| id == own || self.restored.insert(id.clone()));
        if !gone.is_empty() {
            source.replace(source.plan.with_tasks_of(&before, &gone));
            source.put_back()?;
            inspection.restored = gone;
        }
        let boxes = source.plan.put_back_boxes(&before, own);
        if !boxes.is_empty() {
            source.put_back()?;
        }
        self.is_unreported = true;
        for id in &inspection.tampered {
            match before.task(id).map(|task| task.state.is_done()) {
                Some(true) => self.tick_again(id)?,
                Some(false) => self.untick(id)?,
                None => {}
            }
        }
        inspection.tampered.extend(boxes.iter().map(|words| TaskId::new(words)));
        Ok(inspection)
    }
}

/// Ticks a box. Whether it was open.
fn is_ticked_now(plan: &mut Plan, id: &TaskId) -> bool {
    plan.task(id).is_some_and(|task| !task.state.is_done()) && plan.tick(id).is_ok()
}

fn removed(before: &Plan, after: &Plan) -> Vec<TaskId> {
    let tasks = before.tasks().iter().map(|task| &task.id);
    tasks.filter(|id| after.task(id).is_none()).cloned().collect()
}

fn compare(before: &Plan, after: &Plan, own: &TaskId) -> Inspection {
    let mut inspection = Inspection::default();
    for task in after.tasks() {
        let Some(known) = before.task(&task.id) else {
            inspection.added.push(task.id.clone());
            continue;
        };
        if task.state.is_done() != known.state.is_done() {
            if task.id == *own {
                inspection.own_ticked = task.state.is_done();
            } else {
                inspection.tampered.push(task.id.clone());
            }
        }
        if digest(after, task) == digest(before, known) {
            continue;
        }
        if !says_the_same((before, known), (after, task)) {
            inspection.reworded.push(task.id.clone());
        }
        let former = before.verify(known);
        inspection.rewritten.push(Rewritten {
            task: task.id.clone(),
            is_verify_changed: former != after.verify(task),
            former: if let Verify::Runnable(script) = former { script.snippets } else { Vec::new() },
            digest: digest(after, task),
        });
    }
    inspection
}

/// The command of the settings for a task that has none.
pub(super) fn default_script(plan: &Plan, task: &Task, defaults: &Defaults) -> Option<Script> {
    let is_open = !task.type_.is_checkpoint() && !task.markers.red;
    let is_without = is_open && !matches!(plan.verify(task), Verify::Runnable(_));
    is_without.then(|| defaults.of(&plan.fields(task))).flatten()
}

/// How a task's result can be proved, and a digest of its command.
fn verification(plan: &Plan, task: &Task, defaults: &Defaults) -> (Verification, Option<u32>) {
    let digest = |script: &Script| crc32fast::hash(script.text.as_bytes());
    match plan.proof(task) {
        (Verify::Runnable(script), Rung::Phase) => (Verification::Borrowed, Some(digest(&script))),
        (Verify::Runnable(script), Rung::Field | Rung::Text | Rung::Settings | Rung::Judge) => {
            (Verification::Command, Some(digest(&script)))
        }
        (verify @ (Verify::Prose(_) | Verify::Absent), _) => match default_script(plan, task, defaults) {
            Some(script) if verify == Verify::Absent => (Verification::Borrowed, Some(digest(&script))),
            // What is said in prose is for somebody to judge, beside the command.
            default => (Verification::Judgement, default.as_ref().map(digest)),
        },
    }
}

pub(super) fn decl(plan: &Plan, task: &Task, defaults: &Defaults) -> TaskDecl {
    let (verification, command) = verification(plan, task, defaults);
    let fields = plan.fields(task);
    // A task of a plan that names no files of its own may touch all that its plan does.
    let of_plan = plan.front_matter().map(|front| front.files_modified.clone()).unwrap_or_default();
    // The last task of a phase waits for the others, as what checks the phase checks them all.
    let closes = plan.proof(task).1 == Rung::Phase;
    let parallel = task.markers.runs_parallel() && fields.commit != Commit::None && !closes;
    let depends_on = plan.dependencies(task, &fields);
    TaskDecl {
        id: task.id.clone(),
        title: plan.title(task).to_owned(),
        kind: kind(task),
        verification,
        command,
        fix_of: task.markers.fix_of.as_ref().map(|name| TaskId::new(name)),
        ticked: task.state.is_done(),
        digest: digest(plan, task),
        files: reach(&fields.files.unwrap_or_default(), of_plan),
        depends_on,
        stage: 0,
        // What is not to be committed cannot come back from a work tree of its own.
        parallel,
    }
}

/// The paths that a task may touch: what its own field names, else what its plan does.
fn reach(files: &Files, of_plan: Vec<String>) -> Vec<String> {
    if files.paths.is_empty() && !of_plan.is_empty() { of_plan } else { files.reach() }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX / 4)
}

pub(super) fn kind(task: &Task) -> TaskKind {
    if task.type_.is_checkpoint() {
        TaskKind::Checkpoint
    } else if task.markers.verify {
        TaskKind::Verify
    } else {
        TaskKind::Work
    }
}

/// A digest of a task's text without its box.
pub(crate) fn digest(plan: &Plan, task: &Task) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(plan.title(task).as_bytes());
    let full = plan.full_block(task);
    let of_phase = full.strip_prefix(plan.block(task).trim_end()).unwrap_or_default();
    let lines = plan.body(task);
    let lines = lines.lines().chain(of_phase.lines()).map(str::trim_end);
    for line in lines.filter(|line| !line.is_empty()) {
        hasher.update(b"\n");
        // Blanks at the end of lines, between them and before bullets, and which bullets they are, say nothing; neither do
        // ticks of steps.
        match line.trim_start().strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' ')) {
            Some(item) => {
                let item = item.trim_start();
                let step = item.strip_prefix("[x] ").or_else(|| item.strip_prefix("[X] "));
                let item = step.map_or_else(|| item.to_owned(), |step| format!("[ ] {step}"));
                hasher.update(format!("- {item}").as_bytes());
            }
            None => hasher.update(line.as_bytes()),
        }
    }
    hasher.finalize()
}

/// The root that a plan's own folder, `.tillgreen/NAME`, is in.
pub(super) fn root_of(home: &Path) -> String {
    let root = home
        .ancestors()
        .find(|path| path.ends_with(crate::work::project_files::OWN_FOLDER))
        .and_then(Path::parent);
    root.map(|root| root.to_string_lossy().trim_end_matches('/').to_owned()).unwrap_or_default()
}

/// Paths below the root without it, and all others as they are.
pub(super) fn rooted(root: &str, files: Vec<String>) -> Vec<String> {
    let rooted = |file: String| match file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
        Some(inside) if !root.is_empty() && !inside.is_empty() => inside.to_owned(),
        Some(_) | None => file,
    };
    files.into_iter().map(rooted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_paths_are_those_from_the_root() {
        let root = root_of(Path::new("/a/b/.tillgreen/specs-x"));
        let files = ["/a/b/src/c.rs", "/a/bc/d.rs", "/a/b/**/*.md", "src/e.rs", "/a/b"].map(str::to_owned);
        let expected = ["src/c.rs", "/a/bc/d.rs", "**/*.md", "src/e.rs", "/a/b"];
        assert_eq!(rooted(&root, files.to_vec()), expected);
        assert_eq!(rooted("", vec!["/x".to_owned()]), ["/x"]);
    }
}
