//! The programs that a verify command needs.

use std::collections::BTreeSet;

use super::assemble::Script;
use super::shell::{Join, read};

/// Commands of the shell itself, and words of its grammar.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "[[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "echo",
    "eval", "exec", "exit", "export", "false", "fg", "hash", "kill", "let", "local", "popd", "printf",
    "pushd", "pwd", "read", "return", "set", "shift", "shopt", "source", "test", "trap", "true", "type",
    "typeset", "ulimit", "umask", "unset", "wait",
];

impl Script {
    /// The programs that it starts by their names, each once, in order. Where it has loops, conditions or functions,
    /// and where a program is only tried if another one fails, nothing is said.
    #[must_use]
    pub fn programs(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut programs = Vec::new();
        for snippet in &self.snippets {
            let shell = read(snippet);
            let pipelines = shell.statements.iter().flat_map(|statement| &statement.pipelines);
            let pipelines = pipelines.filter(|(join, _)| !shell.compound && *join != Join::Or);
            for command in pipelines.flat_map(|(_, pipeline)| &pipeline.commands) {
                let Some(first) = command.bare().first().filter(|first| !first.quoted) else { continue };
                if is_program_name(first.text) && seen.insert(first.text.to_owned()) {
                    programs.push(first.text.to_owned());
                }
            }
        }
        programs
    }
}

/// True for a name that is looked up on the path.
fn is_program_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+');
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.bytes().all(is_plain)
        && !BUILTINS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_by_name() {
        for (snippet, expected) in [
            ("cd shared && bun test", &["bun"][..]),
            ("FOO=1 cargo test 2>&1 | tail -5", &["cargo", "tail"]),
            ("sudo env A=b make check; make", &["make"]),
            ("./run.sh && scripts/check.sh", &[]),
            ("python3 a.py || python a.py", &["python3"]),
            ("if which bun; then bun test; fi", &[]),
            ("\"$TOOL\" x && $OTHER", &[]),
            ("[ \"$(grep -c x f)\" -ge 3 ]", &[]),
            ("", &[]),
        ] {
            assert_eq!(Script::new(vec![snippet.to_owned()]).programs(), expected, "{snippet}");
        }
    }
}
