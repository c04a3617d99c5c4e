//! Tokens by their form: what issuers put before them and what follows. The forms are data.

use std::sync::OnceLock;

/// The forms.
const FORMS: &str = include_str!("forms.txt");

/// A JSON web token: three parts, of which two are JSON.
const WEB_TOKEN: &str = "eyJ";
const WEB_TOKEN_PART_MIN: usize = 8;

/// The form of a token.
#[derive(Debug)]
struct Form {
    issuer: &'static str,
    prefix: &'static str,
    alphabet: Alphabet,
    chars_min: usize,
    needs_digit: bool,
}

/// The characters after a prefix.
#[derive(Clone, Copy, Debug)]
enum Alphabet {
    Upper,
    Alnum,
    Word,
    Dotted,
    Slashed,
}

impl Alphabet {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "upper" => Self::Upper,
            "alnum" => Self::Alnum,
            "word" => Self::Word,
            "dotted" => Self::Dotted,
            "slashed" => Self::Slashed,
            _ => return None,
        })
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => Self::Word.has(byte) || byte == b'.',
            Self::Slashed => Self::Word.has(byte) || matches!(byte, b'/' | b'+' | b'='),
        }
    }
}

impl Form {
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split_whitespace();
        let form = Self {
            issuer: columns.next()?,
            prefix: columns.next()?,
            alphabet: Alphabet::parse(columns.next()?)?,
            chars_min: columns.next()?.parse().ok()?,
            needs_digit: columns.next().is_some(),
        };
        Some(form)
    }

    /// The length of a token at the beginning of a text.
    fn length(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(self.prefix.as_bytes())?;
        let count = rest.iter().take_while(|byte| self.alphabet.has(**byte)).count();
        let has_digit = || rest[..count].iter().any(u8::is_ascii_digit);
        (count >= self.chars_min && (!self.needs_digit || has_digit())).then_some(self.prefix.len() + count)
    }
}

/// The forms, by the first byte of their prefixes.
fn forms() -> &'static [Vec<Form>] {
    static READ: OnceLock<Vec<Vec<Form>>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut forms: Vec<Vec<Form>> = std::iter::repeat_with(Vec::new).take(256).collect();
        for line in FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let form = Form::parse(line).expect("a test reads every line of the data");
            forms[usize::from(form.prefix.as_bytes()[0])].push(form);
        }
        forms
    })
}

/// The beginnings of all forms.
pub(super) fn prefixes() -> impl Iterator<Item = &'static str> {
    forms().iter().flatten().map(|form| form.prefix).chain([WEB_TOKEN])
}

/// A token within a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) issuer: &'static str,
}

/// The first token in a text from some place on.
pub(super) fn next_token(text: &str, from: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let starts =
        (from..bytes.len()).filter(|at| bytes[*at].is_ascii_alphanumeric() && is_beginning(bytes, *at));
    starts.into_iter().find_map(|start| {
        let (length, issuer) = token_at(&bytes[start..])?;
        Some(Token { start, end: start + length, issuer })
    })
}

fn token_at(text: &[u8]) -> Option<(usize, &'static str)> {
    let of_form =
        forms()[usize::from(text[0])].iter().find_map(|form| Some((form.length(text)?, form.issuer)));
    of_form.or_else(|| Some((web_token(text)?, "web token")))
}

/// True if a word begins here, also after the line break of a JSON text and after a colour.
fn is_beginning(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|place| text[place]);
    match before(1) {
        Some(b'n' | b't' | b'r') if before(2) == Some(b'\\') => true,
        Some(b'm') if before(2).is_some_and(|byte| byte.is_ascii_digit() || byte == b'[') => true,
        Some(byte) => !byte.is_ascii_alphanumeric(),
        None => true,
    }
}

fn web_token(text: &[u8]) -> Option<usize> {
    if !text.starts_with(WEB_TOKEN.as_bytes()) {
        return None;
    }
    let end = text.iter().take_while(|byte| Alphabet::Dotted.has(**byte)).count();
    let mut parts = text[..end].split(|byte| *byte == b'.');
    let (head, body, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = head.len() >= WEB_TOKEN_PART_MIN && body.len() >= WEB_TOKEN_PART_MIN;
    (is_whole && !signature.is_empty()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_finds_what_it_describes() {
        let lines = FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.map(Form::parse).filter(Option::is_none).count(), 0);
        for form in forms().iter().flatten() {
            let token = format!("{}{}", form.prefix, "A1".repeat(form.chars_min.div_ceil(2)));
            for (before, after) in
                [("", ""), ("key=", " "), ("{\"k\":\"\\n", "\"}"), ("\u{1b}[31m", "\u{1b}[0m")]
            {
                let text = format!("{before}{token}{after}");
                let found = next_token(&text, 0).map(|found| (found.start, found.end));
                assert_eq!(
                    found,
                    Some((before.len(), before.len() + token.len())),
                    "{} in {text:?}",
                    form.issuer
                );
            }
        }
    }
}
