//! Putting verify commands together into the one script that bash runs with `-e`.

use super::shell::{Command, End, Join, Pipeline, Shell, Statement, read};

/// The state of bash's `pipefail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipefail {
    /// The last stage of a pipeline decides.
    Off,
    /// Any failing stage fails the pipeline; exit code 141 then only says that a reader had enough.
    On,
}

/// The text that bash runs, with `-e`, from the project's root, to verify a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The text for bash. It sets `pipefail` itself where that is due.
    pub text: String,
    /// The commands as the plan has them, each whole.
    pub snippets: Vec<String>,
    /// The state of `pipefail` for the last command: with it, exit code 141 passes with a warning.
    pub pipefail: Pipefail,
}

/// Appended to a line that is not the last, so that a reader that had enough does not end the script.
const PASS_141: &str = " || { status=$?; [ \"$status\" -eq 141 ] || exit \"$status\"; }";

/// `-e` does not see the failure of a list's earlier members or of a negation; this line does.
const PASS_ON_STATUS: &str = "(exit $?)";

/// Each command starts from the project's root, also after one that went elsewhere.
const REMEMBER_ROOT: &str = "tillgreen_root=$PWD";
const BACK_TO_ROOT: &str = "cd \"$tillgreen_root\"";

impl Script {
    /// Puts snippets together, to be run one after the other until one fails.
    #[must_use]
    pub fn new(snippets: Vec<String>) -> Self {
        let mut assembly = Assembly { text: String::new(), mode: Pipefail::Off };
        let others = snippets.len().saturating_sub(1);
        if snippets[..others].iter().any(|snippet| goes_elsewhere(&read(snippet))) {
            assembly.line(REMEMBER_ROOT);
        }
        for (at, snippet) in snippets.iter().enumerate() {
            assembly.snippet(snippet, if at == others { Place::Last } else { Place::Earlier });
        }
        Script { text: assembly.text, snippets, pipefail: assembly.mode }
    }

    /// True if exit code 141 can only come from the very end: then it says that a reader had enough. Anywhere else it
    /// would mean that the rest was not run.
    #[must_use]
    pub fn broken_pipe_passes(&self) -> bool {
        let is_harmless = |snippet: &String| only_ends_are_piped(&read(snippet));
        self.pipefail == Pipefail::On && self.snippets.iter().all(is_harmless)
    }

    /// The commands as the plan has them, one after the other.
    #[must_use]
    pub fn source(&self) -> String {
        self.snippets.join("\n")
    }
}

/// Where a snippet stands among the others: the exit code of the last one is that of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Earlier,
    Last,
}

struct Assembly {
    text: String,
    mode: Pipefail,
}

impl Assembly {
    fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    fn set(&mut self, mode: Pipefail) {
        if self.mode != mode {
            self.line(match mode {
                Pipefail::On => "set -o pipefail",
                Pipefail::Off => "set +o pipefail",
            });
            self.mode = mode;
        }
    }

    fn snippet(&mut self, snippet: &str, place: Place) {
        let last = place == Place::Last;
        let shell = read(snippet);
        let chunks = chunks(snippet, &shell);
        let count = chunks.len();
        for (at, chunk) in chunks.into_iter().enumerate() {
            self.set(chunk.mode);
            self.line(chunk.text);
            if chunk.mode == Pipefail::On && chunk.open_ended && !(last && at + 1 == count) {
                self.text.push_str(PASS_141);
            }
        }
        if !last && hides_status_from_errexit(&shell) {
            self.line(PASS_ON_STATUS);
        }
        if !last && goes_elsewhere(&shell) {
            self.line(BACK_TO_ROOT);
        }
    }
}

/// Lines of a snippet that run with the same setting.
struct Chunk<'a> {
    text: &'a str,
    mode: Pipefail,
    /// True if something can be appended to it.
    open_ended: bool,
}

/// Cuts a snippet at the ends of its lines. What is compound stays whole.
fn chunks<'a>(snippet: &'a str, shell: &Shell<'_>) -> Vec<Chunk<'a>> {
    let speaks_of_pipes = speaks_of_pipes_itself(snippet);
    if shell.compound || speaks_of_pipes {
        let mode = if speaks_of_pipes { Pipefail::Off } else { mode_of(&shell.statements) };
        return vec![Chunk { text: snippet, mode, open_ended: false }];
    }
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut first = 0;
    for (at, statement) in shell.statements.iter().enumerate() {
        let last = at + 1 == shell.statements.len();
        if !last && (statement.end != End::Newline || statement.sealed) {
            continue;
        }
        let end = if last { snippet.len() } else { statement.at };
        let text = snippet[start..end].trim_matches(['\n', '\r']);
        let open_ended =
            !statement.sealed && statement.end != End::Background && !text.ends_with(['\\', ';']);
        chunks.push(Chunk { text, mode: mode_of(&shell.statements[first..=at]), open_ended });
        start = end;
        first = at + 1;
    }
    if chunks.is_empty() {
        chunks.push(Chunk { text: snippet, mode: Pipefail::Off, open_ended: false });
    }
    chunks
}

fn speaks_of_pipes_itself(snippet: &str) -> bool {
    snippet.contains("PIPESTATUS") || snippet.contains("pipefail")
}

/// On if a pipeline ends in a command that only passes text on, unless another's last stage decides.
fn mode_of(statements: &[Statement<'_>]) -> Pipefail {
    let pipelines =
        || statements.iter().flat_map(|statement| &statement.pipelines).map(|(_, pipeline)| pipeline);
    let decided = pipelines().any(|pipeline| pipeline.commands.len() > 1 && !passes_on(pipeline));
    let hidden = pipelines().any(|pipeline| pipeline.commands.len() > 1 && passes_on(pipeline));
    if hidden && !decided { Pipefail::On } else { Pipefail::Off }
}

/// True if only the last thing on a line is piped: what follows on the next line is run in any case.
fn only_ends_are_piped(shell: &Shell<'_>) -> bool {
    let last = shell.statements.len().saturating_sub(1);
    let is_fine = |(at, statement): (usize, &Statement<'_>)| {
        let others = statement.pipelines.len().saturating_sub(1);
        let ends_line = at == last || statement.end == End::Newline;
        let piped = |(_, pipeline): &(Join, Pipeline<'_>)| pipeline.commands.len() > 1;
        let end_is_piped = statement.pipelines.last().is_some_and(piped);
        !statement.pipelines[..others].iter().any(piped) && (ends_line || !end_is_piped)
    };
    !shell.compound && shell.statements.iter().enumerate().all(is_fine)
}

/// True if the last stage of a pipeline only passes text on.
pub(super) fn passes_on(pipeline: &Pipeline<'_>) -> bool {
    pipeline.commands.last().is_some_and(only_passes_on)
}

/// True if a command at the end of a pipeline only passes text on.
pub(super) fn only_passes_on(command: &Command<'_>) -> bool {
    const PASS_ON: [&str; 15] = [
        "tail", "head", "cat", "tee", "wc", "sort", "uniq", "cut", "tr", "nl", "column", "tac", "less",
        "more", "sed",
    ];
    PASS_ON.contains(&command.name())
}

/// True if the last statement may fail without `-e` ending the script.
fn hides_status_from_errexit(shell: &Shell<'_>) -> bool {
    shell.compound
        || shell.statements.last().is_some_and(|statement| {
            statement.pipelines.iter().any(|(join, pipeline)| *join != Join::First || pipeline.negated)
        })
}

/// True if a snippet changes the directory for its own commands; `cd` alone is meant for the next ones.
fn goes_elsewhere(shell: &Shell<'_>) -> bool {
    let mut commands = shell
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .flat_map(|(_, pipeline)| &pipeline.commands);
    let count = commands.clone().count();
    count > 1 && commands.any(|command| matches!(command.name(), "cd" | "pushd"))
}

/// The setting under which the statement is run that a lint looks at.
pub(super) fn mode_of_shell(snippet: &str, shell: &Shell<'_>) -> Pipefail {
    if speaks_of_pipes_itself(snippet) { Pipefail::Off } else { mode_of(&shell.statements) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(snippets: &[&str]) -> String {
        Script::new(snippets.iter().map(|&snippet| snippet.to_owned()).collect()).text
    }

    #[test]
    fn pipefail_where_the_last_stage_passes_text_on() {
        for command in [
            "cargo test 2>&1 | tail -5",
            "a | head -3",
            "a | tee log",
            "a | wc -l",
            "a | sort",
            "a | cat",
            "cd x && a | tail",
            "(cd x && a) 2>&1 | tail -5",
            "{ a; b; } | tee log",
            "for x in 1 2; do a; done | tail -1",
        ] {
            assert_eq!(text(&[command]), format!("set -o pipefail\n{command}"));
            assert_eq!(Script::new(vec![command.to_owned()]).pipefail, Pipefail::On);
        }
        for command in [
            "a | grep -q FAILED",
            "a | tail -5 | grep -q ok",
            "a | jq -e .x",
            "test $(a | wc -l) -eq 3",
            "a",
            "a | tail; test ${PIPESTATUS[0]} -eq 0",
            "a | tail -3 && b | grep -q x",
            "a 'x | tail'",
            "a | while read x; do b; done",
            "(cd x && a) | grep -q FAILED",
        ] {
            assert_eq!(text(&[command]), command);
            assert_eq!(Script::new(vec![command.to_owned()]).pipefail, Pipefail::Off);
        }
    }

    #[test]
    fn several_snippets_stay_whole() {
        assert_eq!(text(&["cargo fmt --check", "cargo test"]), "cargo fmt --check\ncargo test");
        assert_eq!(text(&["a && b", "! b", "c"]), "a && b\n(exit $?)\n! b\n(exit $?)\nc");
        assert_eq!(text(&["cd x", "a"]), "cd x\na");
        assert_eq!(
            text(&["cd x && a", "b"]),
            "tillgreen_root=$PWD\ncd x && a\n(exit $?)\ncd \"$tillgreen_root\"\nb"
        );
    }

    #[test]
    fn each_line_has_its_own_setting() {
        let expected = [
            "set -o pipefail",
            "a | tail -5 || { status=$?; [ \"$status\" -eq 141 ] || exit \"$status\"; }",
            "set +o pipefail",
            "b | grep -q FAILED",
            "set -o pipefail",
            "c | head -1",
        ]
        .join("\n");
        assert_eq!(text(&["a | tail -5\nb | grep -q FAILED", "c | head -1"]), expected);
    }

    #[test]
    fn heredocs_and_comments_are_not_cut() {
        let script = "cat > x <<'E'\na | tail\nE\nb # c | tail\nd";
        assert_eq!(text(&[script]), script);
    }
}

#[cfg(test)]
mod broken_pipes {
    use super::Script;

    #[test]
    fn pass_only_at_the_very_end() {
        let check = |snippet: &str, expected: bool| {
            assert_eq!(Script::new(vec![snippet.to_owned()]).broken_pipe_passes(), expected, "{snippet}");
        };
        check("cargo test 2>&1 | tail -5", true);
        check("cd x && cargo test | head -3", true);
        check("make\ncargo test | head -3", true);
        check("seq 1 9 | head -1; test -f nothere", false);
        check("yes | head -1 && test -f nothere", false);
        check("yes | head -1 || false", false);
        check("if yes | head -1; then false; fi", false);
        check("cargo test", false);
        check("cargo test | grep -q FAILED", false);
    }
}
