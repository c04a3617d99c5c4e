//! The five standard entities, as they stand in commands.

/// Replaces the five standard entities, each once: `&amp;lt;` becomes `&lt;`.
pub(super) fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, len) = entity(rest).unwrap_or(('&', 1));
        decoded.push(character);
        rest = &rest[len..];
    }
    decoded.push_str(rest);
    decoded
}

fn entity(text: &str) -> Option<(char, usize)> {
    [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')]
        .into_iter()
        .find(|(name, _)| text.starts_with(name))
        .map(|(name, character)| (character, name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_once() {
        for (text, decoded) in [
            ("a &amp;&amp; b", "a && b"),
            ("a && b", "a && b"),
            ("&lt;x&gt; &quot;&apos;", "<x> \"'"),
            ("&amp;lt;", "&lt;"),
            ("&nbsp; &#38; &am", "&nbsp; &#38; &am"),
            ("ü&", "ü&"),
            ("", ""),
        ] {
            assert_eq!(decode(text), decoded);
        }
    }
}
