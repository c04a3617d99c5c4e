//! Agents that are known by name, without any setting.

use runner::{Agent, AgentKind};

use super::programs::Programs;

/// An agent that is known by name.
#[derive(Clone, Debug)]
pub(crate) struct KnownAgent {
    /// Its name.
    pub(crate) name: &'static str,
    /// Which language it speaks.
    pub(crate) kind: AgentKind,
    /// The program.
    pub(crate) program: &'static str,
    /// Arguments that the program needs to speak that language.
    pub(crate) args: &'static [&'static str],
    /// How it is installed.
    pub(crate) install: &'static str,
}

const CLAUDE: &str = "npm install -g @anthropic-ai/claude-code";
const CODEX: &str = "npm install -g @openai/codex";
const GEMINI: &str = "npm install -g @google/gemini-cli";
const OPENCODE: &str = "npm install -g opencode-ai";
const AIDER: &str = "pipx install aider-chat";
const PI: &str = "npm install -g @mariozechner/pi-coding-agent";
const CLAUDE_ACP: &str = "npm install -g @agentclientprotocol/claude-agent-acp";
const CODEX_ACP: &str = "npm install -g @agentclientprotocol/codex-acp";

const fn known(
    name: &'static str,
    kind: AgentKind,
    program: &'static str,
    args: &'static [&'static str],
    install: &'static str,
) -> KnownAgent {
    KnownAgent { name, kind, program, args, install }
}

/// The agents that are known, in the order in which the first that is installed is taken.
pub(crate) const KNOWN_AGENTS: &[KnownAgent] = &[
    known("claude", AgentKind::Claude, "claude", &[], CLAUDE),
    known("codex", AgentKind::Codex, "codex", &[], CODEX),
    known("gemini", AgentKind::Gemini, "gemini", &[], GEMINI),
    known("opencode", AgentKind::Opencode, "opencode", &[], OPENCODE),
    known("aider", AgentKind::Aider, "aider", &[], AIDER),
    known("pi", AgentKind::Pi, "pi", &[], PI),
    known("claude-acp", AgentKind::Acp, "claude-agent-acp", &[], CLAUDE_ACP),
    known("codex-acp", AgentKind::Acp, "codex-acp", &[], CODEX_ACP),
    known("gemini-acp", AgentKind::Acp, "gemini", &["--acp"], GEMINI),
    known("opencode-acp", AgentKind::Acp, "opencode", &["acp"], OPENCODE),
];

impl KnownAgent {
    /// The agent of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KNOWN_AGENTS.iter().find(|known| known.name == name)
    }

    /// The agent as it is without any setting.
    pub(crate) fn agent(&self) -> Agent {
        Agent {
            args: self.args.iter().map(|&argument| argument.to_owned()).collect(),
            ..Agent::new(self.name, self.kind.clone(), self.program)
        }
    }

    /// True if its program is installed.
    pub(crate) fn is_installed(&self, programs: &Programs) -> bool {
        programs.find(self.program).is_some()
    }
}

/// How a program is installed, if it is a known agent's.
pub(crate) fn how_to_install(program: &str) -> Option<&'static str> {
    KNOWN_AGENTS.iter().find(|known| known.program == program).map(|known| known.install)
}
