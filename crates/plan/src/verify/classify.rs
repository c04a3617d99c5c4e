//! Classifying the text of a Verify field.

use std::borrow::Cow;

use super::command::{Likeness, bare_command, is_sentence, likeness};
use super::count::expected_count;
use super::prose::{ProseEffect, effect_of_label, effect_of_note, effect_of_prose};
use crate::Script;
use crate::markdown::{LineKind, Piece, fence_open, indent_of, pieces, regions};
use crate::script::read_shell;

/// How a task is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// By a script whose exit code decides.
    Runnable(Script),
    /// By somebody who reads this and looks.
    Prose(String),
    /// The plan does not say.
    Absent,
}

/// Decides what the text of a Verify field is. The text is as it stands in the plan, indentation included.
pub(crate) fn classify(text: &str) -> Verify {
    let parts = split_fences(text);
    let trimmed = text.trim();
    if parts.fences.is_empty() && says_nothing(trimmed) {
        return Verify::Absent;
    }
    let snippets = if parts.fences.is_empty() { from_spans(&parts.rest) } else { from_fences(&parts) };
    match snippets {
        Some(snippets) => Verify::Runnable(Script::new(snippets)),
        None => Verify::Prose(trimmed.to_owned()),
    }
}

/// Decides what the text of an `<automated>` element is: all of it is one command, unless it plainly is not.
pub(crate) fn classify_automated(text: &str) -> Verify {
    let trimmed = text.trim();
    if says_nothing(trimmed) {
        return Verify::Absent;
    }
    if trimmed.starts_with(['`', '~']) {
        return classify(text);
    }
    let command = span_command(text.trim_start_matches(['\n', '\r']));
    let runs = match likeness(&command) {
        Likeness::Command => true,
        Likeness::Unclear => !is_sentence(&command),
        Likeness::SomethingElse => false,
    };
    if runs && !says_none_yet(trimmed) {
        Verify::Runnable(Script::new(vec![command]))
    } else {
        Verify::Prose(trimmed.to_owned())
    }
}

/// `MISSING — create it first`, `n/a (docs only)`: a note in place of a command.
fn says_none_yet(text: &str) -> bool {
    let first = text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '—' | '(')).next();
    let first = first.unwrap_or_default().trim_end_matches(['.', ',']);
    matches!(first.to_lowercase().as_str(), "missing" | "manual" | "none" | "n/a" | "tbd" | "todo")
}

fn says_nothing(text: &str) -> bool {
    let text = text.trim_matches(['(', ')', '.', '-', '—', '*', '_', ' ', '`', '"']);
    let nothing = ["", "none", "n/a", "na", "nothing", "not applicable"];
    nothing.iter().any(|nothing| text.eq_ignore_ascii_case(nothing))
}

/// A code fence: its language and its content.
struct Fence {
    language: String,
    body: String,
}

struct Parts<'a> {
    fences: Vec<Fence>,
    /// Everything outside the fences, with plain line ends.
    rest: Cow<'a, str>,
}

fn split_fences(text: &str) -> Parts<'_> {
    let may_have_fences = text.as_bytes().windows(3).any(|three| matches!(three, b"```" | b"~~~"));
    if !may_have_fences && !text.contains('\r') {
        return Parts { fences: Vec::new(), rest: Cow::Borrowed(text) };
    }
    let regions = regions(text);
    let mut fences = Vec::new();
    let mut rest = String::new();
    let mut open: Option<(usize, Fence)> = None;
    for (at, line) in regions.lines.iter().enumerate() {
        let content = line.of(text);
        match regions.kinds[at] {
            LineKind::FenceOpen => {
                let language = fence_open(content).map_or("", |(_, _, info)| info).to_lowercase();
                open = Some((
                    if at == 0 { usize::MAX } else { indent_of(content) },
                    Fence { language, body: String::new() },
                ));
            }
            LineKind::FenceBody => {
                if let Some((_, fence)) = &mut open {
                    fence.body.push_str(content);
                    fence.body.push('\n');
                }
            }
            LineKind::FenceClose => {
                if let Some((indent, fence)) = open.take() {
                    let indent = if indent == usize::MAX { indent_of(content) } else { indent };
                    fences.push(Fence { body: dedent(&fence.body, indent), ..fence });
                }
            }
            LineKind::Text | LineKind::Continuation | LineKind::FrontMatter => {
                rest.push_str(content);
                rest.push('\n');
            }
        }
    }
    Parts { fences, rest: Cow::Owned(rest) }
}

/// Takes up to `indent` white space from the start of every line.
fn dedent(text: &str, indent: usize) -> String {
    let lines: Vec<&str> = text.lines().map(|line| &line[indent.min(indent_of(line))..]).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn from_fences(parts: &Parts<'_>) -> Option<Vec<String>> {
    let mut snippets = Vec::new();
    for fence in &parts.fences {
        let shell = matches!(
            fence.language.as_str(),
            "" | "bash" | "sh" | "shell" | "zsh" | "console" | "terminal" | "shell-session"
        );
        if !shell {
            return None;
        }
        snippets.push(without_prompts(&fence.body)?);
    }
    let prose_is_neutral = pieces(&parts.rest).iter().all(|piece| match piece {
        Piece::Prose(prose) => effect_of_note(prose) == ProseEffect::Neutral,
        Piece::Code(_) => true,
    });
    // A fence that holds nothing but comments describes something and runs nothing.
    snippets.retain(|snippet| !read_shell(snippet).statements.is_empty());
    (prose_is_neutral && !snippets.is_empty()).then_some(snippets)
}

/// The commands of a session in which every line is one; `None` if it also shows what they printed.
fn without_prompts(body: &str) -> Option<String> {
    let prompt = |line: &str| line.trim_start().starts_with("$ ");
    if !body.lines().any(prompt) {
        return Some(body.to_owned());
    }
    let all = body.lines().all(|line| prompt(line) || line.trim().is_empty());
    all.then(|| {
        body.lines().map(|line| line.trim_start().trim_start_matches("$ ")).collect::<Vec<_>>().join("\n")
    })
}

fn from_spans(text: &str) -> Option<Vec<String>> {
    let parts: Vec<Piece<'_>> = pieces(text);
    let commands: Vec<String> = parts
        .iter()
        .filter_map(|piece| if let Piece::Code(code) = piece { Some(span_command(code)) } else { None })
        .collect();
    if commands.is_empty() {
        return bare_commands(text);
    }
    let alone = commands.len() == 1
        && parts.iter().all(|piece| match piece {
            Piece::Prose(prose) => {
                prose.chars().all(|c| c.is_whitespace() || matches!(c, '.' | '-' | '*' | ';'))
            }
            Piece::Code(_) => true,
        });
    let fits = |command: &String| match likeness(command) {
        Likeness::Command => true,
        Likeness::Unclear => alone,
        Likeness::SomethingElse => false,
    };
    if !commands.iter().all(fits) {
        return None;
    }
    let (parts, commands) = with_counts(parts, commands);
    match connection(&parts) {
        Connection::All => Some(commands),
        Connection::Either => commands.into_iter().next().map(|first| vec![first]),
        Connection::Prose => None,
    }
}

/// Takes the counts that commands are to print out of the prose behind them and into the commands.
fn with_counts<'a>(parts: Vec<Piece<'a>>, commands: Vec<String>) -> (Vec<Piece<'a>>, Vec<String>) {
    let mut commands = commands;
    let mut at = 0;
    let mut kept = Vec::with_capacity(parts.len());
    for piece in parts {
        kept.push(match piece {
            Piece::Code(code) => {
                at += 1;
                Piece::Code(code)
            }
            Piece::Prose(prose) => {
                let command = commands[..at].last_mut();
                let counted = command.and_then(|command| Some((expected_count(command, prose)?, command)));
                match counted {
                    Some(((counted, rest), command)) => {
                        *command = counted;
                        Piece::Prose(rest)
                    }
                    None => Piece::Prose(prose),
                }
            }
        });
    }
    (kept, commands)
}

/// The command in a code span: lines after the first lose the indentation of the list that they are in.
fn span_command(code: &str) -> String {
    let bare = |command: &str| command.strip_prefix("$ ").unwrap_or(command).to_owned();
    let Some((first, rest)) = code.split_once('\n') else { return bare(code.trim()) };
    let shared = rest.lines().filter(|line| !line.trim().is_empty()).map(indent_of).min().unwrap_or(0);
    let mut command = first.trim_start().trim_end_matches('\r').to_owned();
    for line in rest.lines() {
        command.push('\n');
        command.push_str(&line[shared.min(indent_of(line))..]);
    }
    bare(command.trim())
}

/// How the code spans of a text belong together.
enum Connection {
    All,
    Either,
    Prose,
}

fn connection(parts: &[Piece<'_>]) -> Connection {
    let mut either = false;
    for (at, piece) in parts.iter().enumerate() {
        let Piece::Prose(prose) = piece else { continue };
        let before_code = matches!(parts.get(at + 1), Some(Piece::Code(_)));
        let between = at > 0 && before_code;
        if between && prose.trim().eq_ignore_ascii_case("or") {
            either = true;
            continue;
        }
        let prose = without_numbers(prose);
        let (prose, label) = if before_code { split_label(&prose) } else { (&*prose, "") };
        let changes =
            effect_of_prose(prose) == ProseEffect::Changes || effect_of_label(label) == ProseEffect::Changes;
        if changes {
            return Connection::Prose;
        }
    }
    if either && parts.iter().filter(|piece| matches!(piece, Piece::Code(_))).count() == 2 {
        Connection::Either
    } else if either {
        Connection::Prose
    } else {
        Connection::All
    }
}

/// Prose without the numbers of a list.
fn without_numbers(prose: &str) -> Cow<'_, str> {
    let number = |line: &str| {
        let line = line.trim_start();
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line[digits..].strip_prefix(['.', ')']).filter(|rest| digits > 0 && rest.starts_with(' '));
        rest.map(str::to_owned)
    };
    if !prose.lines().any(|line| number(line).is_some()) {
        return Cow::Borrowed(prose);
    }
    Cow::Owned(
        prose
            .split('\n')
            .map(|line| number(line).unwrap_or_else(|| line.to_owned()))
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

/// Takes `Label:` from the end of a piece of prose that stands before a command.
fn split_label(prose: &str) -> (&str, &str) {
    let Some(body) = prose.trim_end().strip_suffix(':') else { return (prose, "") };
    let start = body.rfind(['\n', ',', ';', ')', '.']).map_or(0, |at| at + 1);
    (&prose[..start], &body[start..])
}

/// A text without code spans that is shell all the same.
fn bare_commands(text: &str) -> Option<Vec<String>> {
    let mut snippets = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
        let heading =
            line.strip_suffix(':').is_some_and(|label| effect_of_prose(label) == ProseEffect::Neutral);
        if heading && snippets.is_empty() {
            continue;
        }
        let command = without_report(line).and_then(bare_command).or_else(|| bare_command(line));
        snippets.push(command?.to_owned());
    }
    (!snippets.is_empty()).then_some(snippets)
}

/// A line without the words at its end that only say that its command succeeds: `cargo test` of `cargo test passes`.
fn without_report(line: &str) -> Option<&str> {
    let words = line.trim_end_matches(['.', ' ']);
    let words = [" with no errors", " without errors"]
        .iter()
        .find_map(|end| words.strip_suffix(end))
        .unwrap_or(words);
    let links = [" is", " all", " —", " –", " -", " →", " tests"];
    let sure = [" passes", " pass", " passed", " succeeds", " compiles"];
    // Behind a command alone these are targets, as in `make clean`.
    let linked = [" green", " clean"];
    let without =
        |text: &'_ str, ends: &[&str]| ends.iter().find_map(|end| text.strip_suffix(end)).map(str::len);
    let len = without(words, &sure).or_else(|| {
        let len = without(words, &linked)?;
        without(&words[..len], &links)
    })?;
    let mut rest = &words[..len];
    while let Some(len) = without(rest, &links) {
        rest = &rest[..len];
    }
    // Several commands in one sentence are not read.
    (!rest.contains(", ")).then_some(rest)
}

#[cfg(test)]
mod tests;
