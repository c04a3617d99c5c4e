//! Masks what looks like a key before it is written anywhere. Agents print environments and configuration files; a
//! journal, a log or a plan must not carry them on.

mod code;
mod forms;
mod json;
mod likely;
mod logins;
mod named;
mod private_key;
mod stream;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::OnceLock;

pub(crate) use likely::likely_secret;
use private_key::KeyBlock;
pub(crate) use stream::{MaskedStream, mask_tail};
pub use values::{LISTED_CHARS_MIN, mask_values};

/// The text that stands in for a secret.
const MASK: &str = "[masked]";

/// The text with everything that looks like a key masked.
#[must_use]
pub fn mask(text: &str) -> String {
    let mut masker = Masker::default();
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match masker.line(line) {
            Some(line) => masked.push_str(&line),
            None => masked.push_str(line),
        }
    }
    masked
}

/// Masks one line after the other.
#[derive(Debug, Default)]
struct Masker {
    key: KeyBlock,
}

impl Masker {
    /// The line masked, with the line break that it had; none if it stays as it is.
    fn line(&mut self, line: &str) -> Option<String> {
        self.line_of("", line)
    }

    /// That, where the line stands behind a name.
    fn line_of(&mut self, name: &str, line: &str) -> Option<String> {
        if !self.key.is_open() && name.is_empty() && !may_hold_secret(line.as_bytes()) {
            return None;
        }
        // Within a key, a text in quotes is a piece of it.
        if !(self.key.is_open() && line.trim_start().starts_with('"'))
            && let Some(masked) = json::without_secrets(line)
        {
            self.key.close();
            return Some(masked);
        }
        let line = self.key.without_body(line);
        let line = without_values(line);
        let line = without_tokens(&line);
        Some(named::without_named(name, &line))
    }

    /// True if a line of these bytes stays as it is.
    fn passes(&self, line: &[u8]) -> bool {
        !self.key.is_open() && !may_hold_secret(line)
    }
}

fn without_values(line: Cow<'_, str>) -> Cow<'_, str> {
    values::known()
        .fold(line, |line, value| if line.contains(value) { line.replace(value, MASK).into() } else { line })
}

fn without_tokens(line: &str) -> Cow<'_, str> {
    let (mut kept, mut from) = (String::new(), 0);
    while let Some(token) = forms::next_token(line, from) {
        kept.push_str(&line[from..token.start]);
        kept.push_str(MASK);
        from = token.end;
    }
    if from == 0 { line.into() } else { (kept + &line[from..]).into() }
}

/// A quick look: most lines hold nothing that could be a secret.
fn may_hold_secret(line: &[u8]) -> bool {
    let words = Words::get();
    let has_word = line
        .windows(2)
        .enumerate()
        .any(|(at, pair)| words.may_begin(pair[0], pair[1]) && words.begin(&line[at..]));
    has_word || values::known().any(|value| contains(line, value.as_bytes()))
}

fn contains(line: &[u8], value: &[u8]) -> bool {
    // Logs that are not UTF-8 are rare; they are looked through slowly.
    match std::str::from_utf8(line).ok().zip(std::str::from_utf8(value).ok()) {
        Some((line, value)) => line.contains(value),
        None => line.windows(value.len()).any(|window| window == value),
    }
}

/// The words of which one is in every line that holds a secret, by their first two letters.
struct Words {
    /// A bit for each pair of bytes that some word begins with.
    pairs: Vec<bool>,
    /// By their first letter.
    words: Vec<Vec<&'static str>>,
}

impl Words {
    fn get() -> &'static Self {
        static WORDS: OnceLock<Words> = OnceLock::new();
        WORDS.get_or_init(|| {
            let mut pairs = vec![false; 1 << 16];
            let mut words = vec![Vec::new(); 256];
            for word in forms::prefixes().chain(named::WORDS).chain([private_key::BEGIN]) {
                let (first, second) = (word.as_bytes()[0], word.as_bytes()[1]);
                words[usize::from(first.to_ascii_lowercase())].push(word);
                let both = |byte: u8| [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
                let spelled =
                    both(first).into_iter().flat_map(|first| both(second).map(|second| (first, second)));
                spelled.for_each(|(first, second)| pairs[place(first, second)] = true);
            }
            Self { pairs, words }
        })
    }

    fn may_begin(&self, first: u8, second: u8) -> bool {
        self.pairs[place(first, second)]
    }

    fn begin(&self, text: &[u8]) -> bool {
        let is_begun = |word: &&str| {
            text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        };
        self.words[usize::from(text[0].to_ascii_lowercase())].iter().any(is_begun)
    }
}

/// The place of a pair of bytes among all pairs.
fn place(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}
