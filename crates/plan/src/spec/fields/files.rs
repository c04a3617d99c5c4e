//! The Files field: the paths among what people write around them.

use crate::markdown::{Piece, pieces};

/// Which files a task is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The field as written.
    pub text: String,
    /// The paths and globs named in it, in order, each once.
    pub paths: Vec<String>,
}

impl Files {
    /// Reads the text of the field.
    pub(crate) fn read(text: &str) -> Self {
        let mut seen = std::collections::BTreeSet::new();
        let paths = text.lines().flat_map(paths_of).filter(|path| seen.insert(*path));
        Files { paths: paths.map(str::to_owned).collect(), text: text.to_owned() }
    }
}

/// Names of files that have neither a directory nor an extension.
const BARE_NAMES: [&str; 8] =
    ["Makefile", "Dockerfile", "Justfile", "justfile", "LICENSE", "README", "Procfile", "Gemfile"];

fn paths_of(line: &str) -> Vec<&str> {
    let line = line.trim().trim_start_matches(['-', '*', '+']).trim_start();
    let parts = pieces(line);
    if !parts.iter().any(|piece| matches!(piece, Piece::Code(_))) {
        return line.split([',', ';']).filter_map(bare_path).collect();
    }
    let mut paths = Vec::new();
    for piece in parts {
        match piece {
            Piece::Code(code) => paths.extend(path(code.trim())),
            // What follows a dash describes the change; code in it is not a path.
            Piece::Prose(prose)
                if !paths.is_empty()
                    && [" - ", " — ", " – ", " -- "].iter().any(|dash| prose.contains(dash)) =>
            {
                break;
            }
            Piece::Prose(_) => {}
        }
    }
    paths
}

/// A path that is written without backticks, with a note after it or not.
fn bare_path(entry: &str) -> Option<&str> {
    let entry = entry.trim();
    let first = entry.split_whitespace().next()?;
    let note = entry[first.len()..].trim_start();
    let rest_is_note = note.is_empty() || note.starts_with(['(', '-', '—', '–', '#']);
    rest_is_note.then(|| path(first.trim_matches(['"', '\'']))).flatten()
}

fn path(text: &str) -> Option<&str> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let text = text.trim_end_matches([',', ';']);
    let text = match text.rsplit_once(':') {
        Some((file, lines))
            if !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') =>
        {
            file
        }
        Some(_) | None => text,
    };
    let shape = text.contains(['/', '.', '*']) || BARE_NAMES.contains(&text);
    let odd = text.contains(char::is_whitespace)
        || text.contains(['=', '<', '>', '"', '\'', ';', '`', '|'])
        || text.starts_with(['-', '#', '@', '.', '/']) && !is_hidden_or_absolute(text)
        || (text.contains('(') && !text.contains('/'));
    let named = text.chars().any(|c| c.is_alphanumeric() || c == '*');
    let none = text.eq_ignore_ascii_case("n/a") || text.eq_ignore_ascii_case("none");
    (shape && !odd && named && !none).then_some(text)
}

/// `.github/x`, `/etc/x`, `../x`: a dot or a slash with a name after it.
fn is_hidden_or_absolute(text: &str) -> bool {
    text.trim_start_matches(['.', '/'])
        .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '_' | '{' | '['))
        && text.starts_with(['.', '/'])
}
