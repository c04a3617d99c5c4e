//! The `tasks.md` of what a source lists. Its words are other people's: each line of them is made harmless, and what does
//! not read back as the one task that it is to be is left out and named.

use std::collections::BTreeSet;

use super::listing::{Item, LeftOut, Listing};
use super::tracker::{BRANCH_KEY, FROM_KEY, Imported};
use crate::format::{Format, Reading};
use crate::one_line::{one_line, whole_line};
use crate::spec::{Markers, Plan, commands_of, paths_of, verify_lines};
use crate::{Script, TaskId, Verify};

/// Lines of a task's text; what is beyond is in the source.
const LINES_MAX: usize = 150;
/// The words in place of those.
const MORE: &str = "(the rest is in the source)";
/// Files of a task that are named.
const FILES_MAX: usize = 30;

/// Writes the plan of a listing. Tasks that cannot be written are left out of both.
#[must_use]
pub fn write(name: &str, imported: &Imported, listing: &mut Listing) -> Plan {
    let mut text = head(name, imported, listing);
    let mut part = None;
    for item in std::mem::take(&mut listing.items) {
        let block = block(&item, imported);
        if !reads_back(&block, &item) {
            listing.left_out.push(LeftOut { id: item.id, why: "its text cannot be written into a plan" });
            continue;
        }
        if item.part != part {
            part.clone_from(&item.part);
            let title = item.part.as_deref().map(title).unwrap_or_default();
            text.push_str(&format!("\n## {title}\n"));
        }
        text.push('\n');
        text.push_str(&block);
        listing.items.push(item);
    }
    Plan::read(Reading::of(Format::Imported), text)
}

fn head(name: &str, imported: &Imported, listing: &Listing) -> String {
    let quoted = |word: &str| serde_json::to_string(word).unwrap_or_default();
    let mut text = format!("---\n{FROM_KEY}: {}\n", quoted(&imported.address.to_string()));
    if let Some(branch) = &imported.branch {
        text.push_str(&format!("{BRANCH_KEY}: {}\n", quoted(branch)));
    }
    text.push_str(&format!("---\n\n# Tasks: {}\n\n", title(name)));
    let about: Vec<String> =
        listing.title.iter().chain(&listing.about).flat_map(|words| lines_of(words)).collect();
    for line in about.into_iter().take(LINES_MAX) {
        text.push_str(&format!("{}\n\n", line.trim_start_matches(['-', '*', '+', '#', '='])));
    }
    text.push_str(&format!(
        "Imported from {}. Tillgreen writes back there what is done: leave the status there alone.\n",
        one_line(&imported.address.to_string())
    ));
    text
}

/// A task as a block of the plan.
fn block(item: &Item, imported: &Imported) -> String {
    let mark = if item.is_done { 'x' } else { ' ' };
    let has_digit = item.id.bytes().any(|byte| byte.is_ascii_digit());
    let id = if has_digit { item.id.clone() } else { format!("**{}**", item.id) };
    let mut text = format!("- [{mark}] {id} {}\n", title(&item.title));
    let work: Vec<String> = item.work.iter().flat_map(|words| lines_of(words)).collect();
    let work = if work.is_empty() { vec![title(&item.title)] } else { work };
    field(&mut text, "Do", &work);
    let files = files(item);
    if !files.is_empty() {
        text.push_str(&format!("  - **Files**: {}\n", files.join(", ")));
    }
    field(
        &mut text,
        "Done when",
        &item.done_when.iter().flat_map(|words| lines_of(words)).collect::<Vec<_>>(),
    );
    if let Some(script) = script(item) {
        for line in verify_lines(&script) {
            text.push_str(&format!("{line}\n"));
        }
    }
    if !item.depends_on.is_empty() {
        text.push_str(&format!("  - **Depends on**: {}\n", item.depends_on.join(", ")));
    }
    let source = one_line(&format!("{} of {}", item.called, imported.address));
    text.push_str(&format!("  - **Source**: {source}\n"));
    text
}

/// A field with its first line behind its name and the others below, or all below where they are a list.
fn field(text: &mut String, name: &str, lines: &[String]) {
    let Some((first, rest)) = lines.split_first() else { return };
    text.push_str(&format!("  - **{name}**: {first}\n"));
    let (kept, cut) = rest.split_at(rest.len().min(LINES_MAX));
    for line in kept.iter().map(String::as_str).chain((!cut.is_empty()).then_some(MORE)) {
        text.push_str(&format!("    - {line}\n"));
    }
}

/// The lines of a text, each harmless, without the bullets of their own.
fn lines_of(text: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim();
        let item = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with([' ', '\t']));
        whole_line(item.unwrap_or(line))
    };
    // What are only rules, fences or marks says nothing.
    text.lines().map(bare).filter(|line| line.contains(char::is_alphanumeric)).collect()
}

/// A title: a line in which nothing is a marker.
fn title(text: &str) -> String {
    let line = one_line(text).replace('[', "(").replace(']', ")");
    let bare = line.trim_start_matches("(P) ").trim_start_matches(|c: char| !c.is_alphanumeric() && c != '(');
    if bare.is_empty() { "Untitled".to_owned() } else { bare.to_owned() }
}

fn files(item: &Item) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts = std::iter::once(&item.title).chain(&item.work);
    let paths = texts.flat_map(|words| paths_of(words)).filter(|path| seen.insert(path.clone()));
    paths.take(FILES_MAX).map(|path| format!("`{path}`")).collect()
}

/// The commands that the words of a task ask for, and those that its source names, as far as they only look.
fn script(item: &Item) -> Option<Script> {
    let texts = std::iter::once(&item.title).chain(&item.work).chain(&item.done_when);
    let is_line = |command: &&String| !command.chars().any(char::is_control);
    let named = item
        .commands
        .iter()
        .filter(is_line)
        .filter(|command| Script::new(vec![(*command).clone()]).only_checks());
    let mut seen = BTreeSet::new();
    let commands = named.cloned().chain(texts.flat_map(|words| commands_of(words)));
    let commands: Vec<String> = commands.filter(|command| seen.insert(command.clone())).collect();
    (!commands.is_empty()).then(|| Script::new(commands))
}

/// True if a block is this task and nothing else.
fn reads_back(block: &str, item: &Item) -> bool {
    let plan = Plan::read(Reading::of(Format::Imported), block.to_owned());
    let [task] = plan.tasks() else { return false };
    let is_proof = match (plan.verify(task), script(item)) {
        (Verify::Runnable(found), Some(wanted)) => found.snippets == wanted.snippets,
        (Verify::Absent, None) => true,
        (Verify::Runnable(_) | Verify::Prose(_) | Verify::Absent, _) => false,
    };
    is_proof
        && task.id == TaskId::new(&item.id)
        && task.state.is_done() == item.is_done
        && task.markers == Markers::default()
        && plan.block(task).trim_end() == block.trim_end()
}
