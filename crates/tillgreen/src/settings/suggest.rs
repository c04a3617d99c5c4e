//! What somebody may have meant.

/// Names longer than this are not compared: nobody mistypes those.
const NAME_CHARS_MAX: usize = 64;

/// The name that is nearest to what was written, if one is near.
pub(super) fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let near = |name: &str| distance(written, name);
    let best = names.into_iter().map(|name| (near(name), name)).min()?;
    (best.0 <= best.1.chars().count().div_ceil(3)).then_some(best.1)
}

/// How many letters have to be changed, added or left out to get from one to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let names = ["recovery_mode", "max_time", "agent", "scope"];
        let check = |written: &str, expected: Option<&str>| {
            assert_eq!(nearest(written, names), expected, "{written}")
        };
        check("recover_mode", Some("recovery_mode"));
        check("recovery-mode", Some("recovery_mode"));
        check("maxtime", Some("max_time"));
        check("agnet", Some("agent"));
        check("banana", None);
        check("", None);
        check(&"x".repeat(100_000), None);
    }
}
