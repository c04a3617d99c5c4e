use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::{OnEscalation, Recovery, Toggle};
use runner::{AgentKind, Permission};

use super::*;
use crate::args::Format;
use crate::error::Error;

/// A folder with an installed program called `agent`, and another called `other`.
struct World {
    _folder: tempfile::TempDir,
    programs: Programs,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    for name in ["agent", "other"] {
        let file = folder.path().join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let programs = Programs::new(Some(folder.path().into()), folder.path());
    World { _folder: folder, programs }
}

fn flags(pairs: &[(&str, &str)]) -> SettingsLayer {
    pairs
        .iter()
        .fold(SettingsLayer::default(), |all, (key, value)| all.or(SettingsLayer::read(key, value).unwrap()))
}

fn file(text: &str) -> Result<FileSettings, Error> {
    FileSettings::parse(Path::new("/project/tillgreen.toml"), text)
}

fn resolved(flags: SettingsLayer, text: &str, earlier: &[(&str, &str)]) -> Result<Resolved, Error> {
    let world = world();
    let earlier: BTreeMap<String, String> =
        earlier.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    resolve(Sources {
        flags,
        file: &file(text)?,
        earlier: (!earlier.is_empty()).then_some(&earlier),
        state_file: None,
        attendance: Attendance::Unattended,
        dialect: engine::Dialect::Spec,
        programs: &world.programs,
    })
}

/// The settings that a journal holds.
fn again(recorded: &BTreeMap<String, String>) -> Result<runner::Settings, Error> {
    from_recorded(recorded, engine::Dialect::Spec, &file(AGENT)?, &world().programs)
}

fn refused(flags: SettingsLayer, text: &str) -> String {
    let error = resolved(flags, text, &[]).unwrap_err();
    assert_eq!(error.code(), crate::exit::USAGE);
    error.render(Format::Text)
}

const AGENT: &str = "[agents.mine]\ncommand = \"agent -p\"\n[agents.second]\ncommand = \"other\"\n";

#[test]
fn a_flag_comes_before_the_file_and_the_file_before_the_run() {
    let text = format!("max_fix_tasks = 7\nmax_task_iterations = 6\nrecovery_mode = true\n{AGENT}");
    let got = resolved(flags(&[("max_fix_tasks", "9"), ("recovery_mode", "false")]), &text, &[]).unwrap();
    assert_eq!(got.settings.rules.limits.fix_tasks_max, 9);
    assert_eq!(got.settings.rules.limits.task_iterations_max, 6);
    assert_eq!(got.settings.rules.recovery, Recovery::Off);
    assert_eq!(got.settings.rules.limits.fix_depth_max, 3);
}

#[test]
fn only_agent_and_recovery_mode_are_inherited() {
    let earlier =
        [("recovery_mode", "true"), ("max_fix_tasks", "9"), ("agent_cmd", "other -x"), ("strict", "true")];
    let got = resolved(SettingsLayer::default(), AGENT, &earlier).unwrap().settings;
    assert_eq!(got.rules.recovery, Recovery::On);
    assert_eq!(got.rules.limits.fix_tasks_max, 3);
    assert_eq!(got.strict, Toggle::Off);
    assert_eq!((got.agent.name.as_str(), got.agent.command.as_str()), ("command", "other -x"));

    let named = [("agent", "mine"), ("agent_cmd", "agent --old")];
    let got = resolved(SettingsLayer::default(), AGENT, &named).unwrap().settings;
    assert_eq!(got.agent.command, "agent -p", "the file's command is newer than the journal's");
    let got = resolved(SettingsLayer::default(), "", &named).unwrap().settings;
    assert_eq!((got.agent.name.as_str(), got.agent.command.as_str()), ("mine", "agent --old"));
    let got = resolved(flags(&[("agent_cmd", "other")]), AGENT, &named).unwrap().settings;
    assert_eq!(got.agent.command, "other");
}

#[test]
fn the_first_agent_that_is_installed_is_the_default() {
    let text = "[agents.b]\ncommand = \"nowhere\"\n[agents.z]\ncommand = \"other\"\n[agents.a]\ncommand = \"agent\"\n";
    assert_eq!(resolved(SettingsLayer::default(), text, &[]).unwrap().settings.agent.name, "z");
    assert_eq!(resolved(flags(&[("agent", "a")]), text, &[]).unwrap().settings.agent.name, "a");
    let chosen = format!("agent = \"a\"\n{text}");
    assert_eq!(resolved(SettingsLayer::default(), &chosen, &[]).unwrap().settings.agent.name, "a");
    assert_eq!(
        resolved(flags(&[("agent_cmd", "other")]), &chosen, &[]).unwrap().settings.agent.command,
        "other"
    );
}

#[test]
fn an_agent_that_cannot_be_had_is_said_before_anything_starts() {
    insta::assert_snapshot!(refused(SettingsLayer::default(), ""), @r"
    error: no agent is set, and none of those that are known is installed
    hint: name a command that reads the prompt on standard input: --agent-cmd 'COMMAND'
    hint: or install one: `tillgreen agents` says how
    ");
    insta::assert_snapshot!(refused(flags(&[("agent", "mime")]), AGENT), @r#"
    error: unknown agent `mime`
      defined in tillgreen.toml: mine, second
      known by name: claude, codex, gemini, opencode, aider, pi, claude-acp, codex-acp, gemini-acp, opencode-acp
    hint: did you mean `mine`?
    hint: define it in tillgreen.toml by `[agents.mime]` and `command = "…"`, or use --agent-cmd 'COMMAND'
    "#);
    insta::assert_snapshot!(refused(flags(&[("agent", "claude")]), ""), @r"
    error: agent `claude` is not installed: `claude` was not found
      its command: claude
    hint: install it: `npm install -g @anthropic-ai/claude-code`, or choose another agent with --agent NAME
    hint: `tillgreen agents` lists what is installed
    ");
    insta::assert_snapshot!(refused(flags(&[("agent_cmd", "nowhere -p")]), AGENT), @r"
    error: the agent is not installed: `nowhere` was not found
      its command: nowhere -p
    hint: install `nowhere`, or choose another agent with --agent NAME or --agent-cmd 'COMMAND'
    hint: `tillgreen agents` lists what is installed
    ");
    insta::assert_snapshot!(refused(SettingsLayer::default(), "[agents.x]\ncommand = \"nowhere\""), @r"
    error: none of the agents in tillgreen.toml is installed (x)
    hint: name a command that reads the prompt on standard input: --agent-cmd 'COMMAND'
    hint: or install one: `tillgreen agents` says how
    ");
}

#[test]
fn who_is_asked_depends_on_who_is_there() {
    let world = world();
    let asked = |attendance, flags| {
        let file = file(AGENT).unwrap();
        let sources = Sources {
            flags,
            file: &file,
            earlier: None,
            state_file: None,
            attendance,
            dialect: engine::Dialect::Spec,
            programs: &world.programs,
        };
        resolve(sources).unwrap().settings.rules.on_escalation
    };
    assert_eq!(asked(Attendance::Attended, SettingsLayer::default()), OnEscalation::Ask);
    assert_eq!(asked(Attendance::Unattended, SettingsLayer::default()), OnEscalation::Pause);
    assert_eq!(asked(Attendance::Attended, flags(&[("on_escalation", "skip")])), OnEscalation::Skip);
    assert_eq!(asked(Attendance::Unattended, flags(&[("on_escalation", "ask")])), OnEscalation::Pause);
}

#[test]
fn what_is_wrong_in_the_file_is_said_with_its_line() {
    let wrong = |text: &str| file(text).unwrap_err().render(Format::Text);
    insta::assert_snapshot!(wrong("recovery_mode = true\nrecover_mode = true\n"), @r"
    error: tillgreen.toml:2: unknown key `recover_mode`
    hint: did you mean `recovery_mode`?
    ");
    insta::assert_snapshot!(wrong("max_fix_tasks = 0"), @"error: tillgreen.toml:1: `max_fix_tasks` must be at least 1");
    insta::assert_snapshot!(wrong("scope = \"wran\""), @"error: tillgreen.toml:1: `scope` must be one of warn, reject, off");
    insta::assert_snapshot!(wrong("attempt_timeout = 30"), @"error: tillgreen.toml:1: `attempt_timeout` needs a unit: write 30s, 30m or 30h");
    insta::assert_snapshot!(wrong("strict = 1"), @"error: tillgreen.toml:1: `strict` must be one of true, false");
    insta::assert_snapshot!(wrong("regression = [\"a\"]"), @"error: tillgreen.toml:1: `regression` cannot be a list");
    insta::assert_snapshot!(wrong("max_time = 1.5"), @"error: tillgreen.toml:1: `max_time` cannot be a number with a fraction");
    insta::assert_snapshot!(wrong("\n\nscope = "), @"error: tillgreen.toml:3: string values must be quoted, expected literal string");
    insta::assert_snapshot!(wrong("agent = \"a\"\nagent_cmd = \"b\""), @"error: tillgreen.toml:2: `agent` and `agent_cmd` are both set: choose one");
    insta::assert_snapshot!(wrong("agents = 3"), @r#"
    error: tillgreen.toml:1: `agents` must be tables
    hint: write `[agents.NAME]` and under it `command = "…"`
    "#);
    insta::assert_snapshot!(wrong("[agents.x]\ncomand = \"a\"\n[agents.command]\ncommand = \"a\"\n[agents.y]\n"), @r#"
    error: tillgreen.toml has 3 problems
      tillgreen.toml:2: unknown key `agents.x.comand`
      tillgreen.toml:3: the agent name `command` is what an agent given by agent_cmd is called; take another name
      tillgreen.toml:5: the agent `y` has no command
    hint: did you mean `command`?
    hint: add `command = "…"`
    "#);
    insta::assert_snapshot!(wrong("[agents.x]\ncommand = \"a\"\nkind = \"claude\""), @"error: tillgreen.toml:2: `agents.x.command` is not for the kind claude: set `program`");
    insta::assert_snapshot!(wrong("agent_cmd = \"  \"\nmax_fix_tasks = 99999999999"), @r"
    error: tillgreen.toml has 2 problems
      tillgreen.toml:1: `agent_cmd` must not be empty
      tillgreen.toml:2: `max_fix_tasks` must be a whole number from 1 to 4294967295
    ");
}

#[test]
fn a_hostile_file_is_an_error_and_no_panic() {
    for text in [
        "\u{0}",
        "=",
        "[",
        "[agents.\"\"]\ncommand=\"a\"",
        "a\u{1b}=1",
        "é = 1",
        "[[agents]]",
        "[agents.x.y]",
    ] {
        assert!(file(text).is_err(), "{text:?}");
    }
}

#[test]
fn nothing_is_both_linked_and_copied() {
    let refused =
        refused(flags(&[("agent_cmd", "a"), ("worktree_link", "nm"), ("worktree_copy", "nm/p")]), "");
    assert!(refused.contains("`nm` is to be linked into work trees, and `nm/p` copied"), "{refused}");
}

#[test]
fn tasks_share_the_project_or_are_isolated() {
    let refused = refused(flags(&[("agent_cmd", "a"), ("isolate", "true")]), "share_tree = true\n");
    assert!(refused.contains("isolate and share_tree"), "{refused}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "every setting is there")]
fn settings_come_back_from_the_journal() {
    let all = [
        ("recovery_mode", "true"),
        ("max_task_iterations", "2"),
        ("max_fix_tasks", "4"),
        ("max_fix_depth", "6"),
        ("max_global_iterations", "77"),
        ("infra_retries", "8"),
        ("on_exhausted", "ask"),
        ("on_escalation", "abort"),
        ("clean_retry", "true"),
        ("keep_going", "true"),
        ("jobs", "7"),
        ("infer_parallel", "true"),
        ("share_tree", "true"),
        ("worktree_link", "node_modules,a/b"),
        ("worktree_copy", ".env"),
        ("worktree_setup", "npm ci && npm run build"),
        ("worktree_dir", "../trees"),
        ("unverifiable", "refuse"),
        ("bookkeeping", "agent"),
        ("scope", "reject"),
        ("strict", "true"),
        ("review", "true"),
        ("verify", "make check"),
        ("optional", "true"),
        ("regression", "make test # all\nof it"),
        ("attempt_timeout", "1h30m"),
        ("no_progress_timeout", "500ms"),
        ("verify_timeout", "90s"),
        ("review_timeout", "1m1s"),
        ("max_time", "2d"),
        ("sandbox", "offline"),
        ("env_block", "AWS_*,NPM_TOKEN"),
        ("env_pass", "NPM_*"),
        ("branch", "work"),
        ("commit_prefix", "SHOP-12"),
        ("allow_dirty", "true"),
        ("model", "m-1"),
        ("qa", "mine"),
        ("fallback", "mine, second"),
        ("resume_sessions", "true"),
        ("report_tools", "false"),
        ("write_back", "false"),
        ("red_before", "off"),
        ("max_cost", "0.25"),
        ("max_tokens", "2M"),
    ];
    let apart: Vec<(&str, &str)> =
        all.iter().map(|entry| if entry.0 == "share_tree" { ("isolate", "true") } else { *entry }).collect();
    for (all, agent) in [(&all[..], ("agent", "mine")), (&apart, ("agent_cmd", "agent --model 'a=b'"))] {
        let mut layer = flags(all);
        layer = layer.or(flags(&[agent]));
        let before = resolved(layer, AGENT, &[]).unwrap().settings;
        let after = again(&before.launch).unwrap();
        assert_eq!(format!("{before:?}"), format!("{after:?}"));
        assert_ne!(format!("{:?}", before.rules), format!("{:?}", engine::Rules::default()));
    }
    let before = resolved(flags(&[("agent", "mine")]), AGENT, &[]).unwrap().settings;
    assert_eq!(format!("{before:?}"), format!("{:?}", again(&before.launch).unwrap()));
    let unset = [
        "model",
        "executor",
        "qa",
        "reviewer",
        "fallback",
        "verify",
        "optional",
        "prove_budget",
        "max_cost",
        "max_tokens",
        "worktree_link",
        "worktree_copy",
        "worktree_setup",
        "worktree_dir",
        "env_block",
        "env_pass",
        "pr",
        "pr_base",
        "pr_title",
    ];
    let in_journal = before.launch.len()
        + ["max_global_iterations", "regression", "max_time", "branch", "commit_prefix"].len()
        + unset.len();
    // What is to be masked is written nowhere.
    assert_eq!(
        in_journal + ["fresh", "dry_run", "mask"].len(),
        SettingsLayer::keys().len(),
        "every setting is kept"
    );
}

#[test]
fn a_journal_of_a_newer_program_is_read_as_far_as_it_is_understood() {
    let recorded =
        [("agent_cmd", "agent"), ("wings", "4")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert!(again(&recorded.into()).is_ok());
    assert!(again(&BTreeMap::new()).is_err(), "no agent");
    let wrong =
        [("agent_cmd", "agent"), ("scope", "x")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert!(again(&wrong.into()).is_err());
    let gone = [("agent_cmd".to_owned(), "nowhere -p".to_owned())];
    assert!(again(&gone.into()).is_err(), "not installed");
}

#[test]
fn a_table_describes_an_agent() {
    let agents = |text: &str| file(text).unwrap().agents;
    let text = "[agents.claude]\nmodel = \"m\"\npermission = \"full\"\nargs = [\"--x\"]\nenv = { A = \"1\" }\n\
                system_prompt = \"be brief\"\n[agents.fast]\nkind = \"codex\"\nprogram = \"/opt/codex\"\n\
                [agents.old]\ncommand = \"claude -p\"\n[agents.talk]\nkind = \"acp\"\nprogram = \"talker\"\n\
                [agents.lines]\nkind = \"stream\"\ncommand = \"x\"\ndone = \"a=b\"\ntext = \"c.d\"\n";
    let [claude, fast, old, talk, lines] = agents(text).try_into().expect("there are five");
    assert_eq!((claude.kind, claude.command.as_str()), (AgentKind::Claude, "claude"));
    assert_eq!((claude.model.as_deref(), claude.permission), (Some("m"), Permission::Full));
    assert_eq!((claude.args, claude.env), (vec!["--x".to_owned()], vec![("A".to_owned(), "1".to_owned())]));
    assert_eq!(
        (fast.kind, fast.command.as_str(), fast.permission),
        (AgentKind::Codex, "/opt/codex", Permission::Workspace)
    );
    assert_eq!((old.kind, old.command.as_str()), (AgentKind::Command, "claude -p"));
    assert_eq!((talk.kind, talk.command.as_str()), (AgentKind::Acp, "talker"));
    assert!(matches!(lines.kind, AgentKind::Stream(format) if format.text == "c.d"));
}

#[test]
fn what_is_wrong_with_a_table_is_said_with_its_line() {
    let wrong = |text: &str| file(text).unwrap_err().render(Format::Text);
    let lines = [
        wrong("[agents.x]\nkind = \"clade\""),
        wrong("[agents.x]\nkind = \"codex\"\ncommand = \"codex exec\""),
        wrong("[agents.x]\ncommand = \"a\"\nprogram = \"b\""),
        wrong("[agents.x]\ncommand = \"a\"\nargs = [\"b\"]"),
        wrong("[agents.claude]\npermission = \"all\""),
        wrong("[agents.claude]\nargs = \"-x\""),
        wrong("[agents.claude]\nenv = { A = 1 }"),
        wrong("[agents.claude]\ndone = \"a=b\""),
        wrong("[agents.x]\nkind = \"acp\""),
        wrong("[agents.x]\nkind = \"stream\"\ncommand = \"a\"\ntext = \"t\"\ndone = \"result\""),
        wrong("[agents.x]\nkind = \"stream\"\ncommand = \"a\"\ntext = \"t..u\"\ndone = \"a=b\""),
        wrong("[agents.x]\nkind = \"stream\"\ncommand = \"a\""),
        wrong("fallback = [1]"),
        wrong("fallback = [\"a\", \"\"]"),
        wrong("max_cost = -1.0"),
        wrong("max_tokens = \"many\""),
    ];
    insta::assert_snapshot!(lines.concat(), @r#"
    error: tillgreen.toml:2: `agents.x.kind` must be one of claude, codex, gemini, opencode, aider, pi, acp, stream, command
    error: tillgreen.toml:3: `agents.x.command` is not for the kind codex: set `program`
    error: tillgreen.toml:3: `agents.x.program` is not for the kind command: set `command`
    error: tillgreen.toml:3: `agents.x.args` is not for a command: write them into it
    error: tillgreen.toml:2: `agents.claude.permission` must be one of read-only, workspace, full
    error: tillgreen.toml:2: `agents.claude.args` must be a list of texts
    error: tillgreen.toml:2: `agents.claude.env` must be a table of names and texts
    error: tillgreen.toml:2: `agents.claude.done` is only for the kind stream
    error: tillgreen.toml:1: the agent `x` has no program
    hint: add `program = "…"`
    error: tillgreen.toml:5: `agents.x.done` must look like type=result
    error: tillgreen.toml:4: `agents.x.text` must be keys joined by dots
    error: tillgreen.toml:1: the agent `x` has no done
    hint: add `done = "…"`
    error: tillgreen.toml:1: `fallback` cannot be a list
    error: tillgreen.toml:1: `fallback` must be names, separated by commas
    error: tillgreen.toml:1: `max_cost` must be more than 0 and at most 1000000 dollars
    error: tillgreen.toml:1: `max_tokens` must be a whole number from 1, like 500000, 500k or 2M
    "#);
}

#[test]
fn roles_name_agents_and_who_takes_over() {
    let text = format!("qa = \"second\"\nfallback = [\"second\"]\n{AGENT}");
    let got = resolved(SettingsLayer::default(), &text, &[]).unwrap().settings;
    assert_eq!(got.rules.agents.executor, ["mine", "second"]);
    assert_eq!(got.rules.agents.qa, ["second"]);
    assert_eq!(got.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["mine", "second"]);
    let alone = resolved(SettingsLayer::default(), AGENT, &[]).unwrap().settings;
    assert!(alone.rules.agents.is_empty() && alone.agents.is_empty());
    let worker =
        resolved(SettingsLayer::default(), &format!("executor = \"second\"\n{AGENT}"), &[]).unwrap().settings;
    assert_eq!(worker.rules.agents.qa, ["second"], "who judges is of the worker's kind");
    let unknown = refused(flags(&[("reviewer", "nobody")]), AGENT);
    assert!(unknown.starts_with("error: unknown agent `nobody`"), "{unknown}");
    let missing = refused(flags(&[("fallback", "codex")]), AGENT);
    assert!(missing.contains("install it: `npm install -g @openai/codex`"), "{missing}");
    let model = resolved(flags(&[("model", "m")]), AGENT, &[]).unwrap().settings;
    assert_eq!(model.agent.model.as_deref(), Some("m"));
}

#[test]
fn the_pull_request_has_a_table_of_its_own() {
    let text =
        "pr = true\n[pull_request]\nlook_every = \"30s\"\nreply = true\nmerge = \"squash\"\nbase = \"dev\"\n";
    let file = FileSettings::parse(std::path::Path::new("tillgreen.toml"), text).unwrap();
    let layer = &file.layer.pull_request;
    let rules = layer.rules();
    assert_eq!(rules.look_every, std::time::Duration::from_secs(30));
    assert_eq!((rules.reply, rules.merge), (engine::Toggle::On, Some(engine::MergeMethod::Squash)));
    let chosen = layer.settings();
    assert_eq!((chosen.wanted, chosen.base.as_deref()), (Some(engine::Toggle::On), Some("dev")));
    for (text, expected) in [
        ("[pull_request]\nlok_every = \"3m\"\n", "tillgreen.toml:2: unknown key `pr_lok_every`"),
        ("[pull_request]\nbase = \"-x\"\n", "`pr_base` must be the name of a branch"),
        ("pull_request = true\n", "`pull_request` must be a table"),
        ("merge = \"maybe\"\n", "`merge` must be one of false, merge, squash, rebase"),
    ] {
        let error = FileSettings::parse(std::path::Path::new("tillgreen.toml"), text).unwrap_err();
        let shown = error.render(crate::args::Format::Text);
        assert!(shown.contains(expected), "{shown}");
    }
}
