//! Tasks without fields, as other tools write them: the files, the dependencies and the commands that are in their
//! words.

use std::collections::BTreeSet;

use super::fields::{Fields, Files};
use super::plan::PHASE_CHECK;
use crate::Script;
use crate::markdown::{LineKind, Piece, pieces, regions};
use crate::verify::{Verify, classify, commands_in};

/// Endings of the names of files that people write, in order.
const ENDINGS: &[&str] = &[
    "astro", "bat", "bicep", "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "csproj", "css", "csv", "cts",
    "cu", "dart", "ejs", "env", "erb", "ex", "example", "exs", "fs", "gleam", "go", "gql", "gradle",
    "graphql", "groovy", "h", "hbs", "hcl", "hpp", "hs", "html", "ini", "ipynb", "java", "jl", "js", "json",
    "jsonl", "jsx", "kt", "kts", "less", "lock", "lua", "m", "md", "mdx", "mjs", "ml", "mts", "nix", "php",
    "plist", "prisma", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "sass", "scala", "scss", "sh", "sln",
    "sol", "sql", "svelte", "svg", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xaml", "xml", "yaml",
    "yml", "zig",
];
/// Names without such an ending.
const NAMES: [&str; 9] = [
    "Dockerfile",
    "Makefile",
    "Justfile",
    "Procfile",
    "Gemfile",
    "Rakefile",
    ".gitignore",
    ".dockerignore",
    ".editorconfig",
];
/// Documents that plans are made from: they are read, and no task is about them.
const DOCUMENTS: [&str; 11] = [
    "checklist.md",
    "constitution.md",
    "data-model.md",
    "design.md",
    "plan.md",
    "proposal.md",
    "quickstart.md",
    "requirements.md",
    "research.md",
    "spec.md",
    "tasks.md",
];
/// Words before a path that is only referred to.
const REFERRING: [&str; 8] = ["per", "see", "from", "against", "following", "like", "e.g", "via"];
/// Names of libraries that look like files.
const LIBRARIES: [&str; 8] =
    ["chart.js", "d3.js", "express.js", "next.js", "node.js", "nuxt.js", "three.js", "vue.js"];
/// How a dependency is said.
const DEPENDS: [&str; 3] = ["depends on", "dependent on", "blocked by"];
/// Tasks that `T001-T004` stands for at most.
const RANGE_MAX: u32 = 100;

/// Adds to the fields of a task what its words say.
pub(super) fn complete(block: &str, fields: &mut Fields) {
    let sentences = own_sentences(block);
    if fields.files.is_none() {
        let mut seen = BTreeSet::new();
        let about = sentences.iter().filter(|sentence| !is_command(sentence));
        let paths = about.flat_map(|sentence| paths_in(sentence));
        let paths: Vec<String> = paths.filter(|path| seen.insert(path.clone())).collect();
        if !paths.is_empty() {
            fields.files = Some(Files { paths, ..Files::default() });
        }
    }
    for (name, text) in sentences.iter().filter_map(|sentence| note(sentence)) {
        if !fields.others.iter().any(|(known, _)| known == name) {
            fields.others.push((name.to_owned(), text.to_owned()));
        }
    }
    let needed: Vec<String> = sentences.iter().flat_map(|sentence| ids_needed(sentence)).collect();
    if !needed.is_empty() {
        fields.others.push(("depends on".to_owned(), needed.join(", ")));
    }
}

/// `_Requirements: 1.2, 1.3_`, as Kiro writes what a task goes back to.
fn note(sentence: &str) -> Option<(&str, &str)> {
    let (name, text) = sentence.strip_prefix('_')?.trim_end().strip_suffix('_')?.split_once(':')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains('_');
    is_name.then(|| (name, text.trim()))
}

/// The commands that a task's words ask for.
pub(super) fn verify(block: &str) -> Option<Verify> {
    if !block.contains('`') {
        return None;
    }
    let mut seen = BTreeSet::new();
    let commands = own_sentences(block).into_iter().flat_map(commands_in);
    let commands: Vec<String> = commands.filter(|command| seen.insert(command.clone())).collect();
    (!commands.is_empty()).then(|| Verify::Runnable(Script::new(commands)))
}

/// The commands that a text asks for.
pub(crate) fn commands_of(text: &str) -> Vec<String> {
    sentences(text).into_iter().flat_map(commands_in).collect()
}

/// The paths of files and folders that a text names.
pub(crate) fn paths_of(text: &str) -> Vec<String> {
    sentences(text).into_iter().flat_map(paths_in).collect()
}

fn own_sentences(block: &str) -> Vec<&str> {
    sentences(block).into_iter().filter(|line| !line.starts_with(PHASE_CHECK)).collect()
}

/// True of a line that is a Verify with a command: the script that it runs is none of the files that the task is about.
fn is_command(sentence: &str) -> bool {
    let text = sentence.trim_start_matches('*').strip_prefix("Verify");
    let text = text.and_then(|rest| rest.trim_start_matches('*').strip_prefix(':'));
    text.is_some_and(|text| matches!(classify(text.trim_start_matches('*')), Verify::Runnable(_)))
}

/// The commands by which the phase of a task is checked as a whole, from the task's full block.
pub(super) fn verify_of_phase(block: &str) -> Option<Verify> {
    let checks = sentences(block).into_iter().filter_map(|line| line.strip_prefix(PHASE_CHECK));
    let commands: Vec<String> = checks.flat_map(of_check).collect();
    (!commands.is_empty()).then(|| Verify::Runnable(Script::new(commands)))
}

/// The commands of a line that says how a phase is checked: what it is called says that they are to be run.
fn of_check(line: &str) -> Vec<String> {
    let words = line.split_once(':').map_or(line, |(_, words)| words).trim_start_matches(['*', ' ']);
    commands_in(&format!("verify {words}"))
}

/// The lines of a block outside code fences, without what makes them items of a list.
fn sentences(block: &str) -> Vec<&str> {
    let regions = regions(block);
    let lines = regions.lines.iter().zip(&regions.kinds);
    let lines = lines.filter(|(_, kind)| matches!(kind, LineKind::Text | LineKind::Continuation));
    lines.map(|(line, _)| bare(line.of(block))).filter(|line| !line.is_empty()).collect()
}

fn bare(line: &str) -> &str {
    let line = line.trim();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let item = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' '));
    let item = item.or_else(|| line[digits..].strip_prefix(['.', ')']).filter(|_| digits > 0));
    let item = item.unwrap_or(line).trim_start();
    let boxed = item.strip_prefix('[').and_then(|rest| rest.get(rest.find(']')? + 1..));
    let Some(mut rest) = boxed else { return item.trim_start_matches('#').trim_start() };
    rest = rest.trim_start_matches('*').trim_start();
    // The id and the markers of the task are no words.
    loop {
        let word = rest.split(' ').next().unwrap_or_default();
        let is_marker = word.starts_with('[') && word.ends_with(']') || word == "(P)";
        let is_id = word.chars().any(|c| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '*' | ')'))
            && word.chars().filter(char::is_ascii_alphabetic).count() <= 5;
        if word.is_empty() || !(is_marker || is_id) {
            return rest;
        }
        rest = rest[word.len()..].trim_start();
    }
}

/// The paths of files and folders in a sentence.
fn paths_in(sentence: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut before = String::new();
    for piece in pieces(sentence) {
        match piece {
            Piece::Code(code) => {
                let is_referred = is_referring(&before);
                before.clear();
                paths.extend(path(code.trim()).filter(|_| !is_referred));
            }
            Piece::Prose(prose) => {
                let is_gap =
                    |c: char| !c.is_ascii() || c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '"');
                for word in prose.split(is_gap).filter(|word| !word.is_empty()) {
                    let bare = word.trim_matches(['*', '[', ']', '\'', '→']).trim_end_matches(['.', ':']);
                    let is_library = LIBRARIES.contains(&bare.to_lowercase().as_str());
                    let is_referred = is_referring(&before);
                    // Underscores may be part of a name, as in `__init__.py`, or stand around it for emphasis.
                    let found =
                        path(bare).or_else(|| path(bare.trim_matches('_').trim_end_matches(['.', ':'])));
                    paths.extend(found.filter(|_| !is_library && !is_referred));
                    word.clone_into(&mut before);
                }
            }
        }
    }
    paths
}

fn is_referring(word: &str) -> bool {
    REFERRING.contains(&word.trim_matches(['.', ':']).to_lowercase().as_str())
}

/// The path that a word is, if it cannot be anything else.
fn path(word: &str) -> Option<String> {
    let word = word.strip_prefix("./").unwrap_or(word);
    let word = word.split_once("::").map_or(word, |(file, _)| file);
    let is_place =
        |place: &str| place.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'L'));
    let word =
        word.split_once([':', '#']).filter(|(_, place)| is_place(place)).map_or(word, |(file, _)| file);
    let is_plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '[' | ']' | '@' | '+' | '(' | ')')
    };
    let is_odd = word.starts_with(['/', '@', '-', '+', '('])
        || word.contains("//")
        || word.contains("...")
        || !word.chars().all(is_plain);
    if is_odd {
        return None;
    }
    let name = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if DOCUMENTS.contains(&name) || name.trim_start_matches('.').is_empty() {
        return None;
    }
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() || word.contains('/'));
    let is_file = ending.is_some_and(|(_, ending)| ENDINGS.binary_search(&ending).is_ok());
    let is_folder = word.ends_with('/') && word.len() > 2;
    (is_file || is_folder || NAMES.contains(&name) || name.starts_with(".env")).then(|| word.to_owned())
}

/// The ids behind "depends on".
fn ids_needed(sentence: &str) -> Vec<String> {
    let lower = sentence.to_ascii_lowercase();
    let found = DEPENDS.iter().find_map(|words| Some(lower.find(words)? + words.len()));
    let Some(rest) = found.and_then(|at| sentence.get(at..)) else { return Vec::new() };
    let end = rest.find([')', ';']).or_else(|| rest.find(". ")).unwrap_or(rest.len());
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let words = rest[..end].split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '-']));
    words.take_while(|word| word.is_empty() || is_id(word) || is_joining(word)).flat_map(range).collect()
}

fn is_joining(word: &str) -> bool {
    ["and", "tasks", "task", "all", "of", "completion"].contains(&word.to_ascii_lowercase().as_str())
}

fn is_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    digits.starts_with(|c: char| c.is_ascii_digit()) && word.len() - digits.len() <= 2
}

/// `T001-T003` is three ids; a word that is no id is none.
fn range(word: &str) -> Vec<String> {
    let halves = word.split_once('-').and_then(|(from, to)| {
        let digits = from.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let prefix = &from[..from.len() - digits.len()];
        let to = to.strip_prefix(prefix).unwrap_or(to);
        Some((prefix, digits.len(), digits.parse::<u32>().ok()?, to.parse::<u32>().ok()?))
    });
    match halves {
        Some((prefix, width, from, to)) if from <= to && to - from < RANGE_MAX => {
            (from..=to).map(|number| format!("{prefix}{number:0width$}")).collect()
        }
        _ if is_id(word) => vec![word.to_owned()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_that_are_searched_are_in_order() {
        assert!(ENDINGS.is_sorted());
    }

    #[test]
    fn notes() {
        assert_eq!(note("_Requirements: 1.2, 3_"), Some(("Requirements", "1.2, 3")));
        assert_eq!(note("_not a note_"), None);
    }

    #[test]
    fn paths_in_words() {
        for (sentence, expected) in [
            ("Create config in backend/app/config/ for loaders", &["backend/app/config/"][..]),
            ("Create directory structure per plan.md in backend/", &["backend/"]),
            (
                "Implement POST /api/llm in backend/src/api/llm.py (depends on T003)",
                &["backend/src/api/llm.py"],
            ),
            (
                "Create `lib/types/wizard.ts` with Platform, `StageInfo` and `/stages`",
                &["lib/types/wizard.ts"],
            ),
            ("Set up Next.js with async/await and Node.js 20.1", &[]),
            (
                "Update `Makefile`, .env.example and package.json.",
                &["Makefile", ".env.example", "package.json"],
            ),
            ("Add tests per src/old.py", &[]),
            ("実装する src/task.ts に、`src/a.ts:10-20`", &["src/task.ts", "src/a.ts"]),
            ("Fix it at https://example.com/a.html and @scope/pkg", &[]),
            ("Create app/(auth)/[id]/page.tsx", &["app/"]),
            ("Create __init__.py in src/a/, and __main__.py.", &["__init__.py", "src/a/", "__main__.py"]),
            ("Add src/a/__main__.py and **_app.tsx**", &["src/a/__main__.py", "_app.tsx"]),
            ("_Leverage: src/a.py, _src/b.py_", &["src/a.py", "src/b.py"]),
            ("Create `app/(auth)/[id]/page.tsx`", &["app/(auth)/[id]/page.tsx"]),
        ] {
            assert_eq!(paths_in(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn dependencies_in_words() {
        for (sentence, expected) in [
            ("Do it (depends on T003, T004)", &["T003", "T004"][..]),
            ("Do it. Depends on T001-T003 and T007.", &["T001", "T002", "T003", "T007"]),
            ("Do it (depends on tasks 1.1 and 1.2; later)", &["1.1", "1.2"]),
            ("Whatever depends on the parser of 2 files", &[]),
            ("Do it", &[]),
        ] {
            assert_eq!(ids_needed(sentence), expected, "{sentence}");
        }
    }
}
