//! Whether an attempt stayed within the files that its task lists.

use engine::FileState;
use plan::Plan;

/// Files among those changed that the task does not list; none where it lists no files at all.
pub(crate) fn scope(task_text: &str, touched: &[FileState]) -> Vec<String> {
    let plan = Plan::parse(task_text.to_owned());
    let Some(task) = plan.tasks().first() else { return Vec::new() };
    let listed = plan.fields(task).files.map(|files| files.paths).unwrap_or_default();
    if listed.is_empty() {
        return Vec::new();
    }
    let outside = touched.iter().map(|file| &file.path).filter(|path| !listed.iter().any(|entry| covers(entry, path)));
    outside.cloned().collect()
}

/// Whether an entry of a Files list covers a path: the path itself, a folder above it, a glob, or a name
/// without folders that the path ends in.
fn covers(entry: &str, path: &str) -> bool {
    let entry = entry.trim_start_matches("./").trim_end_matches('/');
    if entry == path || path.strip_prefix(entry).is_some_and(|rest| rest.starts_with('/')) {
        return true;
    }
    if entry.contains(['*', '?', '{']) {
        return alternatives(entry).iter().any(|pattern| matches(pattern.as_bytes(), path.as_bytes()));
    }
    !entry.contains('/') && path.rsplit('/').next() == Some(entry)
}

/// `a.{js,ts}` stands for `a.js` and `a.ts`; at most one group is looked at, and not too many of it.
fn alternatives(pattern: &str) -> Vec<String> {
    let group = pattern.find('{').and_then(|open| Some((open, open + pattern[open..].find('}')?)));
    let Some((open, close)) = group else { return vec![pattern.to_owned()] };
    let choices = pattern[open + 1..close].split(',').take(64);
    choices.map(|choice| format!("{}{choice}{}", &pattern[..open], &pattern[close + 1..])).collect()
}

/// Glob matching: `**` crosses folders, `*` and `?` do not. Linear in the text for each star.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at_pattern, mut at_text) = (0, 0);
    let mut star: Option<(usize, usize, bool)> = None;
    while at_text < text.len() {
        let rest = &pattern[at_pattern..];
        if rest.starts_with(b"**") {
            let skip = if rest.starts_with(b"**/") { 3 } else { 2 };
            star = Some((at_pattern + skip, at_text, true));
            at_pattern += skip;
        } else if rest.first() == Some(&b'*') {
            star = Some((at_pattern + 1, at_text, false));
            at_pattern += 1;
        } else if rest.first() == Some(&text[at_text]) || (rest.first() == Some(&b'?') && text[at_text] != b'/') {
            at_pattern += 1;
            at_text += 1;
        } else if let Some((after, from, crosses)) = star
            && (crosses || text[from] != b'/')
        {
            star = Some((after, from + 1, crosses));
            at_pattern = after;
            at_text = from + 1;
        } else {
            return false;
        }
    }
    pattern[at_pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn entries_cover_paths() {
        let check = |entry: &str, path: &str, expected: bool| {
            assert_eq!(covers(entry, path), expected, "{entry} and {path}");
        };
        check("src/a.rs", "src/a.rs", true);
        check("./src/a.rs", "src/a.rs", true);
        check("src/", "src/deep/a.rs", true);
        check("src", "srcs/a.rs", false);
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/deep/a.rs", false);
        check("src/**/*.rs", "src/deep/er/a.rs", true);
        check("src/**/*.rs", "src/a.rs", true);
        check("src/**", "src/deep/a.rs", true);
        check("*.{js,ts}", "a.ts", true);
        check("*.{js,ts}", "a.rs", false);
        check("tasks.md", "specs/x/tasks.md", true);
        check("a?c", "abc", true);
        check("a?c", "a/c", false);
        check("src/b.rs", "src/a.rs", false);
    }
}
