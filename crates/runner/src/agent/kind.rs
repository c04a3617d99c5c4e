//! The kinds of agents, and what each of them can do.

use crate::agent::launch::{Launch, Order, Permission};
use crate::agent::stream::StreamFormat;
use crate::agent::{acp, aider, claude, codex, command, gemini, opencode, pi, stream};
use crate::settings::Agent;

/// The language that an agent speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// aider.
    Aider,
    /// pi.
    Pi,
    /// Anything that speaks the Agent Client Protocol.
    Acp,
    /// A command with a stream of JSON lines.
    Stream(Box<StreamFormat>),
    /// A command.
    Command,
}

/// The abilities of an agent that the program can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Its doings while it works.
    pub stream: bool,
    /// A session that can be taken up again.
    pub session: bool,
    /// The tokens that it used.
    pub usage: bool,
    /// Its cost.
    pub cost: bool,
    /// Being asked to stop in its own language, besides a signal.
    pub cancel: bool,
    /// A server through which it can report.
    pub mcp: bool,
}

impl AgentKind {
    /// The word for it in settings.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Pi => "pi",
            Self::Acp => "acp",
            Self::Stream(_) => "stream",
            Self::Command => "command",
        }
    }

    /// The abilities that the program can use.
    pub fn support(&self) -> Support {
        let nothing =
            Support { stream: false, session: false, usage: false, cost: false, cancel: false, mcp: false };
        let headless = Support { stream: true, session: true, usage: true, ..nothing };
        match self {
            Self::Claude | Self::Opencode => Support { cost: true, mcp: true, ..headless },
            Self::Codex => Support { mcp: true, ..headless },
            Self::Gemini => headless,
            Self::Pi => Support { cost: true, ..headless },
            Self::Aider => Support { usage: true, cost: true, ..nothing },
            Self::Acp => Support { cost: true, cancel: true, mcp: true, ..headless },
            Self::Stream(format) => Support {
                stream: true,
                usage: format.input_tokens.is_some() || format.output_tokens.is_some(),
                cost: format.cost.is_some(),
                ..nothing
            },
            Self::Command => nothing,
        }
    }

    /// The abilities it lacks that people might count on, in words.
    pub fn caveats(&self) -> Vec<&'static str> {
        let support = self.support();
        let no_cost = (!support.cost).then_some("does not tell what it costs: --max-cost does not hold it");
        let no_tokens =
            (!support.usage).then_some("does not tell what it uses: --max-tokens does not hold it");
        let no_tools = match self {
            Self::Gemini => {
                Some("takes report tools from settings of its own only, so it gets none; gemini-acp does")
            }
            Self::Aider | Self::Pi => Some("takes no report tools"),
            Self::Claude | Self::Codex | Self::Opencode | Self::Acp | Self::Stream(_) | Self::Command => None,
        };
        let maybe =
            (*self == Self::Acp).then_some("need not tell what it uses and costs: a run says if it does not");
        no_cost.into_iter().chain(no_tokens).chain(no_tools).chain(maybe).collect()
    }

    /// The meaning of a permission with this agent, in words for the person who starts it.
    pub fn allows(&self, permission: Permission) -> &'static str {
        match (self, permission) {
            (Self::Command | Self::Stream(_), _) => "may do whatever its command allows",
            (Self::Pi | Self::Aider | Self::Gemini, Permission::Full)
            | (Self::Claude | Self::Codex | Self::Opencode | Self::Acp, Permission::Full) => {
                "may do anything without being asked"
            }
            (Self::Claude, Permission::Workspace) => {
                "may edit files in its folder and run any command, without being asked"
            }
            (Self::Codex, Permission::Workspace) => {
                "may edit files and run commands within its own sandbox: it writes in its folder and in temporary folders"
            }
            (Self::Gemini | Self::Pi, Permission::Workspace) => {
                "may use all of its tools without being asked: it knows no narrower leave to write"
            }
            (Self::Opencode, Permission::Workspace) => "may do what its own configuration allows",
            (Self::Aider, Permission::Workspace) => "may edit files; it runs no commands",
            (Self::Acp, Permission::Workspace) => "each of its tools is allowed once when it asks",
            (Self::Acp, Permission::ReadOnly) => "what it asks for is refused unless it only reads",
            (
                Self::Claude | Self::Codex | Self::Gemini | Self::Opencode | Self::Aider | Self::Pi,
                Permission::ReadOnly,
            ) => "may only read",
        }
    }

    /// The folders and files that the agent with a program keeps its own things in, from the user's home.
    pub(crate) fn own_folders(&self, program: &str) -> &'static [&'static str] {
        match self {
            Self::Claude => &[".claude", ".claude.json"],
            Self::Codex => &[".codex"],
            Self::Gemini => &[".gemini"],
            Self::Opencode => {
                &[".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode"]
            }
            Self::Aider => &[".aider"],
            Self::Pi => &[".pi"],
            Self::Acp => {
                let spoken = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];
                let one = spoken.iter().find(|kind| program.contains(kind.word()));
                one.map_or(&[], |kind| kind.own_folders(program))
            }
            Self::Stream(_) | Self::Command => &[],
        }
    }

    /// The command that starts the agent.
    pub(crate) fn launch(&self, agent: &Agent, order: &Order<'_>) -> Launch {
        let mut launch = match self {
            Self::Claude => claude::launch(agent, order),
            Self::Codex => codex::launch(agent, order),
            Self::Gemini => gemini::launch(agent, order),
            Self::Opencode => opencode::launch(agent, order),
            Self::Aider => aider::launch(agent, order),
            Self::Pi => pi::launch(agent, order),
            Self::Acp => acp::launch(agent),
            Self::Stream(_) => stream::launch(agent, order),
            Self::Command => command::launch(agent, order),
        };
        // What was set by hand comes first, unless it went into what the agent is given anyway.
        let set = agent.env.iter().filter(|(name, _)| !launch.env.iter().any(|(other, _)| *other == **name));
        let set: Vec<_> = set.map(|(name, value)| (name.into(), value.into())).collect();
        launch.env.extend(set);
        launch
    }
}
