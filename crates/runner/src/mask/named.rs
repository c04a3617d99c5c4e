//! Secrets by what stands before them: names such as `api_key` and `password`, schemes of authentication, and
//! flags of commands.

use std::ops::Range;

use crate::mask::code::Manner;
use crate::mask::logins::without_logins;
use crate::mask::{MASK, code};

/// Parts of names whose values are secrets.
const NAMES: [&str; 8] =
    ["api_key", "apikey", "api-key", "secret", "token", "password", "passwd", "private_key"];

/// The shortest value that is taken for a secret.
const SECRET_CHARS_MIN: usize = 12;

/// Ends of names whose values are secrets however they look: people choose them.
const CHOSEN: [&str; 4] = ["password", "passwd", "passphrase", "secret"];

/// The shortest value of such a name that is taken for a secret.
const CHOSEN_CHARS_MIN: usize = 6;

/// Flags, with two dashes before them, whose values are secrets.
const FLAGS: [&str; 7] = ["password", "passwd", "passphrase", "secret", "token", "api-key", "apikey"];

/// Commands that take a password behind a flag with a name of its own.
const CALLS: [(&str, &str); 4] =
    [("docker login", " -p"), ("podman login", " -p"), ("sshpass", " -p"), ("redis-cli", " -a")];

/// The shortest password in a call.
const CALL_CHARS_MIN: usize = 4;

/// The schemes of authentication.
const SCHEMES: [&str; 4] = ["basic", "bearer", "digest", "token"];

/// The words of which one is in every line that such a secret is in, in lower case.
pub(super) const WORDS: [&str; 17] = [
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
    ":\\/\\/",
    "curl",
    "docker login",
    "podman login",
    "sshpass",
    "redis-cli",
];

/// The line without secrets that are named, in it or by a name that it stands behind.
pub(super) fn without_named(name: &str, line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    mask_line(&mut masked, name, line);
    masked
}

/// True if a whole text in quotes is the value of such a name.
pub(super) fn is_chosen_of(name: &str, text: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CHOSEN.iter().any(|end| name.ends_with(end)) && is_chosen_in_quotes(text)
}

fn mask_line(masked: &mut String, name: &str, line: &str) {
    let is_part = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '/' | '+' | '.')
    };
    let line = without_calls(without_curl_logins(without_logins(line)));
    let mut rest = line.as_str();
    let mut before = name.to_ascii_lowercase();
    let mut shows_login = before.ends_with("authorization");
    let mut is_first = !name.is_empty();
    while let Some(start) = rest.find(is_part) {
        let (gap, from) = rest.split_at(start);
        let length = from.find(|character| !is_part(character)).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        let is_login =
            shows_login && gap == " " && SCHEMES.contains(&before.as_str()) && word.len() >= CHOSEN_CHARS_MIN;
        let is_value = std::mem::take(&mut is_first) || gap.contains(['=', ':']);
        masked.push_str(gap);
        masked.push_str(if is_login || is_secret(word, (gap, is_value), &before) { MASK } else { word });
        before = word.to_ascii_lowercase();
        shows_login |= before.ends_with("authorization");
        rest = after;
        if let Some(value) = value_behind(word, &before, after) {
            masked.push_str(&after[..value.start]);
            masked.push_str(MASK);
            rest = &after[value.end..];
        }
    }
    masked.push_str(rest);
}

/// The range of the secret in what follows a name such as `password`, if it is one and there is one.
fn value_behind(word: &str, lower: &str, after: &str) -> Option<Range<usize>> {
    let is_chosen = CHOSEN.iter().any(|name| lower.ends_with(name));
    let is_flag = lower.strip_prefix("--").is_some_and(|flag| FLAGS.iter().any(|name| flag.ends_with(name)));
    let chosen = if is_chosen { chosen_value(word, after) } else { None };
    chosen.or_else(|| if is_flag { flag_value(after) } else { None })
}

/// The range of the secret in what follows a name such as `password`, if there is one.
fn chosen_value(name: &str, after: &str) -> Option<Range<usize>> {
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let rest = after.trim_start_matches(['"', '\'', '`', '\\']).trim_start_matches(is_blank);
    let sign = ["=>", ":=", "=", ":"].into_iter().find(|sign| rest.starts_with(sign))?;
    let rest = &rest[sign.len()..];
    let is_tight = sign == "=" && !rest.starts_with(is_blank);
    let manner = match sign {
        ":" => Manner::Colon,
        _ if !is_tight => Manner::Loose,
        _ if name.contains(|character: char| character.is_ascii_lowercase()) => Manner::Tight,
        _ => Manner::Shouted,
    };
    let rest = rest.trim_start_matches(is_blank);
    if rest.starts_with(['=', ':']) {
        return None;
    }
    let (value, is_secret) = if let Some(value) = quoted(rest) {
        (value, is_chosen_in_quotes(value))
    } else {
        let value = unquoted(rest);
        let behind = &rest[value.len()..];
        (value, is_chosen(value) && !code::is_code(value, behind, manner))
    };
    is_secret.then(|| range_of(value, after))
}

/// The range of the secret behind a flag such as `--password`. Without quotes it has a digit: there is talk of flags.
fn flag_value(after: &str) -> Option<Range<usize>> {
    let rest = after.strip_prefix(' ')?.trim_start_matches(' ');
    if let Some(value) = quoted(rest) {
        return is_chosen_in_quotes(value).then(|| range_of(value, after));
    }
    let value = unquoted(rest);
    let has_digit = value.contains(|character: char| character.is_ascii_digit());
    let is_other = value.starts_with(['-', '/', '.', '~', '@', '(', '[', '{']);
    let is_secret = is_chosen(value)
        && has_digit
        && !is_other
        && !code::is_code(value, &rest[value.len()..], Manner::Tight);
    is_secret.then(|| range_of(value, after))
}

/// Where a part of a text is in it.
fn range_of(part: &str, text: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// The text in quotes that a text begins with, however often the quotes are escaped; none where they have no end.
fn quoted(text: &str) -> Option<&str> {
    let text =
        text.strip_prefix(['b', 'r', 'u']).filter(|text| text.starts_with(['"', '\''])).unwrap_or(text);
    let slashes = text.len() - text.trim_start_matches('\\').len();
    let quote = text[slashes..].chars().next().filter(|character| matches!(character, '"' | '\'' | '`'))?;
    let inner = &text[slashes + 1..];
    let mut run = 0;
    for (at, character) in inner.char_indices() {
        if character == quote && run <= slashes {
            return Some(&inner[..at - run]);
        }
        run = if character == '\\' { run + 1 } else { 0 };
    }
    Some(inner).map(|inner| inner.split(char::is_whitespace).next().unwrap_or_default())
}

/// The value without quotes that a text begins with: up to a blank, a quote, an escaped one or an escaped line break, or
/// the next name.
fn unquoted(text: &str) -> &str {
    let mut end = text.len();
    let mut names_from = None;
    for (at, character) in text.char_indices() {
        let is_escape =
            || text[at + 1..].is_empty() || text[at + 1..].starts_with(['n', 'r', 't', '"', '\'', '\\']);
        match character {
            ' ' | '"' | '\'' | '`' => end = at,
            '\\' if is_escape() => end = at,
            _ if character.is_whitespace() => end = at,
            '=' => end = names_from.unwrap_or(text.len()),
            ';' | '&' | ',' => names_from = Some(at),
            _ if !character.is_ascii_alphanumeric() && character != '_' => names_from = None,
            _ => {}
        }
        if end < text.len() {
            break;
        }
    }
    let mut value = &text[..end];
    loop {
        let is_open = |open: char| value.contains(open);
        let ends = value.ends_with([',', ';'])
            || value.ends_with("):")
            || (value.ends_with(')') && !is_open('('))
            || (value.ends_with(']') && !is_open('['))
            || (value.ends_with('}') && !is_open('{'));
        if !ends {
            return value;
        }
        value = &value[..value.len() - 1];
    }
}

fn is_chosen_in_quotes(text: &str) -> bool {
    is_chosen(text) && !code::is_sentence(text)
}

/// True if a value is long enough, and does not stand for another.
fn is_chosen(value: &str) -> bool {
    value.chars().nth(CHOSEN_CHARS_MIN - 1).is_some() && !code::stands_for_another(value)
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

/// The line without the passwords that commands take behind a flag.
fn without_calls(line: String) -> String {
    CALLS.iter().fold(line, |line, (command, flag)| {
        if line.contains(command) { without_passwords(&line, command, flag) } else { line }
    })
}

fn without_passwords(line: &str, command: &str, flag: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(at) = rest.find(command) {
        let (before, from) = rest.split_at(at + command.len());
        let next = &from[..from.find(command).unwrap_or(from.len())];
        let (call, after) = from.split_at(next.find([';', '|', '\n']).unwrap_or(next.len()));
        kept.push_str(before);
        rest = after;
        let value = call
            .find(flag)
            .map(|at| call[at + flag.len()..].trim_start_matches(' '))
            .map(|value| quoted(value).unwrap_or_else(|| unquoted(value)));
        let is_secret = |value: &&str| {
            value.chars().count() >= CALL_CHARS_MIN
                && !value.starts_with(['$', '<', '[', '/', '-', '{', '%'])
                && !code::is_reference(value)
        };
        match value.filter(is_secret) {
            Some(value) => {
                let range = range_of(value, call);
                kept.extend([&call[..range.start], MASK, &call[range.end..]]);
            }
            None => kept.push_str(call),
        }
    }
    kept + rest
}

fn is_secret(word: &str, (gap, is_value): (&str, bool), before: &str) -> bool {
    let is_named = is_value && NAMES.iter().any(|name| before.contains(name));
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let looks_random = word.len() >= SECRET_CHARS_MIN && word.bytes().any(|byte| byte.is_ascii_digit());
    let is_bearer = before == "bearer" && gap == " ";
    (is_named || is_bearer) && looks_random && !is_number && !code::is_attribute(word)
}
