//! Front matter, in which a plan tells of itself: its place among the others, what it changes and what must hold after
//! it.

use std::ops::Range;

use crate::markdown::line::lines;
use crate::problem::Problem;
use crate::yaml::{Value, read_yaml_leniently};

/// The front matter of a plan. What is not there is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// The phase as written: `01-foundation`, `02.5`.
    pub phase: String,
    /// The plan within its phase as written: `01`.
    pub plan: String,
    /// `execute`, `tdd` or whatever its author calls it.
    pub type_: String,
    /// Plans of one wave may run beside each other.
    pub wave: Option<u32>,
    /// The plans that come before it, as written: `01-01`, `02`, `01-02-PLAN.md`.
    pub depends_on: Vec<String>,
    /// The files that it changes.
    pub files_modified: Vec<String>,
    /// True if it runs without a person.
    pub autonomous: Option<bool>,
    /// Conditions that must hold when it is done.
    pub must_haves: MustHaves,
    /// All other entries, in order.
    pub others: Vec<(String, Value)>,
}

/// Conditions that must hold when a plan is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MustHaves {
    /// Sentences that must be true.
    pub truths: Vec<String>,
    /// Files that must exist, most often maps with a `path`.
    pub artifacts: Vec<Value>,
    /// Things that must be connected with one another.
    pub key_links: Vec<Value>,
    /// All other entries, in order.
    pub others: Vec<(String, Value)>,
}

impl FrontMatter {
    /// The ids of the plans that come before it: `02` is a plan of the same phase, `01-02-PLAN.md` is `01-02`.
    #[must_use]
    pub fn dependencies(&self, own_id: &str) -> Vec<String> {
        let phase = own_id.split_once('-').map_or(own_id, |(phase, _)| phase);
        let named = self.depends_on.iter().map(|name| name.trim());
        named
            .filter(|name| !matches!(name.to_ascii_lowercase().as_str(), "" | "none" | "n/a" | "-" | "null"))
            .map(|name| {
                let name = name.strip_suffix(".md").unwrap_or(name);
                let name = name.strip_suffix("-PLAN").unwrap_or(name);
                let number = name.bytes().all(|byte| byte.is_ascii_digit());
                if number { format!("{phase}-{name}") } else { name.to_owned() }
            })
            .collect()
    }

    fn of(value: &Value) -> FrontMatter {
        let mut found = FrontMatter::default();
        for (key, value) in value.entries() {
            let text = || value.text().unwrap_or_default();
            match key.as_str() {
                "phase" => found.phase = text(),
                "plan" => found.plan = text(),
                "type" => found.type_ = text(),
                "wave" => found.wave = text().trim().parse().ok(),
                "depends_on" => found.depends_on = value.texts(),
                "files_modified" => found.files_modified = value.texts(),
                "autonomous" => found.autonomous = value.bool(),
                "must_haves" => found.must_haves = MustHaves::of(value),
                _ => found.others.push((key.clone(), value.clone())),
            }
        }
        found
    }
}

impl MustHaves {
    /// A plain list holds truths.
    fn of(value: &Value) -> MustHaves {
        let mut found = MustHaves::default();
        if value.entries().is_empty() {
            found.truths = value.texts();
        }
        for (key, value) in value.entries() {
            match key.as_str() {
                "truths" => found.truths = value.texts(),
                "artifacts" => found.artifacts = value.items().to_vec(),
                "key_links" => found.key_links = value.items().to_vec(),
                _ => found.others.push((key.clone(), value.clone())),
            }
        }
        found
    }
}

/// The front matter of a text, where the rest begins, and what is wrong with it.
pub(super) fn read(text: &str) -> (Option<FrontMatter>, usize, Vec<Problem>) {
    let mut problems = Vec::new();
    let Some(place) = find(text, &mut problems) else {
        let problem = Problem::warning(1, "no front matter, so phase and plan come from the file's name");
        problems.push(problem.hint("begin the file with `---`, `phase:`, `plan:` and `---`"));
        return (None, 0, problems);
    };
    let (value, error) = read_yaml_leniently(&text[place.yaml.clone()]);
    if let Some(error) = error {
        let message = format!("front matter is not YAML and is read as far as possible: {}", error.message);
        problems.push(Problem::warning(place.line + error.line - 1, message));
    }
    let found = FrontMatter::of(&value);
    if found.phase.is_empty() || found.plan.is_empty() {
        let what = if found.phase.is_empty() { "phase" } else { "plan" };
        let message = format!("front matter names no {what}, so it comes from the file's name");
        problems.push(Problem::warning(place.line, message));
    }
    // Front matter that is never closed may begin, as far as lines go, behind the last one.
    let last = lines(text).all.len().max(1);
    problems.iter_mut().for_each(|problem| problem.line = problem.line.min(last));
    (Some(found), place.end, problems)
}

/// Where the YAML is.
struct Place {
    yaml: Range<usize>,
    /// The line on which it begins, counted from one.
    line: usize,
    /// Where the rest of the text begins.
    end: usize,
}

fn find(text: &str, problems: &mut Vec<Problem>) -> Option<Place> {
    let lines = lines(text).all;
    let line = |at: usize| lines[at].of(text);
    let first = (0..lines.len()).find(|&at| !line(at).trim_start_matches('\u{feff}').trim().is_empty())?;
    let next_start = |at: usize| lines.get(at + 1).map_or(text.len(), |line| line.start);
    if line(first).trim_start_matches('\u{feff}').trim_end() != "---" {
        let open = fenced(text, &lines)?;
        let close = (open + 1..lines.len()).find(|&at| line(at).trim() == "```")?;
        let message = "front matter stands in a code fence";
        problems
            .push(Problem::warning(open + 1, message).hint("write it between two lines `---` at the top"));
        return Some(Place {
            yaml: next_start(open)..lines[close].start,
            line: open + 2,
            end: next_start(close),
        });
    }
    let body = || first + 1..lines.len();
    let place = |close: usize, end: usize| Place {
        yaml: next_start(first)..lines.get(close).map_or(text.len(), |line| line.start),
        line: first + 2,
        end,
    };
    if let Some(close) = body().find(|&at| matches!(line(at).trim_end(), "---" | "...")) {
        return Some(place(close, next_start(close)));
    }
    let problem = Problem::warning(first + 1, "front matter is never closed");
    problems.push(problem.hint("add a line `---` where it ends"));
    let close = body().find(|&at| line(at).starts_with(['<', '#'])).unwrap_or(lines.len());
    Some(place(close, lines.get(close).map_or(text.len(), |line| line.start)))
}

/// The line of a YAML fence above the tasks that holds what belongs into the front matter.
fn fenced(text: &str, lines: &[crate::markdown::Line]) -> Option<usize> {
    let line = |at: usize| lines[at].of(text);
    let open = (0..lines.len())
        .take_while(|&at| !line(at).trim_start().starts_with("<task"))
        .find(|&at| matches!(line(at).trim(), "```yaml" | "```yml"))?;
    let inside = (open + 1..lines.len()).take_while(|&at| line(at).trim() != "```");
    let names = |key: &str| inside.clone().any(|at| line(at).starts_with(key));
    (names("phase:") && names("plan:")).then_some(open)
}

#[cfg(test)]
mod tests;
