//! Values behind names such as `password` that are no secrets: code and prose tell where one comes from, or what it has to
//! be like.

/// Words behind such a name in code and in messages that are not its value.
const NO_SECRETS: [&str; 22] = [
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
    "none",
    "null",
    "true",
    "false",
    "default",
    "disabled",
];

/// Parts of what a program calls its secrets, and of where it has them from.
const REFERENCES: [&str; 12] = [
    "passw",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "config",
    "setting",
    "environ",
    "input",
    "value",
];

/// The longest value that may be something else than a secret.
const CHARS_MAX: usize = 256;

/// The way in which a value stands behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// `name: value`
    Colon,
    /// `name = value`
    Loose,
    /// `name=value`
    Tight,
    /// `NAME=value`, as shells and their files have it: what stands there is meant as it is.
    Shouted,
}

/// True if a value is no secret however it stands there: a word of messages, a variable, a blank to be filled in.
pub(super) fn stands_for_another(value: &str) -> bool {
    let is_other = NO_SECRETS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_name = value.starts_with(['$', '<']) || value.starts_with("%(") || is_format(value);
    is_other || (is_name && value.len() <= CHARS_MAX)
}

/// True if a text in quotes is a sentence about secrets.
pub(super) fn is_sentence(text: &str) -> bool {
    text.len() <= CHARS_MAX && text.contains(' ') && is_reference(text)
}

/// True if a value without quotes is a part of a program or of a sentence.
pub(super) fn is_code(value: &str, behind: &str, manner: Manner) -> bool {
    if value.len() > CHARS_MAX {
        return false;
    }
    let path = value.trim_start_matches(['&', '*', '!', '@']);
    let (path, rest) = path.split_at(path.find(|c| !is_of_path(c)).unwrap_or(path.len()));
    let is_called = !path.is_empty() && rest.starts_with(['(', '[']) && !rest.starts_with("[masked]");
    if manner == Manner::Shouted || is_called {
        return is_called;
    }
    let has_signs = || value.contains(['(', '<', '{', '[', '&']) || value.contains("::");
    let is_word = value.chars().all(|character| character.is_alphabetic() || character == '-');
    let is_prose = is_word && !behind.trim().is_empty();
    if manner != Manner::Tight && (has_signs() || is_prose) {
        return true;
    }
    rest.is_empty() && (is_number(value) || is_identifier(path, behind, manner))
}

/// True if a value is a path of names as programs have it: `config.api_key`.
pub(super) fn is_attribute(value: &str) -> bool {
    value.len() <= CHARS_MAX
        && value.contains('.')
        && value.split('.').all(is_name)
        && (is_reference(value) || !value.contains(|c: char| c.is_ascii_digit()))
}

/// True if a value is what programs call their secrets.
pub(super) fn is_reference(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    REFERENCES.iter().any(|part| value.contains(part))
}

fn is_identifier(path: &str, behind: &str, manner: Manner) -> bool {
    let joined = path.replace("::", ".").replace("->", ".").replace("?.", ".");
    if joined.contains('.') {
        return is_attribute(&joined);
    }
    if !is_name(path) || path.contains(|character: char| character.is_ascii_digit()) {
        return false;
    }
    let is_followed = behind.starts_with([',', ')', ';', ']', '}']);
    let has_humps =
        path.bytes().zip(path.bytes().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let is_compound = manner != Manner::Colon && (path.contains('_') || has_humps);
    is_followed || is_compound || is_reference(path)
}

fn is_of_path(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_.:?->".contains(character)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn is_number(value: &str) -> bool {
    value.chars().all(|character| character.is_ascii_digit() || matches!(character, '.' | '_' | '-'))
}

/// True for a place in a text that a program fills in.
fn is_format(value: &str) -> bool {
    value.starts_with('{') && (value.ends_with('}') || !value.contains('}'))
}
