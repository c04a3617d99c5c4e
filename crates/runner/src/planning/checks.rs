//! What can be said against a plan, and against a command, without running anything.

use std::path::Path;

use plan::{Plan, Problem, Script, ScriptLint, Task, Verify};

use crate::agent::find_program;

/// Something that is wrong, with its line; 0 for the whole.
pub(super) type Wrong = (usize, String);

/// A command of a draft.
pub(super) struct Candidate {
    pub(super) line: usize,
    pub(super) task: String,
    pub(super) script: Script,
    /// True if it is to be red before the work.
    pub(super) proves: bool,
}

impl Candidate {
    pub(super) fn of(task: &Task, line: usize, script: Script) -> Self {
        let proves = !task.markers.verify && !task.markers.red;
        Self { line, task: task.id.to_string(), script, proves }
    }
}

/// Looks at a plan that is to lie at a path from the project's root; gives its commands, and what is wrong.
pub(super) fn look_at_plan(plan: &Plan, path: &str) -> (Vec<Candidate>, Vec<Wrong>) {
    let mut wrong: Vec<Wrong> = plan.problems().iter().map(told).collect();
    if plan.reading().format.is_foreign() {
        wrong.push((0, "its tasks have none of the fields Do, Files, Done when and Verify".to_owned()));
        return (Vec::new(), wrong);
    }
    wrong.extend(plan.lint().iter().filter(|problem| !is_about_verify(plan, problem)).map(told));
    let mut candidates = Vec::new();
    for task in plan.tasks() {
        wrong.extend(look_at_task(plan, task, path).into_iter().map(|what| (task.line, what)));
        if let Verify::Runnable(script) = plan.verify(task) {
            candidates.push(Candidate::of(task, task.line, script));
        }
    }
    (candidates, wrong)
}

fn told(problem: &Problem) -> Wrong {
    let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    (problem.line, format!("{}{hint}", problem.message))
}

/// True of what is said of commands, which are looked at one by one.
fn is_about_verify(plan: &Plan, problem: &Problem) -> bool {
    let Some(task) = problem.task.as_ref().and_then(|id| plan.task(id)) else { return false };
    let id = &task.id;
    problem.message.starts_with(&format!("the verify command of {id} "))
        || problem.message == format!("task {id} is verified by prose only")
        || problem.message == format!("task {id} has no verification")
}

fn look_at_task(plan: &Plan, task: &Task, path: &str) -> Vec<String> {
    let (id, fields) = (&task.id, plan.fields(task));
    let mut wrong = Vec::new();
    if task.state.is_done() {
        wrong.push(format!("the box of task {id} is ticked, and nothing is done yet"));
    }
    if id.name().starts_with('#') {
        wrong.push(format!("task {id} has no id: write `- [ ] 1.1 Title`"));
    }
    if fields.do_.is_none() && !task.markers.verify {
        wrong.push(format!("task {id} has no Do: its agent is told nothing else"));
    }
    match fields.files {
        None if !task.markers.verify => {
            wrong.push(format!("task {id} has no Files: name what it creates or changes"));
        }
        Some(files) => {
            if let Some(outside) = files.paths.iter().find(|path| is_outside(path)) {
                wrong.push(format!("the Files of {id} lie outside of the project: {outside}"));
            }
            if files.paths.iter().any(|file| file.trim_start_matches("./") == path) {
                wrong.push(format!("the Files of {id} name the plan, which no agent changes"));
            }
        }
        None => {}
    }
    if !matches!(plan.verify(task), Verify::Runnable(_)) {
        wrong.push(format!("task {id} has no Verify with one command in backticks"));
    }
    wrong
}

fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..")
}

/// What is wrong with a command by its words alone.
pub(super) fn look_at_command(candidate: &Candidate, plan: &Plan, root: &Path) -> Vec<Wrong> {
    let Candidate { line, task, script, .. } = candidate;
    let of_lint = |lint: ScriptLint| match lint {
        ScriptLint::CannotFail(why) => format!("the command of {task} cannot fail: {why}"),
        ScriptLint::HidesFailure(why) => format!("the command of {task} hides failures: {why}"),
        ScriptLint::AbsolutePath(path) => {
            format!("the command of {task} names {path}: write paths from the root of the project")
        }
    };
    let programs = script.programs();
    let missing = programs.iter().filter(|program| find_program(program, root).is_none());
    let missing = missing.filter(|program| !is_made(plan, program));
    let of_program =
        |program: &String| format!("the command of {task} needs the program `{program}`, which is not here");
    let wrong = script.lints().into_iter().map(of_lint).chain(missing.map(of_program));
    wrong.map(|what| (*line, what)).collect()
}

/// True if tasks of the plan are to make a program, a module or a folder: by their Files, or since one says that it
/// installs it.
pub(super) fn is_made(plan: &Plan, name: &str) -> bool {
    let name = name.trim_start_matches("./").to_lowercase();
    let module = name.split('.').next().unwrap_or(&name);
    let is_of_name = |path: &String| {
        let path = path.trim_start_matches("./").to_lowercase();
        path == name || path.split('/').any(|part| part == name || part.split('.').next() == Some(module))
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    plan.tasks().iter().any(|task| {
        let fields = plan.fields(task);
        let work = fields.do_.unwrap_or_default().to_lowercase() + " " + &plan.title(task).to_lowercase();
        let installs = || work.split(|c| !is_part(c)).any(|word| word == name);
        fields.files.unwrap_or_default().paths.iter().any(is_of_name)
            || work.contains("install") && installs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::prompt::PLANNER;

    const PATH: &str = "specs/x/tasks.md";

    fn wrong(text: &str) -> Vec<String> {
        let plan = Plan::parse(text.to_owned());
        let (candidates, mut wrong) = look_at_plan(&plan, PATH);
        let root = Path::new("/");
        wrong.extend(candidates.iter().flat_map(|candidate| look_at_command(candidate, &plan, root)));
        wrong.iter().map(|(line, what)| format!("{line} {what}")).collect()
    }

    #[test]
    fn the_example_of_the_prompt_is_right() {
        let (_, example) = PLANNER.split_once("\n# Tasks: ").expect("an example");
        let (example, _) = example.split_once("\nInstructions:").expect("its end");
        let text = format!("# Tasks: {}", example.replace("python3 -m pytest", "test -f"));
        assert_eq!(wrong(&text), Vec::<String>::new());
        assert_eq!(Plan::parse(text).tasks().len(), 3);
    }

    #[test]
    fn each_task_says_what_is_to_be_done_and_where() {
        let text = "- [ ] 1.1 One\n- [ ] 1.2 Two\n  - **Do**: it\n  - **Files**: specs/x/tasks.md, /etc/passwd\n  \
                    - **Verify**: see that it works\n- [ ] 1.3 [VERIFY] All\n  - **Verify**: `test -f a; true`\n";
        insta::assert_snapshot!(wrong(text).join("\n"), @r##"
        1 task 1.1 has no Do: its agent is told nothing else
        1 task 1.1 has no Files: name what it creates or changes
        1 task 1.1 has no Verify with one command in backticks
        2 the Files of 1.2 lie outside of the project: /etc/passwd
        2 the Files of 1.2 name the plan, which no agent changes
        2 task 1.2 has no Verify with one command in backticks
        6 the command of 1.3 hides failures: `; true` at the end would hide a failure from a shell that is not run with -e
        "##);
    }

    #[test]
    fn what_tasks_make_may_be_missing() {
        let task = |more: &str, command: &str| {
            format!(
                "- [ ] 1.1 One\n  - **Do**: it\n  - **Files**: a.txt, {more}\n  - **Verify**: `{command}`\n"
            )
        };
        let is_right = |text: &str| wrong(text).is_empty();
        assert!(!is_right(&task("b.txt", "frobnicate --check")));
        assert!(is_right(&task("bin/frobnicate.sh", "frobnicate --check")));
        let installs = "- [ ] 1.0 Install Frobnicate\n  - **Do**: add it\n  - **Files**: p.toml\n  - **Verify**: `test -f p.toml`\n";
        assert!(is_right(&format!("{installs}{}", task("b.txt", "frobnicate --check"))));
        let speaks = installs.replace("Install", "Praise");
        assert!(!is_right(&format!("{speaks}{}", task("b.txt", "frobnicate --check"))));
    }
}
