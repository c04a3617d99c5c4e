//! One run of a real agent against a scripted model, in a scratch project with a fresh home.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use rehearsal::{ClientConfig, ModelServer, Recorded, Scenario};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{RealAgent, Repository, leave_network};

/// The agents that work without a person, and how each is asked to.
pub(super) const HEADLESS: [&str; 3] = ["claude", "codex", "gemini"];

/// What came of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    /// The lines of its output that are JSON.
    pub(super) stream: Vec<Value>,
    pub(super) stderr: String,
    pub(super) requests: Vec<Recorded>,
    pub(super) repository: Repository,
    _folder: TempDir,
}

impl Ran {
    /// Whether its last event and its exit code both say that all is well.
    pub(super) fn is_success(&self) -> bool {
        let Some(last) = self.stream.last() else { return false };
        let is_fine = match last["type"].as_str() {
            Some("result") => last["is_error"] == false || last["status"] == "success",
            Some("turn.completed") => true,
            _ => false,
        };
        is_fine && self.code == Some(0)
    }
}

/// Runs an agent on a prompt; none where it is not installed.
pub(super) fn run(name: &str, scenario: &Scenario) -> Option<Ran> {
    let agent = RealAgent::find(name)?;
    leave_network();
    let server = ModelServer::start(scenario.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::init(&folder.path().join("project"), &folder.path().join("home"));
    let config = ClientConfig::at(&server.base_url());
    for (file, text) in &config.files {
        write(&repository.home().join(file), text);
    }
    let mut command = Command::new(&agent.program);
    command.args(arguments(name)).current_dir(repository.root()).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TMPDIR", folder.path());
    command.envs(repository.environment()).envs(config.env);
    let output = command.output().unwrap();
    Some(ran(&output, server.requests(), repository, folder))
}

fn ran(output: &Output, requests: Vec<Recorded>, repository: Repository, folder: TempDir) -> Ran {
    let text = String::from_utf8_lossy(&output.stdout);
    let stream = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ran { code: output.status.code(), stream, stderr, requests, repository, _folder: folder }
}

fn arguments(name: &str) -> &'static [&'static str] {
    match name {
        "claude" => {
            &["-p", "Do it", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
        }
        "codex" => &["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "Do it"],
        "gemini" => &["-p", "Do it", "-o", "stream-json", "--yolo", "--skip-trust"],
        _ => panic!("{name} is not known here"),
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
