//! Tokens by their form: what issuers put before them and what follows. The forms are data.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The forms.
const FORMS: &str = include_str!("forms.txt");

/// A JSON web token: three parts, of which two are JSON.
const WEB_TOKEN: &str = "eyJ";
const WEB_TOKEN_PART_MIN: usize = 8;

/// The token of a bot of Telegram: its number, and a word of which this is the beginning.
const BOT_TOKEN: &str = ":AA";
const BOT_DIGITS: RangeInclusive<usize> = 8..=10;
const BOT_WORD_CHARS: usize = 33;

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
    Encoded,
}

impl Alphabet {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "upper" => Self::Upper,
            "alnum" => Self::Alnum,
            "word" => Self::Word,
            "dotted" => Self::Dotted,
            "slashed" => Self::Slashed,
            "encoded" => Self::Encoded,
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
            Self::Encoded => Self::Slashed.has(byte) || byte == b'%',
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
    forms().iter().flatten().map(|form| form.prefix).chain([WEB_TOKEN, BOT_TOKEN])
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
    (from..bytes.len()).find_map(|at| match bytes[at] {
        b':' => bot_token(&bytes[from..], at - from).map(|(start, end)| Token {
            start: from + start,
            end: from + end,
            issuer: "telegram",
        }),
        byte if byte.is_ascii_alphanumeric() && is_beginning(bytes, at) => token_at(bytes, at),
        _ => None,
    })
}

/// The token that begins at a place. A name that is the beginning of its form is none of its secret.
fn token_at(text: &[u8], at: usize) -> Option<Token> {
    let from = &text[at..];
    let of_form = forms()[usize::from(from[0])].iter().find_map(|form| {
        let end = at + form.length(from)?;
        let start = if form.prefix.ends_with('=') { at + form.prefix.len() } else { at };
        Some(Token { start, end, issuer: form.issuer })
    });
    let web = || Some(Token { start: at, end: at + web_token(from)?, issuer: "web token" });
    of_form.or_else(web)
}

/// The range of a bot's token around its colon.
fn bot_token(text: &[u8], colon: usize) -> Option<(usize, usize)> {
    let word = text[colon..].strip_prefix(BOT_TOKEN.as_bytes())?;
    let chars = word.iter().take(BOT_WORD_CHARS + 1).take_while(|byte| Alphabet::Word.has(**byte)).count();
    let digits =
        text[..colon].iter().rev().take(BOT_DIGITS.end() + 1).take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    (chars == BOT_WORD_CHARS && BOT_DIGITS.contains(&digits))
        .then_some((colon - digits, colon + BOT_TOKEN.len() + chars))
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
                let shown = if form.prefix.ends_with('=') { form.prefix.len() } else { 0 };
                assert_eq!(
                    found,
                    Some((before.len() + shown, before.len() + token.len())),
                    "{} in {text:?}",
                    form.issuer
                );
            }
        }
    }
}
