//! The token that names a task: which words at the start of a description are ids.

/// A token that names a task, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdToken {
    /// An id wherever it stands, of this many bytes: it has a digit in it.
    Sure(usize),
    /// A capital code without a digit, such as `VE-cleanup`: an id only among others.
    Code(usize),
}

/// Which words at the start of a description are ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Those that look like one.
    ByLook,
    /// The first word that has a digit in it or is bold, whatever else it may be called elsewhere.
    FirstWord,
}

impl IdToken {
    /// The token at a place of a text, where one of this kind is there.
    pub(super) fn at(text: &str, at: usize, ids: Ids) -> Option<Self> {
        let rest = &text[at..];
        let token = word(rest);
        let is_bold = text[..at].ends_with("**") && rest[token.len()..].starts_with("**");
        let is_named = token.bytes().any(|byte| byte.is_ascii_digit()) || is_bold;
        match ids {
            Ids::FirstWord if is_named && ends_token(&rest[token.len()..]) => Some(Self::Sure(token.len())),
            Ids::FirstWord | Ids::ByLook => Self::at_start(rest),
        }
    }

    /// The token that `text` begins with.
    pub(super) fn at_start(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('#') {
            return numbered(rest).map(|len| Self::Sure(len + 1));
        }
        let token = word(text);
        let is_named = !token.is_empty() && !names_something_else(token) && ends_token(&text[token.len()..]);
        match token.bytes().any(|byte| byte.is_ascii_digit()) || token == "VF" {
            _ if !is_named => None,
            true => Some(Self::Sure(token.len())),
            false => is_capital_code(token).then_some(Self::Code(token.len())),
        }
    }

    /// Its length in bytes.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Sure(len) | Self::Code(len) => len,
        }
    }
}

/// The word of letters, digits, dots, dashes and underscores that a text begins with.
fn word(text: &str) -> &str {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let run = text.bytes().take_while(|byte| inner(byte)).count();
    let token = text[..run].trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    if token.starts_with(|c: char| c.is_ascii_alphanumeric()) { token } else { "" }
}

/// The length of the number of a task without an id of its own, without the `#`.
fn numbered(rest: &str) -> Option<usize> {
    let len = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = rest[..len].trim_end_matches('.');
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && ends_token(&rest[number.len()..]);
    is_number.then_some(number.len())
}

/// True if an id may end before `rest`.
fn ends_token(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['.', '-']);
    match rest.chars().next() {
        None => true,
        Some('_') => rest.starts_with("__"),
        Some(next) => next.is_whitespace() || matches!(next, ':' | ')' | '*' | '—' | '–' | '['),
    }
}

/// Capitals, a dot, dash or underscore, and something behind it: `VE-cleanup`, `GAP.VER`, `V_final_a`.
fn is_capital_code(token: &str) -> bool {
    let capitals = token.bytes().take_while(u8::is_ascii_uppercase).count();
    (1..=8).contains(&capitals)
        && token[capitals..].starts_with(['.', '-', '_'])
        && token.len() > capitals + 1
}

/// Words that have the shape of an id and are none.
const WORDS: [&str; 20] = [
    "e2e", "i18n", "l10n", "a11y", "k8s", "utf-8", "utf-16", "oauth2", "ipv4", "ipv6", "ec2", "http2",
    "http3", "base64", "sha256", "md5", "2fa", "p2p", "b2b", "web3",
];

/// Well-known words with a digit in them, names of files and in programs, and references to requirements.
fn names_something_else(token: &str) -> bool {
    if !token.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return token.contains('_');
    }
    let extension = token.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_file = extension.len() > 1 && extension.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_requirement = ["AC-", "FR-", "NFR-", "US-"].iter().any(|code| token.starts_with(code));
    let is_word = WORDS.iter().any(|word| token.eq_ignore_ascii_case(word));
    is_file || is_requirement || is_word || is_identifier(token)
}

/// A name in a program: `sort_pass1`, `REDIS_URL`; not `T_3`, `TASK_12`, `V_final_a`.
fn is_identifier(token: &str) -> bool {
    let Some((first, _)) = token.split_once('_') else { return false };
    let last = token.rsplit('_').next().unwrap_or_default();
    let is_constant = first.len() > 2
        && !token.bytes().any(|byte| byte.is_ascii_lowercase())
        && !last.bytes().all(|byte| byte.is_ascii_digit());
    is_constant || token.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_tokens() {
        for (text, id) in [
            ("1.3 Title", "1.3"),
            ("1.10 Title", "1.10"),
            ("1.1.1 Title", "1.1.1"),
            ("V4 [VERIFY] x", "V4"),
            ("VE1", "VE1"),
            ("T001: x", "T001"),
            ("Q1a x", "Q1a"),
            ("2.2.1a x", "2.2.1a"),
            ("6.B.1 x", "6.B.1"),
            ("1.X POC", "1.X"),
            ("VF goal", "VF"),
            ("TASK-12 x", "TASK-12"),
            ("TASK_12 x", "TASK_12"),
            ("T_3 x", "T_3"),
            ("1. Title", "1"),
            ("1.3. Title", "1.3"),
            ("1.3__ Title", "1.3"),
            ("#2.1 [FIX #2]", "#2.1"),
            ("90%+ coverage", ""),
            ("AC-6.1, AC-6.2", ""),
            ("AC-1.1: Window", ""),
            ("E2E tests", ""),
            ("config2.json is there", ""),
            ("1.3/1.4 both", ""),
            ("sort_exp17.metal has", ""),
            ("sort_pass1 works", ""),
            ("SHA_256_SUM is right", ""),
            ("`a1` x", ""),
            ("", ""),
            ("- 1", ""),
            ("3_000 rows", ""),
            ("é1", ""),
        ] {
            let len = match IdToken::at_start(text) {
                Some(IdToken::Sure(len)) => len,
                Some(IdToken::Code(_)) => panic!("{text} has no digit"),
                None => 0,
            };
            assert_eq!(&text[..len], id, "{text}");
        }
    }

    #[test]
    fn first_words() {
        for (text, id) in [
            ("US-001 x", "US-001"),
            ("e2e x", "e2e"),
            ("v1.0-rc.3: x", "v1.0-rc.3"),
            ("**setup** x", "setup"),
            ("**bd-x** x", "bd-x"),
            ("**Define** it", "Define"),
            ("**Define Enums** x", ""),
            ("Write x", ""),
        ] {
            let at = text.len() - text.trim_start_matches('*').len();
            let len = IdToken::at(text, at, Ids::FirstWord).map_or(0, IdToken::len);
            assert_eq!(&text[at..at + len], id, "{text}");
        }
    }

    #[test]
    fn capital_codes() {
        for (text, code) in [
            ("VE-cleanup x", "VE-cleanup"),
            ("VE-BROWSER x", "VE-BROWSER"),
            ("V_final_a x", "V_final_a"),
            ("V_FINAL x", "V_FINAL"),
            ("GAP.VER: x", "GAP.VER"),
            ("PRAGMA-A x", "PRAGMA-A"),
            ("CI green", ""),
            ("Tests pass", ""),
            ("Pre-flight", ""),
            ("end-to-end", ""),
            ("CLAUDE.md is there", ""),
            ("REDIS_URL is set", ""),
            ("FR-login", ""),
            ("VFX", ""),
        ] {
            let len = match IdToken::at_start(text) {
                Some(IdToken::Code(len)) => len,
                Some(IdToken::Sure(_)) => panic!("{text} is no mere code"),
                None => 0,
            };
            assert_eq!(&text[..len], code, "{text}");
        }
    }
}
