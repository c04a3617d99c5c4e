//! Suggestions for names that are not known.

/// Names longer than this are not compared: nobody mistypes those.
const NAME_CHARS_MAX: usize = 64;
/// How many names are compared: of more than these, whoever wrote it knows better.
const NAMES_MAX: usize = 200;

/// The name that is nearest to what was written, if one alone is near.
#[must_use]
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let is_short = |name: &&str| name.len() <= NAME_CHARS_MAX * char::MAX.len_utf8();
    let names = names.into_iter().filter(is_short).take(NAMES_MAX);
    let mut near: Vec<(usize, &str)> = names.map(|name| (distance(written, name), name)).collect();
    near.sort_unstable();
    near.dedup();
    let is_near = |(distance, name): &(usize, &str)| *distance <= name.chars().count().div_ceil(3);
    match near.as_slice() {
        [first, second, ..] if first.0 == second.0 => None,
        [first, ..] => is_near(first).then_some(first.1),
        [] => None,
    }
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
        assert_eq!(nearest("1.9", ["1.1", "1.2"]), None, "both are as near");
        assert_eq!(nearest("V-final", ["V_final", "1.2"]), Some("V_final"));
        check("", None);
        check(&"x".repeat(100_000), None);
    }
}
