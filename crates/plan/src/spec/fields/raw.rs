//! Where the fields of a block begin and end.

use std::ops::Range;

use crate::markdown::{LineKind, Regions, indent_of};

/// Which field it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spec) enum FieldName<'a> {
    Do,
    Files,
    DoneWhen,
    Verify,
    Commit,
    Other(&'a str),
}

/// How the fields that this program knows are spelled, in any case of letters.
const KNOWN: [(&str, FieldName<'_>); 17] = [
    ("do", FieldName::Do),
    ("steps", FieldName::Do),
    ("files", FieldName::Files),
    ("file", FieldName::Files),
    ("files modified", FieldName::Files),
    ("files created", FieldName::Files),
    ("files created/modified", FieldName::Files),
    ("done when", FieldName::DoneWhen),
    ("done-when", FieldName::DoneWhen),
    ("acceptance", FieldName::DoneWhen),
    ("acceptance criteria", FieldName::DoneWhen),
    ("verify", FieldName::Verify),
    ("verification", FieldName::Verify),
    ("validation", FieldName::Verify),
    // What a test says once the work is done; that it says the opposite before is no condition of being done.
    ("verify green", FieldName::Verify),
    ("commit", FieldName::Commit),
    ("commit message", FieldName::Commit),
];

/// Words that make another field of a name: a person is asked, or nobody needs to be.
const RESERVATIONS: [&str; 4] = ["manual", "optional", "human", "visual"];

impl<'a> FieldName<'a> {
    fn of(name: &'a str) -> Self {
        let bare = without_note(name);
        let known = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(bare));
        known.map_or(FieldName::Other(name), |&(_, field)| field)
    }

    fn is_known(self) -> bool {
        !matches!(self, FieldName::Other(_))
    }
}

/// `Verify` of `Verify (A)`.
fn without_note(name: &str) -> &str {
    let Some((bare, note)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) else {
        return name;
    };
    let note = note.to_ascii_lowercase();
    if RESERVATIONS.iter().any(|word| note.contains(word)) { name } else { bare.trim_end() }
}

/// One field of a block: its name and where its text is.
#[derive(Clone, Debug)]
pub(in crate::spec) struct RawField<'a> {
    pub(in crate::spec) name: FieldName<'a>,
    /// From after the colon to the end of the last line.
    pub(in crate::spec) text: Range<usize>,
    /// The white space before it.
    pub(in crate::spec) indent: &'a str,
    /// The bullet before it, if it has one.
    pub(in crate::spec) bullet: Option<char>,
    /// For each line of the text, what it is a part of.
    pub(in crate::spec) kinds: &'a [LineKind],
    /// True if the whole field is set in italics, closing mark included.
    italic: bool,
}

impl RawField<'_> {
    /// The text without the indentation that its lines share.
    pub(in crate::spec) fn dedented(&self, block: &str) -> String {
        let text = &block[self.text.clone()];
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let first = first.trim();
        let movable =
            |(line, kind): &(&str, &LineKind)| !line.trim().is_empty() && **kind != LineKind::Continuation;
        let shared =
            rest.lines().zip(&self.kinds[1..]).filter(movable).map(|(line, _)| indent_of(line)).min();
        let mut dedented = first.to_owned();
        for line in rest.lines() {
            if !dedented.is_empty() {
                dedented.push('\n');
            }
            let cut = indent_of(line).min(shared.unwrap_or(0));
            dedented.push_str(line[cut..].trim_end_matches('\r'));
        }
        let end = if self.italic { dedented.trim_end().trim_end_matches('_') } else { &dedented };
        dedented.truncate(end.trim_end().len());
        dedented
    }
}

/// A line that begins a field.
#[derive(Clone, Copy, Debug)]
struct Label<'a> {
    name: FieldName<'a>,
    indent: &'a str,
    bullet: Option<char>,
    text_start: usize,
    italic: bool,
}

/// The fields of a block in order. The block's first line is the task itself and never a field.
pub(in crate::spec) fn raw_fields<'a>(block: &'a str, regions: &'a Regions) -> Vec<RawField<'a>> {
    let labels: Vec<Option<Label<'_>>> =
        (0..regions.lines.len()).map(|at| if at == 0 { None } else { label(block, regions, at) }).collect();
    let known = || labels.iter().flatten().filter(|label| label.name.is_known());
    let Some(level) = known().map(|label| label.indent.len()).min() else { return Vec::new() };
    let bulleted = known().any(|label| label.indent.len() == level && label.bullet.is_some());
    let style = Style { level, bulleted };
    let mut fields = Vec::with_capacity(known().count());
    let mut at = 1;
    while at < regions.lines.len() {
        match labels[at].filter(|label| style.admits(label)) {
            Some(label) => {
                let end = style.field_end(block, regions, &labels, at);
                fields.push(field(block, regions, label, at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    fields
}

/// How the fields of one block are written.
struct Style {
    level: usize,
    bulleted: bool,
}

impl Style {
    /// True if a label is a field here, rather than a part of one.
    fn admits(&self, label: &Label<'_>) -> bool {
        label.indent.len() <= self.level && (label.name.is_known() || label.bullet.is_some() == self.bulleted)
    }

    /// The line before which the field ends that begins at line `at`.
    fn field_end(&self, block: &str, regions: &Regions, labels: &[Option<Label<'_>>], at: usize) -> usize {
        let mut after_blank = false;
        for (next, label) in labels.iter().enumerate().skip(at + 1) {
            let line = regions.lines[next].of(block);
            if regions.kinds[next] != LineKind::Text || line.trim_start().is_empty() {
                after_blank = regions.kinds[next] == LineKind::Text;
                continue;
            }
            let outside = self.bulleted
                && indent_of(line) <= self.level
                && (bullet_of(line.trim_start()).is_some() || after_blank);
            if outside || label.is_some_and(|label| self.admits(&label)) {
                return next;
            }
            after_blank = false;
        }
        regions.lines.len()
    }
}

fn field<'a>(block: &str, regions: &'a Regions, label: Label<'a>, lines: Range<usize>) -> RawField<'a> {
    let content = |at: &usize| {
        let line = regions.lines[*at].of(block).trim();
        regions.kinds[*at] != LineKind::Text || !matches!(line, "" | "---" | "***" | "___")
    };
    let last = lines.clone().rev().find(|at| *at == lines.start || content(at)).unwrap_or(lines.start);
    RawField {
        name: label.name,
        text: label.text_start..regions.lines[last].end,
        indent: label.indent,
        bullet: label.bullet,
        kinds: &regions.kinds[lines.start..=last],
        italic: label.italic,
    }
}

fn bullet_of(trimmed: &str) -> Option<char> {
    let bullet = trimmed.chars().next().filter(|c| matches!(c, '-' | '*' | '+'))?;
    trimmed[1..].starts_with([' ', '\t']).then_some(bullet)
}

/// Reads the label at the start of a line, if there is one.
fn label<'a>(block: &'a str, regions: &Regions, at: usize) -> Option<Label<'a>> {
    if regions.kinds[at] != LineKind::Text {
        return None;
    }
    let line = regions.lines[at].of(block);
    let indent = &line[..indent_of(line)];
    let trimmed = &line[indent.len()..];
    let bullet = bullet_of(trimmed);
    let body = if bullet.is_some() { trimmed[1..].trim_start() } else { trimmed };
    let (name, rest) =
        bold_label(body).or_else(|| italic_label(body)).or_else(|| bullet.and_then(|_| plain_label(body)))?;
    let text_start = regions.lines[at].end - rest.len();
    Some(Label { name, indent, bullet, text_start, italic: body.starts_with('_') })
}

/// `**Name**: rest`, `**Name:** rest`, and for the known ones also `**Name** rest`.
fn bold_label(body: &str) -> Option<(FieldName<'_>, &str)> {
    let inner = body.strip_prefix("**")?;
    let close = inner.as_bytes().windows(2).position(|pair| pair == b"**")?;
    let (name, rest) = (&inner[..close], &inner[close + 2..]);
    let (bare, colon) = match name.trim_end().strip_suffix(':') {
        Some(bare) => (bare.trim(), true),
        None => (name.trim(), false),
    };
    let after = rest.trim_start();
    let (rest, colon) = match after.strip_prefix(':') {
        Some(rest) if !colon => (rest, true),
        Some(_) | None => (rest, colon),
    };
    let fits =
        !bare.is_empty() && bare.len() <= 60 && !bare.bytes().any(|byte| matches!(byte, b'`' | b'[' | b']'));
    let name = FieldName::of(bare);
    let clean = name.is_known() && (rest.is_empty() || rest.starts_with([' ', '\t']));
    (fits && (colon || clean)).then_some((name, rest))
}

/// `_Requirements: AC-1_`: a note that belongs to no field before it.
fn italic_label(body: &str) -> Option<(FieldName<'_>, &str)> {
    let inner = body.strip_prefix('_')?;
    let (name, rest) = inner.split_once(':')?;
    let words = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
    (words && body.trim_end().ends_with('_')).then(|| (FieldName::of(name), rest))
}

/// `Verify: rest`, without any emphasis, for the known names only.
fn plain_label(body: &str) -> Option<(FieldName<'_>, &str)> {
    let (name, rest) = body.split_once(':').filter(|_| body.starts_with(|c: char| c.is_ascii_uppercase()))?;
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
    let name = FieldName::of(name);
    (spaced && name.is_known()).then_some((name, rest))
}
