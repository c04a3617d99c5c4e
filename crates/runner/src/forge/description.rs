//! A run as a text in Markdown: what came of it, what to look at first, on what each task rests. It is the text of a pull
//! request, and what `report --markdown` prints.

use std::fmt::Write as _;

use engine::{Account, State, Status, Summary, Task};

use crate::mask::mask;

/// Characters of the whole; forges take no more than 65,536.
const CHARS_MAX: usize = 60_000;
/// What is listed of each kind.
const TASKS_MAX: usize = 300;
const POINTS_MAX: usize = 30;
/// Characters of a cell, and of a line.
const CELL_CHARS_MAX: usize = 120;
const LINE_CHARS_MAX: usize = 300;

/// The run in Markdown. Nothing that others wrote is mark-up in it, or calls anybody.
pub fn description(state: &State, name: &str) -> String {
    let account = Account::of(state);
    let mut text = String::new();
    push(&mut text, &format!("**{}**\n", escaped(&account.verdict, LINE_CHARS_MAX)));
    push(&mut text, &format!("Plan: {}. {}\n", escaped(name, CELL_CHARS_MAX), figures(state)));
    look_first(&mut text, &account);
    tasks(&mut text, state);
    chains(&mut text, &account);
    proof(&mut text, state);
    let text = mask(&text);
    match text.char_indices().nth(CHARS_MAX) {
        // At the end of a line, so that no mark-up is cut.
        Some((end, _)) => {
            let end = text[..end].rfind('\n').unwrap_or(end);
            format!("{}\n\n… and more; `tillgreen report` has all of it.\n", &text[..end])
        }
        None => text,
    }
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn figures(state: &State) -> String {
    let summary = Summary::of(state);
    let fixes = match summary.fixes {
        0 => String::new(),
        _ => format!(", {} of {} fix tasks", summary.fixes_done, summary.fixes),
    };
    let cost = summary.usage.cost_micros.map(|micros| format!(", ${:.2}", dollars(micros)));
    format!(
        "Tasks done: {} of {}{fixes}; skipped: {}; attempts: {}, failed: {}; {}{}.",
        summary.originals_done,
        summary.originals,
        summary.skipped,
        summary.attempts,
        summary.failed_attempts,
        took(summary.elapsed),
        cost.unwrap_or_default()
    )
}

#[expect(clippy::cast_precision_loss, reason = "no price is so large that a cent is lost")]
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}

/// How long something took, as it is of interest to a reviewer.
fn took(time: std::time::Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn look_first(text: &mut String, account: &Account) {
    if account.look_first.is_empty() {
        return;
    }
    push(text, "## Look at these first\n");
    for point in account.look_first.iter().take(POINTS_MAX) {
        let task = point.task.as_ref().map(|task| format!("**{}** ", escaped(task.name(), CELL_CHARS_MAX)));
        push(text, &format!("- {}{}", task.unwrap_or_default(), escaped(&point.text, LINE_CHARS_MAX)));
    }
    if account.look_first.len() > POINTS_MAX {
        push(text, &format!("- … and {} more", account.look_first.len() - POINTS_MAX));
    }
    push(text, "");
}

fn tasks(text: &mut String, state: &State) {
    push(text, "## Tasks\n\n| task | | rests on | attempts | time | commit |\n|---|---|---|---|---|---|");
    for task in state.tasks().iter().take(TASKS_MAX) {
        let name = escaped(&format!("{} {}", task.id(), task.decl.short_title()), CELL_CHARS_MAX);
        let rests_on = escaped(&task.rests_on(state), CELL_CHARS_MAX);
        let time = state.time_of(task).map(took).unwrap_or_default();
        let commit = task.commit.as_deref().map(|commit| commit.get(..9).unwrap_or(commit));
        let (mark, commit) = (mark(task), commit.unwrap_or_default());
        push(text, &format!("| {name} | {mark} | {rests_on} | {} | {time} | {commit} |", task.attempted));
    }
    if state.tasks().len() > TASKS_MAX {
        push(text, &format!("\n… and {} more tasks", state.tasks().len() - TASKS_MAX));
    }
    push(text, "");
}

fn mark(task: &Task) -> &'static str {
    if task.status == Status::Done {
        "✓"
    } else if task.status == Status::Skipped {
        "⊘"
    } else if matches!(task.status, Status::Asking(_)) {
        "?"
    } else if !task.failures.is_empty() {
        "✗"
    } else {
        "·"
    }
}

fn chains(text: &mut String, account: &Account) {
    if account.chains.is_empty() {
        return;
    }
    push(text, "<details><summary>Fix tasks</summary>\n");
    for chain in &account.chains {
        push(text, &format!("- {}", escaped(chain.task.name(), CELL_CHARS_MAX)));
        for (fix, depth, error) in &chain.fixes {
            let indent = "  ".repeat(usize::try_from(*depth).unwrap_or(1).min(9));
            let (fix, error) = (escaped(fix.name(), CELL_CHARS_MAX), escaped(error, LINE_CHARS_MAX));
            push(text, &format!("{indent}- {fix}, written for: {error}"));
        }
    }
    push(text, "\n</details>\n");
}

fn proof(text: &mut String, state: &State) {
    let Some(proof) = state.proof() else { return };
    push(text, &format!("## Proof\n\n{}.\n", escaped(&proof.headline(), LINE_CHARS_MAX)));
    for line in proof.findings().iter().take(POINTS_MAX) {
        push(text, &format!("- {}", escaped(line, LINE_CHARS_MAX)));
    }
}

/// A text of others on one line, in which nothing is mark-up, a mention or a reference.
fn escaped(text: &str, chars_max: usize) -> String {
    let line = plan::harmless_lines(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::new();
    for (place, character) in line.chars().enumerate() {
        if place == chars_max {
            escaped.push('…');
            break;
        }
        match character {
            // A backslash does not keep a forge from seeing whom or what is meant; nothing between them does.
            '@' | '#' => escaped.extend([character, '\u{200b}']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '!' => {
                escaped.extend(['\\', character]);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_others_is_markup_or_calls_anybody() {
        let text = escaped("<img src=x> **b** [a](b) `c` @you #12 a|b\n# head", 99);
        assert_eq!(
            text,
            "\\<img src=x\\> \\*\\*b\\*\\* \\[a\\](b) \\`c\\` @\u{200b}you #\u{200b}12 a\\|b #\u{200b} head"
        );
        assert_eq!(escaped("abcdef", 3), "abc…");
    }
}
