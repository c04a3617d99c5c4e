//! Kinds of errors that fix tasks are about, as far as the error's own words tell.

use std::fmt;

/// The kind of an error, for the commit message of the fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorType {
    /// A file that is not there.
    MissingFile,
    /// Text that does not parse.
    Syntax,
    /// Types that do not fit.
    Type,
    /// A test that fails.
    Test,
    /// A linter or formatter that complains.
    Lint,
    /// Something that does not build.
    Build,
    /// A package or module that is not there.
    Dependency,
    /// Something that is not allowed.
    Permission,
    /// Something that took too long.
    Timeout,
    /// A service that cannot be reached.
    Network,
    /// Anything else.
    Error,
}

/// Words that give each kind away, the most telling first.
const SIGNS: &[(ErrorType, &[&str])] = &[
    (
        ErrorType::Permission,
        &[
            "permission denied",
            "permissionerror",
            "eacces",
            "eperm",
            "operation not permitted",
            "access denied",
        ],
    ),
    (ErrorType::Timeout, &["timed out", "timeout", "time out", "deadline exceeded", "etimedout"]),
    (
        ErrorType::Dependency,
        &[
            "cannot find module",
            "module not found",
            "modulenotfounderror",
            "no module named",
            "cannot find package",
            "package not found",
            "unresolved import",
            "missing dependency",
            "could not resolve dependencies",
            "eresolve",
            "no matching package",
            "importerror",
            "dependency",
            "dependencies",
            "peer dep",
            "unresolved dependency",
            "not installed",
        ],
    ),
    (
        ErrorType::MissingFile,
        &[
            "file not found",
            "no such file",
            "enoent",
            "filenotfounderror",
            "missing file",
            "cannot find file",
            "cannot open file",
            "file does not exist",
        ],
    ),
    (
        ErrorType::Network,
        &[
            "connection refused",
            "econnrefused",
            "connection reset",
            "econnreset",
            "enotfound",
            "network",
            "could not resolve host",
            "getaddrinfo",
            "socket hang up",
            "dns",
            "fetch failed",
            "unreachable",
        ],
    ),
    (
        ErrorType::Syntax,
        &[
            "syntax error",
            "syntaxerror",
            "unexpected token",
            "parse error",
            "unexpected end of",
            "unterminated",
            "unexpected eof",
            "syntax",
        ],
    ),
    (
        ErrorType::Type,
        &[
            "type error",
            "typeerror",
            "mismatched types",
            "not assignable",
            "type mismatch",
            "typecheck",
            "type check",
            "type errors",
            "e0308",
            "mypy",
            "pyright",
            "tsc",
        ],
    ),
    (
        ErrorType::Lint,
        &[
            "lint",
            "linter",
            "linting",
            "eslint",
            "clippy",
            "ruff",
            "prettier",
            "biome",
            "formatting",
            "rustfmt",
            "shellcheck",
        ],
    ),
    (
        ErrorType::Test,
        &["test", "tests", "assertion", "assertionerror", "assert", "pytest", "jest", "vitest", "expected"],
    ),
    (
        ErrorType::Build,
        &[
            "build",
            "compile",
            "compilation",
            "compiler",
            "linker",
            "could not compile",
            "undefined reference",
            "cannot compile",
        ],
    ),
];

impl ErrorType {
    /// The kind of error that `error` describes.
    #[must_use]
    pub fn of(error: &str) -> Self {
        let words = crate::one_line(error).to_lowercase();
        let relative_module =
            words.contains("cannot find module './") || words.contains("cannot find module '../");
        if relative_module {
            return ErrorType::MissingFile;
        }
        let found = SIGNS.iter().find(|(_, signs)| signs.iter().any(|sign| has_words(&words, sign)));
        found.map_or(ErrorType::Error, |(kind, _)| *kind)
    }
}

/// True if `text` has `words` with nothing alphanumeric on either side.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorType::MissingFile => "missing file",
            ErrorType::Syntax => "syntax",
            ErrorType::Type => "type",
            ErrorType::Test => "test",
            ErrorType::Lint => "lint",
            ErrorType::Build => "build",
            ErrorType::Dependency => "dependency",
            ErrorType::Permission => "permission",
            ErrorType::Timeout => "timeout",
            ErrorType::Network => "network",
            ErrorType::Error => "error",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (error, kind) in [
            ("File not found: src/parser.ts", "missing file"),
            ("Error: ENOENT: no such file or directory, open 'x'", "missing file"),
            ("Cannot find module './parser'", "missing file"),
            ("Syntax error in parser.ts line 42", "syntax"),
            ("SyntaxError: Unexpected token }", "syntax"),
            ("TypeError: x is not a function", "type"),
            ("error[E0308]: mismatched types", "type"),
            ("3 tests failed", "test"),
            ("AssertionError: 1 != 2", "test"),
            ("eslint found 3 problems", "lint"),
            ("error: could not compile `x`", "build"),
            ("Build failed", "build"),
            ("Cannot find module 'lodash'", "dependency"),
            ("ModuleNotFoundError: No module named 'x'", "dependency"),
            ("EACCES: permission denied, open 'x'", "permission"),
            ("command timed out after 30s", "timeout"),
            ("connect ECONNREFUSED 127.0.0.1:80", "network"),
            ("the latest contest", "error"),
            ("Task execution failed", "error"),
            ("", "error"),
        ] {
            assert_eq!(ErrorType::of(error).to_string(), kind, "{error}");
        }
    }
}
