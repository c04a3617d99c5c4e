//! One layer of settings for the pull request. In `tillgreen.toml` these keys also stand in a table of their own,
//! `[pull_request]`, without what they begin with here.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use engine::{MergeMethod, PullRequestRules, Toggle, WhichChecks};
use runner::{PullRequest, Settings};

use super::keyword::{keyword, keywords};
use super::layer::{limit, nonblank};
use super::units::{self, format_duration};

const PULL_REQUEST: &str = "Pull request";

/// The table in `tillgreen.toml`.
pub(super) const TABLE: &str = "pull_request";

/// The way in which the pull request is merged at the end, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merging(pub(crate) Option<MergeMethod>);

/// One layer of settings for the pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct PullRequestLayer {
    /// Push, open a pull request and look after it until it is green [default: if the plan has a PR Lifecycle]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) pr: Option<Toggle>,
    /// Time between two looks at checks and reviews [default: 3m]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) pr_look_every: Option<Duration>,
    /// Pushes that are watched [default: 20]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = limit, value_name = "N")]
    pub(crate) pr_cycles_max: Option<u32>,
    /// Hours in all [default: 48]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = limit, value_name = "N")]
    pub(crate) pr_hours_max: Option<u32>,
    /// How often red checks get tasks [default: 5]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = limit, value_name = "N")]
    pub(crate) pr_ci_fixes_max: Option<u32>,
    /// Which checks have to be green [default: all]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<WhichChecks>(), value_name = "WHICH")]
    pub(crate) pr_checks: Option<WhichChecks>,
    /// Answer review threads once their task is done [default: off]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) pr_reply: Option<Toggle>,
    /// Resolve review threads once their task is done [default: off]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) pr_resolve: Option<Toggle>,
    /// Ask reviewers who wanted changes to look again after a push [default: on]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) pr_request_review: Option<Toggle>,
    /// Create it as a draft [default: off]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) pr_draft: Option<Toggle>,
    /// The branch to merge into [default: the default branch]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = branch, value_name = "BRANCH")]
    pub(crate) pr_base: Option<String>,
    /// Its title [default: made from the plan's name]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = nonblank, value_name = "TEXT")]
    pub(crate) pr_title: Option<String>,
    /// Merge it once everything is green, by merge, squash or rebase [default: never]
    #[arg(long, help_heading = PULL_REQUEST, value_parser = keywords::<Merging>(), num_args = 0..=1,
          default_missing_value = "merge", require_equals = true, value_name = "HOW", hide_possible_values = true)]
    pub(crate) merge: Option<Merging>,
}

impl PullRequestLayer {
    /// This layer and, where it leaves something open, the next one.
    pub(super) fn or(self, next: Self) -> Self {
        Self {
            pr: self.pr.or(next.pr),
            pr_look_every: self.pr_look_every.or(next.pr_look_every),
            pr_cycles_max: self.pr_cycles_max.or(next.pr_cycles_max),
            pr_hours_max: self.pr_hours_max.or(next.pr_hours_max),
            pr_ci_fixes_max: self.pr_ci_fixes_max.or(next.pr_ci_fixes_max),
            pr_checks: self.pr_checks.or(next.pr_checks),
            pr_reply: self.pr_reply.or(next.pr_reply),
            pr_resolve: self.pr_resolve.or(next.pr_resolve),
            pr_request_review: self.pr_request_review.or(next.pr_request_review),
            pr_draft: self.pr_draft.or(next.pr_draft),
            pr_base: self.pr_base.or(next.pr_base),
            pr_title: self.pr_title.or(next.pr_title),
            merge: self.merge.or(next.merge),
        }
    }

    /// The engine's part. Whether there is to be one is for the run to find out: the plan may say.
    pub(super) fn rules(&self) -> PullRequestRules {
        let defaults = PullRequestRules::default();
        let hours = |hours: u32| Duration::from_secs(u64::from(hours) * 3_600);
        PullRequestRules {
            lifecycle: Toggle::Off,
            look_every: self.pr_look_every.unwrap_or(defaults.look_every),
            cycles_max: self.pr_cycles_max.unwrap_or(defaults.cycles_max),
            time_max: self.pr_hours_max.map_or(defaults.time_max, hours),
            ci_fixes_max: self.pr_ci_fixes_max.unwrap_or(defaults.ci_fixes_max),
            checks: self.pr_checks.unwrap_or(defaults.checks),
            reply: self.pr_reply.unwrap_or(defaults.reply),
            resolve: self.pr_resolve.unwrap_or(defaults.resolve),
            request_review: self.pr_request_review.unwrap_or(defaults.request_review),
            merge: self.merge.map_or(defaults.merge, |merging| merging.0),
        }
    }

    /// The runner's part.
    pub(super) fn settings(&self) -> PullRequest {
        PullRequest {
            wanted: self.pr,
            title: self.pr_title.clone(),
            base: self.pr_base.clone(),
            draft: self.pr_draft.unwrap_or(Toggle::Off),
        }
    }
}

/// The settings as text, by key.
pub(super) fn write(settings: &Settings) -> BTreeMap<String, String> {
    let rules = &settings.rules.pull_request;
    let chosen = &settings.pull_request;
    let entries = [
        ("pr", chosen.wanted.map(|wanted| keyword(wanted).to_owned())),
        ("pr_look_every", Some(format_duration(rules.look_every))),
        ("pr_cycles_max", Some(rules.cycles_max.to_string())),
        ("pr_hours_max", Some((rules.time_max.as_secs() / 3_600).to_string())),
        ("pr_ci_fixes_max", Some(rules.ci_fixes_max.to_string())),
        ("pr_checks", Some(keyword(rules.checks).to_owned())),
        ("pr_reply", Some(keyword(rules.reply).to_owned())),
        ("pr_resolve", Some(keyword(rules.resolve).to_owned())),
        ("pr_request_review", Some(keyword(rules.request_review).to_owned())),
        ("pr_draft", Some(keyword(chosen.draft).to_owned())),
        ("pr_base", chosen.base.clone()),
        ("pr_title", chosen.title.clone()),
        ("merge", Some(keyword(Merging(rules.merge)).to_owned())),
    ];
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The key that a key of the table stands for.
pub(super) fn key_in_table(key: &str) -> String {
    if key == "merge" { key.to_owned() } else { format!("pr_{key}") }
}

fn branch(text: &str) -> Result<String, String> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains("..") || text.contains(is_odd) {
        return Err("must be the name of a branch".to_owned());
    }
    Ok(text.to_owned())
}
