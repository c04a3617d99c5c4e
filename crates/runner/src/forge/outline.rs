//! What would be run for the pull request, as commands that a person can read.

use engine::{MergeMethod, Toggle};

use super::command::ForgeCommand;
use super::proposal::{self, Proposal};
use super::remote::{Slug, remote_of};
use crate::project::{PlanFile, Project};
use crate::settings::Settings;

/// What stands for numbers that only the forge can tell.
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
        title: chosen.title.clone().unwrap_or_else(|| proposal::title(&file.name)),
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
