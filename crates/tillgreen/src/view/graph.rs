//! What waits for what, and what could run side by side: as text, and as graphs for Graphviz and Mermaid.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use engine::{Open, Rules, TaskDecl};
use serde::Serialize;

use super::paint::Paint;
use super::text::{clean, count, one_line};

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 48;

/// The unfinished tasks of a plan and what each of them waits for.
#[derive(Debug, Serialize)]
pub(crate) struct Graph {
    plan: String,
    /// In how many steps all could be done, were there as many jobs as tasks.
    steps: usize,
    tasks: Vec<Node>,
}

#[derive(Debug, Serialize)]
struct Node {
    id: String,
    title: String,
    /// The step in which it could run, from 1.
    step: usize,
    waits_for: Vec<Edge>,
}

#[derive(Debug, Serialize)]
struct Edge {
    task: String,
    why: String,
}

impl Graph {
    pub(crate) fn new(plan: &str, rules: &Rules, decls: &[TaskDecl]) -> Self {
        let open: Vec<&TaskDecl> = decls.iter().filter(|decl| !decl.ticked).collect();
        let mut tasks: Vec<Node> = Vec::with_capacity(open.len());
        // All that a task waits for, directly or not, by place.
        let mut before: Vec<BTreeSet<usize>> = Vec::with_capacity(open.len());
        for (place, decl) in open.iter().enumerate() {
            let mut waits_for = Vec::new();
            let (mut known, mut step) = (BTreeSet::new(), 1);
            for earlier in (0..place).rev() {
                // What is waited for through another need not be said.
                let hold = if known.contains(&earlier) { None } else { hold(rules, open[earlier], decl) };
                if let Some(why) = hold {
                    step = step.max(tasks[earlier].step + 1);
                    known.insert(earlier);
                    known.extend(&before[earlier]);
                    waits_for.push(Edge { task: open[earlier].id.to_string(), why });
                }
            }
            waits_for.reverse();
            let title = one_line(&decl.title, TITLE_CHARS_MAX);
            tasks.push(Node { id: decl.id.to_string(), title, step, waits_for });
            before.push(known);
        }
        let steps = tasks.iter().map(|task| task.step).max().unwrap_or_default();
        Self { plan: plan.to_owned(), steps, tasks }
    }

    /// For people: the tasks by step, each with what it waits for.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        let width = self.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or_default();
        for step in 1..=self.steps {
            let of_step: Vec<&Node> = self.tasks.iter().filter(|task| task.step == step).collect();
            let beside = if of_step.len() > 1 { ", side by side" } else { "" };
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}{}", paint.strong(&format!("step {step}")), paint.faint(beside));
            for task in of_step {
                let _ = writeln!(text, "  {:<width$}  {}", clean(&task.id), task.title);
                for edge in &task.waits_for {
                    let line = format!("after {}: {}", edge.task, edge.why);
                    let _ = writeln!(text, "  {:<width$}    {}", "", paint.faint(&clean(&line)));
                }
            }
        }
        let _ = writeln!(
            text,
            "\n{} in {}",
            count(self.tasks.len(), "unfinished task"),
            count(self.steps, "step")
        );
        text
    }

    /// For Mermaid.
    pub(crate) fn mermaid(&self) -> String {
        let mut text = String::from("graph LR\n");
        for (place, task) in self.tasks.iter().enumerate() {
            let _ = writeln!(text, "    t{place}[\"{}\"]", label(task, |text| text.replace('"', "#quot;")));
        }
        for (place, earlier, why) in self.edges() {
            let why = clean(why).replace(['"', '|'], "'");
            let _ = writeln!(text, "    t{earlier} -- \"{why}\" --> t{place}");
        }
        text
    }

    /// For Graphviz.
    pub(crate) fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = String::from("digraph plan {\n    rankdir=LR;\n    node [shape=box];\n");
        for (place, task) in self.tasks.iter().enumerate() {
            let _ = writeln!(text, "    t{place} [label=\"{}\"];", label(task, quoted));
        }
        for (place, earlier, why) in self.edges() {
            let _ = writeln!(text, "    t{earlier} -> t{place} [label=\"{}\"];", quoted(&clean(why)));
        }
        text.push_str("}\n");
        text
    }

    /// Places of a task and of one that it waits for, and why.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let place_of = |id: &str| self.tasks.iter().position(|task| task.id == id);
        self.tasks.iter().enumerate().flat_map(move |(place, task)| {
            let known = task.waits_for.iter().filter_map(move |edge| Some((place_of(&edge.task)?, edge)));
            known.map(move |(earlier, edge)| (place, earlier, edge.why.as_str()))
        })
    }
}

/// Why a task waits for an earlier one, were there only the two.
fn hold(rules: &Rules, earlier: &TaskDecl, decl: &TaskDecl) -> Option<String> {
    let mut open = Open::new(rules);
    open.add(earlier);
    open.hold(decl).map(|hold| hold.why.words())
}

fn label(task: &Node, quote: impl Fn(&str) -> String) -> String {
    quote(&clean(&format!("{} {}", task.id, task.title)))
}

#[cfg(test)]
mod tests {
    use engine::{Parallel, Toggle};

    use super::*;
    use crate::view::samples;

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
    fn for_people() {
        let graph = Graph::new("x", &Rules::default(), &decls());
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

        4 unfinished tasks in 3 steps
        "#);
        let rules =
            Rules { parallel: Parallel { infer: Toggle::On, ..Parallel::default() }, ..Rules::default() };
        insta::assert_snapshot!(Graph::new("x", &rules, &decls()).text(Paint::Plain), @r#"
        step 1, side by side
          1.1  do "it"
          1.2  do "it"
          1.4  do "it"
        step 2
          1.3  do "it"
                 after 1.1: both are about a

        4 unfinished tasks in 2 steps
        "#);
    }

    #[test]
    fn for_programs() {
        let graph = Graph::new("x", &Rules::default(), &decls());
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
        insta::assert_snapshot!(serde_json::to_string(&graph).unwrap(), @r#"{"plan":"x","steps":3,"tasks":[{"id":"1.1","title":"do \"it\"","step":1,"waits_for":[]},{"id":"1.2","title":"do \"it\"","step":1,"waits_for":[]},{"id":"1.3","title":"do \"it\"","step":2,"waits_for":[{"task":"1.1","why":"both are about a"}]},{"id":"1.4","title":"do \"it\"","step":3,"waits_for":[{"task":"1.2","why":"the plan lists it later"},{"task":"1.3","why":"the plan lists it later"}]}]}"#);
    }

    #[test]
    fn a_plan_without_tasks_has_no_steps() {
        assert!(Graph::new("x", &Rules::default(), &[]).text(Paint::Plain).contains("0 steps"));
    }
}
