//! Launches of agents.

use std::path::Path;

use engine::{Session, Usage};

use crate::agent::kind::AgentKind;
use crate::agent::launch::{Duty, Input, Launch, McpServer, Order, Permission};
use crate::process::Program;
use crate::settings::Agent;

fn order<'a>(resume: Option<&'a Session>, mcp: Option<&'a McpServer>) -> Order<'a> {
    Order {
        duty: Duty::Work,
        prompt: "do it",
        cwd: Path::new("/work"),
        dir: Path::new("/dir"),
        resume,
        mcp,
        budget_micros: None,
    }
}

/// A launch in a line for people to read.
fn shown(launch: &Launch) -> String {
    let program = match &launch.program {
        Program::Argv(argv) => {
            argv.iter().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        }
        Program::Shell(command) | Program::Bash(command) => format!("sh: {command}"),
    };
    let env: Vec<String> = launch
        .env
        .iter()
        .map(|(name, value)| format!("{}={} ", name.to_string_lossy(), value.to_string_lossy()))
        .collect();
    let input = match &launch.input {
        Input::Nothing => "< /dev/null".to_owned(),
        Input::Text(text) => format!("<<< {text:?}"),
        Input::Dialogue => "<> dialogue".to_owned(),
    };
    format!("{}{program} {input}", env.concat())
}

fn agent(kind: AgentKind) -> Agent {
    let command = kind.word();
    Agent {
        model: Some("m1".to_owned()),
        system_prompt: Some("be brief".to_owned()),
        args: vec!["--more".to_owned()],
        env: vec![("KEY".to_owned(), "value".to_owned())],
        ..Agent::new(command, kind, command)
    }
}

const KINDS: [AgentKind; 8] = [
    AgentKind::Claude,
    AgentKind::Codex,
    AgentKind::Gemini,
    AgentKind::Opencode,
    AgentKind::Aider,
    AgentKind::Pi,
    AgentKind::Acp,
    AgentKind::Command,
];

#[test]
fn with_everything_set() {
    let session = Session { id: "s-1".to_owned(), total: Usage::default() };
    let lines: Vec<String> = KINDS
        .into_iter()
        .map(|kind| shown(&kind.launch(&agent(kind.clone()), &order(Some(&session), None))))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    KEY=value claude -p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash Edit Write Read Glob Grep --model m1 --append-system-prompt be brief --resume s-1 --more <<< "do it"
    KEY=value codex exec --json --skip-git-repo-check -s workspace-write -m m1 -c developer_instructions="be brief" --more resume s-1 - <<< "do it"
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true KEY=value gemini -o stream-json --yolo -m m1 --resume s-1 --more <<< "be brief\n\ndo it"
    KEY=value opencode run --format json --title tillgreen -m m1 -s s-1 --more <<< "be brief\n\ndo it"
    KEY=value aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --model m1 --message-file /dir/aider.message.md --more < /dev/null
    KEY=value pi -p --mode json --model m1 --append-system-prompt be brief --session s-1 --more <<< "do it"
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true KEY=value acp --more <> dialogue
    TILLGREEN_MODEL=m1 KEY=value sh: command <<< "be brief\n\ndo it"
    "#);
}

#[test]
fn by_permission() {
    let mut lines = Vec::new();
    for kind in KINDS {
        for permission in [Permission::ReadOnly, Permission::Workspace, Permission::Full] {
            let agent = Agent { permission, ..Agent::new("a", kind.clone(), kind.word()) };
            lines.push(format!(
                "{}\n    {}",
                shown(&kind.launch(&agent, &order(None, None))),
                kind.allows(permission)
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    claude -p --output-format stream-json --verbose --permission-mode default --tools Read,Glob,Grep --strict-mcp-config --allowedTools Read Glob Grep <<< "do it"
        may only read
    claude -p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash Edit Write Read Glob Grep <<< "do it"
        may edit files in its folder and run any command, without being asked
    claude -p --output-format stream-json --verbose --dangerously-skip-permissions <<< "do it"
        may do anything without being asked
    codex exec --json --skip-git-repo-check -s read-only - <<< "do it"
        may only read
    codex exec --json --skip-git-repo-check -s workspace-write - <<< "do it"
        may edit files and run commands within its own sandbox: it writes in its folder and in temporary folders
    codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox - <<< "do it"
        may do anything without being asked
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true gemini -o stream-json <<< "do it"
        may only read
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true gemini -o stream-json --yolo <<< "do it"
        may use all of its tools without being asked: it knows no narrower leave to write
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true gemini -o stream-json --yolo <<< "do it"
        may do anything without being asked
    OPENCODE_CONFIG_CONTENT={"permission":{"edit":"deny","bash":"deny"}} opencode run --format json --title tillgreen <<< "do it"
        may only read
    opencode run --format json --title tillgreen <<< "do it"
        may do what its own configuration allows
    opencode run --format json --title tillgreen --auto <<< "do it"
        may do anything without being asked
    aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --chat-mode ask --message-file /dir/aider.message.md < /dev/null
        may only read
    aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --message-file /dir/aider.message.md < /dev/null
        may edit files; it runs no commands
    aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --message-file /dir/aider.message.md < /dev/null
        may do anything without being asked
    pi -p --mode json --tools read,grep,find,ls <<< "do it"
        may only read
    pi -p --mode json <<< "do it"
        may use all of its tools without being asked: it knows no narrower leave to write
    pi -p --mode json <<< "do it"
        may do anything without being asked
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
        what it asks for is refused unless it only reads
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
        each of its tools is allowed once when it asks
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
        may do anything without being asked
    sh: command <<< "do it"
        may do whatever its command allows
    sh: command <<< "do it"
        may do whatever its command allows
    sh: command <<< "do it"
        may do whatever its command allows
    "#);
}

#[test]
fn judges_may_run_commands_and_do_not_edit() {
    let order = Order { duty: Duty::Judge, ..order(None, None) };
    let permissions = [Permission::Workspace, Permission::Full];
    let cases = KINDS.into_iter().flat_map(|kind| permissions.map(|permission| (kind.clone(), permission)));
    let lines: Vec<String> = cases
        .map(|(kind, permission)| {
            let agent = Agent { permission, ..Agent::new("a", kind.clone(), kind.word()) };
            shown(&kind.launch(&agent, &order))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    claude -p --output-format stream-json --verbose --disallowedTools Edit MultiEdit Write NotebookEdit --permission-mode default --allowedTools Bash Read Glob Grep <<< "do it"
    claude -p --output-format stream-json --verbose --disallowedTools Edit MultiEdit Write NotebookEdit --dangerously-skip-permissions <<< "do it"
    codex exec --json --skip-git-repo-check -s read-only - <<< "do it"
    codex exec --json --skip-git-repo-check -s read-only - <<< "do it"
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true gemini -o stream-json --yolo <<< "do it"
    GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true gemini -o stream-json --yolo <<< "do it"
    OPENCODE_CONFIG_CONTENT={"permission":{"edit":"deny"}} opencode run --format json --title tillgreen <<< "do it"
    OPENCODE_CONFIG_CONTENT={"permission":{"edit":"deny"}} opencode run --format json --title tillgreen --auto <<< "do it"
    aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --chat-mode ask --message-file /dir/aider.message.md < /dev/null
    aider --yes-always --no-auto-commits --no-check-update --no-show-release-notes --no-gitignore --no-show-model-warnings --no-pretty --no-fancy-input --analytics-disable --no-detect-urls --no-suggest-shell-commands --chat-history-file /dir/aider.chat.history.md --input-history-file /dir/aider.input.history --chat-mode ask --message-file /dir/aider.message.md < /dev/null
    pi -p --mode json --tools read,bash,grep,find,ls <<< "do it"
    pi -p --mode json --tools read,bash,grep,find,ls <<< "do it"
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
    sh: command <<< "do it"
    sh: command <<< "do it"
    "#);
}

#[test]
fn with_a_server_to_report_through() {
    let server =
        McpServer { program: "/bin/tillgreen".into(), args: vec!["mcp".to_owned(), "it's".to_owned()] };
    let lines: Vec<String> = KINDS
        .into_iter()
        .filter(|kind| kind.support().mcp)
        .map(|kind| {
            let agent = Agent::new("a", kind.clone(), kind.word());
            let launch = kind.launch(&agent, &order(None, Some(&server)));
            let files: Vec<String> =
                launch.files.iter().map(|(path, text)| format!("\n    {}: {text}", path.display())).collect();
            format!("{}{}", shown(&launch), files.concat())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    claude -p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash Edit Write Read Glob Grep mcp__tillgreen --mcp-config {"mcpServers":{"tillgreen":{"command":"/bin/tillgreen","args":["mcp","it's"]}}} <<< "do it"
    codex exec --json --skip-git-repo-check -s workspace-write -c mcp_servers.tillgreen.command="/bin/tillgreen" -c mcp_servers.tillgreen.args=["mcp","it's"] - <<< "do it"
    OPENCODE_CONFIG_CONTENT={"mcp":{"tillgreen":{"type":"local","command":["/bin/tillgreen","mcp","it's"],"enabled":true}}} opencode run --format json --title tillgreen <<< "do it"
    GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true acp <> dialogue
    "#);
}

#[test]
fn a_server_is_added_to_settings_that_are_there() {
    let server = McpServer { program: "/bin/t".into(), args: Vec::new() };
    let config = r#"{"model":"a/b","mcp":{"other":{"type":"remote"}}}"#;
    let env = vec![("OPENCODE_CONFIG_CONTENT".to_owned(), config.to_owned())];
    let agent = Agent { env, ..Agent::new("o", AgentKind::Opencode, "opencode") };
    let launch = AgentKind::Opencode.launch(&agent, &order(None, Some(&server)));
    let set: Vec<_> = launch.env.iter().filter(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").collect();
    assert_eq!(set.len(), 1, "it is set once");
    let value: serde_json::Value = serde_json::from_str(&set[0].1.to_string_lossy()).unwrap();
    assert_eq!(value["model"], "a/b");
    assert_eq!(value["mcp"]["other"]["type"], "remote");
    assert_eq!(value["mcp"]["tillgreen"]["command"][0], "/bin/t");
}

#[test]
fn a_command_is_told_which_model_to_use() {
    for kind in [AgentKind::Command, AgentKind::Stream(Box::default())] {
        let launch = kind.launch(&agent(kind.clone()), &order(None, None));
        assert!(shown(&launch).contains("TILLGREEN_MODEL=m1 "), "{}", shown(&launch));
        let unset = kind.launch(&Agent::new("a", kind.clone(), "a"), &order(None, None));
        assert!(!shown(&unset).contains("TILLGREEN_MODEL"), "{}", shown(&unset));
    }
}

#[test]
fn claude_is_told_what_is_left_to_spend() {
    let order = Order { budget_micros: Some(1_250_000), ..order(None, None) };
    let launch = AgentKind::Claude.launch(&agent(AgentKind::Claude), &order);
    let args = format!("{launch:?}");
    assert!(args.contains("--max-budget-usd") && args.contains("1.250000"), "{args}");
}
