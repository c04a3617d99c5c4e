//! Taking away the indentation that the lines of an element share.

use crate::markdown::indent_of;

/// The text without white space around it and without the indentation that its lines share. The first line
/// may stand beside the opening tag, so it does not count.
pub(super) fn dedented(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let shared = rest.lines().filter(|line| !line.trim().is_empty()).map(indent_of).min().unwrap_or(0);
    let mut dedented = first.trim().to_owned();
    for line in rest.lines() {
        if !dedented.is_empty() {
            dedented.push('\n');
        }
        dedented.push_str(line[shared.min(indent_of(line))..].trim_end());
    }
    dedented.truncate(dedented.trim_end().len());
    dedented
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_share() {
        for (text, expected) in [
            (" a ", "a"),
            ("\n    a\n      b\n\n    c\n  ", "a\n  b\n\nc"),
            ("a\n  b\n   c", "a\nb\n c"),
            ("\r\n  a\r\n  b\r\n", "a\nb"),
            ("\n\n\ta\n", "a"),
            ("", ""),
        ] {
            assert_eq!(dedented(text), expected, "{text:?}");
        }
    }
}
