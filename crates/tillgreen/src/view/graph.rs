//! The graph of what waits for what, and what could run side by side: as text, and as graphs for Graphviz and Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{Rules, TaskDecl, TaskKind, Waits};
use serde::Serialize;

use super::paint::Paint;
use super::text::{clean, count, one_line};

/// Characters of a title that is shown.
const TITLE_CHARS_MAX: usize = 48;

/// Tasks that are named of all that one task waits for: were each of thousands to wait for as many, nobody could read it.
const WAITS_MAX: usize = 100;

/// The unfinished tasks of a plan and what each of them waits for.
#[derive(Debug, Serialize)]
pub(crate) struct Graph {
    plan: String,
    /// In how many steps all is done, did each task take the same time.
    steps: usize,
    /// How many tasks are worked on at once at most.
    jobs: u32,
    tasks: Vec<Node>,
}

#[derive(Debug, Serialize)]
struct Node {
    id: String,
    title: String,
    /// The step in which it runs, from 1.
    step: usize,
    /// What it waits for; of very many, the latest.
    waits_for: Vec<Edge>,
    /// How many it waits for besides.
    #[serde(skip_serializing_if = "is_none")]
    more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_none(more: &usize) -> bool {
    *more == 0
}

#[derive(Debug, Serialize)]
struct Edge {
    task: String,
    why: String,
    #[serde(skip)]
    place: usize,
}

impl Graph {
    pub(crate) fn new(plan: &str, rules: &Rules, decls: &[TaskDecl]) -> Self {
        let open: Vec<&TaskDecl> = decls.iter().filter(|decl| !decl.ticked).collect();
        let steps = steps_of(rules, decls, &open);
        let asked = asked_in(&open, &steps);
        let mut tasks: Vec<Node> = Vec::with_capacity(open.len());
        for ((place, decl), mut waits_for) in open.iter().enumerate().zip(Waits::new(rules, &open)) {
            let more = waits_for.len().saturating_sub(WAITS_MAX);
            let is_explained = waits_for.iter().any(|(earlier, _)| steps[*earlier] + 1 == steps[place]);
            waits_for.truncate(WAITS_MAX);
            let edge = |place: usize, why: String| Edge { task: open[place].id.to_string(), why, place };
            let mut waits_for: Vec<Edge> =
                waits_for.into_iter().map(|(earlier, why)| edge(earlier, why.words())).collect();
            // Why it is later than what it waits for itself explains.
            let asked = asked.get(&(steps[place] - 1)).filter(|_| !is_explained);
            waits_for
                .extend(asked.map(|asked| edge(*asked, "nothing starts while a person is asked".to_owned())));
            waits_for.sort_by_key(|edge| edge.place);
            let (id, title) = (decl.id.to_string(), decl.short_title().to_owned());
            tasks.push(Node { id, title, step: steps[place], waits_for, more });
        }
        let steps = steps.into_iter().max().unwrap_or_default();
        Self { plan: plan.to_owned(), steps, jobs: rules.parallel.jobs, tasks }
    }

    /// For people: the tasks by step, each with what it waits for.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        let width = self.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or_default();
        let mut by_step: BTreeMap<usize, Vec<&Node>> = BTreeMap::new();
        self.tasks.iter().for_each(|task| by_step.entry(task.step).or_default().push(task));
        for (step, of_step) in by_step {
            let beside = if of_step.len() > 1 { ", side by side" } else { "" };
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}{}", paint.strong(&format!("step {step}")), paint.faint(beside));
            for task in of_step {
                let _ = writeln!(text, "  {:<width$}  {}", clean(&task.id), task.short_title());
                for edge in &task.waits_for {
                    let line = format!("after {}: {}", edge.task, edge.why);
                    let _ = writeln!(text, "  {:<width$}    {}", "", paint.faint(&clean(&line)));
                }
                if task.more > 0 {
                    let line = format!("and after {} more", task.more);
                    let _ = writeln!(text, "  {:<width$}    {}", "", paint.faint(&line));
                }
            }
        }
        let _ = writeln!(
            text,
            "\n{} in {} with {}",
            count(self.tasks.len(), "unfinished task"),
            count(self.steps, "step"),
            count(usize::try_from(self.jobs).unwrap_or(usize::MAX), "job")
        );
        text
    }

    /// For Mermaid.
    pub(crate) fn mermaid(&self) -> String {
        let mut text = String::from("graph LR\n");
        for (place, task) in self.tasks.iter().enumerate() {
            let _ = writeln!(text, "    t{place}[\"{}\"]", label(task, for_mermaid));
        }
        for (place, earlier, why) in self.edges() {
            let why = for_mermaid(&clean(why));
            let _ = writeln!(text, "    t{earlier} -- \"{why}\" --> t{place}");
        }
        text
    }

    /// For Graphviz.
    pub(crate) fn dot(&self) -> String {
        let mut text = String::from("digraph plan {\n    rankdir=LR;\n    node [shape=box];\n");
        for (place, task) in self.tasks.iter().enumerate() {
            let _ = writeln!(text, "    t{place} [label=\"{}\"];", label(task, for_dot));
        }
        for (place, earlier, why) in self.edges() {
            let _ = writeln!(text, "    t{earlier} -> t{place} [label=\"{}\"];", for_dot(&clean(why)));
        }
        text.push_str("}\n");
        text
    }

    /// Places of a task and of one that it waits for, and why.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.tasks.iter().enumerate().flat_map(|(place, task)| {
            task.waits_for.iter().map(move |edge| (place, edge.place, edge.why.as_str()))
        })
    }
}

impl Node {
    /// The title, as people see it.
    fn short_title(&self) -> String {
        one_line(&self.title, TITLE_CHARS_MAX)
    }
}

/// The step of each unfinished task, from 1, as the engine goes through the plan.
fn steps_of(rules: &Rules, decls: &[TaskDecl], open: &[&TaskDecl]) -> Vec<usize> {
    let steps = engine::steps(rules, decls);
    let mut step_of = BTreeMap::new();
    for (step, ids) in (1..).zip(&steps) {
        ids.iter().for_each(|id| _ = step_of.entry(id).or_insert(step));
    }
    // What the engine does not come to is shown last.
    open.iter().map(|decl| step_of.get(&decl.id).copied().unwrap_or(steps.len() + 1)).collect()
}

/// The first task by step that a person is asked about.
fn asked_in(open: &[&TaskDecl], steps: &[usize]) -> BTreeMap<usize, usize> {
    let is_asked = |(place, _): &(usize, &usize)| open[*place].kind == TaskKind::Checkpoint;
    steps.iter().enumerate().filter(is_asked).rev().map(|(place, step)| (*step, place)).collect()
}

/// A text as Mermaid shows it in quotes. It reads marks of Markdown and HTML there, unless they are given by name or
/// number.
fn for_mermaid(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => shown.push_str("#quot;"),
            '<' => shown.push_str("#lt;"),
            '>' => shown.push_str("#gt;"),
            '&' => shown.push_str("#amp;"),
            '#' => shown.push_str("#35;"),
            '`' => shown.push_str("#96;"),
            '\n' => shown.push(' '),
            other => shown.push(other),
        }
    }
    shown
}

/// A text as Graphviz shows it in quotes, where it reads entities of HTML as well.
fn for_dot(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            '&' => shown.push_str("&amp;"),
            '\n' => shown.push_str("\\n"),
            other => shown.push(other),
        }
    }
    shown
}

fn label(task: &Node, quote: impl Fn(&str) -> String) -> String {
    quote(&clean(&format!("{} {}", task.id, task.short_title())))
}

#[cfg(test)]
mod tests {
    use engine::{Parallel, Toggle};

    use super::*;
    use crate::view::samples;

    fn rules(jobs: u32) -> Rules {
        Rules { parallel: Parallel { jobs, ..Parallel::default() }, ..Rules::default() }
    }

    fn decls() -> Vec<TaskDecl> {
        let task = |id: &str, files: &[&str]| TaskDecl {
            parallel: true,
            ticked: false,
            files: files.iter().map(ToString::to_string).collect(),
            ..samples::decl(id, "do \"it\"")
        };
        let last = TaskDecl { parallel: false, ..task("1.4", &["c"]) };
        vec![task("1.1", &["a"]), task("1.2", &["b"]), task("1.3", &["a"]), last]
    }

    #[test]
    fn titles_are_cut_for_people_and_whole_for_programs() {
        let title = "a title ".repeat(12);
        let graph = Graph::new(
            "demo",
            &rules(1),
            &[TaskDecl { ticked: false, ..samples::decl("1.1", title.trim()) }],
        );
        for shown in [graph.text(Paint::Plain), graph.mermaid(), graph.dot()] {
            assert!(shown.contains('…') && !shown.contains(title.trim()), "{shown}");
        }
        let json = serde_json::to_string(&graph).unwrap();
        assert!(json.contains(title.trim()), "{json}");
    }

    #[test]
    fn for_people() {
        let graph = Graph::new("x", &rules(4), &decls());
        insta::assert_snapshot!(graph.text(Paint::Plain), @r#"
        step 1, side by side
          1.1  do "it"
          1.2  do "it"
        step 2
          1.3  do "it"
                 after 1.1: both are about a
        step 3
          1.4  do "it"
                 after 1.2: the plan lists it later
                 after 1.3: the plan lists it later

        4 unfinished tasks in 3 steps with 4 jobs
        "#);
        let rules = Rules { parallel: Parallel { infer: Toggle::On, ..rules(4).parallel }, ..rules(4) };
        insta::assert_snapshot!(Graph::new("x", &rules, &decls()).text(Paint::Plain), @r#"
        step 1, side by side
          1.1  do "it"
          1.2  do "it"
          1.4  do "it"
        step 2
          1.3  do "it"
                 after 1.1: both are about a

        4 unfinished tasks in 2 steps with 4 jobs
        "#);
    }

    #[test]
    fn what_waits_starts_as_soon_as_what_it_waits_for_is_in() {
        let files = [("1.1", "a"), ("1.2", "a"), ("1.3", "c"), ("1.4", "c")];
        let task = |(id, file): (&str, &str)| TaskDecl {
            parallel: true,
            ticked: false,
            files: vec![file.to_owned()],
            ..samples::decl(id, "do it")
        };
        let graph = Graph::new("x", &rules(4), &files.map(task));
        insta::assert_snapshot!(graph.text(Paint::Plain), @"
        step 1, side by side
          1.1  do it
          1.3  do it
        step 2, side by side
          1.2  do it
                 after 1.1: both are about a
          1.4  do it
                 after 1.3: both are about c

        4 unfinished tasks in 2 steps with 4 jobs
        ");
    }

    #[test]
    fn of_very_many_the_latest_are_named() {
        let task = |place: usize| TaskDecl {
            parallel: true,
            ticked: false,
            stage: u32::from(place > WAITS_MAX),
            ..samples::decl(&format!("1.{place}"), "do it")
        };
        let graph = Graph::new("x", &rules(4), &(0..=WAITS_MAX + 1).map(task).collect::<Vec<_>>());
        assert_eq!(graph.tasks[WAITS_MAX + 1].waits_for.len(), WAITS_MAX);
        assert!(graph.text(Paint::Plain).contains("and after 1 more"), "{}", graph.text(Paint::Plain));
        assert!(serde_json::to_string(&graph).unwrap().contains("\"more\":1"));
    }

    #[test]
    fn there_are_only_so_many_jobs() {
        let mut tasks = decls();
        tasks[2].files = vec!["d".to_owned()];
        let steps = |jobs| Graph::new("x", &rules(jobs), &tasks[..3]).text(Paint::Plain);
        assert!(steps(1).ends_with("3 unfinished tasks in 3 steps with 1 job\n"), "{}", steps(1));
        assert!(steps(2).ends_with("3 unfinished tasks in 2 steps with 2 jobs\n"), "{}", steps(2));
        assert!(steps(3).ends_with("3 unfinished tasks in 1 step with 3 jobs\n"), "{}", steps(3));
    }

    #[test]
    fn for_programs() {
        let graph = Graph::new("x", &rules(4), &decls());
        insta::assert_snapshot!(graph.mermaid(), @r#"
        graph LR
            t0["1.1 do #quot;it#quot;"]
            t1["1.2 do #quot;it#quot;"]
            t2["1.3 do #quot;it#quot;"]
            t3["1.4 do #quot;it#quot;"]
            t0 -- "both are about a" --> t2
            t1 -- "the plan lists it later" --> t3
            t2 -- "the plan lists it later" --> t3
        "#);
        insta::assert_snapshot!(graph.dot(), @r#"
        digraph plan {
            rankdir=LR;
            node [shape=box];
            t0 [label="1.1 do \"it\""];
            t1 [label="1.2 do \"it\""];
            t2 [label="1.3 do \"it\""];
            t3 [label="1.4 do \"it\""];
            t0 -> t2 [label="both are about a"];
            t1 -> t3 [label="the plan lists it later"];
            t2 -> t3 [label="the plan lists it later"];
        }
        "#);
        insta::assert_snapshot!(serde_json::to_string(&graph).unwrap(), @r#"{"plan":"x","steps":3,"jobs":4,"tasks":[{"id":"1.1","title":"do \"it\"","step":1,"waits_for":[]},{"id":"1.2","title":"do \"it\"","step":1,"waits_for":[]},{"id":"1.3","title":"do \"it\"","step":2,"waits_for":[{"task":"1.1","why":"both are about a"}]},{"id":"1.4","title":"do \"it\"","step":3,"waits_for":[{"task":"1.2","why":"the plan lists it later"},{"task":"1.3","why":"the plan lists it later"}]}]}"#);
    }

    #[test]
    fn a_text_is_shown_as_it_is() {
        let check = |text: &str, mermaid: &str, dot: &str| {
            assert_eq!((for_mermaid(text).as_str(), for_dot(text).as_str()), (mermaid, dot));
        };
        check("Vec<T> #12; a&b", "Vec#lt;T#gt; #35;12; a#amp;b", "Vec<T> #12; a&amp;b");
        check("\"a\" `b`", "#quot;a#quot; #96;b#96;", "\\\"a\\\" `b`");
        check("c:\\n\nd", "c:\\n d", "c:\\\\n\\nd");
    }

    #[test]
    fn a_plan_without_tasks_has_no_steps() {
        assert!(Graph::new("x", &rules(4), &[]).text(Paint::Plain).contains("0 steps"));
    }
}
