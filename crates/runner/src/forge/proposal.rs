//! The title and the text of a pull request. The program's part of the text stands between two marks that
//! the forge's pages do not show: it is brought up to date as long as nobody else changed it, and what stands around it
//! is never touched. Also what would be run for it, as commands that a person can read.

use engine::{MergeMethod, Toggle};

use crate::forge::command::ForgeCommand;
use crate::forge::remote::{Slug, remote_of};
use crate::project::{PlanFile, Project};
use crate::settings::Settings;

/// A pull request that is to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) draft: Toggle,
    /// The branch that it is to be merged into; the default branch where nothing was said.
    pub(super) base: Option<String>,
}

/// The title where nothing else was said.
pub(super) fn title(name: &str) -> String {
    format!("feat: {}", plan::one_line(name))
}

const OPENING: &str = "<!-- tillgreen ";
const OPENED: &str = " -->\n";
const CLOSING: &str = "\n<!-- /tillgreen -->";

/// A text with its marks.
pub(super) fn framed(text: &str) -> String {
    // A mark within the text would end it early.
    let text = text.trim().replace("<!--", "<! --");
    format!("{OPENING}{}{OPENED}{text}{CLOSING}\n", digest(&text))
}

/// The new text, where it is not that already and nobody else changed the program's part.
pub(super) fn renewed(whole: &str, text: &str) -> Option<String> {
    let whole = whole.replace("\r\n", "\n");
    let (before, rest) = whole.split_once(OPENING)?;
    let (known, rest) = rest.split_once(OPENED)?;
    let (old, after) = rest.split_once(CLOSING)?;
    let framed = framed(text);
    let renewed = format!("{before}{}{after}", framed.trim_end());
    (known == digest(old) && renewed != whole).then_some(renewed)
}

fn digest(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// The placeholder for numbers that only the forge can tell.
const NUMBER: &str = "NUMBER";
const RUN: &str = "RUN";

/// Every command that the lifecycle may run, with what it is for. What only the forge can tell stands in capitals.
pub fn outline(project: &Project, file: &PlanFile, settings: &Settings) -> Vec<(String, &'static str)> {
    let branch = project.git().and_then(|git| git.branch().ok().flatten());
    let branch = branch.unwrap_or_else(|| "BRANCH".to_owned());
    let remote = project.git().and_then(|git| remote_of(git, &branch).ok().flatten());
    let name = remote.as_ref().map_or("REMOTE", |remote| remote.name.as_str());
    let slug = remote.as_ref().and_then(|remote| Slug::of_remote(&remote.url));
    let slug = slug.unwrap_or_else(|| Slug {
        host: "HOST".to_owned(),
        owner: "OWNER".to_owned(),
        name: "NAME".to_owned(),
    });
    let chosen = &settings.pull_request;
    let base = chosen.base.clone().unwrap_or_else(|| "DEFAULT_BRANCH".to_owned());
    let proposal = Proposal {
        title: chosen.title.clone().unwrap_or_else(|| title(&file.name)),
        body: String::new(),
        draft: chosen.draft,
        base: None,
    };
    let mut commands = vec![
        (ForgeCommand::version(), "is the program there"),
        (ForgeCommand::repository(&slug), "which branch must not be pushed to"),
        (ForgeCommand::of_branch(&slug, &branch), "is there a pull request"),
        (ForgeCommand::tip(name, &branch), "did somebody take back what was pushed before"),
        (ForgeCommand::push(name, &branch), "push, never by force"),
        (ForgeCommand::create(&slug, &branch, &base, &proposal), "create it, if there is none"),
        (ForgeCommand::describe(&slug, NUMBER, ""), "bring its text up to date, unless somebody changed it"),
        (ForgeCommand::look(&slug, NUMBER), "look at checks, reviews and threads"),
        (ForgeCommand::threads(&slug, NUMBER), "look at the threads, where there are many"),
        (ForgeCommand::rate_limit(&slug.host), "how long to wait, where too much was asked"),
        (ForgeCommand::run_state(&slug, RUN), "was a red check run again"),
        (ForgeCommand::rerun(&slug, RUN), "run a red check again, once"),
        (ForgeCommand::failed_log(&slug, RUN), "read the log of a red check"),
        (ForgeCommand::job_log(&slug, "JOB"), "read it elsewhere, where nothing is there"),
        (ForgeCommand::fetch(name, &branch), "see what somebody else pushed to the branch"),
        (ForgeCommand::fetch(name, &base), "see what the base has got, if the branch is behind it"),
        (ForgeCommand::join(), "take either in, here"),
    ];
    commands.extend(at_the_end(&slug, settings));
    commands.into_iter().map(|(command, purpose)| (command.typed(), purpose)).collect()
}

fn at_the_end(slug: &Slug, settings: &Settings) -> Vec<(ForgeCommand, &'static str)> {
    let rules = &settings.rules.pull_request;
    let mut commands = Vec::new();
    if rules.reply.is_on() || rules.resolve.is_on() {
        commands.push((ForgeCommand::thread(slug, "THREAD"), "was a thread answered"));
    }
    if rules.reply == Toggle::On {
        commands.push((ForgeCommand::answer(slug, "THREAD", "ANSWER"), "answer a thread"));
    }
    if rules.resolve == Toggle::On {
        commands.push((ForgeCommand::resolve(slug, "THREAD"), "resolve a thread"));
    }
    if rules.request_review == Toggle::On {
        commands.push((ForgeCommand::requested(slug, NUMBER), "who is asked for a review"));
        let command = ForgeCommand::request_review(slug, NUMBER, "REVIEWER");
        commands.push((command, "ask who wanted changes to look again"));
    }
    let merge = |method: MergeMethod| (ForgeCommand::merge(slug, NUMBER, method, "COMMIT"), "merge it");
    commands.extend(rules.merge.map(merge));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_part_is_renewed_and_the_rest_is_kept() {
        let whole = framed("one\ntwo");
        assert_eq!(renewed(&whole, "one\ntwo"), None, "nothing changed");
        let around = format!("Dear all,\n\n{whole}\nYours");
        let expected = format!("Dear all,\n\n{}\nYours", framed("three"));
        assert_eq!(renewed(&around, "three"), Some(expected.clone()));
        assert_eq!(
            renewed(&around.replace('\n', "\r\n"), "three"),
            Some(expected),
            "as the forge's pages save it"
        );
    }

    #[test]
    fn what_a_person_changed_is_kept() {
        let whole = framed("one\ntwo");
        assert_eq!(renewed(&whole.replace("two", "2"), "three"), None);
        assert_eq!(renewed("written by hand", "three"), None);
        assert_eq!(renewed(&whole.replace(CLOSING, ""), "three"), None);
        assert_eq!(renewed("", "three"), None);
    }

    #[test]
    fn a_mark_within_the_text_is_none() {
        let whole = framed("a <!-- /tillgreen --> b\n<!-- /tillgreen -->");
        assert_eq!(whole.matches("<!-- /tillgreen -->").count(), 1);
        assert_eq!(renewed(&whole, "c"), Some(framed("c")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_renewed(old in ".{0,80}", new in ".{0,80}", around in "[a-z\n]{0,20}") {
            let whole = format!("{around}{}", framed(&old));
            let renewed = renewed(&whole, &new).unwrap_or(whole);
            proptest::prop_assert_eq!(renewed, format!("{}{}", around, framed(&new)));
        }

        #[test]
        fn no_text_makes_it_panic(whole in "(<!-- tillgreen |.| -->\n|\n<!-- /tillgreen -->){0,12}") {
            renewed(&whole, "new");
        }
    }
}
