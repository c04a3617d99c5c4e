//! A plan as `tillgreen check` sees it: its tasks with what they say, and what is wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use plan::{
    BoxRole, Commit, Dialect, Files, Format, Markers, Plan, Problem, Rung, Script, ScriptLint, Severity,
    Task, TaskType, Verify,
};
use runner::Defaults;
use serde::Serialize;

use crate::view::paint::Paint;
use crate::view::text::{clean, count, one_line, script_line};

/// Characters of a title, of a command and of the other fields on a line of a terminal.
const TITLE_CHARS_MAX: usize = 48;
const COMMAND_CHARS_MAX: usize = 60;
const FIELDS_CHARS_MAX: usize = 110;
/// How many others of its kind are named beside a problem on a terminal.
const OTHERS_MAX: usize = 8;

/// How much room there is for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The width of a terminal: what is longer is cut.
    Line,
    /// As much as it takes.
    Endless,
}

impl Room {
    /// The room where something is written.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() { Self::Line } else { Self::Endless }
    }

    fn fit(self, text: &str, chars_max: usize) -> String {
        match self {
            Self::Line => one_line(text, chars_max),
            Self::Endless => one_line(text, usize::MAX),
        }
    }
}

/// Where a plan comes from.
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    /// The path as the user would write it.
    pub(crate) path: &'a str,
    /// The summary that lies beside it and says that it is done.
    pub(crate) summary: Option<PathBuf>,
    /// The commands for tasks that have none of their own.
    pub(crate) defaults: &'a Defaults,
}

/// The facts that can be looked up on this machine without running anything.
pub(crate) struct Machine<'a> {
    pub(crate) has_path: &'a dyn Fn(&Path) -> bool,
    pub(crate) has_program: &'a dyn Fn(&str) -> bool,
}

/// The findings.
#[derive(Serialize)]
pub(crate) struct Report {
    plan: String,
    path: String,
    /// The wave of a `*-PLAN.md`.
    wave: Option<u32>,
    /// The plans that a `*-PLAN.md` depends on.
    depends_on: Vec<String>,
    /// True if the plan is done already, as its summary lies beside it.
    has_summary: bool,
    phases: Vec<PhaseRow>,
    tasks: Vec<TaskRow>,
    /// How many boxes are groups, steps, criteria and optional tasks.
    boxes: BTreeMap<&'static str, usize>,
    format: &'static str,
    #[serde(skip)]
    tells_rungs: bool,
    problems: Vec<ProblemRow>,
    pub(crate) errors: usize,
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
    files: Vec<String>,
    commit: Option<String>,
    depends_on: Vec<String>,
    verify: VerifyKind,
    /// Where that stands.
    rung: &'static str,
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
    /// It is a checkpoint.
    Person,
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

/// Looks at a plan. `beside` are problems that only show beside other plans.
pub(crate) fn report<'a>(
    source: &Source<'_>,
    plan: &Plan,
    beside: impl Iterator<Item = &'a Problem>,
    machine: &Machine<'_>,
) -> Report {
    let has_summary = source.summary.is_some();
    let is_open = |task: &&Task| !has_summary && !task.state.is_done();
    let of_tasks = if has_summary { Vec::new() } else { plan.lint() };
    let has_default = |problem: &&Problem| {
        let task = problem.task.as_ref().and_then(|id| plan.task(id));
        let is_absent = |task: &Task| problem.message == format!("task {} has no verification", task.id);
        task.is_some_and(|task| is_absent(task) && default_of(plan, task, source.defaults).is_some())
    };
    let of_tasks = of_tasks.iter().filter(|problem| !has_default(problem));
    let mut problems: Vec<ProblemRow> = plan.problems().iter().chain(of_tasks).map(problem_row).collect();
    let open = plan.tasks().iter().filter(is_open);
    problems.extend(open.flat_map(|task| missing_paths(plan, task, machine.has_path)));
    problems.extend(missing_programs(plan, plan.tasks().iter().filter(is_open), machine.has_program));
    problems.sort_by_key(|problem| problem.line);
    problems.splice(..0, beside.map(problem_row));
    let errors = problems.iter().filter(|problem| problem.severity == "error").count();
    let front = plan.front_matter();
    let phases = plan.phases().iter();
    let rows = plan.tasks().iter().map(|task| task_row(plan, task, source.defaults));
    let mut boxes = BTreeMap::new();
    plan.boxes().iter().for_each(|other| *boxes.entry(role(other.role)).or_default() += 1);
    let format = plan.reading().format;
    Report {
        plan: source.name.to_owned(),
        path: source.path.to_owned(),
        wave: front.and_then(|front| front.wave),
        depends_on: front.map(|front| front.dependencies(source.name)).unwrap_or_default(),
        has_summary,
        phases: phases.map(|phase| PhaseRow { title: phase.title.clone(), line: phase.line }).collect(),
        tasks: rows.map(|row| TaskRow { done: has_summary || row.done, ..row }).collect(),
        boxes,
        format: format.name(),
        tells_rungs: format.is_foreign()
            || format == Format::Imported
            || *source.defaults != Defaults::default(),
        errors,
        warnings: problems.len() - errors,
        problems,
    }
}

impl Report {
    /// The report for people.
    pub(crate) fn render(&self, paint: Paint, room: Room) -> String {
        let mut text = format!("{} {}\n", paint.strong(&clean(&self.plan)), paint.faint(&clean(&self.path)));
        if let Some(place) = self.place() {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}", paint.faint(&clean(&place)));
        }
        if self.has_summary {
            let _ = writeln!(text, "{} is done already: its summary lies beside it", clean(&self.plan));
        }
        self.render_tasks(&mut text, paint, room);
        if !self.problems.is_empty() {
            text.push('\n');
        }
        for kind in by_kind(&self.problems) {
            render_kind(&kind, &mut text, &self.path, (paint, room));
        }
        let _ = writeln!(text, "\n{}", self.summary());
        if self.tells_rungs {
            let _ = writeln!(text, "{}", self.rungs());
        }
        text
    }

    /// Where a plan stands among others.
    fn place(&self) -> Option<String> {
        let wave = self.wave.map(|wave| format!("wave {wave}"));
        let after =
            (!self.depends_on.is_empty()).then(|| format!("depends on {}", self.depends_on.join(", ")));
        let parts: Vec<String> = wave.into_iter().chain(after).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn render_tasks(&self, text: &mut String, paint: Paint, room: Room) {
        let width = |of: &dyn Fn(&TaskRow) -> usize| self.tasks.iter().map(of).max().unwrap_or_default();
        let id_width = width(&|row| row.id.chars().count());
        let label_width = width(&|row| row.label(room).chars().count()).min(TITLE_CHARS_MAX);
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
            row.render(text, (id_width, label_width), (paint, room));
        }
    }

    /// What the tasks that are left rest on, and which boxes are none.
    fn rungs(&self) -> String {
        let open: Vec<&TaskRow> = self.tasks.iter().filter(|row| !row.done).collect();
        let of = |rung: &str| open.iter().filter(|row| row.rung == rung).count();
        let rungs = [
            ("field", "on a command in a field"),
            ("text", "on one in its words"),
            ("phase", "on one of its phase"),
            ("settings", "on one of the settings"),
            ("judge", "on facts and a judge"),
        ];
        let told = rungs.iter().map(|(rung, words)| (of(rung), words)).filter(|(number, _)| *number > 0);
        let told: Vec<String> = told.map(|(number, words)| format!("{number} {words}")).collect();
        let boxes: Vec<String> = self.boxes.iter().map(|(role, number)| format!("{role} {number}")).collect();
        let others =
            if boxes.is_empty() { String::new() } else { format!("; other boxes: {}", boxes.join(", ")) };
        if told.is_empty() {
            return format!("{}{others}", self.format);
        }
        format!("{}: of what is left {}{others}", self.format, told.join(", "))
    }

    fn summary(&self) -> String {
        let of = |kind| self.tasks.iter().filter(|row| row.verify == kind).count();
        let done = self.tasks.iter().filter(|row| row.done).count();
        let by_person = match of(VerifyKind::Person) {
            0 => String::new(),
            person => format!("{person} by a person, "),
        };
        format!(
            "{}, {done} done; {} verified by commands, {} by prose, {by_person}{} by nothing; {}, {}",
            count(self.tasks.len(), "task"),
            of(VerifyKind::Runnable) + of(VerifyKind::Several),
            of(VerifyKind::Prose),
            of(VerifyKind::None),
            count(self.errors, "error"),
            count(self.warnings, "warning"),
        )
    }
}

impl TaskRow {
    /// Markers and title.
    fn label(&self, room: Room) -> String {
        let markers: String = self.markers.iter().map(|marker| format!("[{marker}] ")).collect();
        room.fit(&format!("{markers}{}", self.title), TITLE_CHARS_MAX)
    }

    fn render(
        &self,
        text: &mut String,
        (id_width, label_width): (usize, usize),
        (paint, room): (Paint, Room),
    ) {
        let mark = if self.done { paint.good("✓") } else { paint.faint("·") };
        let verify = match self.verify {
            VerifyKind::Runnable => script_line(&self.verify_text.concat()),
            VerifyKind::Several => {
                let commands: Vec<String> = self.verify_text.iter().map(|text| script_line(text)).collect();
                format!("{} commands: {}", commands.len(), commands.join("; "))
            }
            VerifyKind::Prose => format!("prose: {}", self.verify_text.concat()),
            VerifyKind::Person => "a person is asked".to_owned(),
            VerifyKind::None => "nothing verifies it".to_owned(),
        };
        let whose = match self.rung {
            "phase" => " (of its phase)",
            "settings" => " (of the settings)",
            _ => "",
        };
        let verify = format!("{}{whose}", room.fit(&verify, COMMAND_CHARS_MAX));
        let verify = match self.verify {
            VerifyKind::Runnable | VerifyKind::Several | VerifyKind::Person => paint.faint(&verify),
            VerifyKind::Prose | VerifyKind::None => paint.odd(&verify),
        };
        let (id, label) = (clean(&self.id), self.label(room));
        let line = format!("  {mark} {id:id_width$}  {label:label_width$}  {verify}");
        let _ = writeln!(text, "{}", line.trim_end());
        if let Some(fields) = self.fields() {
            let fields = paint.faint(&room.fit(&fields, FIELDS_CHARS_MAX));
            let _ = writeln!(text, "    {:id_width$}  {fields}", "");
        }
    }

    /// The other fields of the task.
    fn fields(&self) -> Option<String> {
        let files = (!self.files.is_empty()).then(|| format!("Files: {}", self.files.join(", ")));
        let commit = self.commit.as_ref().map(|commit| format!("Commit: {commit}"));
        let after =
            (!self.depends_on.is_empty()).then(|| format!("Depends on: {}", self.depends_on.join(", ")));
        let parts: Vec<String> = files.into_iter().chain(commit).chain(after).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The problems by kind, in the order in which the kinds first show. Each error is a kind of its own.
fn by_kind(problems: &[ProblemRow]) -> Vec<Vec<&ProblemRow>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: Vec<Vec<&ProblemRow>> = Vec::new();
    for problem in problems {
        let known =
            (problem.severity == "warning").then(|| places.entry(kind_of(problem)).or_insert(kinds.len()));
        match known.map(|place| *place).filter(|place| *place < kinds.len()) {
            Some(place) => kinds[place].push(problem),
            None => kinds.push(vec![problem]),
        }
    }
    kinds
}

/// The part that messages of one kind have in common: the words that are no names, quotations, paths or numbers.
fn kind_of(problem: &ProblemRow) -> String {
    let mut words = String::new();
    let mut until = None;
    for word in problem.message.split_whitespace() {
        let closes = |close: char| word.trim_end_matches([',', ':']).ends_with(close);
        if let Some(close) = until {
            until = Some(close).filter(|close| !closes(*close));
            continue;
        }
        let quoted = [('“', '”'), ('`', '`')].into_iter().find(|(open, _)| word.starts_with(*open));
        if let Some((open, close)) = quoted {
            until = Some(close).filter(|close| !(word.len() > open.len_utf8() && closes(*close)));
            continue;
        }
        let is_task = Some(word.trim_end_matches([',', ':'])) == problem.task.as_deref();
        if !is_task && !word.contains(['/', '\\']) && !word.contains(|c: char| c.is_ascii_digit()) {
            words.push_str(word);
            words.push(' ');
        }
    }
    words
}

/// One line for all problems of a kind: the first of them, and which others there are.
fn render_kind(kind: &[&ProblemRow], text: &mut String, path: &str, (paint, room): (Paint, Room)) {
    let [first, others @ ..] = kind else { return };
    let severity = match first.severity {
        "error" => paint.bad(first.severity),
        _ => paint.odd(first.severity),
    };
    let more = if others.is_empty() { String::new() } else { format!(" (and {})", more(others, room)) };
    let _ = writeln!(text, "{}:{}: {severity}: {}{more}", clean(path), first.line, clean(&first.message));
    if let Some(hint) = &first.hint {
        let _ = writeln!(text, "  {}", paint.faint(&format!("hint: {}", clean(hint))));
    }
}

/// How many others there are and which: by their tasks, else by their lines.
fn more(others: &[&ProblemRow], room: Room) -> String {
    let tasks: Vec<&str> = others.iter().filter_map(|other| other.task.as_deref()).collect();
    let names = if tasks.len() == others.len() {
        tasks.iter().map(ToString::to_string).collect()
    } else {
        ranges(&others.iter().map(|other| other.line).collect::<Vec<_>>())
    };
    let told = match room {
        Room::Line => OTHERS_MAX,
        Room::Endless => names.len(),
    };
    let what = if tasks.len() == others.len() { "" } else { "lines " };
    let rest = if names.len() > told { ", …" } else { "" };
    let names = names.iter().take(told).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!("{} more: {what}{}{rest}", others.len(), clean(&names))
}

/// Numbers in rising order, with those that follow each other put together: `3-5, 9`.
fn ranges(numbers: &[usize]) -> Vec<String> {
    let rows = numbers.chunk_by(|left, right| *right <= left + 1);
    let name = |row: &[usize]| match row {
        [first, .., last] if first != last => format!("{first}-{last}"),
        [first, ..] => first.to_string(),
        [] => String::new(),
    };
    rows.map(name).collect()
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
fn missing_paths(plan: &Plan, task: &Task, exists: &dyn Fn(&Path) -> bool) -> Vec<ProblemRow> {
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

/// Programs that verify commands need and that are not on the path, each with the tasks that need it.
fn missing_programs<'a>(
    plan: &Plan,
    tasks: impl Iterator<Item = &'a Task>,
    is_there: &dyn Fn(&str) -> bool,
) -> Vec<ProblemRow> {
    let mut needed: BTreeMap<String, Vec<&Task>> = BTreeMap::new();
    for task in tasks {
        if let Verify::Runnable(script) = plan.verify(task) {
            for program in script.programs() {
                needed.entry(program).or_default().push(task);
            }
        }
    }
    let missing = needed.into_iter().filter(|(program, _)| !is_there(program));
    let row = |(program, tasks): (String, Vec<&Task>)| {
        let ids: Vec<String> = tasks.iter().map(|task| task.id.to_string()).collect();
        let by = if ids.len() == 1 { "the verify command of" } else { "the verify commands of" };
        let verb = if ids.len() == 1 { "needs" } else { "need" };
        ProblemRow {
            line: tasks[0].line,
            severity: "warning",
            message: format!("{by} {} {verb} {program}, which is not on PATH here", ids.join(", ")),
            hint: Some(format!(
                "install {program}, or see that PATH leads to it, before these tasks are verified"
            )),
            task: None,
        }
    };
    missing.map(row).collect()
}

/// The command of the settings for a task without one.
fn default_of(plan: &Plan, task: &Task, defaults: &Defaults) -> Option<Script> {
    let is_without = !task.type_.is_checkpoint() && !task.markers.red;
    is_without.then(|| defaults.of(&plan.fields(task))).flatten()
}

fn role(role: BoxRole) -> &'static str {
    match role {
        BoxRole::Group => "groups",
        BoxRole::Part => "steps",
        BoxRole::Criterion => "criteria",
        BoxRole::Optional => "optional",
    }
}

fn rung_name(rung: Rung) -> &'static str {
    match rung {
        Rung::Field => "field",
        Rung::Text => "text",
        Rung::Phase => "phase",
        Rung::Settings => "settings",
        Rung::Judge => "judge",
    }
}

fn task_row(plan: &Plan, task: &Task, defaults: &Defaults) -> TaskRow {
    let (proof, rung) = plan.proof(task);
    let (proof, rung) = match (proof, default_of(plan, task, defaults)) {
        (Verify::Absent, Some(script)) => (Verify::Runnable(script), Rung::Settings),
        (proof, _) => (proof, rung),
    };
    let (verify, verify_text) = match proof {
        Verify::Runnable(script) if script.snippets.len() > 1 => (VerifyKind::Several, script.snippets),
        Verify::Runnable(script) => (VerifyKind::Runnable, script.snippets),
        Verify::Prose(text) if task.type_.is_checkpoint() => (VerifyKind::Person, vec![text]),
        Verify::Absent if task.type_.is_checkpoint() => (VerifyKind::Person, Vec::new()),
        Verify::Prose(text) => (VerifyKind::Prose, vec![text]),
        Verify::Absent => (VerifyKind::None, Vec::new()),
    };
    let fields = plan.fields(task);
    let depends_on = match plan.dialect() {
        Dialect::Spec => plan.dependencies(task, &fields).iter().map(ToString::to_string).collect(),
        Dialect::Phase => Vec::new(),
    };
    TaskRow {
        id: task.id.to_string(),
        title: plan.short_title(task).to_owned(),
        line: task.line,
        done: task.state.is_done(),
        phase: task.phase.map(plan::PhaseIndex::get),
        markers: markers(task),
        files: fields.files.map(files).unwrap_or_default(),
        commit: commit(fields.commit),
        depends_on,
        verify,
        rung: rung_name(rung),
        verify_text,
    }
}

/// The paths that the field names, and what of it names none.
fn files(files: Files) -> Vec<String> {
    let unclear = files.unclear.iter().map(|words| format!("“{words}”"));
    files.paths.into_iter().chain(unclear).collect()
}

fn commit(commit: Commit) -> Option<String> {
    match commit {
        Commit::Message(message) => Some(message),
        Commit::OnlyIfNeeded(message) => Some(format!("{message} (only if needed)")),
        Commit::None => Some("none".to_owned()),
        Commit::Unset => None,
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
  - **Files**: `src/parser.rs`, `src/lib.rs`
  - **Commit**: `feat: parser`
  - **Depends on**: 1.1
- [ ] 1.3 Try it
  - **Verify**: `bun test`
  - **Depends on**: 1.22
- [ ] 1.4 Try it again
  - **Verify**: `cd a && bun test 2>&1 | tail -5`

## Phase 2: Quality

- [ ] V4 [VERIFY] Look at it
  - **Verify**: The page looks right
- [ ] 2.1 [FIX 1.2] Nothing
-[x] 2.2 Broken
";

    /// A machine that has a few programs and nothing else.
    fn read(name: &str, path: &str, plan: &Plan) -> Report {
        let machine = Machine { has_path: &|_| false, has_program: &|name| matches!(name, "grep" | "ls") };
        report(
            &Source { name, path, summary: None, defaults: &Defaults::default() },
            plan,
            [].iter(),
            &machine,
        )
    }

    fn sample() -> Report {
        read("auth", "specs/auth/tasks.md", &Plan::parse(TEXT.to_owned()))
    }

    #[test]
    fn for_people() {
        insta::assert_snapshot!(sample().render(Paint::Plain, Room::Line), @r"
        auth specs/auth/tasks.md

        Phase 1: Parser
          ✓ 1.1  Set up                                            npm test
          · 1.2  [P] Write the parser, which has a title that go…  grep -q x /home/nobody/at-all
                 Files: src/parser.rs, src/lib.rs; Commit: feat: parser; Depends on: 1.1
          · 1.3  Try it                                            bun test
          · 1.4  Try it again                                      cd a && bun test 2>&1 | tail -5

        Phase 2: Quality
          · V4   [VERIFY] Look at it                               prose: The page looks right
          · 2.1  [FIX 1.2] Nothing                                 nothing verifies it
          ✓ 2.2  Broken                                            nothing verifies it

        specs/auth/tasks.md:8: warning: the verify command of 1.2 uses /home/nobody/at-all, which does not exist here
          hint: write paths from the project's root
        specs/auth/tasks.md:13: warning: task 1.3 depends on 1.22, which is no task of this plan
          hint: did you mean `1.2`?
        specs/auth/tasks.md:13: warning: the verify commands of 1.3, 1.4 need bun, which is not on PATH here
          hint: install bun, or see that PATH leads to it, before these tasks are verified
        specs/auth/tasks.md:16: warning: the verify command of 1.4 needs tail, which is not on PATH here
          hint: install tail, or see that PATH leads to it, before these tasks are verified
        specs/auth/tasks.md:21: warning: task V4 is verified by prose only
          hint: add a `**Verify**:` field with one command in backticks, or have it proposed by `tillgreen plan --verify`
        specs/auth/tasks.md:23: warning: task 2.1 has no verification
          hint: add a `**Verify**:` field with one command in backticks, or have it proposed by `tillgreen plan --verify`
        specs/auth/tasks.md:24: warning: no space before the box of 2.2, so other tools do not see the task
          hint: write `- [ ] 2.2` or `- [x] 2.2`

        7 tasks, 2 done; 4 verified by commands, 1 by prose, 2 by nothing; 0 errors, 7 warnings
        ");
    }

    #[test]
    fn nothing_is_cut_where_there_is_room() {
        let text = sample().render(Paint::Plain, Room::Endless);
        assert!(text.contains("which has a title that goes on and on and on  grep -q x"), "{text}");
        assert!(!text.contains('…'), "{text}");
        let many: String = (1..30).map(|task| format!("- [ ] 1.{task} a\n")).collect();
        let many = read("a", "a", &Plan::parse(many));
        let told = |room| many.render(Paint::Plain, room);
        assert_eq!(told(Room::Endless).matches("no verification").count(), 1);
        assert!(
            told(Room::Endless).contains("(and 28 more: 1.2, 1.3, ")
                && told(Room::Endless).contains(", 1.29)")
        );
        assert!(told(Room::Line).contains("(and 28 more: 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, …)"));
    }

    #[test]
    fn boxes_that_are_no_tasks_are_named_by_their_lines() {
        let text = "- [ ] 1.1 a\n  - **Verify**: `ls a\n    ls b`\n\n## Later\n\n- [ ] b\n- [ ] c\n- [ ] d\n\n- [ ] e\n";
        let shown = read("a", "a", &Plan::parse(text.to_owned())).render(Paint::Plain, Room::Line);
        assert!(
            shown.contains("the checkbox “b” has no id, so it is no task (and 3 more: lines 8-9, 11)"),
            "{shown}"
        );
        assert!(shown.contains("ls a ↵ ls b"), "{shown}");
    }

    #[test]
    fn a_plan_with_its_summary_is_done() {
        let plan = Plan::parse_phase("---\nphase: 3\nplan: 1\nwave: 2\ndepends_on: [2-1]\n---\n<task>\n<name>Task 1: a</name>\n</task>\n".to_owned(), "");
        let machine = Machine { has_path: &|_| true, has_program: &|_| true };
        let source = Source {
            name: "3-1",
            path: "3-1-PLAN.md",
            summary: Some("3-1-SUMMARY.md".into()),
            defaults: &Defaults::default(),
        };
        insta::assert_snapshot!(report(&source, &plan, [].iter(), &machine).render(Paint::Plain, Room::Line), @r"
        3-1 3-1-PLAN.md
        wave 2; depends on 2-1
        3-1 is done already: its summary lies beside it

          ✓ 3-1:task-1  a  nothing verifies it

        1 task, 1 done; 0 verified by commands, 0 by prose, 1 by nothing; 0 errors, 0 warnings
        ");
    }

    #[test]
    fn kinds_of_problems() {
        let row = |message: &str, task: Option<&str>| ProblemRow {
            line: 1,
            severity: "warning",
            message: message.to_owned(),
            hint: None,
            task: task.map(str::to_owned),
        };
        let same = |left: ProblemRow, right: ProblemRow| kind_of(&left) == kind_of(&right);
        assert!(same(
            row("task VE-a has no verification", Some("VE-a")),
            row("task 2 has no verification", Some("2"))
        ));
        assert!(same(row("the checkbox “a b: c” has no id", None), row("the checkbox “d” has no id", None)));
        assert!(same(row("of 1 uses /a, which", Some("1")), row("of 2 uses C:\\b, which", Some("2"))));
        assert!(!same(
            row("task 1 has no verification", None),
            row("task 1 is verified by prose only", None)
        ));
    }

    #[test]
    fn for_programs() {
        let json = serde_json::to_value(sample()).unwrap();
        assert_eq!(json["tasks"][1]["markers"][0], "P");
        assert_eq!(json["tasks"][1]["files"][1], "src/lib.rs");
        assert_eq!(json["tasks"][1]["commit"], "feat: parser");
        assert_eq!(json["tasks"][1]["depends_on"][0], "1.1");
        assert_eq!(json["tasks"][4]["verify"], "prose");
        assert_eq!(json["phases"][1]["line"], 19);
        assert_eq!(json["tasks"][4]["phase"], 1);
    }

    #[test]
    fn an_empty_plan_is_an_error() {
        let report = read("a", "a", &Plan::parse(String::new()));
        assert_eq!(report.errors, 1);
    }

    #[test]
    fn hostile_text_stays_in_its_place() {
        let text = "- [ ] 1.1 a\u{1b}[2Jb\u{7}\n- [ ] 1.1 again\n".to_owned();
        let shown = read("x\u{1b}", "p\u{1b}", &Plan::parse(text)).render(Paint::Plain, Room::Endless);
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    }
}
