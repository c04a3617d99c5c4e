//! `tillgreen init`: a commented `tillgreen.toml` with the agents that are installed here.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

use runner::{Proposal, ProposedVerify};
use serde::Serialize;

use crate::args::Format;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FILE_NAME, KNOWN_AGENTS, KnownAgent, Programs};
use crate::view::json;
use crate::view::text::clean;

const HEADER: &str = "\
# Settings of tillgreen for this project. What is commented out is the default.
# A flag of `tillgreen run` comes before what is set here; `--flag=false` turns off what is on here.
# Durations are written 90s, 30m, 2h, 500ms, 1h30m.
";

/// The setting that is proposed.
const SETUP: &str = "worktree_setup";

/// Every setting with its default, by topic.
const TOPICS: &[(&str, &[Setting])] = &[
    (
        "After a failure",
        &[
            Setting("recovery_mode", "false", "write fix tasks for what fails, then try again"),
            Setting(
                "max_task_iterations",
                "5",
                "attempts at one task that end in retries, the first included",
            ),
            Setting("max_fix_tasks", "3", "fix tasks for one failing task"),
            Setting("max_fix_depth", "3", "how deep fixes of fixes may nest"),
            Setting(
                "max_global_iterations",
                "100",
                "agent starts in all; default: the larger of 100 and 3 × tasks",
            ),
            Setting(
                "infra_retries",
                "10",
                "times in a row that the agent may be unavailable before the run pauses",
            ),
            Setting("on_exhausted", "\"stop\"", "stop or ask, when retries or fix tasks are used up"),
            Setting(
                "on_escalation",
                "\"pause\"",
                "ask, pause, skip or abort; default: ask at a terminal, else pause",
            ),
            Setting("clean_retry", "false", "take a failed attempt's changes back before the next one"),
            Setting("keep_going", "false", "go on with other tasks while a person is asked about one"),
        ],
    ),
    (
        "Side by side",
        &[
            Setting("jobs", "4", "how many agents may be at work at once"),
            Setting("infer_parallel", "false", "run tasks side by side that are shown to be independent"),
            Setting("isolate", "false", "every task in a work tree, also one that runs alone"),
            Setting("share_tree", "false", "side by side in the project itself instead of in work trees"),
            Setting(
                "worktree_link",
                "[\"data\"]",
                "untracked paths that work trees share by a link; default: none",
            ),
            Setting(
                "worktree_copy",
                "[\"secrets.yml\"]",
                "untracked paths that work trees get a copy of, besides .env and the like; default: none",
            ),
            Setting(
                SETUP,
                "\"npm ci\"",
                "what makes a work tree ready; it runs again when lock files change; default: none",
            ),
            Setting(
                "worktree_dir",
                "\"../trees\"",
                "the folder in which work trees are made, outside the project; default: the cache folder",
            ),
        ],
    ),
    (
        "Checks",
        &[
            Setting(
                "unverifiable",
                "\"agent\"",
                "agent, ask or refuse: who judges a task without a verify command",
            ),
            Setting(
                "bookkeeping",
                "\"coordinator\"",
                "coordinator or agent: who ticks the boxes and commits",
            ),
            Setting("scope", "\"warn\"", "warn, reject or off: what a change outside the task's Files means"),
            Setting("strict", "false", "reject where a verify proves nothing, instead of warning"),
            Setting("red_before", "\"on\"", "on or off: each task's command is tried before the work"),
            Setting("review", "false", "let a reviewing agent approve each task"),
            Setting(
                "verify",
                "\"make test\"",
                "a command for tasks that have none of their own; default: none",
            ),
            Setting("optional", "false", "tasks that their plan marks as optional, `[ ]*`, are done as well"),
            Setting(
                "regression",
                "\"make test\"",
                "a command that has to be green at the very end; default: none",
            ),
            Setting(
                "prove",
                "\"report\"",
                "report, require or off: once all is done, every command again in a clean checkout",
            ),
        ],
    ),
    (
        "Who works, and what it may cost",
        &[
            Setting("model", "\"NAME\"", "the model that the agent is to use; default: its own choice"),
            Setting("executor", "\"claude\"", "who does tasks; default: the agent"),
            Setting("qa", "\"codex\"", "who verifies and judges; default: the agent"),
            Setting("reviewer", "\"codex\"", "who reviews; default: the agent"),
            Setting(
                "fallback",
                "[\"codex\"]",
                "who takes over from one without quota or answer; default: nobody",
            ),
            Setting(
                "resume_sessions",
                "false",
                "take up the agent's own session again when a task is tried again",
            ),
            Setting("report_tools", "true", "offer agents that take them tools to report through"),
            Setting(
                "max_cost",
                "5.00",
                "dollars that the run may cost, as far as agents tell; default: no limit",
            ),
            Setting("max_tokens", "\"2M\"", "tokens that the run may use; default: no limit"),
        ],
    ),
    (
        "Times",
        &[
            Setting("attempt_timeout", "\"30m\"", "how long an attempt may take"),
            Setting("no_progress_timeout", "\"10m\"", "how long an agent may show no progress"),
            Setting("verify_timeout", "\"2m\"", "how long a verify command may take"),
            Setting("review_timeout", "\"5m\"", "how long a judging agent may take"),
            Setting("prove_budget", "\"10m\"", "how long the last proof may take"),
            Setting("max_time", "\"8h\"", "how long the run may take; default: no limit"),
        ],
    ),
    (
        "Safety",
        &[
            Setting("sandbox", "\"off\"", "off, on or offline: agents write in their folder alone"),
            Setting(
                "env_block",
                "[\"AWS_*\"]",
                "variables that do not reach agents and commands; default: none",
            ),
            Setting(
                "env_pass",
                "[\"NPM_*\"]",
                "the only variables that do, besides the needed ones; default: all",
            ),
            Setting("mask", "[\"$NAME\"]", "what else is masked in all that is written; default: none"),
        ],
    ),
    (
        "Pull request; all but pr may also stand in a table [pull_request], without pr_",
        &[
            Setting("pr", "true", "look after a pull request; default: if the plan has a PR Lifecycle"),
            Setting("pr_look_every", "\"3m\"", "time between two looks at checks and reviews"),
            Setting("pr_cycles_max", "20", "pushes that are watched"),
            Setting("pr_hours_max", "48", "hours in all"),
            Setting("pr_ci_fixes_max", "5", "how often red checks get tasks"),
            Setting("pr_checks", "\"all\"", "all or required: which checks have to be green"),
            Setting("pr_reply", "false", "answer review threads once their task is done"),
            Setting("pr_resolve", "false", "resolve review threads once their task is done"),
            Setting("pr_request_review", "true", "ask who wanted changes to look again after a push"),
            Setting("pr_draft", "false", "create it as a draft"),
            Setting("pr_base", "\"main\"", "the branch to merge into; default: the default branch"),
            Setting("pr_title", "\"feat: …\"", "its title; default: made from the plan's name"),
            Setting("merge", "false", "merge, squash or rebase once everything is green"),
        ],
    ),
    (
        "Start",
        &[
            Setting(
                "branch",
                "\"NAME\"",
                "the branch to work on, made if it is not there; default: the one checked out",
            ),
            Setting(
                "commit_prefix",
                "\"SHOP-12\"",
                "what commit messages of the program's own begin with; default: nothing",
            ),
            Setting("write_back", "true", "tell the source of an imported plan what is done as it is done"),
            Setting(
                "allow_dirty",
                "false",
                "start though there are uncommitted changes; they are never committed",
            ),
            Setting("fresh", "false", "always start over from the boxes"),
            Setting("dry_run", "false", "only say what would be done"),
        ],
    ),
];

const AGENTS: &str = "
# Agents
# These are known by name and need no table here: claude, codex, gemini, opencode, aider, pi, claude-acp, codex-acp,
# gemini-acp, opencode-acp. The first that is installed is used, unless one is chosen here or by --agent NAME. A table
# changes one of them, or adds another:
#
#   [agents.claude]
#   model = 'NAME'
#   permission = 'workspace'        # read-only, workspace or full: what it may do without being asked
#   system_prompt = 'Be brief.'
#   args = ['--max-turns', '50']
#   env = { NAME = 'value' }
#
#   [agents.mine]                   # any command that reads its prompt on standard input and prints its answer
#   command = './my-agent.sh'
#
#   [agents.streaming]              # one that prints JSON lines
#   kind = 'stream'
#   command = './my-agent.sh --json'
#   done = 'type=result'            # what its last line looks like
#   success = 'is_error=false'      # what that says when all is well
#   text = 'result'                 # where its final message is
#   session = 'session_id'          # where to find this and what follows, if it tells
#   input_tokens = 'usage.input'
#   output_tokens = 'usage.output'
#   cost = 'cost_usd'
#
#   [agents.other]                  # one that speaks the Agent Client Protocol
#   kind = 'acp'
#   program = 'other-agent'
#   args = ['--acp']
";

/// The setting of a command for tasks that have none.
const VERIFY: &str = "verify";

const VERIFY_PATHS: &str = "
# The same by the files that a task is about: of the patterns that match, all commands.
# [verify_paths]
";

/// A key, its default as TOML, and what it means.
struct Setting(&'static str, &'static str, &'static str);

#[derive(Serialize)]
struct Outcome {
    path: String,
    agents: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_setup: Option<Proposed>,
}

/// A set-up of work trees that the file proposes.
#[derive(Serialize)]
struct Proposed {
    command: String,
    reason: String,
    /// True if it is set, and not only there as a comment.
    set: bool,
}

/// Writes the file; one that is there already stays as it is.
pub(crate) fn run(context: &mut Context) -> Ended {
    let project = context.project()?;
    let programs = Programs::of_environment(project.root());
    let found: Vec<&KnownAgent> = KNOWN_AGENTS.iter().filter(|known| known.is_installed(&programs)).collect();
    let path = project.root().join(FILE_NAME);
    let created = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = created.map_err(|error| refused(&path, error))?;
    // Without an answer of git's nothing is proposed.
    let proposal = project.git().and_then(|git| runner::propose_setup(git).ok().flatten());
    let verify = runner::propose_verify(project.root());
    let content = content(&found, proposal.as_ref(), &verify);
    file.write_all(content.as_bytes()).map_err(|error| Error::file("write", &path, error))?;
    let agents: Vec<&'static str> = found.iter().map(|known| known.name).collect();
    match context.format {
        Format::Text => context.out.write_all(
            text(&agents, proposal.as_ref(), &verify, project.active_spec().ok().as_deref()).as_bytes(),
        )?,
        Format::Json => {
            let worktree_setup =
                proposal.map(|Proposal { command, reason, is_sure: set }| Proposed { command, reason, set });
            let outcome = Outcome { path: path.display().to_string(), agents, worktree_setup };
            json::document(&mut context.out, &outcome)?;
        }
    }
    Ok(exit::DONE)
}

fn refused(path: &std::path::Path, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Error::usage(format!("{} exists already and stays as it is", path.display()))
            .hint("edit it, or move it away and run `tillgreen init` again");
    }
    Error::file("create", path, error)
}

fn text(
    agents: &[&str],
    proposal: Option<&Proposal>,
    verify: &[ProposedVerify],
    active: Option<&str>,
) -> String {
    let setup = match proposal {
        Some(Proposal { command, reason, is_sure: true }) => {
            format!("Work trees are made ready by `{command}` ({reason}): see {SETUP} there.\n")
        }
        Some(Proposal { command, reason, is_sure: false }) => {
            format!("Work trees may have to be made ready by `{command}` ({reason}): see {SETUP} there.\n")
        }
        None => String::new(),
    };
    let next = match active {
        Some(name) => format!("`tillgreen run` starts '{}'.", clean(name)),
        None => "`tillgreen new NAME` creates a spec.".to_owned(),
    };
    let verify = match verify.first() {
        Some(ProposedVerify { command, reason, .. }) => format!(
            "Tasks without a command of their own can be held to `{}` ({}): see {VERIFY} there.\n",
            clean(command),
            clean(reason)
        ),
        None => String::new(),
    };
    let next = format!("{setup}{verify}Next: {next}");
    if agents.is_empty() {
        return format!(
            "Wrote {FILE_NAME}. No known agent was found on PATH: `tillgreen agents` says how to install one, or define \
             one there under [agents.NAME].\n{next}\n"
        );
    }
    format!("Wrote {FILE_NAME}. Installed here: {}.\n{next}\n", agents.join(", "))
}

/// The file. Agents that are not installed are there as comments.
fn content(found: &[&KnownAgent], proposal: Option<&Proposal>, verify: &[ProposedVerify]) -> String {
    let mut text = HEADER.to_owned();
    for (topic, settings) in TOPICS {
        // Writing into a string cannot fail, here and below.
        let _ = writeln!(text, "\n# {topic}");
        for Setting(key, default, meaning) in *settings {
            let of_all = verify.iter().find(|one| one.folder.is_none()).filter(|_| *key == VERIFY);
            match (proposal.filter(|_| *key == SETUP), of_all) {
                (Some(proposal), _) => text.push_str(&proposed(proposal)),
                (None, Some(ProposedVerify { command, reason, .. })) => {
                    let value = quoted(command);
                    let _ = writeln!(text, "# {VERIFY} = {value} # from {reason}: {meaning}");
                }
                (None, None) => {
                    let _ = writeln!(text, "# {:<31} # {meaning}", format!("{key} = {default}"));
                }
            }
        }
    }
    text.push_str(AGENTS);
    let first = found.first().map_or("claude", |known| known.name);
    let _ = writeln!(text, "#\n# agent = \"{first}\"");
    let _ =
        writeln!(text, "# agent_cmd = \"./my-agent.sh\"     # a command without a name, instead of `agent`");
    text.push_str(VERIFY_PATHS);
    let below: Vec<&ProposedVerify> = verify.iter().filter(|one| one.folder.is_some()).collect();
    if below.is_empty() {
        text.push_str("# \"backend/**\" = \"cd backend && pytest -q\"\n");
    }
    for ProposedVerify { folder, command, reason } in below {
        let folder = folder.as_deref().unwrap_or_default();
        let _ = writeln!(text, "# {} = {} # from {reason}", quoted(&format!("{folder}/**")), quoted(command));
    }
    text
}

/// The line that makes work trees ready, with its reason above it. One that nobody has tried is a comment.
fn proposed(Proposal { command, reason, is_sure }: &Proposal) -> String {
    let mark = if *is_sure { "" } else { "# " };
    let advice = if *is_sure { "change or remove it" } else { "try it, or write your own" };
    format!(
        "# {SETUP}, from {reason}: what makes a work tree ready; it runs again when lock files change; {advice}\n\
         {mark}{SETUP} = {}\n",
        quoted(command)
    )
}

/// A text as a value of TOML.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains(['"', '\\']);
    if is_plain || text.contains('\'') {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{text}'")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::{FileSettings, SettingsLayer};

    #[test]
    fn the_file_is_read_back_and_changes_nothing_by_itself() {
        let found: Vec<&KnownAgent> = KNOWN_AGENTS.iter().collect();
        let file = FileSettings::parse(Path::new(FILE_NAME), &content(&found, None, &[])).unwrap();
        assert_eq!(file, FileSettings::default());
        let bare = FileSettings::parse(Path::new(FILE_NAME), &content(&[], None, &[])).unwrap();
        assert_eq!(bare, FileSettings::default());
    }

    #[test]
    fn a_set_up_is_proposed_with_its_reason() {
        let mut proposal =
            Proposal { command: "npm ci".into(), reason: "package-lock.json".into(), is_sure: true };
        let lines = |proposal: &Proposal| {
            let text = content(&[], Some(proposal), &[]);
            FileSettings::parse(Path::new(FILE_NAME), &text).unwrap();
            let lines = text.lines().filter(|line| line.contains(SETUP)).map(str::to_owned);
            lines.collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(lines(&proposal), @r#"
        # worktree_setup, from package-lock.json: what makes a work tree ready; it runs again when lock files change; change or remove it
        worktree_setup = "npm ci"
        "#);
        insta::assert_snapshot!(text(&["claude"], Some(&proposal), &[], None), @r"
        Wrote tillgreen.toml. Installed here: claude.
        Work trees are made ready by `npm ci` (package-lock.json): see worktree_setup there.
        Next: `tillgreen new NAME` creates a spec.
        ");
        proposal.is_sure = false;
        insta::assert_snapshot!(lines(&proposal), @r#"
        # worktree_setup, from package-lock.json: what makes a work tree ready; it runs again when lock files change; try it, or write your own
        # worktree_setup = "npm ci"
        "#);
    }

    #[test]
    fn commands_are_proposed_as_comments() {
        let one = |folder: Option<&str>, command: &str, reason: &str| ProposedVerify {
            folder: folder.map(str::to_owned),
            command: command.to_owned(),
            reason: reason.to_owned(),
        };
        let verify =
            [one(None, "make test", "Makefile"), one(Some("web"), "cd web && npm test", "web/package.json")];
        let written = content(&[], None, &verify);
        assert!(
            written.contains("\n# verify = \"make test\" # from Makefile: a command for tasks"),
            "{written}"
        );
        let table = "# [verify_paths]\n# \"web/**\" = \"cd web && npm test\" # from web/package.json\n";
        assert!(written.ends_with(table), "{written}");
        let table = table.replace("# [", "[").replace("# \"", "\"");
        FileSettings::parse(Path::new(FILE_NAME), &table).unwrap();
        let told = text(&["claude"], None, &verify, None);
        assert!(told.contains("can be held to `make test` (Makefile): see verify there.\n"), "{told}");
    }

    #[test]
    fn any_command_is_a_value() {
        let check = |command: &str, expected: &str| {
            assert_eq!(quoted(command), expected);
            FileSettings::parse(Path::new(FILE_NAME), &format!("{SETUP} = {expected}")).unwrap();
        };
        check("npm ci", r#""npm ci""#);
        check("pip install -e '.[dev]'", r#""pip install -e '.[dev]'""#);
        check(r#"sh -c "a\b""#, r#"'sh -c "a\b"'"#);
        check(r#"'a' "b" \c"#, r#""'a' \"b\" \\c""#);
    }

    #[test]
    fn every_key_is_there_and_its_default_is_valid() {
        let text = content(&[], None, &[]);
        let keys: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# ")?.split_once(" = "))
            .map(|(key, _)| key)
            .collect();
        for key in SettingsLayer::keys() {
            assert!(keys.contains(&key.as_str()), "{key} is missing");
        }
        let is_setting =
            |line: &&str| line.starts_with("# ") && line.contains(" = ") && !line.contains("agent_cmd");
        let is_setting = |line: &&str| is_setting(line) && !line.starts_with("# \"");
        let uncommented: String = text
            .lines()
            .filter(is_setting)
            .map(|line| format!("{}\n", &line[2..]))
            .filter(|line| !line.starts_with(' '))
            .collect();
        FileSettings::parse(Path::new(FILE_NAME), &uncommented).unwrap();
    }

    #[test]
    fn the_tables_that_are_shown_are_valid() {
        let text = content(&[], None, &[]);
        let shown: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("#   "))
            .map(|line| format!("{line}\n"))
            .collect();
        let file = FileSettings::parse(Path::new(FILE_NAME), &shown).unwrap();
        assert_eq!(file.agents.len(), 4);
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "the file is as long as it is")]
    fn the_file_reads_well() {
        insta::assert_snapshot!(content(&[&KNOWN_AGENTS[1]], None, &[]), @r#"
        # Settings of tillgreen for this project. What is commented out is the default.
        # A flag of `tillgreen run` comes before what is set here; `--flag=false` turns off what is on here.
        # Durations are written 90s, 30m, 2h, 500ms, 1h30m.

        # After a failure
        # recovery_mode = false           # write fix tasks for what fails, then try again
        # max_task_iterations = 5         # attempts at one task that end in retries, the first included
        # max_fix_tasks = 3               # fix tasks for one failing task
        # max_fix_depth = 3               # how deep fixes of fixes may nest
        # max_global_iterations = 100     # agent starts in all; default: the larger of 100 and 3 × tasks
        # infra_retries = 10              # times in a row that the agent may be unavailable before the run pauses
        # on_exhausted = "stop"           # stop or ask, when retries or fix tasks are used up
        # on_escalation = "pause"         # ask, pause, skip or abort; default: ask at a terminal, else pause
        # clean_retry = false             # take a failed attempt's changes back before the next one
        # keep_going = false              # go on with other tasks while a person is asked about one

        # Side by side
        # jobs = 4                        # how many agents may be at work at once
        # infer_parallel = false          # run tasks side by side that are shown to be independent
        # isolate = false                 # every task in a work tree, also one that runs alone
        # share_tree = false              # side by side in the project itself instead of in work trees
        # worktree_link = ["data"]        # untracked paths that work trees share by a link; default: none
        # worktree_copy = ["secrets.yml"] # untracked paths that work trees get a copy of, besides .env and the like; default: none
        # worktree_setup = "npm ci"       # what makes a work tree ready; it runs again when lock files change; default: none
        # worktree_dir = "../trees"       # the folder in which work trees are made, outside the project; default: the cache folder

        # Checks
        # unverifiable = "agent"          # agent, ask or refuse: who judges a task without a verify command
        # bookkeeping = "coordinator"     # coordinator or agent: who ticks the boxes and commits
        # scope = "warn"                  # warn, reject or off: what a change outside the task's Files means
        # strict = false                  # reject where a verify proves nothing, instead of warning
        # red_before = "on"               # on or off: each task's command is tried before the work
        # review = false                  # let a reviewing agent approve each task
        # verify = "make test"            # a command for tasks that have none of their own; default: none
        # optional = false                # tasks that their plan marks as optional, `[ ]*`, are done as well
        # regression = "make test"        # a command that has to be green at the very end; default: none
        # prove = "report"                # report, require or off: once all is done, every command again in a clean checkout

        # Who works, and what it may cost
        # model = "NAME"                  # the model that the agent is to use; default: its own choice
        # executor = "claude"             # who does tasks; default: the agent
        # qa = "codex"                    # who verifies and judges; default: the agent
        # reviewer = "codex"              # who reviews; default: the agent
        # fallback = ["codex"]            # who takes over from one without quota or answer; default: nobody
        # resume_sessions = false         # take up the agent's own session again when a task is tried again
        # report_tools = true             # offer agents that take them tools to report through
        # max_cost = 5.00                 # dollars that the run may cost, as far as agents tell; default: no limit
        # max_tokens = "2M"               # tokens that the run may use; default: no limit

        # Times
        # attempt_timeout = "30m"         # how long an attempt may take
        # no_progress_timeout = "10m"     # how long an agent may show no progress
        # verify_timeout = "2m"           # how long a verify command may take
        # review_timeout = "5m"           # how long a judging agent may take
        # prove_budget = "10m"            # how long the last proof may take
        # max_time = "8h"                 # how long the run may take; default: no limit

        # Safety
        # sandbox = "off"                 # off, on or offline: agents write in their folder alone
        # env_block = ["AWS_*"]           # variables that do not reach agents and commands; default: none
        # env_pass = ["NPM_*"]            # the only variables that do, besides the needed ones; default: all
        # mask = ["$NAME"]                # what else is masked in all that is written; default: none

        # Pull request; all but pr may also stand in a table [pull_request], without pr_
        # pr = true                       # look after a pull request; default: if the plan has a PR Lifecycle
        # pr_look_every = "3m"            # time between two looks at checks and reviews
        # pr_cycles_max = 20              # pushes that are watched
        # pr_hours_max = 48               # hours in all
        # pr_ci_fixes_max = 5             # how often red checks get tasks
        # pr_checks = "all"               # all or required: which checks have to be green
        # pr_reply = false                # answer review threads once their task is done
        # pr_resolve = false              # resolve review threads once their task is done
        # pr_request_review = true        # ask who wanted changes to look again after a push
        # pr_draft = false                # create it as a draft
        # pr_base = "main"                # the branch to merge into; default: the default branch
        # pr_title = "feat: …"            # its title; default: made from the plan's name
        # merge = false                   # merge, squash or rebase once everything is green

        # Start
        # branch = "NAME"                 # the branch to work on, made if it is not there; default: the one checked out
        # commit_prefix = "SHOP-12"       # what commit messages of the program's own begin with; default: nothing
        # write_back = true               # tell the source of an imported plan what is done as it is done
        # allow_dirty = false             # start though there are uncommitted changes; they are never committed
        # fresh = false                   # always start over from the boxes
        # dry_run = false                 # only say what would be done

        # Agents
        # These are known by name and need no table here: claude, codex, gemini, opencode, aider, pi, claude-acp, codex-acp,
        # gemini-acp, opencode-acp. The first that is installed is used, unless one is chosen here or by --agent NAME. A table
        # changes one of them, or adds another:
        #
        #   [agents.claude]
        #   model = 'NAME'
        #   permission = 'workspace'        # read-only, workspace or full: what it may do without being asked
        #   system_prompt = 'Be brief.'
        #   args = ['--max-turns', '50']
        #   env = { NAME = 'value' }
        #
        #   [agents.mine]                   # any command that reads its prompt on standard input and prints its answer
        #   command = './my-agent.sh'
        #
        #   [agents.streaming]              # one that prints JSON lines
        #   kind = 'stream'
        #   command = './my-agent.sh --json'
        #   done = 'type=result'            # what its last line looks like
        #   success = 'is_error=false'      # what that says when all is well
        #   text = 'result'                 # where its final message is
        #   session = 'session_id'          # where to find this and what follows, if it tells
        #   input_tokens = 'usage.input'
        #   output_tokens = 'usage.output'
        #   cost = 'cost_usd'
        #
        #   [agents.other]                  # one that speaks the Agent Client Protocol
        #   kind = 'acp'
        #   program = 'other-agent'
        #   args = ['--acp']
        #
        # agent = "codex"
        # agent_cmd = "./my-agent.sh"     # a command without a name, instead of `agent`

        # The same by the files that a task is about: of the patterns that match, all commands.
        # [verify_paths]
        # "backend/**" = "cd backend && pytest -q"
        "#);
    }
}
