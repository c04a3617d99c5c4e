//! Masks what looks like a key before it is written anywhere. Agents print environments and configuration
//! files; a journal or a plan must not carry them on.

/// What stands in for a secret.
const MASK: &str = "[masked]";

/// Beginnings of tokens that are always secrets.
const PREFIXES: [&str; 14] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
];

/// Parts of names whose values are secrets.
const NAMES: [&str; 8] =
    ["api_key", "apikey", "api-key", "secret", "token", "password", "passwd", "private_key"];

/// The shortest value that is taken for a secret.
const SECRET_CHARS_MIN: usize = 12;

/// The text with everything that looks like a key masked.
pub(crate) fn mask(text: &str) -> String {
    if !may_hold_secret(text) {
        return text.to_owned();
    }
    let mut masked = String::with_capacity(text.len());
    let mut in_key_block = false;
    for line in text.split_inclusive('\n') {
        if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
            in_key_block = true;
            masked.push_str(MASK);
            masked.push('\n');
        } else if in_key_block {
            in_key_block = !line.contains("-----END ");
        } else {
            mask_line(&mut masked, line);
        }
    }
    masked
}

fn may_hold_secret(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    PREFIXES.iter().any(|prefix| text.contains(prefix))
        || NAMES.iter().any(|name| lower.contains(name))
        || lower.contains("bearer ")
        || text.contains("PRIVATE KEY")
}

fn mask_line(masked: &mut String, line: &str) {
    let is_part = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '/' | '+' | '.')
    };
    let mut rest = line;
    let mut before = String::new();
    while let Some(start) = rest.find(is_part) {
        let (gap, from) = rest.split_at(start);
        let length = from.find(|character| !is_part(character)).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        masked.push_str(gap);
        masked.push_str(if is_secret(word, gap, &before) { MASK } else { word });
        before = word.to_ascii_lowercase();
        rest = after;
    }
    masked.push_str(rest);
}

fn is_secret(word: &str, gap: &str, before: &str) -> bool {
    let has_prefix = PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && word.len() >= SECRET_CHARS_MIN;
    let is_value = gap.contains(['=', ':']) && NAMES.iter().any(|name| before.contains(name));
    let looks_random =
        word.len() >= SECRET_CHARS_MIN && word.chars().any(|character| character.is_ascii_digit());
    let is_bearer = before == "bearer" && gap == " ";
    has_prefix || ((is_value || is_bearer) && looks_random)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn keys_are_masked_and_other_text_stays() {
        let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
        check("token sk-ant-abc123def456 here", "token [masked] here");
        check("API_KEY=abcdef0123456789", "API_KEY=[masked]");
        check("password: \"hunter2hunter2\"", "password: \"[masked]\"");
        check("Authorization: Bearer eyJhbGciOi.J9abc123", "Authorization: Bearer [masked]");
        check("ghp_0123456789abcdef", "[masked]");
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
            "[masked]\nafter",
        );
        check("token: expected `)` but found `;`", "token: expected `)` but found `;`");
        check(
            "error[E0432]: unresolved import `plan::TaskId`",
            "error[E0432]: unresolved import `plan::TaskId`",
        );
        check("", "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked_without_a_panic_and_only_once(text in ".*(sk-|token=|Bearer |PRIVATE KEY)?.*\n?.*") {
            let masked = mask(&text);
            proptest::prop_assert_eq!(mask(&masked), masked);
        }
    }
}
