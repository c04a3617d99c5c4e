//! Masks what looks like a key before it is written anywhere. Agents print environments and configuration
//! files; a journal or a plan must not carry them on.

use std::ops::Range;

/// The text that stands in for a secret.
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

/// Ends of names whose values are secrets however they look: people choose them.
const CHOSEN: [&str; 4] = ["password", "passwd", "passphrase", "secret"];

/// The shortest value of such a name that is taken for a secret, and the longest that may be something else.
const CHOSEN_CHARS_MIN: usize = 6;
const CODE_CHARS_MAX: usize = 256;

/// Words behind such a name in code and in messages that are not its value.
const NO_SECRETS: [&str; 16] = [
    "string",
    "number",
    "boolean",
    "option",
    "varchar",
    "undefined",
    "unknown",
    "required",
    "optional",
    "expected",
    "unexpected",
    "invalid",
    "incorrect",
    "missing",
    "wrong",
    "expired",
];

/// The schemes of authentication.
const SCHEMES: [&str; 4] = ["basic", "bearer", "digest", "token"];

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
        || CHOSEN.iter().any(|name| lower.contains(name))
        || lower.contains("bearer ")
        || lower.contains("authorization")
        || lower.contains("://")
        || text.contains("PRIVATE KEY")
}

fn mask_line(masked: &mut String, line: &str) {
    let is_part = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '/' | '+' | '.')
    };
    let line = without_logins(line);
    let mut rest = line.as_str();
    let mut before = String::new();
    let mut shows_login = false;
    while let Some(start) = rest.find(is_part) {
        let (gap, from) = rest.split_at(start);
        let length = from.find(|character| !is_part(character)).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        let is_login =
            shows_login && gap == " " && SCHEMES.contains(&before.as_str()) && word.len() >= CHOSEN_CHARS_MIN;
        masked.push_str(gap);
        masked.push_str(if is_login || is_secret(word, gap, &before) { MASK } else { word });
        before = word.to_ascii_lowercase();
        shows_login |= before.ends_with("authorization");
        rest = after;
        if CHOSEN.iter().any(|name| before.ends_with(name))
            && let Some(value) = chosen_value(after)
        {
            masked.push_str(&after[..value.start]);
            masked.push_str(MASK);
            rest = &after[value.end..];
        }
    }
    masked.push_str(rest);
}

/// The range of the secret in what follows a name such as `password`, if there is one.
fn chosen_value(after: &str) -> Option<Range<usize>> {
    let is_quote = |character: char| matches!(character, '"' | '\'' | '`' | '\\');
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let rest = after.trim_start_matches(is_quote).trim_start_matches(is_blank);
    let sign = ["=>", ":=", "=", ":"].into_iter().find(|sign| rest.starts_with(sign))?;
    let rest = &rest[sign.len()..];
    let is_tight = sign == "=" && !rest.starts_with(is_blank);
    let rest = rest.trim_start_matches(is_blank);
    if rest.starts_with(['=', ':']) {
        return None;
    }
    let value = rest.trim_start_matches(is_quote);
    let start = after.len() - value.len();
    let is_quoted = value.len() < rest.len();
    let ends = |character: char| if is_quoted { is_quote(character) } else { character.is_whitespace() };
    let value = value.trim_end_matches(['\r', '\n']);
    let (value, behind) = value.split_at(value.find(ends).unwrap_or(value.len()));
    let value = if is_quoted { value } else { value.trim_end_matches([',', ';']) };
    let is_word = value.chars().all(char::is_alphabetic);
    let is_prose = is_word && !behind.trim().is_empty();
    let is_meant = is_quoted || is_tight || !(is_code(value) || is_prose);
    (is_meant && is_chosen(value)).then_some(start..start + value.len())
}

/// True if a value is long enough, and neither a word of messages nor the name of where the secret comes from.
fn is_chosen(value: &str) -> bool {
    let is_name = value.starts_with('$') && value.len() <= CODE_CHARS_MAX;
    let is_other = NO_SECRETS.iter().any(|word| value.eq_ignore_ascii_case(word));
    value.chars().nth(CHOSEN_CHARS_MIN - 1).is_some() && !is_name && !is_other
}

/// True if this is part of a program rather than a value.
fn is_code(value: &str) -> bool {
    value.len() <= CODE_CHARS_MAX && (value.contains(['(', '<', '{', '[', '&']) || value.contains("::"))
}

/// The line without the passwords that addresses carry: `scheme://user:password@host`.
fn without_logins(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (scheme, from) = rest.split_at(at + 3);
        kept.push_str(scheme);
        let is_end = |character: char| {
            character.is_whitespace() || matches!(character, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>')
        };
        let (authority, after) = from.split_at(from.find(is_end).unwrap_or(from.len()));
        match authority.rsplit_once('@').and_then(|(login, host)| Some((login.split_once(':')?, host))) {
            Some(((user, password), host)) if !password.is_empty() => {
                kept.extend([user, ":", MASK, "@", host]);
            }
            Some(_) | None => kept.push_str(authority),
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
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

    #[test]
    fn passwords_are_masked_however_they_look() {
        let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
        check("PASSWORD=hunter2", "PASSWORD=[masked]");
        check("export DB_PASSWORD='corr!ct horse'; x", "export DB_PASSWORD='[masked]'; x");
        check("DB_PASSWORD: swordfish\n", "DB_PASSWORD: [masked]\n");
        check(
            "{\"password\": \"s3cr!t$x\", \"user\": \"bob\"}",
            "{\"password\": \"[masked]\", \"user\": \"bob\"}",
        );
        check("\\\"password\\\": \\\"swordfish\\\"", "\\\"password\\\": \\\"[masked]\\\"");
        check("client_secret: swordfish-9", "client_secret: [masked]");
        check("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [masked]");
        check("\"authorization\": \"token abcdefg\"", "\"authorization\": \"token [masked]\"");
        check("postgres://bob:pw@db:5432/x?y", "postgres://bob:[masked]@db:5432/x?y");
        check(
            "see https://a.b/c:d@e and git+ssh://u:p@h",
            "see https://a.b/c:d@e and git+ssh://u:[masked]@h",
        );
    }

    #[test]
    fn code_and_messages_about_passwords_stay() {
        for text in [
            "password: string",
            "  password: String,",
            "password: Option<String>,",
            "let password = read_password(prompt)?;",
            "password: z.string().min(8)",
            "error: wrong password: please try again",
            "if password == other.password {",
            "password::hash(text)",
            "PASSWORD=$DB_PASSWORD make",
            "password=x",
            "PASSWORD_FILE=/run/secrets/database",
            "PWD=/home/bob/project",
            "Basic settings are shown; authorization failed",
            "https://example.com:8080/a@b",
        ] {
            assert_eq!(mask(text), text);
        }
    }

    #[test]
    fn long_lines_take_no_longer_than_they_are() {
        for part in ["password:x(", "password=", "password=\"", "://a:", "password: \"\"", "secret:\\"] {
            let masked = mask(&part.repeat(100_000));
            assert!(masked.len() <= part.len() * 100_000 * 2);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked_without_a_panic_and_only_once(text in ".*(sk-|token=|Bearer |PRIVATE KEY|password[=:] ?\"?|://a:b@|Authorization: Basic )?.*\n?.*") {
            let masked = mask(&text);
            proptest::prop_assert_eq!(mask(&masked), masked);
        }
    }
}
