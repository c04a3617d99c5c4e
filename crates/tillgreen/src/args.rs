//! The command line as typed. What a flag means together with `tillgreen.toml` is the business of `settings`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod agents;
mod planning;

pub(crate) use agents::{AgentsArgs, AgentsCommand, TestArgs};
pub(crate) use planning::PlanningArgs;

use crate::exit;
use crate::settings::{SettingsLayer, limit};
use crate::view::chart::ChartFile;
use crate::view::facts::Verbosity;

/// Takes a plan of tasks and does not stop until it is green.
///
/// Hands each task to a coding agent, checks the work itself, sends it back with what went wrong, writes fix
/// tasks where that is not enough, asks a person only when it must, and survives being killed at any moment.
#[derive(Debug, Parser)]
#[command(
    name = "tillgreen",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "Begin with `tillgreen demo`, or with `tillgreen init` and `tillgreen new NAME` in a project.",
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP)
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tillgreen demo                   see a run, with no agent installed
  tillgreen init                   write tillgreen.toml with the agents found here
  tillgreen new auth Add a login   create specs/auth/ and make it the active spec
  tillgreen check                  read the active spec's plan, run nothing
  tillgreen run --recovery-mode    run it and write fix tasks for what fails
  tillgreen status                 where it stands
  tillgreen show 1.3 --output      what the latest attempt at task 1.3 printed";

/// Arguments of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// How results are printed; JSON is one object a line where results are a stream
    #[arg(long, global = true, value_enum, default_value_t = Format::Text, value_name = "text|json",
          hide_possible_values = true)]
    pub(crate) format: Format,
    /// Work as if started in this folder
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See a run to green in a temporary folder, with a built-in scripted agent
    ///
    /// Makes a small git project with a plan and runs it: a failure, a retry with feedback, a fix task. Needs
    /// nothing but git and a shell, and says where it left everything.
    Demo,
    /// Write a commented tillgreen.toml with the agents that are installed here
    Init,
    /// Create a spec and make it the active one
    New(NewArgs),
    /// Make a spec of a plan that another tool keeps, or take in what changed there
    ///
    /// What is done here is written back there, now and whenever a task is done. Exit code 6 if bd or gh do not answer.
    Import(ImportArgs),
    /// Have an agent write a plan for a goal, or commands for tasks that have none
    ///
    /// It works in a copy of the project. What it writes is checked, its commands are tried, and it is sent back with what is
    /// wrong. The result is shown as a diff, and only taken if it is accepted.
    Plan(PlanningArgs),
    /// Examine a draft; the run that writes it starts this, people do not
    #[command(hide = true)]
    Examine,
    /// Carry out an order of a run on many machines; workers start this, people do not
    #[command(hide = true)]
    Order,
    /// Read a plan and print its tasks and problems; runs nothing
    ///
    /// Exit code 0 if there are no errors (warnings are allowed), 2 if there are.
    Check(CheckArgs),
    /// Start or resume a run, or several
    Run(Box<RunArgs>),
    /// Show where a run stands, also while it runs and after a crash
    Status(PlanArgs),
    /// Show everything about one task: attempts, what failed, prompts, changes
    Show(ShowArgs),
    /// List the plans here, with where each stands
    List,
    /// Make a spec the active one
    #[command(after_help = "Example: tillgreen use auth")]
    Use {
        /// The spec's name: its folder under specs/
        name: String,
    },
    /// Answer the open question of a run; one that is not under way is continued
    Answer(AnswerArgs),
    /// Tell the next prompt of a run something
    ///
    /// It is shown to the agent as a person's word, and counts more than the plan. Without a run, it is kept for the next.
    Tell(TellArgs),
    /// Stop a running run after what is under way: nothing new starts, and what is finished comes in
    ///
    /// The run then ends with exit code 3; `tillgreen run` goes on.
    Pause(PlanArgs),
    /// Skip a task; an agent that works on it is ended
    Skip(SkipArgs),
    /// Stop a running run cleanly; nothing is deleted
    Cancel(PlanArgs),
    /// Remove the work trees of a plan, or of all plans here, from the disk
    ///
    /// Says first how much they take. Work that has not come in stays in git, and the next run makes the trees
    /// that it needs. Exit code 4 if a run of one of the plans is under way; nothing is removed then.
    Clean(CleanArgs),
    /// Watch a run on a full screen, and answer, tell, pause and skip from there
    ///
    /// Shows a run that is under way elsewhere, one that died, and an old one alike. Without a plan and an active spec it
    /// begins with the list of all runs.
    Watch(WatchArgs),
    /// Show runs on a page in a browser, and answer, tell, pause and skip from there
    ///
    /// Prints the address to open, with a token in it; whoever has it can do there what you can. Shows what `watch` shows, of all
    /// runs here, and starts nothing. Runs until it is ended by Ctrl-C.
    Serve(ServeArgs),
    /// Write a run as one page for whoever reviews its work; or as Markdown, or as test results
    ///
    /// What came of it, what to look at first, on what each task rests, fix tasks, time, cost. The page needs nothing else.
    Report(ReportArgs),
    /// Print the journal of a plan, readable
    Log(LogArgs),
    /// Show that what is done holds: run tasks' commands in a clean checkout of what is committed
    ///
    /// Exit code 1 if one is red. Where there is no journal, as in a fresh clone, the boxes say what is done.
    Prove(ProveArgs),
    /// Try out how people are told when nobody is there
    Notify {
        /// What to do
        #[command(subcommand)]
        command: NotifyCommand,
    },
    /// Count what a run, or all of them, came to: the retry summary
    Stats(StatsArgs),
    /// List the agents: installed or not, which version, what each can do; or put one to the test
    Agents(AgentsArgs),
    /// Serve the tools through which an agent reports; agents start this, people do not
    #[command(hide = true)]
    Mcp {
        /// The file that reports are added to
        #[arg(long, value_name = "FILE")]
        report: PathBuf,
    },
    /// Print completions for a shell
    #[command(
        after_help = "Example: tillgreen completions bash > ~/.local/share/bash-completion/completions/tillgreen"
    )]
    Completions {
        /// For which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example: tillgreen man | man -l -")]
    Man,
}

/// Which plan is meant.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tillgreen import .taskmaster/tasks/tasks.json    task-master
  tillgreen import scripts/ralph/prd.json          prd.json
  tillgreen import .beads                          beads
  tillgreen import github:label=ready              issues at GitHub; github:milestone=1.0 as well")]
pub(crate) struct ImportArgs {
    /// A tasks.json, a prd.json, a folder of beads, github:label=NAME or github:milestone=TITLE
    pub(crate) source: String,
    /// The name of the spec [default: the one imported from there before, else one made of what the source is called]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only say what would become of it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `prove`.
#[derive(Debug, Args)]
#[command(override_usage = "tillgreen prove [OPTIONS] [PLAN] [TASK]...")]
pub(crate) struct ProveArgs {
    /// A plan, and tasks of it by their ids [default: all that are done in the active spec]
    #[arg(value_name = "PLAN|TASK")]
    pub(crate) names: Vec<String>,
}

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// A spec's name, a spec's folder or a tasks.md [default: all plans of the project]
    pub(crate) plan: Option<String>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A spec's name, a spec's folder, a tasks.md, a *-PLAN.md or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// Show what waits for what, and what can run side by side
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "text", require_equals = true, value_name = "FORM")]
    pub(crate) graph: Option<GraphForm>,
    /// With --graph: as a run with --infer-parallel would see it
    #[arg(long, requires = "graph")]
    pub(crate) infer_parallel: bool,
    /// With --graph: how many agents may be at work at once [default: as a run]
    #[arg(long, short, requires = "graph", value_parser = limit, value_name = "N")]
    pub(crate) jobs: Option<u32>,
}

/// How a graph is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GraphForm {
    /// For people
    Text,
    /// For Mermaid
    Mermaid,
    /// For Graphviz
    Dot,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = "Example: tillgreen new auth Let people log in with a password")]
pub(crate) struct NewArgs {
    /// The spec's name: its folder under specs/
    pub(crate) name: String,
    /// What is to be reached, in words; it goes into the plan's introduction
    pub(crate) goal: Vec<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tillgreen run [OPTIONS] [PLAN]...",
    after_help = "Each flag is also a key in tillgreen.toml, spelled with underscores; a flag comes first. A switch \
                  that is on there is turned off by `--flag=false`.",
    after_long_help = format!("{RUN_NOTES}\n\n{}", exit::HELP)
)]
pub(crate) struct RunArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    #[arg(value_name = "PLAN")]
    pub(crate) plans: Vec<String>,
    /// Tell every step at a terminal, not only what was done, what failed and what is asked
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write the tasks as test results when the run ends, as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Run several plans at once, not one after another: in work trees, sharing --jobs
    #[arg(long)]
    pub(crate) side_by_side: bool,
    #[command(flatten)]
    pub(crate) flags: SettingsLayer,
}

impl RunArgs {
    /// How much scrolls by at a terminal.
    pub(crate) fn verbosity(&self) -> Verbosity {
        if self.verbose { Verbosity::Steps } else { Verbosity::Facts }
    }
}

const RUN_NOTES: &str = "\
Each flag is also a key in tillgreen.toml, spelled with underscores. A setting comes from the flag, \
else from tillgreen.toml, else (agent and recovery mode only) from the unfinished run, else it is the \
default. A switch that is on in tillgreen.toml is turned off by `--flag=false`. Durations are written \
90s, 30m, 2h, 500ms, 1h30m.

Examples:
  tillgreen run                               the active spec, the first agent that is installed
  tillgreen run auth --recovery-mode          write fix tasks for what fails
  tillgreen run --agent-cmd './my-agent.sh'   any command that reads the prompt on standard input
  tillgreen run auth billing --keep-going     go on where the first stops or asks
  tillgreen run --dry-run                     say what would be done, and do nothing";

/// Arguments of `answer`.
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Responses:
  retry          once more, with full budgets
  skip           leave the task out and go on
  abort          end the run
  fix: TEXT      one more attempt, with TEXT as its instruction
  approve        the result is right (where a result is to be judged)
  reject: TEXT   it is not, and why
At a checkpoint of a plan: what it asks for (approved, done, the id of an option), 'fix: TEXT', skip or abort

A run that is under way takes the answer and goes on. If somebody else was first, nothing changes: exit code 8.

Example: tillgreen answer auth 'fix: check for white space before parsing'"
)]
pub(crate) struct AnswerArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// The answer: retry, skip, abort, 'fix: …', approve or 'reject: …'
    #[arg(required = true)]
    pub(crate) response: String,
    /// Only note the answer; `tillgreen run` continues later (a run that is under way goes on in any case)
    #[arg(long)]
    pub(crate) no_run: bool,
}

/// Arguments of `tell`. A flag may stand between its two words, which a plan that may be left out does not allow by
/// itself.
#[derive(Debug, Args)]
#[command(
    override_usage = "tillgreen tell [OPTIONS] [PLAN] <TEXT>",
    after_help = "Arguments:
  [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
  <TEXT>  The word, in quotation marks

Examples:
  tillgreen tell 'keep the public API as it is'    to whatever starts next
  tillgreen tell auth --task 1.3 'use the parser of 1.2'"
)]
pub(crate) struct TellArgs {
    #[arg(hide = true, value_name = "TEXT")]
    first: String,
    #[arg(hide = true)]
    second: Option<String>,
    /// The task whose next prompt is meant [default: whatever starts next]
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
}

impl TellArgs {
    /// The plan, where one is named, and the word.
    pub(crate) fn words(&self) -> (Option<&str>, &str) {
        match &self.second {
            Some(text) => (Some(&self.first), text),
            None => (None, &self.first),
        }
    }
}

/// Arguments of `skip`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true, after_help = "Example: tillgreen skip auth 1.3")]
pub(crate) struct SkipArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// The task, as the plan spells it
    #[arg(required = true, value_name = "ID")]
    pub(crate) task: String,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Examples:
  tillgreen show 1.3              every attempt at task 1.3, what was checked and what failed
  tillgreen show 1.3 --output     what the agent and the verify command printed, whole
  tillgreen show auth 1.3 --attempt 2 --prompt"
)]
pub(crate) struct ShowArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// The task, as the plan spells it
    #[arg(required = true)]
    pub(crate) task: String,
    /// One attempt, whole [default: all of them; with --output and --prompt the latest]
    #[arg(long, value_parser = limit, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// What the agent and the verify command printed, whole
    #[arg(long, group = "part")]
    pub(crate) output: bool,
    /// What the agent was told, whole
    #[arg(long, group = "part")]
    pub(crate) prompt: bool,
    /// What was changed, line by line
    #[arg(long, group = "part")]
    pub(crate) diff: bool,
}

/// Commands of `notify`.
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyCommand {
    /// Send a test notice through every channel that is set
    ///
    /// Exit code 1 if one of them did not take it.
    Test,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "Example: tillgreen watch auth --replay=50")]
pub(crate) struct WatchArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// Play what is recorded, so many times faster than it was [default: 10]
    #[arg(long, num_args = 0..=1, default_missing_value = "10", require_equals = true, value_parser = limit, value_name = "SPEED")]
    pub(crate) replay: Option<u32>,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tillgreen serve                            on this machine
  ssh -L 7777:127.0.0.1:7777 HOST            from another one, once it runs there: open the same address here
  tillgreen serve --listen 127.0.0.1:0       at any port that is free")]
pub(crate) struct ServeArgs {
    /// Where to listen; anything but this machine itself is not encrypted
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7777")]
    pub(crate) listen: std::net::SocketAddr,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tillgreen report auth -o report.html    a page for a browser
  tillgreen report --markdown             the text that --pr gives a pull request
  tillgreen report --junit -o tests.xml   test results for a CI system")]
pub(crate) struct ReportArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// Markdown for a pull request
    #[arg(long, group = "form")]
    pub(crate) markdown: bool,
    /// Test results as JUnit XML
    #[arg(long, group = "form")]
    pub(crate) junit: bool,
    /// Into this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    pub(crate) plan: Option<String>,
    /// Wait for more until the run ends
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = "Example: tillgreen stats --chart run.html")]
pub(crate) struct StatsArgs {
    /// A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
    #[arg(conflicts_with = "all")]
    pub(crate) plan: Option<String>,
    /// Every run here, those put aside by --fresh included, and a total
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw it as well, into FILE.svg or FILE.html
    #[arg(long, value_name = "FILE", value_parser = ChartFile::parse)]
    pub(crate) chart: Option<ChartFile>,
}

#[cfg(test)]
mod tests;
