//! A line of a source file in its parts: code, texts, comments. By the line alone, so a text over several lines is code.

/// A family of languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Python,
    JavaScript,
    Rust,
    Go,
    Java,
    CSharp,
    Ruby,
    Php,
    C,
    Swift,
    Dart,
    Elixir,
    Shell,
    /// Settings with scripts in them.
    Settings,
    Style,
    Markup,
    Other,
}

/// The comments of families that write them alike.
const HASH: &[&str] = &["#"];
const SLASHES: &[&str] = &["//", "/*"];
const MARKUP: &[&str] = &["<!--", "//", "/*"];
const DASHES: &[&str] = &["--", "/*", "{-"];
const SEMICOLON: &[&str] = &[";"];
const PERCENT: &[&str] = &["%"];

/// Names of files by how they end, with their family and their comments.
const FILES: &[(&[&str], Family, &[&str])] = &[
    (&[".py", ".pyi"], Family::Python, HASH),
    (&[".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"], Family::JavaScript, SLASHES),
    (&[".vue", ".svelte", ".astro"], Family::JavaScript, MARKUP),
    (&[".rs"], Family::Rust, SLASHES),
    (&[".go"], Family::Go, SLASHES),
    (&[".java", ".kt", ".kts", ".scala", ".groovy", ".gradle"], Family::Java, SLASHES),
    (&[".cs"], Family::CSharp, SLASHES),
    (&[".rb", ".rake"], Family::Ruby, HASH),
    (&[".php"], Family::Php, &["//", "/*", "#"]),
    (&[".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm", ".ino"], Family::C, SLASHES),
    (&[".swift"], Family::Swift, SLASHES),
    (&[".dart"], Family::Dart, SLASHES),
    (&[".ex", ".exs"], Family::Elixir, HASH),
    (&[".sh", ".bash", ".zsh"], Family::Shell, HASH),
    (&[".yml", ".yaml", "Makefile", "makefile", ".mk", "justfile"], Family::Settings, HASH),
    (&["package.json"], Family::Settings, &[]),
    (&[".css", ".scss", ".less"], Family::Style, SLASHES),
    (&[".html", ".htm"], Family::Markup, &["<!--", "//", "/*"]),
    (&[".sql", ".lua", ".hs", ".elm"], Family::Other, DASHES),
    (&[".clj", ".cljs", ".el", ".lisp", ".scm"], Family::Other, SEMICOLON),
    (&[".erl"], Family::Other, PERCENT),
    (&[".zig", ".sol", ".proto", ".graphql", ".fs"], Family::Other, SLASHES),
    (&[".pl", ".pm", ".r", ".R", ".jl", ".nim", ".tf", ".ps1", "Dockerfile"], Family::Other, HASH),
];

/// Folders of what nobody writes by hand.
const FOREIGN: &[&str] = &[
    "node_modules",
    "vendor",
    "third_party",
    "dist",
    "build",
    "target",
    "generated",
    "__generated__",
    ".venv",
    "venv",
];

/// A source file, by its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Language {
    pub(super) family: Family,
    pub(super) comments: &'static [&'static str],
    pub(super) is_test: bool,
}

impl Language {
    /// The language of a file that a person writes; none of any other file.
    pub(super) fn of(path: &str) -> Option<Language> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_foreign = folders.split('/').any(|folder| FOREIGN.contains(&folder));
        let is_generated =
            [".min.js", ".min.css", "_pb2.py", "_pb2.pyi", ".pb.go", ".g.dart", ".designer.cs"];
        if is_foreign || is_generated.iter().any(|end| name.ends_with(end)) {
            return None;
        }
        let is_one = |ends: &[&str]| {
            ends.iter().any(|end| if end.starts_with('.') { name.ends_with(end) } else { name == *end })
        };
        let (_, family, comments) = FILES.iter().find(|(ends, ..)| is_one(ends))?;
        Some(Language { family: *family, comments, is_test: is_test(folders, name) })
    }
}

fn is_test(folders: &str, name: &str) -> bool {
    const FOLDERS: [&str; 8] = ["test", "tests", "__tests__", "spec", "specs", "e2e", "cypress", "Tests"];
    let stem = name.split('.').next().unwrap_or(name);
    let mut parts = name.split('.').skip(1);
    folders.split('/').any(|folder| FOLDERS.contains(&folder))
        || parts.any(|part| matches!(part, "test" | "spec" | "e2e" | "cy"))
        || stem.starts_with("test_")
        || stem == "conftest"
        || ["_test", "_tests", "_spec", "Test", "Tests", "Spec"].iter().any(|end| stem.ends_with(end))
}

/// A line in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// The code, with `""` for each text in it.
    pub(super) code: String,
    /// The texts.
    pub(super) texts: Vec<&'a str>,
    /// The comments, each without what opens it.
    pub(super) comments: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(line: &'a str, language: Language) -> Parts<'a> {
        let mut parts = Parts::default();
        let trimmed = line.trim_start();
        // The lines of a longer comment begin with a star.
        if language.comments.contains(&"/*") && (trimmed.starts_with("* ") || trimmed.starts_with("*/")) {
            parts.comments.push(&trimmed[1..]);
            return parts;
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(opener) = opener(&parts.code, rest, language) {
                parts.read_comment(&rest[opener.len()..], language);
                return parts;
            }
            let text = matches!(first, '"' | '\'' | '`').then(|| text(rest, first)).flatten();
            match text {
                Some(text) => {
                    parts.texts.push(&rest[1..=text]);
                    parts.code.push_str("\"\"");
                    rest = rest.get(text + 2..).unwrap_or_default();
                }
                None => {
                    parts.code.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        parts
    }

    /// Several comments may follow each other in a line.
    fn read_comment(&mut self, comment: &'a str, language: Language) {
        let mut rest = comment;
        loop {
            let next = language.comments.iter().filter_map(|opener| Some((rest.find(opener)?, opener.len())));
            let next = next.filter(|(at, _)| *at > 0 && rest[..*at].ends_with(' ')).min();
            let Some((at, length)) = next else { break };
            self.comments.push(&rest[..at]);
            rest = &rest[at + length..];
        }
        self.comments.push(rest);
    }
}

/// The words that open a comment here, after some code.
fn opener(code: &str, rest: &str, language: Language) -> Option<&'static str> {
    let opener = language.comments.iter().find(|opener| rest.starts_with(**opener))?;
    let before = code.chars().next_back();
    let is_free = match *opener {
        "#" | "--" | ";" | "%" => before.is_none_or(char::is_whitespace),
        // As in an address.
        "//" => before != Some(':'),
        _ => true,
    };
    is_free.then_some(*opener)
}

/// Where a text ends that a quotation mark opens, before the mark that closes it; none where nothing closes it.
fn text(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, char) in rest.char_indices().skip(1) {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if char == quote => return Some(at - 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let check = |path: &str, line: &str, code: &str, comments: &[&str]| {
            let parts = Parts::of(line, Language::of(path).expect("a source file"));
            assert_eq!((parts.code.trim(), &*parts.comments), (code, comments), "{path}: {line}");
        };
        check("a.py", "x = '# no' # yes  # type: ignore", "x = \"\"", &[" yes  ", " type: ignore"]);
        check("a.js", "get(\"http://x\") // a /* b", "get(\"\")", &[" a ", " b"]);
        check("a.js", " * in a longer one", "", &[" in a longer one"]);
        check("a.js", "const a = b * c;", "const a = b * c;", &[]);
        check("a.rs", "fn f<'a>(x: &'a str) {} // a", "fn f<\"\"a str) {}", &[" a"]);
        check("a.rs", "it isn't so // a", "it isn't so", &[" a"]);
        check("a.sh", "echo ${#x} $# #a", "echo ${#x} $#", &["a"]);
        check("a.js", "say(\"ä\", 'é', `ü`) // ö", "say(\"\", \"\", \"\")", &[" ö"]);
        check("a.css", "b { background: url(https://x) }", "b { background: url(https://x) }", &[]);
        check("a.sql", "select 1 -- a", "select 1", &[" a"]);
        check("package.json", "\"a\": \"# b\"", "\"\": \"\"", &[]);
    }

    #[test]
    fn only_what_people_write_is_source() {
        for path in
            ["README.md", "a.txt", "a.json", "vendor/a.go", "web/node_modules/a/a.js", "a.min.js", "x_pb2.py"]
        {
            assert!(Language::of(path).is_none(), "{path}");
        }
        let is_test = |path: &str| Language::of(path).is_some_and(|language| language.is_test);
        for path in
            ["tests/a.py", "a.test.ts", "src/__tests__/a.js", "test_a.py", "a_test.go", "src/FooTest.java"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/a.py", "src/latest.js", "contest.go", "src/specification.rb"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
