use clap::CommandFactory;
use clap::error::ErrorKind;
use engine::Toggle;

use super::*;

fn parse(words: &[&str]) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(std::iter::once(&"tillgreen").chain(words))
}

fn run_args(words: &[&str]) -> RunArgs {
    let words: Vec<&str> = std::iter::once("run").chain(words.iter().copied()).collect();
    let Command::Run(arguments) = parse(&words).unwrap().command else { panic!("not a run") };
    *arguments
}

#[track_caller]
fn refused(words: &[&str], parts: &[&str]) {
    let error = parse(words).unwrap_err();
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(error.exit_code(), i32::from(exit::USAGE));
}

#[test]
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn a_switch_can_be_turned_off_and_takes_no_plan_for_its_value() {
    assert_eq!(run_args(&[]).flags.recovery_mode, None);
    assert_eq!(run_args(&["--recovery-mode=false"]).flags.recovery_mode, Some(Toggle::Off));
    let arguments = run_args(&["--recovery-mode", "auth"]);
    assert_eq!(arguments.flags.recovery_mode, Some(Toggle::On));
    assert_eq!(arguments.plans, ["auth"]);
    assert_eq!(run_args(&["auth", "--fresh"]).flags.fresh, Some(Toggle::On));
}

#[test]
fn global_flags_stand_anywhere() {
    let before = parse(&["--format", "json", "-C", "x", "status"]).unwrap().global;
    let after = parse(&["status", "-C", "x", "--format", "json"]).unwrap().global;
    assert_eq!((before.format, before.dir), (Format::Json, Some(PathBuf::from("x"))));
    assert_eq!((after.format, after.dir), (Format::Json, Some(PathBuf::from("x"))));
}

#[test]
fn answers_may_name_a_plan() {
    let answer = |words: &[&str]| {
        let Command::Answer(arguments) = parse(words).unwrap().command else { panic!("not an answer") };
        (arguments.plan, arguments.response, arguments.no_run)
    };
    assert_eq!(answer(&["answer", "retry"]), (None, "retry".to_owned(), false));
    let named = (Some("auth".to_owned()), "fix: use trim".to_owned(), true);
    assert_eq!(answer(&["answer", "auth", "fix: use trim", "--no-run"]), named);
    refused(&["answer"], &["RESPONSE"]);
}

#[test]
fn what_is_told_may_name_a_plan_and_a_task() {
    let tell = |words: &[&str]| {
        let Command::Tell(arguments) = parse(words).unwrap().command else { panic!("not a tell") };
        let (plan, text) = arguments.words();
        (plan.map(str::to_owned), arguments.task.clone(), text.to_owned())
    };
    let text = || "use tabs".to_owned();
    assert_eq!(tell(&["tell", "use tabs"]), (None, None, text()));
    let named = (Some("auth".to_owned()), Some("1.3".to_owned()), text());
    assert_eq!(tell(&["tell", "auth", "--task", "1.3", "use tabs"]), named);
    refused(&["tell"], &["TEXT"]);
    refused(&["tell", "use tabs", "--task"], &["--task <ID>"]);
    let skip = |words: &[&str]| {
        let Command::Skip(arguments) = parse(words).unwrap().command else { panic!("not a skip") };
        (arguments.plan, arguments.task)
    };
    assert_eq!(skip(&["skip", "1.3"]), (None, "1.3".to_owned()));
    assert_eq!(skip(&["skip", "auth", "1.3"]), (Some("auth".to_owned()), "1.3".to_owned()));
    refused(&["skip"], &["ID"]);
    assert!(matches!(parse(&["pause", "auth"]).unwrap().command, Command::Pause(_)));
    refused(&["pause", "auth", "more"], &["more"]);
}

#[test]
fn a_task_may_follow_its_plan() {
    let show = |words: &[&str]| {
        let Command::Show(arguments) = parse(words).unwrap().command else { panic!("not a show") };
        (arguments.plan, arguments.task, arguments.attempt)
    };
    assert_eq!(show(&["show", "1.3"]), (None, "1.3".to_owned(), None));
    let named = (Some("auth".to_owned()), "1.3".to_owned(), Some(2));
    assert_eq!(show(&["show", "auth", "1.3", "--attempt", "2"]), named);
    refused(&["show", "1.3", "--attempt", "0"], &["--attempt", "must be at least 1"]);
}

#[test]
fn help_of_show() {
    insta::assert_snapshot!(short("show"), @r"
    Show everything about one task: attempts, what failed, prompts, changes

    Usage: tillgreen show [OPTIONS] [PLAN] <TASK>

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
      <TASK>  The task, as the plan spells it

    Options:
          --attempt <N>         One attempt, whole [default: all of them; with --output and --prompt the
                                latest]
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
          --output              What the agent and the verify command printed, whole
          --prompt              What the agent was told, whole
          --diff                What was changed, line by line
      -h, --help                Print help

    Examples:
      tillgreen show 1.3              every attempt at task 1.3, what was checked and what failed
      tillgreen show 1.3 --output     what the agent and the verify command printed, whole
      tillgreen show auth 1.3 --attempt 2 --prompt
    ");
}

#[test]
fn wrong_usage_names_the_flag_and_what_was_meant() {
    refused(&["rum"], &["unrecognized subcommand 'rum'", "'run'"]);
    refused(&["run", "--recover-mode"], &["--recover-mode", "'--recovery-mode'"]);
    refused(&["run", "--max-fix-tasks", "0"], &["--max-fix-tasks", "must be at least 1"]);
    refused(
        &["run", "--max-task-iterations=-1"],
        &["--max-task-iterations", "must be a whole number from 1"],
    );
    refused(&["run", "--attempt-timeout", "30"], &["--attempt-timeout", "write 30s, 30m or 30h"]);
    refused(&["run", "--scope", "wran"], &["--scope", "[possible values: warn, reject, off]", "'warn'"]);
    refused(
        &["run", "--agent", "a", "--agent-cmd", "b"],
        &["'--agent <NAME>' cannot be used with '--agent-cmd"],
    );
    refused(&["run", "--agent-cmd", " "], &["--agent-cmd", "must not be empty"]);
    refused(&["run", "--wings", "4"], &["unexpected argument '--wings'"]);
    refused(&["run", "--strict=maybe"], &["--strict", "maybe"]);
    refused(&["--format", "yaml", "status"], &["--format", "[possible values: text, json]"]);
    refused(&["completions", "tcsh"], &["[possible values: bash"]);
    refused(&["new"], &["<NAME>"]);
    refused(&["check", "a", "b"], &["unexpected argument 'b'"]);
}

#[test]
fn help_and_version_are_no_errors() {
    assert_eq!(parse(&["--help"]).unwrap_err().kind(), ErrorKind::DisplayHelp);
    assert_eq!(parse(&["run", "-h"]).unwrap_err().kind(), ErrorKind::DisplayHelp);
    assert_eq!(parse(&["--version"]).unwrap_err().kind(), ErrorKind::DisplayVersion);
}

/// The long help of a command, or of the program; trailing spaces would not survive in a source file.
fn long(command: &str) -> String {
    help(command, |command| command.render_long_help().to_string())
}

/// The short help of a command.
fn short(command: &str) -> String {
    help(command, |command| command.render_help().to_string())
}

fn help(command: &str, render: impl Fn(&mut clap::Command) -> String) -> String {
    let mut program = Arguments::command().term_width(100);
    program.build();
    let command =
        if command.is_empty() { &mut program } else { program.find_subcommand_mut(command).unwrap() };
    render(command).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!(long(""), @r"
    Takes a plan of tasks and does not stop until it is green.

    Hands each task to a coding agent, checks the work itself, sends it back with what went wrong,
    writes fix tasks where that is not enough, asks a person only when it must, and survives being
    killed at any moment.

    Usage: tillgreen [OPTIONS] <COMMAND>

    Commands:
      demo         See a run to green in a temporary folder, with a built-in scripted agent
      init         Write a commented tillgreen.toml with the agents that are installed here
      new          Create a spec and make it the active one
      import       Make a spec of a plan that another tool keeps, or take in what changed there
      plan         Have an agent write a plan for a goal, or commands for tasks that have none
      check        Read a plan and print its tasks and problems; runs nothing
      run          Start or resume a run, or several
      status       Show where a run stands, also while it runs and after a crash
      show         Show everything about one task: attempts, what failed, prompts, changes
      list         List the plans here, with where each stands
      use          Make a spec the active one
      answer       Answer the open question of a run; one that is not under way is continued
      tell         Tell the next prompt of a run something
      pause        Stop a running run after what is under way: nothing new starts, and what is finished
                   comes in
      skip         Skip a task; an agent that works on it is ended
      cancel       Stop a running run cleanly; nothing is deleted
      clean        Remove the work trees of a plan, or of all plans here, from the disk
      watch        Watch a run on a full screen, and answer, tell, pause and skip from there
      serve        Show runs on a page in a browser, and answer, tell, pause and skip from there
      report       Write a run as one page for whoever reviews its work; or as Markdown, or as test
                   results
      log          Print the journal of a plan, readable
      prove        Show that what is done holds: run tasks' commands in a clean checkout of what is
                   committed
      notify       Try out how people are told when nobody is there
      stats        Count what a run, or all of them, came to: the retry summary
      agents       List the agents: installed or not, which version, what each can do; or put one to the
                   test
      completions  Print completions for a shell
      man          Print the manual page

    Options:
          --format <text|json>
              How results are printed; JSON is one object a line where results are a stream

              [default: text]

      -C <DIR>
              Work as if started in this folder

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      tillgreen demo                   see a run, with no agent installed
      tillgreen init                   write tillgreen.toml with the agents found here
      tillgreen new auth Add a login   create specs/auth/ and make it the active spec
      tillgreen check                  read the active spec's plan, run nothing
      tillgreen run --recovery-mode    run it and write fix tasks for what fails
      tillgreen status                 where it stands
      tillgreen show 1.3 --output      what the latest attempt at task 1.3 printed

    Exit codes:
      0    all tasks complete (or complete with skips); other commands: done
      1    stopped: a task's retries, fix tasks or the pull request's limits are exhausted
      2    usage, settings, plan or state error, agent not installed; nothing was started
      3    paused: a person has to answer (see `tillgreen answer`) or to see to the pull request, or
           asked for it (see `tillgreen pause`)
      4    another run holds the plan
      5    stopped at a global cap: iterations, cost, tokens or time
      6    paused: an agent, a service or the disk is unavailable
      7    aborted by a response
      8    somebody else answered first
      130  interrupted
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "the help is as long as it is")]
fn short_help_of_run() {
    let text = short("run");
    let (first, _) = text.split_once("\nPull request:\n").unwrap();
    insta::assert_snapshot!(first, @"
    Start or resume a run, or several

    Usage: tillgreen run [OPTIONS] [PLAN]...

    Arguments:
      [PLAN]...  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -v, --verbose             Tell every step at a terminal, not only what was done, what failed and
                                what is asked
      -C <DIR>                  Work as if started in this folder
          --junit <FILE>        Write the tasks as test results when the run ends, as JUnit XML
          --side-by-side        Run several plans at once, not one after another: in work trees, sharing
                                --jobs
      -h, --help                Print help (see more with '--help')

    After a failure:
          --recovery-mode[=<BOOL>]     Write fix tasks for what fails, then try again [default: off]
          --max-task-iterations <N>    Attempts at one task that end in retries, the first included
                                       [default: 5; 3 in a *-PLAN.md]
          --max-fix-tasks <N>          Fix tasks for one failing task [default: 3]
          --max-fix-depth <N>          How deep fixes of fixes may nest [default: 3]
          --max-global-iterations <N>  Agent starts in all [default: the larger of 100 and 3 × tasks]
          --infra-retries <N>          Times in a row that the agent may be unavailable before the run
                                       pauses [default: 10]
          --on-exhausted <WHAT>        What follows when retries or fix tasks are used up [default:
                                       stop; ask in a *-PLAN.md] [possible values: stop, ask]
          --on-escalation <WHAT>       What happens with a question to a person [default: ask at a
                                       terminal, else pause] [possible values: ask, pause, skip, abort]
          --clean-retry[=<BOOL>]       Take a failed attempt's changes back before the next one
                                       [default: off]
          --keep-going[=<BOOL>]        While a person is asked about one task, go on with those that do
                                       not depend on it [default: off]

    Side by side:
      -j, --jobs <N>                  How many agents may be at work at once [default: 4]
          --infer-parallel[=<BOOL>]   Run tasks side by side that the plan's Files and dependencies show
                                      to be independent [default: off]
          --isolate[=<BOOL>]          Let every task work in a work tree, also one that runs alone
                                      [default: off]
          --share-tree[=<BOOL>]       Let tasks that run side by side share the project instead of
                                      having work trees [default: off]
          --worktree-link <PATH,…>    Untracked paths that work trees share with the project by a link,
                                      for data that is only read [default: none]
          --worktree-copy <PATH,…>    Untracked paths that each work tree gets a copy of, besides local
                                      settings such as .env [default: none]
          --worktree-setup <COMMAND>  The command that makes a work tree ready, such as npm ci; it runs
                                      again when lock files change [default: none]
          --worktree-dir <DIR>        The folder in which work trees are made, outside the project
                                      [default: the user's cache folder]

    Agent:
          --agent <NAME>              An agent by name: a known one, or one of tillgreen.toml [default:
                                      the first that is installed]
          --agent-cmd <COMMAND>       A command that reads the prompt on standard input
          --model <MODEL>             The model that the agent is to use [default: its own choice]
          --executor <NAME>           Who does tasks [default: the agent]
          --qa <NAME>                 Who verifies, and judges what no command can prove [default: the
                                      agent]
          --reviewer <NAME>           Who reviews [default: the agent]
          --fallback <NAME,…>         Who takes over, in this order, when an agent has no quota or does
                                      not answer [default: nobody]
          --resume-sessions[=<BOOL>]  Take up the agent's own session again when a task is tried again
                                      [default: off]
          --report-tools[=<BOOL>]     Offer agents that take them tools to report through [default: on]
          --max-cost <USD>            What the run may cost, as far as agents tell [default: no limit]
          --max-tokens <N>            How many tokens the run may use, as far as agents tell [default:
                                      no limit]

    Checks:
          --unverifiable <WHO>    Who judges a task that has no runnable verify command [default: agent]
                                  [possible values: agent, ask, refuse]
          --bookkeeping <WHO>     Who ticks the boxes and commits [default: coordinator] [possible
                                  values: coordinator, agent]
          --scope <WHAT>          What a change outside the task's Files means [default: warn] [possible
                                  values: warn, reject, off]
          --strict[=<BOOL>]       Reject where a verify proves nothing, instead of warning [default:
                                  off]
          --red-before <WHAT>     Try each task's command before the work on it: what is green then
                                  proves little [default: on] [possible values: on, off]
          --review[=<BOOL>]       Let a reviewing agent approve each task against Done when [default:
                                  off]
          --verify <COMMAND>      A command for tasks that have none of their own; it never counts alone
                                  [default: none]
          --optional[=<BOOL>]     Have tasks done as well that their plan marks as optional, `[ ]*`
                                  [default: off]
          --regression <COMMAND>  A command that has to be green at the very end [default: none]
          --prove <HOW>           Once all is done, every command again in a clean checkout; what is red
                                  is told, or opened again [default: report] [possible values: report,
                                  require, off]

    Times:
          --attempt-timeout <DUR>      How long an attempt may take [default: 30m]
          --no-progress-timeout <DUR>  How long an agent may show no progress [default: 10m]
          --verify-timeout <DUR>       How long a verify command may take [default: 2m]
          --review-timeout <DUR>       How long a judging agent may take [default: 5m]
          --prove-budget <DUR>         How long that last proof may take [default: 10m]
          --max-time <DUR>             How long the run may take [default: no limit]

    Safety:
          --sandbox[=<HOW>]     Let agents write in their folder alone, and reach no network if they are
                                to be offline [default: off] [possible values: off, on, offline]
          --env-block <NAME,…>  Variables that do not reach agents and commands, such as AWS_* [default:
                                none]
          --env-pass <NAME,…>   The only variables that do, besides those that nothing works without
                                [default: all]
          --mask <VALUE,…>      What is masked in all that is written, besides what looks like a key;
                                $NAME for a variable's value [default: none]
    ");
}

#[test]
fn short_help_of_run_about_pull_requests_and_starting() {
    let text = short("run");
    let (_, rest) = text.split_once("\nPull request:\n").unwrap();
    insta::assert_snapshot!(rest, @r"
          --pr[=<BOOL>]                 Push, open a pull request and look after it until it is green
                                        [default: if the plan has a PR Lifecycle]
          --pr-look-every <DUR>         Time between two looks at checks and reviews [default: 3m]
          --pr-cycles-max <N>           Pushes that are watched [default: 20]
          --pr-hours-max <N>            Hours in all [default: 48]
          --pr-ci-fixes-max <N>         How often red checks get tasks [default: 5]
          --pr-checks <WHICH>           Which checks have to be green [default: all] [possible values:
                                        all, required]
          --pr-reply[=<BOOL>]           Answer review threads once their task is done [default: off]
          --pr-resolve[=<BOOL>]         Resolve review threads once their task is done [default: off]
          --pr-request-review[=<BOOL>]  Ask reviewers who wanted changes to look again after a push
                                        [default: on]
          --pr-draft[=<BOOL>]           Create it as a draft [default: off]
          --pr-base <BRANCH>            The branch to merge into [default: the default branch]
          --pr-title <TEXT>             Its title [default: made from the plan's name]
          --merge[=<HOW>]               Merge it once everything is green, by merge, squash or rebase
                                        [default: never]

    Start:
          --branch <NAME>         Work on this branch, which is made if it is not there [default: the
                                  one that is checked out]
          --commit-prefix <TEXT>  What commit messages of the program's own begin with, such as a
                                  ticket's number [default: nothing]
          --write-back[=<BOOL>]   Tell the source of an imported plan what is done as it is done
                                  [default: on]
          --allow-dirty[=<BOOL>]  Start a new run though there are uncommitted changes; they are never
                                  committed [default: off]
          --fresh[=<BOOL>]        Put journal and state file aside and start over from the boxes
                                  [default: off]
          --dry-run[=<BOOL>]      Say what would be done, and do nothing [default: off]

    Each flag is also a key in tillgreen.toml, spelled with underscores; a flag comes first. A switch
    that is on there is turned off by `--flag=false`.
    ");
}

#[test]
fn long_help_of_run_says_where_settings_come_from() {
    let text = long("run");
    let notes = &text[text.find("Each flag").unwrap()..];
    insta::assert_snapshot!(notes, @r"
    Each flag is also a key in tillgreen.toml, spelled with underscores. A setting comes from the flag,
    else from tillgreen.toml, else (agent and recovery mode only) from the unfinished run, else it is
    the default. A switch that is on in tillgreen.toml is turned off by `--flag=false`. Durations are
    written 90s, 30m, 2h, 500ms, 1h30m.

    Examples:
      tillgreen run                               the active spec, the first agent that is installed
      tillgreen run auth --recovery-mode          write fix tasks for what fails
      tillgreen run --agent-cmd './my-agent.sh'   any command that reads the prompt on standard input
      tillgreen run auth billing --keep-going     go on where the first stops or asks
      tillgreen run --dry-run                     say what would be done, and do nothing

    Exit codes:
      0    all tasks complete (or complete with skips); other commands: done
      1    stopped: a task's retries, fix tasks or the pull request's limits are exhausted
      2    usage, settings, plan or state error, agent not installed; nothing was started
      3    paused: a person has to answer (see `tillgreen answer`) or to see to the pull request, or
           asked for it (see `tillgreen pause`)
      4    another run holds the plan
      5    stopped at a global cap: iterations, cost, tokens or time
      6    paused: an agent, a service or the disk is unavailable
      7    aborted by a response
      8    somebody else answered first
      130  interrupted
    ");
}

#[test]
fn help_of_check() {
    insta::assert_snapshot!(short("check"), @"
    Read a plan and print its tasks and problems; runs nothing

    Usage: tillgreen check [OPTIONS] [PLAN]

    Arguments:
      [PLAN]  A spec's name, a spec's folder, a tasks.md, a *-PLAN.md or a folder of plans [default: the
              active spec]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
          --graph[=<FORM>]      Show what waits for what, and what can run side by side [possible
                                values: text, mermaid, dot]
      -C <DIR>                  Work as if started in this folder
          --infer-parallel      With --graph: as a run with --infer-parallel would see it
      -j, --jobs <N>            With --graph: how many agents may be at work at once [default: as a run]
      -h, --help                Print help (see more with '--help')
    ");
}

#[test]
fn help_of_commands_about_a_run() {
    insta::assert_snapshot!(short("status"), @r"
    Show where a run stands, also while it runs and after a crash

    Usage: tillgreen status [OPTIONS] [PLAN]

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help
    ");
    insta::assert_snapshot!(short("answer"), @r"
    Answer the open question of a run; one that is not under way is continued

    Usage: tillgreen answer [OPTIONS] [PLAN] <RESPONSE>

    Arguments:
      [PLAN]      A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
      <RESPONSE>  The answer: retry, skip, abort, 'fix: …', approve or 'reject: …'

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
          --no-run              Only note the answer; `tillgreen run` continues later (a run that is
                                under way goes on in any case)
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help

    Responses:
      retry          once more, with full budgets
      skip           leave the task out and go on
      abort          end the run
      fix: TEXT      one more attempt, with TEXT as its instruction
      approve        the result is right (where a result is to be judged)
      reject: TEXT   it is not, and why
    At a checkpoint of a plan: what it asks for (approved, done, the id of an option), 'fix: TEXT', skip
    or abort

    A run that is under way takes the answer and goes on. If somebody else was first, nothing changes:
    exit code 8.

    Example: tillgreen answer auth 'fix: check for white space before parsing'
    ");
    insta::assert_snapshot!(short("cancel"), @r"
    Stop a running run cleanly; nothing is deleted

    Usage: tillgreen cancel [OPTIONS] [PLAN]

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help
    ");
    insta::assert_snapshot!(short("log"), @r"
    Print the journal of a plan, readable

    Usage: tillgreen log [OPTIONS] [PLAN]

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]

    Options:
      -f, --follow              Wait for more until the run ends
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help
    ");
}

#[test]
fn help_of_commands_that_steer_a_run() {
    insta::assert_snapshot!(short("tell"), @r"
    Tell the next prompt of a run something

    Usage: tillgreen tell [OPTIONS] [PLAN] <TEXT>

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
          --task <ID>           The task whose next prompt is meant [default: whatever starts next]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help (see more with '--help')

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
      <TEXT>  The word, in quotation marks

    Examples:
      tillgreen tell 'keep the public API as it is'    to whatever starts next
      tillgreen tell auth --task 1.3 'use the parser of 1.2'
    ");
    insta::assert_snapshot!(long("pause"), @r"
    Stop a running run after what is under way: nothing new starts, and what is finished comes in

    The run then ends with exit code 3; `tillgreen run` goes on.

    Usage: tillgreen pause [OPTIONS] [PLAN]

    Arguments:
      [PLAN]
              A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]

    Options:
          --format <text|json>
              How results are printed; JSON is one object a line where results are a stream

              [default: text]

      -C <DIR>
              Work as if started in this folder

      -h, --help
              Print help (see a summary with '-h')
    ");
    insta::assert_snapshot!(short("skip"), @r"
    Skip a task; an agent that works on it is ended

    Usage: tillgreen skip [OPTIONS] [PLAN] <ID>

    Arguments:
      [PLAN]  A spec's name or folder, a tasks.md, or a folder of plans [default: the active spec]
      <ID>    The task, as the plan spells it

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help

    Example: tillgreen skip auth 1.3
    ");
}

#[test]
fn help_of_commands_that_set_up() {
    insta::assert_snapshot!(long("demo"), @r"
    See a run to green in a temporary folder, with a built-in scripted agent

    Makes a small git project with a plan and runs it: a failure, a retry with feedback, a fix task.
    Needs nothing but git and a shell, and says where it left everything.

    Usage: tillgreen demo [OPTIONS]

    Options:
          --format <text|json>
              How results are printed; JSON is one object a line where results are a stream

              [default: text]

      -C <DIR>
              Work as if started in this folder

      -h, --help
              Print help (see a summary with '-h')
    ");
    insta::assert_snapshot!(short("init"), @r"
    Write a commented tillgreen.toml with the agents that are installed here

    Usage: tillgreen init [OPTIONS]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help
    ");
    insta::assert_snapshot!(short("new"), @r"
    Create a spec and make it the active one

    Usage: tillgreen new [OPTIONS] <NAME> [GOAL]...

    Arguments:
      <NAME>     The spec's name: its folder under specs/
      [GOAL]...  What is to be reached, in words; it goes into the plan's introduction

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help

    Example: tillgreen new auth Let people log in with a password
    ");
}

#[test]
fn help_of_commands_that_list() {
    insta::assert_snapshot!(short("agents"), @r"
    List the agents: installed or not, which version, what each can do; or put one to the test

    Usage: tillgreen agents [OPTIONS] [COMMAND]

    Commands:
      test  Put an agent to the test: success, failure, hang, flood and cancellation

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help
    ");
    insta::assert_snapshot!(short("completions"), @r"
    Print completions for a shell

    Usage: tillgreen completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  For which shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help

    Example: tillgreen completions bash > ~/.local/share/bash-completion/completions/tillgreen
    ");
    insta::assert_snapshot!(short("man"), @r"
    Print the manual page

    Usage: tillgreen man [OPTIONS]

    Options:
          --format <text|json>  How results are printed; JSON is one object a line where results are a
                                stream [default: text]
      -C <DIR>                  Work as if started in this folder
      -h, --help                Print help

    Example: tillgreen man | man -l -
    ");
}
