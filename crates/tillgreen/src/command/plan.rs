//! `tillgreen plan`: an agent writes a plan for a goal, or commands for tasks that have none. It does so in a run of its
//! own in a copy of the project; what comes of that is shown, and taken if a person accepts it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Dialect, End, Isolation, OnExhausted, Prove, Recovery, Role, State, Toggle};
use runner::{
    Beginning, Bookkeeping, Brief, Draft, Examined, PlanFile, PlanningError, Project, RedBefore, Request,
    Scope, Settings, Wanted,
};

use crate::args::{Format, PlanningArgs};
use crate::cli::{Context, Ended};
use crate::error::{Error, Kind};
use crate::exit;
use crate::settings::{Attendance, FileSettings, Programs, Sources, proof_settings, resolve};
use crate::view::facts::Verbosity;
use crate::view::screen::Screen;
use crate::view::subject::Subject;
use crate::view::text::{clean, clean_lines, one_line, quoted};
use crate::view::{json, proposal};

/// The time for the examination of a draft: its own limits are shorter, but for setting up a work tree.
const EXAMINATION_TIME: Duration = Duration::from_secs(45 * 60);
/// Words and characters of a name that is made from a goal.
const NAME_WORDS_MAX: usize = 5;
const NAME_CHARS_MAX: usize = 40;
/// Characters of a goal in a message.
const GOAL_CHARS_MAX: usize = 100;

/// The thing that is wished for.
struct Wish {
    /// The name of the spec.
    name: String,
    /// The plan, from the project's root.
    plan: PathBuf,
    /// What an agent is to write; none where only what was begun is meant.
    wanted: Option<Wanted>,
    /// The command by which it goes on.
    again: String,
}

/// Has a plan, or commands, written, shows them, and takes them if they are accepted.
pub(crate) fn run(context: &mut Context, arguments: &PlanningArgs) -> Ended {
    let project = context.project()?;
    let of_file = FileSettings::load(project.root())?;
    of_file.mask();
    project.refuse_foreign_record()?;
    let Some(wish) = Wish::read(context, &project, arguments)? else { return Ok(exit::DONE) };
    let draft = Draft::open(&project, &wish.plan, &proof_settings(&of_file).worktrees)?;
    let brief = match begun(&draft, &wish, arguments)? {
        Some(brief) => brief,
        None => match begin(&draft, &wish, (&project, arguments, &of_file)) {
            Ok(brief) => brief,
            Err(error) => {
                // What else there is, is the reason why it was not begun.
                let _ = draft.brief().is_none().then(|| draft.remove());
                return Err(error);
            }
        },
    };
    let (copy, file) = draft.run()?;
    let is_proposed = draft.proposal().is_some();
    let state = match is_proposed {
        true => runner::load(&file, |_| ())?,
        false => Some(write(context, (&copy, &file), (&draft, &wish, &brief), (arguments, &of_file))?),
    };
    let Some(proposed) = draft.proposal() else {
        return Err(Error::new(Kind::Ended(exit::STOPPED), "nothing was proposed")
            .hint(format!("begin anew with `{} --fresh`", wish.again)));
    };
    if draft.is_accepted(&proposed) {
        wind_up((&project, draft), (&wish, &brief))?;
        say(context, &format!("{} is as it was proposed: nothing is left to accept", brief.plan))?;
        return Ok(exit::DONE);
    }
    if is_proposed {
        note("this was proposed before, and waits to be accepted");
    }
    let shown =
        proposal::Shown { name: &wish.name, brief: &brief, proposed: &proposed, state: state.as_ref() };
    offer(context, (&project, draft), &shown, (&wish, arguments))
}

impl Wish {
    /// What the arguments ask for; none where there is nothing to do, which is said.
    fn read(
        context: &mut Context,
        project: &Project,
        arguments: &PlanningArgs,
    ) -> Result<Option<Self>, Error> {
        let folder = (context.dir != Path::new("."))
            .then(|| format!(" -C {}", quoted(&context.dir.display().to_string())));
        let program = format!("tillgreen{} plan", folder.unwrap_or_default());
        if arguments.verify {
            Self::of_commands(context, project, (arguments, &program))
        } else {
            Self::of_plan((arguments, &program)).map(Some)
        }
    }

    fn of_plan((arguments, program): (&PlanningArgs, &str)) -> Result<Self, Error> {
        let goal = arguments.words.join(" ");
        let goal = goal.trim();
        let name = arguments.name.clone().unwrap_or_else(|| name_of(goal));
        if let Some(problem) = super::new::name_problem(&name) {
            let error = if goal.is_empty() && arguments.name.is_none() {
                Error::usage("what is to be planned?")
                    .hint("say it in words, as in `tillgreen plan add rate limiting`")
            } else {
                Error::usage(format!("a spec cannot be called {name:?}: {problem}"))
            };
            return Err(error.hint("`--name NAME` gives the new spec its name, `--verify [PLAN]` has commands written for a plan that is there"));
        }
        Ok(Self {
            plan: Path::new("specs").join(&name).join("tasks.md"),
            wanted: (!goal.is_empty()).then(|| Wanted::Plan { goal: goal.to_owned() }),
            again: format!("{program} --name {}", quoted(&name)),
            name,
        })
    }

    fn of_commands(
        context: &mut Context,
        project: &Project,
        (arguments, program): (&PlanningArgs, &str),
    ) -> Result<Option<Self>, Error> {
        let ([] | [_]) = arguments.words.as_slice() else {
            return Err(Error::usage("one plan at a time").hint("`tillgreen plan --verify PLAN`"));
        };
        let argument = arguments.words.first().map(String::as_str);
        let (file, subject) = context.plan(project, argument)?;
        if file.dialect == Dialect::Phase {
            return Err(Error::usage(format!(
                "{} has *-PLAN.md files, which are never written",
                subject.path
            ))
            .hint("add `<automated>` with a command to the `<verify>` of its tasks by hand"));
        }
        let plans = super::check::read(&file)?;
        let Some((_, plan)) = plans.first() else { return Ok(None) };
        if plan.unverified().is_empty() {
            let path = &subject.path;
            say(
                context,
                &format!("{path}: every open task says how it is verified, so there is nothing to propose"),
            )?;
            return Ok(None);
        }
        let argument = argument.map(|argument| format!(" {}", quoted(argument)));
        Ok(Some(Self {
            name: file.name.clone(),
            plan: project.relative(&file.path).to_owned(),
            wanted: Some(Wanted::Commands { original: plan.text().to_owned() }),
            again: format!("{program} --verify{}", argument.unwrap_or_default()),
        }))
    }
}

/// A name for a spec, from the first words of a goal.
fn name_of(goal: &str) -> String {
    let words = goal.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(NAME_WORDS_MAX).map(str::to_lowercase).collect();
    let mut name = words.join("-");
    while name.chars().count() > NAME_CHARS_MAX {
        name = match name.rsplit_once('-') {
            Some((shorter, _)) => shorter.to_owned(),
            None => name.chars().take(NAME_CHARS_MAX).collect(),
        };
    }
    name
}

/// What was begun before, if it is that which is wished for now.
fn begun(draft: &Draft, wish: &Wish, arguments: &PlanningArgs) -> Result<Option<Brief>, Error> {
    let Some(brief) = draft.brief().filter(|_| !arguments.fresh) else { return Ok(None) };
    match (&brief.wanted, &wish.wanted) {
        (earlier, Some(wanted)) if earlier == wanted => Ok(Some(brief)),
        (_, None) => Ok(Some(brief)),
        (Wanted::Plan { goal }, Some(_)) => {
            let message = format!(
                "a plan for another goal was begun as '{}': “{}”",
                wish.name,
                one_line(goal, GOAL_CHARS_MAX)
            );
            Err(Error::usage(message)
                .hint(format!("go on with that by `{}`", wish.again))
                .hint("or give the new one another name with `--name NAME`; `--fresh` drops what was begun"))
        }
        (Wanted::Commands { .. }, Some(_)) if arguments.accept && draft.proposal().is_some() => {
            // What would be proposed now is not what was looked at.
            let plan = wish.plan.display();
            Err(Error::usage(format!("{plan} was changed since the commands were proposed for it"))
                .hint(format!("have them proposed anew by `{}`, and look at them", wish.again)))
        }
        (Wanted::Commands { .. }, Some(_)) => {
            note("the plan was changed since commands were begun for it: they are begun anew");
            Ok(None)
        }
    }
}

/// Begins a draft, if there is an agent to write it.
fn begin(
    draft: &Draft,
    wish: &Wish,
    (project, arguments, of_file): (&Project, &PlanningArgs, &FileSettings),
) -> Result<Brief, Error> {
    let Some(wanted) = wish.wanted.clone() else {
        return Err(Error::usage(format!("nothing was begun as '{}'", wish.name))
            .hint("say what is to be reached, as in `tillgreen plan add rate limiting`"));
    };
    draft.refuse_taken(&wanted)?;
    resolve(Sources {
        flags: arguments.layer(),
        file: of_file,
        earlier: None,
        state_file: None,
        attendance: Attendance::Unattended,
        dialect: Dialect::Spec,
        programs: &Programs::of_environment(project.root()),
    })?;
    let program = std::env::current_exe()
        .map_err(|error| Error::new(Kind::Unavailable, "cannot find this program").because(error))?;
    let examine = format!("{} examine", quoted(&program.display().to_string()));
    Ok(draft.begin(wanted, &examine)?)
}

/// Has the draft written; gives what is known of that in the end.
fn write(
    context: &Context,
    (copy, file): (&Project, &PlanFile),
    (draft, wish, brief): (&Draft, &Wish, &Brief),
    (arguments, of_file): (&PlanningArgs, &FileSettings),
) -> Result<State, Error> {
    let settings = super::run::settings(copy, file, arguments.layer(), of_file)?.settings;
    let settings = for_planning(settings, brief);
    let subject =
        Subject::new(copy.root(), copy, file, Some(&copy.relative(&file.dir).display().to_string()));
    let subject = Subject {
        name: wish.name.clone(),
        path: brief.plan.clone(),
        instead: Some(wish.again.clone()),
        ..subject
    };
    let request = Request { project: copy, file, settings: &settings, beginning: Beginning::Resume };
    let mut screen = Screen::new(context.format, Verbosity::Facts, subject.clone(), settings.clone());
    let finished = runner::run(&request, &mut |state, notice| screen.show(state, notice));
    drop(screen);
    let finished = finished.map_err(|error| Error::from(error).about(&subject))?;
    match finished.state.end() {
        Some(End::Complete { .. }) => Ok(finished.state),
        Some(_) | None => Err(proposal::stopped(&subject, &finished.state, &draft.path(brief))),
    }
}

/// The settings of a run that writes a draft. Of what follows a task, only its command and retries are left: the work of
/// others begins once a person has accepted the draft.
fn for_planning(settings: Settings, brief: &Brief) -> Settings {
    let mut rules = settings.rules;
    rules.worker = Role::Planner;
    rules.recovery = Recovery::Off;
    rules.on_exhausted = OnExhausted::Stop;
    rules.review = Toggle::Off;
    rules.regression = Toggle::Off;
    rules.prove = Prove::Off;
    (rules.parallel.jobs, rules.parallel.isolation) = (1, Isolation::Trees);
    let pull_request = runner::PullRequest { wanted: Some(Toggle::Off), ..settings.pull_request };
    Settings {
        rules,
        pull_request,
        report_tools: Toggle::Off,
        verify_timeout: EXAMINATION_TIME,
        bookkeeping: Bookkeeping::Coordinator,
        scope: Scope::Off,
        strict: Toggle::Off,
        red_before: RedBefore::Off,
        branch: None,
        allow_dirty: Toggle::On,
        regression: None,
        planning: Some(brief.clone()),
        ..settings
    }
}

/// Shows what is proposed, and takes it if it is accepted.
fn offer(
    context: &mut Context,
    (project, draft): (&Project, Draft),
    shown: &proposal::Shown<'_>,
    (wish, arguments): (&Wish, &PlanningArgs),
) -> Ended {
    let difference = draft.difference(shown.brief, shown.proposed)?;
    if context.format == Format::Text {
        write!(context.out, "\n{}\n{}", clean_lines(&runner::mask(&difference)), shown.summary())?;
        context.out.flush()?;
    }
    let is_accepted =
        arguments.accept || context.format == Format::Text && asks() && is_yes(&shown.question());
    if is_accepted {
        draft
            .accept(shown.brief, shown.proposed)
            .map_err(|error| Error::from(error).hint(format!("begin anew with `{} --fresh`", wish.again)))?;
    }
    if context.format == Format::Json {
        json::line(&mut context.out, &shown.document(&difference, is_accepted))?;
    }
    if !is_accepted {
        return Err(Error::new(
            Kind::Ended(exit::WAITING),
            "what is proposed waits to be accepted; nothing was changed",
        )
        .hint(format!("take it with `{} --accept`", wish.again))
        .hint(format!("or drop it and begin anew with `{} --fresh` and other words", wish.again)));
    }
    wind_up((project, draft), (wish, shown.brief))?;
    if context.format == Format::Text {
        write!(context.out, "{}", shown.accepted())?;
    }
    Ok(exit::DONE)
}

/// Makes a new plan the active spec, and removes its draft.
fn wind_up((project, draft): (&Project, Draft), (wish, brief): (&Wish, &Brief)) -> Result<(), Error> {
    if matches!(brief.wanted, Wanted::Plan { .. }) {
        project.activate(&wish.name).map_err(|error| Error::file("write", &project.pointer(), error))?;
    }
    Ok(draft.remove()?)
}

/// Says what there is to say where nothing is proposed.
fn say(context: &mut Context, text: &str) -> io::Result<()> {
    match context.format {
        Format::Text => writeln!(context.out, "{}", clean(text)),
        Format::Json => json::line(&mut context.out, &BTreeMap::from([("note", text)])),
    }
}

/// True if there is a person who can be asked.
fn asks() -> bool {
    super::run::attendance() == Attendance::Attended
}

/// Asks a person at the terminal. Silence is never consent.
fn is_yes(question: &str) -> bool {
    // Who cannot be asked does not answer.
    let _ = write!(io::stderr(), "\n{question} [y/N] ").and_then(|()| io::stderr().flush());
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn note(text: &str) {
    // Where nobody reads it, the work goes on all the same.
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Examines the draft in the copy of a project, as the verify command of the run that writes it.
pub(crate) fn examine(context: &mut Context) -> Ended {
    let copy = context.project()?;
    let brief = Brief::of_copy(copy.root())?;
    let of_file = FileSettings::load(Path::new(&brief.project))?;
    of_file.mask();
    match runner::examine(copy.root(), &proof_settings(&of_file).worktrees)? {
        Examined::Right(_) => {
            writeln!(context.out, "nothing is wrong with it")?;
            Ok(exit::DONE)
        }
        Examined::Wrong(problems) => {
            for problem in problems {
                writeln!(context.out, "{}", clean(&problem))?;
            }
            Ok(exit::STOPPED)
        }
    }
}

impl From<PlanningError> for Error {
    fn from(error: PlanningError) -> Self {
        let hint = match &error {
            PlanningError::NoGit => {
                "`git init` makes one, and `git add --all && git commit` its first commit"
            }
            PlanningError::NoCommit => "`git add --all && git commit` makes one",
            PlanningError::Taken { .. } => {
                "give the new plan another name with `--name NAME`, or remove that one first"
            }
            PlanningError::Changed { .. } => "nothing was changed",
            PlanningError::Unreadable { .. } => "`tillgreen plan` starts this by itself",
            PlanningError::Interrupted => {
                return Error::new(Kind::Ended(exit::INTERRUPTED), error.to_string());
            }
            PlanningError::Locate(_) | PlanningError::Run(_) => return Error::from_planning(error),
        };
        Error::from_source(Kind::Usage, error).hint(hint)
    }
}

impl Error {
    /// An error that is one of a run as well.
    fn from_planning(error: PlanningError) -> Self {
        match error {
            PlanningError::Locate(error) => error.into(),
            PlanningError::Run(runner::RunError::Lock(error)) => {
                Error::new(Kind::Held, "somebody else writes or runs this plan")
                    .because(error)
                    .hint("wait until that is over, then try again")
            }
            PlanningError::Run(error) => error.into(),
            error @ (PlanningError::NoGit
            | PlanningError::NoCommit
            | PlanningError::Changed { .. }
            | PlanningError::Taken { .. }
            | PlanningError::Interrupted
            | PlanningError::Unreadable { .. }) => Error::from_source(Kind::Usage, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_from_goals() {
        for (goal, expected) in [
            ("Add rate limiting", "add-rate-limiting"),
            ("Let people log in, with a password; and more", "let-people-log-in-with"),
            ("naïve Größe 2.0!", "naïve-größe-2-0"),
            (
                "internationalization-of-everything-that-is-shown-to-people",
                "internationalization-of-everything-that",
            ),
            ("...", ""),
            ("../../etc/passwd", "etc-passwd"),
        ] {
            assert_eq!(name_of(goal), expected, "{goal}");
        }
        assert_eq!(name_of(&"x".repeat(100)).len(), NAME_CHARS_MAX);
    }
}
