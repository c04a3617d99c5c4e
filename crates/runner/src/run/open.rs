//! Before the loop: everything that can be wrong is found out here, in an order that starts nothing and
//! changes nothing before the plan and the state have been looked at.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::{fs, thread};

use engine::{
    Directive, Event, Isolation, Observation, Opening, Parallel, Prove, Rules, Seen, State, Status, TaskDecl,
    Toggle, Unverifiable, Verification, decide, weigh,
};
use plan::{Problem, Severity, TaskId};

use crate::error::RunError;
use crate::forge::{Survey, Surveyed};
use crate::git::{Git, GitError, Parallelism};
use crate::inbox::{Folder, Inbox};
use crate::journal::{Journal, RunLock};

use crate::landing::project_lock::{ProjectLock, Release, await_start, pause};
use crate::mask::mask_values;
use crate::plan_file::PlanFiles;
use crate::process;
use crate::project::{PlanFile, Project};
use crate::proof::surroundings;
use crate::record::projections::Projections;
use crate::run::driver::{Driver, Finished, Notice, now};
use crate::run::effects::World;
use crate::settings::{Bookkeeping, Sandboxing, Settings};
use crate::work::project_files::{OWN_FOLDER, OWN_PATTERNS, ProjectFiles};
use crate::worktrees::Slots;

/// Files that people write for this program alone.
const OWN_SETTINGS: [&str; 2] = ["tillgreen.toml", "specs/.current-spec"];

/// Names of default branches where no remote tells its own.
const DEFAULT_BRANCHES: [&str; 2] = ["main", "master"];

/// The number of unheeded things in the plan that are told.
const UNHEEDED_TOLD_MAX: usize = 10;

/// The plan that is to be run, and how.
#[derive(Debug)]
pub struct Request<'a> {
    /// The project.
    pub project: &'a Project,
    /// The plan.
    pub file: &'a PlanFile,
    /// The settings.
    pub settings: &'a Settings,
    /// From where on.
    pub beginning: Beginning,
}

/// From where on a plan is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// From where the journal leaves off.
    Resume,
    /// From the boxes alone; the journal and any state file are put aside.
    Fresh,
    /// From where the journal leaves off, with something that a person tells.
    Told(Box<Directive>, Then),
}

/// The step that follows when a run that was not under way has taken a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    GoOn,
    /// Nothing else happens.
    Stop,
}

/// Runs a plan until it is complete, or stops, or has to wait.
pub fn run(request: &Request<'_>, view: &mut dyn FnMut(&State, Notice<'_>)) -> Result<Finished, RunError> {
    let Request { project, file, settings, beginning } = request;
    let agents = settings.agents.iter().chain([&settings.agent]);
    mask_values(&settings.mask, agents.flat_map(|agent| &agent.env));
    let mut plan_files = read_plan(request)?;
    refuse_without_sandbox(settings)?;
    let runtime = runtime().map_err(RunError::io("start a thread for", &file.home))?;
    make_private(&file.home).map_err(RunError::io("create", &file.home))?;
    project.git().map_or(Ok(()), keep_own_files_out)?;
    let lock = RunLock::acquire(&file.lock())?;
    if let (Some(branch), Some(git)) = (&settings.branch, project.git()) {
        git.switch_to(branch)?;
        plan_files = read_plan(request)?;
    }
    crate::atomic::tidy(&file.dir);
    crate::atomic::tidy(project.root());
    let (record, state, torn) = earlier_record(request)?;
    let git = project.git().map(|git| git.clone().with_notes(&file.home));
    git.as_ref().map_or(Ok(()), Git::check_identity)?;
    let files = ProjectFiles::new(project, git.as_ref(), file);
    let is_start = matches!(beginning, Beginning::Resume | Beginning::Fresh);
    if let Some(git) = &git {
        wait_for_earlier(git, &state, &mut |note| view(&state, Notice::Note(note)));
        if is_start && plan_files.decls(&state).iter().any(|task| !task.ticked) {
            git.refuse_if_in_progress()?;
            git.refuse_broken_index()?;
        }
    }
    let project_lock = match &git {
        Some(git) => look_undisturbed(git, file, &state, &mut |note| view(&state, Notice::Note(note)))?,
        None => None,
    };
    let dirty = dirty(project, file, settings, &state, &files)?;
    drop(project_lock);
    // What was done about an earlier run's attempts is recorded; the rest is about how this one begins.
    let found = recover(git.as_ref(), &mut plan_files, &state, file)?;
    let inbox = Inbox::new();
    inbox.listen_to_signals().map_err(RunError::io("listen to signals for", &file.home))?;
    view(&state, Notice::Ready(inbox.responder()));
    let lifecycle = rules(settings, &plan_files).pull_request.lifecycle;
    let notes = outside(project, file).into_iter().chain(remarks(project, &plan_files, &state));
    let on_branch = settings.branch.as_ref().map(|branch| format!("commits go to branch {branch}"));
    let on_default = git.as_ref().filter(|_| is_new(&state)).and_then(on_default_branch).or(on_branch);
    for note in without_git(project).into_iter().chain(on_default).chain(torn).chain(notes) {
        view(&state, Notice::Note(note));
    }
    let tasks = plan_files.decls(&state);
    let base = settings.pull_request.base.as_deref();
    let survey = Survey { git: git.as_ref(), base, project, file, runtime: &runtime };
    // Once the tasks are done the pull request itself tells. An answer is taken whatever is in the way.
    let is_due = is_start && lifecycle.is_on() && tasks.iter().any(|task| !task.ticked);
    let surveyed = if is_due { survey.make(&inbox)? } else { Surveyed::Clear };
    let is_interrupted = matches!(surveyed, Surveyed::Interrupted);
    heed(surveyed, settings, &mut |notice| view(&state, notice))?;
    let (parallel, reason) = side_by_side(git.as_ref(), settings, &dirty);
    if let Some(note) = one_by_one(request, reason, &tasks)? {
        view(&state, Notice::Note(note));
    }
    let rules = Rules { parallel, prove: proves(git.as_ref(), settings), ..rules(settings, &plan_files) };
    let head = git.as_ref().map_or(Ok(None), Git::head)?.map(|head| head.as_str().to_owned());
    let (launch, surroundings) = (settings.launch.clone(), surroundings(git.as_ref()));
    let opening = Opening { rules, tasks, dirty, head, launch, surroundings, ..Opening::default() };
    rehearse(request, &state, &opening)?;
    let slots = git.as_ref().map(|git| Slots::new(git, &file.key(), &settings.worktrees));
    let world = World::new(request, (plan_files, files, slots), (runtime, inbox.sender()));
    let (journal, projections) = record.map_or_else(|| fresh_record(project, file), Ok)?;
    let journal = journal.guarded_by(lock);
    let driver = Driver::new(request, (journal, state), (world, projections), inbox, view).with_notes(found);
    let driver = if is_interrupted { driver.interrupted() } else { driver };
    driver.drive(opening).map_err(|error| RunError::Midway(Box::new(error)))
}

/// Refuses to begin without the sandbox that was asked for.
pub(super) fn refuse_without_sandbox(settings: &Settings) -> Result<(), RunError> {
    let is_wanted = settings.sandbox != Sandboxing::Off;
    let reason = is_wanted.then(process::no_sandbox).flatten();
    reason.map_or(Ok(()), |reason| Err(RunError::NoSandbox { reason }))
}

/// Refuses what is told and has no effect before anything is recorded: what lies in the folder comes first, as it will.
fn rehearse(request: &Request<'_>, state: &State, opening: &Opening) -> Result<(), RunError> {
    let Beginning::Told(directive, _) = &request.beginning else { return Ok(()) };
    let folder = Folder::below(&request.file.home);
    let mut state = state.clone();
    let mut see = |seen: Seen| {
        let event = decide(&state, Observation { at: now(), seen });
        // Whatever cannot be applied is found out when it is recorded.
        event.is_some_and(|event| state.apply(&event).is_ok())
    };
    see(Seen::Started(opening.clone()));
    let entries = folder.entries().map_err(RunError::io("read", folder.path()))?;
    for entry in entries.into_iter().filter_map(|(_, entry)| entry.ok()) {
        see(Seen::Directed(Box::new(entry.directive)));
    }
    weigh(&state, directive, now()).map(drop).map_err(|refusal| RunError::Refused(Box::new(refusal)))
}

/// Makes the folder of ours for a plan, which its user alone can look into, as all that is beside it.
pub(crate) fn make_private(home: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    let own = home.parent().unwrap_or(home);
    if fs::metadata(own)?.permissions().mode() & 0o077 != 0 {
        // Where it is another user's, that user decides.
        let _ = fs::set_permissions(own, fs::Permissions::from_mode(0o700));
    }
    Ok(())
}

/// Has git leave out what the program writes for itself.
pub(crate) fn keep_own_files_out(git: &Git) -> Result<(), GitError> {
    git.exclude(&OWN_PATTERNS)?;
    git.hide(OWN_FOLDER)
}

/// Reads the plan, unless it cannot be run.
pub(super) fn read_plan(request: &Request<'_>) -> Result<PlanFiles, RunError> {
    let Request { project, file, settings, .. } = request;
    let plan_files =
        PlanFiles::open(file, settings.strict).map_err(|(path, source)| RunError::Plan { path, source })?;
    let plan_files = plan_files.with_regression(settings.regression.as_ref());
    refuse_bad_plan(project, file, settings, &plan_files)?;
    Ok(plan_files)
}

/// Without git there is no commit to prove.
fn proves(git: Option<&Git>, settings: &Settings) -> Prove {
    if git.is_some() { settings.rules.prove } else { Prove::Off }
}

/// The policy, with what the plan itself asks for where nobody said otherwise.
pub(super) fn rules(settings: &Settings, plan_files: &PlanFiles) -> Rules {
    let of_plan = if plan_files.names_pr_lifecycle() { Toggle::On } else { Toggle::Off };
    let mut rules = settings.rules.clone();
    rules.pull_request.lifecycle = settings.pull_request.wanted.unwrap_or(of_plan);
    rules
}

fn refuse_bad_plan(
    project: &Project,
    file: &PlanFile,
    settings: &Settings,
    plan_files: &PlanFiles,
) -> Result<(), RunError> {
    let path = project.relative(&file.path).to_owned();
    let decls = plan_files.decls(&State::default());
    let errors = plan_files.problems().filter(|(_, problem)| problem.severity == Severity::Error);
    let problems: Vec<_> =
        errors.map(|(file, problem)| (project.relative(file).to_owned(), problem.clone())).collect();
    // That there are no tasks is a problem of the plan as well; alone, it has a better message.
    if decls.is_empty() && problems.len() <= 1 {
        return Err(RunError::EmptyPlan { path });
    }
    if !problems.is_empty() {
        return Err(RunError::Malformed { path, problems });
    }
    let is_unverifiable = |decl: &&TaskDecl| !decl.ticked && decl.verification == Verification::Judgement;
    if settings.rules.unverifiable == Unverifiable::Refuse {
        let tasks: Vec<TaskId> = decls.iter().filter(is_unverifiable).map(|decl| decl.id.clone()).collect();
        if !tasks.is_empty() {
            return Err(RunError::Unverifiable { tasks });
        }
    }
    Ok(())
}

/// The remarks on the plan before the run begins: what of it is done already, and what is not heeded.
fn remarks(project: &Project, plan_files: &PlanFiles, state: &State) -> Vec<String> {
    let plans = plan_files.done_elsewhere(state);
    let (verb, whose) = match plans.len() {
        1 => ("is", "its summary lies beside it"),
        _ => ("are", "their summaries lie beside them"),
    };
    let done =
        (!plans.is_empty()).then(|| format!("{} {verb} done already and skipped: {whose}", plans.join(", ")));
    let left_out = match plan_files.left_out() {
        0 => None,
        1 => Some("one optional task is left out (`--optional` has it done as well)".to_owned()),
        number => Some(format!("{number} optional tasks are left out (`--optional` has them done as well)")),
    };
    done.into_iter().chain(left_out).chain(unheeded(project, plan_files)).collect()
}

/// The unheeded things in the plan, as far as there is room to tell.
fn unheeded(project: &Project, plan_files: &PlanFiles) -> Vec<String> {
    let told = |(path, problem): (&Path, Problem)| {
        let hint = problem.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}:{}: {}{hint}", project.relative(path).display(), problem.line, problem.message)
    };
    let mut all = plan_files.unheeded();
    let mut notes: Vec<String> = all.by_ref().take(UNHEEDED_TOLD_MAX).map(told).collect();
    let more = all.count();
    if more > 0 {
        notes.push(format!("{more} more such things are in the plan: `tillgreen check` names them"));
    }
    notes
}

/// Locks the project where it is about to be looked at, so that no other run works in it meanwhile.
fn look_undisturbed(
    git: &Git,
    file: &PlanFile,
    state: &State,
    tell: &mut dyn FnMut(String),
) -> Result<Option<ProjectLock>, RunError> {
    if !is_new(state) {
        await_start(git, tell);
        return Ok(None);
    }
    // Nobody lets go of this wait: signals still end the program at once.
    let ((_release, released), mut looks) = (Release::new(), 0);
    let wait = || pause(&released, ("this run", &mut looks), &mut *tell);
    let lock = ProjectLock::take(&file.lock_folder(), wait)?;
    await_start(git, tell);
    Ok(lock)
}

/// A git of a run that died may still be at work, and all that follows would wait for it without a word. Signals still
/// end the program at once.
fn wait_for_earlier(git: &Git, state: &State, tell: &mut dyn FnMut(String)) {
    if state.opened().is_some() {
        git.outwait_earlier(tell);
    }
}

/// The way in which tasks can run side by side here and, where they cannot, the reason.
pub(crate) fn side_by_side(
    git: Option<&Git>,
    settings: &Settings,
    dirty: &[String],
) -> (Parallel, Option<String>) {
    let wanted = settings.rules.parallel.clone();
    let alone = |reason: String| {
        let isolation = Isolation::Trees;
        (Parallel { jobs: 1, isolation, ..wanted.clone() }, Some(reason))
    };
    let (Some(git), Isolation::Trees | Isolation::Always) = (git, wanted.isolation) else {
        let reason = (wanted.isolation == Isolation::Always).then(|| "there is no git repository".to_owned());
        return (Parallel { isolation: Isolation::Shared, ..wanted }, reason);
    };
    if wanted.jobs <= 1 && wanted.isolation == Isolation::Trees {
        return (wanted, None);
    }
    if settings.bookkeeping == Bookkeeping::Agent {
        return alone("agents keep the books themselves".to_owned());
    }
    // Nobody but this program reads these.
    if let Some(path) = dirty.iter().find(|path| !OWN_SETTINGS.contains(&path.as_str())) {
        return alone(format!(
            "there are uncommitted changes ({path}), which work trees of tasks would not see"
        ));
    }
    match git.parallelism() {
        Ok(Parallelism::Possible) => (wanted, None),
        Ok(Parallelism::Sequential(reason)) => alone(reason.to_string()),
        Err(error) => alone(error.to_string()),
    }
}

/// The note where tasks run one by one for a reason. Whoever asked for more outright learns at once that it cannot be.
fn one_by_one(
    request: &Request<'_>,
    reason: Option<String>,
    tasks: &[TaskDecl],
) -> Result<Option<String>, RunError> {
    let Some(reason) = reason else { return Ok(None) };
    let Request { settings, beginning, .. } = request;
    let is_start = matches!(beginning, Beginning::Resume | Beginning::Fresh);
    let is_asked_for = settings.rules.parallel.isolation == Isolation::Always;
    if is_asked_for && is_start && tasks.iter().any(|task| !task.ticked) {
        return Err(RunError::NotIsolated { reason });
    }
    Ok(is_wide(tasks, settings).then(|| format!("tasks run one by one: {reason}")))
}

/// True if anything in the plan could run side by side.
fn is_wide(tasks: &[TaskDecl], settings: &Settings) -> bool {
    let open = || tasks.iter().filter(|task| !task.ticked);
    let is_spec = settings.rules.dialect == plan::Dialect::Spec;
    let is_marked = |task: &&TaskDecl| task.parallel || !is_spec;
    settings.rules.parallel.infer.is_on() || open().filter(is_marked).count() > 1
}

/// The note where there is no repository.
fn without_git(project: &Project) -> Option<String> {
    let root = project.root().display();
    project.git().is_none().then(|| {
        format!("{root} is not a git repository: nothing is committed, and what a task changed is not known")
    })
}

/// The note where a run would commit to the default branch.
fn on_default_branch(git: &Git) -> Option<String> {
    let branch = git.branch().ok()??;
    let told = git.remotes().ok()?.iter().find_map(|remote| git.default_branch(remote).ok()?);
    let is_default = match told {
        Some(default) => default == branch,
        None => DEFAULT_BRANCHES.contains(&branch.as_str()),
    };
    is_default
        .then(|| format!("commits go to {branch}, the default branch; `--branch NAME` works on another"))
}

/// The note on a plan that lies outside the project.
fn outside(project: &Project, file: &PlanFile) -> Option<String> {
    let is_outside = project.git().is_some() && project.relative(&file.path).is_absolute();
    is_outside.then(|| {
        let (plan, root) = (file.path.display(), project.root().display());
        format!("{plan} lies outside of {root}: boxes and progress are written there and not committed")
    })
}

/// Acts on the survey. Who asks for a pull request outright learns at once that there cannot be one; where only the
/// plan speaks of it, its tasks are worth doing all the same.
fn heed(surveyed: Surveyed, settings: &Settings, tell: &mut dyn FnMut(Notice<'_>)) -> Result<(), RunError> {
    let is_asked_for = settings.pull_request.wanted.is_some_and(Toggle::is_on);
    match surveyed {
        Surveyed::Obstructed(obstacle) if is_asked_for => return Err(RunError::NoPullRequest { obstacle }),
        Surveyed::Obstructed(obstacle) => tell(Notice::Foreseen(&obstacle)),
        Surveyed::Unknown(reason) => tell(Notice::Note(format!(
            "whether there can be a pull request is not known: {reason}; the tasks come first, then it is tried again"
        ))),
        Surveyed::Clear | Surveyed::Interrupted => {}
    }
    Ok(())
}

/// Puts the record where it is kept but not read: the journal last, so that what lies beside it never tells of more.
fn put_aside(file: &PlanFile) -> Result<(), RunError> {
    let stamp = jiff::Timestamp::now();
    move_aside(file, &file.attempts(), stamp, "attempts")?;
    move_aside(file, &file.state(), stamp, "ralph-state.json")?;
    move_aside(file, &file.journal(), stamp, "journal.jsonl")
}

fn move_aside(file: &PlanFile, from: &Path, at: jiff::Timestamp, name: &str) -> Result<(), RunError> {
    let archive = file.home.join("archive");
    fs::create_dir_all(&archive).map_err(RunError::io("create", &archive))?;
    if from.exists() {
        let to = archive.join(format!("{}-{name}", at.strftime("%Y%m%dT%H%M%S%3fZ")));
        fs::rename(from, to).map_err(RunError::io("move aside", from))?;
    }
    Ok(())
}

/// A journal, and the files beside it that are made from it.
type Record = (Journal, Projections);

/// The record that the run goes on from, and what it amounts to. What a fresh start puts aside stays where it is until
/// nothing can be refused any more.
fn earlier_record(request: &Request<'_>) -> Result<(Option<Record>, State, Option<String>), RunError> {
    if request.beginning == Beginning::Fresh {
        return Ok((None, State::default(), None));
    }
    let (record, state, torn) = open_record(request.project, request.file)?;
    Ok((Some(record), state, torn))
}

/// A record in which nothing has happened; any other is put aside.
fn fresh_record(project: &Project, file: &PlanFile) -> Result<Record, RunError> {
    put_aside(file)?;
    Ok(open_record(project, file)?.0)
}

/// The record of a plan with the state that it amounts to, and what to say of a torn last line.
fn open_record(project: &Project, file: &PlanFile) -> Result<(Record, State, Option<String>), RunError> {
    let mut projections = Projections::open(project, file)?;
    let mut state = State::default();
    let mut last = None;
    let mut impossible = None;
    let (journal, opened) = Journal::open(&file.journal(), |event: Event| {
        if impossible.is_none() {
            impossible = state.apply(&event).err();
        }
        last = Some(event);
    })?;
    if let Some(source) = impossible {
        return Err(RunError::Impossible { path: file.journal(), source });
    }
    refuse_lost_events(file, &state)?;
    let torn = opened.torn.map(|torn| {
        format!(
            "the journal's last line was cut short and is kept in {}; nothing that counted is lost",
            torn.kept_in.display()
        )
    });
    if let (Some(last), None) = (&last, state.end()) {
        projections.catch_up(project, last, &state)?;
    }
    Ok(((journal, projections), state, torn))
}

/// An attempt has a folder only after its start was durable. Where one is not in the journal, events were lost that were
/// acted upon, as on a disk that kept nothing of what it was told to: whoever went on would do finished work again. With
/// the whole journal gone, the boxes tell what is done.
fn refuse_lost_events(file: &PlanFile, state: &State) -> Result<(), RunError> {
    let Ok(entries) = fs::read_dir(file.attempts()) else { return Ok(()) };
    let is_unknown = |name: &String| {
        let number = name.split('-').next().and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| number > state.last_dispatch().0)
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    match names.filter(is_unknown).min() {
        Some(_) if state.opened().is_none() => {
            move_aside(file, &file.attempts(), jiff::Timestamp::now(), "attempts")
        }
        Some(attempt) => Err(RunError::Incomplete { path: file.journal(), attempt }),
        None => Ok(()),
    }
}

/// True if a run begins, rather than goes on.
fn is_new(state: &State) -> bool {
    state.opened().is_none() || matches!(state.end(), Some(engine::End::Complete { .. }))
}

/// Paths that no commit of ours may take in. At the start of a new run there must be none, unless that was
/// accepted; what belongs to the plan does not count.
fn dirty(
    project: &Project,
    file: &PlanFile,
    settings: &Settings,
    state: &State,
    files: &ProjectFiles<'_>,
) -> Result<Vec<String>, RunError> {
    if let (Some(opened), false) = (state.opened(), is_new(state)) {
        return Ok(opened.dirty.clone());
    }
    let dirty = files.dirty()?;
    let dir = project.relative(&file.dir).to_string_lossy().into_owned();
    let belongs = |path: &String| {
        let in_dir = !dir.is_empty() && path.strip_prefix(&dir).is_some_and(|rest| rest.starts_with('/'));
        in_dir || OWN_SETTINGS.contains(&path.as_str())
    };
    let foreign: Vec<String> = dirty.iter().filter(|path| !belongs(path)).cloned().collect();
    if !foreign.is_empty() && !settings.allow_dirty.is_on() {
        return Err(RunError::Dirty { paths: foreign });
    }
    Ok(dirty)
}

/// After a crash: ends what was left running, frees git, and takes back what an attempt that nobody watched
/// to its end did to the boxes.
fn recover(
    git: Option<&Git>,
    plan_files: &mut PlanFiles,
    state: &State,
    file: &PlanFile,
) -> Result<Vec<String>, RunError> {
    if state.opened().is_none() {
        return Ok(Vec::new());
    }
    if state.end().is_some() {
        // After its end a run may still have been committing something when it was cut off.
        git.map_or(Ok(()), Git::clear_stale_lock)?;
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    let killed = process::sweep(&format!("{}={}", crate::attempt::invocation::MARKER, file.home.display()));
    if killed > 0 {
        let (noun, verb) = if killed == 1 { ("process", "was") } else { ("processes", "were") };
        notes.push(format!("{killed} {noun} of the run that died {verb} still there and {verb} ended"));
    }
    if let Some(git) = git {
        git.clear_stale_lock()?;
    }
    // A tick that an agent made is taken back when its attempt fails; a crash may have come before that.
    let is_suspect = |task: &engine::Task| matches!(task.status, Status::Running(_) | Status::Failed);
    if state.attention().any(is_suspect) {
        notes.extend(put_boxes_back(plan_files, state, &file.path)?);
    }
    Ok(notes)
}

fn put_boxes_back(plan_files: &mut PlanFiles, state: &State, path: &Path) -> Result<Vec<String>, RunError> {
    let mut notes = Vec::new();
    for decl in plan_files.decls(state) {
        let Some(task) = state.task(&decl.id) else { continue };
        let is_checked = task.status.is_active() && !matches!(task.status, Status::Running(_));
        let should = task.status == Status::Done;
        if is_checked || task.status == Status::Skipped || decl.ticked == should {
            continue;
        }
        let edited = if should { plan_files.tick_again(&decl.id) } else { plan_files.untick(&decl.id) };
        edited.map_err(RunError::io("write", path))?;
        notes.push(format!(
            "the box of task {} was changed while an attempt was running that did not end; it was put back",
            decl.id
        ));
    }
    Ok(notes)
}

/// A thread that watches children. It lives as long as the program: the kernel takes the end of the thread
/// that started a child for the end of its parent.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("children".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(handle)
}
