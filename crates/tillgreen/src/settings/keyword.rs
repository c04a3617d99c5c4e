//! Settings that are one of a few words: the same words on the command line, in `tillgreen.toml` and in the
//! journal.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use engine::{MergeMethod, OnEscalation, OnExhausted, Prove, Toggle, Unverifiable, WhichChecks};
use runner::{Bookkeeping, Permission, RedBefore, Sandboxing, Scope};

use super::pull_request::Merging;

/// A setting that is one of a few words.
pub(super) trait Keyword: Copy + PartialEq + Send + Sync + 'static {
    /// Every word and what it stands for.
    const KEYWORDS: &'static [(&'static str, Self)];
}

impl Keyword for Toggle {
    const KEYWORDS: &'static [(&'static str, Self)] = &[("true", Self::On), ("false", Self::Off)];
}

impl Keyword for OnExhausted {
    const KEYWORDS: &'static [(&'static str, Self)] = &[("stop", Self::Stop), ("ask", Self::Ask)];
}

impl Keyword for OnEscalation {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("ask", Self::Ask), ("pause", Self::Pause), ("skip", Self::Skip), ("abort", Self::Abort)];
}

impl Keyword for Unverifiable {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("agent", Self::Agent), ("ask", Self::Ask), ("refuse", Self::Refuse)];
}

impl Keyword for Prove {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("report", Self::Report), ("require", Self::Require), ("off", Self::Off)];
}

impl Keyword for RedBefore {
    const KEYWORDS: &'static [(&'static str, Self)] = &[("on", Self::On), ("off", Self::Off)];
}

impl Keyword for Sandboxing {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("off", Self::Off), ("on", Self::On), ("offline", Self::Offline)];
}

impl Keyword for Bookkeeping {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("coordinator", Self::Coordinator), ("agent", Self::Agent)];
}

impl Keyword for Scope {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("warn", Self::Warn), ("reject", Self::Reject), ("off", Self::Off)];
}

impl Keyword for Permission {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("read-only", Self::ReadOnly), ("workspace", Self::Workspace), ("full", Self::Full)];
}

impl Keyword for WhichChecks {
    const KEYWORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("required", Self::Required)];
}

impl Keyword for Merging {
    const KEYWORDS: &'static [(&'static str, Self)] = &[
        ("false", Self(None)),
        ("merge", Self(Some(MergeMethod::Merge))),
        ("squash", Self(Some(MergeMethod::Squash))),
        ("rebase", Self(Some(MergeMethod::Rebase))),
    ];
}

/// The word for a value.
pub(super) fn keyword<T: Keyword>(value: T) -> &'static str {
    let found = T::KEYWORDS.iter().find(|(_, known)| *known == value);
    found.map(|(word, _)| *word).expect("every value has a word")
}

/// A parser for one of the words.
pub(super) fn keywords<T: Keyword>() -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(T::KEYWORDS.iter().map(|(word, _)| *word));
    parser.try_map(|text| {
        let found = T::KEYWORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or("not one of the words")
    })
}
