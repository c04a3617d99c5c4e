//! The server through which an agent can report, as agents have to be told of it.

use std::path::PathBuf;

use serde_json::{Value, json};

/// What the server is called.
pub(crate) const MCP_NAME: &str = "tillgreen";

/// How the server is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpServer {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl McpServer {
    /// The program as text.
    pub(crate) fn command(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// The way most agents write it: `{"tillgreen": {"command": …, "args": […]}}`.
    pub(crate) fn table(&self) -> Value {
        json!({ MCP_NAME: { "command": self.command(), "args": self.args } })
    }
}
