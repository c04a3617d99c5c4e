//! `tillgreen check`: reads a plan and says what it sees and what is wrong. Runs nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Parallel, Rules, Toggle};
use plan::{Dialect, Markers, Plan, Problem, ScriptLint, Severity, Task, TaskType, Verify};
use runner::{PlanFile, declared, order_problems};
use serde::Serialize;

use crate::args::{CheckArgs, Format, GraphForm};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{Choices, FileSettings, beside};
use crate::view::graph::Graph;
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::text::{clean, count, one_line};

/// Characters of a title, and of a command, on a line.
const TITLE_CHARS_MAX: usize = 48;
const COMMAND_CHARS_MAX: usize = 60;

/// What was found.
#[derive(Serialize)]
struct Report {
    plan: String,
    path: String,
    phases: Vec<PhaseRow>,
    tasks: Vec<TaskRow>,
    problems: Vec<ProblemRow>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct PhaseRow {
    title: String,
    line: usize,
}

#[derive(Serialize)]
struct TaskRow {
    id: String,
    title: String,
    line: usize,
    done: bool,
    /// The number of its phase in `phases`.
    phase: Option<usize>,
    markers: Vec<String>,
    verify: VerifyKind,
    /// The commands, or the prose.
    verify_text: Vec<String>,
}

/// How a task is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum VerifyKind {
    Runnable,
    Several,
    Prose,
    None,
}

#[derive(Serialize)]
struct ProblemRow {
    line: usize,
    severity: &'static str,
    message: String,
    hint: Option<String>,
    task: Option<String>,
}

/// Prints tasks and problems.
pub(crate) fn run(context: &mut Context, arguments: &CheckArgs) -> Ended {
    let project = context.project()?;
    let (file, _) = context.plan(&project, arguments.plan.as_deref())?;
    if let Some(form) = arguments.graph {
        let settings = FileSettings::load(project.root())?;
        let infer_parallel = arguments.infer_parallel.then_some(Toggle::On);
        let flags = Choices { jobs: arguments.jobs, infer_parallel, ..Choices::default() };
        return graph(context, &file, beside(flags, &settings), form);
    }
    let mut errors = 0;
    let plans = read(&file)?;
    let of_order = order_problems(&plans.iter().map(|(_, plan)| plan).collect::<Vec<_>>());
    for (place, (path, plan)) in plans.iter().enumerate() {
        let name = plan.plan_id().map_or_else(|| file.name.clone(), str::to_owned);
        let of_order = of_order.iter().filter(|(of, _)| *of == place).map(|(_, problem)| problem);
        let report = Report::new(name, clickable(&context.dir, path), plan).with(of_order);
        errors += report.errors;
        match context.format {
            Format::Text => {
                context.out.write_all(report.render(Paint::of(&std::io::stdout())).as_bytes())?;
            }
            Format::Json => json::document(&mut context.out, &report)?,
        }
    }
    Ok(if errors > 0 { exit::USAGE } else { exit::DONE })
}

/// Prints what waits for what.
fn graph(context: &mut Context, file: &PlanFile, parallel: Parallel, form: GraphForm) -> Ended {
    let decls = declared(file).map_err(|(path, error)| Error::file("read", &path, error))?;
    let rules = Rules { dialect: file.dialect, parallel, ..Rules::default() };
    let graph = Graph::new(&file.name, &rules, &decls);
    match (context.format, form) {
        (Format::Json, _) => json::document(&mut context.out, &graph)?,
        (Format::Text, GraphForm::Text) => {
            context.out.write_all(graph.text(Paint::of(&std::io::stdout())).as_bytes())?;
        }
        (Format::Text, GraphForm::Mermaid) => context.out.write_all(graph.mermaid().as_bytes())?,
        (Format::Text, GraphForm::Dot) => context.out.write_all(graph.dot().as_bytes())?,
    }
    Ok(exit::DONE)
}

/// Reads and parses the files of a plan.
pub(super) fn read(file: &PlanFile) -> Result<Vec<(PathBuf, Plan)>, Error> {
    file.plans.iter().map(|path| Ok((path.clone(), read_file(path, file.dialect)?))).collect()
}

fn read_file(path: &Path, dialect: Dialect) -> Result<Plan, Error> {
    let bytes = fs::read(path).map_err(|error| Error::file("read", path, error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::usage(format!("{}:{line}: error: the plan is not valid UTF-8", path.display()))
            .hint("save it as UTF-8")
    })?;
    Ok(Plan::parse_as(dialect, text, path))
}

/// The path as a terminal or an editor finds it from the folder that the user is in.
fn clickable(dir: &Path, path: &Path) -> String {
    let here = dir.canonicalize().unwrap_or_default();
    // With -C the user is somewhere else than the command works.
    let here = if dir == Path::new(".") { here } else { std::env::current_dir().unwrap_or(here) };
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

impl Report {
    fn new(plan_name: String, path: String, plan: &Plan) -> Self {
        let mut problems: Vec<ProblemRow> =
            plan.problems().iter().chain(&plan.lint()).map(problem_row).collect();
        problems.extend(plan.tasks().iter().flat_map(|task| missing_paths(plan, task, Path::exists)));
        problems.sort_by_key(|problem| problem.line);
        let errors = problems.iter().filter(|problem| problem.severity == "error").count();
        let phases = plan.phases().iter();
        Self {
            plan: plan_name,
            path,
            phases: phases.map(|phase| PhaseRow { title: phase.title.clone(), line: phase.line }).collect(),
            tasks: plan.tasks().iter().map(|task| task_row(plan, task)).collect(),
            errors,
            warnings: problems.len() - errors,
            problems,
        }
    }

    /// Adds problems that only show beside other plans.
    fn with<'a>(mut self, problems: impl Iterator<Item = &'a Problem>) -> Self {
        let rows: Vec<ProblemRow> = problems.map(problem_row).collect();
        let errors = rows.iter().filter(|row| row.severity == "error").count();
        self.errors += errors;
        self.warnings += rows.len() - errors;
        self.problems.splice(..0, rows);
        self
    }

    fn render(&self, paint: Paint) -> String {
        let mut text = format!("{} {}\n", paint.strong(&clean(&self.plan)), paint.faint(&clean(&self.path)));
        self.render_tasks(&mut text, paint);
        if !self.problems.is_empty() {
            text.push('\n');
        }
        for problem in &self.problems {
            problem.render(&mut text, &self.path, paint);
        }
        // Writing into a string cannot fail.
        let _ = writeln!(text, "\n{}", self.summary());
        text
    }

    fn render_tasks(&self, text: &mut String, paint: Paint) {
        let width = |of: fn(&TaskRow) -> usize| self.tasks.iter().map(of).max().unwrap_or_default();
        let widths = (width(|row| row.id.chars().count()), width(|row| row.label().chars().count()));
        let mut phase = None;
        for (place, row) in self.tasks.iter().enumerate() {
            if place == 0 || row.phase != phase {
                phase = row.phase;
                let title =
                    phase.and_then(|phase| self.phases.get(phase)).map_or("", |phase| phase.title.as_str());
                text.push('\n');
                if !title.is_empty() {
                    let _ = writeln!(text, "{}", paint.strong(&clean(title)));
                }
            }
            row.render(text, widths, paint);
        }
    }

    fn summary(&self) -> String {
        let of = |kind| self.tasks.iter().filter(|row| row.verify == kind).count();
        let runnable = of(VerifyKind::Runnable) + of(VerifyKind::Several);
        let done = self.tasks.iter().filter(|row| row.done).count();
        format!(
            "{}, {done} done; verified by {}, prose {}, nothing {}; {}, {}",
            count(self.tasks.len(), "task"),
            count(runnable, "command"),
            of(VerifyKind::Prose),
            of(VerifyKind::None),
            count(self.errors, "error"),
            count(self.warnings, "warning"),
        )
    }
}

impl TaskRow {
    /// Markers and title.
    fn label(&self) -> String {
        let markers: String = self.markers.iter().map(|marker| format!("[{marker}] ")).collect();
        one_line(&format!("{markers}{}", self.title), TITLE_CHARS_MAX)
    }

    fn render(&self, text: &mut String, (id_width, label_width): (usize, usize), paint: Paint) {
        let mark = if self.done { paint.good("✓") } else { paint.faint("·") };
        let verify = match self.verify {
            VerifyKind::Runnable => self.verify_text.concat(),
            VerifyKind::Several => {
                format!("{} commands: {}", self.verify_text.len(), self.verify_text.join("; "))
            }
            VerifyKind::Prose => format!("prose: {}", self.verify_text.concat()),
            VerifyKind::None => "nothing verifies it".to_owned(),
        };
        let verify = one_line(&verify, COMMAND_CHARS_MAX);
        let verify = match self.verify {
            VerifyKind::Runnable | VerifyKind::Several => paint.faint(&verify),
            VerifyKind::Prose | VerifyKind::None => paint.odd(&verify),
        };
        let line = format!("  {mark} {:id_width$}  {:label_width$}  {verify}", clean(&self.id), self.label());
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

impl ProblemRow {
    fn render(&self, text: &mut String, path: &str, paint: Paint) {
        let severity = match self.severity {
            "error" => paint.bad(self.severity),
            _ => paint.odd(self.severity),
        };
        let _ = writeln!(text, "{}:{}: {severity}: {}", clean(path), self.line, clean(&self.message));
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "  {}", paint.faint(&format!("hint: {}", clean(hint))));
        }
    }
}

fn problem_row(problem: &Problem) -> ProblemRow {
    ProblemRow {
        line: problem.line,
        severity: match problem.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: problem.message.clone(),
        hint: problem.hint.clone(),
        task: problem.task.as_ref().map(ToString::to_string),
    }
}

/// Absolute paths that a verify command needs and that do not exist here.
fn missing_paths(plan: &Plan, task: &Task, exists: impl Fn(&Path) -> bool) -> Vec<ProblemRow> {
    let Verify::Runnable(script) = plan.verify(task) else { return Vec::new() };
    let paths = script.lints().into_iter().filter_map(|lint| match lint {
        ScriptLint::AbsolutePath(path) => Some(path),
        ScriptLint::CannotFail(_) | ScriptLint::HidesFailure(_) => None,
    });
    let missing = paths.filter(|path| !exists(Path::new(path)));
    let row = |path: String| ProblemRow {
        line: task.line,
        severity: "warning",
        message: format!("the verify command of {} uses {path}, which does not exist here", task.id),
        hint: Some("write paths from the project's root".to_owned()),
        task: Some(task.id.to_string()),
    };
    missing.map(row).collect()
}

fn task_row(plan: &Plan, task: &Task) -> TaskRow {
    let (verify, verify_text) = match plan.verify(task) {
        Verify::Runnable(script) if script.snippets.len() > 1 => (VerifyKind::Several, script.snippets),
        Verify::Runnable(script) => (VerifyKind::Runnable, script.snippets),
        Verify::Prose(text) => (VerifyKind::Prose, vec![text]),
        Verify::Absent => (VerifyKind::None, Vec::new()),
    };
    TaskRow {
        id: task.id.to_string(),
        title: plan.title(task).to_owned(),
        line: task.line,
        done: task.state.is_done(),
        phase: task.phase.map(plan::PhaseIndex::get),
        markers: markers(task),
        verify,
        verify_text,
    }
}

fn markers(task: &Task) -> Vec<String> {
    let markers: &Markers = &task.markers;
    let kind = match task.type_ {
        TaskType::Auto => None,
        TaskType::Tdd => Some("TDD"),
        TaskType::HumanVerify => Some("CHECKPOINT human-verify"),
        TaskType::Decision => Some("CHECKPOINT decision"),
        TaskType::HumanAction => Some("CHECKPOINT human-action"),
    };
    let verify = match &markers.verify_kind {
        Some(kind) => format!("VERIFY:{kind}"),
        None => "VERIFY".to_owned(),
    };
    let fix = match &markers.fix_of {
        Some(task) => format!("FIX {task}"),
        None => "FIX".to_owned(),
    };
    let all = [
        (markers.parallel, "P".to_owned()),
        (markers.verify, verify),
        (markers.fix_of.is_some() || markers.fix_bare, fix),
        (markers.red, "RED".to_owned()),
        (markers.green, "GREEN".to_owned()),
        (markers.yellow, "YELLOW".to_owned()),
    ];
    let set = all.into_iter().filter_map(|(is_set, name)| is_set.then_some(name));
    kind.map(str::to_owned).into_iter().chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Tasks

## Phase 1: Parser

- [x] 1.1 Set up
  - **Verify**: `npm test`

- [ ] 1.2 [P] Write the parser, which has a title that goes on and on and on
  - **Verify**: `grep -q x /home/nobody/at-all`

## Phase 2: Quality

- [ ] V4 [VERIFY] Look at it
  - **Verify**: The page looks right
- [ ] 2.1 [FIX 1.2] Nothing
-[x] 2.2 Broken
";

    fn report() -> Report {
        Report::new("auth".to_owned(), "specs/auth/tasks.md".to_owned(), &Plan::parse(TEXT.to_owned()))
    }

    #[test]
    fn for_people() {
        insta::assert_snapshot!(report().render(Paint::Plain), @r"
        auth specs/auth/tasks.md

        Phase 1: Parser
          ✓ 1.1  Set up                                            npm test
          · 1.2  [P] Write the parser, which has a title that go…  grep -q x /home/nobody/at-all

        Phase 2: Quality
          · V4   [VERIFY] Look at it                               prose: The page looks right
          · 2.1  [FIX 1.2] Nothing                                 nothing verifies it
          ✓ 2.2  Broken                                            nothing verifies it

        specs/auth/tasks.md:8: warning: the verify command of 1.2 uses /home/nobody/at-all, which does not exist here
          hint: write paths from the project's root
        specs/auth/tasks.md:13: warning: task V4 is verified by prose only
          hint: add a `**Verify**:` field with one command in backticks
        specs/auth/tasks.md:15: warning: task 2.1 has no verification
          hint: add a `**Verify**:` field with one command in backticks
        specs/auth/tasks.md:16: warning: no space before the box of 2.2, so other tools do not see the task
          hint: write `- [ ] 2.2` or `- [x] 2.2`
        specs/auth/tasks.md:16: warning: task 2.2 has no verification
          hint: add a `**Verify**:` field with one command in backticks

        5 tasks, 2 done; verified by 2 commands, prose 1, nothing 2; 0 errors, 5 warnings
        ");
    }

    #[test]
    fn for_programs() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["tasks"][1]["markers"][0], "P");
        assert_eq!(json["tasks"][2]["verify"], "prose");
        assert_eq!(json["phases"][1]["line"], 11);
        assert_eq!(json["tasks"][2]["phase"], 1);
    }

    #[test]
    fn an_empty_plan_is_an_error() {
        let report = Report::new("a".to_owned(), "a".to_owned(), &Plan::parse(String::new()));
        assert_eq!(report.errors, 1);
    }

    #[test]
    fn hostile_text_stays_in_its_place() {
        let text = "- [ ] 1.1 a\u{1b}[2Jb\u{7}\n- [ ] 1.1 again\n".to_owned();
        let shown =
            Report::new("x\u{1b}".to_owned(), "p\u{1b}".to_owned(), &Plan::parse(text)).render(Paint::Plain);
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    }
}
