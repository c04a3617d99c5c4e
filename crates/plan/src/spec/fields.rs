//! The fields of a task's block: Do, Files, Done when, Verify, Commit, and whatever else its author named.

mod commit;
mod files;
mod raw;

pub use commit::Commit;
pub use files::{ANY_FILE, Files};
pub(super) use raw::{FieldName, RawField, raw_fields};

use std::borrow::Cow;

use crate::markdown::regions;

/// The fields of a task. A field that is not there is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The work to be done.
    pub do_: Option<String>,
    /// Which files it is about.
    pub files: Option<Files>,
    /// When it is done.
    pub done_when: Option<String>,
    /// How to verify it, as written; [`Plan::verify`](crate::Plan::verify) says what that means.
    pub verify: Option<String>,
    /// The commit that it asks for.
    pub commit: Commit,
    /// Fields that mean nothing to this program, by name, in order.
    pub others: Vec<(String, String)>,
}

/// Reads the fields of a block.
pub(super) fn read(block: &str) -> Fields {
    let mut fields = Fields::default();
    let mut commit = None;
    let mut files = None;
    let regions = regions(block);
    for field in raw_fields(block, &regions) {
        let text = field.dedented(block);
        match field.name {
            FieldName::Do => append(&mut fields.do_, text),
            FieldName::Files => append(&mut files, list_only(&text).to_owned()),
            FieldName::DoneWhen => append(&mut fields.done_when, text),
            FieldName::Verify => append(&mut fields.verify, text),
            FieldName::Commit => append(&mut commit, text),
            FieldName::Other(name) => fields.others.push((name.to_owned(), text)),
        }
    }
    fields.files = files.map(|text| Files::read(text.trim()));
    fields.commit = commit.map_or(Commit::Unset, |text| Commit::read(text.trim()));
    fields
}

/// The text of the Verify field as it stands in the block, all of them if there are several.
pub(super) fn verify_text(block: &str) -> Option<Cow<'_, str>> {
    let regions = regions(block);
    let fields = raw_fields(block, &regions);
    let verify = fields.iter().filter(|field| field.name == FieldName::Verify);
    let mut texts = verify.map(|field| &block[field.text.clone()]);
    let first = Cow::Borrowed(texts.next()?);
    Some(texts.fold(first, |before, text| before + "\n" + text))
}

/// A text up to the paragraph behind its list: nobody goes on about files there.
fn list_only(text: &str) -> &str {
    let mut end = 0;
    let mut is_gap = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let is_listed = bare.len() < line.len() || bare.starts_with(['-', '*', '+', '`', '|']);
        if bare.is_empty() {
            is_gap = !text[..end].trim().is_empty();
        } else if is_gap && !is_listed {
            return &text[..end];
        }
        end += line.len();
    }
    text
}

fn append(slot: &mut Option<String>, text: String) {
    match slot {
        Some(before) => {
            before.push('\n');
            before.push_str(&text);
        }
        None => *slot = Some(text),
    }
}

#[cfg(test)]
mod tests;
