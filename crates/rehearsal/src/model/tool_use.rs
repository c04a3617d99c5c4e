//! From what a call does to the tool that an agent declares for it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::request::{Tool, ToolForm};
use super::scenario::Call;

/// Names that agents give to their tools, the surest first.
const SHELL: [&str; 7] =
    ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"];
const WRITE: [&str; 4] = ["Write", "write", "write_file", "create_file"];
const READ: [&str; 3] = ["Read", "read", "read_file"];

/// Names of the parts of their input.
const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];
const PATH_KEYS: [&str; 4] = ["file_path", "filePath", "path", "absolute_path"];
const CONTENT_KEYS: [&str; 4] = ["content", "contents", "file_text", "text"];

/// Words before the folder that an agent works in, in the prompts that are known, as JSON carries it, the surest first.
const BEFORE_FOLDER: [&str; 5] = [
    "Primary working directory: ",
    "Working directory: ",
    "<cwd>",
    r"Workspace Directories:**\n  - ",
    "working directory is ",
];
/// Characters that end it.
const AFTER_FOLDER: [char; 8] = [' ', '\\', '<', '"', '\n', '\'', '`', ','];

/// How long a command may take where a tool insists on a figure, in milliseconds.
const TIME_MAX: u32 = 600_000;

/// A call of a tool that an agent declared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolUse {
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) form: ToolForm,
}

/// An agent declared no tool that does what the scenario wants.
#[derive(Debug, thiserror::Error)]
#[error("the request declares no tool for {wanted}; it has: {declared}")]
pub(super) struct NoSuchTool {
    wanted: &'static str,
    declared: String,
}

/// The tools of a request and the folder that its agent says it works in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toolbox<'a> {
    pub(super) tools: &'a BTreeMap<String, Tool>,
    pub(super) folder: Option<&'a str>,
}

impl Toolbox<'_> {
    /// The declared tool's call that does what is wanted.
    pub(super) fn resolve(&self, call: &Call) -> Result<ToolUse, NoSuchTool> {
        match call {
            Call::Named { name, input } => Ok(self.named(name, input)),
            Call::Shell(command) => self.shell(command).ok_or_else(|| self.lacks("a shell command")),
            Call::Write { path, content } => {
                self.write(path, content).ok_or_else(|| self.lacks("writing a file"))
            }
            Call::Read(path) => self.read(path).ok_or_else(|| self.lacks("reading a file")),
        }
    }

    /// Agents put names of their own before those of a server's tools.
    fn named(&self, name: &str, input: &Value) -> ToolUse {
        let bare = name.rsplit("__").next().unwrap_or(name);
        let behind = || self.tools.iter().find(|(declared, _)| declared.ends_with(bare));
        let found = self.tools.get_key_value(name).or_else(behind);
        let form = found.map_or(ToolForm::Function, |(_, tool)| tool.form);
        let name = found.map_or(name, |(declared, _)| declared);
        ToolUse { name: name.to_owned(), input: input.clone(), form }
    }

    fn shell(&self, command: &str) -> Option<ToolUse> {
        let (name, tool) = self.declared(&SHELL)?;
        let key = key_of(tool, &COMMAND_KEYS);
        let is_list = tool.schema["properties"][key]["type"] == "array";
        let command = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
        Some(self.filled(name, tool, [(key, command)]))
    }

    /// Agents without a tool for it write by their shell, and so do those that insist on an absolute path where
    /// the folder is not known.
    fn write(&self, path: &str, content: &str) -> Option<ToolUse> {
        if let (Some((name, tool)), Some(path)) = (self.declared(&WRITE), self.absolute(path)) {
            let parts =
                [(key_of(tool, &PATH_KEYS), json!(path)), (key_of(tool, &CONTENT_KEYS), json!(content))];
            return Some(self.filled(name, tool, parts));
        }
        let (path, content) = (quoted(path), quoted(content));
        self.shell(&format!("mkdir -p \"$(dirname {path})\" && printf %s {content} > {path}"))
    }

    fn read(&self, path: &str) -> Option<ToolUse> {
        if let (Some((name, tool)), Some(path)) = (self.declared(&READ), self.absolute(path)) {
            return Some(self.filled(name, tool, [(key_of(tool, &PATH_KEYS), json!(path))]));
        }
        self.shell(&format!("cat {}", quoted(path)))
    }

    fn declared(&self, names: &[&str]) -> Option<(&String, &Tool)> {
        names.iter().find_map(|name| self.tools.get_key_value(*name))
    }

    fn absolute(&self, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return Some(path.to_owned());
        }
        self.folder.map(|folder| format!("{}/{path}", folder.trim_end_matches('/')))
    }

    /// A call with its parts, and with something in every other part that the tool insists on.
    fn filled<'k>(
        &self,
        name: &str,
        tool: &Tool,
        parts: impl IntoIterator<Item = (&'k str, Value)>,
    ) -> ToolUse {
        let mut input: Map<String, Value> =
            parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let required = tool.schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        for key in required.iter().filter_map(Value::as_str) {
            if !input.contains_key(key) {
                input.insert(key.to_owned(), self.filler(key, &tool.schema["properties"][key]));
            }
        }
        ToolUse { name: name.to_owned(), input: Value::Object(input), form: tool.form }
    }

    fn filler(&self, key: &str, schema: &Value) -> Value {
        let kind = schema["type"].as_str().unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "boolean" => json!(false),
            "number" | "integer" => json!(TIME_MAX),
            "array" => json!([]),
            "object" => json!({}),
            _ if key == "workdir" => json!(self.folder.unwrap_or(".")),
            _ => json!("rehearsal"),
        }
    }

    fn lacks(&self, wanted: &'static str) -> NoSuchTool {
        let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        NoSuchTool { wanted, declared: names.join(", ") }
    }
}

/// The name that a tool has for a part of its input.
fn key_of<'k>(tool: &Tool, names: &[&'k str]) -> &'k str {
    let known = tool.schema["properties"].as_object();
    let is_known = |name: &&&str| known.is_some_and(|known| known.contains_key(**name));
    names.iter().find(is_known).copied().unwrap_or(names[0])
}

/// The folder that an agent works in, as the body of its request tells the model. Tools for files want absolute paths.
pub(super) fn folder_in(body: &str) -> Option<&str> {
    BEFORE_FOLDER.iter().find_map(|before| {
        let rest = &body[body.find(before)? + before.len()..];
        let folder = rest.split(AFTER_FOLDER).next()?.trim_end_matches(['.', ';', ':', ')']);
        folder.starts_with('/').then_some(folder)
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(declared: &[(&str, Value)]) -> BTreeMap<String, Tool> {
        declared.iter().map(|(name, schema)| ((*name).to_owned(), Tool::function(schema))).collect()
    }

    #[track_caller]
    fn check(declared: &[(&str, Value)], folder: Option<&str>, call: &Call, (name, input): (&str, Value)) {
        let tools = tools(declared);
        let used = Toolbox { tools: &tools, folder }.resolve(call).unwrap();
        assert_eq!((used.name.as_str(), used.input), (name, input));
    }

    #[test]
    fn calls_become_what_the_agent_declares() {
        let write = Call::Write { path: "a.txt".to_owned(), content: "it's".to_owned() };
        let claude = [
            ("Bash", json!({ "properties": { "command": {} }, "required": ["command"] })),
            ("Write", json!({ "properties": { "file_path": {}, "content": {} } })),
        ];
        check(&claude, Some("/w"), &write, ("Write", json!({ "file_path": "/w/a.txt", "content": "it's" })));
        let by_shell = r#"mkdir -p "$(dirname 'a.txt')" && printf %s 'it'\''s' > 'a.txt'"#;
        check(&claude, None, &write, ("Bash", json!({ "command": by_shell })));
        let codex = [(
            "exec_command",
            json!({ "properties": { "cmd": {}, "workdir": {} }, "required": ["cmd", "workdir"] }),
        )];
        check(&codex, Some("/w"), &write, ("exec_command", json!({ "cmd": by_shell, "workdir": "/w" })));
        let gemini = [(
            "run_shell_command",
            json!({ "properties": { "command": {}, "is_background": { "type": "BOOLEAN" } }, "required": ["command", "is_background"] }),
        )];
        let shell = Call::Shell("true".to_owned());
        check(
            &gemini,
            None,
            &shell,
            ("run_shell_command", json!({ "command": "true", "is_background": false })),
        );
        let list = [("shell", json!({ "properties": { "command": { "type": "array" } } }))];
        check(&list, None, &shell, ("shell", json!({ "command": ["bash", "-lc", "true"] })));
        check(
            &list,
            None,
            &Call::Read("b".to_owned()),
            ("shell", json!({ "command": ["bash", "-lc", "cat 'b'"] })),
        );
    }

    #[test]
    fn a_tool_of_a_server_is_called_as_the_agent_calls_it() {
        let call = |name: &str| Call::Named { name: name.to_owned(), input: json!({}) };
        let declared = [("mcp__tillgreen__task_complete", json!({})), ("other", json!({}))];
        check(&declared, None, &call("task_complete"), ("mcp__tillgreen__task_complete", json!({})));
        check(&declared, None, &call("mcp__x__other"), ("other", json!({})));
        check(&declared, None, &call("missing"), ("missing", json!({})));
    }

    #[test]
    fn a_tool_that_is_missing_is_named() {
        let tools = tools(&[("write_stdin", json!({}))]);
        let error =
            Toolbox { tools: &tools, folder: None }.resolve(&Call::Shell("true".to_owned())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the request declares no tool for a shell command; it has: write_stdin"
        );
    }

    #[test]
    fn the_folder_is_found_in_what_agents_say() {
        let check = |body: &str, expected: Option<&str>| assert_eq!(folder_in(body), expected, "{body}");
        check(r#"{"system":"x\n - Primary working directory: /tmp/a b\n"}"#, Some("/tmp/a"));
        check(r#"{"text":"<environment_context>\n  <cwd>/w/p</cwd>"}"#, Some("/w/p"));
        check(r#"{"text":"- **Workspace Directories:**\n  - /w/p\n- x"}"#, Some("/w/p"));
        check(r#"{"text":"Working directory: none, later <cwd>/w</cwd>"}"#, Some("/w"));
        check("Working directory: ", None);
        check("", None);
    }
}
