//! One spelling for each path of a Files field.

/// A path with slashes between its folders, and without what Markdown needs before an underscore. Other backslashes may
/// be part of a pattern.
pub(super) fn plain(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars().peekable();
    let mut before = '\\';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or('\\');
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-');
        match character {
            '\\' if next == '_' => {}
            '\\' if (is_name(before) || before == '_') && is_name(next) => plain.push('/'),
            other => plain.push(other),
        }
        before = character;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_divided_by_slashes() {
        for (path, expected) in [
            ("src\\sub\\a.rs", "src/sub/a.rs"),
            ("src/my\\_file.rs", "src/my_file.rs"),
            ("src/\\*.rs", "src/\\*.rs"),
            ("src/\\[id\\].rs", "src/\\[id\\].rs"),
            ("a/b\\", "a/b\\"),
        ] {
            assert_eq!(plain(path), expected);
        }
    }
}
