//! Secrets by what stands before them: names such as `api_key` and `password`, schemes of authentication, logins in
//! addresses and in calls of curl.

use std::ops::Range;

use crate::mask::MASK;

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

/// The words of which one is in every line that such a secret is in, in lower case.
pub(super) const WORDS: [&str; 12] = [
    "api_key",
    "apikey",
    "api-key",
    "secret",
    "token",
    "passw",
    "private_key",
    "passphrase",
    "bearer ",
    "authorization",
    "://",
    "curl",
];

/// The line without secrets that are named.
pub(super) fn without_named(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    mask_line(&mut masked, line);
    masked
}

fn mask_line(masked: &mut String, line: &str) {
    let is_part = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '/' | '+' | '.')
    };
    let line = without_curl_logins(without_logins(line));
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

/// The line without the password in `curl -u user:password`.
fn without_curl_logins(line: String) -> String {
    let Some(call) = line.find("curl") else { return line };
    let (mut kept, mut rest) = (line[..call].to_owned(), &line[call..]);
    for flag in ["--user", "-u"] {
        let Some(at) = rest.find(&format!(" {flag}")) else { continue };
        let (before, from) = rest.split_at(at + 1 + flag.len());
        let login = from.trim_start_matches([' ', '=', '"', '\'', '\\']);
        let start = from.len() - login.len();
        let end = login.find([' ', '"', '\'', '\\', '\n']).map_or(from.len(), |end| start + end);
        kept.push_str(before);
        rest = from;
        if let Some(colon) = from[start..end].find(':').map(|colon| start + colon + 1)
            && colon < end
            && !from[colon..end].starts_with(['$', '/', '['])
        {
            kept.push_str(&from[..colon]);
            kept.push_str(MASK);
            rest = &from[end..];
        }
    }
    kept + rest
}

fn is_secret(word: &str, gap: &str, before: &str) -> bool {
    let is_value = gap.contains(['=', ':']) && NAMES.iter().any(|name| before.contains(name));
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let looks_random = word.len() >= SECRET_CHARS_MIN && word.bytes().any(|byte| byte.is_ascii_digit());
    let is_bearer = before == "bearer" && gap == " ";
    (is_value || is_bearer) && looks_random && !is_number
}
