//! Telling commands from file names, identifiers and sentences.

use crate::script::{Word, read_shell};

/// How much a code span looks like a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Command,
    /// A command if nothing else is there, such as a program that only its project knows.
    Unclear,
    /// A file, an identifier, a piece of another language, or a command with places to fill in.
    SomethingElse,
}

/// Programs whose name is hardly ever the first word of a sentence, in order.
const PROGRAMS: &[&str] = &[
    "act",
    "actionlint",
    "alembic",
    "ansible",
    "awk",
    "aws",
    "az",
    "bash",
    "bats",
    "bazel",
    "biome",
    "black",
    "brew",
    "buf",
    "bun",
    "bundle",
    "bunx",
    "cargo",
    "cat",
    "cd",
    "cdk",
    "chmod",
    "clang",
    "cmake",
    "cmp",
    "command",
    "composer",
    "cp",
    "ctest",
    "curl",
    "deno",
    "df",
    "diff",
    "docker",
    "docker-compose",
    "dotnet",
    "dune",
    "echo",
    "egrep",
    "elixir",
    "eslint",
    "export",
    "fgrep",
    "firebase",
    "flake8",
    "flutter",
    "gcc",
    "gcloud",
    "gh",
    "git",
    "glab",
    "golangci-lint",
    "gradle",
    "grep",
    "hatch",
    "head",
    "helm",
    "hyperfine",
    "java",
    "javac",
    "jest",
    "jq",
    "kubectl",
    "ls",
    "lua",
    "md5sum",
    "mix",
    "mkdir",
    "mv",
    "mvn",
    "mypy",
    "nc",
    "next",
    "ninja",
    "nix",
    "node",
    "npm",
    "npx",
    "nvcc",
    "nx",
    "openspec",
    "oxlint",
    "pdm",
    "perl",
    "pg_isready",
    "php",
    "phpcs",
    "phpstan",
    "phpunit",
    "pip",
    "pip3",
    "pipenv",
    "playwright",
    "pnpm",
    "poetry",
    "pre-commit",
    "prettier",
    "printf",
    "prisma",
    "psql",
    "pushd",
    "pwd",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "redis-cli",
    "rg",
    "rm",
    "rspec",
    "rsync",
    "rubocop",
    "ruby",
    "ruff",
    "rustc",
    "rustfmt",
    "sbt",
    "sed",
    "sh",
    "sha256sum",
    "shellcheck",
    "shfmt",
    "sleep",
    "sqlite3",
    "ssh",
    "stat",
    "stylelint",
    "supabase",
    "swift",
    "swiftlint",
    "tail",
    "tar",
    "task",
    "tee",
    "terraform",
    "timeout",
    "tox",
    "tr",
    "tree",
    "ts-node",
    "tsc",
    "tsx",
    "turbo",
    "ty",
    "uv",
    "uvx",
    "vite",
    "vitest",
    "wc",
    "wget",
    "wrangler",
    "xargs",
    "xcodebuild",
    "xmllint",
    "yamllint",
    "yarn",
    "yq",
    "zig",
    "zsh",
];

/// Programs whose name is also an ordinary word.
const WORDS: &[&str] = &[
    "[", "[[", "!", "cut", "date", "file", "find", "for", "go", "if", "just", "make", "open", "set", "sort",
    "source", "test", "time", "touch", "type", "uniq", "watch", "which", "while", "who",
];

/// Words of a sentence, in order. A command that has one of them outside quotes is probably being talked about.
const SENTENCE: &[&str] = &[
    "a",
    "after",
    "all",
    "and",
    "appears",
    "are",
    "as",
    "be",
    "before",
    "both",
    "by",
    "check",
    "checks",
    "completes",
    "confirm",
    "confirms",
    "contains",
    "correctly",
    "each",
    "ensure",
    "exists",
    "exits",
    "expect",
    "fails",
    "from",
    "has",
    "in",
    "into",
    "is",
    "it",
    "manually",
    "matches",
    "must",
    "no",
    "not",
    "of",
    "or",
    "outputs",
    "passes",
    "passing",
    "plus",
    "prints",
    "returns",
    "should",
    "shows",
    "still",
    "succeeds",
    "sure",
    "that",
    "the",
    "then",
    "to",
    "verify",
    "via",
    "when",
    "which",
    "with",
    "without",
    "works",
    "your",
];

/// Words that begin a statement of another language.
const FOREIGN: &[&str] = &[
    "await", "const", "let", "var", "import", "from", "def", "class", "return", "fn", "pub", "use", "SELECT",
    "INSERT", "UPDATE", "DELETE", "GET", "POST", "PUT",
];

/// Judges a code span.
pub(super) fn likeness(code: &str) -> Likeness {
    let words = first_words(code);
    let Some(first) = words.first() else { return Likeness::SomethingElse };
    let program = first.text;
    if has_place_to_fill(code) || FOREIGN.contains(&program) {
        return Likeness::SomethingElse;
    }
    if is_program(program)
        || (WORDS.contains(&program) && (words.len() > 1 || matches!(program, "make" | "just")))
    {
        return Likeness::Command;
    }
    if is_path_of_program(program, words.len()) || (program == "." && words.len() > 1) {
        return Likeness::Command;
    }
    let operators = words.iter().skip(1).any(|word| is_flag(word.text));
    match (is_program_name(program), operators, words.len()) {
        (true, true, _) => Likeness::Command,
        (true, false, 1) if program.contains(['.', '_', '(', ':']) || program.len() < 2 => {
            Likeness::SomethingElse
        }
        (true, false, _) => Likeness::Unclear,
        (false, _, _) => Likeness::SomethingElse,
    }
}

/// True if a word names a program that is known here.
pub(crate) fn is_program(word: &str) -> bool {
    PROGRAMS.binary_search(&word).is_ok()
}

/// The command that a whole line is, if it is one and not a sentence.
pub(super) fn bare_command(line: &str) -> Option<&str> {
    let line = line.strip_prefix("$ ").unwrap_or(line).trim();
    let shell = read_shell(line);
    let words = first_words(line);
    let program = words.first()?.text;
    let all: Vec<&Word<'_>> = shell
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .flat_map(|(_, pipeline)| &pipeline.commands)
        .flat_map(|command| &command.words)
        .collect();
    // Programs have subcommands that are verbs, as in `cargo check`.
    let begin = if is_program(program) && all.get(1).is_some_and(|word| is_verb(word.text)) { 2 } else { 1 };
    let talked_about =
        all.iter().skip(begin).any(|word| !word.quoted && SENTENCE.binary_search(&word.text).is_ok())
            || all.iter().any(|word| !word.quoted && word.text.contains(['—', '–', '→', '≥', '≤', '…', '✓']))
            || all.last().is_some_and(|word| {
                !word.quoted && word.text.ends_with('.') && word.text.len() > 2 && !word.text.ends_with("..")
            });
    if talked_about || has_place_to_fill(line) {
        return None;
    }
    let known = is_program(program) && (words.len() > 1 || shell.statements.len() == 1);
    let word = WORDS.contains(&program) && ordinary_word_is_command(program, &words[1..]);
    let path = is_path_of_program(program, words.len());
    (known || word || path).then_some(line)
}

/// True if some of the words outside quotes are such as only sentences have.
pub(super) fn is_sentence(text: &str) -> bool {
    let shell = read_shell(text);
    let commands = shell
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .flat_map(|(_, pipeline)| &pipeline.commands);
    let mut words = commands.flat_map(|command| &command.words).skip(1).filter(|word| !word.quoted);
    words.any(|word| SENTENCE.binary_search(&word.text).is_ok() && !is_verb(word.text))
}

/// True of words of a sentence that are subcommands as well.
fn is_verb(word: &str) -> bool {
    matches!(word, "check" | "checks" | "verify" | "confirm")
}

/// The words of the first command that is more than assignments, without wrappers.
fn first_words(code: &str) -> Vec<Word<'_>> {
    let code = code.trim_start().trim_start_matches("! ").trim_start_matches('(').trim_start();
    let shell = read_shell(code);
    // The shell's own words are not commands; `if x` stands for them.
    if shell.compound
        && let Some(keyword) =
            code.split_whitespace().next().filter(|word| matches!(*word, "if" | "for" | "while"))
    {
        return [keyword, "-"].map(|text| Word { text, quoted: false }).into();
    }
    let commands = shell
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .flat_map(|(_, pipeline)| &pipeline.commands);
    commands.map(|command| command.bare().to_vec()).find(|words| !words.is_empty()).unwrap_or_default()
}

fn ordinary_word_is_command(program: &str, arguments: &[Word<'_>]) -> bool {
    let first = arguments.first().map_or("", |word| word.text);
    match program {
        "make" | "just" => {
            arguments.len() <= 3 && !matches!(first, "sure" | "certain" | "the" | "a" | "it" | "sense")
        }
        "go" => matches!(
            first,
            "test" | "build" | "vet" | "run" | "mod" | "fmt" | "generate" | "install" | "list"
        ),
        "test" | "[" | "[[" => first.starts_with(['-', '!', '$', '"']),
        _ => arguments.iter().any(|word| is_flag(word.text) || word.text.contains('/') || word.quoted),
    }
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
}

/// `./run`, `scripts/check.sh`, `.venv/bin/tool`, `$HOME/check`; not `src/main.rs`.
fn is_path_of_program(program: &str, words: usize) -> bool {
    if !program.contains('/') || program.contains(['*', '(', ',']) || program.ends_with('/') {
        return false;
    }
    let mut parts = program.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let is_among_programs = matches!(parts.next(), Some("bin" | ".bin" | "sbin"));
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let explicit =
        ["./", "../", "~/", "$"].iter().any(|start| program.starts_with(start)) || is_among_programs;
    match extension {
        Some("sh" | "bash" | "bats") => true,
        Some("py" | "js" | "mjs" | "rb" | "pl") => explicit || words > 1,
        Some(_) => explicit && words > 1,
        None => (explicit || words > 1) && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
    }
}

fn is_program_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
}

/// True if somebody has to fill in `<id>`, `{{name}}` or `...` first. The shell reads `<id>` as two redirections, so it
/// is looked for in the text, outside quotes.
fn has_place_to_fill(code: &str) -> bool {
    if !code.bytes().any(|byte| matches!(byte, b'<' | b'{' | b'.')) {
        return false;
    }
    let mut quote = None;
    for (at, c) in code.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '<') if is_place(&code[at + 1..]) => return true,
            (None, '{') if code[at..].starts_with("{{") => return true,
            (None, '.') if code[at..].trim_end() == "..." && code[..at].ends_with(' ') => return true,
            (_, _) => {}
        }
    }
    false
}

fn is_place(rest: &str) -> bool {
    let len =
        rest.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    len > 0 && rest[len..].starts_with('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_searched_are_in_order() {
        assert!(PROGRAMS.is_sorted() && SENTENCE.is_sorted());
    }
}
