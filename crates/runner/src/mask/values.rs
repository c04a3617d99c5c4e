//! Secrets that are known by their value: variables of the environment whose names say so, and what the user lists.

use std::sync::OnceLock;

use crate::mask::logins::is_placeholder;

/// The shortest value of a variable that is taken for a secret.
const CHARS_MIN: usize = 12;

/// The shortest value that the user may list: a shorter one would be found in everything.
pub const LISTED_CHARS_MIN: usize = 4;

/// The longest value of a variable: longer ones are documents.
const CHARS_MAX: usize = 4096;

/// The words in names of variables whose values are secrets.
const NAMES: [&str; 15] = [
    "KEY",
    "APIKEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "AUTH",
];

/// A value that is known to be a secret, as it is or as JSON has it.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    value: String,
    /// The variable that has it; none of what a file lists as it is.
    variable: Option<String>,
}

/// The values that the user lists.
static LISTED: OnceLock<Vec<Known>> = OnceLock::new();

/// Has values masked for the life of the program; the first call counts. `$NAME` stands for the value of a variable. Of
/// variables that agents are given those are masked whose names say that they are secrets.
pub fn mask_values<'a>(values: &[String], given: impl Iterator<Item = &'a (String, String)>) {
    let value = |value: &String| match value.strip_prefix('$') {
        Some(name) => std::env::var(name).ok().map(|value| (Some(name.to_owned()), value)),
        None => Some((None, value.clone())),
    };
    let listed =
        values.iter().filter_map(value).filter(|(_, value)| value.chars().count() >= LISTED_CHARS_MIN);
    let given = given.filter(|(name, value)| is_secret(name, value));
    let given = given.map(|(name, value)| (Some(name.clone()), value.clone()));
    // The settings of a run do not change while it goes on.
    let _ = LISTED.set(written(listed.chain(given)));
}

/// All values that are known to be secrets, longest first, as they are and as JSON has them.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    all().map(|known| known.value.as_str())
}

/// The variable whose value is in a line, unless it looks like an example.
pub(super) fn variable_in(line: &str) -> Option<&'static str> {
    let named = all().filter_map(|known| Some((known.variable.as_deref()?, &known.value)));
    let mut real = named.filter(|(_, value)| !is_placeholder(value));
    real.find(|(_, value)| line.contains(value.as_str())).map(|(name, _)| name)
}

fn all() -> impl Iterator<Item = &'static Known> {
    static OF_ENVIRONMENT: OnceLock<Vec<Known>> = OnceLock::new();
    let of_environment = OF_ENVIRONMENT.get_or_init(|| {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let secrets = variables.filter(|(name, value)| is_secret(name, value));
        written(secrets.map(|(name, value)| (Some(name), value)))
    });
    LISTED.get().into_iter().flatten().chain(of_environment)
}

fn written(values: impl Iterator<Item = (Option<String>, String)>) -> Vec<Known> {
    let values = values.filter(|(_, value)| !value.contains('\n'));
    let mut written: Vec<Known> = values.map(|(variable, value)| Known { value, variable }).collect();
    let in_json = |known: &Known| {
        let quoted = serde_json::to_string(&known.value).ok()?;
        let value = quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned();
        (value != known.value).then(|| Known { value, variable: known.variable.clone() })
    };
    let in_json: Vec<Known> = written.iter().filter_map(in_json).collect();
    written.extend(in_json);
    written.sort_by_key(|known| std::cmp::Reverse(known.value.len()));
    written.dedup_by(|a, b| a.value == b.value);
    written
}

/// True if a variable's name and value say that it is a secret.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_named =
        name.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| NAMES.contains(&word));
    let length = value.chars().count();
    is_named
        && (CHARS_MIN..=CHARS_MAX).contains(&length)
        && !is_number(value)
        && !is_words(value)
        && !is_path(value)
}

fn is_number(value: &str) -> bool {
    value.chars().all(|character| character.is_ascii_digit() || "+-., :_x".contains(character))
}

fn is_words(value: &str) -> bool {
    value.chars().all(|character| character.is_alphabetic() || "-_. ,:;/@".contains(character))
}

/// True for paths, lists of them, and addresses without a login.
fn is_path(value: &str) -> bool {
    let is_address = value.split_once("://").is_some_and(|(_, rest)| !rest.contains('@'));
    is_address || ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_as_json_has_them_too() {
        let values = ["pl4in-value-9", "qu\"ote\\d-1"].map(|value| (None, value.to_owned()));
        let written: Vec<String> = written(values.into_iter()).into_iter().map(|known| known.value).collect();
        assert_eq!(written, ["pl4in-value-9", "qu\\\"ote\\\\d-1", "qu\"ote\\d-1"]);
    }

    #[test]
    fn variables_are_secrets_by_name_and_value() {
        let check = |name: &str, value: &str, expected: bool| {
            assert_eq!(is_secret(name, value), expected, "{name}={value}")
        };
        check("STRIPE_KEY", "9f8a7b6c5d4e3f2a", true);
        check("github_token", "abc123def456ghi", true);
        check("DB_PASSWORD", "c0rrect-horse!battery", true);
        check("MY-API-KEY", "0x12345abcdefg", true);
        check("DATABASE_PASS", "a/b+c1234567=", true);
        check("REDIS_AUTH", "redis://u:p4ssw0rd@h", true);
        check("DB_PASSWORD", "short1", false);
        check("KEYBOARD_LAYOUT", "us1234567890ab", false);
        check("KEY_MAP", "us-intl with dead keys", false);
        check("TOKEN_COUNT", "123456789012", false);
        check("SSH_AUTH_SOCK", "/tmp/ssh-XXXXa1b2/agent.123", false);
        check("TOKEN_URL", "https://login.example.com/oauth2/v1", false);
        check("HOME", "/home/bob12345678", false);
    }
}
