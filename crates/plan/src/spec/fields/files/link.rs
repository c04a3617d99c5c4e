//! Links of Markdown in a Files field: what a link leads to is the path, whatever it is called.

use std::borrow::Cow;

/// A line in which what links lead to stands in their place. What leads out of the project, or out of the plan's own
/// folder, stays as it is: nobody can tell which file that is.
pub(super) fn targets(line: &str) -> Cow<'_, str> {
    if !line.contains("](") {
        return Cow::Borrowed(line);
    }
    let mut replaced = String::with_capacity(line.len());
    let mut rest = line;
    let mut is_code = false;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        replaced.push_str(before);
        let found = if is_code || from.starts_with('`') { None } else { link(from) };
        let taken = match found {
            Some((target, length)) => {
                replaced.push('`');
                replaced.push_str(target);
                replaced.push('`');
                length
            }
            None => {
                is_code ^= from.starts_with('`');
                replaced.push_str(&from[..1]);
                1
            }
        };
        rest = &from[taken..];
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// How long the name and the target of a link may be; a line without an end to them is not gone over again and again.
const PART_BYTES_MAX: usize = 500;

/// The target of the link that a text begins with, and how long the link is.
fn link(text: &str) -> Option<(&str, usize)> {
    let close = within(&text[1..], b"][")? + 1;
    let target_start = text[close..].starts_with("](").then_some(close + 2)?;
    let end = target_start + within(&text[target_start..], b")(")?;
    let inside = text[end..].starts_with(')').then_some(&text[target_start..end])?;
    // A title may follow.
    let target = inside.split_whitespace().next()?.trim_matches(['<', '>']);
    let is_here =
        !target.contains("..") && !target.contains(':') && !target.starts_with('#') && !target.contains('`');
    (is_here && !target.is_empty()).then_some((target, end + 1))
}

fn within(text: &str, ends: &[u8]) -> Option<usize> {
    text.bytes().take(PART_BYTES_MAX).position(|byte| ends.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_leads_to_stands_in_its_place() {
        for (line, expected) in [
            ("[a.rs](src/a.rs)", "`src/a.rs`"),
            ("- [`a.rs`](src/a.rs), [the b](<src/b.rs> \"B\") (new)", "- `src/a.rs`, `src/b.rs` (new)"),
            ("`app/[id](x)/page.tsx`", "`app/[id](x)/page.tsx`"),
            ("[a.rs](../../src/a.rs)", "[a.rs](../../src/a.rs)"),
            ("[a](https://a.b/c)", "[a](https://a.b/c)"),
            ("[[a](", "[[a]("),
            ("app/[id]/x.ts", "app/[id]/x.ts"),
        ] {
            assert_eq!(targets(line), expected);
        }
    }
}
