//! Settings that are one of a few words: the same words on the command line, in `tillgreen.toml` and in the
//! journal.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use engine::{MergeMethod, OnEscalation, OnExhausted, Toggle, Unverifiable, WhichChecks};
use runner::{Bookkeeping, Permission, Scope};

use super::pull_request::Merging;

/// A setting that is one of a few words.
pub(super) trait Word: Copy + PartialEq + Send + Sync + 'static {
    /// Every word and what it stands for.
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for Toggle {
    const WORDS: &'static [(&'static str, Self)] = &[("true", Self::On), ("false", Self::Off)];
}

impl Word for OnExhausted {
    const WORDS: &'static [(&'static str, Self)] = &[("stop", Self::Stop), ("ask", Self::Ask)];
}

impl Word for OnEscalation {
    const WORDS: &'static [(&'static str, Self)] =
        &[("ask", Self::Ask), ("pause", Self::Pause), ("skip", Self::Skip), ("abort", Self::Abort)];
}

impl Word for Unverifiable {
    const WORDS: &'static [(&'static str, Self)] =
        &[("agent", Self::Agent), ("ask", Self::Ask), ("refuse", Self::Refuse)];
}

impl Word for Bookkeeping {
    const WORDS: &'static [(&'static str, Self)] =
        &[("coordinator", Self::Coordinator), ("agent", Self::Agent)];
}

impl Word for Scope {
    const WORDS: &'static [(&'static str, Self)] =
        &[("warn", Self::Warn), ("reject", Self::Reject), ("off", Self::Off)];
}

impl Word for Permission {
    const WORDS: &'static [(&'static str, Self)] =
        &[("read-only", Self::ReadOnly), ("workspace", Self::Workspace), ("full", Self::Full)];
}

impl Word for WhichChecks {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("required", Self::Required)];
}

impl Word for Merging {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("false", Self(None)),
        ("merge", Self(Some(MergeMethod::Merge))),
        ("squash", Self(Some(MergeMethod::Squash))),
        ("rebase", Self(Some(MergeMethod::Rebase))),
    ];
}

/// The word for a value.
pub(super) fn word<T: Word>(value: T) -> &'static str {
    let found = T::WORDS.iter().find(|(_, known)| *known == value);
    found.map(|(word, _)| *word).expect("every value has a word")
}

/// A parser for one of the words.
pub(super) fn words<T: Word>() -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(T::WORDS.iter().map(|(word, _)| *word));
    parser.try_map(|text| {
        let found = T::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or("not one of the words")
    })
}
