//! The `<retry_context>` block: what a new attempt is told of the earlier ones at the same task.

use std::collections::BTreeSet;

use plan::TaskId;

use crate::failure::{Failure, Rung};
use crate::rules::{Limits, Recovery};
use crate::state::State;
use crate::task::{Attempt, Task};

/// The block for the given attempt, or none if the task has no history.
pub fn retry_context(state: &State, task: &Task, attempt: Attempt) -> Option<String> {
    let limits = &state.rules()?.limits;
    let lineage = lineage(state, task);
    let has_failed = |task: &&Task| !task.failures.is_empty() || task.proof_failure.is_some();
    if task.instruction.is_none() && !lineage.iter().any(has_failed) {
        return None;
    }
    let max = max_attempts(state, task, attempt);
    let head = format!("<retry_context attempt=\"{attempt}\" max_attempts=\"{max}\">\n");
    let tail = "</retry_context>\n";
    let intervention =
        task.instruction.as_deref().map(|text| intervention(text, limits.feedback_chars_max / 2));
    let learnings = learnings(&lineage, limits.feedback_chars_max / 4);
    let closing = task.instruction.is_none().then(|| match state.fix_plan(task.id()) {
        Some(plan) if task.failures.is_empty() => repair(&plan.failing),
        Some(_) | None => instruction(attempt, max),
    });
    let around = [Some(&head), intervention.as_ref(), learnings.as_ref(), closing.as_ref()];
    let taken: usize = around.into_iter().flatten().map(|text| size(text) + 1).sum();
    let previous =
        previous_failures(&lineage, limits, limits.feedback_chars_max.saturating_sub(taken + size(tail)));
    let sections: Vec<String> = [intervention, previous, learnings, closing].into_iter().flatten().collect();
    Some(format!("{head}{}{tail}", sections.join("\n")))
}

/// The task, and before it those that it is to fix: whoever repairs knows what whoever tries again knows.
fn lineage<'a>(state: &'a State, task: &'a Task) -> Vec<&'a Task> {
    let mut tasks = vec![task];
    let mut plan = state.fix_plan(task.id());
    while let Some(failing) = plan.and_then(|plan| state.task(&plan.failing)) {
        tasks.insert(0, failing);
        plan = state.fix_plan(failing.id());
    }
    tasks
}

/// The last attempt number that the limits allow.
fn max_attempts(state: &State, task: &Task, attempt: Attempt) -> Attempt {
    let Some(rules) = state.rules() else { return attempt };
    if task.instruction.is_some() {
        return attempt;
    }
    let retries_used = task.failures_on(Rung::Retry).saturating_add(1);
    let retries_left = rules.limits.task_iterations_max.saturating_sub(retries_used);
    let fixes = u32::try_from(task.round_fixes().len()).unwrap_or(u32::MAX);
    let fixes_left = match rules.recovery {
        Recovery::On if state.fix_depth(task.id()) < rules.limits.fix_depth_max => {
            rules.limits.fix_tasks_max.saturating_sub(fixes)
        }
        Recovery::On | Recovery::Off => 0,
    };
    Attempt(attempt.0.saturating_add(retries_left).saturating_add(fixes_left))
}

fn intervention(instruction: &str, chars_max: usize) -> String {
    let instruction = beginning(&format!("User provided fix: {instruction}"), chars_max);
    format!(
        "  <user_intervention>\n    <instruction priority=\"high\">\n{}    </instruction>\n    <context>\n      \
         This instruction comes from the user after automated recovery failed.\n      \
         Treat this as authoritative guidance.\n    </context>\n  </user_intervention>\n",
        indented(&instruction, 6)
    )
}

fn instruction(attempt: Attempt, max: Attempt) -> String {
    format!(
        "  <instruction>\n    This is retry attempt {attempt} of {max}.\n    \
         Review the previous failure(s) above.\n    \
         Address the specific issues before re-executing.\n    \
         If you believe the task is impossible, report status: blocked.\n  </instruction>\n"
    )
}

fn repair(failing: &TaskId) -> String {
    format!(
        "  <instruction>\n    This task repairs what made task {failing} fail.\n    \
         Review the previous failure(s) above.\n    \
         Address the specific issues; task {failing} is executed again afterwards.\n    \
         If you believe the task is impossible, report status: blocked.\n  </instruction>\n"
    )
}

/// The things that the attempts learned, each once, oldest first; where it is too much, the oldest are left out.
fn learnings(lineage: &[&Task], chars_max: usize) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut lines: Vec<String> = Vec::new();
    let mut room = chars_max;
    let failures = lineage.iter().rev().flat_map(|task| task.failures.iter().rev());
    for learning in failures.flat_map(|failure| failure.learnings.iter().rev()) {
        let learning = one_line(learning);
        if learning.is_empty() || !seen.insert(learning.clone()) {
            continue;
        }
        let line = indented(&beginning(&format!("- {learning}"), chars_max / 4), 4);
        room = room.saturating_sub(size(&line));
        if room == 0 {
            break;
        }
        lines.push(line);
    }
    lines.reverse();
    (!lines.is_empty())
        .then(|| format!("  <accumulated_learnings>\n{}  </accumulated_learnings>\n", lines.concat()))
}

/// The failures of this task and of those that it is to fix, oldest first; a red `[VERIFY]` command comes last. Where they
/// are too much, the oldest are left out.
fn previous_failures(lineage: &[&Task], limits: &Limits, chars_max: usize) -> Option<String> {
    let (head, tail) = ("  <previous_failures>\n", "  </previous_failures>\n");
    let mut room = chars_max.saturating_sub(head.len() + tail.len());
    let mut shown: Vec<String> = Vec::new();
    let own = lineage.last().map(|task| task.id());
    let all = lineage.iter().flat_map(|task| {
        let of = Some(task.id()).filter(|id| Some(*id) != own);
        task.failures.iter().chain(task.proof_failure.as_deref()).map(move |failure| (of, failure))
    });
    for (of, failure) in all.collect::<Vec<_>>().into_iter().rev() {
        let text = failure_block((of, failure), limits.failure_chars_max);
        if size(&text) > room {
            break;
        }
        room -= size(&text);
        shown.push(text);
    }
    shown.reverse();
    (!shown.is_empty()).then(|| format!("{head}{}{tail}", shown.concat()))
}

/// A failure of the task itself, or of the one that is named.
fn failure_block((of, failure): (Option<&TaskId>, &Failure), chars_max: usize) -> String {
    let kind = failure.cause.failure_type().name();
    let of = of.map(|id| format!("task=\"{}\" ", escaped(&id.to_string()))).unwrap_or_default();
    let head = format!(
        "    <failure {of}attempt=\"{}\">\n      <type>{kind}</type>\n      <timestamp>{:.0}</timestamp>\n",
        failure.attempt, failure.at
    );
    let tail = "    </failure>\n";
    let room = chars_max.saturating_sub(size(&head) + size(tail));
    let summary = element("error_summary", &summary(failure), beginning, room / 2);
    let room = room.saturating_sub(size(&summary));
    let fix =
        element("suggested_fix", failure.suggested_fix.as_deref().unwrap_or_default(), beginning, room / 3);
    let room = room.saturating_sub(size(&fix));
    let files = element("files_affected", &files(failure), beginning, room / 3);
    let room = room.saturating_sub(size(&files));
    // The end of an output is where errors are, unless it begins with what fails.
    let fit = if failure.failing.is_empty() { ending } else { beginning };
    let details = element("error_details", &failure.details, fit, room);
    format!("{head}{summary}{details}{files}{fix}{tail}")
}

fn summary(failure: &Failure) -> String {
    let error = format!("{}{}", failure.error, also_failing(failure));
    match (&failure.command, failure.exit_code) {
        (Some(command), Some(code)) => format!("{} returned exit code {code}\n{error}", one_line(command)),
        (Some(_), None) | (None, _) => error,
    }
}

/// The names of the items that fail, where there are several.
fn also_failing(failure: &Failure) -> String {
    const NAMES_MAX: usize = 10;
    let items = &failure.failing.items;
    if items.len() < 2 {
        return String::new();
    }
    let names: String = items.iter().take(NAMES_MAX).map(|item| format!("\n- {}", item.name)).collect();
    format!("\n{} items fail:{names}", items.len() + usize::try_from(failure.failing.unlisted).unwrap_or(0))
}

fn files(failure: &Failure) -> String {
    let lines: Vec<String> =
        failure.files.iter().map(|file| format!("- {} ({})", file.path, file.state)).collect();
    lines.join("\n")
}

/// An element with its text on lines of its own, or nothing where there is no text or no room for it.
fn element(name: &str, text: &str, fit: fn(&str, usize) -> String, chars_max: usize) -> String {
    let (head, tail) = (format!("      <{name}>\n"), format!("      </{name}>\n"));
    let room = chars_max.saturating_sub(size(&head) + size(&tail));
    let text = text.trim_matches(['\n', '\r']).trim_end();
    if text.trim().is_empty() || room < MARGIN + 20 {
        return String::new();
    }
    format!("{head}{}{tail}", indented(&fit(text, room), MARGIN))
}

/// How far the text of a failure's elements is indented.
const MARGIN: usize = 8;

fn indented(text: &str, columns: usize) -> String {
    let margin = " ".repeat(columns);
    escaped(text).lines().fold(String::new(), |mut block, line| {
        if !line.is_empty() {
            block.push_str(&margin);
            block.push_str(line);
        }
        block.push('\n');
        block
    })
}

fn escaped(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => kept.push_str("&amp;"),
            '<' => kept.push_str("&lt;"),
            '>' => kept.push_str("&gt;"),
            '\u{0}' => {}
            other => kept.push(other),
        }
    }
    kept
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn size(text: &str) -> usize {
    text.chars().count()
}

/// The characters that one takes when it is written, escaped and indented.
fn written(character: char) -> usize {
    match character {
        '&' => 5,
        '<' | '>' => 4,
        '\n' => MARGIN + 1,
        _ => 1,
    }
}

/// As much of the beginning of a text as can be written in so many characters.
fn beginning(text: &str, chars_max: usize) -> String {
    let fitting = fitting(text.chars(), chars_max);
    if fitting == size(text) {
        return text.to_owned();
    }
    text.chars().take(fitting).chain(['…']).collect()
}

/// As much of the end of a text as can be written in so many characters.
fn ending(text: &str, chars_max: usize) -> String {
    let (fitting, all) = (fitting(text.chars().rev(), chars_max), size(text));
    if fitting == all {
        return text.to_owned();
    }
    ['…'].into_iter().chain(text.chars().skip(all - fitting)).collect()
}

/// How many of the characters fit, with room for a margin, a line break and an ellipsis.
fn fitting(characters: impl Iterator<Item = char>, chars_max: usize) -> usize {
    let mut room = chars_max.saturating_sub(MARGIN + 2);
    let fits = |character: &char| match room.checked_sub(written(*character)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    characters.take_while(fits).count()
}
